//! `HotColdLexicographic`: first away from what is loaded, then to what is fast.

use std::time::Duration;

use super::estimate::{Estimate, decayed};
use super::ranking::{Cost, sealed::Ranking};
use super::{Ranked, RankedBuilder};
use crate::latency::{float, positive};
use crate::policy::Condition;
use crate::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use crate::time::saturating_nanos;
use crate::{Error, Score, Timestamp};

/// Of two nodes that it draws takes the one with the lower latency if both are not loaded, *cold*; the cold
/// one if one is; and if both are *hot* the one with fewer requests in flight.
///
/// A node is hot while it has more in flight than 84 % (2^-0.25) of what was seen of all nodes lately, or of
/// fewer than seven nodes, than all but one of them: the most loaded one must not set its own limit. So
/// latency decides, but no node gets more than others bear by being fast. Latencies that differ by less
/// than an eighth or so count as equal.
///
/// The hot-cold lexicographic rule of Prequal (Wydrowski, Kleinberg, Rumble and Archer, "Load is not what
/// you should balance: introducing Prequal", NSDI 2024). There, servers tell in answer to probes how much
/// they have in flight and how long that takes. Here it is what this client has in flight, and the latency
///
/// - of its requests, by default;
/// - of probes, with [`RankedBuilder::probes`], where the client can send them
///   ([`Policy::probe`](crate::Policy::probe)): as a probe is the same little work on each node, it tells of
///   the wait before it, and it finds that out about nodes that get no requests.
///
/// Latencies are moving averages over the tenth of the age for which they are believed, which is 1 s. A
/// node that was not heard of for longer is sent one request, or with probes is the last choice. What
/// failures cost is said at [`Ranked`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use steersman_selection::{
///     Attempt, Call, HotColdLexicographic, Locality, NodeIndex, Outcome, Plan, Policy, Replicas,
///     Timestamp, Topology,
/// };
///
/// let nodes = [0, 1].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// for node in nodes {
///     topology.insert(node, Locality::unknown());
/// }
/// let policy = HotColdLexicographic::builder().probes(3).build(Replicas::in_order())?;
/// let mut now = Timestamp::from_nanos(0);
/// policy.topology_changed(&topology, now);
/// let call = Call::new(&topology).replicas(&nodes);
///
/// // Both nodes should be probed. Node 0 answers within 3 ms, node 1 within 1 ms.
/// let probed = [0, 1].map(|nth| policy.probe(&call, nth, now).unwrap());
/// assert!(probed.contains(&nodes[0]) && probed.contains(&nodes[1]));
/// assert_eq!(policy.probe(&call, 2, now), None);
/// now = now + Duration::from_millis(3);
/// for (node, latency) in nodes.into_iter().zip([3, 1]) {
///     let latency = Duration::from_millis(latency);
///     policy.record(&Attempt::new(node, now, latency, Outcome::Success).of_probe());
/// }
///
/// assert_eq!(policy.plan(call).next(now), Some(nodes[1]));
/// # Ok::<(), steersman_selection::Error>(())
/// ```
pub type HotColdLexicographic<C> = Ranked<C, HotCold>;

/// The ranking of [`HotColdLexicographic`].
#[derive(Debug)]
pub struct HotCold {
    age: Duration,
    probes: usize,
    /// The most in flight with which a node is cold. Before anything was seen, none: latencies would
    /// tell too late that all requests go to one node.
    threshold: AtomicU32,
}

/// 2^-0.25, as a fraction.
const QUANTILE: (usize, usize) = (841, 1000);

/// Of the time for which a latency is believed, so much passes between two probes of a node, and is what
/// averages are taken over.
const PART: i64 = 10;

impl Default for HotCold {
    fn default() -> Self {
        Self {
            age: Duration::from_secs(1),
            probes: 0,
            threshold: AtomicU32::new(0),
        }
    }
}

impl RankedBuilder<HotCold> {
    /// For how long a latency is believed. More than 0; 1 s by default.
    pub fn age(mut self, age: Duration) -> Self {
        self.ranking.age = age;
        self
    }

    /// How many probes may go with a request; none by default, and 3 in Prequal. Latencies are those of
    /// probes then. None goes to a node that was probed within the last tenth of the age, so that probes
    /// do not become more than requests.
    pub fn probes(mut self, a_request: usize) -> Self {
        self.ranking.probes = a_request;
        self
    }
}

/// What is known of a node.
#[derive(Debug, Default)]
pub struct Signals {
    latency: Estimate,
    loads: Loads,
    /// When the last probe was sent.
    probed: AtomicI64,
    was_probed: AtomicU32,
}

/// How much was in flight at the last eight answers, 16 bits each, 0 if there was none.
#[derive(Debug, Default)]
struct Loads([AtomicU64; 2]);

impl Loads {
    /// Threads that write at the same time may lose one, which does no harm to a quantile.
    fn push(&self, in_flight: u32) {
        let [newer, older] = &self.0;
        let before = newer.load(Ordering::Relaxed);
        let load = u16::try_from(in_flight.max(1)).unwrap_or(u16::MAX);
        newer.store(before << 16 | u64::from(load), Ordering::Relaxed);
        older.store(
            older.load(Ordering::Relaxed) << 16 | before >> 48,
            Ordering::Relaxed,
        );
    }

    fn iter(&self) -> impl Iterator<Item = u16> {
        let words = self.0.iter().map(|word| word.load(Ordering::Relaxed));
        let loads = words.flat_map(u64::to_le_bytes);
        let mut bytes = loads.fuse();
        std::iter::from_fn(move || Some(u16::from_le_bytes([bytes.next()?, bytes.next()?])))
            .filter(|&load| load > 0)
    }
}

impl HotCold {
    fn age_nanos(&self) -> i64 {
        saturating_nanos(self.age)
    }

    fn learn(&self, record: &Signals, latency: i64, now: Timestamp) {
        let age = self.age_nanos();
        record.latency.learn(latency, now, age, |score| {
            decayed(score, latency, now, (age / PART).max(1))
        });
    }

    #[inline]
    fn is_hot(&self, in_flight: u32) -> bool {
        in_flight > self.threshold.load(Ordering::Relaxed)
    }
}

/// A latency without the difference that noise makes: between a power of two and the next there are
/// eight.
#[inline]
fn rounded(nanos: i64) -> f64 {
    const STEPS: u32 = 3;
    let dropped = f64::MANTISSA_DIGITS - 1 - STEPS;
    f64::from_bits(float(nanos).to_bits() >> dropped << dropped)
}

impl Ranking for HotCold {
    type Record = Signals;
    const NAME: &'static str = "HotColdLexicographic";
    const CHOICES: usize = 2;
    const TICKS: bool = true;

    fn validate(&self) -> Result<(), Error> {
        positive("age", self.age)
    }

    #[inline]
    fn cost(&self, record: &Signals, in_flight: u32, now: Timestamp) -> Cost {
        match record.latency.within(self.age_nanos(), now) {
            _ if self.is_hot(in_flight) => Cost::beyond(in_flight),
            Some(score) => Cost::of(rounded(score.average_nanos)),
            None if self.probes > 0 => Cost::beyond(in_flight),
            None => Cost::unknown(in_flight),
        }
    }

    #[inline]
    fn answered(&self, record: &Signals, latency: i64, in_flight: u32, now: Timestamp) {
        record.loads.push(in_flight);
        if self.probes == 0 {
            self.learn(record, latency, now);
        }
    }

    fn failed(&self, record: &Signals, latency: i64, in_flight: u32, now: Timestamp) {
        self.given_up(record, latency, in_flight, now);
    }

    fn given_up(&self, record: &Signals, latency: i64, _in_flight: u32, _now: Timestamp) {
        if self.probes == 0 {
            record.latency.raise(latency);
        }
    }

    fn probed(&self, record: &Signals, latency: i64, in_flight: u32, now: Timestamp) {
        record.loads.push(in_flight);
        self.learn(record, latency, now);
    }

    fn probes(&self) -> usize {
        self.probes
    }

    fn wants_probe(&self, record: &Signals, now: Timestamp) -> bool {
        let last = record.probed.load(Ordering::Relaxed);
        let was_probed = record.was_probed.load(Ordering::Relaxed) == 1;
        let since = now.nanos_since(Timestamp::from_nanos(last));
        if was_probed && since < self.age_nanos() / PART {
            return false;
        }
        // Of threads that ask at the same time, one sends it.
        let won = record
            .probed
            .compare_exchange(last, now.nanos(), Ordering::Relaxed, Ordering::Relaxed)
            .is_ok();
        record.was_probed.store(1, Ordering::Relaxed);
        won
    }

    fn tick<'a>(&self, records: impl Iterator<Item = &'a Signals>) {
        let mut nodes = 0;
        let mut loads = Vec::new();
        for record in records {
            let before = loads.len();
            loads.extend(record.loads.iter());
            nodes += usize::from(loads.len() > before);
        }
        if nodes < 2 {
            return;
        }
        let quantile = loads.len() * QUANTILE.0 / QUANTILE.1;
        let others = loads.len() - loads.len().div_ceil(nodes) - 1;
        let rank = quantile.min(others);
        let (_, &mut threshold, _) = loads.select_nth_unstable(rank);
        self.threshold.store(threshold.into(), Ordering::Relaxed);
    }

    fn clear(&self, record: &Signals) {
        record.latency.clear();
        for word in &record.loads.0 {
            word.store(0, Ordering::Relaxed);
        }
        record.was_probed.store(0, Ordering::Relaxed);
    }

    fn score(&self, record: &Signals) -> Option<Score> {
        record.latency.load()
    }

    fn condition(&self, record: &Signals, in_flight: u32, now: Timestamp) -> Condition {
        if self.is_hot(in_flight) {
            Condition::Hot
        } else {
            record.latency.condition(self.age_nanos(), now)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn the_last_eight_loads_are_kept() {
        let loads = Loads::default();
        for load in [70_000, 1, 2, 3, 4, 5, 6, 7, 0] {
            loads.push(load);
        }
        let mut kept: Vec<_> = loads.iter().collect();
        kept.sort_unstable();
        assert_eq!(kept, [1, 1, 2, 3, 4, 5, 6, 7]);
        loads.push(70_000);
        assert!(loads.iter().any(|load| load == u16::MAX));
    }

    #[test]
    fn a_hot_node_comes_after_all_cold_ones_and_by_its_load() {
        let ranking = HotCold::default();
        let (fast, slow) = (Signals::default(), Signals::default());
        for load in 1..=8 {
            ranking.answered(&fast, 1_000, load, at(0));
            ranking.answered(&slow, 9_000, 1, at(0));
        }
        let cost = |record, in_flight| ranking.cost(record, in_flight, at(1));
        assert!(
            cost(&fast, 2) > cost(&slow, 1),
            "all are hot before the first tick"
        );
        let threshold = || ranking.threshold.load(Ordering::Relaxed);
        // Of 1 to 8 and eight times 1: without the eight of the most loaded node.
        ranking.tick([&fast, &slow].into_iter());
        assert_eq!(threshold(), 1);
        // Of those and many others, 84 %.
        let others: Vec<_> = (0..8).map(|_| Signals::default()).collect();
        for other in others.iter().flat_map(|other| [other; 8]) {
            ranking.answered(other, 9_000, 6, at(0));
        }
        ranking.tick(others.iter().chain([&fast, &slow]));
        assert_eq!(threshold(), 6);
        assert!(cost(&fast, 6) < cost(&slow, 1));
        assert!(cost(&fast, 7) > cost(&slow, 6));
        assert!(cost(&fast, 7) < cost(&slow, 8));
        assert_eq!(ranking.condition(&fast, 7, at(1)), Condition::Hot);
    }

    #[test]
    fn latencies_are_compared_by_eighths() {
        assert!(rounded(120_000_000).to_bits() == rounded(119_999_999).to_bits());
        assert!(rounded(100) < rounded(113) && rounded(100).to_bits() == rounded(96).to_bits());
        assert!(rounded(0) < rounded(1) && rounded(i64::MAX).is_finite());
    }

    #[test]
    fn old_latencies_are_not_believed() {
        let ranking = HotCold::default();
        let record = Signals::default();
        ranking.answered(&record, 1_000, 1, at(0));
        assert_eq!(
            ranking.cost(&record, 0, at(1_000)),
            Cost::of(rounded(1_000))
        );
        assert_eq!(ranking.cost(&record, 0, at(1_001)), Cost::UNTRIED);
        let probing = HotCold {
            probes: 3,
            ..HotCold::default()
        };
        assert_eq!(probing.cost(&record, 0, at(1_001)), Cost::beyond(0));
    }

    #[test]
    fn a_node_is_probed_ten_times_within_the_age() {
        let ranking = HotCold {
            probes: 3,
            ..HotCold::default()
        };
        let record = Signals::default();
        let sent = (0..1_000).filter(|&millis| ranking.wants_probe(&record, at(millis)));
        assert_eq!(sent.count(), 10);
        // Answers to requests say nothing then.
        ranking.answered(&record, 1_000, 1, at(0));
        assert_eq!(ranking.score(&record), None);
        ranking.probed(&record, 1_000, 0, at(0));
        assert_eq!(ranking.score(&record).unwrap().average_nanos, 1_000);
    }
}
