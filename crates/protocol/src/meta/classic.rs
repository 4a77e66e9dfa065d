//! Meta commands in the words of the classic ones, for servers that have no others.

use bytes::Bytes;

use super::{Arithmetic, Command, Delete, Get, MetaKey, Reply, Set, SetMode, Status};
use crate::{Request, StoreVerb};

impl<'a> Command<'a> {
    /// The classic request that does the same and whose reply tells what was asked for, if there
    /// is one. It is answered in classic terms: a [`Get`] by [`Reply::Value`](crate::Reply::Value)
    /// or [`Miss`](crate::Reply::Miss), for instance. Opaque numbers and keys that were to come back
    /// do not; a flag that only asks for more than the classic reply has makes it `None`.
    ///
    /// ```
    /// use steersman_memcached_protocol::{Key, Request, meta};
    ///
    /// let key = Key::new(b"k")?;
    /// let get = meta::Command::from(meta::Get::new(key).value().cas());
    /// assert!(matches!(get.classic(), Some(Request::Get { cas: true, .. })));
    /// let lease = meta::Command::from(meta::Get::new(key).value().recache_below(10));
    /// assert!(lease.classic().is_none());
    /// # Ok::<(), steersman_memcached_protocol::KeyError>(())
    /// ```
    pub fn classic(&self) -> Option<Request<'a>> {
        match self {
            Self::Get(get) => get.classic(),
            Self::Set(set) => set.classic(),
            Self::Delete(delete) => delete.classic(),
            Self::Arithmetic(arithmetic) => arithmetic.classic(),
            Self::Inspect(_) => None,
            Self::Noop => Some(Request::Version),
        }
    }
}

impl<'a> Get<'a> {
    fn classic(&self) -> Option<Request<'a>> {
        let MetaKey::Plain(key) = self.key else {
            return None;
        };
        if !self.is_plain() {
            return None;
        }
        let cas = self.flags.has(b'c');
        Some(match self.touch {
            None => Request::Get { key, cas },
            Some(expiry) => Request::GetAndTouch { key, expiry, cas },
        })
    }
}

impl<'a> Set<'a> {
    fn classic(&self) -> Option<Request<'a>> {
        let MetaKey::Plain(key) = self.key else {
            return None;
        };
        if !self.is_plain() {
            return None;
        }
        let (flags, expiry, data) = (self.client_flags, self.expiry, self.data);
        let verb = match (self.mode, self.if_cas) {
            (SetMode::Set | SetMode::Replace, Some(cas)) => {
                return Some(Request::Cas {
                    key,
                    flags,
                    expiry,
                    cas,
                    data,
                });
            }
            (_, Some(_)) => return None,
            (SetMode::Set, None) => StoreVerb::Set,
            (SetMode::Add, None) => StoreVerb::Add,
            (SetMode::Replace, None) => StoreVerb::Replace,
            (SetMode::Append, None) => StoreVerb::Append,
            (SetMode::Prepend, None) => StoreVerb::Prepend,
        };
        Some(Request::Store {
            verb,
            key,
            flags,
            expiry,
            data,
        })
    }
}

impl<'a> Delete<'a> {
    fn classic(&self) -> Option<Request<'a>> {
        match self.key {
            MetaKey::Plain(key) if self.is_plain() => Some(Request::Delete { key }),
            _ => None,
        }
    }
}

impl<'a> Arithmetic<'a> {
    fn classic(&self) -> Option<Request<'a>> {
        let MetaKey::Plain(key) = self.key else {
            return None;
        };
        let delta = self.delta;
        match self.down {
            _ if !self.is_plain() => None,
            false => Some(Request::Increment { key, delta }),
            true => Some(Request::Decrement { key, delta }),
        }
    }
}

impl Reply {
    /// The reply to a [`classic`](Command::classic) request in the words of the meta command that
    /// it was sent for; gives back one that answers no such request, such as an error.
    ///
    /// ```
    /// use steersman_memcached_protocol::{Reply, meta};
    ///
    /// let reply = meta::Reply::from_classic(Reply::Number(7)).unwrap();
    /// assert_eq!((reply.status, reply.number()), (meta::Status::Value, Some(7)));
    /// ```
    ///
    /// # Errors
    /// The reply, as it is.
    pub fn from_classic(reply: crate::Reply) -> Result<Self, crate::Reply> {
        use crate::Reply as Classic;
        Ok(match reply {
            Classic::Value(value) => Self {
                value: Some(value.data),
                client_flags: Some(value.flags),
                cas: value.cas,
                ..Self::new(Status::Value)
            },
            Classic::Number(number) => Self {
                value: Some(Bytes::from(number.to_string())),
                ..Self::new(Status::Value)
            },
            Classic::Miss => Self::new(Status::Miss),
            Classic::NotFound => Self::new(Status::NotFound),
            Classic::NotStored => Self::new(Status::NotStored),
            Classic::Exists => Self::new(Status::Exists),
            Classic::Stored | Classic::Deleted => Self::new(Status::Done),
            Classic::Version(_) => Self::new(Status::Noop),
            other => return Err(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::BinaryKey;
    use super::*;
    use crate::{Expiry, Key};

    fn show(command: impl Into<Command<'static>>) -> Option<String> {
        let request = command.into().classic()?;
        let mut connection = crate::Connection::new(crate::Limits::default());
        connection.submit(&request, ()).unwrap();
        let output = bytes::Buf::chunk(&connection.output()).to_vec();
        Some(String::from_utf8(output).unwrap())
    }

    #[test]
    fn what_the_classic_commands_can_do() {
        static DATA: Bytes = Bytes::from_static(b"x");
        let key = Key::new(b"k").unwrap();
        let (get, set) = (Get::new(key).value(), Set::new(key, &DATA));
        let (up, down) = (Arithmetic::increment(key, 2), Arithmetic::decrement(key, 2));
        for (command, expected) in [
            (get.into(), "get k\r\n"),
            (get.client_flags().cas().opaque(1).into(), "gets k\r\n"),
            (get.touch(Expiry::NEVER).into(), "gat 0 k\r\n"),
            (
                set.client_flags(3).return_key().into(),
                "set k 3 0 1\r\nx\r\n",
            ),
            (set.mode(SetMode::Add).into(), "add k 0 0 1\r\nx\r\n"),
            (set.if_cas(7).into(), "cas k 0 0 1 7\r\nx\r\n"),
            (Delete::new(key).into(), "delete k\r\n"),
            (up.return_value().into(), "incr k 2\r\n"),
            (down.into(), "decr k 2\r\n"),
            (Command::Noop, "version\r\n"),
        ] {
            let command: Command<'static> = command;
            assert_eq!(show(command).as_deref(), Some(expected), "{command:?}");
        }
    }

    #[test]
    fn what_they_answer() {
        use crate::Reply as Classic;
        let value = crate::Value {
            data: Bytes::from_static(b"x"),
            flags: 3,
            cas: Some(4),
        };
        let reply = Reply::from_classic(Classic::Value(value)).unwrap();
        assert_eq!(reply.status, Status::Value);
        assert_eq!(reply.value.as_deref(), Some(&b"x"[..]));
        assert_eq!((reply.client_flags, reply.cas), (Some(3), Some(4)));
        for (classic, status) in [
            (Classic::Miss, Status::Miss),
            (Classic::Stored, Status::Done),
            (Classic::NotStored, Status::NotStored),
            (Classic::Exists, Status::Exists),
            (Classic::NotFound, Status::NotFound),
            (Classic::Deleted, Status::Done),
            (Classic::Version("1.5.6".to_owned()), Status::Noop),
        ] {
            let reply = Reply::from_classic(classic).unwrap();
            assert_eq!(reply, Reply::new(status));
        }
        assert_eq!(Reply::from_classic(Classic::Ok), Err(Classic::Ok));
    }

    #[test]
    fn what_they_cannot_do() {
        static DATA: Bytes = Bytes::from_static(b"x");
        let key = Key::new(b"k").unwrap();
        let binary = BinaryKey::new(b"k").unwrap();
        let (get, set) = (Get::new(key).value(), Set::new(key, &DATA));
        let nothing: [Command<'static>; 14] = [
            Get::new(key).into(),
            Get::new(binary).value().into(),
            get.ttl().into(),
            get.no_bump().into(),
            get.vivify(Expiry::NEVER).into(),
            get.recache_below(1).into(),
            get.unless_cas(1).into(),
            set.return_cas().into(),
            set.if_cas(1).invalidate().into(),
            set.if_cas(1).mode(SetMode::Append).into(),
            Delete::new(key).invalidate(None).into(),
            Arithmetic::increment(key, 1)
                .initial(0, Expiry::NEVER)
                .into(),
            Arithmetic::increment(key, 1).return_ttl().into(),
            Command::Inspect(key.into()),
        ];
        for command in nothing {
            assert!(command.classic().is_none(), "{command:?}");
        }
    }
}
