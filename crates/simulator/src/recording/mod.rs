//! Recordings: what real clients measured, to find out what other policies would have made of it.

mod log;
mod trace;

use std::collections::HashMap;
use std::io::BufRead;

use self::trace::Measured;
pub(crate) use self::trace::Trace;

use crate::measure::{Report, Tally};
use crate::scenario::{Scenario, Span};
use crate::{Error, ErrorKind};

/// A log of measurements, read and in order.
///
/// A log has a line of JSON for each attempt, in any order:
///
/// ```json
/// {"time_ns": 1732993200000000000, "node": "cache-1:11211", "latency_ns": 812000, "outcome": "success"}
/// ```
///
/// | field | is |
/// | --- | --- |
/// | `time_ns` | when the attempt ended, in nanoseconds since any origin, the same for all lines |
/// | `node` | the node that was asked, by any name |
/// | `latency_ns` | how long the attempt took, in nanoseconds |
/// | `outcome` | `success`, `failed`, `timed-out`, `disconnected`, `refused` or `cancelled`, which is unanswered as `timed-out` is |
///
/// Other fields are passed over, and so are empty lines. `AttemptLog` of the crate `steersman-recorder`
/// writes it.
///
/// A replay makes a request whenever an attempt began in the log. A policy chooses the node, and what
/// becomes of the request is what became of one of the attempts that began at that node about then. So
/// it says what a policy would have made of the latencies as they were. It does not say how they would have
/// changed with the load that the policy puts on the nodes: for that, write a scenario.
///
/// # Examples
///
/// ```
/// use steersman_simulator::{Measure, PolicyKind, Recording, Simulation};
///
/// let mut log = String::new();
/// for request in 0..10_000_u64 {
///     let (node, latency) = [("a", 1), ("b", 30), ("c", 1)][(request % 3) as usize];
///     log += &format!(
///         "{{\"time_ns\": {}, \"node\": \"{node}\", \"latency_ns\": {}, \"outcome\": \"success\"}}\n",
///         request * 1_000_000,
///         latency * 1_000_000,
///     );
/// }
/// let recording = Recording::read(log.as_bytes())?;
/// assert_eq!(recording.nodes(), ["a", "b", "c"]);
/// let before = recording.report();
/// let after = Simulation::replay(&recording)?.run_policy(PolicyKind::LatencyAware, 1);
/// assert!(after.latencies().quantile(0.9) < before.latencies().quantile(0.9));
/// # Ok::<(), steersman_simulator::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Recording {
    nodes: Vec<String>,
    /// When each attempt began, in order, from 0 on.
    beginnings: Vec<u64>,
    /// By node, what was measured of it.
    traces: Vec<Trace>,
    scenario: Scenario,
}

/// More than a log of a day at a hundred requests a second.
const MOST_LINES: usize = 20_000_000;

impl Recording {
    /// Reads a log. Fails at the first line that is none, naming its number; without any line; at a line
    /// longer than 64 KiB; beyond 20 million lines and 10,000 nodes; and if it goes on for more than a
    /// thousand hours.
    pub fn read(log: impl BufRead) -> Result<Self, Error> {
        Self::read_all([("the log", log)])
    }

    /// Reads several logs, each with a name for messages, as one.
    pub fn read_all<R: BufRead>(
        logs: impl IntoIterator<Item = (impl AsRef<str>, R)>,
    ) -> Result<Self, Error> {
        let mut names = HashMap::new();
        let mut nodes = Vec::new();
        let mut attempts = Vec::new();
        for (name, log) in logs {
            log::read(log, |line| {
                let next = names.len();
                let node = *names.entry(line.node).or_insert_with_key(|node| {
                    nodes.push(node.clone());
                    next
                });
                if node >= 10_000 || attempts.len() >= MOST_LINES {
                    return Err("there are more than 10,000 nodes or 20 million lines");
                }
                let began = i128::from(line.time_ns) - i128::from(line.latency_ns);
                attempts.push((began, node, line.latency_ns, line.outcome.into()));
                Ok(())
            })
            .map_err(|error| error.of(name.as_ref()))?;
        }
        Self::of(nodes, attempts)
    }

    fn of(
        nodes: Vec<String>,
        mut attempts: Vec<(i128, usize, u64, steersman_selection::Outcome)>,
    ) -> Result<Self, Error> {
        let invalid = |message: &str| Error::new(ErrorKind::InvalidLog, message);
        attempts.sort_by_key(|(began, node, ..)| (*began, *node));
        let (Some((first, ..)), Some((last, ..))) = (attempts.first(), attempts.last()) else {
            return Err(invalid("there is no measurement in it"));
        };
        let (first, last) = (*first, *last);
        let longest = attempts.iter().map(|(_, _, latency, _)| *latency).max();
        let most = Span::MOST.nanos();
        if last - first >= i128::from(most) || longest.is_some_and(|longest| longest >= most) {
            return Err(invalid(
                "it goes on for more than a thousand hours; cut it in pieces",
            ));
        }
        let mut beginnings = Vec::with_capacity(attempts.len());
        let mut traces = vec![Trace::default(); nodes.len()];
        for (began, node, latency, outcome) in attempts {
            let began = u64::try_from(began - first).unwrap_or_default();
            beginnings.push(began);
            traces[node].push(Measured {
                began,
                latency,
                outcome,
            });
        }
        let duration = u64::try_from(last - first).unwrap_or_default() + 1;
        let duration = Span::from_nanos(duration);
        let scenario = Scenario::of_recording(duration, nodes.len(), beginnings.len());
        Ok(Self {
            nodes,
            beginnings,
            traces,
            scenario,
        })
    }

    /// The names of the nodes, in the order of the log; a report's servers are these.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// How many attempts there are.
    pub fn len(&self) -> usize {
        self.beginnings.len()
    }

    /// Whether there are none: never.
    pub fn is_empty(&self) -> bool {
        self.beginnings.is_empty()
    }

    /// What really happened.
    pub fn report(&self) -> Report {
        let local = vec![false; self.nodes.len()];
        let mut tally = Tally::new(&self.scenario, &local);
        for (node, trace) in self.traces.iter().enumerate() {
            for attempt in trace.attempts() {
                tally.asked(attempt.began);
                tally.sent(attempt.began, node, None);
                let succeeded = attempt.outcome == steersman_selection::Outcome::Success;
                tally.done(attempt.began, attempt.began + attempt.latency, succeeded);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "at most 10,000")]
        let even = vec![1.0 / self.nodes.len() as f64; self.nodes.len()];
        tally.report(&[], &even, 0)
    }

    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// When requests are made, in order.
    pub(crate) fn beginnings(&self) -> &[u64] {
        &self.beginnings
    }

    /// By node, what was measured of it.
    pub(crate) fn traces(&self) -> &[Trace] {
        &self.traces
    }
}
