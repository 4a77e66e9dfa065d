//! How the bytes were cut does not show in what is answered.
//!
//! Small values that have come whole are read in another way than all else. A client that copies
//! no value never reads in that way, and neither does one that gets single bytes, so these two
//! say what the others have to answer.

use proptest::prelude::*;
use steersman_memcached_protocol::{Limits, ProtocolError, ProtocolErrorKind, Reply};

use crate::support::{Client, delete, get, gets};

const KEYS: [&str; 5] = ["a", "b", "ab", "a-longer-key", "c"];

/// Limits that can be reached here, one way or the other.
fn limits() -> impl Strategy<Value = Limits> {
    let max_line = prop_oneof![Just(60), Just(40)];
    let copy_below = prop_oneof![Just(100), Just(200)];
    let autobatch = prop::bool::weighted(0.8);
    (max_line, copy_below, autobatch).prop_map(|(max_line, copy_below, autobatch)| Limits {
        max_value_size: 120,
        max_line,
        autobatch,
        max_batch_keys: 4,
        copy_below,
        ..Limits::default()
    })
}

/// What is asked: reads by the number of their key, or something else.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Read { key: usize, cas: bool },
    Delete,
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    // The kind changes seldom, so that reads share lines.
    let run = (prop::collection::vec(0..KEYS.len(), 1..8), any::<bool>());
    let reads = run.prop_map(|(keys, cas)| {
        let reads = keys.into_iter().map(|key| Ask::Read { key, cas });
        reads.collect::<Vec<_>>()
    });
    let some = prop_oneof![6 => reads, 1 => Just(vec![Ask::Delete])];
    prop::collection::vec(some, 1..4).prop_map(|some| some.concat())
}

/// One time in `usual + 1` a mistake, else what is right.
fn or_mistake(
    usual: u32,
    mistakes: &'static [&'static str],
) -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![
        usual => Just(None),
        1 => prop::sample::select(mistakes).prop_map(Some),
    ]
}

/// A value as a server may send it, right but for what is replaced.
#[derive(Clone, Debug)]
struct Sent {
    miss: bool,
    word: Option<&'static str>,
    key: Option<&'static str>,
    flags: Option<&'static str>,
    length: Option<&'static str>,
    cas: Option<&'static str>,
    line_end: Option<&'static str>,
    size: usize,
    data_end: Option<&'static str>,
}

const NUMBERS: &[&str] = &[
    "",
    "0",
    "00",
    "007",
    "-1",
    "+1",
    "1 ",
    " 1",
    "x",
    "9x",
    "999999999",
    "0000000000001",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999",
];
const LENGTHS: &[&str] = &[
    "",
    "0",
    "00",
    "3",
    "003",
    "0000000000003",
    "99",
    "100",
    "120",
    "121",
    "-1",
    "18446744073709551619",
];
const LINE_ENDS: &[&str] = &[
    "", "\n", "\r", " \r\n", "\r\r\n", "\n\r\n", "x\r\n", "\r\r", "\n\n", "xx",
];

fn sent() -> impl Strategy<Value = Sent> {
    (
        prop::bool::weighted(0.2),
        or_mistake(
            60,
            &["value", "VALUE ", "VALU", "END", "ERROR", "VALUE\r\n"],
        ),
        or_mistake(
            40,
            &[
                "a",
                "b",
                "c",
                "",
                "aa",
                "a b",
                "a-longer-kez",
                "a-longer-key-still",
            ],
        ),
        or_mistake(20, NUMBERS),
        or_mistake(40, LENGTHS),
        or_mistake(30, NUMBERS),
        or_mistake(40, LINE_ENDS),
        prop_oneof![8 => 0..12_usize, 1 => 95..125_usize],
        or_mistake(40, LINE_ENDS),
    )
        .prop_map(
            |(miss, word, key, flags, length, cas, line_end, size, data_end)| Sent {
                miss,
                word,
                key,
                flags,
                length,
                cas,
                line_end,
                size,
                data_end,
            },
        )
}

impl Sent {
    fn write(&self, key: &str, cas: bool, bytes: &mut Vec<u8>) {
        if self.miss {
            return;
        }
        let size = self.size.to_string();
        let fields = [
            Some(self.word.unwrap_or("VALUE")),
            Some(self.key.unwrap_or(key)),
            Some(self.flags.unwrap_or("5")),
            Some(self.length.unwrap_or(&size)),
            cas.then_some(self.cas.unwrap_or("1234567890123456789")),
        ];
        let fields: Vec<_> = fields.into_iter().flatten().collect();
        bytes.extend(fields.join(" ").bytes());
        bytes.extend(self.line_end.unwrap_or("\r\n").bytes());
        bytes.extend(b"VALUE \r\nEND".iter().cycle().take(self.size));
        bytes.extend(self.data_end.unwrap_or("\r\n").bytes());
    }
}

/// The lines that are written for `asks`: the keys of reads and whether with cas numbers, or no
/// keys for anything else.
fn lines(asks: &[Ask], limits: &Limits) -> Vec<(Vec<usize>, bool)> {
    let mut lines: Vec<(Vec<usize>, bool)> = Vec::new();
    for ask in asks {
        let Ask::Read { key, cas } = *ask else {
            lines.push((Vec::new(), false));
            continue;
        };
        match lines.last_mut() {
            Some((keys, of_cas)) if limits.autobatch && !keys.is_empty() && *of_cas == cas => {
                if keys.contains(&key) {
                    continue;
                }
                if keys.len() < limits.max_batch_keys {
                    keys.push(key);
                    continue;
                }
            }
            _ => {}
        }
        lines.push((vec![key], cas));
    }
    lines
}

/// What a server sends in reply to `asks`, the values as `sent` says.
fn replies(asks: &[Ask], limits: &Limits, sent: &[Sent], ends: &[Option<&str>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut sent = sent.iter().cycle();
    let mut ends = ends.iter().cycle();
    for (keys, cas) in lines(asks, limits) {
        for &key in &keys {
            sent.next()
                .expect("there are some")
                .write(KEYS[key], cas, &mut bytes);
        }
        let usual = if keys.is_empty() {
            "DELETED\r\n"
        } else {
            "END\r\n"
        };
        let end = ends.next().expect("there are some").unwrap_or(usual);
        bytes.extend(end.bytes());
    }
    bytes
}

/// What came of it: who got what, what each feed said, and how much was left.
#[derive(Debug, PartialEq)]
struct Outcome {
    replies: Vec<(usize, Reply)>,
    fed: Vec<Result<usize, ProtocolError>>,
    left: usize,
}

fn feed<'a>(limits: Limits, asks: &[Ask], pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut client = Client::with_limits(limits);
    client.ask_all(asks.iter().map(|ask| match *ask {
        Ask::Read { key, cas: false } => get(KEYS[key]),
        Ask::Read { key, cas: true } => gets(KEYS[key]),
        Ask::Delete => delete("d"),
    }));
    client.write();
    let mut fed = Vec::new();
    for piece in pieces {
        fed.push(client.receive(piece));
        if fed.last().is_some_and(Result::is_err) {
            break;
        }
    }
    Outcome {
        replies: client.take_replies(),
        fed,
        left: client.input.len(),
    }
}

#[test]
fn an_end_line_is_a_line() {
    for (max_line, allowed) in [(5, true), (4, false)] {
        let limits = Limits {
            max_line,
            ..Limits::default()
        };
        for len in [1, 5] {
            let outcome = feed(
                limits,
                &[Ask::Read { key: 0, cas: false }],
                b"END\r\n".chunks(len),
            );
            let error = outcome.fed.into_iter().find_map(Result::err);
            let expected = (!allowed).then_some(ProtocolErrorKind::LineTooLong);
            assert_eq!(
                error.map(|error| error.kind()),
                expected,
                "{max_line} {len}"
            );
        }
    }
}

proptest! {
    #[test]
    fn pieces_of_any_size_are_answered_alike(
        asks in asks(),
        sent in prop::collection::vec(sent(), 1..24),
        ends in prop::collection::vec(
            or_mistake(20, &["", "END \r\n", "EN", "ERROR\r\n", "SERVER_ERROR x\r\n", "END\r\nEND\r\n", "VALUE a 0 0\r\n\r\n"]),
            1..6,
        ),
        cuts in prop::collection::vec(1..80_usize, 1..8),
        copying in limits(),
    ) {
        let sharing = Limits { copy_below: 0, ..copying };
        let bytes = replies(&asks, &copying, &sent, &ends);
        let mut rest = &bytes[..];
        let pieces = cuts.into_iter().cycle().map_while(|len| {
            let (piece, behind) = rest.split_at(len.min(rest.len()));
            rest = behind;
            (!piece.is_empty()).then_some(piece)
        });
        let pieces: Vec<_> = pieces.collect();

        let cut = feed(copying, &asks, pieces.iter().copied());
        prop_assert_eq!(&cut, &feed(sharing, &asks, pieces));
        let whole = feed(copying, &asks, [&bytes[..]]);
        prop_assert_eq!(&whole, &feed(sharing, &asks, [&bytes[..]]));

        let single = feed(copying, &asks, bytes.chunks(1));
        for other in [cut, whole] {
            prop_assert_eq!(&other.replies, &single.replies);
            let errors = [&other, &single].map(|outcome| outcome.fed.last().and_then(|last| last.clone().err()));
            let [error, expected] = errors.each_ref().map(|error| error.as_ref().map(ProtocolError::kind));
            prop_assert_eq!(error, expected);
            match error {
                // These show what has come behind the mistake, too.
                Some(ProtocolErrorKind::BadValueEnd | ProtocolErrorKind::LineTooLong | ProtocolErrorKind::Unsolicited) => {}
                Some(_) => prop_assert_eq!(&errors[0], &errors[1]),
                None => prop_assert_eq!(other.left, single.left),
            }
        }
    }
}
