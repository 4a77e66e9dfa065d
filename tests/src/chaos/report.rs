//! What a run has come to, as a table and as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::fault::Fault;
use super::side::Blow;
use super::tally::Tally;

/// What a run has come to.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What everything that was drawn follows from.
    pub seed: u64,
    /// How long it took.
    pub seconds: f64,
    /// How long the machine was busy elsewhere, so that nothing here could run.
    pub seconds_lost: f64,
    /// How many rounds there were.
    pub rounds: u64,
    /// What the calls came to.
    pub tally: Tally,
    /// How often each fault struck, and how long it was felt at most once its cause was gone.
    pub faults: BTreeMap<Fault, (u64, Duration)>,
    /// How many servers accepted nobody any more, so that they were restarted.
    pub stuck: u64,
    /// The longest that a node took to answer after all faults were over.
    pub slowest_healing: Duration,
    /// The resident memory before the first round, in bytes.
    pub memory_at_first: u64,
    /// The most resident memory at any time when it was looked at, in bytes.
    pub peak_memory: u64,
    /// How many promises were broken.
    pub broken_promises: u64,
    /// The first of them.
    pub broken: Vec<String>,
}

impl Report {
    /// One of a run that begins.
    pub fn new(seed: u64, nodes: usize) -> Self {
        Self {
            seed,
            tally: Tally::new(nodes),
            ..Self::default()
        }
    }

    /// A fault has struck.
    pub fn struck(&mut self, blow: Blow) {
        let (times, longest) = self.faults.entry(blow.fault).or_default();
        *times += 1;
        *longest = blow.felt.max(*longest);
        self.stuck += u64::from(blow.was_fatal);
    }

    fn times(&self) -> u64 {
        self.faults.values().map(|(times, _)| times).sum()
    }

    /// The results of each operation.
    fn operations(&self) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
        let mut operations: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for ((operation, result), count) in &self.tally.results {
            operations
                .entry(*operation)
                .or_default()
                .insert(*result, *count);
        }
        operations
    }

    /// All of it.
    pub fn json(&self) -> Value {
        let faults = self.faults.iter().map(|(fault, (times, felt))| {
            let figures = json!({ "times": times, "felt_ms": milliseconds(*felt) });
            (fault.as_str().to_owned(), figures)
        });
        json!({
            "seed": self.seed,
            "seconds": self.seconds,
            "seconds_lost": self.seconds_lost,
            "rounds": self.rounds,
            "calls": self.tally.calls(),
            "operations": self.operations(),
            "answers_held_against_a_write": self.tally.held,
            "answers_held_against_nothing": self.tally.unheld,
            "answers_of_replicas": self.tally.replicated,
            "longest_overrun_ms": milliseconds(self.tally.longest_overrun),
            "faults": faults.collect::<serde_json::Map<_, _>>(),
            "servers_stuck": self.stuck,
            "slowest_healing_ms": milliseconds(self.slowest_healing),
            "memory_at_first": self.memory_at_first,
            "peak_memory": self.peak_memory,
            "broken_promises": self.broken_promises,
            "broken": self.broken,
        })
    }
}

fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

/// A table; with `{:#}` one line of what there is so far.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (times, calls) = (self.times(), self.tally.calls());
        if f.alternate() {
            let rounds = self.rounds;
            return write!(f, "round {rounds}: {times} faults, {calls} calls");
        }
        writeln!(f, "{:<26} {:>7} {:>16}", "FAULT", "TIMES", "FELT AFTER, MS")?;
        for (fault, (times, felt)) in &self.faults {
            let felt = milliseconds(*felt);
            writeln!(f, "{:<26} {times:>7} {felt:>16}", fault.as_str())?;
        }
        writeln!(f, "\n{:<26} RESULTS", "OPERATION")?;
        for (operation, results) in self.operations() {
            let results: Vec<_> = results
                .iter()
                .map(|(result, count)| format!("{count} {result}"))
                .collect();
            writeln!(f, "{operation:<26} {}", results.join(", "))?;
        }
        writeln!(
            f,
            "\nseed {}: {} rounds in {:.0} s, of which the machine was busy elsewhere for {:.1} s\n\
             {calls} calls, {times} faults\n\
             {} answers were held against a confirmed write, {} had none before them, {} were of replicas\n\
             no call took longer than its time-out and {} ms\n\
             {} servers accepted nobody any more, and were restarted\n\
             after all faults every node answered within {} ms\n\
             memory: {:.1} MiB at first, {:.1} MiB at most",
            self.seed,
            self.rounds,
            self.seconds,
            self.seconds_lost,
            self.tally.held,
            self.tally.unheld,
            self.tally.replicated,
            milliseconds(self.tally.longest_overrun),
            self.stuck,
            milliseconds(self.slowest_healing),
            mebibytes(self.memory_at_first),
            mebibytes(self.peak_memory),
        )?;
        for broken in &self.broken {
            writeln!(f, "broken: {broken}")?;
        }
        write!(f, "{} promises broken", self.broken_promises)
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is rounded anyhow")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
