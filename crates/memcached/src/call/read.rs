//! get, gets, gat and gats.

use steersman_memcached_protocol::{Reply, Request, Value};

use super::{key, sealed};
use crate::error::Result;
use crate::expires::Expires;

/// A read of one key: `get`, `gets`, `gat` or `gats`. Gives the value, or `None` on a miss.
#[derive(Debug, Clone)]
pub struct Get<K> {
    pub(crate) key: K,
    pub(crate) kind: ReadOf,
}

/// Which of the four reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadOf {
    /// With the value's cas number.
    pub(crate) cas: bool,
    /// Sets a new expiry as well.
    pub(crate) touch: Option<Expires>,
}

impl ReadOf {
    pub(crate) fn name(self, many: bool) -> &'static str {
        match (self.touch, self.cas, many) {
            (None, false, false) => "get",
            (None, true, false) => "gets",
            (Some(_), false, false) => "gat",
            (Some(_), true, false) => "gats",
            (None, false, true) => "get_many",
            (None, true, true) => "gets_many",
            (Some(_), false, true) => "gat_many",
            (Some(_), true, true) => "gats_many",
        }
    }
}

impl<K: AsRef<[u8]>> sealed::Operation for Get<K> {
    type Output = Option<Value>;

    fn name(&self) -> &'static str {
        self.kind.name(false)
    }

    fn key(&self) -> Option<&[u8]> {
        Some(self.key.as_ref())
    }

    fn request<'a>(&'a self, sent: &'a [u8]) -> Result<Request<'a>> {
        let key = key(sent)?;
        let cas = self.kind.cas;
        Ok(match self.kind.touch {
            None => Request::Get { key, cas },
            Some(expires) => Request::GetAndTouch {
                key,
                expiry: expires.to_wire(),
                cas,
            },
        })
    }

    fn read(reply: Reply) -> std::result::Result<Self::Output, Reply> {
        match reply {
            Reply::Value(value) => Ok(Some(value)),
            Reply::Miss => Ok(None),
            other => Err(other),
        }
    }
}
