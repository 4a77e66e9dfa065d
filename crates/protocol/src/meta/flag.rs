//! The flags of a request: letters, and what stands behind some of them.

use crate::Expiry;

/// What stands behind the letter of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    None,
    Number(u64),
    Time(Expiry),
    Letter(u8),
}

/// A set of flags without arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u32);

impl Flags {
    pub(super) fn with(self, letter: u8) -> Self {
        Self(self.0 | Self::bit(letter))
    }

    pub(super) fn has(self, letter: u8) -> bool {
        self.0 & Self::bit(letter) != 0
    }

    /// Every letter, in the order of the alphabet.
    pub(super) fn iter(self) -> impl Iterator<Item = u8> {
        (b'a'..=b'z').filter(move |&letter| self.has(letter))
    }

    /// Only lower-case letters have no argument, apart from `I`, which has a field of its own.
    fn bit(letter: u8) -> u32 {
        1 << (letter - b'a')
    }
}

/// Hands over a flag with a number, if it is set.
pub(super) fn number(
    letter: u8,
    number: Option<impl Into<u64>>,
    each: &mut impl FnMut(u8, Argument),
) {
    if let Some(number) = number {
        each(letter, Argument::Number(number.into()));
    }
}

/// Hands over a flag with a time, if it is set.
pub(super) fn time(letter: u8, time: Option<Expiry>, each: &mut impl FnMut(u8, Argument)) {
    if let Some(time) = time {
        each(letter, Argument::Time(time));
    }
}
