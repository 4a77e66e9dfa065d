//! `LeastInFlight`: the fewer requests in flight of two, and the Java driver's rules for slow replicas.

use super::Ranked;
use super::ranking::{Cost, sealed::Ranking};
use crate::Timestamp;
use crate::policy::Condition;
use crate::sync::atomic::{AtomicI64, AtomicU32, Ordering};

/// Takes the node with fewer requests in flight, of two that it draws.
///
/// As in the default policy of the `DataStax` Java driver 4, with its rules for slow replicas, where a
/// tier has more than two nodes:
///
/// - A node is slow while 10 requests or more are in flight there and it gave fewer than two answers
///   within the last 200 ms (failures are answers too). As long as fewer than half of the tier's nodes are
///   slow, they come last in it.
/// - A node that came in among others gets one in four of its requests for 60 s. (There, it is moved back
///   with a probability of 3/4 if it is among the two.)
///
/// Latencies do not matter, only that slow nodes have more in flight. What failures cost is said at
/// [`Ranked`]: a node that fails at once has nothing in flight, and would have everything otherwise.
///
/// The choices are those of Mitzenmacher, "The power of two choices in randomized load balancing" (IEEE
/// Transactions on Parallel and Distributed Systems 12(10), 2001).
///
/// # Examples
///
/// ```
/// use steersman_selection::{
///     Call, LeastInFlight, Locality, NodeIndex, Plan, Policy, RoundRobin, Timestamp, Topology,
/// };
///
/// let [a, b] = [0, 1].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// topology.insert(a, Locality::unknown());
/// topology.insert(b, Locality::unknown());
/// let policy = LeastInFlight::new(RoundRobin::new());
/// let now = Timestamp::from_nanos(0);
/// policy.topology_changed(&topology, now);
///
/// policy.begin(a, now);
/// for _ in 0..4 {
///     assert_eq!(policy.plan(Call::new(&topology)).next(now), Some(b));
/// }
/// ```
pub type LeastInFlight<C> = Ranked<C, InFlight>;

/// The ranking of [`LeastInFlight`].
#[derive(Debug, Default)]
pub struct InFlight(());

/// With fewer requests in flight no node is slow.
const MANY: u32 = 10;

/// A node that gave two answers within so long is not slow.
const ANSWERS_WITHIN_NANOS: i64 = 200_000_000;

/// The times of a node's last two answers. Threads that write at the same time may lose one, which
/// another answer makes up for.
#[derive(Debug, Default)]
pub struct Answers {
    last: AtomicI64,
    last_but_one: AtomicI64,
    /// Two at most.
    count: AtomicU32,
}

impl Answers {
    fn add(&self, now: Timestamp) {
        let last = self.last.swap(now.nanos(), Ordering::Relaxed);
        self.last_but_one.store(last, Ordering::Relaxed);
        let count = self.count.load(Ordering::Relaxed);
        if count < 2 {
            self.count.store(count + 1, Ordering::Relaxed);
        }
    }

    fn are_two_since(&self, begin: Timestamp) -> bool {
        let last_but_one = Timestamp::from_nanos(self.last_but_one.load(Ordering::Relaxed));
        self.count.load(Ordering::Relaxed) == 2 && last_but_one.nanos_since(begin) >= 0
    }
}

impl Ranking for InFlight {
    type Record = Answers;
    const NAME: &'static str = "LeastInFlight";
    const CHOICES: usize = 2;
    const NOVICE_NANOS: i64 = 60_000_000_000;
    const JUDGES_SPEED: bool = true;

    #[inline]
    fn cost(&self, _record: &Answers, in_flight: u32, _now: Timestamp) -> Cost {
        Cost::of(f64::from(in_flight))
    }

    #[inline]
    fn answered(&self, record: &Answers, _latency: i64, _in_flight: u32, now: Timestamp) {
        record.add(now);
    }

    fn failed(&self, record: &Answers, _latency: i64, _in_flight: u32, now: Timestamp) {
        record.add(now);
    }

    fn is_slow(&self, record: &Answers, in_flight: u32, now: Timestamp) -> bool {
        let begin = Timestamp::from_nanos(now.nanos().wrapping_sub(ANSWERS_WITHIN_NANOS));
        in_flight >= MANY && !record.are_two_since(begin)
    }

    fn clear(&self, record: &Answers) {
        record.count.store(0, Ordering::Relaxed);
    }

    fn condition(&self, record: &Answers, in_flight: u32, now: Timestamp) -> Condition {
        if self.is_slow(record, in_flight, now) {
            Condition::Slow
        } else {
            Condition::Ranked
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_slow_with_many_in_flight_and_less_than_two_answers_lately() {
        let ranking = InFlight::default();
        let record = Answers::default();
        let at = |millis: i64| Timestamp::from_nanos(millis * 1_000_000);
        let is_slow = |in_flight, millis| ranking.is_slow(&record, in_flight, at(millis));
        assert!(!is_slow(9, 0) && is_slow(10, 0));
        ranking.answered(&record, 1, 1, at(0));
        assert!(is_slow(10, 0));
        ranking.failed(&record, 1, 1, at(100));
        assert!(!is_slow(10, 200) && is_slow(10, 201) && !is_slow(9, 201));
        ranking.answered(&record, 1, 1, at(250));
        assert!(!is_slow(10, 300) && is_slow(10, 301));
        ranking.clear(&record);
        assert!(is_slow(10, 250));
    }
}
