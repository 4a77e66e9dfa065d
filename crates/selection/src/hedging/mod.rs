//! Hedged requests: when one that has no answer yet goes to a second node as well, and how many may.

mod budget;
mod window;

use std::time::Duration;

use self::budget::Budget;
use self::window::Window;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::table::Table;
use crate::{Error, NodeIndex, Topology};

/// When a request that is not answered yet goes to the next node as well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hedge {
    /// After this time.
    After(Duration),
    /// After the time within which the fastest of the nodes that may be asked answers this share of its
    /// requests, such as 0.95, the default: of each node's latest 256, computed ten times a second. There
    /// is no hedge before a node has answered 32.
    Percentile(f64),
}

impl Default for Hedge {
    fn default() -> Self {
        Self::Percentile(0.95)
    }
}

/// Decides when requests are hedged, within a budget. It knows of latencies what it is told, and sends nothing
/// itself: beside any [`Policy`](crate::Policy), which says where a hedge goes.
///
/// - A request [begins](Self::begin), and is told after how long a hedge is due.
/// - When that has passed without an answer, the hedge is [allowed](Self::allow) or not.
/// - Each answer is [told](Self::answered), of which the next delays are made at a [tick](Self::tick).
///
/// The budget is 0.05 a request and 10 saved up, unless [said otherwise](Self::budget): where all nodes are slow,
/// there are at most 5 % more requests.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use steersman_selection::{Hedge, Hedging, Locality, NodeIndex, Topology};
///
/// let nodes = [0, 1].map(|index| NodeIndex::try_from(index).unwrap());
/// let mut topology = Topology::new();
/// for node in nodes {
///     topology.insert(node, Locality::unknown());
/// }
/// let hedging = Hedging::new(Hedge::Percentile(0.9))?.budget(0.1, 1)?;
/// hedging.topology_changed(&topology);
/// assert_eq!(hedging.begin(&nodes), None, "nothing is known yet");
/// for millis in 1..=100 {
///     hedging.answered(nodes[0], Duration::from_millis(millis));
///     hedging.answered(nodes[1], Duration::from_millis(500));
/// }
/// hedging.tick(); // every `hedging.tick_every()`
/// assert_eq!(hedging.begin(&nodes), Some(Duration::from_millis(91)));
///
/// // It has passed without an answer.
/// assert!(hedging.allow());
/// // So it has for another request, but only one was saved up.
/// assert!(!hedging.allow());
/// # Ok::<(), steersman_selection::Error>(())
/// ```
#[derive(Debug)]
pub struct Hedging {
    hedge: Hedge,
    budget: Budget,
    windows: Table<Window>,
    /// The lowest percentile of all nodes, in nanoseconds; 0 is unknown.
    fastest: AtomicU64,
}

/// How often percentiles are computed.
const TICK: Duration = Duration::from_millis(100);

impl Hedging {
    /// With the default budget. Fails if a percentile is not above 0 and below 1.
    pub fn new(hedge: Hedge) -> Result<Self, Error> {
        if let Hedge::Percentile(share) = hedge
            && !(share > 0.0 && share < 1.0)
        {
            let allowed = "choose a share above 0 and below 1, as 0.95";
            return Err(Error::invalid_parameter("hedge percentile", share, allowed));
        }
        Ok(Self {
            hedge,
            budget: Budget::new(0.05, 10),
            windows: Table::new(),
            fastest: AtomicU64::new(0),
        })
    }

    /// With a budget of so many hedges a request on average, and at most `burst` of them saved up; there are as
    /// many to begin with. Fails if the average is not 0 to 1.
    pub fn budget(mut self, per_request: f64, burst: u32) -> Result<Self, Error> {
        if !(0.0..=1.0).contains(&per_request) {
            return Err(Error::invalid_parameter(
                "hedges per request",
                per_request,
                "choose 0 to 1",
            ));
        }
        self.budget = Budget::new(per_request, burst);
        Ok(self)
    }

    /// A request begins that these nodes may answer, or any node if none is named. Returns after what time it
    /// is to be hedged; `None` if it is not.
    #[inline]
    pub fn begin(&self, nodes: &[NodeIndex]) -> Option<Duration> {
        self.budget.earn();
        self.delay(nodes)
    }

    /// The same for a request that [has begun](Self::begin).
    #[inline]
    pub fn delay(&self, nodes: &[NodeIndex]) -> Option<Duration> {
        match (self.hedge, nodes) {
            (Hedge::After(delay), _) => Some(delay),
            (Hedge::Percentile(_), []) => match self.fastest.load(Ordering::Relaxed) {
                0 => None,
                nanos => Some(Duration::from_nanos(nanos)),
            },
            (Hedge::Percentile(_), nodes) => nodes
                .iter()
                .filter_map(|&node| self.windows.get(node)?.percentile())
                .min(),
        }
    }

    /// A hedge is due that can be made: whether it may. Takes it out of the budget.
    pub fn allow(&self) -> bool {
        self.budget.spend()
    }

    /// Whether the budget has a hedge left: for callers that have to say so when a request begins, and
    /// [charge](Self::charge) it when it was made.
    pub fn is_affordable(&self) -> bool {
        self.budget.has_any()
    }

    /// A hedge was made without [asking](Self::allow). More than the budget has is owed to it, so that the
    /// average holds all the same.
    pub fn charge(&self) {
        self.budget.charge();
    }

    /// A node has answered a request, hedged or not, within that time.
    #[inline]
    pub fn answered(&self, node: NodeIndex, latency: Duration) {
        if let (Hedge::Percentile(_), Some(window)) = (self.hedge, self.windows.get(node)) {
            window.record(latency);
        }
    }

    /// Other nodes are there. What is known of those that left is forgotten.
    pub fn topology_changed(&self, topology: &Topology) {
        if matches!(self.hedge, Hedge::After(_)) {
            return;
        }
        for &node in topology.nodes() {
            self.windows.get_or_make(node);
        }
        for (node, window) in self.windows.iter() {
            window.belongs_to(if topology.contains(node) {
                topology.incarnation(node)
            } else {
                0
            });
        }
    }

    /// Computes delays from what was answered lately.
    pub fn tick(&self) {
        let Hedge::Percentile(share) = self.hedge else {
            return;
        };
        let percentiles = self.windows.iter().filter_map(|(_, window)| {
            window.refresh(share);
            window.percentile()
        });
        let fastest = percentiles.min().map_or(0, |fastest| fastest.as_nanos());
        let fastest = u64::try_from(fastest).unwrap_or(u64::MAX);
        self.fastest.store(fastest, Ordering::Relaxed);
    }

    /// How often a [tick](Self::tick) is due: 100 ms, never if hedges come after a fixed time.
    pub fn tick_every(&self) -> Option<Duration> {
        matches!(self.hedge, Hedge::Percentile(_)).then_some(TICK)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{ErrorKind, Locality};

    fn nodes<const N: usize>() -> [NodeIndex; N] {
        std::array::from_fn(|index| NodeIndex::try_from(index).unwrap())
    }

    fn cluster(nodes: &[NodeIndex]) -> Topology {
        let mut topology = Topology::new();
        for &node in nodes {
            topology.insert(node, Locality::unknown());
        }
        topology
    }

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_delay_is_that_of_the_fastest_of_the_nodes_that_may_be_asked() {
        let nodes = nodes::<3>();
        let mut topology = cluster(&nodes);
        let hedging = Hedging::new(Hedge::default()).unwrap();
        hedging.topology_changed(&topology);
        for (node, latency) in nodes.into_iter().zip([2, 7, 9]) {
            for _ in 0..40 {
                hedging.answered(node, millis(latency));
            }
        }
        assert_eq!(hedging.begin(&[]), None, "before the tick");
        hedging.tick();
        assert_eq!(hedging.begin(&nodes[1..]), Some(millis(7)));
        assert_eq!(hedging.begin(&[]), Some(millis(2)));

        // The fastest leaves, and another node comes under its number.
        topology.remove(nodes[0]);
        hedging.topology_changed(&topology);
        hedging.tick();
        assert_eq!(hedging.begin(&[]), Some(millis(7)));
        topology.insert(nodes[0], Locality::unknown());
        hedging.topology_changed(&topology);
        hedging.tick();
        assert_eq!(hedging.begin(&nodes[..1]), None);
        assert_eq!(hedging.tick_every(), Some(millis(100)));
    }

    #[test]
    fn a_fixed_delay_needs_to_know_nothing() {
        let hedging = Hedging::new(Hedge::After(millis(3))).unwrap();
        assert_eq!(hedging.begin(&nodes::<2>()), Some(millis(3)));
        assert_eq!(
            (hedging.begin(&[]), hedging.tick_every()),
            (Some(millis(3)), None)
        );
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for share in [0.0, 1.0, 95.0, -0.5, f64::NAN] {
            let error = Hedging::new(Hedge::Percentile(share)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        }
        for share in [-0.1, 1.1, f64::NAN] {
            let hedging = Hedging::new(Hedge::default()).unwrap();
            assert!(hedging.budget(share, 1).is_err(), "{share}");
        }
    }
}
