//! Nodes that are held back until the end of their tier, in order.

use crate::policy::Candidate;

/// A queue; the first 16 nodes of a plan take no allocation.
#[derive(Debug, Clone, Default)]
pub(super) struct Stash {
    inline: [Candidate; INLINE],
    /// How many nodes went in and came out since the queue was last empty.
    pushed: usize,
    popped: usize,
    /// Those that did not fit.
    spilled: Vec<Candidate>,
}

const INLINE: usize = 16;

impl Stash {
    pub(super) fn push(&mut self, candidate: Candidate) {
        match self.inline.get_mut(self.pushed) {
            Some(place) => *place = candidate,
            None => self.spilled.push(candidate),
        }
        self.pushed += 1;
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Candidate> {
        let next = *self.peek()?;
        self.popped += 1;
        if self.popped == self.pushed {
            self.pushed = 0;
            self.popped = 0;
            self.spilled.clear();
        }
        Some(next)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.popped == self.pushed
    }

    /// The node that would come out next.
    #[inline]
    pub(super) fn peek(&self) -> Option<&Candidate> {
        if self.is_empty() {
            return None;
        }
        match self.inline.get(self.popped) {
            Some(next) => Some(next),
            None => self.spilled.get(self.popped - INLINE),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{NodeIndex, Tier};

    proptest! {
        /// Pushes (`Some`) and pops (`None`) give what a queue gives.
        #[test]
        fn it_is_a_queue(steps in prop::collection::vec(prop::option::of(0_usize..1000), 0..120)) {
            let mut stash = Stash::default();
            let mut queue = std::collections::VecDeque::new();
            for step in steps {
                if let Some(index) = step {
                    let candidate = Candidate::new(NodeIndex::try_from(index).unwrap(), Tier::Local);
                    stash.push(candidate);
                    queue.push_back(candidate);
                } else {
                    prop_assert_eq!(stash.peek(), queue.front());
                    prop_assert_eq!(stash.pop(), queue.pop_front());
                }
            }
        }
    }
}
