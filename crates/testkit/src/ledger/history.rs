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
    start: Moment,
    end: Moment,
    /// Whether it was surely executed.
    is_confirmed: bool,
    /// Whether nobody waits for its result any more.
    is_abandoned: bool,
    /// Whether it may have left its value behind.
    stores: bool,
    /// Whether it may have left nothing behind.
    removes: bool,
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
    /// A write begins that may leave its value behind, or nothing, or either.
    pub(super) fn begin(&mut self, start: Moment, stores: bool, removes: bool) {
        self.writes.push(Write {
            start,
            end: OPEN,
            is_confirmed: false,
            is_abandoned: false,
            stores,
            removes,
        });
    }

    pub(super) fn end(&mut self, start: Moment, end: Moment, outcome: Outcome) {
        let writes = self.writes.iter_mut();
        if let Some(write) = writes.rev().find(|write| write.start == start) {
            write.end = end;
            match outcome {
                Outcome::Confirmed => (write.is_confirmed, write.removes) = (true, !write.stores),
                Outcome::Refused => (write.stores, write.removes) = (false, true),
                Outcome::NotExecuted => (write.stores, write.removes) = (false, false),
            }
        }
        self.forget(end);
    }

    /// The result of a write will never be known.
    pub(super) fn abandon(&mut self, start: Moment) {
        let writes = self.writes.iter_mut();
        if let Some(write) = writes.rev().find(|write| write.start == start) {
            write.is_abandoned = true;
        }
    }

    /// Nothing that was abandoned before may be executed any more.
    pub(super) fn settle(&mut self, now: Moment) {
        let writes = self.writes.iter_mut();
        let late = writes.filter(|write| write.is_abandoned && write.end == OPEN);
        late.for_each(|write| write.end = now);
        self.forget(now);
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
        match found {
            Some(write) if !write.stores => Known::NotExecuted,
            Some(write) if write.may_follow(floor) => Known::Possible,
            Some(_) => Known::Stale,
            None if version < self.forgotten => Known::Stale,
            None => Known::NeverWritten,
        }
    }

    /// Whether a read with this floor may have seen nothing.
    pub(super) fn may_miss(&self, floor: Option<Moment>) -> bool {
        let mut removals = self.writes.iter().filter(|write| write.removes);
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
