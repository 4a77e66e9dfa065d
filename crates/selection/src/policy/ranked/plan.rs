//! The plan: the child's, with the nodes of each tier by what a request would cost there.

use super::board::{Asked, Board};
use super::ranking::{Cost, sealed::Ranking};
use super::report;
use crate::policy::dice;
use crate::policy::stash::Stash;
use crate::policy::{Call, Candidate, NodeReport, Plan, Standing, Tier, Turn};
use crate::{NodeIndex, Timestamp};

/// So many nodes of a tier are looked at ahead.
const AHEAD: usize = 16;

/// A plan of a [`Ranked`](crate::Ranked) policy.
pub struct RankedPlan<'a, P, R: Ranking> {
    child: P,
    board: &'a Board<R>,
    call: Call<'a>,
    random: u64,
    open: Open,
    /// Those of the tier that are held back, which come last in it.
    held: Stash,
    /// The tier that is gone through.
    tier: Option<Tier>,
    /// The first node of the next one.
    next_tier: Option<Candidate>,
    child_ended: bool,
    begun: bool,
    /// Whether the slow nodes of the tier have been held back.
    sifted: bool,
}

/// Nodes of one tier that were not named yet, in no order.
#[derive(Clone, Copy, Default)]
struct Open {
    nodes: [Candidate; AHEAD],
    count: usize,
}

impl Open {
    fn push(&mut self, candidate: Candidate) {
        self.nodes[self.count] = candidate;
        self.count += 1;
    }

    fn nodes(&self) -> &[Candidate] {
        &self.nodes[..self.count]
    }

    fn take(&mut self, index: usize) -> Candidate {
        self.count -= 1;
        self.nodes.swap(index, self.count);
        self.nodes[self.count]
    }
}

impl<P: Clone, R: Ranking> Clone for RankedPlan<'_, P, R> {
    fn clone(&self) -> Self {
        Self {
            child: self.child.clone(),
            board: self.board,
            call: self.call,
            random: self.random,
            open: self.open,
            held: self.held.clone(),
            tier: self.tier,
            next_tier: self.next_tier,
            child_ended: self.child_ended,
            begun: self.begun,
            sifted: self.sifted,
        }
    }
}

impl<'a, P: Plan, R: Ranking> RankedPlan<'a, P, R> {
    #[inline]
    pub(super) fn new(child: P, board: &'a Board<R>, call: Call<'a>) -> Self {
        Self {
            child,
            board,
            call,
            random: board.dice.roll(),
            open: Open::default(),
            held: Stash::default(),
            tier: None,
            next_tier: None,
            child_ended: false,
            begun: call.is_continued(),
            sifted: false,
        }
    }

    /// Takes in what the child has of this tier, as far as it is looked at. Returns a node that is a
    /// probe: that one has to be used.
    #[inline]
    fn look_ahead(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate> {
        let is_first = turn.is_first(self.begun);
        let mut child_turn = turn.for_child(self.begun);
        while self.open.count < AHEAD && self.next_tier.is_none() && !self.child_ended {
            let Some(candidate) = self.child.advance(now, child_turn) else {
                self.child_ended = true;
                break;
            };
            // One probe of the child's is enough.
            if child_turn != Turn::Rehearsal {
                child_turn = Turn::Later;
            }
            if self.tier.is_some_and(|tier| tier != candidate.tier) {
                self.next_tier = Some(candidate);
                break;
            }
            let probe = self.admit(candidate, now, is_first, turn == Turn::Rehearsal);
            if probe.is_some() {
                return probe;
            }
        }
        None
    }

    #[inline]
    fn admit(
        &mut self,
        candidate: Candidate,
        now: Timestamp,
        is_first: bool,
        is_rehearsal: bool,
    ) -> Option<Candidate> {
        self.tier = Some(candidate.tier);
        let asked = Asked {
            call: &self.call,
            now,
            random: self.random,
            is_first,
            is_rehearsal,
        };
        let candidate = self.board.judged(&asked, candidate);
        if candidate.standing == Standing::Probe {
            return Some(candidate);
        }
        if candidate.standing.is_held_back() {
            self.held.push(candidate);
        } else {
            self.open.push(candidate);
        }
        None
    }

    /// Holds back those that are slow, if there are more than two nodes and fewer than half of them
    /// are. Once a tier.
    fn sift(&mut self, now: Timestamp) {
        if !R::JUDGES_SPEED || std::mem::replace(&mut self.sifted, true) || self.open.count <= 2 {
            return;
        }
        let is_slow = |candidate: &Candidate| self.board.is_slow(candidate.node, now);
        let slow = self
            .open
            .nodes()
            .iter()
            .filter(|node| is_slow(node))
            .count();
        if slow == 0 || slow * 2 >= self.open.count {
            return;
        }
        let mut index = 0;
        while let Some(&candidate) = self.open.nodes().get(index) {
            if self.board.is_slow(candidate.node, now) {
                self.open.take(index);
                self.held.push(Candidate {
                    standing: Standing::Penalised,
                    ..candidate
                });
            } else {
                index += 1;
            }
        }
    }

    /// Draws as many nodes as are compared, and takes the one of them with the lowest cost; of those that
    /// are not told from each other, the one that was drawn first.
    #[inline]
    fn choose(&mut self, now: Timestamp) -> Candidate {
        let count = self.open.count;
        let drawn = self.board.choices.min(count);
        let mut best = 0;
        let mut lowest: Option<Cost> = None;
        let distinction = self.board.ranking.distinction();
        for place in 0..drawn {
            // The last one that is left needs no lot.
            if place + 1 < count {
                self.random = dice::reroll(self.random);
                let lot = dice::below(self.random, (count - place) as u64);
                // Less than the count.
                let lot = usize::try_from(lot).unwrap_or_default();
                self.open.nodes.swap(place, place + lot);
            }
            if drawn == 1 {
                break;
            }
            let cost = self.board.cost(self.open.nodes[place].node, now);
            if lowest.is_none_or(|lowest| cost.is_below(distinction, lowest)) {
                (best, lowest) = (place, Some(cost));
            }
        }
        self.open.take(best)
    }
}

impl<P: Plan, R: Ranking> Plan for RankedPlan<'_, P, R> {
    #[inline]
    fn advance(&mut self, now: Timestamp, turn: Turn) -> Option<Candidate> {
        let found = loop {
            if let Some(probe) = self.look_ahead(now, turn) {
                break Some(probe);
            }
            self.sift(now);
            if self.open.count > 0 {
                break Some(self.choose(now));
            }
            if let Some(held) = self.held.pop() {
                break Some(held);
            }
            let Some(next) = self.next_tier.take() else {
                break None;
            };
            self.sifted = false;
            let is_first = turn.is_first(self.begun);
            let probe = self.admit(next, now, is_first, turn == Turn::Rehearsal);
            if probe.is_some() {
                break probe;
            }
        };
        self.begun = true;
        found
    }

    fn report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
        report::of(self.board, node, now).or_else(|| self.child.report(node, now))
    }
}
