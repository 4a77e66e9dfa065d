//! What an attempt says of its node.
//!
//! A node that has a place among the penalised goes to and fro between waiting, probes and ramp
//! here; who gets a place, and who loses it, is for the tick to say.

use crate::latency::Score;
use crate::policy::latency_aware::event::Change;
use crate::policy::latency_aware::phase::{PROBES, Phase, Series};
use crate::policy::latency_aware::scoreboard::{Entry, Scoreboard};
use crate::policy::{Attempt, Outcome};

/// How many times the limit an answer must take to end a series of probes by itself. Not the first
/// one: after a pause its probe may still be waiting with all that has piled up.
const FAR: i64 = 4;

/// How many times the limit a failure counts as. Scores weigh a sample by the time since the one
/// before, and quick failures follow close on other answers, so that each weighs little.
const FAILURE: i64 = 10;

/// The most that a failure counts as beyond the time it took: 1 s. In an outage of all nodes the
/// minimum rises too, and must not carry the scores up with it without end.
const FAILURE_CEILING_NANOS: i64 = 1_000_000_000;

#[inline]
pub(in crate::policy::latency_aware) fn record(
    board: &Scoreboard,
    entry: &Entry,
    attempt: &Attempt,
) {
    let phase = entry.verdict.phase.load();
    if phase == Phase::Untracked {
        return;
    }
    let limit = entry.verdict.limit.get();
    let is_probing = matches!(phase, Phase::Probing { .. });
    let score = || entry.score.load();
    let Some(latency) = effective_latency(attempt, is_probing, limit, score) else {
        give_back_probe(board, entry, attempt, phase);
        return;
    };
    match phase {
        Phase::Probing { series, since } if attempt.started_at().nanos_since(since) >= 0 => {
            let in_time =
                attempt.outcome() == Outcome::Success && limit.is_none_or(|limit| latency <= limit);
            if in_time {
                probe_succeeded(board, entry, attempt, (phase, series));
            } else {
                board.sample(entry, attempt.ended_at(), latency);
                let bad = series.bad + 1;
                let is_far = !series.is_first && is_far(attempt, limit);
                let (wait, next) = if is_failure(attempt) || is_far || bad >= PROBES {
                    (board.retry_nanos, Series::LATER)
                } else {
                    // What makes it late may last for a moment, and must not spoil the whole series.
                    (board.tick_nanos, Series { bad, ..series })
                };
                let next = Phase::penalised_for(wait, next, attempt.ended_at());
                entry.verdict.phase.change(phase, next);
            }
        }
        Phase::Ramping { since }
            if is_failure(attempt) && attempt.started_at().nanos_since(since) >= 0 =>
        {
            board.sample(entry, attempt.ended_at(), latency);
            let penalised =
                Phase::penalised_for(board.first_probe_nanos, Series::FIRST, attempt.ended_at());
            if entry.verdict.phase.change(phase, penalised) {
                announce(board, attempt, Change::Penalised, latency);
            }
        }
        _ => {
            board.sample(entry, attempt.ended_at(), latency);
        }
    }
}

/// A probe whose outcome says nothing of the node does not end its series; another one goes soon,
/// but not at once: a node that is too busy to answer is not asked again and again.
#[cold]
fn give_back_probe(board: &Scoreboard, entry: &Entry, attempt: &Attempt, phase: Phase) {
    if let Phase::Probing { series, since } = phase
        && attempt.started_at().nanos_since(since) >= 0
    {
        let penalised = Phase::penalised_for(board.first_probe_nanos, series, attempt.ended_at());
        entry.verdict.phase.change(phase, penalised);
    }
}

/// Whether the attempt tells by itself that the node is not as it should be.
#[inline]
fn is_failure(attempt: &Attempt) -> bool {
    !matches!(attempt.outcome(), Outcome::Success | Outcome::Cancelled)
}

/// Whether it is too slow for a node that has had a retry period to become fast again.
#[inline]
fn is_far(attempt: &Attempt, limit: Option<i64>) -> bool {
    limit.is_some_and(|limit| attempt.latency_nanos() > limit.saturating_mul(FAR))
}

/// The latency that an attempt counts as; `None` if it does not count.
#[inline]
fn effective_latency(
    attempt: &Attempt,
    is_probing: bool,
    limit: Option<i64>,
    score: impl Fn() -> Option<Score>,
) -> Option<i64> {
    let latency = attempt.latency_nanos();
    let average = || {
        score()
            .map(|score| score.average_nanos)
            .filter(|&average| average >= 0)
    };
    match attempt.outcome() {
        Outcome::Success => Some(latency),
        Outcome::Refused | Outcome::Rejected | Outcome::Busy => None,
        // How long the node would have taken is not known, but longer than this: by another average,
        // if latencies are exponential (Epstein and Sobel, "Life testing", 1953). What is not even
        // up to the average says nothing; of a probe, whose node had a long one, what is not up to
        // the limit.
        Outcome::Cancelled => {
            let expected = average().or(limit)?;
            let least = limit.filter(|_| is_probing).unwrap_or(expected);
            (latency > least).then(|| latency.saturating_add(expected))
        }
        Outcome::Failed | Outcome::TimedOut | Outcome::Disconnected => {
            let penalty =
                limit.map(|limit| limit.saturating_mul(FAILURE).min(FAILURE_CEILING_NANOS));
            // With nothing to compare with, a quick failure would become the measure of others.
            average().max(penalty).map(|least| latency.max(least))
        }
    }
}

/// A probe was answered in time: the next one may go at once, or the ramp starts.
fn probe_succeeded(
    board: &Scoreboard,
    entry: &Entry,
    attempt: &Attempt,
    (phase, series): (Phase, Series),
) {
    let (now, latency) = (attempt.ended_at(), attempt.latency_nanos());
    let good = series.good + 1;
    let next = if good < PROBES {
        Phase::penalised_for(0, Series { good, ..series }, now)
    } else {
        Phase::Ramping { since: now }
    };
    if !entry.verdict.phase.change(phase, next) {
        return;
    }
    if series.good == 0 {
        // What was measured before is of the node as it was; the average would keep its weight.
        entry.score.update(|before| {
            entry.verdict.phase.is_tracked().then(|| Score {
                updated: now,
                average_nanos: latency,
                samples: before.map_or(0, |score| score.samples).saturating_add(1),
            })
        });
    } else {
        board.sample(entry, now, latency);
    }
    if let Phase::Ramping { .. } = next {
        announce(board, attempt, Change::Recovering, latency);
    }
}

fn announce(board: &Scoreboard, attempt: &Attempt, change: Change, latency: i64) {
    let average = board
        .score(attempt.node())
        .map_or(latency, |score| score.average_nanos);
    board
        .announcer
        .announce(&board.event(attempt.ended_at(), attempt.node(), change, average));
}
