//! How requests are spelled on the wire.

use bytes::Bytes;
use itoa::Integer;

use super::output::Output;
use crate::error::{Problem, RequestError};
use crate::meta::{self, Argument};
use crate::parse::Expected;
use crate::pending::Pending;
use crate::{Expiry, Key, Limits, ReadKind, Request};

/// The longest delay of a flush that memcached takes for a delay, in seconds.
const MAX_FLUSH_DELAY: u32 = 60 * 60 * 24 * 30;

/// Checks what the types of a request leave open.
pub(crate) fn check(request: &Request<'_>, limits: &Limits) -> Result<(), RequestError> {
    match *request {
        Request::Store { data, .. }
        | Request::Cas { data, .. }
        | Request::Meta(meta::Command::Set(meta::Set { data, .. })) => {
            let max = limits.value_size();
            if data.len() > max {
                return Err(Problem::ValueTooLarge {
                    len: data.len(),
                    max,
                }
                .into());
            }
        }
        Request::FlushAll { delay: Some(delay) } if delay > MAX_FLUSH_DELAY => {
            return Err(Problem::DelayTooLong { delay }.into());
        }
        _ => {}
    }
    Ok(())
}

/// What a request says: a read is one more key for a line, anything else a command of its own.
pub(crate) enum Form<'a> {
    Read(ReadKind, Key<'a>),
    Command(Expected),
}

impl<'a> Form<'a> {
    #[inline]
    pub(crate) fn of(request: &Request<'a>) -> Self {
        match *request {
            Request::Get { key, cas: false } => Self::Read(ReadKind::Get, key),
            Request::Get { key, cas: true } => Self::Read(ReadKind::Gets, key),
            Request::GetAndTouch {
                key,
                expiry,
                cas: false,
            } => Self::Read(ReadKind::GetAndTouch(expiry), key),
            Request::GetAndTouch {
                key,
                expiry,
                cas: true,
            } => Self::Read(ReadKind::GetsAndTouch(expiry), key),
            Request::Store { .. } => Self::Command(Expected::Stored),
            Request::Cas { .. } => Self::Command(Expected::Swapped),
            Request::Increment { .. } | Request::Decrement { .. } => {
                Self::Command(Expected::Number)
            }
            Request::Touch { .. } => Self::Command(Expected::Touched),
            Request::Delete { .. } => Self::Command(Expected::Deleted),
            Request::FlushAll { .. }
            | Request::Verbosity { .. }
            | Request::CacheMemlimit { .. } => Self::Command(Expected::Done),
            Request::Version => Self::Command(Expected::Version),
            Request::Stats { .. } => Self::Command(Expected::Stats),
            Request::ClusterConfig => Self::Command(Expected::Config),
            Request::Meta(ref command) => Self::Command(Expected::Meta(command.kind())),
        }
    }
}

/// Writes a request that is not a read.
pub(crate) fn write_command(request: &Request<'_>, output: &mut Output) {
    output.put(request.command().as_bytes());
    match *request {
        Request::Store {
            key,
            flags,
            expiry,
            data,
            ..
        } => {
            write_key(key, output);
            write_store(flags, expiry, None, data, output);
        }
        Request::Cas {
            key,
            flags,
            expiry,
            cas,
            data,
        } => {
            write_key(key, output);
            write_store(flags, expiry, Some(cas), data, output);
        }
        Request::Increment { key, delta } | Request::Decrement { key, delta } => {
            write_key(key, output);
            write_number(delta, output);
        }
        Request::Touch { key, expiry } => {
            write_key(key, output);
            write_number(expiry.wire(), output);
        }
        Request::Get { key, .. } | Request::GetAndTouch { key, .. } | Request::Delete { key } => {
            write_key(key, output);
        }
        Request::FlushAll {
            delay: Some(seconds),
        } => write_number(seconds, output),
        Request::Stats { args: Some(args) } => {
            output.put(b" ");
            output.put(args.as_bytes());
        }
        Request::Meta(ref command) => write_meta(command, output),
        Request::Verbosity { level } => write_number(level, output),
        Request::CacheMemlimit { megabytes } => write_number(megabytes, output),
        Request::FlushAll { delay: None }
        | Request::Version
        | Request::Stats { args: None }
        | Request::ClusterConfig => {}
    }
    output.put(b"\r\n");
}

/// Writes a line of reads up to where its keys follow, and returns how many bytes that took.
pub(crate) fn write_read(kind: ReadKind, output: &mut Output) -> usize {
    let before = output.end();
    output.put(kind.command().as_bytes());
    if let ReadKind::GetAndTouch(expiry) | ReadKind::GetsAndTouch(expiry) = kind {
        write_number(expiry.wire(), output);
    }
    usize::try_from(output.end() - before).expect("a command name and a number are a few bytes")
}

/// Writes a key with the space before it.
#[inline]
pub(crate) fn write_key(key: Key<'_>, output: &mut Output) {
    output.put(b" ");
    output.put(key.as_bytes());
}

fn write_store(flags: u32, expiry: Expiry, cas: Option<u64>, data: &Bytes, output: &mut Output) {
    write_number(flags, output);
    write_number(expiry.wire(), output);
    write_number(data.len(), output);
    if let Some(cas) = cas {
        write_number(cas, output);
    }
    output.put(b"\r\n");
    output.put_value(data);
}

fn write_number(number: impl Integer, output: &mut Output) {
    output.put(b" ");
    output.put(itoa::Buffer::new().format(number).as_bytes());
}

/// Writes what follows the name of a meta command. Kept apart from the classic ones, whose code is
/// shorter for it.
#[inline(never)]
fn write_meta(command: &meta::Command<'_>, output: &mut Output) {
    if let Some(key) = command.key() {
        output.put(b" ");
        key.with_wire(|key| output.put(key));
    }
    let data = match command {
        meta::Command::Set(set) => Some(set.data),
        _ => None,
    };
    if let Some(data) = data {
        write_number(data.len(), output);
    }
    command.for_each_flag(&mut |letter, argument| {
        output.put(&[b' ', letter]);
        let mut digits = itoa::Buffer::new();
        match argument {
            Argument::None => {}
            Argument::Letter(letter) => output.put(&[letter]),
            Argument::Number(number) => output.put(digits.format(number).as_bytes()),
            Argument::Time(time) => output.put(digits.format(time.wire()).as_bytes()),
        }
    });
    if let Some(data) = data {
        output.put(b"\r\n");
        output.put_value(data);
    }
}

/// Notes what the reply to a meta command has to bear: the key, the opaque number.
#[inline(never)]
pub(crate) fn note_echoes<T>(command: &meta::Command<'_>, pending: &mut Pending<T>) {
    let key = command.key().map(meta::MetaKey::as_bytes);
    if let (meta::Command::Inspect(_), Some(key)) = (command, key) {
        pending.push_echo(b'k', key);
    }
    command.for_each_flag(&mut |letter, argument| match (letter, argument) {
        (b'k', _) => pending.push_echo(b'k', key.unwrap_or_default()),
        (b'O', Argument::Number(number)) => {
            pending.push_echo(b'O', itoa::Buffer::new().format(number).as_bytes());
        }
        _ => {}
    });
}
