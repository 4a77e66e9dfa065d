//! Probes: how long a node takes to answer, asked over and over.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use steersman_memcached::selection::{
    Attempt, LatencyAware, LatencyParameters, Locality, NodeIndex, NodeReport, Outcome, Policy,
    RoundRobin, Timestamp, Topology,
};
use steersman_memcached::{Error, ErrorKind, NodeHandle};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::answer::Failure;

/// How often each node is asked.
const EVERY: Duration = Duration::from_millis(50);

/// Percentiles are of so many probes: those of 10 seconds.
const KEPT: usize = 200;

/// What a node has to have answered before it is compared with others: within one interval of the
/// default length it has.
const ENOUGH: u32 = 10;

/// What the probes of all nodes have shown.
pub(super) struct Probes {
    policy: LatencyAware<RoundRobin>,
    nodes: Vec<Mutex<Probed>>,
    origin: Instant,
}

/// What the probes of one node have shown.
#[derive(Debug, Default)]
struct Probed {
    latencies: VecDeque<Duration>,
    failure: Option<Error>,
}

/// A summary of that.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) p50: Option<Duration>,
    pub(super) p99: Option<Duration>,
    pub(super) failure: Option<Error>,
    pub(super) report: Option<NodeReport>,
}

impl Probes {
    /// Starts to probe these nodes, until the last handle of what is returned is dropped.
    pub(super) fn start(nodes: Vec<NodeHandle>) -> Result<Arc<Self>, Failure> {
        let parameters = LatencyParameters::default().min_measured(ENOUGH);
        let policy = LatencyAware::builder()
            .parameters(parameters)
            .build(RoundRobin::new())?;
        let mut topology = Topology::new();
        let mut indices = Vec::new();
        for at in 0..nodes.len() {
            let index = NodeIndex::try_from(at)?;
            topology.insert(index, Locality::unknown());
            indices.push(index);
        }
        policy.topology_changed(&topology, Timestamp::from_nanos(0));
        let ticks = policy.tick_every();
        let probes = Arc::new(Self {
            policy,
            nodes: nodes.iter().map(|_| Mutex::default()).collect(),
            origin: Instant::now(),
        });
        for (index, node) in indices.into_iter().zip(nodes) {
            let probes = Arc::downgrade(&probes);
            tokio::spawn(async move {
                let mut ticks = interval(EVERY);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
                loop {
                    ticks.tick().await;
                    let started = Instant::now();
                    let answer = node.version().await;
                    let Some(probes) = probes.upgrade() else {
                        break;
                    };
                    probes.note(index, started.elapsed(), answer.err());
                }
            });
        }
        if let Some(every) = ticks {
            let probes = Arc::downgrade(&probes);
            tokio::spawn(async move {
                let mut ticks = interval(every);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
                loop {
                    ticks.tick().await;
                    let Some(probes) = probes.upgrade() else {
                        break;
                    };
                    probes.policy.tick(probes.now());
                }
            });
        }
        Ok(probes)
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(0) + self.origin.elapsed()
    }

    fn node(&self, index: NodeIndex) -> MutexGuard<'_, Probed> {
        let node = &self.nodes[index.get()];
        node.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, index: NodeIndex, took: Duration, failure: Option<Error>) {
        let outcome = match failure.as_ref().map(Error::kind) {
            None => Outcome::Success,
            Some(ErrorKind::Timeout) => Outcome::TimedOut,
            Some(_) => Outcome::Disconnected,
        };
        let attempt = Attempt::new(index, self.now(), took, outcome);
        self.policy.record(&attempt);
        self.node(index).note(took, failure);
    }

    pub(super) fn summary(&self, at: usize) -> Summary {
        let Ok(index) = NodeIndex::try_from(at) else {
            return Summary::default();
        };
        let node = self.node(index);
        let mut sorted: Vec<Duration> = node.latencies.iter().copied().collect();
        sorted.sort_unstable();
        // The rank of a percentile by the nearest-rank method.
        let percentile = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100);
            sorted.get(rank.checked_sub(1)?).copied()
        };
        Summary {
            p50: percentile(50),
            p99: percentile(99),
            failure: node.failure.clone(),
            report: self.policy.report(index, self.now()),
        }
    }
}

impl Probed {
    fn note(&mut self, took: Duration, failure: Option<Error>) {
        if failure.is_some() {
            // Of the time before the failure nothing holds any more.
            self.latencies.clear();
        } else {
            if self.latencies.len() == KEPT {
                self.latencies.pop_front();
            }
            self.latencies.push_back(took);
        }
        self.failure = failure;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn percentiles_are_of_the_last_probes_since_the_last_failure() {
        let probes = Probes::start(Vec::new()).unwrap();
        let mut probes = Arc::into_inner(probes).unwrap();
        probes.nodes.push(Mutex::default());
        let index = NodeIndex::default();
        assert_eq!(probes.summary(0).p50, None);
        for ms in 1..=KEPT as u64 + 100 {
            probes.note(index, Duration::from_millis(ms), None);
        }
        let summary = probes.summary(0);
        assert_eq!(summary.p50, Some(Duration::from_millis(200)));
        assert_eq!(summary.p99, Some(Duration::from_millis(298)));
        assert!(summary.failure.is_none());

        let failure = "a b"
            .parse::<steersman_memcached::NodeConfig>()
            .unwrap_err();
        probes.note(index, Duration::from_secs(1), Some(failure));
        let summary = probes.summary(0);
        assert_eq!((summary.p50, summary.p99), (None, None));
        assert!(summary.failure.is_some());
        probes.note(index, Duration::from_millis(7), None);
        let summary = probes.summary(0);
        assert_eq!(summary.p99, Some(Duration::from_millis(7)));
        assert!(summary.failure.is_none());
    }
}
