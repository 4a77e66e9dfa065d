//! The policies that can be named, and the chain that each becomes in a scenario.

use std::fmt;

use serde::{Deserialize, Deserializer, de};
use steersman_selection::{
    CubicInFlight, DatacenterAware, DynPolicy, HotColdLexicographic, LatencyAware, LeastInFlight,
    Mode, PeakEwma, Policy, Replicas, RoundRobin, Steady, TokenAware,
};

use crate::engine::{Seat, Steering};
use crate::scenario::Scenario;
use crate::{Error, ErrorKind};

/// A policy by its name.
///
/// What it chooses from depends on the scenario: replicas in random order if there are keys, the nodes of
/// the clients' datacenter in turn if they are in one, both if both, and else all nodes in turn. The kind
/// is the policy around that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PolicyKind {
    /// No policy around it: nodes in turn, replicas in random order.
    RoundRobin,
    /// [`LatencyAware`] with its defaults.
    LatencyAware,
    /// [`LatencyAware`] as in the Java driver.
    LatencyAwareReference,
    /// [`PeakEwma`] with its defaults.
    PeakEwma,
    /// [`LeastInFlight`] with its defaults: the power of two choices.
    LeastInFlight,
    /// [`HotColdLexicographic`] with up to three probes a call: Prequal.
    HotCold,
    /// [`CubicInFlight`] with its defaults: C3.
    CubicInFlight,
    /// [`Steady`] with its defaults.
    Steady,
}

impl PolicyKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::RoundRobin,
        Self::LatencyAware,
        Self::LatencyAwareReference,
        Self::PeakEwma,
        Self::LeastInFlight,
        Self::HotCold,
        Self::CubicInFlight,
        Self::Steady,
    ];

    /// Their names, in the same order.
    pub const NAMES: [&'static str; Self::ALL.len()] = [
        "round-robin",
        "latency-aware",
        "latency-aware-reference",
        "peak-ewma",
        "least-in-flight",
        "hot-cold",
        "cubic-in-flight",
        "steady",
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The policy of that name.
    pub fn from_name(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| {
            let names = Self::NAMES.join(", ");
            let message = format!("there is no policy {name:?}; choose one of {names}");
            Error::new(ErrorKind::UnknownPolicy, message)
        })
    }

    /// The policy around another one, with a seed for its chance: as it is simulated, for a real client.
    ///
    /// ```
    /// use steersman_selection::Replicas;
    /// use steersman_simulator::PolicyKind;
    ///
    /// let policy = PolicyKind::from_name("peak-ewma")?.over(Replicas::shuffled(1), 1);
    /// # let _ = policy;
    /// # Ok::<(), steersman_simulator::Error>(())
    /// ```
    pub fn over(self, child: impl Policy + 'static, seed: u64) -> Box<dyn DynPolicy> {
        self.around::<Client, _>(child, seed)
    }

    /// The policy for one client of a scenario, around the chain that its datacenters and replicas ask for;
    /// with [`RoundRobin`](Self::RoundRobin) that chain alone, to put another policy around it.
    ///
    /// ```
    /// use steersman_simulator::{PolicyKind, Scenario, Simulation};
    ///
    /// let scenario = Scenario::builtin("s9")?.remove(0);
    /// let simulation = Simulation::new(&scenario)?;
    /// let report = simulation.run(1, |seat| PolicyKind::PeakEwma.chain(&scenario, seat));
    /// assert_eq!(report, simulation.run_policy(PolicyKind::PeakEwma, 1));
    /// # Ok::<(), steersman_simulator::Error>(())
    /// ```
    pub fn chain(self, scenario: &Scenario, seat: Seat) -> Box<dyn DynPolicy> {
        self.build::<Client>(scenario, seat)
    }

    /// The same for the engine.
    pub(crate) fn steering(self, scenario: &Scenario, seat: Seat) -> Box<dyn Steering> {
        self.build::<Engine>(scenario, seat)
    }

    fn build<U: User>(self, scenario: &Scenario, seat: Seat) -> U::Pointer {
        let Seat { seed, .. } = seat;
        let clients = &scenario.clients;
        let datacenters = clients
            .datacenter
            .as_deref()
            .map(|name| DatacenterAware::new(name).remote_nodes(clients.remote_nodes));
        // Clients do not begin with the same node.
        let first = i32::try_from(seed >> 33).unwrap_or_default();
        match (&scenario.keys, datacenters) {
            (None, None) => self.around::<U, _>(RoundRobin::starting_at(first), seed),
            (None, Some(datacenters)) => self.around::<U, _>(datacenters.starting_at(first), seed),
            (Some(_), None) => self.around::<U, _>(Replicas::shuffled(seed), seed),
            (Some(_), Some(datacenters)) => {
                let child = TokenAware::new(datacenters.starting_at(first)).seed(seed);
                self.around::<U, _>(child, seed)
            }
        }
    }

    fn around<U: User, C: Policy + 'static>(self, child: C, seed: u64) -> U::Pointer {
        // Not that of the child.
        let seed = seed.rotate_left(32);
        let latency_aware =
            |mode, child| valid(LatencyAware::builder().mode(mode).seed(seed).build(child));
        match self {
            Self::RoundRobin => U::point(child),
            Self::LatencyAware => U::point(latency_aware(Mode::Guarded, child)),
            Self::LatencyAwareReference => U::point(latency_aware(Mode::Reference, child)),
            Self::PeakEwma => U::point(valid(PeakEwma::builder().seed(seed).build(child))),
            Self::LeastInFlight => {
                U::point(valid(LeastInFlight::builder().seed(seed).build(child)))
            }
            Self::HotCold => {
                let builder = HotColdLexicographic::builder().probes(3).seed(seed);
                U::point(valid(builder.build(child)))
            }
            Self::CubicInFlight => {
                U::point(valid(CubicInFlight::builder().seed(seed).build(child)))
            }
            Self::Steady => U::point(valid(Steady::builder().seed(seed).build(child))),
        }
    }
}

/// Who asks a policy, and through what kind of pointer.
trait User {
    type Pointer;

    fn point(policy: impl Policy + 'static) -> Self::Pointer;
}

/// The simulation, to which a plan must not cost an allocation.
enum Engine {}

impl User for Engine {
    type Pointer = Box<dyn Steering>;

    fn point(policy: impl Policy + 'static) -> Self::Pointer {
        Box::new(policy)
    }
}

/// Any client.
enum Client {}

impl User for Client {
    type Pointer = Box<dyn DynPolicy>;

    fn point(policy: impl Policy + 'static) -> Self::Pointer {
        Box::new(policy)
    }
}

fn valid<P>(built: Result<P, steersman_selection::Error>) -> P {
    built.expect("the default parameters are valid")
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl<'de> Deserialize<'de> for PolicyKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_name(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
