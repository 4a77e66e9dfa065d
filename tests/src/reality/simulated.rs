//! The same in virtual time, with what was measured of the nodes.

use std::fmt::Write;
use std::time::Duration;

use steersman_simulator::{Error, PolicyKind, Scenario, Simulation};

use super::report::{Figures, median};
use super::{CLIENTS, Plan};

/// How many seeds are run.
const SEEDS: u64 = 15;
/// As many latencies say what the distribution is like.
const SAMPLES: usize = 2_000;

/// What was measured of nodes: how long a read took at one that is well, and at the slow one.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) base: Vec<Duration>,
    pub(super) slow: Vec<Duration>,
}

/// A plan, ready to be simulated.
#[derive(Debug)]
pub(super) struct Scene(Scenario);

impl Scene {
    pub(super) fn new(
        plan: &Plan,
        measured: &Measured,
        rate: u32,
        datacenter: Option<&str>,
    ) -> Result<Self, Error> {
        let place = datacenter.map_or(String::new(), |name| format!("datacenter = {name:?}\n"));
        let base = service(&measured.base);
        let text = format!(
            "name = {:?}\ntitle = \"as measured\"\nduration = \"{}ms\"\nwarm-up = \"{}ms\"\n\
             [load]\nrate = {rate}\n\
             [clients]\ncount = {CLIENTS}\ntimeout = \"1s\"\n{place}\
             [keys]\ncount = 1000\nreplicas = 3\n\
             [[servers]]\ncount = 3\nservice = {base}\n{place}{}",
            plan.name,
            plan.duration.as_millis(),
            plan.counted_from.as_millis(),
            plan.faults(&service(&measured.slow)),
        );
        Ok(Self(Scenario::parse(&text)?.remove(0)))
    }

    /// Medians over seeds.
    pub(super) fn figures(&self, policy: PolicyKind) -> Result<Figures, Error> {
        let simulation = Simulation::new(&self.0)?;
        let runs: Vec<_> = (1..=SEEDS)
            .map(|seed| {
                let report = simulation.run_policy(policy, seed);
                let latency = |share| {
                    let latency = report.latencies().quantile(share).unwrap_or_default();
                    Duration::from_secs_f64(latency)
                };
                Figures {
                    answered: report.success_rate(),
                    p50: latency(0.5),
                    p90: latency(0.9),
                    p99: latency(0.99),
                }
            })
            .collect();
        Ok(median(&runs))
    }
}

/// A service time as a scenario has it: samples of what was measured.
fn service(latencies: &[Duration]) -> String {
    let mut sorted = latencies.to_vec();
    sorted.sort_unstable();
    let mut text = "{ recorded = [".to_owned();
    let count = sorted.len().min(SAMPLES);
    for place in 0..count {
        let latency = sorted[(2 * place + 1) * sorted.len() / (2 * count)];
        let _ = write!(text, "\"{}ns\", ", latency.as_nanos());
    }
    text.push_str("] }");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_can_be_simulated() {
        let measured = Measured {
            base: (1..=9_000).map(Duration::from_micros).collect(),
            // Simulated latencies are counted in classes, of which the middle is told: half a per cent off.
            slow: vec![Duration::from_millis(21)],
        };
        for datacenter in [None, Some("dc1")] {
            for plan in Plan::all() {
                let scene = Scene::new(&plan, &measured, 500, datacenter).unwrap();
                let figures = scene.figures(PolicyKind::RoundRobin).unwrap();
                assert!(figures.p50 < Duration::from_millis(9), "{}", plan.name);
                assert!(figures.p99 >= Duration::from_millis(20), "{}", plan.name);
                assert!(figures.answered > 0.999, "{}", plan.name);
            }
        }
    }
}
