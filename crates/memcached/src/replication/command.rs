//! A request that owns its bytes, so that it can be sent to several nodes one after the other.

use std::sync::Arc;

use bytes::Bytes;
use steersman_memcached_protocol::{Expiry, Key, Reply, Request, StoreVerb};

use crate::call::{Write, key, sealed, store_name};
use crate::error::Result;

/// A request of one key, and the name of the client's method that it is made for.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(super) name: &'static str,
    pub(super) key: Bytes,
    pub(super) action: Action,
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    Get { cas: bool },
    GetAndTouch { expiry: Expiry, cas: bool },
    Store(StoreVerb, Item),
    Cas(u64, Item),
    Increment { delta: u64 },
    Decrement { delta: u64 },
    Touch { expiry: Expiry },
    Delete,
}

#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) flags: u32,
    pub(super) expiry: Expiry,
    pub(super) data: Bytes,
}

impl Command {
    /// A copy of `request`; `None` if it is none of one key.
    pub(crate) fn copy(name: &'static str, request: &Request<'_>) -> Option<Self> {
        let item = |&flags: &u32, &expiry: &Expiry, data: &Bytes| Item {
            flags,
            expiry,
            data: data.clone(),
        };
        let (key, action) = match request {
            Request::Get { key, cas } => (key, Action::Get { cas: *cas }),
            Request::GetAndTouch { key, expiry, cas } => (
                key,
                Action::GetAndTouch {
                    expiry: *expiry,
                    cas: *cas,
                },
            ),
            Request::Store {
                verb,
                key,
                flags,
                expiry,
                data,
            } => (key, Action::Store(*verb, item(flags, expiry, data))),
            Request::Cas {
                key,
                flags,
                expiry,
                cas,
                data,
            } => (key, Action::Cas(*cas, item(flags, expiry, data))),
            Request::Increment { key, delta } => (key, Action::Increment { delta: *delta }),
            Request::Decrement { key, delta } => (key, Action::Decrement { delta: *delta }),
            Request::Touch { key, expiry } => (key, Action::Touch { expiry: *expiry }),
            Request::Delete { key } => (key, Action::Delete),
            _ => return None,
        };
        Some(Self {
            name,
            key: Bytes::copy_from_slice(key.as_bytes()),
            action,
        })
    }

    /// A read of one of many keys.
    pub(crate) fn read(name: &'static str, key: Key<'_>, cas: bool, touch: Option<Expiry>) -> Self {
        Self {
            name,
            key: Bytes::copy_from_slice(key.as_bytes()),
            action: match touch {
                None => Action::Get { cas },
                Some(expiry) => Action::GetAndTouch { expiry, cas },
            },
        }
    }

    /// Another request of the same key, made for the same call.
    pub(super) fn instead(&self, action: Action) -> Arc<Self> {
        Arc::new(Self {
            name: self.name,
            key: self.key.clone(),
            action,
        })
    }

    /// Whether what it does depends on what is there, so that one node has to decide it for all.
    pub(super) fn is_decided_by_owner(&self) -> bool {
        match &self.action {
            Action::Store(verb, _) => *verb != StoreVerb::Set,
            Action::Cas(..) | Action::Increment { .. } | Action::Decrement { .. } => true,
            Action::Get { .. }
            | Action::GetAndTouch { .. }
            | Action::Touch { .. }
            | Action::Delete => false,
        }
    }

    /// Whether it is a `set`, which stores whatever was there.
    pub(super) fn must_store(&self) -> bool {
        matches!(self.action, Action::Store(StoreVerb::Set, _))
    }

    /// Whether it only reads a value.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.action, Action::Get { .. } | Action::GetAndTouch { .. })
    }
}

impl sealed::Operation for Arc<Command> {
    type Output = Reply;

    const IS_ATTEMPT: bool = true;

    fn name(&self) -> &'static str {
        self.name
    }

    fn command(&self) -> &'static str {
        match &self.action {
            Action::Get { cas: false } => "get",
            Action::Get { cas: true } => "gets",
            Action::GetAndTouch { cas: false, .. } => "gat",
            Action::GetAndTouch { cas: true, .. } => "gats",
            Action::Store(verb, _) => store_name(*verb),
            Action::Cas(..) => "cas",
            Action::Increment { .. } => "increment",
            Action::Decrement { .. } => "decrement",
            Action::Touch { .. } => "touch",
            Action::Delete => "delete",
        }
    }

    fn key(&self) -> Option<&[u8]> {
        Some(&self.key)
    }

    fn request<'a>(&'a self, sent: &'a [u8]) -> Result<Request<'a>> {
        let key = key(sent)?;
        Ok(match &self.action {
            Action::Get { cas } => Request::Get { key, cas: *cas },
            Action::GetAndTouch { expiry, cas } => Request::GetAndTouch {
                key,
                expiry: *expiry,
                cas: *cas,
            },
            Action::Store(verb, item) => Request::Store {
                verb: *verb,
                key,
                flags: item.flags,
                expiry: item.expiry,
                data: &item.data,
            },
            Action::Cas(cas, item) => Request::Cas {
                key,
                flags: item.flags,
                expiry: item.expiry,
                cas: *cas,
                data: &item.data,
            },
            Action::Increment { delta } => Request::Increment { key, delta: *delta },
            Action::Decrement { delta } => Request::Decrement { key, delta: *delta },
            Action::Touch { expiry } => Request::Touch {
                key,
                expiry: *expiry,
            },
            Action::Delete => Request::Delete { key },
        })
    }

    fn read(reply: Reply) -> std::result::Result<Reply, Reply> {
        Ok(reply)
    }
}

impl Write for Arc<Command> {}
