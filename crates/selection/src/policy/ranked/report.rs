//! Reports: what is known of a ranked node.

use super::board::Board;
use super::phase::Phase;
use super::ranking::sealed::Ranking;
use crate::policy::{Condition, NodeReport};
use crate::{NodeIndex, Timestamp};

/// What is known of a node; `None` only if no node of its index ever came in.
pub(super) fn of<R: Ranking>(
    board: &Board<R>,
    node: NodeIndex,
    now: Timestamp,
) -> Option<NodeReport> {
    let entry = board.entries.get(node)?;
    let score = board.ranking.score(&entry.record);
    let ranked = || {
        let load = board.load(entry, now);
        board.ranking.condition(&entry.record, load, now)
    };
    let spans = board.spans;
    let is_within = |since, span| now.nanos_since(since) < span;
    let phase = entry.phase.load();
    let condition = match phase {
        Phase::Absent => Condition::Untracked,
        Phase::Failing { failures, .. } if phase.burden(now, spans) > 0 => {
            Condition::Failing(failures)
        }
        Phase::Joining { since } if is_within(since, spans.joining) => Condition::Joining,
        Phase::Ramping { since, .. } if is_within(since, spans.ramp) => Condition::Recovering,
        Phase::Held { .. } | Phase::Probing { .. } => Condition::Penalised,
        _ => ranked(),
    };
    Some(NodeReport {
        node,
        condition,
        score,
        age_nanos: score.map(|score| now.nanos_since(score.updated)),
        minimum_nanos: None,
        limit_nanos: None,
        in_flight: Some(entry.in_flight()),
    })
}
