//! The plan: the child's, with the nodes that are held back at the end of their tier.

use super::Mode;
use super::scoreboard::Scoreboard;
use crate::policy::stash::Stash;
use crate::policy::{Call, Candidate, NodeReport, Plan, Tier, Turn};
use crate::{NodeIndex, Timestamp};

/// A plan of [`LatencyAware`](crate::LatencyAware).
///
/// Each step goes through the child's plan until it finds a node that is not held back; the others
/// are kept and come, without being judged again, at the end of the tier, or in reference mode of
/// the plan.
#[derive(Clone)]
pub struct LatencyAwarePlan<'a, P> {
    pub(super) child: P,
    pub(super) board: &'a Scoreboard,
    pub(super) call: Call<'a>,
    pub(super) progress: Progress,
}

/// How far a plan is.
#[derive(Clone, Default)]
pub(super) struct Progress {
    held: Stash,
    /// The first node of the next tier, while those held back in this one come out.
    next_tier: Option<Candidate>,
    emptying: bool,
    child_ended: bool,
    begun: bool,
}

impl Progress {
    /// At the beginning of a plan, which need not be the beginning of the request.
    #[inline]
    pub(super) fn of(call: &Call<'_>) -> Self {
        Self {
            begun: call.is_continued(),
            ..Self::default()
        }
    }
}

impl<P: Plan> LatencyAwarePlan<'_, P> {
    /// The next node of the child, the one that was put aside first.
    #[inline]
    fn next_of_child(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate> {
        if let Some(candidate) = self.progress.next_tier.take() {
            return Some(candidate);
        }
        if self.progress.child_ended {
            return None;
        }
        let candidate = self.child.advance(now, turn);
        self.progress.child_ended = candidate.is_none();
        candidate
    }

    /// Whether nodes that are held back must come before one of this tier.
    #[inline]
    fn is_beyond(&self, tier: Tier) -> bool {
        self.board.mode == Mode::Guarded
            && self
                .progress
                .held
                .peek()
                .is_some_and(|held| held.tier != tier)
    }
}

impl<P: Plan> Plan for LatencyAwarePlan<'_, P> {
    #[inline]
    fn advance(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate> {
        let child_turn = turn.for_child(self.progress.begun);
        let is_first = turn.is_first(self.progress.begun);
        let judge = self.board.judge(now, turn, is_first);
        self.progress.begun = true;
        loop {
            if self.progress.emptying {
                if let Some(held) = self.progress.held.pop() {
                    return Some(held);
                }
                self.progress.emptying = false;
            }
            let Some(candidate) = self.next_of_child(now, child_turn) else {
                return self.progress.held.pop();
            };
            if self.is_beyond(candidate.tier) {
                self.progress.next_tier = Some(candidate);
                self.progress.emptying = true;
                continue;
            }
            let candidate = judge.judged(&self.call, candidate);
            if !candidate.standing.is_held_back() {
                if is_first && self.board.mode == Mode::Guarded && !self.progress.held.is_empty() {
                    self.child.passed_over();
                }
                return Some(candidate);
            }
            self.progress.held.push(candidate);
        }
    }

    fn passed_over(&mut self) {
        self.child.passed_over();
    }

    fn report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
        self.board.report(node, now)
    }
}
