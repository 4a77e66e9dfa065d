//! Several policies in one scenario, each with several seeds, and what others published of it.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::measure::{Estimate, Measure, Report};
use crate::{PolicyKind, Published, Simulation};

/// What several policies made of one scenario.
///
/// # Examples
///
/// ```
/// use steersman_simulator::{Comparison, Measure, PolicyKind, Scenario, Simulation};
///
/// let scenario = Scenario::builtin("s9")?.remove(0);
/// let simulation = Simulation::new(&scenario)?;
/// let policies = [PolicyKind::RoundRobin, PolicyKind::LatencyAware];
/// let comparison = Comparison::run(&simulation, &policies, &[1, 2, 3], &|| ());
/// for row in comparison.rows() {
///     let success = row.estimate(Measure::Success).expect("requests were made");
///     println!("{}: {:.4} ± {:.4}", row.policy, success.mean, success.half_width);
/// }
/// # Ok::<(), steersman_simulator::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    rows: Vec<Row>,
    published: Vec<Published>,
}

/// What one policy made of a scenario.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The policy.
    pub policy: PolicyKind,
    /// The reports, one for each seed.
    pub reports: Vec<Report>,
}

/// A figure that was published, with ours.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Checked<'a> {
    /// What was published.
    pub published: &'a Published,
    /// Ours.
    pub ours: Estimate,
    /// How far ours is from theirs, in proportion to theirs; positive if it is more.
    pub difference: f64,
    /// Whether that is within the margin.
    pub agrees: bool,
}

impl Comparison {
    /// Runs each policy with each seed, on all cores, and calls `ran` after each run, from any thread. The
    /// result does not depend on how many cores there are.
    pub fn run(
        simulation: &Simulation<'_>,
        policies: &[PolicyKind],
        seeds: &[u64],
        ran: &(dyn Fn() + Sync),
    ) -> Self {
        let runs: Vec<_> = policies
            .iter()
            .flat_map(|policy| seeds.iter().map(|seed| (*policy, *seed)))
            .collect();
        let next = AtomicUsize::new(0);
        let reports: Vec<Mutex<Option<Report>>> = runs.iter().map(|_| Mutex::default()).collect();
        let work = || {
            while let Some((run, place)) = {
                let index = next.fetch_add(1, Ordering::Relaxed);
                runs.get(index).zip(reports.get(index))
            } {
                let report = simulation.run_policy(run.0, run.1);
                if let Ok(mut place) = place.lock() {
                    *place = Some(report);
                }
                ran();
            }
        };
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        thread::scope(|scope| {
            for _ in 1..threads.min(runs.len()) {
                scope.spawn(work);
            }
            work();
        });
        let mut reports = reports
            .into_iter()
            .filter_map(|place| place.into_inner().ok()?);
        Self {
            rows: policies
                .iter()
                .map(|&policy| Row {
                    policy,
                    reports: reports.by_ref().take(seeds.len()).collect(),
                })
                .collect(),
            published: simulation.scenario().published.clone(),
        }
    }

    /// What each policy made of it, in the order that was asked for.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The figures that were published of these policies, with ours.
    pub fn checked(&self) -> impl Iterator<Item = Checked<'_>> {
        self.published.iter().filter_map(|published| {
            let row = self
                .rows
                .iter()
                .find(|row| row.policy == published.policy)?;
            let ours = row.estimate(published.measure)?;
            let difference = ours.mean / published.value - 1.0;
            let agrees = difference.abs() <= published.margin;
            Some(Checked {
                published,
                ours,
                difference,
                agrees,
            })
        })
    }
}

impl Row {
    /// A figure, from all seeds; none if the scenario has nothing to measure there.
    pub fn estimate(&self, measure: Measure) -> Option<Estimate> {
        let values = self.reports.iter().map(|report| report.measure(measure));
        Estimate::of(&values.collect::<Option<Vec<_>>>()?)
    }
}
