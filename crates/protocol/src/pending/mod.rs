//! What has been asked and not yet been answered, in the order in which answers come.
//!
//! Three queues run side by side so that a request costs no allocation of its own: commands (one
//! for each command line), slots (one for each request that somebody waits for) and the keys of
//! reads, one after the other in one buffer.

mod keys;

use std::collections::VecDeque;

use self::keys::Keys;
use crate::parse::Expected;
use crate::{Key, Reply, Unanswered};

/// A command line that has been encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    /// Where its first byte is in the output stream.
    pub(crate) start: u64,
    pub(crate) expected: Expected,
    /// How many of its keys wait for their answer; 0 unless it is a read.
    pub(crate) keys: u32,
    /// Nobody waits for the reply, so it has no slot.
    pub(crate) quiet: bool,
}

/// A place for one request's token.
#[derive(Debug)]
struct Slot<T> {
    /// `None` once it is cancelled or answered.
    token: Option<T>,
    /// How many slots further the next request for the same key of the same line is; 0 if there
    /// is none.
    next: u32,
    /// Whether it is answered together with an earlier slot, which links to it.
    linked: bool,
}

/// The queues. Replies complete them at the front, new requests join at the back.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    commands: VecDeque<Command>,
    slots: VecDeque<Slot<T>>,
    /// The number of the first slot; those behind it are numbered on.
    first_slot: u64,
    /// The keys of the reads in `commands`.
    keys: Keys,
    waiting: usize,
    quiet: usize,
    completed: usize,
}

impl<T> Pending<T> {
    pub(crate) fn new() -> Self {
        Self {
            commands: VecDeque::new(),
            slots: VecDeque::new(),
            first_slot: 0,
            keys: Keys::default(),
            waiting: 0,
            quiet: 0,
            completed: 0,
        }
    }

    /// Adds a command that is not a read, with a token or quiet.
    pub(crate) fn push_command(&mut self, start: u64, expected: Expected, token: Option<T>) {
        let quiet = token.is_none();
        self.commands.push_back(Command {
            start,
            expected,
            keys: 0,
            quiet,
        });
        match token {
            Some(token) => self.push_slot(token, false),
            None => self.quiet += 1,
        }
    }

    /// Adds a read without keys; they follow by [`push_key`](Self::push_key).
    pub(crate) fn push_read(&mut self, start: u64, cas: bool) {
        let expected = Expected::Values { cas };
        self.commands.push_back(Command {
            start,
            expected,
            keys: 0,
            quiet: false,
        });
    }

    /// Adds a key to the last command, which is a read.
    pub(crate) fn push_key(&mut self, key: Key<'_>, token: T) {
        self.keys.push(key);
        if let Some(command) = self.commands.back_mut() {
            command.keys += 1;
        }
        self.push_slot(token, false);
    }

    /// Adds a request for a key that the last command has already, for the slot `earlier`, the
    /// last one of that key.
    pub(crate) fn push_linked(&mut self, earlier: u64, token: T) {
        let distance = self.end_slot() - earlier;
        let index = self
            .index(earlier)
            .expect("the slots of an unwritten line are all there");
        self.slots[index].next =
            u32::try_from(distance).expect("a line has fewer requests than that");
        self.push_slot(token, true);
    }

    /// The number that the next slot will have.
    pub(crate) fn end_slot(&self) -> u64 {
        self.first_slot + self.slots.len() as u64
    }

    /// Takes the token out of a slot, which keeps its place.
    pub(crate) fn cancel(&mut self, slot: u64) -> Option<T> {
        let index = self.index(slot)?;
        self.slots.get_mut(index)?.token.take()
    }

    /// The command that is next to be answered.
    pub(crate) fn front(&self) -> Option<&Command> {
        self.commands.front()
    }

    /// Every command, the one next to be answered first.
    pub(crate) fn commands(&self) -> &VecDeque<Command> {
        &self.commands
    }

    /// The tokens that wait for an answer, in order.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| slot.token.as_ref())
    }

    /// The same, to be changed.
    pub(crate) fn tokens_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter_map(|slot| slot.token.as_mut())
    }

    /// How many requests are not answered yet, those cancelled or quiet included.
    pub(crate) fn len(&self) -> usize {
        self.waiting + self.quiet
    }

    /// How many quiet requests are not answered yet.
    pub(crate) fn quiet(&self) -> usize {
        self.quiet
    }

    /// How many requests have been answered, those cancelled or quiet included; wraps.
    pub(crate) fn completed(&self) -> usize {
        self.completed
    }

    /// How many keys of the front command come before `key`, or `None` if it does not wait for
    /// that key.
    pub(crate) fn keys_before(&self, key: &[u8]) -> Option<u32> {
        let waiting = self.front()?.keys;
        (0..waiting)
            .zip(self.keys.iter())
            .find_map(|(before, asked)| (asked == key).then_some(before))
    }

    /// The key that the front command waits for next.
    pub(crate) fn next_key(&self) -> Option<&[u8]> {
        let waits = self.front()?.keys > 0;
        self.keys.iter().next().filter(|_| waits)
    }

    /// Answers the next key of the front command.
    pub(crate) fn answer_key(&mut self, reply: Reply, sink: &mut impl FnMut(T, Reply)) {
        if let Some(command) = self.commands.front_mut() {
            command.keys -= 1;
        }
        self.keys.pop();
        self.answer_slot(reply, sink);
    }

    /// Answers what the front command still waits for, and ends it.
    pub(crate) fn answer_rest(&mut self, reply: Reply, sink: &mut impl FnMut(T, Reply)) {
        let Some(&Command {
            expected,
            keys,
            quiet,
            ..
        }) = self.front()
        else {
            return;
        };
        match expected {
            Expected::Values { .. } => {
                for _ in 0..keys {
                    self.answer_key(reply.clone(), sink);
                }
            }
            _ if quiet => {
                self.quiet -= 1;
                self.completed = self.completed.wrapping_add(1);
            }
            _ => self.answer_slot(reply, sink),
        }
        self.commands.pop_front();
    }

    /// Moves everything from `other` behind what is here; `shift` is how much further its bytes
    /// are in this output stream.
    pub(crate) fn append(&mut self, other: &mut Self, shift: u64) {
        let shifted = |command: Command| Command {
            start: command.start + shift,
            ..command
        };
        self.commands.extend(other.commands.drain(..).map(shifted));
        self.slots.append(&mut other.slots);
        self.keys.append(&mut other.keys);
        self.waiting += other.waiting;
        self.quiet += other.quiet;
        other.clear();
    }

    /// Empties the queues and hands out the tokens; a command was written, at least in part, if
    /// it starts before `taken`.
    pub(crate) fn drain(&mut self, taken: u64, sink: &mut impl FnMut(T, Unanswered)) {
        let mut slots = self.slots.drain(..).peekable();
        for command in &self.commands {
            let unanswered = Unanswered {
                written: command.start < taken,
            };
            let mut own = match command.expected {
                Expected::Values { .. } => command.keys,
                _ => u32::from(!command.quiet),
            };
            while let Some(slot) = slots.next_if(|slot| own > 0 || slot.linked) {
                own -= u32::from(!slot.linked);
                if let Some(token) = slot.token {
                    sink(token, unanswered);
                }
            }
        }
        drop(slots);
        self.clear();
    }

    fn clear(&mut self) {
        self.commands.clear();
        self.slots.clear();
        self.keys.clear();
        self.waiting = 0;
        self.quiet = 0;
    }

    fn index(&self, slot: u64) -> Option<usize> {
        usize::try_from(slot.checked_sub(self.first_slot)?).ok()
    }

    /// Answers the first slot and those linked to it.
    fn answer_slot(&mut self, reply: Reply, sink: &mut impl FnMut(T, Reply)) {
        let Some(mut slot) = self.pop_slot() else {
            return;
        };
        let mut index = 0;
        while slot.next > 0 {
            // The first slot is gone, so what is one further is at index 0.
            index += slot.next as usize;
            let Some(linked) = self.slots.get_mut(index - 1) else {
                break;
            };
            let linked = Slot {
                token: linked.token.take(),
                ..*linked
            };
            self.complete(slot.token, || reply.clone(), sink);
            slot = linked;
        }
        self.complete(slot.token, || reply, sink);
        while self.slots.front().is_some_and(|slot| slot.linked) {
            self.pop_slot();
        }
    }

    fn complete(
        &mut self,
        token: Option<T>,
        reply: impl FnOnce() -> Reply,
        sink: &mut impl FnMut(T, Reply),
    ) {
        self.waiting -= 1;
        self.completed = self.completed.wrapping_add(1);
        if let Some(token) = token {
            sink(token, reply());
        }
    }

    fn pop_slot(&mut self) -> Option<Slot<T>> {
        let slot = self.slots.pop_front()?;
        self.first_slot += 1;
        Some(slot)
    }

    fn push_slot(&mut self, token: T, linked: bool) {
        self.slots.push_back(Slot {
            token: Some(token),
            next: 0,
            linked,
        });
        self.waiting += 1;
    }
}
