//! Placement: which node owns a key.
//!
//! [`Placement`] keeps the members and hands each change and each question to the scheme's own
//! module. What they share is the roster of members; how keys find nodes is theirs alone.

mod address;
#[cfg(feature = "compat")]
mod compat;
mod emcache;
mod engine;
#[cfg(test)]
mod oracle;
mod rendezvous;
mod roster;
mod scheme;
mod slots;

use std::fmt;

pub use self::scheme::Scheme;
#[cfg(feature = "compat")]
pub use self::scheme::{
    Compat, LibmemcachedHash, McrouterWeights, PymemcacheKeys, SpymemcachedHash, SpymemcachedNames,
    TwemproxyHash, UhashringRing,
};

use self::engine::Engine;
use self::roster::Roster;
use crate::{Error, Member, NodeIndex};

/// Which node owns each key, for a list of members under a [`Scheme`].
///
/// Under the native schemes (`rendezvous`, `rendezvous-exact`) the answer depends on the set of
/// names and weights of the active members alone: not on their order, nor on the history of
/// changes. Removing a node moves only its own keys; adding one moves keys only to it, its share
/// of them. The compatible schemes do what the other client does, which may heed the order of the
/// list; that is the order of insertion.
///
/// Lookups take `&self` and may come from any number of threads; changes take `&mut self`. To
/// change a placement that others read, change a clone and swap it in.
///
/// # Examples
///
/// ```
/// use steersman_selection::{Member, NodeIndex, Placement, Scheme};
///
/// let names = ["cache-a:11211", "cache-b:11211", "cache-c:11211"];
/// let mut placement = Placement::new(Scheme::default(), names.map(Member::new))?;
///
/// let mut nodes = [NodeIndex::default(); 2];
/// assert_eq!(placement.replicas(b"user:1234", &mut nodes), 2);
/// let [owner, second] = nodes;
/// assert_eq!(placement.owner(b"user:1234"), Some(owner));
///
/// // While its owner is away the key lives on the second best node.
/// placement.deactivate(owner);
/// assert_eq!(placement.owner(b"user:1234"), Some(second));
/// placement.activate(owner);
/// assert_eq!(placement.owner(b"user:1234"), Some(owner));
/// # Ok::<(), steersman_selection::Error>(())
/// ```
///
/// # Cost
///
/// Measured on a 2-core Intel Xeon (Emerald Rapids) VM, compiled for plain x86-64, on one thread
/// that goes over 65,536 different keys of 24 bytes; the key's hash is included. hrw-hash 2.0.3 is
/// another implementation of rendezvous hashing. Nanoseconds for an owner, the fastest batches:
///
/// | nodes | 10 | 100 | 1,000 | 10,000 |
/// | --- | --- | --- | --- | --- |
/// | `rendezvous`, 16 slot bits | 4.2 | 4.0 | 3.9 | 4.2 |
/// | `rendezvous`, 20 slot bits | 9.1 | 8.8 | 8.8 | 8.7 |
/// | `rendezvous-exact` | 17 | 136 | 870 | 8,450 |
/// | hrw-hash | 339 | 5,490 | 80,100 | 1,110,000 |
///
/// Replicas that a table holds cost a load each: 8 ns for three at 16 slot bits. emcache's
/// placement takes about 20 ns a node.
///
/// Other clients' placements (feature `compat`) take as long as their hashes. At 100 nodes, in
/// nanoseconds of processor time for an owner, the hash of the key included:
///
/// | placement | owner | three replicas | made from nothing |
/// | --- | --- | --- | --- |
/// | `libmemcached-ketama` | 33 | 780 | 1.5 ms |
/// | `libmemcached-ketama:murmur` | 12 | 820 | 1.0 ms |
/// | `libmemcached-ketama-weighted` | 160, of which MD5 takes 135 | 6,000 | 1.5 ms |
/// | `twemproxy-ketama` | 17 | 5,500 | 1.6 ms |
/// | `dalli` | 15 | 3,500 | 4.4 ms |
/// | `uhashring` | 195 | 1,300 | 4.4 ms |
/// | `libmemcached-modula` | 25 | 200 | - |
/// | `gomemcache` | 8 | 220 | - |
/// | `mcrouter-ch3` | 44 | 390 | - |
///
/// The clients' rendezvous hashing (`pymemcache`, `memcachio`, `mcrouter-rendezvous`) hashes or scores every
/// node. A change of members makes the ring afresh.
///
/// A change goes over the table once, be it of one node or of many. With all of 2^20 slots known and
/// 10,000 nodes, adding one takes 3.5 ms, removing one less, and cloning the placement 1.1 ms; at the
/// default of 16 bits and 10 nodes or 10,000, each takes 0.4 ms or less. A slot is computed when a
/// key first falls in it, and again after one of its nodes has gone or more than a few have come,
/// which takes as long as a lookup of `rendezvous-exact`; [`Placement::fill`] does it for all of them.
///
/// The benchmark is `cargo bench -p steersman-selection --bench placement`.
#[derive(Clone)]
pub struct Placement {
    scheme: Scheme,
    roster: Roster,
    engine: Engine,
}

impl Placement {
    /// The most members: 65,535.
    pub const MAX_NODES: usize = NodeIndex::COUNT;

    /// The largest sum of all members' weights: 1,048,576 (2^20).
    pub const MAX_TOTAL_WEIGHT: usize = roster::MAX_TOTAL_WEIGHT;

    /// The most replicas that a slot table can be made for: 16.
    pub const MAX_REPLICAS: usize = slots::MAX_REPLICAS;

    /// A placement on some members, all of them active; their list may be empty.
    ///
    /// The members get the indices 0, 1, 2 and so on. Fails as [`Placement::insert`] does, and with
    /// [`ErrorKind::InvalidSlotBits`](crate::ErrorKind::InvalidSlotBits) for a scheme with slot
    /// bits out of range.
    pub fn new(scheme: Scheme, members: impl IntoIterator<Item = Member>) -> Result<Self, Error> {
        Self::with_replicas(scheme, 1, members)
    }

    /// A placement whose slot table holds the `replicas` best nodes of each slot, so that
    /// [`Placement::replicas`] of up to as many nodes is a lookup too; 1 to
    /// [`Placement::MAX_REPLICAS`].
    ///
    /// The number changes no answer, only how long it takes and the memory: the table of
    /// [`Scheme::Rendezvous`] takes 2 bytes a slot and replica. The other schemes have no table.
    ///
    /// Fails as [`Placement::new`] does, and with
    /// [`ErrorKind::InvalidReplicas`](crate::ErrorKind::InvalidReplicas) for a number out of range.
    pub fn with_replicas(
        scheme: Scheme,
        replicas: usize,
        members: impl IntoIterator<Item = Member>,
    ) -> Result<Self, Error> {
        let scheme = scheme.validated()?;
        if !(1..=Self::MAX_REPLICAS).contains(&replicas) {
            return Err(Error::invalid_replicas(replicas, Self::MAX_REPLICAS));
        }
        // A table is made only once the members are known: it has nothing to update until then.
        let scores_ids = matches!(scheme, Scheme::Rendezvous { .. } | Scheme::RendezvousExact);
        let mut roster = Roster::new(scores_ids);
        let indices = roster.insert(members)?;
        let engine = Engine::new(scheme, replicas, &roster.pick(&indices))?;
        Ok(Self {
            scheme,
            roster,
            engine,
        })
    }

    /// The node that owns a key: the best of the active members, `None` if there is none.
    ///
    /// Allocates nothing. Any bytes are a key here, the empty one too; whether a server takes such
    /// a key is not placement's question.
    #[inline]
    pub fn owner(&self, key: &[u8]) -> Option<NodeIndex> {
        self.engine.owner(key)
    }

    /// Writes the best nodes for a key to `out`, best first: the owner, the node that would own
    /// the key without it, and so on. Returns how many there are: `out.len()`, or the number of
    /// active members if that is less. They are distinct; the rest of `out` stays as it was.
    ///
    /// Allocates nothing under the native schemes. Asking for more nodes than the table was made
    /// for scans the members.
    pub fn replicas(&self, key: &[u8], out: &mut [NodeIndex]) -> usize {
        self.engine.best(key, out)
    }

    /// Computes the whole slot table now, rather than each slot when a key first falls in it. That
    /// takes as long as scoring every node for every slot. Schemes without a table have nothing to
    /// compute.
    pub fn fill(&self) {
        self.engine.fill();
    }

    /// Adds a member at the end of the list, active, and returns its index.
    ///
    /// On error nothing has changed. The [kinds](crate::ErrorKind) are `DuplicateName`,
    /// `DuplicateHash`, `InvalidName` (empty, or no address where the scheme hashes host and port),
    /// `InvalidWeight` (0, too much in all, or not 1 where the scheme has no weights) and
    /// `TooManyNodes`.
    pub fn insert(&mut self, member: Member) -> Result<NodeIndex, Error> {
        let indices = self.insert_all([member])?;
        Ok(indices[0])
    }

    /// Adds members at the end of the list, in their order, and returns the index of each.
    ///
    /// The outcome is that of [`Placement::insert`] of each in turn, only sooner: a table is gone over
    /// once. If one of them fails, nothing has changed.
    pub fn insert_all(
        &mut self,
        members: impl IntoIterator<Item = Member>,
    ) -> Result<Vec<NodeIndex>, Error> {
        let indices = self.roster.insert(members)?;
        if let Err(error) = self.engine.insert(&self.roster.pick(&indices)) {
            self.roster.remove(&indices);
            return Err(error);
        }
        Ok(indices)
    }

    /// Removes a member, active or not; false if there is none of that index. The index is given
    /// to a later member.
    pub fn remove(&mut self, index: NodeIndex) -> bool {
        self.remove_all(&[index]) == 1
    }

    /// Removes members as [`Placement::remove`] does, all at once, and returns how many there were.
    pub fn remove_all(&mut self, indices: &[NodeIndex]) -> usize {
        let gone = self.roster.remove(indices);
        if !gone.is_empty() {
            self.engine.remove(&gone);
        }
        gone.len()
    }

    /// Takes a member out of the hashing, as if it were removed, but keeps its index, its name and
    /// its place in the list. False if there is none of that index, or it is not active.
    pub fn deactivate(&mut self, index: NodeIndex) -> bool {
        self.deactivate_all(&[index]) == 1
    }

    /// Takes members out of the hashing as [`Placement::deactivate`] does, all at once, and returns
    /// how many were active.
    pub fn deactivate_all(&mut self, indices: &[NodeIndex]) -> usize {
        let gone = self.roster.set_active(indices, false);
        if !gone.is_empty() {
            self.engine.deactivate(&gone);
        }
        gone.len()
    }

    /// Brings a member back that was taken out by [`Placement::deactivate`]: it owns what it owned
    /// before. False if there is none of that index, or it is active.
    pub fn activate(&mut self, index: NodeIndex) -> bool {
        self.activate_all(&[index]) == 1
    }

    /// Brings members back as [`Placement::activate`] does, all at once, and returns how many were
    /// not active.
    pub fn activate_all(&mut self, indices: &[NodeIndex]) -> usize {
        let back = self.roster.set_active(indices, true);
        if !back.is_empty() {
            self.engine.activate(&self.roster.pick(&back));
        }
        back.len()
    }

    /// The member of that index, active or not.
    pub fn member(&self, index: NodeIndex) -> Option<&Member> {
        self.roster.get(index)
    }

    /// All members in the order of the list, each with its index and whether it is active.
    pub fn iter(&self) -> impl Iterator<Item = (NodeIndex, &Member, bool)> {
        self.roster.iter()
    }

    /// The index of the member with that name, active or not.
    pub fn find(&self, name: &str) -> Option<NodeIndex> {
        self.roster.find(name)
    }

    /// How many members there are, active or not.
    pub fn len(&self) -> usize {
        self.roster.len()
    }

    /// Whether there are no members at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many members are active. With none, no key has an owner.
    pub fn active_len(&self) -> usize {
        self.roster.active_len()
    }

    /// The scheme, as given.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }
}

impl fmt::Debug for Placement {
    /// The scheme and the members; a slot table would be too much to read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placement")
            .field("scheme", &self.scheme)
            .field("members", &self.iter().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
