//! The members of the cluster and where keys live; changes while requests are under way.
//!
//! Readers take a snapshot without a lock. A change copies the snapshot, applies itself and swaps
//! the copy in; requests that already chose their node are not disturbed.

mod change;
mod health;
mod members;

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use arc_swap::ArcSwap;
use steersman_selection::{NodeIndex, Placement, Scheme};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use self::change::{member, refused};
use self::health::Gathered;
pub(crate) use self::members::{Members, Replicas};
use crate::address::NodeConfig;
use crate::discovery::Progress;
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::events::EventBus;
use crate::node::Node;
use crate::options::Options;
use crate::replication::{self, Replicator, View};

/// The members of the cluster, shared by the client's handles; nodes and their tasks look up to
/// it as [`Watcher`](crate::node::Watcher).
pub(crate) struct Cluster {
    members: ArcSwap<Members>,
    /// Serialises changes; readers never take it.
    edit: Mutex<Gathered>,
    pub(crate) options: Arc<Options>,
    /// None if each key lives on one node.
    pub(crate) replicator: Option<Replicator>,
    /// How far discovery has come; none without it.
    pub(crate) discovery: Option<Progress>,
    pub(crate) events: EventBus,
    /// Told whenever a connection comes or goes.
    pub(crate) changed: Notify,
    runtime: OnceLock<Handle>,
    /// Set under `edit`, so that no node is added after its peers were closed.
    closed: AtomicBool,
    itself: Weak<Self>,
}

impl Cluster {
    pub(crate) fn new(
        nodes: Vec<NodeConfig>,
        scheme: Scheme,
        mut options: Options,
        discovery: Option<Progress>,
    ) -> Result<Arc<Self>> {
        for node in &nodes {
            options.validate_node(node)?;
        }
        let replicator = options
            .take_replication()
            .map(Replicator::new)
            .transpose()?;
        let replicas = replicator.as_ref().map_or(1, Replicator::count);
        let placement = Placement::with_replicas(scheme, replicas, nodes.iter().map(member))
            .map_err(refused)?;
        let mut view = View::default();
        if let Some(replicator) = &replicator {
            for (index, member, _) in placement.iter() {
                replicator.joined(&mut view, index, member.name());
            }
            replicator.members_changed(&view);
        }
        let options = Arc::new(options);
        let cluster = Arc::new_cyclic(|itself: &Weak<Self>| {
            let nodes = nodes
                .into_iter()
                .map(|config| {
                    Some(Arc::new(Node::new(
                        config,
                        Arc::clone(&options),
                        itself.clone(),
                    )))
                })
                .collect();
            Self {
                members: ArcSwap::from_pointee(Members {
                    placement,
                    nodes,
                    view,
                }),
                edit: Mutex::default(),
                options: Arc::clone(&options),
                replicator,
                discovery,
                events: EventBus::default(),
                changed: Notify::new(),
                runtime: OnceLock::new(),
                closed: AtomicBool::new(false),
                itself: itself.clone(),
            }
        });
        Ok(cluster)
    }

    /// Starts the background work on `runtime`, once.
    pub(crate) fn start(&self, runtime: &Handle) {
        let _edit = self.edit();
        if self.runtime.set(runtime.clone()).is_ok() {
            for node in self.members.load().nodes() {
                node.spawn(runtime);
            }
            self.options.observer.start(runtime, self.itself.clone());
            if let Some(replicator) = &self.replicator {
                runtime.spawn(replication::tick(
                    self.itself.clone(),
                    replicator.tick_every(),
                ));
            }
        }
    }

    pub(crate) fn runtime(&self) -> Option<&Handle> {
        self.runtime.get()
    }

    pub(crate) fn members(&self) -> arc_swap::Guard<Arc<Members>> {
        self.members.load()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Takes no more nodes. Returns those to close.
    pub(crate) fn close(&self) -> Vec<Arc<Node>> {
        let _edit = self.edit();
        self.closed.store(true, Ordering::Release);
        self.members.load().nodes().cloned().collect()
    }

    /// The node that owns `key`.
    pub(crate) fn route(&self, key: &[u8]) -> Result<Arc<Node>> {
        let members = self.members.load();
        let owner = members.owner(key).cloned();
        owner.ok_or_else(|| self.no_node(&members))
    }

    /// Does that with the node that owns `key`, without sharing it: its count of owners is a word that
    /// all threads would write to for each call.
    #[inline]
    pub(crate) fn at_owner<T>(
        &self,
        key: &[u8],
        act: impl FnOnce(&Arc<Node>) -> Result<T>,
    ) -> Result<T> {
        let members = self.members.load();
        let Some(owner) = members.owner(key) else {
            return Err(self.no_node(&members));
        };
        act(owner)
    }

    /// The nodes that hold `key`, at most `count`, the owner first and at least that; and the
    /// members by which they do.
    pub(crate) fn replicas(&self, key: &[u8], count: usize) -> Result<(Arc<Members>, Replicas)> {
        let members = self.members.load_full();
        let mut indices = [NodeIndex::default(); Placement::MAX_REPLICAS];
        let out = &mut indices[..count.min(Placement::MAX_REPLICAS)];
        let found = members.placement.replicas(key, out);
        let nodes = out[..found].iter();
        let replicas: Replicas = nodes
            .filter_map(|&index| Some((index, Arc::clone(members.node(index)?))))
            .collect();
        if replicas.is_empty() {
            return Err(self.no_node(&members));
        }
        Ok((members, replicas))
    }

    /// The index of a member.
    pub(crate) fn index_of(&self, name: &str) -> Option<NodeIndex> {
        self.members.load().placement.find(name)
    }

    /// Why a key has no owner among these members.
    #[cold]
    fn no_node(&self, members: &Members) -> Error {
        if self.is_closed() {
            return Error::closed();
        }
        if members.nodes().next().is_none() {
            if let Some(missing) = self.discovery.as_ref().and_then(Progress::missing) {
                return missing;
            }
            if self.members.load().nodes().next().is_some() {
                // They have come since: the key has an owner now.
                return Error::removed();
            }
        }
        let mut reasons = members.nodes().filter_map(|node| node.down_reason());
        let detail = match reasons.next() {
            Some(reason) => format!("no node is reachable; the first of them: {reason}"),
            None => "the cluster has no nodes".to_owned(),
        };
        Error::new(ErrorKind::NoNodeReachable, Stage::Routing, detail)
    }

    /// Whether there is no node yet because the first list of them is being asked for.
    pub(crate) fn awaits_first_list(&self) -> bool {
        let awaited = self
            .discovery
            .as_ref()
            .is_some_and(Progress::is_first_attempt);
        awaited && !self.is_closed() && self.members.load().nodes().next().is_none()
    }

    /// Makes more of the failures of a call that was steered by its keys: that no other node could
    /// have been used either, or that a key has another owner by now.
    pub(crate) fn explain(&self) -> impl Fn(Error) -> Error {
        // All nodes are looked at for that, so once a call and not for each of its keys.
        let all_down = OnceCell::new();
        move |error| match error.kind() {
            ErrorKind::Unreachable if *all_down.get_or_init(|| self.is_down()) => {
                error.of_kind(ErrorKind::NoNodeReachable)
            }
            ErrorKind::UnknownNode => error.of_kind(ErrorKind::Unreachable),
            _ => error,
        }
    }

    /// Whether no node can be used now.
    fn is_down(&self) -> bool {
        self.members.load().nodes().all(|node| node.is_down())
    }

    pub(crate) fn find(&self, name: &str) -> Result<Arc<Node>> {
        let members = self.members.load();
        members.find(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = members
                .nodes()
                .take(10)
                .map(|node| &**node.name())
                .collect();
            Error::new(
                ErrorKind::UnknownNode,
                Stage::Routing,
                format!(
                    "{name:?} is no node of this cluster; its nodes: {}",
                    known.join(", ")
                ),
            )
        })
    }

    fn copy(&self) -> Members {
        Members::clone(&self.members.load())
    }

    fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.edit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
