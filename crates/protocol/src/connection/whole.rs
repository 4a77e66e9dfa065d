//! Replies to reads that have come whole, which most do: values and end lines in one pass.
//!
//! The input may end anywhere, so [`Reader`](super::reader::Reader) finds the end of a line before
//! it looks at what is in it, and remembers the line of a value until all of the data is there. For
//! a small value that is most of the work. Here a value is read against the key that is next to be
//! answered, from its first byte to its last. Whatever is not exactly that, good or bad, is left
//! where it is for the reader, which waits for the rest of it or says what is wrong.

use bytes::Bytes;

use super::input::{Input, LINE_END};
use crate::encode::outbox::Outbox;
use crate::parse::{Expected, ValueNumbers};
use crate::pending::{Command, Pending};
use crate::{Limits, Reply, Value};

/// What ends the reply to a read.
const END: &[u8] = b"END\r\n";

/// Reads the small values and the end lines that the input begins with, as far as they answer the
/// reads that are next, and answers those; false if there is nothing of the kind.
#[inline]
pub(super) fn read_whole<T>(
    asked: &mut Outbox<T>,
    input: &mut Input<'_>,
    sink: &mut impl FnMut(T, Reply),
) -> bool {
    let limits = *asked.limits();
    let taken = asked.output().taken();
    let pending = asked.pending_mut();
    let mut rest = input.rest();
    let before = rest.len();
    while let Some(&Command {
        start,
        expected: Expected::Values { cas },
        ..
    }) = pending.front()
        && start < taken
    {
        while let Some(hit) = Hit::parse(rest, cas, pending, &limits) {
            let value = Value {
                data: Bytes::copy_from_slice(hit.data),
                flags: hit.numbers.flags,
                cas: hit.numbers.cas,
            };
            rest = hit.behind;
            pending.answer_keys(hit.misses, &Reply::Miss, sink);
            pending.answer_key(Reply::Value(value), sink);
        }
        match rest.strip_prefix(END) {
            Some(behind) if END.len() <= limits.max_line => rest = behind,
            _ => break,
        }
        pending.answer_rest(Reply::Miss, sink);
    }
    let read = before - rest.len();
    input.skip(read);
    read > 0
}

/// A small value that has come whole and answers the front command.
struct Hit<'a> {
    /// How many keys that wait were asked before its own.
    misses: u32,
    numbers: ValueNumbers,
    data: &'a [u8],
    /// What follows its line end.
    behind: &'a [u8],
}

impl<'a> Hit<'a> {
    /// Parses what the input begins with; `None` leaves it to the reader.
    #[inline]
    fn parse<T>(
        input: &'a [u8],
        has_cas: bool,
        pending: &Pending<T>,
        limits: &Limits,
    ) -> Option<Self> {
        let fields = input.strip_prefix(b"VALUE ")?;
        let (misses, key) = pending
            .find_key(|key| fields.starts_with(key) && fields.get(key.len()) == Some(&b' '))?;
        let (numbers, fields) = ValueNumbers::split(&fields[key.len()..], has_cas)?;
        let behind = fields.strip_prefix(LINE_END)?;
        let length = usize::try_from(numbers.length).ok()?;
        let fits = input.len() - behind.len() <= limits.max_line
            && length < limits.copy_below
            && length <= limits.value_size();
        let (data, behind) = behind.split_at_checked(length).filter(|_| fits)?;
        Some(Self {
            misses,
            numbers,
            data,
            behind: behind.strip_prefix(LINE_END)?,
        })
    }
}
