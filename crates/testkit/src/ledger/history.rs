//! What is known of one key at one node: its writes, as spans of time in which they were executed.
//!
//! A write was executed at some moment between its beginning and its end. One whose end is not known may
//! be executed at any later moment. So an execution surely comes after another one if its span begins
//! behind the other's end, and that is all that is ever concluded here. The **floor** of a read is the
//! confirmed write that began last among those that ended before the read began: whatever ended before the
//! floor began was overwritten when the read began.

/// A moment; every event has one of its own.
pub(super) type Moment = u64;

/// A write that may yet be executed.
const OPEN: Moment = Moment::MAX;

/// What a write leaves behind if it is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Its value.
    Value,
    /// Nothing.
    Removed,
    /// What was there, or nothing: memcached drops what it cannot replace.
    Refused,
    /// It was not executed.
    None,
}

/// How a write ended, if that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Confirmed,
    Refused,
    NotExecuted,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Write {
    /// When it began; that is its version too.
    pub(super) start: Moment,
    pub(super) end: Moment,
    pub(super) effect: Effect,
    /// Whether it was surely executed.
    is_confirmed: bool,
}

impl Write {
    fn may_follow(&self, floor: Option<Moment>) -> bool {
        floor.is_none_or(|floor| self.end >= floor)
    }
}

/// What a value's version says to the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Possible,
    Stale,
    NotExecuted,
    NeverWritten,
}

#[derive(Debug, Default)]
pub(super) struct History {
    writes: Vec<Write>,
    /// When the reads that are under way began, in no order.
    reads: Vec<Moment>,
    /// Everything that was surely overwritten before this moment is forgotten.
    forgotten: Moment,
}

impl History {
    pub(super) fn begin(&mut self, start: Moment, effect: Effect) {
        self.writes.push(Write {
            start,
            end: OPEN,
            effect,
            is_confirmed: false,
        });
    }

    pub(super) fn end(&mut self, start: Moment, end: Moment, outcome: Outcome) {
        let writes = self.writes.iter_mut();
        if let Some(write) = writes.rev().find(|write| write.start == start) {
            match outcome {
                Outcome::Confirmed => (write.end, write.is_confirmed) = (end, true),
                Outcome::Refused => (write.end, write.effect) = (end, Effect::Refused),
                Outcome::NotExecuted => (write.end, write.effect) = (end, Effect::None),
            }
        }
        self.forget(end);
    }

    /// Nothing that began before may be executed any more.
    pub(super) fn settle(&mut self, now: Moment) {
        let open = self.writes.iter_mut().filter(|write| write.end == OPEN);
        open.for_each(|write| write.end = now);
    }

    pub(super) fn begin_read(&mut self, start: Moment) {
        self.reads.push(start);
    }

    pub(super) fn end_read(&mut self, start: Moment) {
        if let Some(at) = self.reads.iter().position(|read| *read == start) {
            self.reads.swap_remove(at);
        }
    }

    /// The floor of a read that began then.
    pub(super) fn floor(&self, read: Moment) -> Option<Moment> {
        let ended = self.writes.iter().filter(|write| write.end <= read);
        let confirmed = ended.filter(|write| write.is_confirmed);
        confirmed.map(|write| write.start).max()
    }

    /// Whether a read with this floor may have seen this version.
    pub(super) fn judge(&self, version: Moment, floor: Option<Moment>) -> Known {
        let found = self.writes.iter().find(|write| write.start == version);
        match found.map(|write| (write.effect, write.may_follow(floor))) {
            Some((Effect::Value, true)) => Known::Possible,
            Some((Effect::Value, false)) => Known::Stale,
            Some((Effect::None | Effect::Refused, _)) => Known::NotExecuted,
            None if version < self.forgotten => Known::Stale,
            Some((Effect::Removed, _)) | None => Known::NeverWritten,
        }
    }

    /// Whether a read with this floor may have seen nothing.
    pub(super) fn may_miss(&self, floor: Option<Moment>) -> bool {
        let mut removals = self
            .writes
            .iter()
            .filter(|write| matches!(write.effect, Effect::Removed | Effect::Refused));
        floor.is_none() || removals.any(|write| write.may_follow(floor))
    }

    /// Those that began last, for the story of a violation.
    pub(super) fn last(&self, count: usize) -> impl Iterator<Item = &Write> {
        self.writes[self.writes.len().saturating_sub(count)..].iter()
    }

    /// Forgets what no read can see any more, neither one under way nor a later one.
    fn forget(&mut self, now: Moment) {
        let first = self.reads.iter().copied().min().unwrap_or(now);
        let Some(floor) = self.floor(first) else {
            return;
        };
        self.writes.retain(|write| write.end >= floor);
        self.forgotten = self.forgotten.max(floor);
    }
}
