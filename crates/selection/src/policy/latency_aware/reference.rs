//! Reference mode: what the Java driver's class decides, to the letter.

use super::event::{Change, Event};
use super::scoreboard::{Entry, Judge, Register, Scoreboard};
use crate::Timestamp;
use crate::latency::times;
use crate::policy::{Attempt, Outcome, Standing};

/// Everything counts but what a node refuses at once. (The class means to leave out errors of
/// validation too, but compares exact classes, and the one it lists is abstract.)
#[inline]
pub(super) fn record(board: &Scoreboard, entry: &Entry, attempt: &Attempt) {
    if attempt.outcome() != Outcome::Refused {
        board.sample(entry, attempt.ended_at(), attempt.latency_nanos());
    }
}

/// The average up to which a node is not penalised; `None` if there is no minimum, and so nobody
/// is.
#[inline]
pub(super) fn limit(board: &Scoreboard) -> Option<i64> {
    board
        .minimum
        .get()
        .map(|minimum| times(board.parameters.threshold(), minimum))
}

#[inline]
pub(super) fn standing(judge: &Judge<'_>, entry: &Entry) -> Standing {
    let over = |limit| {
        entry.score.load().is_some_and(|score| {
            judge.board.is_measured(&score, judge.now) && score.average_nanos > limit
        })
    };
    if judge.limit.is_some_and(over) {
        Standing::Penalised
    } else {
        Standing::Normal
    }
}

/// Computes the minimum and says who is newly over the limit, back within it, or silent.
///
/// The class logs these three by its own comparison, which differs from that of its plans in one
/// point: before there is a minimum it compares with -1 times the threshold.
pub(super) fn tick(board: &Scoreboard, register: &mut Register, now: Timestamp) -> Vec<Event> {
    let score_of = |node| board.entries.get(node).and_then(|entry| entry.score.load());
    let minimum = register
        .members
        .iter()
        .filter_map(|member| score_of(member.node))
        .filter(|score| board.is_measured(score, now) && score.average_nanos >= 0)
        .map(|score| score.average_nanos)
        .min();
    if minimum.is_some() {
        board.minimum.set(minimum);
    }

    let limit = times(
        board.parameters.threshold(),
        board.minimum.get().unwrap_or(-1),
    );
    let least = u64::from(board.parameters.min_measured_samples());
    let mut events = Vec::new();
    for member in &mut register.members {
        let was_excluded = std::mem::take(&mut member.excluded);
        let Some(score) = score_of(member.node).filter(|score| score.samples >= least) else {
            continue;
        };
        let change = if !board.is_measured(&score, now) {
            was_excluded.then_some(Change::Silent)
        } else if score.average_nanos > limit {
            member.excluded = true;
            (!was_excluded).then_some(Change::Penalised)
        } else {
            was_excluded.then_some(Change::Back)
        };
        let average = score.average_nanos;
        events.extend(change.map(|change| board.event(now, member.node, change, average)));
    }
    events
}
