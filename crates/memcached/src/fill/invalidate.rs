//! Marking a value stale.

use steersman_memcached_protocol::meta::{Command, Delete, MetaKey, Status};
use steersman_memcached_protocol::{Reply, Request};

use crate::call::{Meta, build, sealed};
use crate::error::Result;
use crate::expires::Expires;

/// Marks a value stale; gives whether the key exists.
#[derive(Debug, Clone)]
pub struct Invalidate<K>(Meta<K, Mark>);

#[derive(Debug, Clone)]
struct Mark {
    /// For how long the old value is kept.
    grace: Expires,
}

impl<K> Invalidate<K> {
    pub(crate) fn new(key: K, grace: Expires) -> Self {
        Self(Meta::new(key, Mark { grace }))
    }
}

impl build::Build for Mark {
    fn name(&self) -> &'static str {
        "invalidate"
    }

    fn build<'a>(&'a self, key: MetaKey<'a>) -> Command<'a> {
        Delete::new(key).invalidate(Some(self.grace.into())).into()
    }
}

impl<K: AsRef<[u8]>> sealed::Operation for Invalidate<K> {
    type Output = bool;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn command(&self) -> &'static str {
        "meta_delete"
    }

    fn key(&self) -> Option<&[u8]> {
        self.0.key()
    }

    fn request<'a>(&'a self, key: &'a [u8]) -> Result<Request<'a>> {
        self.0.request(key)
    }

    fn read(reply: Reply) -> std::result::Result<bool, Reply> {
        match reply {
            Reply::Meta(reply) if reply.status == Status::Done => Ok(true),
            Reply::Meta(reply) if reply.status == Status::NotFound => Ok(false),
            other => Err(other),
        }
    }
}
