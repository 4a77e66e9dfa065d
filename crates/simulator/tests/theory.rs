//! The engine against queueing theory, and against itself.

use std::time::Duration;

use proptest::prelude::*;
use steersman_selection::{
    Attempt, Call, Candidate, NodeIndex, Policy, RoundRobin, RoundRobinPlan, Timestamp, Turn,
};
use steersman_simulator::{Comparison, Measure, PolicyKind, Report, Scenario, Simulation};

fn scenario(text: &str) -> Scenario {
    let header = "name = 't'\ntitle = 't'\n";
    Scenario::parse(&format!("{header}{text}"))
        .unwrap()
        .remove(0)
}

fn run(text: &str, policy: PolicyKind) -> Report {
    let scenario = scenario(text);
    Simulation::new(&scenario).unwrap().run_policy(policy, 1)
}

/// How far a figure is from another one, in proportion to that.
fn apart(value: f64, expected: f64) -> f64 {
    (value / expected - 1.0).abs()
}

#[test]
fn one_slot_is_an_m_m_1_queue() {
    // The time in the system is exponential, of mean 1 / (mu - lambda) = 1 / (1000 - 600) s.
    let report = run(
        "duration = '100s'\nwarm-up = '1s'\nload = { rate = 600 }\n\
         servers = [{ count = 1, service = { exponential = '1ms' }, slots = 1 }]",
        PolicyKind::RoundRobin,
    );
    for (part, expected) in [
        (0.5, 2.0_f64.ln()),
        (0.9, 10.0_f64.ln()),
        (0.99, 100.0_f64.ln()),
    ] {
        let quantile = report.latencies().quantile(part).unwrap();
        assert!(
            apart(quantile, expected / 400.0) < 0.05,
            "{part}: {quantile}"
        );
    }
}

#[test]
fn several_slots_are_an_m_m_c_queue() {
    // Four slots at 75 %: by Erlang's formula 0.5094 of the requests wait, each of these for an exponential
    // time of mean 1 / (4000 - 3000) s, which happens to be the mean of the work.
    let report = run(
        "duration = '60s'\nwarm-up = '1s'\nload = { rate = 3000 }\n\
         servers = [{ count = 1, service = { exponential = '1ms' }, slots = 4 }]",
        PolicyKind::RoundRobin,
    );
    // P(T > t) = (1 - C) e^-t + C (1 + t) e^-t in milliseconds.
    let waits = 0.5094;
    let survival = |t: f64| (1.0 - waits) * (-t).exp() + waits * (1.0 + t) * (-t).exp();
    for part in [0.5, 0.9, 0.99] {
        let quantile = report.latencies().quantile(part).unwrap() * 1e3;
        assert!(
            apart(survival(quantile), 1.0 - part) < 0.1,
            "{part}: {quantile}"
        );
    }
}

#[test]
fn a_closed_loop_obeys_little_s_law() {
    // Ten workers that think for 9 ms and wait for 1 ms ask 1,000 times a second.
    let report = run(
        "duration = '10s'\nload = { workers = 10, think = '9ms' }\n\
         servers = [{ count = 2, service = { fixed = '500us' }, network = '250us' }]",
        PolicyKind::RoundRobin,
    );
    assert!(
        report.requests().abs_diff(10_000) <= 10,
        "{}",
        report.requests()
    );
    assert!(apart(report.measure(Measure::P99).unwrap(), 0.001) < 0.01);
}

#[test]
fn retries_and_hedges_help_and_are_counted() {
    let load = "duration = '20s'\nload = { rate = 1000 }\n\
         servers = [{ count = 4, service = { fixed = '1ms' } }]\n\
         faults = [{ servers = [0], effect = EFFECT }]\n";
    let down = load.replace("EFFECT", "'down'");
    let failing = run(&down, PolicyKind::RoundRobin);
    assert!(apart(failing.success_rate(), 0.75) < 0.001);
    let retried = run(
        &format!("{down}clients = {{ retries = 1 }}"),
        PolicyKind::RoundRobin,
    );
    assert_eq!(retried.succeeded(), retried.requests());
    assert!(apart(retried.measure(Measure::ExtraLoad).unwrap(), 0.25) < 0.001);

    let slow = load.replace("EFFECT", "{ later = '50ms' }");
    let hedged = |budget: f64| {
        let hedge = format!("{slow}clients = {{ hedge = {{ after = '3ms', budget = {budget} }} }}");
        run(&hedge, PolicyKind::RoundRobin)
    };
    let (enough, little) = (hedged(1.0), hedged(0.05));
    assert!(enough.measure(Measure::P99).unwrap() < 0.005);
    assert!(apart(enough.measure(Measure::ExtraLoad).unwrap(), 0.25) < 0.001);
    assert!(little.measure(Measure::P99).unwrap() > 0.05);
    assert!(little.measure(Measure::ExtraLoad).unwrap() <= 0.051);

    // A percentile finds the delay by itself: the healthy servers' 1 ms.
    let hedge = format!("{slow}clients = {{ hedge = {{ percentile = 0.95, budget = 1 }} }}");
    let found = run(&hedge, PolicyKind::RoundRobin);
    assert!(found.measure(Measure::P99).unwrap() < 0.005);
    for hedge in [
        "{}",
        "{ after = '1ms', percentile = 0.9 }",
        "{ percentile = 95 }",
    ] {
        let text = format!("{slow}clients = {{ hedge = {hedge} }}");
        let text = format!("name = 'x'\ntitle = 'x'\n{text}");
        let error = Scenario::parse(&text).unwrap_err().to_string();
        assert!(error.contains("clients.hedge"), "{error}");
    }
}

/// Round robin that looks at what it is told.
#[derive(Default)]
struct Auditor {
    inner: RoundRobin,
    open: std::sync::atomic::AtomicI64,
    last: std::sync::atomic::AtomicI64,
}

impl Auditor {
    fn advance(&self, now: Timestamp) {
        let before = self
            .last
            .swap(now.nanos(), std::sync::atomic::Ordering::Relaxed);
        assert!(before <= now.nanos(), "time goes back");
    }
}

impl Policy for Auditor {
    type Plan<'a> = RoundRobinPlan<'a>;

    fn plan<'a>(&'a self, call: Call<'a>) -> RoundRobinPlan<'a> {
        self.inner.plan(call)
    }

    fn appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        now: Timestamp,
        turn: Turn,
    ) -> Option<Candidate> {
        self.inner.appraise(call, node, now, turn)
    }

    fn begin(&self, _node: NodeIndex, now: Timestamp) {
        self.advance(now);
        self.open.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    fn record(&self, attempt: &Attempt) {
        self.advance(attempt.ended_at());
        assert!(attempt.started_at().nanos() >= 0);
        self.open.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }

    fn tick(&self, now: Timestamp) {
        self.advance(now);
    }

    fn tick_every(&self) -> Option<Duration> {
        Some(Duration::from_millis(7))
    }
}

impl Drop for Auditor {
    fn drop(&mut self) {
        assert_eq!(*self.open.get_mut(), 0, "attempts that begin end");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the scenario: time never goes back, each attempt that begins ends once, every request is
    /// answered or fails, and all of it is the same again.
    #[test]
    fn nothing_is_lost_in_any_scenario(
        (servers, slots, queue) in (2_u32..6, 1_u32..4, 0_u32..20),
        (rate, workers) in (100_u32..3_000, proptest::option::of(1_u32..30)),
        (timeout_ms, retries) in (3_u32..40, 0_u8..4),
        hedge in proptest::option::of(1_u32..10),
        keys in proptest::option::of(1_u32..50),
        effects in proptest::collection::vec(
            proptest::sample::select(vec![
                "'down'", "'silent'", "'stalled'", "{ slower = 20 }", "{ later = '5ms' }", "{ cold = 9 }",
                "{ failing = { share = 0.5, after = '1ms' } }", "{ service = { exponential = '9ms' } }",
            ]),
            0..4,
        ),
        seed: u64,
    ) {
        let workers = workers.map_or(String::new(), |workers| format!(", workers = {workers}"));
        let hedge = hedge.map_or(String::new(), |after| {
            format!(", hedge = {{ after = '{after}ms', budget = 0.5 }}")
        });
        let keys = keys.map_or(String::new(), |keys| {
            format!("keys = {{ count = {keys}, replicas = 2, zipf = 1 }}")
        });
        let faults = effects.iter().map(|effect| format!(
            "{{ servers = 'random', every = '200ms', lasting = '150ms', effect = {effect} }}"
        ));
        let faults = faults.collect::<Vec<_>>().join(", ");
        let text = format!(
            "duration = '1s'\nwarm-up = '100ms'\n\
             servers = [{{ count = {servers}, service = {{ exponential = '1ms' }}, slots = {slots}, \
             queue = {queue}, network = '1ms' }}]\n\
             load = {{ rate = {rate}, scans = 0.05{workers} }}\n\
             clients = {{ count = 3, timeout = '{timeout_ms}ms', retries = {retries}{hedge} }}\n\
             {keys}\nfaults = [{faults}]\n"
        );
        let scenario = scenario(&text);
        let simulation = Simulation::new(&scenario).unwrap();
        let report = simulation.run(seed, |_| Auditor::default());
        prop_assert_eq!(&report, &simulation.run(seed, |_| Auditor::default()));
        prop_assert_eq!(report.latencies().total(), report.requests());
        prop_assert!(report.succeeded() <= report.requests());
        prop_assert_eq!(report, simulation.run(seed, |_| RoundRobin::new()));
    }
}

#[test]
fn policies_meet_the_same_requests_and_a_comparison_does_not_depend_on_threads() {
    let scenario = Scenario::builtin("s9").unwrap().remove(0);
    let simulation = Simulation::new(&scenario).unwrap();
    let policies = [PolicyKind::LatencyAware, PolicyKind::PeakEwma];
    let comparison = Comparison::run(&simulation, &policies, &[3, 4], &|| ());
    for row in comparison.rows() {
        for (seed, report) in [3, 4].into_iter().zip(&row.reports) {
            assert_eq!(
                *report,
                simulation.run_policy(row.policy, seed),
                "{}",
                row.policy
            );
            let first = comparison.rows()[0].reports[usize::try_from(seed - 3).unwrap()].requests();
            assert_eq!(report.requests(), first);
        }
    }
    assert_ne!(
        comparison.rows()[0].reports[0],
        comparison.rows()[0].reports[1]
    );
}

/// Whoever knows all queues is not beaten by anybody who does not.
#[test]
fn nobody_beats_the_oracle() {
    let scenario = scenario(
        "duration = '4s'\nload = { rate = 1500 }\nclients = { count = 10, timeout = '500ms' }\n\
         keys = { count = 500, replicas = 3 }\n\
         servers = [{ count = 6, service = { exponential = '4ms' }, slots = 2, network = '200us' }]\n\
         faults = [{ servers = 'all', every = '100ms', probability = 0.3, effect = { slower = 3 } },\n\
         { servers = [2], from = '1s', until = '2s', effect = 'down' },\n\
         { servers = [4], from = '2s', until = '2200ms', effect = 'stalled' }]",
    );
    let simulation = Simulation::new(&scenario).unwrap();
    let best = simulation.run_oracle(1);
    assert_eq!(best, simulation.run_oracle(1));
    for policy in PolicyKind::ALL {
        let report = simulation.run_policy(policy, 1);
        for share in [0.9, 0.99] {
            assert!(
                best.latencies().quantile(share) <= report.latencies().quantile(share),
                "{policy}: {share}"
            );
        }
        assert!(best.succeeded() >= report.succeeded(), "{policy}");
    }
}

/// The scenarios that no policy was tuned by, as the page on policies tells of them.
#[test]
fn held_out_scenarios_are_valid() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/held-out");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for scenario in Scenario::parse(&text).unwrap() {
            Simulation::new(&scenario).unwrap();
            count += 1;
        }
    }
    assert_eq!(count, 30);
}

/// What is allocated is for the run and not for its requests: ten times as many of them need no more than a
/// few times as many allocations, as lists grow.
#[test]
fn requests_allocate_nothing() {
    let allocations = |seconds: u32| {
        let scenario = scenario(&format!(
            "duration = '{seconds}s'\nload = {{ rate = 2000 }}\nkeys = {{ count = 50, replicas = 3 }}\n\
             clients = {{ timeout = '20ms', retries = 2 }}\n\
             servers = [{{ count = 4, service = {{ exponential = '2ms' }}, slots = 2, network = '1ms' }}]"
        ));
        let simulation = Simulation::new(&scenario).unwrap();
        let mut requests = 0;
        let counted = allocation_counter::measure(|| {
            requests = simulation
                .run_policy(PolicyKind::LatencyAware, 1)
                .requests();
        });
        (counted.count_total, requests)
    };
    let ((few, _), (more, requests)) = (allocations(1), allocations(10));
    assert!(
        requests > 15_000 && more < few + 4_000,
        "{few} {more} {requests}"
    );
}
