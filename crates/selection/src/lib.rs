//! Which node a request goes to: the placement of keys on the nodes of a cluster, and policies that
//! choose among nodes.
//!
//! A [`Placement`] answers which node owns a key, and which would own it next, without asking
//! anybody: every client with the same members and the same [`Scheme`] comes to the same answer.
//! The crate only computes. It does no I/O, reads no clock, draws no global random numbers and needs
//! no runtime.
//!
//! ```
//! use steersman_selection::{Member, Placement, Scheme};
//!
//! let nodes = ["cache-a:11211", "cache-b:11211", "cache-c:11211"].map(Member::new);
//! let mut placement = Placement::new(Scheme::default(), nodes)?;
//! let owner = placement.owner(b"user:1234").expect("there are active members");
//! println!("{}", placement.member(owner).expect("an owner is a member").name());
//!
//! // A fourth node of twice the size takes two fifths of the keys and moves no others.
//! placement.insert(Member::new("cache-d:11211").weighted(2))?;
//! # Ok::<(), steersman_selection::Error>(())
//! ```
//!
//! # The schemes
//!
//! | name | what it is | a lookup |
//! | --- | --- | --- |
//! | `rendezvous` | the default: rendezvous hashing of slots of keys | a hash and one load |
//! | `rendezvous-exact` | rendezvous hashing of each key | scores every node |
//! | `emcache`, `emcache-aarch64` | what the Python client emcache does | hashes every node |
//! | `libmemcached-ketama` and others | what other clients do, with the feature `compat`: see `Compat` | a hash and a search, or hashes every node |
//!
//! Rendezvous hashing, also called highest random weight (Thaler and Ravishankar, "Using
//! name-based mappings to increase hit rates", IEEE/ACM Transactions on Networking 6(1), 1998),
//! gives each node a score for the key; the highest score owns it. Who owns a key thus follows
//! from the set of nodes alone. Removing a node moves its keys and no others, each to the node with
//! the second highest score; adding one moves keys to it and nowhere else.
//!
//! # The native placements, exactly
//!
//! Seeds and constants are fixed for good; `tests/vectors/rendezvous.json` in the repository pins
//! them. All numbers have 64 bits and wrap.
//!
//! - The hash of a key is the XXH3-64 (Yann Collet, xxHash 0.8) of its bytes with seed 0.
//! - A node of weight w has w virtual ids: the XXH3-64 of its name in UTF-8 with the seeds
//!   `0x5374656572736d61` + i, for i from 0 to w - 1.
//! - mix(x) is `(y ^ (y >> 32)) * 0x94d049bb133111eb` where `y = x * 0xbf58476d1ce4e5b9`.
//! - The score of a node for a hash is the highest mix(hash ^ id) of its virtual ids.
//! - `rendezvous-exact`: the owner is the node with the highest score for the key's hash.
//! - `rendezvous` with b slot bits: the key's slot is the first b bits of its hash, as a number;
//!   the owner is the node with the highest score for mix(slot ^ `0x9e3779b97f4a7c15`).
//!
//! mix is a bijection, so different ids never have the same score, and nodes that share an id are
//! refused: there are no ties, and nothing that the order of nodes could decide. Replicas are the
//! nodes by descending score.

//!
//! # Policies
//!
//! A [`Policy`] says in which order nodes are tried for a request, and learns from how that went.
//! Policies nest; typed chains cost nothing for it, and [`DynPolicy`] is for chains that are put
//! together at run time.
//!
//! | policy | its plans |
//! | --- | --- |
//! | [`RoundRobin`] | all nodes in turn |
//! | [`DatacenterAware`] | the preferred rack and datacenter in turn, then some remote nodes |
//! | [`Replicas`] | the key's replicas alone, in order or shuffled |
//! | [`TokenAware`] | the key's replicas, then the rest of another policy's plan |
//! | [`LatencyAware`] | another policy's plan, with slow nodes last in their [`Tier`] |
//! | [`Steady`] | another policy's plan, in each tier the lowest latency or silence times requests in flight first |
//! | [`PeakEwma`] | another policy's plan, in each tier the lower latency times requests in flight first |
//! | [`LeastInFlight`] | another policy's plan, in each tier the fewer requests in flight first |
//! | [`HotColdLexicographic`] | another policy's plan, in each tier the fastest first of those that are not loaded |
//! | [`CubicInFlight`] | another policy's plan, in each tier by latency and the cube of what is in flight (experimental) |
//!
//! A client plans, sends and records; a timer ticks:
//!
//! ```
//! use std::time::{Duration, Instant};
//! use steersman_selection::{
//!     Attempt, Call, LatencyAware, Locality, NodeIndex, Outcome, Plan, Policy, RoundRobin,
//!     Timestamp, Topology,
//! };
//!
//! # fn send(_: NodeIndex) -> Result<(), ()> { Ok(()) }
//! let start = Instant::now();
//! let now = || Timestamp::default() + start.elapsed();
//! let mut topology = Topology::new();
//! for index in 0..3 {
//!     topology.insert(NodeIndex::try_from(index)?, Locality::unknown());
//! }
//! let policy = LatencyAware::new(RoundRobin::new());
//! policy.topology_changed(&topology, now());
//!
//! let mut plan = policy.plan(Call::new(&topology));
//! while let Some(node) = plan.next(now()) {
//!     let sent = now();
//!     policy.begin(node, sent);
//!     let result = send(node);
//!     let latency = Duration::from_nanos(now().nanos_since(sent).unsigned_abs());
//!     let outcome = if result.is_ok() { Outcome::Success } else { Outcome::Failed };
//!     policy.record(&Attempt::new(node, now(), latency, outcome));
//!     if result.is_ok() {
//!         break;
//!     }
//! }
//! policy.tick(now()); // every `policy.tick_every()`
//! # Ok::<(), steersman_selection::Error>(())
//! ```
//!
//! Every chain works the same way. Those in use:
//!
//! ```
//! use steersman_selection::{
//!     DatacenterAware, LatencyAware, Policy, ReplicaOrder, Replicas, RoundRobin, TokenAware,
//! };
//!
//! # fn check(_: impl Policy) {}
//! // Nodes without data of their own, such as proxies.
//! let proxies = LatencyAware::new(RoundRobin::new());
//! // A replicated cache: no other node has the key. Its owner first, for one favourite node a key,
//! // or shuffled, to spread the load.
//! let cache = LatencyAware::new(Replicas::in_order());
//! let spread = LatencyAware::new(Replicas::shuffled(7));
//! // A database in several datacenters: local replicas, the local datacenter, two nodes of each
//! // other one.
//! let local = || DatacenterAware::new("eu-1").rack("b").remote_nodes(2);
//! let database = LatencyAware::new(TokenAware::new(local()));
//! // The other way round: slow nodes are known to the child. The replicas keep its order.
//! let nested = TokenAware::new(LatencyAware::new(local())).order(ReplicaOrder::Neutral);
//! // Without replicas, or without regard to latency.
//! let coordinators = LatencyAware::new(local());
//! let tokens = TokenAware::new(local()).order(ReplicaOrder::Topological);
//! # check(proxies); check(cache); check(spread); check(database); check(nested);
//! # check(coordinators); check(tokens);
//! ```
//!
//! [`Hedging`] decides when a request is sent to a second node as well, within a budget, beside any policy.
//!
//! [`Plan::explain`] tells for one plan why each node is where it is, [`LatencyAware::snapshot`]
//! what is known of all, a [`Listener`] when that changes.

mod error;
mod hash;
mod hedging;
mod latency;
mod node;
mod placement;
mod policy;
mod sync;
mod table;
mod time;
mod topology;

pub use crate::error::{Error, ErrorKind};
pub use crate::hedging::{Hedge, Hedging};
pub use crate::latency::{LatencyParameters, Score};
pub use crate::node::{Member, NodeIndex};
#[cfg(feature = "compat")]
pub use crate::placement::{
    Compat, LibmemcachedHash, McrouterWeights, PymemcacheKeys, SpymemcachedHash, SpymemcachedNames,
    TwemproxyHash, UhashringRing,
};
pub use crate::placement::{Placement, Scheme};
pub use crate::policy::{
    Attempt, BoxPlan, Call, Candidate, Change, Condition, Consistency, Counters, Cubic,
    CubicInFlight, DatacenterAware, DatacenterAwarePlan, DynPolicy, Event, Explained, Explanation,
    HotCold, HotColdLexicographic, InFlight, LatencyAware, LatencyAwareBuilder, LatencyAwarePlan,
    LeastInFlight, Listener, Mode, NodeReport, Outcome, Pace, PeakEwma, PeakLatency, Plan, Policy,
    Ranked, RankedBuilder, RankedPlan, Ranking, Recorder, ReplicaOrder, Replicas, ReplicasPlan,
    RoundRobin, RoundRobinPlan, Snapshot, Standing, Steady, Tier, TokenAware, TokenAwarePlan, Turn,
};
pub use crate::time::Timestamp;
pub use crate::topology::{Datacenter, Locality, Rack, Topology};
