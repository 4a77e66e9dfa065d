//! A cluster in virtual time: requests arrive at a fixed rate, each node takes as long as it is
//! told, and the policy learns of each answer when it comes.

use std::collections::BTreeMap;
use std::time::Duration;

use steersman_selection::{
    Attempt, Call, LatencyAware, Locality, Mode, NodeIndex, Outcome, Plan, Policy, Timestamp,
    Topology,
};

pub(crate) const BOTH: [Mode; 2] = [Mode::Reference, Mode::Guarded];

pub(crate) fn node(index: usize) -> NodeIndex {
    NodeIndex::try_from(index).unwrap()
}

pub(crate) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// Nodes of one datacenter.
pub(crate) fn in_one_place(nodes: usize) -> Topology {
    let mut topology = Topology::new();
    for index in 0..nodes {
        topology.insert(node(index), Locality::datacenter("a"));
    }
    topology
}

pub(crate) fn latency_aware<C>(mode: Mode, child: C) -> LatencyAware<C> {
    LatencyAware::builder().mode(mode).build(child).unwrap()
}

pub(crate) struct Cluster<P> {
    pub(crate) policy: P,
    pub(crate) topology: Topology,
    pub(crate) now: Timestamp,
    next_tick: Timestamp,
    /// By the time of the answer, and then in the order in which they were sent.
    in_flight: BTreeMap<(i64, u64), Attempt>,
    sent: u64,
}

impl<P: Policy> Cluster<P> {
    pub(crate) fn new(policy: P, topology: Topology) -> Self {
        let now = Timestamp::from_nanos(0);
        policy.topology_changed(&topology, now);
        Self {
            policy,
            topology,
            now,
            next_tick: now,
            in_flight: BTreeMap::new(),
            sent: 0,
        }
    }

    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Topology)) {
        change(&mut self.topology);
        self.policy.topology_changed(&self.topology, self.now);
    }

    /// A thousand requests a second for so long, each sent to the first node of its plan. Returns
    /// how many each node got.
    pub(crate) fn run(
        &mut self,
        span: Duration,
        mut serve: impl FnMut(usize) -> (Duration, Outcome),
    ) -> Vec<u32> {
        let mut counts = vec![0; 16];
        for _ in 0..span.as_millis() {
            self.pass(millis(1));
            counts[self.send(&mut serve)] += 1;
        }
        counts.truncate(
            self.topology
                .nodes()
                .iter()
                .map(|node| node.get() + 1)
                .max()
                .unwrap(),
        );
        counts
    }

    /// A request, sent to the first node of its plan. Returns which one that is.
    pub(crate) fn send(&mut self, serve: impl FnOnce(usize) -> (Duration, Outcome)) -> usize {
        let first = self.policy.plan(Call::new(&self.topology)).next(self.now);
        let index = first.unwrap().get();
        self.sent += 1;
        let (latency, outcome) = serve(index);
        let ended = self.now + latency;
        let attempt = Attempt::new(node(index), ended, latency, outcome);
        self.in_flight.insert((ended.nanos(), self.sent), attempt);
        index
    }

    /// The same with latencies alone.
    pub(crate) fn serve(
        &mut self,
        span: Duration,
        mut latency: impl FnMut(usize) -> Duration,
    ) -> Vec<u32> {
        self.run(span, |index| (latency(index), Outcome::Success))
    }

    /// Lets time pass, with the answers and ticks that fall in it.
    pub(crate) fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        while let Some(answer) = self.in_flight.first_entry()
            && answer.key().0 <= end.nanos()
        {
            let attempt = answer.remove();
            self.tick_until(attempt.ended_at());
            self.policy.record(&attempt);
        }
        self.tick_until(end);
        self.now = end;
    }

    fn tick_until(&mut self, end: Timestamp) {
        while self.next_tick.nanos_since(end) <= 0 {
            self.policy.tick(self.next_tick);
            self.next_tick = self.next_tick + self.policy.tick_every().unwrap();
        }
    }

    /// How many requests that were sent to a node are not answered.
    pub(crate) fn in_flight_of(&self, index: usize) -> usize {
        let attempts = self.in_flight.values();
        attempts
            .filter(|attempt| attempt.node() == node(index))
            .count()
    }

    /// The time since the beginning.
    pub(crate) fn age(&self) -> Duration {
        let nanos = self.now.nanos_since(Timestamp::from_nanos(0));
        Duration::from_nanos(nanos.unsigned_abs())
    }

    /// An answer that the policy did not choose the node for.
    pub(crate) fn answer(&self, index: usize, latency: Duration) {
        let attempt = Attempt::new(node(index), self.now, latency, Outcome::Success);
        self.policy.record(&attempt);
    }

    /// The nodes of the next plan.
    pub(crate) fn plan(&self) -> Vec<usize> {
        let mut plan = self.policy.plan(Call::new(&self.topology));
        std::iter::from_fn(|| plan.next(self.now))
            .map(NodeIndex::get)
            .collect()
    }
}

/// Random numbers from 0 to 1.
pub(crate) fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(state >> 33).unwrap()) / f64::from(1_u32 << 31)
    }
}
