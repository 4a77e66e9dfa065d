//! What the comparison came to, as a table and as JSON.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;

use super::Candidate;
use crate::args::cassandra as args;
use crate::cassandra::load::Pace;
use crate::cassandra::tally::{Tally, percent, quantiles, tenths};
use crate::json::Object;
use crate::table::{Align, Table};
use crate::words::{grouped, milliseconds};

/// How a candidate fared.
pub(super) struct Score {
    pub(super) candidate: Candidate,
    pub(super) rounds: Vec<Round>,
}

/// How a candidate fared in a round.
pub(super) struct Round {
    pub(super) took: Duration,
    pub(super) seen: Tally,
}

impl Round {
    fn per_second(&self) -> u64 {
        let answers = u128::from(self.seen.answers()) * 1000;
        u64::try_from(answers / self.took.as_millis().max(1)).unwrap_or(u64::MAX)
    }
}

impl Score {
    pub(super) fn new(candidate: Candidate) -> Self {
        Self {
            candidate,
            rounds: Vec::new(),
        }
    }

    /// The median of the rounds.
    fn quantile(&self, part: f64) -> Option<Duration> {
        median(
            self.rounds
                .iter()
                .filter_map(|round| round.seen.latency.quantile(part)),
        )
    }

    fn per_second(&self) -> u64 {
        median(self.rounds.iter().map(Round::per_second)).unwrap_or_default()
    }

    fn failures(&self) -> u64 {
        self.rounds.iter().map(|round| round.seen.failures).sum()
    }

    /// Which part of all answers each node gave, in percent.
    fn shares(&self, nodes: &BTreeSet<SocketAddr>) -> Vec<f64> {
        let all = self.rounds.iter().map(|round| round.seen.answers()).sum();
        let count = |node| {
            let counts = self
                .rounds
                .iter()
                .map(|round| round.seen.answered.get(node));
            counts.flatten().sum::<u64>()
        };
        nodes.iter().map(|node| percent(count(node), all)).collect()
    }
}

/// The lower one of two in the middle.
fn median<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}

/// Why no read of any candidate was answered, if that is so.
pub(super) fn outage(scores: &[Score]) -> Option<&str> {
    let mut rounds = scores.iter().flat_map(|score| &score.rounds);
    let reason = rounds
        .clone()
        .find_map(|round| round.seen.reason.as_deref());
    let none = rounds.all(|round| round.seen.answers() == 0);
    none.then(|| reason.unwrap_or("none was due in the time measured"))
}

pub(super) fn write(
    args: &args::Compare,
    pace: Pace,
    nodes: &BTreeSet<SocketAddr>,
    scores: &[Score],
    out: &mut dyn Write,
) -> io::Result<()> {
    use Align::{Left, Right};
    let load = match pace {
        Pace::Rate(rate) => format!("{} reads/s, timed from when they were due", grouped(rate)),
        Pace::Tasks(tasks) => format!("as many reads as {} tasks can do", grouped(tasks)),
    };
    let rounds = match args.rounds {
        1 => "1 round".to_owned(),
        rounds => format!("medians of {rounds} rounds"),
    };
    writeln!(out, "{load}; {rounds} of {} s\n", args.seconds)?;
    let mut table = Table::new(
        [
            "POLICY",
            "SPECULATION",
            "p50",
            "p99",
            "p99.9",
            "READS/S",
            "FAILED",
            "SHARES",
        ],
        [Left, Left, Right, Right, Right, Right, Right, Left],
    );
    for score in scores {
        let speculation = score.candidate.speculation;
        let time = |part| score.quantile(part).map_or("-".to_owned(), milliseconds);
        let shares = score.shares(nodes);
        let shares: Vec<String> = shares.iter().map(|share| format!("{share:.1}")).collect();
        table.row([
            score.candidate.kind.title().to_owned(),
            speculation.map_or("-".to_owned(), |after| format!("after {after:?}")),
            time(0.5),
            time(0.99),
            time(0.999),
            grouped(score.per_second()),
            grouped(score.failures()),
            shares.join(" / "),
        ]);
    }
    table.write(out)?;
    let nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    writeln!(
        out,
        "\nSHARES: which part of all answers came from {}, in percent",
        nodes.join(" / ")
    )
}

/// The comparison for scripts. Times are in microseconds, or null.
pub(super) fn json(
    args: &args::Compare,
    pace: Pace,
    nodes: &BTreeSet<SocketAddr>,
    scores: &[Score],
) -> Object {
    let object = match pace {
        Pace::Rate(rate) => Object::default().with("rate", rate),
        Pace::Tasks(tasks) => Object::default().with("tasks", tasks),
    };
    let scores = scores
        .iter()
        .map(|score| Value::from(score_json(score, nodes)));
    object
        .with("seconds", args.seconds)
        .with("rounds", args.rounds)
        .with("policies", scores.collect::<Vec<_>>())
}

fn score_json(score: &Score, nodes: &BTreeSet<SocketAddr>) -> Object {
    let micros = |time: Duration| u64::try_from(time.as_micros()).ok();
    let time = |part| score.quantile(part).and_then(micros);
    let shares = nodes.iter().zip(score.shares(nodes)).map(|(node, share)| {
        let object = Object::default().with("name", node.to_string());
        Value::from(object.with("share_percent", tenths(share)))
    });
    let rounds = score.rounds.iter().map(|round| {
        let object = quantiles(Object::default(), &round.seen.latency)
            .with("reads_per_second", round.per_second())
            .with("failures", round.seen.failures);
        Value::from(object)
    });
    Object::default()
        .with("policy", score.candidate.kind.word())
        .with(
            "speculation_us",
            score.candidate.speculation.and_then(micros),
        )
        .with("p50_us", time(0.5))
        .with("p99_us", time(0.99))
        .with("p999_us", time(0.999))
        .with("reads_per_second", score.per_second())
        .with("failures", score.failures())
        .with("nodes", shares.collect::<Vec<_>>())
        .with("by_round", rounds.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
