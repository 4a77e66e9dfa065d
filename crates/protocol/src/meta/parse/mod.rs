//! Reading the line of a reply to a meta command.

use bytes::Bytes;

use super::key::decode;
use super::{Item, Kind, Reply, Status, Ttl};
use crate::parse::split_number;

/// The line of a reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MetaLine {
    pub(crate) reply: Reply,
    /// The declared length of the value that follows, if one does.
    pub(crate) length: Option<u64>,
}

/// Why a line is no reply to the command next in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// It is none to a command of this kind.
    Line,
    /// It bears another opaque number or key than was sent, so it belongs to another command.
    Echo,
}

impl MetaLine {
    /// Parses a line without its end; `sent` is what a flag, `k` or `O`, was sent with, if it was
    /// sent: the bytes of the key, the digits of the number.
    pub(crate) fn parse<'s>(
        kind: Kind,
        line: &[u8],
        sent: impl Fn(u8) -> Option<&'s [u8]>,
    ) -> Result<Self, Mismatch> {
        // memcached before 1.6.18 has a space too many behind some words.
        let mut words = line
            .split(|&byte| byte == b' ')
            .filter(|word| !word.is_empty());
        let word = words.next().ok_or(Mismatch::Line)?;
        let status = status(kind, word).ok_or(Mismatch::Line)?;
        let mut reply = Reply::new(status);
        let mut length = None;
        match status {
            Status::Value => {
                let word = words.next().ok_or(Mismatch::Line)?;
                length = Some(whole_number(word).ok_or(Mismatch::Line)?);
            }
            Status::Item => {
                let key = words.next().ok_or(Mismatch::Line)?;
                let sent = sent(b'k').ok_or(Mismatch::Line)?;
                if key != sent && decode(key).is_none_or(|key| key != sent) {
                    return Err(Mismatch::Echo);
                }
                reply.key = Some(Bytes::copy_from_slice(sent));
                reply.item = Some(item(words).ok_or(Mismatch::Line)?);
                return Ok(Self { reply, length });
            }
            _ => {}
        }
        read_flags(words, &mut reply)?;
        check_echoes(kind, &reply, sent)?;
        Ok(Self { reply, length })
    }
}

/// The status that a word means for a command of this kind.
fn status(kind: Kind, word: &[u8]) -> Option<Status> {
    let reads = matches!(kind, Kind::Get | Kind::GetValue);
    let changes = matches!(
        kind,
        Kind::Set | Kind::Delete | Kind::Arithmetic | Kind::ArithmeticValue
    );
    let status = match word {
        // The word was OK at first.
        b"HD" | b"OK" if reads || changes => Status::Done,
        b"VA" if matches!(kind, Kind::GetValue | Kind::ArithmeticValue) => Status::Value,
        b"EN" if reads || kind == Kind::Inspect => Status::Miss,
        b"NF" | b"EX" if !changes => return None,
        b"NF" => Status::NotFound,
        b"EX" => Status::Exists,
        b"NS" if changes && kind != Kind::Delete => Status::NotStored,
        b"ME" if kind == Kind::Inspect => Status::Item,
        b"MN" if kind == Kind::Noop => Status::Noop,
        _ => return None,
    };
    Some(status)
}

/// Reads the flags, each of which may come once.
fn read_flags<'l>(
    words: impl Iterator<Item = &'l [u8]>,
    reply: &mut Reply,
) -> Result<(), Mismatch> {
    let mut seen = 0_u128;
    let mut key = None;
    let mut in_base64 = false;
    for word in words {
        let (&letter, text) = word.split_first().ok_or(Mismatch::Line)?;
        let bit = 1_u128.checked_shl(letter.into()).unwrap_or_default();
        if bit == 0 || seen & bit != 0 {
            return Err(Mismatch::Line);
        }
        seen |= bit;
        match letter {
            b'k' => key = Some(text),
            b'b' => in_base64 = text.is_empty(),
            _ => read_flag(letter, text, reply).ok_or(Mismatch::Line)?,
        }
    }
    reply.key = match key {
        Some(encoded) if in_base64 => Some(decode(encoded).ok_or(Mismatch::Line)?.into()),
        plain => plain.map(Bytes::copy_from_slice),
    };
    Ok(())
}

fn read_flag(letter: u8, text: &[u8], reply: &mut Reply) -> Option<()> {
    let narrow = || u32::try_from(whole_number(text)?).ok();
    match (letter, text) {
        (b'c', _) => reply.cas = Some(whole_number(text)?),
        (b'f', _) => reply.client_flags = Some(narrow()?),
        (b't', b"-1") => reply.ttl = Some(Ttl::Never),
        (b't', _) => reply.ttl = Some(seconds_left(narrow()?)),
        (b's', _) => reply.size = Some(whole_number(text)?),
        (b'h', b"0" | b"1") => reply.hit_before = Some(text == b"1"),
        (b'l', _) => reply.last_access = Some(narrow()?),
        (b'O', _) => reply.opaque = Some(narrow()?),
        (b'W', b"") => reply.won = true,
        (b'X', b"") => reply.stale = true,
        (b'Z', b"") => reply.recaching = true,
        _ => return None,
    }
    Some(())
}

/// What comes back must be what was sent. It may be left out, as older servers do in a miss, but not
/// where an item was read: that one would be nobody's.
fn check_echoes<'s>(
    kind: Kind,
    reply: &Reply,
    sent: impl Fn(u8) -> Option<&'s [u8]>,
) -> Result<(), Mismatch> {
    let has_read = matches!(kind, Kind::Get | Kind::GetValue) && reply.status != Status::Miss;
    let key = match &reply.key {
        Some(key) => sent(b'k').is_some_and(|sent| sent == key),
        None => !has_read || sent(b'k').is_none(),
    };
    let opaque = match reply.opaque {
        Some(number) => sent(b'O').and_then(whole_number) == Some(number.into()),
        None => !has_read || sent(b'O').is_none(),
    };
    if key && opaque {
        Ok(())
    } else {
        Err(Mismatch::Echo)
    }
}

/// The fields `name=value` of an item; those that are not known are skipped.
fn item<'l>(words: impl Iterator<Item = &'l [u8]>) -> Option<Item> {
    let mut item = Item::default();
    for word in words {
        let equals = memchr::memchr(b'=', word)?;
        let (name, text) = (&word[..equals], &word[equals + 1..]);
        match name {
            b"exp" => item.ttl = Some(expiry(text)?),
            b"la" => item.last_access = Some(whole_number(text)?),
            b"cas" => item.cas = Some(whole_number(text)?),
            b"fetch" => item.fetched = Some(text == b"yes"),
            b"cls" => item.class = Some(u32::try_from(whole_number(text)?).ok()?),
            b"size" => item.size = Some(whole_number(text)?),
            _ => {}
        }
    }
    Some(item)
}

/// How `me` shows the time that an item has left: -1 for no end, else seconds, which count down
/// from below zero in memcached 1.6.18.
fn expiry(text: &[u8]) -> Option<Ttl> {
    if text == b"-1" {
        return Some(Ttl::Never);
    }
    let seconds = whole_number(text.strip_prefix(b"-").unwrap_or(text))?;
    Some(seconds_left(u32::try_from(seconds).ok()?))
}

/// memcached shows a time in the past as a number that has wrapped around.
fn seconds_left(seconds: u32) -> Ttl {
    Ttl::Seconds(if seconds > i32::MAX as u32 {
        0
    } else {
        seconds
    })
}

fn whole_number(text: &[u8]) -> Option<u64> {
    let (number, rest) = split_number(text)?;
    rest.is_empty().then_some(number)
}

#[cfg(test)]
mod tests;
