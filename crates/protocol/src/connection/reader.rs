//! Reading replies: lines and values from the input, checked against what was asked.

use bytes::Bytes;
use memchr::memchr;

use super::input::{Input, LINE_END};
use super::violation::{
    bad_value_end, line_too_long, stats_too_large, unexpected, unexpected_echo, unexpected_key,
    unsolicited, value_too_large,
};
use super::whole::read_whole;
use crate::encode::outbox::Outbox;
use crate::error::ProtocolError;
use crate::meta::{self, Kind, MetaLine, Mismatch};
use crate::parse::{self, Expected, ValueLine, ValueNumbers};
use crate::{Limits, Reply, ServerError, Value};

/// How far the reply in progress has been read.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// How many bytes at the start of the input are known to hold no line end.
    scanned: usize,
    /// The value whose line has been read and whose data has not.
    value: Option<ValueHeader>,
    /// The configuration in a reply to `config get cluster`, until its end line comes.
    config: Option<Value>,
    /// The reply to a meta command whose value has not been read.
    meta: Option<Box<meta::Reply>>,
    /// The items of a reply to `stats`.
    stats: Vec<(Bytes, Bytes)>,
    /// The sum of their lengths.
    stats_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct ValueHeader {
    length: usize,
    flags: u32,
    cas: Option<u64>,
}

impl ValueHeader {
    fn new(numbers: ValueNumbers, limits: &Limits, line: &[u8]) -> Result<Self, ProtocolError> {
        let max = limits.value_size();
        match usize::try_from(numbers.length) {
            Ok(length) if length <= max => Ok(Self {
                length,
                flags: numbers.flags,
                cas: numbers.cas,
            }),
            _ => Err(value_too_large(max, line)),
        }
    }
}

impl Reader {
    /// Reads one line, or the data of one value, or whole replies, and answers what that completes
    /// in `asked`; false if there is nothing complete to read.
    #[inline]
    pub(super) fn read<T>(
        &mut self,
        asked: &mut Outbox<T>,
        input: &mut Input<'_>,
        sink: &mut impl FnMut(T, Reply),
    ) -> Result<bool, ProtocolError> {
        if let Some(header) = self.value {
            return self.read_data(header, asked, input, sink);
        }
        if self.scanned == 0 && read_whole(asked, input, sink) {
            return Ok(true);
        }
        let rest = input.rest();
        if rest.is_empty() {
            return Ok(false);
        }
        let taken = asked.output().taken();
        let Some(command) = asked
            .pending()
            .front()
            .filter(|command| command.start < taken)
        else {
            return Err(unsolicited(rest));
        };
        let expected = command.expected;
        let Some(len) = self.find_line(asked.limits(), expected, rest)? else {
            return Ok(false);
        };
        self.read_line(expected, asked, input.line(len), sink)?;
        Ok(true)
    }

    /// How long the line at the start of the input is without its end, if that has come.
    fn find_line(
        &mut self,
        limits: &Limits,
        expected: Expected,
        input: &[u8],
    ) -> Result<Option<usize>, ProtocolError> {
        let within = &input[..input.len().min(limits.max_line)];
        let unscanned = within.get(self.scanned..).unwrap_or_default();
        let Some(newline) = memchr(b'\n', unscanned) else {
            if input.len() >= limits.max_line {
                return Err(line_too_long(limits, expected, input));
            }
            self.scanned = input.len();
            return Ok(None);
        };
        let newline = std::mem::take(&mut self.scanned) + newline;
        match input[..newline].strip_suffix(b"\r") {
            Some(line) => Ok(Some(line.len())),
            None => Err(unexpected(expected, &input[..=newline])),
        }
    }

    fn read_line<T>(
        &mut self,
        expected: Expected,
        asked: &mut Outbox<T>,
        line: &[u8],
        sink: &mut impl FnMut(T, Reply),
    ) -> Result<(), ProtocolError> {
        if expected == Expected::Stats
            && let Some(item) = parse::parse_stat(line)
        {
            return self.add_stat(item, asked.limits());
        }
        let reply = match (expected, line) {
            (Expected::Values { .. }, b"END") => Reply::Miss,
            (Expected::Values { cas }, [b'V', ..]) => {
                return self.read_value_line(cas, asked, line, sink);
            }
            (Expected::Config, b"END") if self.config.is_some() => {
                self.config.take().map_or(Reply::Miss, Reply::Value)
            }
            (Expected::Config, [b'C', b'O', ..]) if self.config.is_none() => {
                return self.read_config_line(asked.limits(), line);
            }
            (Expected::Stats, b"END") => Reply::Stats(std::mem::take(&mut self.stats)),
            (Expected::Meta(kind), _) => match self.read_meta_line(kind, asked, line)? {
                Some(reply) => reply,
                None => return Ok(()),
            },
            _ => parse::parse_reply(expected, line)
                .or_else(|| ServerError::parse(line).map(Reply::Error))
                .ok_or_else(|| unexpected(expected, line))?,
        };
        self.stats.clear();
        self.stats_bytes = 0;
        self.config = None;
        asked.pending_mut().answer_rest(reply, sink);
        Ok(())
    }

    /// Reads the line before a value. The keys that were asked before this one are misses.
    fn read_value_line<T>(
        &mut self,
        cas: bool,
        asked: &mut Outbox<T>,
        line: &[u8],
        sink: &mut impl FnMut(T, Reply),
    ) -> Result<(), ProtocolError> {
        let expected = Expected::Values { cas };
        let value =
            ValueLine::parse(b"VALUE", line, cas).ok_or_else(|| unexpected(expected, line))?;
        let Some((misses, _)) = asked.pending().find_key(|key| key == value.key) else {
            return Err(unexpected_key(asked.pending().next_key(), line));
        };
        let header = ValueHeader::new(value.numbers, asked.limits(), line)?;
        asked.pending_mut().answer_keys(misses, &Reply::Miss, sink);
        self.value = Some(header);
        Ok(())
    }

    /// Reads the line of a reply to a meta command; none if a value follows, with which it is
    /// answered.
    #[inline(never)]
    fn read_meta_line<T>(
        &mut self,
        kind: Kind,
        asked: &Outbox<T>,
        line: &[u8],
    ) -> Result<Option<Reply>, ProtocolError> {
        if let Some(error) = ServerError::parse(line) {
            return Ok(Some(Reply::Error(error)));
        }
        let sent = |letter| asked.pending().echo(letter);
        let MetaLine { reply, length } =
            MetaLine::parse(kind, line, sent).map_err(|mismatch| match mismatch {
                Mismatch::Line => unexpected(Expected::Meta(kind), line),
                Mismatch::Echo => unexpected_echo(kind, sent(b'k'), sent(b'O'), line),
            })?;
        let reply = Box::new(reply);
        let Some(length) = length else {
            return Ok(Some(Reply::Meta(reply)));
        };
        let numbers = ValueNumbers {
            flags: 0,
            length,
            cas: None,
        };
        self.value = Some(ValueHeader::new(numbers, asked.limits(), line)?);
        self.meta = Some(reply);
        Ok(None)
    }

    /// Reads the line before the configuration of a cluster.
    fn read_config_line(&mut self, limits: &Limits, line: &[u8]) -> Result<(), ProtocolError> {
        let value = ValueLine::parse(b"CONFIG", line, false)
            .filter(|value| value.key == b"cluster")
            .ok_or_else(|| unexpected(Expected::Config, line))?;
        self.value = Some(ValueHeader::new(value.numbers, limits, line)?);
        Ok(())
    }

    /// Reads the data of a value and its line end, which is found by the declared length alone.
    fn read_data<T>(
        &mut self,
        header: ValueHeader,
        asked: &mut Outbox<T>,
        input: &mut Input<'_>,
        sink: &mut impl FnMut(T, Reply),
    ) -> Result<bool, ProtocolError> {
        let ValueHeader { length, flags, cas } = header;
        let is_large = length >= asked.limits().copy_below;
        let Some((data, behind)) = input.rest().split_at_checked(length) else {
            if is_large {
                input.reserve(length + LINE_END.len());
            }
            return Ok(false);
        };
        if !behind.starts_with(LINE_END) {
            if LINE_END.starts_with(behind) {
                return Ok(false);
            }
            let key = match self.meta {
                Some(_) => asked.pending().echo(b'k'),
                None => asked.pending().next_key(),
            };
            return Err(bad_value_end(key, length, behind));
        }
        let data = if is_large {
            input.split(length)
        } else {
            let copy = Bytes::copy_from_slice(data);
            input.skip(length);
            copy
        };
        input.skip(LINE_END.len());
        self.value = None;
        if let Some(mut reply) = self.meta.take() {
            reply.value = Some(data);
            asked.pending_mut().answer_rest(Reply::Meta(reply), sink);
            return Ok(true);
        }
        let value = Value { data, flags, cas };
        if asked.pending().next_key().is_some() {
            asked.pending_mut().answer_key(Reply::Value(value), sink);
        } else {
            self.config = Some(value);
        }
        Ok(true)
    }

    fn add_stat(&mut self, item: (Bytes, Bytes), limits: &Limits) -> Result<(), ProtocolError> {
        self.stats_bytes += item.0.len() + item.1.len();
        self.stats.push(item);
        if self.stats.len() > limits.max_stats_items || self.stats_bytes > limits.max_stats_bytes {
            return Err(stats_too_large(limits));
        }
        Ok(())
    }
}
