//! What a [`Placement`](super::Placement) asks of each scheme: where a key lives, and to take changes of
//! the members, any number at once.

use super::Scheme;
#[cfg(feature = "compat")]
use super::compat::Compatible;
use super::emcache::Emcache;
use super::rendezvous::Rendezvous;
use super::slots::Slots;
use crate::{Error, Member, NodeIndex, hash};

/// How keys find nodes. Each has the active members, or knows which are active.
#[derive(Clone)]
pub(super) enum Engine {
    Slots(Slots),
    Exact(Rendezvous),
    Emcache(Emcache),
    #[cfg(feature = "compat")]
    Compat(Box<Compatible>),
}

impl Engine {
    /// Places keys on some members. A table holds the `replicas` best nodes of each slot.
    pub(super) fn new(
        scheme: Scheme,
        replicas: usize,
        members: &[(NodeIndex, &Member)],
    ) -> Result<Self, Error> {
        let rendezvous = || {
            let mut nodes = Rendezvous::default();
            nodes.insert(members);
            nodes
        };
        let emcache = |mut nodes: Emcache| nodes.insert(members).map(|()| Self::Emcache(nodes));
        match scheme {
            Scheme::Rendezvous { slot_bits } => {
                Ok(Self::Slots(Slots::new(rendezvous(), slot_bits, replicas)))
            }
            Scheme::RendezvousExact => Ok(Self::Exact(rendezvous())),
            Scheme::Emcache => emcache(Emcache::signed()),
            Scheme::EmcacheAarch64 => emcache(Emcache::unsigned()),
            #[cfg(feature = "compat")]
            Scheme::Compat(compat) => {
                let mut nodes = Compatible::new(compat);
                nodes.insert(members)?;
                Ok(Self::Compat(Box::new(nodes)))
            }
        }
    }

    /// The best node for a key.
    #[inline]
    pub(super) fn owner(&self, key: &[u8]) -> Option<NodeIndex> {
        match self {
            Self::Slots(slots) => slots.owner(hash::key(key)),
            Self::Exact(nodes) => nodes.owner(hash::key(key)),
            Self::Emcache(nodes) => nodes.owner(key),
            #[cfg(feature = "compat")]
            Self::Compat(nodes) => nodes.owner(key),
        }
    }

    /// The best nodes for a key, best first, as many as there is room for; returns how many there
    /// are.
    pub(super) fn best(&self, key: &[u8], out: &mut [NodeIndex]) -> usize {
        match self {
            Self::Slots(slots) => slots.best(hash::key(key), out),
            Self::Exact(nodes) => nodes.best(hash::key(key), out),
            Self::Emcache(nodes) => nodes.best(key, out),
            #[cfg(feature = "compat")]
            Self::Compat(nodes) => nodes.best(key, out),
        }
    }

    /// Computes what else is computed when it is first asked for.
    pub(super) fn fill(&self) {
        match self {
            Self::Slots(slots) => slots.fill(),
            Self::Exact(_) | Self::Emcache(_) => {}
            #[cfg(feature = "compat")]
            Self::Compat(_) => {}
        }
    }

    /// Adds active members at the end of the list; on error, none.
    pub(super) fn insert(&mut self, come: &[(NodeIndex, &Member)]) -> Result<(), Error> {
        match self {
            Self::Slots(slots) => slots.insert(come),
            Self::Exact(nodes) => nodes.insert(come),
            Self::Emcache(nodes) => nodes.insert(come)?,
            #[cfg(feature = "compat")]
            Self::Compat(nodes) => nodes.insert(come)?,
        }
        Ok(())
    }

    /// Removes members, active or not.
    pub(super) fn remove(&mut self, gone: &[NodeIndex]) {
        match self {
            Self::Slots(slots) => slots.remove(gone),
            Self::Exact(nodes) => nodes.remove(gone),
            Self::Emcache(nodes) => nodes.remove(gone),
            #[cfg(feature = "compat")]
            Self::Compat(nodes) => nodes.remove(gone),
        }
    }

    /// Takes members out of the hashing that may come back to their place in the list.
    pub(super) fn deactivate(&mut self, gone: &[NodeIndex]) {
        match self {
            Self::Slots(slots) => slots.remove(gone),
            Self::Exact(nodes) => nodes.remove(gone),
            Self::Emcache(nodes) => nodes.set_active(gone, false),
            #[cfg(feature = "compat")]
            Self::Compat(nodes) => nodes.set_active(gone, false),
        }
    }

    /// Brings members back.
    pub(super) fn activate(&mut self, back: &[(NodeIndex, &Member)]) {
        let indices = || back.iter().map(|(index, _)| *index).collect::<Vec<_>>();
        match self {
            Self::Slots(slots) => slots.insert(back),
            Self::Exact(nodes) => nodes.insert(back),
            Self::Emcache(nodes) => nodes.set_active(&indices(), true),
            #[cfg(feature = "compat")]
            Self::Compat(nodes) => nodes.set_active(&indices(), true),
        }
    }
}
