//! The engine: a scenario, a policy for each client and a seed become a report.
//!
//! A discrete-event simulation. What takes no choice takes no event: arrivals of an open loop are drawn
//! one at a time beside the queue, a server tells what becomes of a request when it comes (see
//! [`server`]), and a time-out is only put in the queue if it comes before the answer. So a request costs
//! one event, or two if there is a network.

mod arrivals;
mod flight;
mod impaired;
mod oracle;
mod queue;
mod run;
mod server;
mod setting;
mod steering;
mod timeline;

use steersman_selection::{Policy, RoundRobin};

use self::run::Run;
use self::setting::Setting;
pub(crate) use self::steering::Steering;
pub(crate) use self::timeline::Episode;
use crate::measure::Report;
use crate::random::Rng;
use crate::recording::Recording;
use crate::scenario::Scenario;
use crate::{Error, PolicyKind};

/// A scenario that is ready to run, as often as you like.
///
/// # Examples
///
/// A policy of your own, one for each client:
///
/// ```
/// use steersman_selection::{LatencyAware, RoundRobin};
/// use steersman_simulator::{Scenario, Simulation};
///
/// let scenario = Scenario::builtin("s9")?.remove(0);
/// let simulation = Simulation::new(&scenario)?;
/// let report = simulation.run(1, |seat| {
///     LatencyAware::new(RoundRobin::starting_at(seat.client as i32))
/// });
/// println!("{:.2} % answered", 100.0 * report.success_rate());
/// assert_eq!(report, simulation.run(1, |seat| {
///     LatencyAware::new(RoundRobin::starting_at(seat.client as i32))
/// }));
/// # Ok::<(), steersman_simulator::Error>(())
/// ```
#[derive(Debug)]
pub struct Simulation<'a> {
    scenario: &'a Scenario,
    setting: Setting,
    recording: Option<&'a Recording>,
}

/// Whose policy is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seat {
    /// The number of the client, from 0.
    pub client: u32,
    /// A seed for its policy, different for each client and run.
    pub seed: u64,
}

impl<'a> Simulation<'a> {
    /// Gets a scenario ready. Fails as [`Scenario::validate`] does.
    pub fn new(scenario: &'a Scenario) -> Result<Self, Error> {
        scenario.validate()?;
        let setting = Setting::new(scenario).map_err(|error| error.of(&scenario.name))?;
        Ok(Self {
            scenario,
            setting,
            recording: None,
        })
    }

    /// What other policies would have made of a recording; see [`Recording`].
    pub fn replay(recording: &'a Recording) -> Result<Self, Error> {
        Ok(Self {
            recording: Some(recording),
            ..Self::new(recording.scenario())?
        })
    }

    /// The scenario.
    pub fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// Runs it with a policy for each client. The same seed and policies give the same report, to the
    /// bit, on the same machine; another machine's logarithms may differ in their last bit.
    pub fn run<P: Policy + 'static>(&self, seed: u64, mut policy: impl FnMut(Seat) -> P) -> Report {
        self.run_boxed(seed, |seat| Box::new(policy(seat)))
    }

    /// Runs it with a policy of this kind for each client.
    pub fn run_policy(&self, kind: PolicyKind, seed: u64) -> Report {
        self.run_boxed(seed, |seat| kind.steering(self.scenario, seat))
    }

    /// Runs it with clients that know the queues, the pace and the faults of all servers, and what is on the
    /// way to them: what no policy can be expected to beat, since it knows only what it was answered. Not for a
    /// replay: a log says nothing of queues.
    ///
    /// ```
    /// use steersman_simulator::{Measure, PolicyKind, Scenario, Simulation};
    ///
    /// let scenario = Scenario::builtin("s9")?.remove(0);
    /// let simulation = Simulation::new(&scenario)?;
    /// let best = simulation.run_oracle(1).measure(Measure::P99);
    /// assert!(best <= simulation.run_policy(PolicyKind::RoundRobin, 1).measure(Measure::P99));
    /// # Ok::<(), steersman_simulator::Error>(())
    /// ```
    pub fn run_oracle(&self, seed: u64) -> Report {
        let policies = (0..self.scenario.clients.count)
            .map(|_| Box::new(RoundRobin::new()) as Box<dyn Steering>)
            .collect();
        Run::new(self.scenario, &self.setting, policies, self.recording, seed)
            .guided()
            .run()
    }

    fn run_boxed(&self, seed: u64, mut policy: impl FnMut(Seat) -> Box<dyn Steering>) -> Report {
        let mut seeds = Rng::new(seed, run::POLICIES);
        let policies = (0..self.scenario.clients.count)
            .map(|client| {
                policy(Seat {
                    client,
                    seed: seeds.next(),
                })
            })
            .collect();
        Run::new(self.scenario, &self.setting, policies, self.recording, seed).run()
    }
}
