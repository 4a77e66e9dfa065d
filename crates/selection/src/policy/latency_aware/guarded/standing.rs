//! How a plan regards a node: probes and shares are given out here.

use crate::policy::dice;
use crate::policy::latency_aware::phase::Phase;
use crate::policy::latency_aware::scoreboard::{Entry, Judge};
use crate::policy::{Call, Standing};
use crate::{NodeIndex, Timestamp};

#[inline]
pub(in crate::policy::latency_aware) fn standing(
    judge: &Judge<'_>,
    entry: &Entry,
    call: &Call<'_>,
    node: NodeIndex,
) -> Standing {
    if entry.verdict.phase.is_normal() {
        return Standing::Normal;
    }
    let phase = entry.verdict.phase.load();
    let (series, due) = match phase {
        Phase::Untracked | Phase::Normal => return Standing::Normal,
        Phase::Joining { since } | Phase::Ramping { since } => return share(judge, since),
        Phase::Penalised { series, due } => (series, judge.now.nanos_since(due) >= 0),
        // A probe without an answer for so long is lost.
        Phase::Probing { series, since } => {
            let waited = judge.now.nanos_since(since);
            (series, waited >= judge.board.retry_nanos)
        }
    };
    let probing = Phase::Probing {
        series,
        since: judge.now,
    };
    let taken = due
        && judge.may_probe
        && call.may_hold_key(node)
        && entry.verdict.phase.change(phase, probing);
    if taken {
        judge.board.announcer.count_probe();
        Standing::Probe
    } else {
        Standing::Penalised
    }
}

/// Whether this request is in the share of a node whose share began to rise at `since`.
fn share(judge: &Judge<'_>, since: Timestamp) -> Standing {
    let ramp = judge.board.ramp_nanos;
    let elapsed = judge.now.nanos_since(since);
    if elapsed >= ramp {
        return Standing::Normal;
    }
    if judge.rehearsal {
        return Standing::Ramping;
    }
    // The share is elapsed / ramp, of a ramp that is more than 0 here.
    let lot = dice::below(judge.board.dice.roll(), ramp.unsigned_abs());
    if elapsed > 0 && lot < elapsed.unsigned_abs() {
        Standing::Ramping
    } else {
        Standing::Waiting
    }
}
