//! Replies as bytes.

use bytes::{BufMut, BytesMut};

use super::Rejection;

/// One line, or one value, of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply<'a> {
    /// `STORED`
    Stored,
    /// `NOT_STORED`: the condition of `add`, `replace`, `append` or `prepend` did not hold.
    NotStored,
    /// `EXISTS`: the item has another CAS number by now.
    Exists,
    /// `NOT_FOUND`
    NotFound,
    /// `DELETED`
    Deleted,
    /// `TOUCHED`
    Touched,
    /// `OK`
    Ok,
    /// `RESET`: the statistics start again.
    Reset,
    /// `END` of values or statistics.
    End,
    /// `MN`
    MetaNoop,
    /// The new number after `incr` or `decr`.
    Number(u64),
    /// `VERSION ...`
    Version(&'a str),
    /// `VALUE ...`: one item found.
    Value {
        /// The key as asked.
        key: &'a [u8],
        /// The client's flags.
        flags: u32,
        /// The value.
        data: &'a [u8],
        /// The CAS number, in the replies to `gets` and `gats`.
        cas: Option<u64>,
    },
    /// `CONFIG ...`: a configuration of the cluster.
    Config {
        /// The name as asked.
        name: &'a [u8],
        /// The configuration.
        data: &'a [u8],
    },
    /// `STAT <name> <value>`: one statistic.
    Stat {
        /// Its name.
        name: &'a str,
        /// Its value; may hold spaces.
        value: &'a str,
    },
    /// A refusal.
    Rejected(Rejection),
}

impl Reply<'_> {
    /// Writes the reply behind `out`.
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use steersman_memcached_protocol::server::{Rejection, Reply};
    ///
    /// let mut out = BytesMut::new();
    /// Reply::Value { key: b"k", flags: 3, data: b"hi", cas: Some(7) }.encode(&mut out);
    /// Reply::End.encode(&mut out);
    /// Reply::Rejected(Rejection::Error).encode(&mut out);
    /// assert_eq!(out, "VALUE k 3 2 7\r\nhi\r\nEND\r\nERROR\r\n");
    /// ```
    pub fn encode(&self, out: &mut BytesMut) {
        let line = match *self {
            Reply::Stored => "STORED",
            Reply::NotStored => "NOT_STORED",
            Reply::Exists => "EXISTS",
            Reply::NotFound => "NOT_FOUND",
            Reply::Deleted => "DELETED",
            Reply::Touched => "TOUCHED",
            Reply::Ok => "OK",
            Reply::Reset => "RESET",
            Reply::End => "END",
            Reply::MetaNoop => "MN",
            Reply::Rejected(reason) => reason.as_str(),
            Reply::Number(number) => return put(out, &[itoa::Buffer::new().format(number)]),
            Reply::Version(version) => return put(out, &["VERSION ", version]),
            Reply::Stat { name, value } => return put(out, &["STAT ", name, " ", value]),
            Reply::Value {
                key,
                flags,
                data,
                cas,
            } => {
                return put_value(out, "VALUE ", key, flags, data, cas);
            }
            Reply::Config { name, data } => {
                return put_value(out, "CONFIG ", name, 0, data, None);
            }
        };
        put(out, &[line]);
    }
}

fn put(out: &mut BytesMut, parts: &[&str]) {
    for part in parts {
        out.put_slice(part.as_bytes());
    }
    out.put_slice(b"\r\n");
}

fn put_value(
    out: &mut BytesMut,
    word: &str,
    key: &[u8],
    flags: u32,
    data: &[u8],
    cas: Option<u64>,
) {
    // Key, data and at most 58 bytes around them.
    out.reserve(key.len() + data.len() + 64);
    let mut digits = itoa::Buffer::new();
    out.put_slice(word.as_bytes());
    out.put_slice(key);
    out.put_u8(b' ');
    out.put_slice(digits.format(flags).as_bytes());
    out.put_u8(b' ');
    out.put_slice(digits.format(data.len()).as_bytes());
    if let Some(cas) = cas {
        out.put_u8(b' ');
        out.put_slice(digits.format(cas).as_bytes());
    }
    out.put_slice(b"\r\n");
    out.put_slice(data);
    out.put_slice(b"\r\n");
}
