//! How keys are replicated: the options, their defaults and their checks.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use steersman_selection::{DynPolicy, Hedge, Hedging, Locality, Placement, Policy, Recorder};

use super::policy::ReadPolicy;
use crate::error::{Error, Result};
use crate::expires::Expires;

/// On how many nodes each key lives, and how replicas are read and written; for
/// [`Builder::replicas`](crate::Builder::replicas).
///
/// A number says it all where the defaults suit:
///
/// ```
/// use std::time::Duration;
/// use steersman_memcached::{Client, Hedge, Replication, WriteSuccess};
///
/// let nodes = ["cache-1:11211", "cache-2:11211", "cache-3:11211"];
/// let plain = Client::builder().nodes(nodes).replicas(2).build()?;
///
/// let replication = Replication::new(3)
///     .write_success(WriteSuccess::Any)
///     .hedge(Hedge::After(Duration::from_millis(5)));
/// let tuned = Client::builder().nodes(nodes).replicas(replication).build()?;
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
#[must_use = "give it to the builder's `replicas`"]
pub struct Replication {
    pub(crate) replicas: usize,
    pub(super) policy: Box<dyn DynPolicy>,
    pub(super) recorder: Option<Arc<dyn Recorder>>,
    pub(crate) write_success: WriteSuccess,
    pub(crate) attempt_timeout: Option<Duration>,
    pub(crate) hedge: Option<Hedge>,
    pub(crate) hedges_per_read: f64,
    pub(crate) hedge_burst: u32,
    pub(crate) next_on_miss: bool,
    pub(super) repair: Option<Expires>,
    pub(super) localities: HashMap<String, Locality>,
}

/// When a write to several replicas has succeeded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum WriteSuccess {
    /// When every replica has done it. One replica that is down makes writes fail, although the
    /// others have done them: [`Error::replicas`](crate::Error::replicas) says which.
    #[default]
    All,
    /// When any replica has done it. Once one has, the others are waited for no longer than the
    /// [attempt time-out](Replication::attempt_timeout). Replicas that missed a write keep what
    /// they had: reads that go there see the old value.
    Any,
}

impl From<usize> for Replication {
    fn from(replicas: usize) -> Self {
        Self::new(replicas)
    }
}

impl Replication {
    /// Each key on its `replicas` best nodes, 1 to 16, and on all nodes if there are fewer. With 1
    /// there is no replication, and all other options are without effect.
    pub fn new(replicas: usize) -> Self {
        Self {
            replicas,
            policy: ReadPolicy::default().build(),
            recorder: None,
            write_success: WriteSuccess::All,
            attempt_timeout: None,
            hedge: Some(Hedge::default()),
            hedges_per_read: 0.05,
            hedge_burst: 10,
            next_on_miss: false,
            repair: None,
            localities: HashMap::new(),
        }
    }

    /// Which replica a read asks, and which next: by default [`ReadPolicy::Steady`], so whichever is likely
    /// to answer first. A read of a key may go to any of its replicas then; [`ReadPolicy::LatencyAware`]
    /// keeps to the owner.
    ///
    /// Any policy will do. Nodes of its plan that do not hold the key are passed over; replicas
    /// that are not in its plan are not read. Keep a clone of an `Arc` to look into it later.
    pub fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.policy = Box::new(policy);
        self
    }

    /// The [policy](Self::policy) of that name, over the replicas of the key.
    pub fn read_policy(mut self, policy: ReadPolicy) -> Self {
        self.policy = policy.build();
        self
    }

    /// Takes down what each attempt cost, reads and writes, those that failed or lost included: whatever
    /// the policy learns, but for probes. By default nothing is, and costs nothing.
    ///
    /// With `AttemptLog` of the crate `steersman-recorder` it becomes a log for `steersman simulate --record`.
    pub fn record(mut self, recorder: impl Recorder + 'static) -> Self {
        self.recorder = Some(Arc::new(recorder));
        self
    }

    /// When a write has succeeded; [`WriteSuccess::All`] by default.
    pub fn write_success(mut self, success: WriteSuccess) -> Self {
        self.write_success = success;
        self
    }

    /// How long one replica may take before a read turns to the next as well, so that a replica
    /// that hangs does not use up the whole time-out. Above zero; by default the call's time-out
    /// divided by the number of replicas. The first answer counts, be it a late one.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = Some(timeout);
        self
    }

    /// When a read asks the next replica although nothing has failed; `Percentile(0.95)` by
    /// default, `None` never. The first answer counts.
    pub fn hedge(mut self, hedge: impl Into<Option<Hedge>>) -> Self {
        self.hedge = hedge.into();
        self
    }

    /// How many hedges there may be: so many a read on average, and at most `burst` of them saved
    /// up. 0.05 and 10 by default, so that a cluster that is slow as a whole gets at most 5 % more
    /// requests. Turning to the next replica after an outage or the attempt time-out costs nothing.
    pub fn hedge_budget(mut self, per_read: f64, burst: u32) -> Self {
        self.hedges_per_read = per_read;
        self.hedge_burst = burst;
        self
    }

    /// Whether a read that misses tries the next replica; off by default. On, it is a miss once
    /// every replica that answers has missed.
    pub fn next_on_miss(mut self, on: bool) -> Self {
        self.next_on_miss = on;
        self
    }

    /// Gives a value that was found on another replica to those that missed it, with this expiry,
    /// since a read does not tell how long a value has left. Off by default; turns
    /// [`next_on_miss`](Self::next_on_miss) on.
    ///
    /// The value is stored by `add`, so it never overwrites a newer one. It may bring back a value
    /// that was deleted while the other replica was away.
    pub fn repair(mut self, expires: impl Into<Expires>) -> Self {
        self.next_on_miss = true;
        self.repair = Some(expires.into());
        self
    }

    /// Where a node is, for policies that care; unknown by default.
    pub fn locality(mut self, node: impl Into<String>, locality: Locality) -> Self {
        self.localities.insert(node.into(), locality);
        self
    }

    /// How many nodes hold each key.
    pub(crate) fn count(&self) -> usize {
        self.replicas
    }

    pub(crate) fn validate(&self) -> Result<()> {
        if !(1..=Placement::MAX_REPLICAS).contains(&self.replicas) {
            let most = Placement::MAX_REPLICAS;
            return Err(Error::config("replicas", format!("must be 1 to {most}")));
        }
        if self.attempt_timeout == Some(Duration::ZERO) {
            return Err(Error::config("attempt_timeout", "must be above zero"));
        }
        self.hedging().map(drop)
    }

    /// What hedges reads; if none are to be, what would.
    pub(super) fn hedging(&self) -> Result<Hedging> {
        let hedging = Hedging::new(self.hedge.unwrap_or_default())
            .map_err(|error| Error::config("hedge", error.to_string()))?;
        hedging
            .budget(self.hedges_per_read, self.hedge_burst)
            .map_err(|error| Error::config("hedge_budget", error.to_string()))
    }
}

impl fmt::Debug for Replication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replication")
            .field("replicas", &self.replicas)
            .field("write_success", &self.write_success)
            .field("attempt_timeout", &self.attempt_timeout)
            .field("hedge", &self.hedge)
            .field("next_on_miss", &self.next_on_miss)
            .field("repair", &self.repair)
            .finish_non_exhaustive()
    }
}
