//! Plays traces through the policies and compares.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use steersman_selection::{
    Attempt, Call, Candidate, Change, Consistency, DatacenterAware, Event as Notice, LatencyAware,
    LatencyParameters, Locality, Mode, NodeIndex, Outcome, Plan, Policy, Replicas, Score, Standing,
    Timestamp, Topology, Turn,
};

use super::cast::Cast;
use super::trace::{Event, File, Parameters, PlanTrace, ScoreTrace, State};

/// How many traces match, of how many, and the first difference.
pub(crate) struct Verdict {
    pub(crate) matching: usize,
    pub(crate) traces: usize,
    pub(crate) first_difference: Option<String>,
}

pub(crate) fn play(file: &File) -> Verdict {
    let strict = file.outcomes.is_some();
    let scores = file.score_traces.iter();
    let plans = file.plan_traces.iter().chain(&file.chained_traces);
    let results = scores
        .map(|trace| (&trace.name, play_scores(trace)))
        .chain(plans.map(|trace| (&trace.name, play_plans(trace, strict))));
    let mut verdict = Verdict {
        matching: 0,
        traces: 0,
        first_difference: None,
    };
    for (name, result) in results {
        verdict.traces += 1;
        match result {
            Ok(()) => verdict.matching += 1,
            Err(difference) => {
                let line = format!("{name}: {difference}");
                verdict.first_difference.get_or_insert(line);
            }
        }
    }
    verdict
}

/// By how much an average may differ. The traces were made with glibc's logarithm; with it every
/// bit has to match.
fn tolerance(tolerance_ns: u64) -> u64 {
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        0
    } else {
        tolerance_ns
    }
}

type Log = Arc<Mutex<Vec<Notice>>>;

fn policy<C>(parameters: &Parameters, child: C, log: &Log) -> Result<LatencyAware<C>, String> {
    let mut values = LatencyParameters::default()
        .scale(Duration::from_nanos(parameters.scale_ns))
        .retry_period(Duration::from_nanos(parameters.retry_period_ns))
        .exclusion_threshold(parameters.exclusion_threshold)
        .min_measured(parameters.min_measured);
    if let Some(rate) = parameters.update_rate_ns {
        values = values.update_rate(Duration::from_nanos(rate));
    }
    let log = Arc::clone(log);
    LatencyAware::builder()
        .mode(Mode::Reference)
        .parameters(values)
        .listener(move |notice: &Notice| {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            log.push(*notice);
        })
        .build(child)
        .map_err(|error| error.to_string())
}

fn play_scores(trace: &ScoreTrace) -> Result<(), String> {
    let policy = policy(&trace.params, Replicas::in_order(), &Log::default())?;
    let node = NodeIndex::default();
    let mut topology = Topology::new();
    topology.insert(node, Locality::unknown());
    policy.topology_changed(&topology, Timestamp::default());
    same(
        "number of scores",
        &trace.samples.len(),
        &trace.expect.len(),
    )?;
    for (place, (&(t, latency), expected)) in trace.samples.iter().zip(&trace.expect).enumerate() {
        policy.record(&attempt(node, t, latency, Outcome::Success));
        same_score(policy.score(node), *expected, tolerance(trace.tolerance_ns))
            .map_err(|difference| format!("sample {place}: {difference}"))?;
    }
    Ok(())
}

/// Plays a trace, a chained one twice: over the real child, and over what the trace says it yields.
fn play_plans(trace: &PlanTrace, strict: bool) -> Result<(), String> {
    let cast = Cast::of(trace)?;
    if let Some(child) = &trace.child_policy {
        let mut policy = DatacenterAware::new(child.local_dc.as_str())
            .remote_nodes(child.used_hosts_per_remote_dc)
            .starting_at(child.index_at_start);
        for level in Consistency::ALL {
            if level.is_local() && child.allow_remote_for_local_cl {
                policy = policy.allow_remote_at(level);
            }
        }
        Stage::play(trace, &cast, policy, strict)?;
    }
    Stage::play(trace, &Cast::of(trace)?, Replicas::in_order(), strict)
}

/// A trace while it is played.
struct Stage<'t, C: Policy> {
    cast: &'t Cast<'t>,
    policy: &'t LatencyAware<C>,
    log: Log,
    tolerance: u64,
    strict: bool,
    /// Which of the cast's topologies is the present one.
    topology: usize,
    open: HashMap<String, <LatencyAware<C> as Policy>::Plan<'t>>,
}

impl<C: Policy> Stage<'_, C> {
    fn play(trace: &PlanTrace, cast: &Cast<'_>, child: C, strict: bool) -> Result<(), String> {
        let log = Log::default();
        let policy = policy(&trace.params, child, &log)?;
        policy.topology_changed(&cast.topologies[0], Timestamp::default());
        let mut stage = Stage {
            cast,
            policy: &policy,
            log,
            tolerance: tolerance(trace.tolerance_ns),
            strict,
            topology: 0,
            open: HashMap::new(),
        };
        for (place, event) in trace.events.iter().enumerate() {
            stage
                .step(place, event)
                .map_err(|difference| format!("event {place}: {difference}"))?;
        }
        Ok(())
    }
}

impl<'t, C: Policy> Stage<'t, C> {
    fn step(&mut self, place: usize, event: &Event) -> Result<(), String> {
        let cast = self.cast;
        match event {
            Event::Sample {
                t,
                host,
                latency,
                outcome,
                counted,
                state,
            } => {
                let node = cast.node(host);
                let before = self.policy.score(node);
                self.policy
                    .record(&attempt(node, *t, *latency, outcome_of(outcome)));
                let after = self.policy.score(node);
                same("counted", &(before != after), counted)?;
                same_score(after, *state, self.tolerance)
            }
            Event::UpdateMin { t, expect_min, log } => {
                self.policy.tick(at(*t));
                let minimum = self.policy.minimum_nanos().unwrap_or(-1);
                if minimum.abs_diff(*expect_min) > self.tolerance {
                    return same("minimum", &minimum, expect_min);
                }
                self.same_log(log)
            }
            Event::UpOrAdd { .. } | Event::DownOrRemove { .. } => {
                self.change_topology();
                Ok(())
            }
            Event::Plan {
                t,
                expect,
                penalised,
                consistency,
                ..
            } => {
                let mut plan = self.plan(place, consistency.as_deref())?;
                let mut nodes = Vec::new();
                let mut held = Vec::new();
                while let Some(candidate) = plan.advance(at(*t), Turn::Next) {
                    let Candidate { node, standing, .. } = candidate;
                    nodes.push(cast.name(node));
                    if standing == Standing::Penalised {
                        held.push(cast.name(node));
                    }
                }
                same("plan", &nodes, expect)?;
                match penalised {
                    Some(penalised) => same("penalised", &held, penalised),
                    None => Ok(()),
                }
            }
            Event::OpenPlan {
                id, consistency, ..
            } => {
                let plan = self.plan(place, consistency.as_deref())?;
                self.open.insert(id.to_string(), plan);
                Ok(())
            }
            Event::Next { id, t, expect } => {
                let plan = self.open.get_mut(&id.to_string());
                let plan = plan.ok_or_else(|| format!("plan {id} was not opened"))?;
                let node = plan.next(at(*t)).map(|node| cast.name(node));
                same("next node", &node, expect)
            }
        }
    }

    fn plan(
        &self,
        place: usize,
        level: Option<&str>,
    ) -> Result<<LatencyAware<C> as Policy>::Plan<'t>, String> {
        let level = level.unwrap_or("LOCAL_ONE").parse();
        let call = Call::new(&self.cast.topologies[self.topology])
            .replicas(&self.cast.children[place])
            .consistency(level.map_err(|error: steersman_selection::Error| error.to_string())?);
        Ok(self.policy.plan(call))
    }

    fn change_topology(&mut self) {
        let next = &self.cast.topologies[self.topology + 1];
        self.cast.topologies[self.topology].succeed(Arc::clone(next));
        self.policy.topology_changed(next, Timestamp::default());
        self.topology += 1;
    }

    fn same_log(&self, expected: &[(String, String)]) -> Result<(), String> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.strict {
            log.clear();
            return Ok(());
        }
        let mut found: Vec<_> = log
            .drain(..)
            .map(|notice| {
                let kind = match notice.change {
                    Change::Penalised => "excluded",
                    Change::Back => "back",
                    Change::Silent => "expired",
                    _ => "unexpected",
                };
                (kind.to_owned(), self.cast.name(notice.node))
            })
            .collect();
        found.sort_by(|one, other| one.1.cmp(&other.1));
        same("log", &found.as_slice(), &expected)
    }
}

fn at(nanos: i64) -> Timestamp {
    Timestamp::from_nanos(nanos)
}

fn attempt(node: NodeIndex, t: i64, latency: u64, outcome: Outcome) -> Attempt {
    Attempt::new(node, at(t), Duration::from_nanos(latency), outcome)
}

/// Ours for the Java driver's; what is not listed is an error like any other.
fn outcome_of(name: &str) -> Outcome {
    match name {
        "ok" => Outcome::Success,
        "Unavailable" | "Overloaded" | "Bootstrapping" | "Unprepared" => Outcome::Refused,
        "ClientTimeout" => Outcome::TimedOut,
        "ConnectionError" | "Transport" => Outcome::Disconnected,
        "BusyConnection" | "BusyPool" => Outcome::Busy,
        "CancelledSpeculative" => Outcome::Cancelled,
        "Invalid" | "SyntaxError" | "Unauthorized" | "AlreadyExists" | "InvalidConfig"
        | "ProtocolError" | "Authentication" | "FunctionFailure" => Outcome::Rejected,
        _ => Outcome::Failed,
    }
}

fn same_score(found: Option<Score>, expected: Option<State>, tolerance: u64) -> Result<(), String> {
    let found = found.map(|score| State {
        ts: score.updated.nanos(),
        avg: score.average_nanos,
        n: score.samples,
    });
    if let (Some(found), Some(expected)) = (found, expected)
        && (found.ts, found.n) == (expected.ts, expected.n)
        && found.avg.abs_diff(expected.avg) <= tolerance
    {
        return Ok(());
    }
    same("score", &found, &expected)
}

fn same<T: Debug + PartialEq>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: expected {expected:?}, found {found:?}"))
}
