//! Reports: what is known of each node, for people and for metrics.

use std::fmt;

use super::event::Nanos;
use super::phase::{PROBES, Phase};
use super::scoreboard::{Entry, Scoreboard};
use super::{Counters, Mode, reference};
use crate::latency::Score;
use crate::{NodeIndex, Timestamp};

/// What is known of all nodes at one time; see [`LatencyAware::snapshot`](crate::LatencyAware::snapshot).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The nodes of the topology, by their index.
    pub nodes: Vec<NodeReport>,
    /// How often things have happened.
    pub counters: Counters,
}

/// What is known of one node. Displays as half a line, without the node's number.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct NodeReport {
    /// Which node.
    pub node: NodeIndex,
    /// How it is regarded, and why.
    pub condition: Condition,
    /// Its score, if it has any samples.
    pub score: Option<Score>,
    /// How long ago the last sample was that counted, in nanoseconds.
    pub age_nanos: Option<i64>,
    /// The minimum that it is compared with, in nanoseconds, if there is one.
    pub minimum_nanos: Option<i64>,
    /// The average up to which it is not penalised, in nanoseconds, if there is a minimum.
    pub limit_nanos: Option<i64>,
    /// How many requests are in flight there, if the policy counts them.
    pub in_flight: Option<u32>,
}

/// How a node is regarded, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Condition {
    /// It is not in the topology.
    Untracked,
    /// It has too few samples to be judged.
    Unmeasured,
    /// It has not been heard of for the retry period, so its score is not believed any more.
    Silent,
    /// There is no minimum to compare it with.
    Incomparable,
    /// Its average is within the limit.
    Within,
    /// Its average is over the limit, but was not at enough ticks, or too many are penalised. In
    /// guarded mode only.
    Suspected,
    /// It is penalised: its average was over the limit, or a probe or the ramp failed.
    Penalised,
    /// It is penalised, and so many probes have been answered in time.
    Probed(u8),
    /// It was penalised, and its share is rising.
    Recovering,
    /// It is new among measured nodes, and its share is rising.
    Joining,
    /// A [`Ranked`](crate::Ranked) policy takes it by its cost.
    Ranked,
    /// It has failed so many times in a row, which is in its cost. Of ranked policies only.
    Failing(u8),
    /// It has many requests in flight and hardly answers. Of [`LeastInFlight`](crate::LeastInFlight) only.
    Slow,
    /// It has more in flight than most. Of [`HotColdLexicographic`](crate::HotColdLexicographic)
    /// only.
    Hot,
}

impl Condition {
    /// Whether it is tried last in its tier, or in reference mode last of all.
    pub const fn is_penalised(self) -> bool {
        matches!(self, Self::Penalised | Self::Probed(_))
    }
}

impl Scoreboard {
    pub(super) fn snapshot(&self, now: Timestamp) -> Snapshot {
        let register = self.register();
        let nodes = register.members.iter().map(|member| member.node);
        let mut reports: Vec<_> = nodes.filter_map(|node| self.report(node, now)).collect();
        reports.sort_by_key(|report| report.node);
        Snapshot {
            nodes: reports,
            counters: self.announcer.counters(),
        }
    }

    /// What is known of a node; `None` only if no node of its index ever came in.
    pub(super) fn report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
        let entry = self.entries.get(node)?;
        let score = entry.score.load();
        let (minimum_nanos, limit_nanos) = match self.mode {
            Mode::Reference => (self.minimum.get(), reference::limit(self)),
            Mode::Guarded => (entry.verdict.minimum.get(), entry.verdict.limit.get()),
        };
        Some(NodeReport {
            node,
            condition: self.condition(entry, score, limit_nanos, now),
            score,
            age_nanos: score.map(|score| now.nanos_since(score.updated)),
            minimum_nanos,
            limit_nanos,
            in_flight: None,
        })
    }

    fn condition(
        &self,
        entry: &Entry,
        score: Option<Score>,
        limit: Option<i64>,
        now: Timestamp,
    ) -> Condition {
        match entry.verdict.phase.load() {
            Phase::Untracked => return Condition::Untracked,
            Phase::Joining { .. } => return Condition::Joining,
            Phase::Ramping { .. } => return Condition::Recovering,
            Phase::Penalised { series, .. } | Phase::Probing { series, .. } if series.good == 0 => {
                return Condition::Penalised;
            }
            Phase::Penalised { series, .. } | Phase::Probing { series, .. } => {
                return Condition::Probed(series.good);
            }
            Phase::Normal => {}
        }
        let least = u64::from(self.parameters.min_measured_samples());
        let Some(score) = score.filter(|score| score.samples >= least) else {
            return Condition::Unmeasured;
        };
        let Some(limit) = limit else {
            return Condition::Incomparable;
        };
        if !self.is_measured(&score, now) {
            Condition::Silent
        } else if score.average_nanos <= limit {
            Condition::Within
        } else if self.mode == Mode::Reference {
            Condition::Penalised
        } else {
            Condition::Suspected
        }
    }
}

impl fmt::Display for NodeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.condition {
            Condition::Untracked => f.write_str("not in the topology")?,
            Condition::Unmeasured => f.write_str("too few samples to judge")?,
            Condition::Silent => f.write_str("silent for the retry period")?,
            Condition::Incomparable => f.write_str("no minimum to compare with")?,
            Condition::Within => f.write_str("within the limit")?,
            Condition::Suspected => f.write_str("over the limit, not confirmed")?,
            Condition::Penalised => f.write_str("penalised")?,
            Condition::Probed(good) => write!(f, "penalised, {good} of {PROBES} probes good")?,
            Condition::Recovering => f.write_str("recovering, its share rises")?,
            Condition::Joining => f.write_str("new, its share rises")?,
            Condition::Ranked => f.write_str("ranked by its cost")?,
            Condition::Failing(failures) => write!(f, "failed {failures} times in a row")?,
            Condition::Slow => f.write_str("slow, hardly answers")?,
            Condition::Hot => f.write_str("hot, more in flight than most")?,
        }
        if let (Some(score), Some(age)) = (self.score, self.age_nanos) {
            if score.average_nanos >= 0 {
                write!(f, ": average {}", Nanos(score.average_nanos))?;
            } else {
                f.write_str(": warming up")?;
            }
            write!(f, " of {} samples, {} old", score.samples, Nanos(age))?;
        }
        if let (Some(minimum), Some(limit)) = (self.minimum_nanos, self.limit_nanos) {
            write!(f, "; limit {}, minimum {}", Nanos(limit), Nanos(minimum))?;
        }
        if let Some(in_flight) = self.in_flight {
            write!(f, "; {in_flight} in flight")?;
        }
        Ok(())
    }
}
