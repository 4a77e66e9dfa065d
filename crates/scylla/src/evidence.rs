//! Evidence: what is not answered in time counts against its node, once.

use std::time::Duration;

use steersman_selection::{Attempt, NodeReport, Outcome, Policy, Timestamp};

use crate::ledger::{HORIZON_NANOS, SLOT_NANOS};
use crate::roster::Roster;

/// No node is suspected before so long, however fast the others are: 25 ms. A pause of the client
/// itself, or of a node's garbage collector, should not be taken for an answer that never comes.
const LEAST_NANOS: i64 = 25_000_000;

/// While there is nothing to compare a node with: 1 s.
const UNKNOWN_NANOS: i64 = 1_000_000_000;

/// How many times the limit, up to which a node is not penalised.
const FAR: i64 = 4;

/// Finds picks that have been waiting for too long, and has them told to the policy.
pub(crate) fn settle<P: Policy>(
    policy: &P,
    roster: &Roster,
    now: Timestamp,
    mut tell: impl FnMut(&Attempt),
) {
    for (node, member) in roster.members() {
        let Some(report) = policy.report(node, now) else {
            continue;
        };
        member
            .ledger
            .settle(now, patience_nanos(&report), |waited, count| {
                let nanos = waited.unsigned_abs();
                let ended = |outcome| Attempt::new(node, now, Duration::from_nanos(nanos), outcome);
                // What began together is one piece of evidence, and what nobody has looked at for so
                // long is none: those are over, and no latencies.
                let told = u16::from(waited <= HORIZON_NANOS + SLOT_NANOS).min(count);
                for _ in 0..told {
                    tell(&ended(Outcome::TimedOut));
                }
                for _ in told..count {
                    tell(&ended(Outcome::Refused));
                }
            });
    }
}

/// Whether a late answer tells anything that the policy does not know: it was told already that this
/// attempt is slow, which is in the node's average. Only one that is slower than that raises it.
pub(crate) fn is_news<P: Policy>(policy: &P, late: &Attempt) -> bool {
    let report = policy.report(late.node(), late.ended_at());
    let score = report.and_then(|report| report.score);
    score.is_none_or(|score| late.latency_nanos() > score.average_nanos)
}

/// After how long a pick counts as not answered.
///
/// That is when waiting itself would be held against the node, but not before it has had twice the
/// time that it usually takes: a slow node that answers is judged by its answers.
fn patience_nanos(report: &NodeReport) -> i64 {
    let usual = report.score.map_or(0, |score| score.average_nanos);
    let least = report.limit_nanos.map_or(UNKNOWN_NANOS, |limit| {
        limit.saturating_mul(FAR).max(LEAST_NANOS)
    });
    usual.saturating_mul(2).max(least).min(HORIZON_NANOS)
}

#[cfg(test)]
mod tests;
