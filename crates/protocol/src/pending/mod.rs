//! What has been asked and not yet been answered, in the order in which answers come.
//!
//! Three queues run side by side so that a request costs no allocation of its own: commands (one
//! for each command line), slots (one for each request that somebody waits for) and the keys of
//! reads, one after the other in one buffer.

mod keys;
mod slots;

use std::collections::VecDeque;

use self::keys::Keys;
use self::slots::Slots;
use crate::parse::Expected;
use crate::{Key, Reply, Unanswered};

/// A command line that has been encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    /// Where its first byte is in the output stream.
    pub(crate) start: u64,
    pub(crate) expected: Expected,
    /// How many of its keys wait for their answer; of a meta command, how many words its reply is
    /// compared with.
    pub(crate) keys: u32,
    /// Nobody waits for the reply, so it has no slot.
    pub(crate) quiet: bool,
}

/// The queues. Replies complete them at the front, new requests join at the back.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    commands: VecDeque<Command>,
    slots: Slots<T>,
    /// The keys of the reads in `commands`, and what the replies to meta commands have to bear.
    keys: Keys,
    quiet: usize,
}

impl<T> Pending<T> {
    pub(crate) fn new() -> Self {
        Self {
            commands: VecDeque::new(),
            slots: Slots::new(),
            keys: Keys::default(),
            quiet: 0,
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
            Some(token) => self.slots.push(token),
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
        self.slots.push(token);
    }

    /// Adds a word that the reply to the last command, a meta command, has to bear behind this
    /// letter if it bears any.
    pub(crate) fn push_echo(&mut self, letter: u8, word: &[u8]) {
        self.keys.push_marked(letter, word);
        if let Some(command) = self.commands.back_mut() {
            command.keys += 1;
        }
    }

    /// Adds a request for a key that the last command has already, for the slot `earlier`, the
    /// last one of that key.
    pub(crate) fn push_linked(&mut self, earlier: u64, token: T) {
        self.slots.push_linked(earlier, token);
    }

    /// The number that the next slot will have.
    pub(crate) fn end_slot(&self) -> u64 {
        self.slots.end()
    }

    /// Takes the token out of a slot, which keeps its place.
    pub(crate) fn cancel(&mut self, slot: u64) -> Option<T> {
        self.slots.cancel(slot)
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
        self.slots.tokens()
    }

    /// The same, to be changed.
    pub(crate) fn tokens_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.tokens_mut()
    }

    /// How many requests are not answered yet, those cancelled or quiet included.
    pub(crate) fn len(&self) -> usize {
        self.slots.waiting() + self.quiet
    }

    /// How many quiet requests are not answered yet.
    pub(crate) fn quiet(&self) -> usize {
        self.quiet
    }

    /// Finds a key that the front command waits for, and how many of its keys come before it.
    pub(crate) fn find_key(&self, matches: impl Fn(&[u8]) -> bool) -> Option<(u32, &[u8])> {
        let waiting = self.front()?.keys;
        (0..waiting)
            .zip(self.keys.iter())
            .find(|(_, key)| matches(key))
    }

    /// The key that the front command waits for next.
    pub(crate) fn next_key(&self) -> Option<&[u8]> {
        let waits = self.front()?.keys > 0;
        self.keys.iter().next().filter(|_| waits)
    }

    /// The word that the reply to the front command, a meta command, has to bear behind this letter
    /// if it bears any.
    pub(crate) fn echo(&self, letter: u8) -> Option<&[u8]> {
        let count = self.front()?.keys as usize;
        let mut words = self.keys.iter().take(count);
        words.find_map(|word| word.strip_prefix(&[letter]))
    }

    /// Answers the next key of the front command.
    pub(crate) fn answer_key(&mut self, reply: Reply, sink: &mut impl FnMut(T, Reply)) {
        if let Some(command) = self.commands.front_mut() {
            command.keys -= 1;
        }
        self.keys.pop();
        self.slots.answer(reply, sink);
    }

    /// Answers so many of the next keys of the front command alike.
    pub(crate) fn answer_keys(
        &mut self,
        count: u32,
        reply: &Reply,
        sink: &mut impl FnMut(T, Reply),
    ) {
        for _ in 0..count {
            self.answer_key(reply.clone(), sink);
        }
    }

    /// Answers what the front command still waits for, and ends it.
    #[inline]
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
        if let Expected::Values { .. } = expected {
            self.answer_keys(keys, &reply, sink);
        } else {
            for _ in 0..keys {
                self.keys.pop();
            }
            if quiet {
                self.quiet -= 1;
            } else {
                self.slots.answer(reply, sink);
            }
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
        self.quiet += other.quiet;
        other.clear();
    }

    /// Empties the queues and hands out the tokens; a command was written, at least in part, if
    /// it starts before `taken`.
    pub(crate) fn drain(&mut self, taken: u64, sink: &mut impl FnMut(T, Unanswered)) {
        let mut slots = self.slots.drain().peekable();
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
        self.keys.clear();
        self.quiet = 0;
    }
}
