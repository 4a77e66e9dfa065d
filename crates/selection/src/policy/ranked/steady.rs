//! `Steady`: the mean latency or the silence, whichever is longer, with room for what is in flight.

use std::time::Duration;

use super::estimate::{Estimate, averaged};
use super::ranking::{Cost, sealed::Ranking};
use super::{Ranked, RankedBuilder};
use crate::latency::{float, positive};
use crate::policy::Condition;
use crate::sync::atomic::{AtomicI64, Ordering};
use crate::time::saturating_nanos;
use crate::{Error, Score, Timestamp};

/// Takes the node with the lowest product of its pace and the requests in flight, of all.
///
/// - The **pace** is the mean latency of the last second or less, or the node's *silence* if that is longer:
///   how long no answer has come although requests are in flight. A mean tells a node that is always
///   somewhat slower, which peaks hide; silence tells one that stands still, before any answer does.
/// - What is **in flight** raises the cost: as much as the *room*, 1.6 by default, doubles it. A server works
///   on several requests at a time, so one of one's own says less than it would if it were the only one there.
/// - **All** nodes of the tier are compared, in random order, and another one is taken only if it costs 15 %
///   less. So nodes that differ by noise share evenly, and what is taken costs at most 1.18 times the least.
///
/// A mean is believed for the retry period after the last answer, and then one request is sent for a new one. A
/// failure counts as an answer that took as long, if that is above the mean; what else failures cost is said at
/// [`Ranked`], except that a first and a second one count for a second at most.
///
/// Own work, from parts that are known: the product of latency and queue is that of Finagle's `PeakEwma`, the
/// comparison of all is that of C3's replica ranking ([`CubicInFlight`](crate::CubicInFlight)).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use steersman_selection::{
///     Attempt, Call, Locality, NodeIndex, Outcome, Plan, Policy, RoundRobin, Steady, Timestamp, Topology,
/// };
///
/// let nodes = [0, 1].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// for node in nodes {
///     topology.insert(node, Locality::unknown());
/// }
/// let policy = Steady::new(RoundRobin::new());
/// let sent = Timestamp::from_nanos(0);
/// policy.topology_changed(&topology, sent);
///
/// // Node 0 needs 9 ms for what takes node 1 3 ms.
/// let mut now = sent + Duration::from_millis(10);
/// for (node, latency) in nodes.into_iter().zip([9, 3]) {
///     policy.begin(node, sent);
///     let latency = Duration::from_millis(latency);
///     policy.record(&Attempt::new(node, now, latency, Outcome::Success));
/// }
/// let first = |now| policy.plan(Call::new(&topology)).next(now);
/// assert_eq!(first(now), Some(nodes[1]));
///
/// // It is asked, and says nothing: after 15 ms that is worse than 9 ms.
/// policy.begin(nodes[1], now);
/// assert_eq!(first(now), Some(nodes[1]));
/// now = now + Duration::from_millis(15);
/// assert_eq!(first(now), Some(nodes[0]));
/// ```
pub type Steady<C> = Ranked<C, Pace>;

/// The ranking of [`Steady`].
#[derive(Debug)]
pub struct Pace {
    decay: Duration,
    room: f64,
    tolerance: f64,
    heeds_silence: bool,
    retry_nanos: i64,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            decay: Duration::from_millis(700),
            room: 1.6,
            tolerance: 0.15,
            heeds_silence: true,
            retry_nanos: i64::MAX,
        }
    }
}

impl RankedBuilder<Pace> {
    /// The time after which a latency makes 63 % of the new mean. More than 0; 700 ms by default.
    pub fn decay(mut self, decay: Duration) -> Self {
        self.ranking.decay = decay;
        self
    }

    /// So many requests in flight double the cost of a node: the less, the sooner others are asked that are
    /// slower. More than 0 and finite; 1.6 by default.
    pub fn room(mut self, requests: f64) -> Self {
        self.ranking.room = requests;
        self
    }

    /// The share of a cost that another one has to be lower to count as such. From 0 to below 1; 0.15 by
    /// default. With 0 the last digit of a mean decides.
    pub fn tolerance(mut self, share: f64) -> Self {
        self.ranking.tolerance = share;
        self
    }

    /// Whether it counts for how long a node has not answered; it does by default.
    pub fn silence(mut self, counts: bool) -> Self {
        self.ranking.heeds_silence = counts;
        self
    }
}

/// What is known of a node.
#[derive(Debug, Default)]
pub struct Signs {
    mean: Estimate,
    /// When it answered last, or was asked after nothing was in flight. Threads that write at the same time
    /// may leave the earlier time, which is wrong by the time between them.
    heard: AtomicI64,
}

impl Signs {
    fn hear(&self, now: Timestamp) {
        self.heard.store(now.nanos(), Ordering::Relaxed);
    }

    /// For how long no answer has come that is due.
    fn silence(&self, in_flight: u32, now: Timestamp) -> i64 {
        if in_flight == 0 {
            return 0;
        }
        now.nanos_since(Timestamp::from_nanos(self.heard.load(Ordering::Relaxed)))
    }
}

impl Ranking for Pace {
    type Record = Signs;
    const NAME: &'static str = "Steady";
    const CHOICES: usize = usize::MAX;
    const BURDEN_NANOS: i64 = 1_000_000_000;

    fn validate(&self) -> Result<(), Error> {
        if !(self.room > 0.0 && self.room.is_finite()) {
            let allowed = "choose more than 0";
            return Err(Error::invalid_parameter("room", self.room, allowed));
        }
        if !(0.0..1.0).contains(&self.tolerance) {
            let allowed = "choose 0 or more, and less than 1";
            return Err(Error::invalid_parameter(
                "tolerance",
                self.tolerance,
                allowed,
            ));
        }
        positive("decay", self.decay)
    }

    fn retry_after(&mut self, nanos: i64) {
        self.retry_nanos = nanos;
    }

    #[inline]
    fn distinction(&self) -> f64 {
        1.0 - self.tolerance
    }

    #[inline]
    fn cost(&self, record: &Signs, in_flight: u32, now: Timestamp) -> Cost {
        self.burdened_cost(record, in_flight, 0, now)
    }

    /// Nobody waits for what failures stand for: it is not silent.
    #[inline]
    fn burdened_cost(&self, record: &Signs, in_flight: u32, burden: u32, now: Timestamp) -> Cost {
        let load = in_flight.saturating_add(burden);
        let Some(score) = record.mean.within(self.retry_nanos, now) else {
            return Cost::unknown(load);
        };
        // An answer within the clock's resolution is not free.
        let mut pace = score.average_nanos.max(1);
        if self.heeds_silence {
            pace = pace.max(record.silence(in_flight, now));
        }
        Cost::of(float(pace) * (self.room + f64::from(load)))
    }

    #[inline]
    fn begun(&self, record: &Signs, in_flight: u32, now: Timestamp) {
        if in_flight == 0 {
            record.hear(now);
        }
    }

    #[inline]
    fn answered(&self, record: &Signs, latency: i64, _in_flight: u32, now: Timestamp) {
        let decay = saturating_nanos(self.decay);
        record.hear(now);
        record.mean.learn(latency, now, self.retry_nanos, |score| {
            averaged(score, latency, now, decay)
        });
    }

    /// It took that long at least. The silence that it ends is kept as well: a node must not be the cheaper
    /// for having failed.
    fn failed(&self, record: &Signs, latency: i64, in_flight: u32, now: Timestamp) {
        record
            .mean
            .raise(latency.max(record.silence(in_flight, now)));
    }

    fn given_up(&self, record: &Signs, latency: i64, in_flight: u32, now: Timestamp) {
        self.failed(record, latency, in_flight, now);
    }

    fn clear(&self, record: &Signs) {
        record.mean.clear();
    }

    fn score(&self, record: &Signs) -> Option<Score> {
        record.mean.load()
    }

    fn condition(&self, record: &Signs, _in_flight: u32, now: Timestamp) -> Condition {
        record.mean.condition(self.retry_nanos, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_nanos(millis * 1_000_000)
    }

    const MILLI: i64 = 1_000_000;

    /// With rounder figures than the defaults.
    fn plain() -> Pace {
        Pace {
            decay: Duration::from_secs(1),
            room: 2.0,
            ..Pace::default()
        }
    }

    #[test]
    fn the_cost_is_the_pace_times_the_room_and_what_is_in_flight() {
        let ranking = plain();
        let record = Signs::default();
        assert_eq!(ranking.cost(&record, 0, at(0)), Cost::UNTRIED);
        ranking.answered(&record, 4 * MILLI, 1, at(0));
        for (in_flight, product) in [(0, 8e6), (1, 12e6), (2, 16e6), (5, 28e6)] {
            assert_eq!(ranking.cost(&record, in_flight, at(0)), Cost::of(product));
        }
    }

    #[test]
    fn silence_counts_while_something_is_in_flight() {
        let ranking = plain();
        let record = Signs::default();
        ranking.answered(&record, MILLI, 1, at(0));
        // Nothing was asked: that nothing was heard is no wonder.
        assert_eq!(ranking.cost(&record, 0, at(100)), Cost::of(2e6));
        ranking.begun(&record, 0, at(100));
        ranking.begun(&record, 1, at(110));
        assert_eq!(ranking.cost(&record, 2, at(150)), Cost::of(200e6));
        ranking.answered(&record, MILLI, 2, at(150));
        assert_eq!(ranking.cost(&record, 1, at(151)), Cost::of(3e6));
        let deaf = Pace {
            heeds_silence: false,
            ..plain()
        };
        assert_eq!(deaf.cost(&record, 1, at(900)), Cost::of(3e6));
    }

    #[test]
    fn a_failure_leaves_the_silence_that_it_ends() {
        let ranking = plain();
        let record = Signs::default();
        ranking.answered(&record, MILLI, 1, at(0));
        ranking.begun(&record, 0, at(10));
        ranking.begun(&record, 1, at(25));
        let before = ranking.cost(&record, 2, at(30));
        // The later one fails, and the first goes on.
        ranking.failed(&record, 5 * MILLI, 2, at(30));
        assert_eq!(ranking.cost(&record, 2, at(30)), before);
        assert_eq!(record.mean.load().unwrap().average_nanos, 20 * MILLI);
        let burdened = ranking.burdened_cost(&record, 0, 1, at(900));
        assert_eq!(burdened, Cost::of(60e6));
        // One that fails at once changes nothing.
        ranking.failed(&record, 10, 0, at(31));
        assert_eq!(record.mean.load().unwrap().average_nanos, 20 * MILLI);
    }

    #[test]
    fn a_mean_follows_what_is_slower_and_what_is_faster_alike() {
        let ranking = plain();
        let record = Signs::default();
        let average = |latency, millis| {
            ranking.answered(&record, latency, 1, at(millis));
            record.mean.load().unwrap().average_nanos
        };
        assert_eq!(average(1_000, 0), 1_000);
        // Of two at the same time the mean; later 1 - 1/e of the way, up and down.
        assert_eq!(average(3_000, 0), 2_000);
        assert_eq!(average(10_000, 1_000), 7_056);
        assert_eq!(average(2_000, 2_000), 3_859);
    }
}
