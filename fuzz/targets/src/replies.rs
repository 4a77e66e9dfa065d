//! What a client makes of a server's replies.
//!
//! The input is what was asked, a zero byte, and what was answered. However the answers are cut the
//! outcome is the same; each request is answered once, or handed back when the connection closes; and
//! each value, and each list of statistics, stands in the input as it is given out, a value under the key
//! of the request that gets it.

use bytes::{Buf, Bytes, BytesMut};
use memchr::memmem;
use steersman_memcached_protocol::{
    Connection, Limits, Outbox, ProtocolErrorKind, Reply, Unanswered, Value,
};

use crate::asked::{Asked, What};
use crate::pieces::{Cut, seed};

/// More is no news, and takes time.
const MAX_REQUESTS: usize = 64;

/// Runs the target.
pub fn run(input: &[u8]) {
    let Some(end) = memchr::memchr(0, input) else {
        return;
    };
    let (asked, answered) = (Asked::read(&input[..end]), &input[end + 1..]);
    if asked.len() > MAX_REQUESTS {
        return;
    }
    let limits = match seed(&input[..end]) % 3 {
        0 => Limits::default(),
        1 => single(),
        _ => tight(),
    };
    let [whole, cut] =
        Cut::two(answered).map(|cut| Outcome::of(&asked, limits, cut.apply(answered)));
    assert_eq!(whole, cut, "the pieces made a difference: {limits:?}");
    whole.check(&asked, answered);
}

/// Each read is a command of its own.
fn single() -> Limits {
    Limits {
        autobatch: false,
        ..Limits::default()
    }
}

/// Everything is soon too much.
fn tight() -> Limits {
    Limits {
        max_value_size: 24,
        max_line: 40,
        max_stats_items: 2,
        max_stats_bytes: 32,
        autobatch: true,
        max_batch_keys: 3,
        copy_below: 6,
    }
}

/// What came of it. Tokens are the numbers of the requests.
#[derive(Debug, PartialEq)]
struct Outcome {
    replies: Vec<(usize, Reply)>,
    error: Option<ProtocolErrorKind>,
    unanswered: Vec<usize>,
    /// How many bytes were not read, if there was no error.
    left: usize,
}

impl Outcome {
    fn of<'a>(asked: &[Asked], limits: Limits, pieces: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut connection = Connection::new(limits);
        let mut outbox = Outbox::new(limits);
        for (token, one) in asked.iter().enumerate() {
            // What is too large for these limits is not sent.
            let _ = one.submit(&mut outbox, token);
        }
        connection.absorb(&mut outbox);
        let sent = connection.in_flight();
        let length = connection.output().remaining();
        connection.output().advance(length);

        let mut outcome = Self {
            replies: Vec::new(),
            error: None,
            unanswered: Vec::new(),
            left: 0,
        };
        let mut input = BytesMut::new();
        let mut answered = 0;
        for piece in pieces {
            input.extend_from_slice(piece);
            let mut sink = |token, reply| outcome.replies.push((token, reply));
            match connection.feed(&mut input, &mut sink) {
                Ok(count) => answered += count,
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    outcome.error = Some(error.kind());
                    break;
                }
            }
            let held = limits.max_line.max(limits.max_value_size + 2);
            assert!(
                input.len() < held + piece.len(),
                "{} bytes are held",
                input.len()
            );
        }
        if outcome.error.is_some() {
            // It is final, and gives nothing more out.
            let again = connection.feed(&mut input, &mut |_, _| panic!("a reply after an error"));
            assert_eq!(again.map_err(|error| error.kind()).err(), outcome.error);
        } else {
            assert_eq!(connection.in_flight(), sent - answered);
            outcome.left = input.len();
        }
        connection.close(&mut |token, Unanswered { written }| {
            assert!(written, "all of it was written");
            outcome.unanswered.push(token);
        });
        assert_eq!(connection.in_flight(), 0);
        outcome
    }

    /// Whether each got an answer of its own.
    fn check(&self, asked: &[Asked], answered: &[u8]) {
        let given = self.replies.iter().map(|(token, _)| *token);
        let mut tokens: Vec<usize> = given.chain(self.unanswered.iter().copied()).collect();
        tokens.sort_unstable();
        assert!(
            tokens.windows(2).all(|pair| pair[0] < pair[1]),
            "a token came twice: {tokens:?}"
        );
        assert!(self.unanswered.is_sorted(), "the rest is in order");
        let mut from = 0;
        for (token, reply) in &self.replies {
            let found = match (&asked[*token].what, reply) {
                (_, Reply::Value(value)) if asked[*token].read_key().is_some() => {
                    let key = asked[*token].read_key().expect("it has been looked at");
                    find_value(answered, from, &[b"VALUE ", &key[..], b" "].concat(), value)
                }
                (What::ClusterConfig, Reply::Value(value)) => {
                    find_value(answered, from, b"CONFIG cluster ", value)
                }
                (What::Meta(meta), Reply::Meta(reply)) => {
                    assert!(reply.key.is_none() || reply.key.as_ref() == Some(&meta.key));
                    assert!(reply.opaque.is_none() || reply.opaque == meta.opaque);
                    let Some(value) = &reply.value else { continue };
                    find_data(answered, from, value)
                }
                (What::Stats { .. }, Reply::Stats(items)) => find_items(answered, from, items),
                (_, Reply::Value(_) | Reply::Meta(_) | Reply::Stats(_)) => {
                    panic!("{reply:?} in reply to {:?}", asked[*token])
                }
                _ => continue,
            };
            // Requests that share a line share its answer, so the next one may be where this one is.
            from = found.unwrap_or_else(|| panic!("nobody sent {reply:?} to {:?}", asked[*token]));
        }
    }
}

/// Where a value stands in what was answered, behind the beginning of its line.
fn find_value(answered: &[u8], from: usize, begin: &[u8], value: &Value) -> Option<usize> {
    memmem::find_iter(&answered[from..], begin).find_map(|at| {
        let at = from + at;
        if at > 0 && answered[at - 1] != b'\n' {
            return None;
        }
        let fields = &answered[at + begin.len()..];
        let line = memmem::find(fields, b"\r\n")?;
        let (numbers, data) = (str::from_utf8(&fields[..line]).ok()?, &fields[line + 2..]);
        let mut numbers = numbers.split(' ').map(|number| number.parse::<u64>().ok());
        let same = numbers.next()? == Some(value.flags.into())
            && numbers.next()? == u64::try_from(value.data.len()).ok()
            && numbers.next().flatten() == value.cas
            && data.strip_prefix(&value.data[..])?.starts_with(b"\r\n");
        same.then_some(at)
    })
}

/// Where statistics stand: a line for each, one after the other, and their end.
fn find_items(answered: &[u8], from: usize, items: &[(Bytes, Bytes)]) -> Option<usize> {
    let is_item = |line: &[u8], (name, value): &(Bytes, Bytes)| {
        let words = [&b"STAT "[..], b"ITEM ", b"PREFIX "];
        let fields = words.iter().find_map(|word| line.strip_prefix(*word));
        let value_of = |fields: &[u8]| fields.strip_prefix(&name[..]).map(<[u8]>::to_vec);
        match fields.and_then(value_of) {
            Some(rest) => rest.strip_prefix(b" ").unwrap_or(&rest) == value,
            None => false,
        }
    };
    let begins = memchr::memchr_iter(b'\n', &answered[from..]).map(|at| from + at + 1);
    std::iter::once(from).chain(begins).find(|&begin| {
        let mut rest = &answered[begin..];
        let mut line = || {
            let end = memmem::find(rest, b"\r\n")?;
            let line = &rest[..end];
            rest = &rest[end + 2..];
            Some(line)
        };
        items
            .iter()
            .all(|item| line().is_some_and(|line| is_item(line, item)))
            && line() == Some(b"END")
    })
}

/// Where the data of a meta command stands, behind a line that has its length.
fn find_data(answered: &[u8], from: usize, data: &Bytes) -> Option<usize> {
    memmem::find_iter(&answered[from..], b"VA ").find_map(|at| {
        let at = from + at;
        let fields = &answered[at + 3..];
        let line = memmem::find(fields, b"\r\n")?;
        let mut words = fields[..line]
            .split(|&byte| byte == b' ')
            .filter(|word| !word.is_empty());
        let length = str::from_utf8(words.next()?).ok()?.parse::<usize>().ok()?;
        let behind = fields[line + 2..].strip_prefix(&data[..])?;
        (length == data.len() && behind.starts_with(b"\r\n")).then_some(at)
    })
}
