//! Plans: an order of the child's nodes, tier by tier.

use proptest::prelude::*;
use steersman_selection::{
    Attempt, Call, Candidate, Consistency, DatacenterAware, LeastInFlight, Locality, Mode,
    NodeIndex, Outcome, PeakEwma, Plan, Policy, ReplicaOrder, Replicas, RoundRobin, Standing, Tier,
    Timestamp, TokenAware, Topology, Turn,
};

use super::each;
use crate::cluster::{in_one_place, millis, node};
use crate::lesson::{latency_aware, teach};

/// What may happen to a policy.
#[derive(Debug, Clone)]
enum Step {
    Begin(usize),
    Record(usize, u64, Outcome),
    Pass(u64),
    Toggle(usize),
    Tick,
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    prop::sample::select(vec![
        Outcome::Success,
        Outcome::Failed,
        Outcome::TimedOut,
        Outcome::Disconnected,
        Outcome::Refused,
        Outcome::Rejected,
        Outcome::Busy,
        Outcome::Cancelled,
    ])
}

pub(super) fn steps(nodes: usize) -> impl Strategy<Value = Vec<impl Apply>> {
    prop::collection::vec(
        prop_oneof![
            4 => (0..nodes).prop_map(Step::Begin),
            4 => (0..nodes, 0..3_000_u64, outcomes())
                .prop_map(|(node, latency, outcome)| Step::Record(node, latency, outcome)),
            2 => (0..4_000_u64).prop_map(Step::Pass),
            1 => (0..nodes).prop_map(Step::Toggle),
            1 => Just(Step::Tick),
        ],
        0..60,
    )
}

/// A step that is taken by a policy and its topology.
pub(super) trait Apply: std::fmt::Debug + Clone {
    fn apply(&self, policy: &impl Policy, topology: &mut Topology, now: &mut Timestamp);
}

impl Apply for Step {
    fn apply(&self, policy: &impl Policy, topology: &mut Topology, now: &mut Timestamp) {
        match *self {
            Self::Begin(index) => policy.begin(node(index), *now),
            Self::Record(index, latency, outcome) => {
                policy.record(&Attempt::new(node(index), *now, millis(latency), outcome));
            }
            Self::Pass(span) => *now = *now + millis(span),
            Self::Toggle(index) => {
                if !topology.remove(node(index)) {
                    topology.insert(node(index), locality(index));
                }
                policy.topology_changed(topology, *now);
            }
            Self::Tick => policy.tick(*now),
        }
    }
}

/// Two thirds in `a`, in three racks.
pub(super) fn locality(index: usize) -> Locality {
    let datacenter = if index % 3 == 2 { "b" } else { "a" };
    Locality::datacenter(datacenter).rack(["x", "y", "z"][index % 3])
}

fn candidates(mut plan: impl Plan, now: Timestamp) -> Vec<Candidate> {
    std::iter::from_fn(|| plan.advance(now, Turn::Next)).collect()
}

fn by_tier(candidates: &[Candidate]) -> Vec<(Tier, Vec<NodeIndex>)> {
    let mut tiers: Vec<(Tier, Vec<NodeIndex>)> = Vec::new();
    for candidate in candidates {
        match tiers.last_mut() {
            Some((tier, nodes)) if *tier == candidate.tier => nodes.push(candidate.node),
            _ => tiers.push((candidate.tier, vec![candidate.node])),
        }
    }
    for (_, nodes) in &mut tiers {
        nodes.sort_unstable();
    }
    tiers
}

proptest! {
    /// Whatever has happened, each tier of the child's plan is there, with its nodes once each.
    #[test]
    fn a_plan_is_the_childs_in_another_order_within_tiers(
        steps in steps(24),
        replicas in prop::sample::subsequence((0..24).collect::<Vec<_>>(), 0..5),
        continued: bool,
    ) {
        let child = || TokenAware::new(DatacenterAware::new("a").remote_nodes(3))
            .order(ReplicaOrder::Topological);
        let replicas: Vec<_> = replicas.into_iter().map(node).collect();
        for (name, policy) in each(1, child) {
            let twin = child();
            let mut topology = Topology::new();
            for index in 0..24 {
                topology.insert(node(index), locality(index));
            }
            let mut now = Timestamp::from_nanos(0);
            policy.topology_changed(&topology, now);
            for step in &steps {
                step.apply(&policy, &mut topology, &mut now);
                let mut call = Call::new(&topology)
                    .replicas(&replicas)
                    .consistency(Consistency::One);
                if continued {
                    call = call.continued();
                }
                let explained = policy.plan(call).explain(now);
                let ours = candidates(policy.plan(call), now);
                let theirs = candidates(twin.plan(call), now);
                prop_assert_eq!(by_tier(&ours), by_tier(&theirs), "{}", name);
                let explained: Vec<_> = explained.nodes.iter().map(|node| node.candidate).collect();
                prop_assert_eq!(by_tier(&explained), by_tier(&theirs), "{}", name);
                // In each tier those that are held back come last.
                for pair in ours.windows(2) {
                    prop_assert!(pair[0].tier != pair[1].tier
                        || !pair[0].standing.is_held_back()
                        || pair[1].standing.is_held_back(), "{}: {:?}", name, ours);
                }
                let probes = ours.iter().filter(|found| found.standing == Standing::Probe);
                prop_assert!(probes.count() <= usize::from(!continued));
                // A second plan would be another one, but not of the same request.
                prop_assert!(ours.first().is_none_or(|first|
                    policy.report(first.node, now).is_some()));
            }
        }
    }
}

#[test]
fn explaining_changes_nothing() {
    let topology = in_one_place(5);
    let now = Timestamp::from_nanos(0);
    for ((name, one), (_, two)) in each(3, RoundRobin::new)
        .iter()
        .zip(each(3, RoundRobin::new))
    {
        one.topology_changed(&topology, now);
        two.topology_changed(&topology, now);
        for _ in 0..20 {
            let plan = one.plan(Call::new(&topology));
            let explained = plan.explain(now);
            let seen: Vec<_> = explained.nodes.iter().map(|node| node.candidate).collect();
            assert_eq!(candidates(plan, now), seen, "{name}");
            assert_eq!(
                candidates(two.plan(Call::new(&topology)), now),
                seen,
                "{name}"
            );
        }
    }
}

/// A tier of more nodes than are looked at ahead: all are named, and all may be first.
#[test]
fn large_tiers_are_complete_and_all_nodes_have_their_turn() {
    let topology = in_one_place(40);
    let now = Timestamp::from_nanos(0);
    for (name, policy) in each(3, RoundRobin::new) {
        policy.topology_changed(&topology, now);
        let mut firsts = [0; 40];
        for _ in 0..4_000 {
            let nodes = candidates(policy.plan(Call::new(&topology)), now);
            assert_eq!(by_tier(&nodes)[0].1.len(), 40, "{name}");
            firsts[nodes[0].node.get()] += 1;
        }
        assert!(
            firsts.iter().all(|first| (60..=140).contains(first)),
            "{name}: {firsts:?}"
        );
    }
}

#[test]
fn a_probe_of_the_child_is_used_at_once_and_what_it_holds_back_stays_there() {
    let topology = in_one_place(3);
    let replicas = [0, 1, 2].map(node);
    for (name, policy) in each(0, || latency_aware(Mode::Guarded, Replicas::in_order())) {
        teach(&policy, &topology, &[0]);
        let mut now = Timestamp::from_nanos(1_000_000_000);
        let call = Call::new(&topology).replicas(&replicas);
        let standings = |now| {
            let nodes = candidates(policy.plan(call), now);
            nodes
                .iter()
                .map(|found| (found.node.get(), found.standing))
                .collect::<Vec<_>>()
        };
        for _ in 0..10 {
            assert_eq!(standings(now)[2], (0, Standing::Penalised), "{name}");
        }
        now = now + millis(11_000);
        assert_eq!(standings(now)[0], (0, Standing::Probe), "{name}");
        assert_eq!(standings(now)[2], (0, Standing::Penalised), "{name}");
    }
}

#[test]
fn parameters_out_of_range_are_named() {
    use std::time::Duration;
    let error = |built: Result<_, steersman_selection::Error>| built.unwrap_err().to_string();
    let built = LeastInFlight::builder().choices(0).build(RoundRobin::new());
    assert!(error(built.map(drop)).starts_with("choices of 0"));
    let built = LeastInFlight::builder()
        .retry_period(Duration::ZERO)
        .build(RoundRobin::new());
    assert!(error(built.map(drop)).starts_with("retry_period of 0"));
    let built = PeakEwma::builder()
        .decay(Duration::ZERO)
        .build(RoundRobin::new());
    assert!(error(built.map(drop)).starts_with("decay of 0"));
    let built = PeakEwma::builder()
        .ramp(Duration::MAX)
        .build(RoundRobin::new());
    assert!(error(built.map(drop)).starts_with("ramp of"));
}

#[test]
fn reports_say_what_a_node_is_ranked_by() {
    let topology = in_one_place(2);
    let mut now = Timestamp::from_nanos(0);
    let policy = PeakEwma::new(RoundRobin::new());
    policy.topology_changed(&topology, now);
    let report = |policy: &PeakEwma<RoundRobin>, now| policy.snapshot(now)[0].to_string();
    assert_eq!(
        report(&policy, now),
        "too few samples to judge; 0 in flight"
    );
    policy.begin(node(0), now);
    policy.begin(node(0), now);
    now = now + millis(3);
    policy.record(&Attempt::new(node(0), now, millis(3), Outcome::Success));
    assert_eq!(
        report(&policy, now),
        "ranked by its cost: average 3.0ms of 1 samples, 0.0ns old; 1 in flight"
    );
    policy.record(&Attempt::new(node(0), now, millis(1), Outcome::Failed));
    assert!(report(&policy, now).starts_with("failed 1 times in a row"));
    for _ in 0..2 {
        policy.record(&Attempt::new(node(0), now, millis(1), Outcome::Failed).uncounted());
    }
    assert!(
        report(&policy, now).starts_with("penalised"),
        "{}",
        report(&policy, now)
    );
    let explained = policy.plan(Call::new(&topology)).explain(now).to_string();
    assert!(
        explained.contains("2. node 0: local, penalised; penalised: average"),
        "{explained}"
    );
}
