//! Turns of a call with many keys: after each, others have theirs, and the call's time-out is looked at.

/// How many nodes are looked at in one turn: some tenths of a millisecond's work.
///
/// A placement looks at every node to find the owner of a key, or, with a table, of the first key that
/// falls into a slot. Of 10,000 nodes that takes 9 µs a key.
const LOOKS: usize = 1 << 18;

/// What a key costs apart from that, in looks.
const KEY: usize = 128;

/// What is left of the present turn of a call.
pub(crate) struct Turn {
    looks: usize,
}

impl Turn {
    pub(crate) fn new() -> Self {
        Self { looks: LOOKS }
    }

    /// Counts a key that is about to be steered to one of so many nodes; says whether others are to have
    /// their turn before.
    pub(crate) fn is_over(&mut self, nodes: usize) -> bool {
        let left = self.looks.checked_sub(KEY + nodes);
        self.looks = left.unwrap_or(LOOKS);
        left.is_none()
    }
}
