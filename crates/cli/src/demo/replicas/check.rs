//! What the second half promises, judged by what was observed.

#[cfg(test)]
mod tests;

use std::time::Duration;

use super::clients::Both;
use super::{LATE, REPLICAS};
use crate::demo::check::{Promise, add, when};
use crate::demo::load::{Seen, Snapshot, between};
use crate::histogram::Histogram;
use crate::words::{grouped, p99, percent};

/// What became of one client's reads.
#[derive(Debug, Clone)]
pub(super) struct Traffic {
    /// The reads as the caller saw them.
    pub(super) reads: Seen,
    /// The attempts at each node that these took.
    pub(super) asked: Snapshot,
}

/// What was seen of both clients in one phase.
pub(super) type Phase = Both<Traffic>;

/// Everything that was observed in the second half.
#[derive(Debug)]
pub(in crate::demo) struct Observed {
    /// The node that was slow for a while.
    pub(super) name: String,
    pub(super) slow: usize,
    /// How many keys there are, and how many could not be stored on all their nodes.
    pub(super) keys: usize,
    pub(super) unstored: usize,
    /// All well, the node slow and known to be, the node back.
    pub(super) before: Phase,
    pub(super) during: Phase,
    pub(super) after: Phase,
    /// How long it took until the slow node was penalised.
    pub(super) noticed: Option<Duration>,
    /// How long it took, once it was well, until probes had told so, and until it had its full
    /// share.
    pub(super) probed: Option<Duration>,
    pub(super) back: Option<Duration>,
    /// How many reads were probes.
    pub(super) probes: u64,
    /// All reads, those between the phases too.
    pub(super) reads: Both<Seen>,
}

impl Traffic {
    /// What was seen here and not yet in `earlier`.
    fn since(&self, earlier: &Self) -> Self {
        Self {
            reads: self.reads.since(&earlier.reads),
            asked: between(&earlier.asked, &self.asked),
        }
    }

    /// How many attempts went to a node, of how many.
    pub(super) fn attempts(&self, node: usize) -> (usize, usize) {
        let count = |seen: &Seen| seen.latency.total() + seen.failures;
        let all = self.asked.iter().map(count).sum::<u64>();
        let own = count(&self.asked[node]);
        let number = |count| usize::try_from(count).unwrap_or(usize::MAX);
        (number(own), number(all))
    }

    /// The share of a node in words.
    pub(super) fn share(&self, node: usize) -> String {
        let (own, all) = self.attempts(node);
        percent(own, all.max(1))
    }

    fn latency(&self) -> &Histogram {
        &self.reads.latency
    }
}

impl Phase {
    /// What was seen here and not yet in `earlier`.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self {
            aware: self.aware.since(&earlier.aware),
            plain: self.plain.since(&earlier.plain),
        }
    }
}

impl Observed {
    /// Every promise, in the order of the script.
    pub(in crate::demo) fn promises(&self) -> Vec<Promise> {
        let promise = |name, (kept, seen)| Promise { name, kept, seen };
        vec![
            promise("replicated", self.replicated()),
            promise("avoided", self.avoided()),
            promise("quick", self.quick()),
            promise("recovered", self.recovered()),
            promise("answered", self.answered()),
        ]
    }

    /// Every key is on as many nodes as it should be.
    fn replicated(&self) -> (bool, String) {
        let stored = self.keys - self.unstored;
        let mut seen = format!("{} keys stored on {REPLICAS} nodes each", grouped(stored));
        add(&mut seen, self.unstored, "keys not stored");
        (self.unstored == 0, seen)
    }

    /// The policy keeps reads away from the slow node, but for probes.
    fn avoided(&self) -> (bool, String) {
        let Phase { aware, plain } = &self.during;
        let seen = format!(
            "{} is {} ms late: {}; then it gets {} of reads, without the policy {}",
            self.name,
            LATE.as_millis(),
            when("noticed", self.noticed),
            aware.share(self.slow),
            plain.share(self.slow)
        );
        let (own, all) = aware.attempts(self.slow);
        let (plain_own, plain_all) = plain.attempts(self.slow);
        // At most a tenth of the share that it has without the policy.
        let is_avoided = plain_own > 0 && own * plain_all * 10 <= plain_own * all;
        (self.noticed.is_some() && is_avoided, seen)
    }

    /// So the slow node does not show in what the latency-aware client's callers wait for.
    fn quick(&self) -> (bool, String) {
        let Phase { aware, plain } = &self.during;
        let seen = format!(
            "p99 of all reads meanwhile: {}, without the policy {}; before {}, after {}",
            p99(aware.latency()),
            p99(plain.latency()),
            p99(self.before.aware.latency()),
            p99(self.after.aware.latency())
        );
        let worst = |traffic: &Traffic| traffic.latency().quantile(0.99);
        let kept = worst(aware)
            .zip(worst(plain))
            // The histogram rounds down by at most one part in 64.
            .is_some_and(|(aware, plain)| aware < plain && plain + LATE / 64 >= LATE);
        (kept, seen)
    }

    /// Once the node is well, probes find that out, and it gets its share again.
    fn recovered(&self) -> (bool, String) {
        let back = match self.back {
            Some(_) if self.probes == 0 => "back in full without a probe",
            _ => "back in full",
        };
        let seen = format!(
            "{} well again: {}, {}: {} of reads",
            self.name,
            when("seen by probes", self.probed),
            when(back, self.back),
            self.after.aware.share(self.slow)
        );
        let (own, all) = self.after.aware.attempts(self.slow);
        let (own_before, all_before) = self.before.aware.attempts(self.slow);
        // At least half of what it had.
        let is_back = own > 0 && own * all_before * 2 >= own_before * all;
        (self.back.is_some() && self.probes > 0 && is_back, seen)
    }

    /// No read of either client fails, finds nothing, or gives a wrong value.
    fn answered(&self) -> (bool, String) {
        let sum = |count: fn(&Seen) -> u64| self.reads.each().into_iter().map(count).sum::<u64>();
        let failures = sum(|seen| seen.failures);
        let misses = sum(|seen| seen.missed.len() as u64);
        let wrong = sum(|seen| seen.wrong);
        let seen = format!(
            "{} reads, {} failed, {} found no value, {} wrong values",
            grouped(sum(|seen| seen.latency.total()) + failures),
            grouped(failures),
            grouped(misses),
            grouped(wrong)
        );
        (failures + misses + wrong == 0, seen)
    }
}
