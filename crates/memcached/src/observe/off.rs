//! What stands in where neither metrics nor spans were asked for: nothing that takes room or time.

#![expect(
    clippy::unused_self,
    clippy::trivially_copy_pass_by_ref,
    reason = "what stands here instead with the features has something to do, and room"
)]

use std::sync::Weak;
use std::time::Duration;

use steersman_memcached_protocol::{Outbox, Reply};
use tokio::runtime::Handle;

use crate::address::NodeConfig;
use crate::call::sealed::Operation;
use crate::cluster::Cluster;
use crate::error::{Error, Result};
use crate::node::{Node, Token};

#[derive(Clone, Copy, Default)]
pub(crate) struct Observer(());

impl Observer {
    pub(crate) fn node(&self, _: &NodeConfig) -> NodeWatch {
        NodeWatch(())
    }

    pub(crate) fn start(&self, _: &Handle, _: Weak<Cluster>) {}

    pub(crate) fn policy_ticked(&self, _: &Cluster) {}
}

pub(crate) struct NodeWatch(());

impl NodeWatch {
    #[inline]
    pub(crate) fn connected(&self, _: Duration) {}

    #[inline]
    pub(crate) fn received(&self, _: usize) {}

    #[inline]
    pub(crate) fn sent(&self, _: usize) {}

    #[inline]
    pub(crate) fn looked_up<T>(&self, _: &Result<Option<T>>) {}
}

#[derive(Default)]
pub(crate) struct BatchWatch(());

impl BatchWatch {
    #[inline]
    pub(crate) fn note(&mut self, _: &NodeWatch, _: &Outbox<Token>) {}

    #[inline]
    pub(crate) fn tell(&mut self, _: &Node, _: u64) {}
}

#[derive(Default)]
pub(crate) struct CallWatch(());

impl CallWatch {
    #[inline]
    pub(crate) fn begin<O: Operation>(&mut self, _: &Observer, _: &O) {}

    #[inline]
    pub(crate) fn begin_many<'a>(
        &mut self,
        _: &Observer,
        _: &'static str,
        _: impl ExactSizeIterator<Item = &'a [u8]>,
    ) {
    }

    #[inline]
    pub(crate) fn begin_part(&mut self, _: &Observer, _: &'static str, _: usize) {}

    #[inline]
    pub(crate) fn at(&mut self, _: &Node) {}

    #[inline]
    pub(crate) fn within<T>(&mut self, work: impl FnOnce() -> T) -> T {
        work()
    }

    #[inline]
    pub(crate) fn around<F: Future>(&mut self, work: F) -> F {
        work
    }

    #[inline]
    pub(crate) fn replied(&mut self, _: &Reply) {}

    #[inline]
    pub(crate) fn end(&mut self, _: Option<&Error>) {}

    #[inline]
    pub(crate) fn end_many<'a, T: 'a>(&mut self, _: impl IntoIterator<Item = &'a Result<T>>) {}
}
