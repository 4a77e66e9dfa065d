//! What the demo's first half promises, judged by what was observed.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::time::Duration;

use super::LATE;
use super::cluster::Sweep;
use super::load::{Seen, Snapshot};
use crate::words::{grouped, milliseconds};

/// Everything that was observed in the first half. Vectors by node are in the order of the
/// names, vectors by key in the order of the keys.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) names: Vec<String>,
    pub(super) seed: u64,
    /// The node that was slow for a while.
    pub(super) slow: usize,
    /// The node that was killed and came back.
    pub(super) dead: usize,
    /// How long storing all keys took, and how many could not be stored.
    pub(super) loading: Duration,
    pub(super) unloaded: usize,
    /// Reading all keys after that, and how many items each node said it had.
    pub(super) loaded: Sweep,
    pub(super) items: Vec<usize>,
    /// What the readers saw: all well, one node slow, one node dead, the node back.
    pub(super) calm: Snapshot,
    pub(super) slowed: Snapshot,
    pub(super) killed: Snapshot,
    pub(super) returned: Snapshot,
    /// How long it took until the dead node had left the hashing, and until it was back in it.
    pub(super) failover: Option<Duration>,
    pub(super) comeback: Option<Duration>,
    /// Reading all keys while the node was dead.
    pub(super) sweep_while_dead: Sweep,
    /// Reading all keys after the node came back, before what was missing was filled...
    pub(super) unread: Sweep,
    pub(super) unfilled: usize,
    /// ... and after.
    pub(super) last: Sweep,
    /// The owner of each key: all well, one node dead, the node back.
    pub(super) home: Vec<usize>,
    pub(super) while_dead: Vec<usize>,
    pub(super) at_the_end: Vec<usize>,
    /// All that the readers saw.
    pub(super) seen: Snapshot,
}

/// Something that the demo promises to show.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Promise {
    /// A word to call it by.
    pub(super) name: &'static str,
    /// Whether it was seen.
    pub(super) kept: bool,
    /// What was seen, in numbers.
    pub(super) seen: String,
}

impl Observed {
    /// Every promise, in the order of the script.
    pub(super) fn promises(&self) -> Vec<Promise> {
        let promise = |name, (kept, seen)| Promise { name, kept, seen };
        vec![
            promise("loaded", self.loaded()),
            promise("slow", self.slow()),
            promise("killed", self.killed()),
            promise("moved", self.moved()),
            promise("back", self.back()),
            promise("refilled", self.refilled()),
            promise("right", self.right()),
        ]
    }

    /// How many keys each node owns, given the owner of each.
    pub(super) fn count(&self, owners: &[usize]) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        for &owner in owners {
            counts[owner] += 1;
        }
        counts
    }

    /// Every key could be read back, and each is on the one node that owns it.
    fn loaded(&self) -> (bool, String) {
        let keys = self.home.len();
        let owned = self.count(&self.home);
        let pairs = self.items.iter().zip(&owned);
        let in_place: usize = pairs.map(|(held, owned)| held.min(owned)).sum();
        let stray = self.items.iter().sum::<usize>() - in_place;
        let mut seen = format!(
            "{} keys loaded, {} read back right, {} on the node that owns them",
            grouped(keys - self.unloaded),
            grouped(self.loaded.right),
            grouped(in_place)
        );
        add(&mut seen, self.unloaded, "keys not loaded");
        add(&mut seen, stray, "keys on a node that does not own them");
        let kept = self.unloaded == 0 && self.loaded.right == keys && self.items == owned;
        (kept, seen)
    }

    /// A slow node slows the reads of its own keys and no others.
    fn slow(&self) -> (bool, String) {
        let median = |seen: &Seen| seen.latency.quantile(0.5);
        let slow = median(&self.slowed[self.slow]);
        let others = self.slowed.iter().enumerate();
        let others = others.filter(|&(node, _)| node != self.slow);
        let slowest = others.filter_map(|(_, seen)| median(seen)).max();
        let failures: u64 = self.slowed.iter().map(|seen| seen.failures).sum();
        let misses: usize = self.slowed.iter().map(|seen| seen.missed.len()).sum();
        let shown = |median: Option<_>| median.map_or("-".to_owned(), milliseconds);
        let mut seen = format!(
            "{} answers {} ms late: its keys take {}, all others {} at most; {} reads failed",
            self.names[self.slow],
            LATE.as_millis(),
            shown(slow),
            shown(slowest),
            grouped(failures)
        );
        add(&mut seen, misses, "reads found no value");
        // The histogram rounds down by at most one part in 64.
        let is_late = slow.is_some_and(|slow| slow + LATE / 64 >= LATE);
        let is_alone = slow
            .zip(slowest)
            .is_some_and(|(slow, others)| others < slow);
        (is_late && is_alone && failures == 0 && misses == 0, seen)
    }

    /// A dead node is routed around, and fails no reads but those of its own keys.
    fn killed(&self) -> (bool, String) {
        let (own, others) = self.failures(&self.killed);
        let seen = format!(
            "{} killed: {}; failed reads: {} of its keys, {} of others",
            self.dead_name(),
            when("routed around", self.failover),
            grouped(own),
            grouped(others)
        );
        (self.failover.is_some() && others == 0, seen)
    }

    /// A dead node's keys move, all of them and no others; and no other key is lost.
    fn moved(&self) -> (bool, String) {
        let all = self.of_dead(0..self.home.len()).0;
        let (own, others) = self.of_dead(self.away(&self.while_dead));
        let sweep = &self.sweep_while_dead;
        let missed = all_missed(&self.killed, sweep);
        let lost = self.of_dead(missed).1;
        let mut seen = format!(
            "meanwhile moved: {} of its {} keys, {} of others; lost: {} of others",
            grouped(own),
            grouped(all),
            grouped(others),
            grouped(lost)
        );
        add(&mut seen, sweep.failed.len(), UNREADABLE);
        let all_read = sweep.failed.is_empty();
        (own == all && others == 0 && lost == 0 && all_read, seen)
    }

    /// When the node is back, so are its keys.
    fn back(&self) -> (bool, String) {
        let away = self.away(&self.at_the_end).count();
        let failures = self.failures(&self.returned).1;
        let mut seen = format!(
            "{} back, empty: {}; away from home: {} keys",
            self.dead_name(),
            when("its keys came home", self.comeback),
            grouped(away)
        );
        add(&mut seen, failures, "failed reads of others");
        (self.comeback.is_some() && away == 0 && failures == 0, seen)
    }

    /// In the end every key can be read; only those of the dead node had to be filled again.
    fn refilled(&self) -> (bool, String) {
        let keys = self.home.len();
        let all = self.of_dead(0..keys).0;
        let missed = all_missed(&self.returned, &self.unread);
        let (own, others) = self.of_dead(missed);
        let mut seen = format!(
            "at the end {} of {} keys right; refilled: {} of its {} keys, {} of others",
            grouped(self.last.right),
            grouped(keys),
            grouped(own),
            grouped(all),
            grouped(others)
        );
        add(&mut seen, self.unread.failed.len(), UNREADABLE);
        add(&mut seen, self.unfilled, "keys could not be refilled");
        let all_read = self.unread.failed.is_empty() && self.unfilled == 0;
        (self.last.right == keys && others == 0 && all_read, seen)
    }

    /// No read gives another key's value, or a broken one.
    fn right(&self) -> (bool, String) {
        let sweeps = [
            &self.loaded,
            &self.sweep_while_dead,
            &self.unread,
            &self.last,
        ];
        let wrong: u64 = self.seen.iter().map(|seen| seen.wrong).sum();
        let wrong = wrong + sweeps.iter().map(|sweep| sweep.wrong as u64).sum::<u64>();
        let read: u64 = self.seen.iter().map(|seen| seen.latency.total()).sum();
        let read = read + (sweeps.len() * self.home.len()) as u64;
        let seen = format!("{} reads, {} wrong values", grouped(read), grouped(wrong));
        (wrong == 0, seen)
    }

    fn dead_name(&self) -> &str {
        &self.names[self.dead]
    }

    /// The keys that are not where they are when all is well.
    fn away(&self, owners: &[usize]) -> impl Iterator<Item = usize> {
        let keys = 0..self.home.len();
        keys.filter(|&key| owners[key] != self.home[key])
    }

    /// How many of these keys live on the node that was killed, and how many on others.
    fn of_dead(&self, keys: impl IntoIterator<Item = usize>) -> (usize, usize) {
        let keys: Vec<usize> = keys.into_iter().collect();
        let home = keys.iter().map(|&key| self.home[key]);
        let own = home.filter(|&home| home == self.dead).count();
        (own, keys.len() - own)
    }

    /// How many reads failed of the killed node's keys, and how many of all others.
    fn failures(&self, phase: &Snapshot) -> (u64, u64) {
        let own = phase[self.dead].failures;
        let all: u64 = phase.iter().map(|seen| seen.failures).sum();
        (own, all - own)
    }
}

/// What a number is of that is zero in a good run.
const UNREADABLE: &str = "keys could not be read";

/// The keys that readers or a sweep did not find, each once however often it was missed.
fn all_missed(phase: &Snapshot, sweep: &Sweep) -> HashSet<usize> {
    let missed = phase.iter().flat_map(|seen| &seen.missed);
    missed.chain(&sweep.missing).copied().collect()
}

/// Says a number that breaks a promise; in a good run there is nothing to say.
pub(super) fn add(seen: &mut String, count: impl TryInto<u64>, of: &str) {
    let count = count.try_into().unwrap_or(u64::MAX);
    if count > 0 {
        *seen = format!("{seen}; {} {of}", grouped(count));
    }
}

/// When something came about, or that it never did.
pub(super) fn when(what: &str, after: Option<Duration>) -> String {
    match after {
        Some(after) => format!("{what} after {}", milliseconds(after)),
        None => format!("never {what}"),
    }
}
