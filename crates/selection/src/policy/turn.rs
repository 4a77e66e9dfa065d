//! For what purpose a plan is asked.

/// For what purpose a plan is asked for its next node.
///
/// Only a request's first attempt is used as a probe of a penalised node: a request that has
/// already failed once should not wait for a slow node. A plan counts by itself, but a policy that
/// picks from its child's plan knows better than the child what comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The node is for the next attempt; whether it is the first, the plan knows.
    Next,
    /// The node is for the first attempt.
    First,
    /// The node is for a later attempt.
    Later,
    /// The node is for no attempt: nothing may change by the question.
    Rehearsal,
}

impl Turn {
    /// Whether the attempt is the first, for a plan that has or has not begun.
    #[inline]
    pub fn is_first(self, begun: bool) -> bool {
        match self {
            Self::Next => !begun,
            Self::First => true,
            Self::Later | Self::Rehearsal => false,
        }
    }

    /// The turn by which a plan that has or has not begun asks its child.
    #[inline]
    pub fn for_child(self, begun: bool) -> Self {
        match self {
            Self::Next if begun => Self::Later,
            Self::Next => Self::First,
            turn => turn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Turn;

    #[test]
    fn only_a_plan_that_has_not_begun_is_at_its_first_attempt() {
        assert!(Turn::Next.is_first(false) && !Turn::Next.is_first(true));
        assert!(Turn::First.is_first(true) && Turn::First.is_first(false));
        assert!(!Turn::Later.is_first(false) && !Turn::Rehearsal.is_first(false));
        for begun in [false, true] {
            for turn in [Turn::Next, Turn::First, Turn::Later, Turn::Rehearsal] {
                let child = turn.for_child(begun);
                assert_eq!(child.is_first(true), turn.is_first(begun), "{turn:?}");
                assert_eq!(child == Turn::Rehearsal, turn == Turn::Rehearsal);
            }
        }
    }
}
