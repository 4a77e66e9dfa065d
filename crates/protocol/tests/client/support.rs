//! Short ways to ask, write and answer.

use bytes::{Buf, Bytes, BytesMut};
use steersman_memcached_protocol::{
    Connection, Expiry, Key, Limits, ProtocolError, Reply, Request, ServerError, StoreVerb,
    Unanswered, Value,
};

pub(crate) fn key(key: &str) -> Key<'_> {
    Key::new(key.as_bytes()).expect("tests use valid keys")
}

pub(crate) fn get(name: &str) -> Request<'_> {
    let key = key(name);
    Request::Get { key, cas: false }
}

pub(crate) fn gets(name: &str) -> Request<'_> {
    let key = key(name);
    Request::Get { key, cas: true }
}

pub(crate) fn delete(name: &str) -> Request<'_> {
    Request::Delete { key: key(name) }
}

pub(crate) fn store<'a>(verb: StoreVerb, name: &'a str, data: &'a Bytes) -> Request<'a> {
    let (key, flags, expiry) = (key(name), 0, Expiry::NEVER);
    Request::Store {
        verb,
        key,
        flags,
        expiry,
        data,
    }
}

pub(crate) fn set<'a>(name: &'a str, data: &'a Bytes) -> Request<'a> {
    store(StoreVerb::Set, name, data)
}

pub(crate) fn value(data: impl AsRef<[u8]>, flags: u32, cas: Option<u64>) -> Reply {
    let data = Bytes::copy_from_slice(data.as_ref());
    Reply::Value(Value { data, flags, cas })
}

/// The error of a reply; panics if it is none.
pub(crate) fn error(reply: &Reply) -> &ServerError {
    match reply {
        Reply::Error(error) => error,
        other => panic!("expected an error, not {other:?}"),
    }
}

/// A connection whose tokens are numbers, with what it has answered.
pub(crate) struct Client {
    pub(crate) connection: Connection<usize>,
    pub(crate) replies: Vec<(usize, Reply)>,
    pub(crate) input: BytesMut,
    pub(crate) asked: usize,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        Self {
            connection: Connection::new(limits),
            replies: Vec::new(),
            input: BytesMut::new(),
            asked: 0,
        }
    }

    /// Submits a request under the next number.
    pub(crate) fn ask(&mut self, request: Request<'_>) {
        self.connection
            .submit(&request, self.asked)
            .expect("tests submit valid requests");
        self.asked += 1;
    }

    pub(crate) fn ask_all<'a>(&mut self, requests: impl IntoIterator<Item = Request<'a>>) {
        for request in requests {
            self.ask(request);
        }
    }

    /// Takes all of the output.
    pub(crate) fn write(&mut self) -> Vec<u8> {
        let mut output = self.connection.output();
        let len = output.remaining();
        output.copy_to_bytes(len).into()
    }

    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<usize, ProtocolError> {
        self.input.extend_from_slice(bytes);
        let replies = &mut self.replies;
        self.connection.feed(&mut self.input, &mut |token, reply| {
            replies.push((token, reply));
        })
    }

    /// What has been answered since the last time.
    pub(crate) fn take_replies(&mut self) -> Vec<(usize, Reply)> {
        std::mem::take(&mut self.replies)
    }

    /// Closes the connection: what was unanswered, and whether it was written.
    pub(crate) fn close(&mut self) -> Vec<(usize, bool)> {
        let mut unanswered = Vec::new();
        self.connection.close(&mut |token, Unanswered { written }| {
            unanswered.push((token, written));
        });
        unanswered
    }
}
