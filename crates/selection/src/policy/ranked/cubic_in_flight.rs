//! `CubicInFlight`: latency, and the cube of what is in flight. Experimental.

use std::time::Duration;

use super::estimate::{Estimate, decayed};
use super::ranking::{Cost, sealed::Ranking};
use super::{Ranked, RankedBuilder};
use crate::latency::{float, positive};
use crate::policy::Condition;
use crate::time::saturating_nanos;
use crate::{Error, Score, Timestamp};

/// Takes the node with the lowest R - S + q³ S of all. Experimental.
///
/// R is a moving average of the node's latencies, S the time that it needs for a request alone, and
/// q = 1 + concurrency * in flight. So a queue weighs more the longer it is: of two nodes, one of which is
/// four times faster, the faster one gets requests until its queue is 1.6 times (the cube root of four) as
/// long, not four times. By that clients which know the same do not all go to the same node.
///
/// The replica ranking of C3 (Suresh, Canini, Schmid and Feldmann, "C3: Cutting tail latency in cloud data
/// stores via adaptive replica selection", NSDI 2015), without what its servers tell: their queues, which
/// are left to q, and S. In place of it is a moving average that falls to a lower latency at once and rises
/// slowly, within 10 s. Without the limit to the rate of requests as well.
///
/// What was measured is believed for the retry period. What failures cost is said at [`Ranked`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use steersman_selection::{
///     Attempt, Call, CubicInFlight, Locality, NodeIndex, Outcome, Plan, Policy, RoundRobin, Timestamp,
///     Topology,
/// };
///
/// let nodes = [0, 1].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// for node in nodes {
///     topology.insert(node, Locality::unknown());
/// }
/// let policy = CubicInFlight::new(RoundRobin::new());
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
/// // It gets a request as soon as there is one at node 1: 9 ms is less than 2 ms * 2³.
/// for expected in [1, 0] {
///     let node = policy.plan(Call::new(&topology)).next(now).unwrap();
///     assert_eq!(node, nodes[expected]);
///     policy.begin(node, now);
/// }
/// ```
pub type CubicInFlight<C> = Ranked<C, Cubic>;

/// The ranking of [`CubicInFlight`].
#[derive(Debug)]
pub struct Cubic {
    decay: Duration,
    concurrency: u32,
    retry_nanos: i64,
}

/// The time after which a latency above S makes 63 % of it.
const SERVICE_DECAY_NANOS: i64 = 10_000_000_000;

impl Default for Cubic {
    fn default() -> Self {
        Self {
            decay: Duration::from_secs(1),
            concurrency: 1,
            retry_nanos: i64::MAX,
        }
    }
}

impl RankedBuilder<Cubic> {
    /// The time after which a latency makes 63 % of the new average. More than 0; 1 s by default.
    pub fn decay(mut self, decay: Duration) -> Self {
        self.ranking.decay = decay;
        self
    }

    /// How many clients send as this one does: what it has in flight stands for so much. 1 or more; 1
    /// by default.
    pub fn concurrency(mut self, clients: u32) -> Self {
        self.ranking.concurrency = clients;
        self
    }
}

/// R and S of a node.
#[derive(Debug, Default)]
pub struct Times {
    response: Estimate,
    service: Estimate,
}

impl Ranking for Cubic {
    type Record = Times;
    const NAME: &'static str = "CubicInFlight";
    const CHOICES: usize = usize::MAX;

    fn validate(&self) -> Result<(), Error> {
        if self.concurrency == 0 {
            let allowed = "choose 1 or more";
            return Err(Error::invalid_parameter("concurrency", 0, allowed));
        }
        positive("decay", self.decay)
    }

    fn retry_after(&mut self, nanos: i64) {
        self.retry_nanos = nanos;
    }

    #[inline]
    fn cost(&self, record: &Times, in_flight: u32, now: Timestamp) -> Cost {
        let known = record.response.within(self.retry_nanos, now);
        let (Some(response), Some(service)) = (known, record.service.load()) else {
            return Cost::unknown(in_flight);
        };
        // An answer within the clock's resolution is not free.
        let response = float(response.average_nanos.max(1));
        let service = float(service.average_nanos.max(1)).min(response);
        let queue = 1.0 + f64::from(self.concurrency) * f64::from(in_flight);
        Cost::of(response - service + queue.powi(3) * service)
    }

    #[inline]
    fn answered(&self, record: &Times, latency: i64, _in_flight: u32, now: Timestamp) {
        let decay = saturating_nanos(self.decay);
        record
            .response
            .learn(latency, now, self.retry_nanos, |score| {
                decayed(score, latency, now, decay)
            });
        record
            .service
            .learn(latency, now, self.retry_nanos, |score| {
                if latency < score.average_nanos {
                    latency
                } else {
                    decayed(score, latency, now, SERVICE_DECAY_NANOS)
                }
            });
    }

    /// It took that long at least.
    fn failed(&self, record: &Times, latency: i64, _in_flight: u32, _now: Timestamp) {
        record.response.raise(latency);
    }

    fn given_up(&self, record: &Times, latency: i64, _in_flight: u32, _now: Timestamp) {
        record.response.raise(latency);
    }

    fn clear(&self, record: &Times) {
        record.response.clear();
        record.service.clear();
    }

    fn score(&self, record: &Times) -> Option<Score> {
        record.response.load()
    }

    fn condition(&self, record: &Times, _in_flight: u32, now: Timestamp) -> Condition {
        record.response.condition(self.retry_nanos, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_queue_weighs_by_its_cube() {
        let ranking = Cubic {
            concurrency: 2,
            ..Cubic::default()
        };
        let record = Times::default();
        assert_eq!(ranking.cost(&record, 0, at(0)), Cost::UNTRIED);
        ranking.answered(&record, 1_000, 1, at(0));
        for (in_flight, cubed) in [(0, 1.0), (1, 27.0), (2, 125.0)] {
            assert_eq!(
                ranking.cost(&record, in_flight, at(0)),
                Cost::of(1_000.0 * cubed)
            );
        }
        // A time that was spent in a queue of others is not multiplied by one's own.
        record.response.raise(5_000);
        assert_eq!(
            ranking.cost(&record, 1, at(0)),
            Cost::of(4_000.0 + 27_000.0)
        );
    }

    #[test]
    fn the_service_time_falls_at_once_and_rises_slowly() {
        let ranking = Cubic::default();
        let record = Times::default();
        ranking.answered(&record, 9_000, 1, at(0));
        ranking.answered(&record, 1_000, 1, at(1));
        assert_eq!(record.service.load().unwrap().average_nanos, 1_000);
        assert!(record.response.load().unwrap().average_nanos > 8_900);
        ranking.answered(&record, 9_000, 1, at(1_001));
        let service = record.service.load().unwrap().average_nanos;
        assert!((1_700..1_800).contains(&service), "{service}");
    }
}
