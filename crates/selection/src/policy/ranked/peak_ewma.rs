//! `PeakEwma`: latency, quick to rise and slow to fall, times what is in flight.

use std::time::Duration;

use super::estimate::{Estimate, decayed};
use super::ranking::{Cost, sealed::Ranking};
use super::{Ranked, RankedBuilder};
use crate::latency::{float, positive};
use crate::policy::Condition;
use crate::time::saturating_nanos;
use crate::{Error, Score, Timestamp};

/// Takes the node with the lowest product of its latency and the requests in flight, of two by default.
///
/// The latency is a moving average that is sensitive to peaks: one that is above it becomes the average
/// at once, one below moves it by 1 - e^(-t / decay), where t is the time since the answer before. A node
/// that slows down loses its requests with the first slow answer and gets them back over some time; one
/// that stalls loses them with the requests that pile up there.
///
/// An average is believed for the retry period after the last answer. Then one request is sent for a new
/// one. (In Finagle averages decay to nothing when they are read. A burst after a quiet time would all go
/// to the node that was heard of first; and one that was slow a thousand times is away for longer than one
/// that was slow twice.) The latency of an attempt that has failed counts only if it is above the average;
/// what failures cost is said at [`Ranked`].
///
/// From Finagle, Twitter's RPC library (`p2c.PeakEwma`, 2015), with the choices of Mitzenmacher, "The
/// power of two choices in randomized load balancing" (IEEE Transactions on Parallel and Distributed
/// Systems 12(10), 2001).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use steersman_selection::{
///     Attempt, Call, Locality, NodeIndex, Outcome, PeakEwma, Plan, Policy, RoundRobin, Timestamp,
///     Topology,
/// };
///
/// let nodes = [0, 1].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// for node in nodes {
///     topology.insert(node, Locality::unknown());
/// }
/// let policy = PeakEwma::new(RoundRobin::new());
/// let sent = Timestamp::from_nanos(0);
/// policy.topology_changed(&topology, sent);
///
/// // Node 0 needs 9 ms for what takes node 1 2 ms.
/// let now = sent + Duration::from_millis(10);
/// for (node, latency) in nodes.into_iter().zip([9, 2]) {
///     policy.begin(node, sent);
///     let latency = Duration::from_millis(latency);
///     policy.record(&Attempt::new(node, now, latency, Outcome::Success));
/// }
///
/// // It gets a request once there are five at node 1: 9 ms * (0 + 1) is less than 2 ms * (4 + 1).
/// for expected in [1, 1, 1, 1, 0] {
///     let node = policy.plan(Call::new(&topology)).next(now).unwrap();
///     assert_eq!(node, nodes[expected]);
///     policy.begin(node, now);
/// }
/// ```
pub type PeakEwma<C> = Ranked<C, PeakLatency>;

/// The ranking of [`PeakEwma`].
#[derive(Debug)]
pub struct PeakLatency {
    decay: Duration,
    retry_nanos: i64,
}

impl Default for PeakLatency {
    fn default() -> Self {
        Self {
            decay: Duration::from_secs(10),
            retry_nanos: i64::MAX,
        }
    }
}

impl RankedBuilder<PeakLatency> {
    /// The time after which a latency that is below the average makes 63 % of the new average. More
    /// than 0; 10 s by default.
    pub fn decay(mut self, decay: Duration) -> Self {
        self.ranking.decay = decay;
        self
    }
}

impl Ranking for PeakLatency {
    type Record = Estimate;
    const NAME: &'static str = "PeakEwma";
    const CHOICES: usize = 2;

    fn validate(&self) -> Result<(), Error> {
        positive("decay", self.decay)
    }

    fn retry_after(&mut self, nanos: i64) {
        self.retry_nanos = nanos;
    }

    #[inline]
    fn cost(&self, record: &Estimate, in_flight: u32, now: Timestamp) -> Cost {
        match record.within(self.retry_nanos, now) {
            Some(score) => {
                // An answer within the clock's resolution is not free.
                let latency = float(score.average_nanos.max(1));
                Cost::of(latency * (f64::from(in_flight) + 1.0))
            }
            None => Cost::unknown(in_flight),
        }
    }

    #[inline]
    fn answered(&self, record: &Estimate, latency: i64, _in_flight: u32, now: Timestamp) {
        let decay = saturating_nanos(self.decay);
        record.learn(latency, now, self.retry_nanos, |score| {
            if latency > score.average_nanos {
                latency
            } else {
                decayed(score, latency, now, decay)
            }
        });
    }

    /// It took that long at least; what came of it in the end does not matter.
    fn failed(&self, record: &Estimate, latency: i64, _in_flight: u32, _now: Timestamp) {
        record.raise(latency);
    }

    fn given_up(&self, record: &Estimate, latency: i64, _in_flight: u32, _now: Timestamp) {
        record.raise(latency);
    }

    fn clear(&self, record: &Estimate) {
        record.clear();
    }

    fn score(&self, record: &Estimate) -> Option<Score> {
        record.load()
    }

    fn condition(&self, record: &Estimate, _in_flight: u32, now: Timestamp) -> Condition {
        record.condition(self.retry_nanos, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rises_at_once_and_falls_by_the_time_that_has_passed() {
        let ranking = PeakLatency {
            retry_nanos: 60_000_000_000,
            ..PeakLatency::default()
        };
        let record = Estimate::default();
        let second = 1_000_000_000_i64;
        let average = |latency, seconds| {
            ranking.answered(&record, latency, 1, Timestamp::from_nanos(seconds * second));
            record.load().unwrap().average_nanos
        };
        assert_eq!(average(1_000, 0), 1_000);
        assert_eq!(average(9_000, 0), 9_000);
        // 1000 + 8000 / e.
        assert_eq!(average(1_000, 10), 3_943);
        // No time has passed, or an earlier answer comes later.
        assert_eq!(average(1_000, 10), 3_943);
        assert_eq!(average(1_000, 9), 3_943);
        // Not believed any more.
        assert_eq!(average(1_000, 80), 1_000);
    }

    #[test]
    fn a_quick_failure_changes_nothing_and_a_late_one_is_a_peak() {
        let ranking = PeakLatency::default();
        let record = Estimate::default();
        let now = Timestamp::from_nanos(0);
        ranking.failed(&record, 10, 1, now);
        assert_eq!(record.load(), None);
        ranking.answered(&record, 1_000, 1, now);
        ranking.failed(&record, 10, 1, now);
        assert_eq!(record.load().unwrap().average_nanos, 1_000);
        ranking.failed(&record, 5_000, 1, now);
        assert_eq!(record.load().unwrap().average_nanos, 5_000);
        assert_eq!(record.load().unwrap().samples, 1);
    }

    #[test]
    fn nodes_of_which_nothing_is_known_are_tried_by_one_request() {
        let ranking = PeakLatency::default();
        let (known, new) = (Estimate::default(), Estimate::default());
        let now = Timestamp::from_nanos(0);
        ranking.answered(&known, 1_000, 1, now);
        let cost = |record, in_flight| ranking.cost(record, in_flight, now);
        assert!(cost(&new, 0) < cost(&known, 0));
        assert!(cost(&new, 1) > cost(&known, 1_000));
        assert!(cost(&new, 1) < cost(&new, 2));
        assert!(cost(&known, 1) < cost(&known, 2));
    }
}
