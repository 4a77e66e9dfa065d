//! Sessions recorded with memcached 1.6.18: what was sent, byte for byte, and what came back,
//! fed in pieces of every kind.

use bytes::Bytes;
use proptest::prelude::*;
use steersman_memcached_protocol::{Expiry, Reply, Request, ServerErrorKind, StatsArgs, StoreVerb};

use crate::support::{Client, delete, error, get, gets, key, set, store, value};

pub(crate) struct Session {
    /// Submits the requests.
    pub(crate) ask: fn(&mut Client),
    /// What that writes, in parts.
    sent: &'static [&'static [u8]],
    pub(crate) received: &'static [u8],
    /// Checks the replies.
    check: fn(&[Reply]),
}

pub(crate) const SESSIONS: [Session; 5] = [STORES, VALUES, COUNTERS, ADMIN, ERRORS];

const STORES: Session = Session {
    ask: |client| {
        let fruit = |flags, cas, data| Request::Cas {
            key: key("fruit"),
            flags,
            expiry: Expiry::NEVER,
            cas,
            data,
        };
        let [apple, pear, oak, x, pie, an, plum, kiwi] =
            ["apple", "pear", "oak", "x", " pie", "an ", "plum", "kiwi"].map(Bytes::from);
        let month = Expiry::after(std::time::Duration::from_secs(2_592_000), 1_796_000_000);
        let seconds = |n| Expiry::after(std::time::Duration::from_secs(n), 1_796_000_000);
        client.ask_all([
            Request::Store {
                verb: StoreVerb::Set,
                key: key("fruit"),
                flags: 7,
                expiry: Expiry::NEVER,
                data: &apple,
            },
            store(StoreVerb::Add, "fruit", &pear),
            Request::Store {
                verb: StoreVerb::Add,
                key: key("tree"),
                flags: u32::MAX,
                expiry: month,
                data: &oak,
            },
            store(StoreVerb::Replace, "river", &x),
            store(StoreVerb::Append, "fruit", &pie),
            store(StoreVerb::Prepend, "fruit", &an),
            gets("fruit"),
            gets("tree"),
            gets("river"),
            fruit(1, 4, &plum),
            fruit(1, 4, &kiwi),
            Request::Cas {
                key: key("river"),
                flags: 0,
                expiry: Expiry::NEVER,
                cas: 1,
                data: &x,
            },
            get("fruit"),
            delete("tree"),
            delete("tree"),
            Request::Touch {
                key: key("fruit"),
                expiry: seconds(60),
            },
            Request::Touch {
                key: key("river"),
                expiry: Expiry::IMMEDIATE,
            },
        ]);
        for (name, cas) in [
            ("fruit", false),
            ("tree", false),
            ("tree", true),
            ("fruit", true),
        ] {
            client.ask(Request::GetAndTouch {
                key: key(name),
                expiry: seconds(100),
                cas,
            });
        }
    },
    sent: &[b"set fruit 7 0 5\r\napple\r\n\
        add fruit 0 0 4\r\npear\r\n\
        add tree 4294967295 2592000 3\r\noak\r\n\
        replace river 0 0 1\r\nx\r\n\
        append fruit 0 0 4\r\n pie\r\n\
        prepend fruit 0 0 3\r\nan \r\n\
        gets fruit tree river\r\n\
        cas fruit 1 0 4 4\r\nplum\r\n\
        cas fruit 1 0 4 4\r\nkiwi\r\n\
        cas river 0 0 1 1\r\nx\r\n\
        get fruit\r\n\
        delete tree\r\n\
        delete tree\r\n\
        touch fruit 60\r\n\
        touch river -1\r\n\
        gat 100 fruit tree\r\n\
        gats 100 tree fruit\r\n"],
    received: b"STORED\r\nNOT_STORED\r\nSTORED\r\nNOT_STORED\r\nSTORED\r\nSTORED\r\n\
        VALUE fruit 7 12 4\r\nan apple pie\r\n\
        VALUE tree 4294967295 3 2\r\noak\r\n\
        END\r\n\
        STORED\r\nEXISTS\r\nNOT_FOUND\r\n\
        VALUE fruit 1 4\r\nplum\r\nEND\r\n\
        DELETED\r\nNOT_FOUND\r\nTOUCHED\r\nNOT_FOUND\r\n\
        VALUE fruit 1 4\r\nplum\r\nEND\r\n\
        VALUE fruit 1 4 5\r\nplum\r\nEND\r\n",
    check: |replies| {
        assert_eq!(
            replies,
            [
                Reply::Stored,
                Reply::NotStored,
                Reply::Stored,
                Reply::NotStored,
                Reply::Stored,
                Reply::Stored,
                value("an apple pie", 7, Some(4)),
                value("oak", u32::MAX, Some(2)),
                Reply::Miss,
                Reply::Stored,
                Reply::Exists,
                Reply::NotFound,
                value("plum", 1, None),
                Reply::Deleted,
                Reply::NotFound,
                Reply::Touched,
                Reply::NotFound,
                value("plum", 1, None),
                Reply::Miss,
                Reply::Miss,
                value("plum", 1, Some(5)),
            ]
        );
    },
};

const AWKWARD: [(&str, &[u8]); 5] = [
    ("end", b"END\r\n"),
    ("empty", b""),
    ("binary", b"\x00\xff\r\n\r\n\x80\"\\"),
    ("spaces", b" \t two  "),
    ("header", b"VALUE end 0 5\r\nwrong\r\nEND\r\n"),
];

const VALUES: Session = Session {
    ask: |client| {
        for (name, data) in AWKWARD {
            client.ask(set(name, &Bytes::from_static(data)));
        }
        let names = ["end", "empty", "nothing", "binary", "spaces", "header"];
        client.ask_all(names.map(get));
        // Looking at the output ends the line.
        drop(client.connection.output());
        client.ask_all([get("nothing"), gets("end")]);
    },
    sent: &[b"set end 0 0 5\r\nEND\r\n\r\n\
        set empty 0 0 0\r\n\r\n\
        set binary 0 0 9\r\n\x00\xff\r\n\r\n\x80\"\\\r\n\
        set spaces 0 0 8\r\n \x09 two  \r\n\
        set header 0 0 27\r\nVALUE end 0 5\r\nwrong\r\nEND\r\n\r\n\
        get end empty nothing binary spaces header\r\n\
        get nothing\r\n\
        gets end\r\n"],
    received: b"STORED\r\nSTORED\r\nSTORED\r\nSTORED\r\nSTORED\r\n\
        VALUE end 0 5\r\nEND\r\n\r\n\
        VALUE empty 0 0\r\n\r\n\
        VALUE binary 0 9\r\n\x00\xff\r\n\r\n\x80\"\\\r\n\
        VALUE spaces 0 8\r\n \x09 two  \r\n\
        VALUE header 0 27\r\nVALUE end 0 5\r\nwrong\r\nEND\r\n\r\n\
        END\r\n\
        END\r\n\
        VALUE end 0 5 1\r\nEND\r\n\r\n\
        END\r\n",
    check: |replies| {
        let (stored, read) = replies.split_at(5);
        assert!(stored.iter().all(|reply| *reply == Reply::Stored));
        let [end, empty, binary, spaces, header] = AWKWARD.map(|(_, data)| value(data, 0, None));
        let after_nothing = [
            binary,
            spaces,
            header,
            Reply::Miss,
            value("END\r\n", 0, Some(1)),
        ];
        assert_eq!(read[..3], [end, empty, Reply::Miss]);
        assert_eq!(read[3..], after_nothing);
    },
};

const COUNTERS: Session = Session {
    ask: |client| {
        let increment = |name, delta| Request::Increment {
            key: key(name),
            delta,
        };
        let decrement = |name, delta| Request::Decrement {
            key: key(name),
            delta,
        };
        client.ask_all([
            set("n", &Bytes::from_static(b"10")),
            decrement("n", 1),
            get("n"),
            increment("n", u64::MAX),
            decrement("n", 9999),
            increment("n", u64::MAX),
            increment("n", 1),
            increment("none", 1),
            set("text", &Bytes::from_static(b"abc")),
            increment("text", 1),
            decrement("text", 1),
        ]);
    },
    sent: &[b"set n 0 0 2\r\n10\r\n\
        decr n 1\r\n\
        get n\r\n\
        incr n 18446744073709551615\r\n\
        decr n 9999\r\n\
        incr n 18446744073709551615\r\n\
        incr n 1\r\n\
        incr none 1\r\n\
        set text 0 0 3\r\nabc\r\n\
        incr text 1\r\n\
        decr text 1\r\n"],
    received: b"STORED\r\n9\r\nVALUE n 0 2\r\n9 \r\nEND\r\n8\r\n0\r\n18446744073709551615\r\n0\r\n\
        NOT_FOUND\r\nSTORED\r\n\
        CLIENT_ERROR cannot increment or decrement non-numeric value\r\n\
        CLIENT_ERROR cannot increment or decrement non-numeric value\r\n",
    check: |replies| {
        assert_eq!(
            replies[..9],
            [
                Reply::Stored,
                Reply::Number(9),
                value("9 ", 0, None),
                Reply::Number(8),
                Reply::Number(0),
                Reply::Number(u64::MAX),
                Reply::Number(0),
                Reply::NotFound,
                Reply::Stored,
            ]
        );
        for reply in &replies[9..] {
            assert_eq!(error(reply).kind(), ServerErrorKind::Client);
        }
        assert_eq!(replies.len(), 11);
    },
};

fn stats(args: &str) -> Request<'_> {
    let args = StatsArgs::new(args.as_bytes()).expect("tests use valid arguments");
    Request::Stats { args: Some(args) }
}

const ADMIN: Session = Session {
    ask: |client| {
        client.ask_all([
            Request::Version,
            stats("reset"),
            stats("detail on"),
            set("user:1", &Bytes::from_static(b"ann")),
            get("user:1"),
            get("user:2"),
            stats("detail dump"),
            stats("detail off"),
            stats("cachedump 1 10"),
            stats("sizes"),
            stats("conns"),
            Request::Verbosity { level: 0 },
            Request::CacheMemlimit { megabytes: 64 },
            Request::FlushAll { delay: Some(0) },
            Request::FlushAll { delay: None },
            get("user:1"),
        ]);
    },
    sent: &[b"version\r\nstats reset\r\nstats detail on\r\n\
        set user:1 0 0 3\r\nann\r\n\
        get user:1 user:2\r\n\
        stats detail dump\r\nstats detail off\r\nstats cachedump 1 10\r\nstats sizes\r\n\
        stats conns\r\nverbosity 0\r\ncache_memlimit 64\r\n\
        flush_all 0\r\nflush_all\r\n\
        get user:1\r\n"],
    received: b"VERSION 1.6.18\r\nRESET\r\nOK\r\nSTORED\r\n\
        VALUE user:1 0 3\r\nann\r\nEND\r\n\
        PREFIX user get 2 hit 1 set 1 del 0\r\nEND\r\n\
        OK\r\nEND\r\nSTAT sizes_status disabled\r\nEND\r\n\
        STAT 10:addr tcp:127.0.0.1:31878\r\n\
        STAT 10:state conn_listening\r\n\
        STAT 10:secs_since_last_cmd 0\r\n\
        STAT 11:addr tcp:127.0.0.1:42076\r\n\
        STAT 11:listen_addr tcp:127.0.0.1:31878\r\n\
        STAT 11:state conn_parse_cmd\r\n\
        STAT 11:secs_since_last_cmd 0\r\n\
        END\r\n\
        OK\r\nOK\r\nOK\r\nOK\r\nEND\r\n",
    check: |replies| {
        let items = |items: &[(&str, &str)]| {
            let owned = |text: &str| Bytes::copy_from_slice(text.as_bytes());
            Reply::Stats(items.iter().map(|(n, v)| (owned(n), owned(v))).collect())
        };
        assert_eq!(replies[0], Reply::Version("1.6.18".to_owned()));
        assert_eq!(replies[1..4], [Reply::Ok, Reply::Ok, Reply::Stored]);
        assert_eq!(replies[4..6], [value("ann", 0, None), Reply::Miss]);
        assert_eq!(
            replies[6..10],
            [
                items(&[("user", "get 2 hit 1 set 1 del 0")]),
                Reply::Ok,
                items(&[]),
                items(&[("sizes_status", "disabled")]),
            ]
        );
        assert!(matches!(&replies[10], Reply::Stats(items) if items.len() == 7));
        assert!(replies[11..15].iter().all(|reply| *reply == Reply::Ok));
        assert_eq!(replies[15..], [Reply::Miss]);
    },
};

/// Recorded with `-I 1024 -o slab_chunk_max=512 -F`; the value has 1,100 bytes.
const ERRORS: Session = Session {
    ask: |client| {
        client.ask_all([
            stats("nonsense"),
            Request::CacheMemlimit { megabytes: 1 },
            Request::CacheMemlimit {
                megabytes: u64::MAX,
            },
        ]);
        client.ask(set("big", &Bytes::from(vec![b'x'; 1100])));
        client.ask_all([
            get("big"),
            set("small", &Bytes::from_static(b"x")),
            Request::FlushAll { delay: None },
            get("small"),
        ]);
    },
    sent: &[
        b"stats nonsense\r\ncache_memlimit 1\r\ncache_memlimit 18446744073709551615\r\n",
        b"set big 0 0 1100\r\n",
        &[b'x'; 1100],
        b"\r\nget big\r\nset small 0 0 1\r\nx\r\nflush_all\r\nget small\r\n",
    ],
    received: b"ERROR\r\n\
        MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m\r\n\
        MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes\r\n\
        SERVER_ERROR object too large for cache\r\n\
        END\r\n\
        STORED\r\n\
        CLIENT_ERROR flush_all not allowed\r\n\
        VALUE small 0 1\r\nx\r\nEND\r\n",
    check: |replies| {
        let errors = [0, 1, 2, 3, 6].map(|n| error(&replies[n]));
        assert_eq!(
            errors.map(|error| (error.kind(), error.message())),
            [
                (ServerErrorKind::Error, ""),
                (
                    ServerErrorKind::Other,
                    "MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m"
                ),
                (
                    ServerErrorKind::Other,
                    "MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes"
                ),
                (ServerErrorKind::Server, "object too large for cache"),
                (ServerErrorKind::Client, "flush_all not allowed"),
            ]
        );
        assert_eq!(replies[4..6], [Reply::Miss, Reply::Stored]);
        assert_eq!(replies[7..], [value("x", 0, None)]);
    },
};

impl Session {
    /// Runs the session, what was received cut into `pieces`.
    fn run<'a>(&self, pieces: impl IntoIterator<Item = &'a [u8]>) {
        let mut client = Client::new();
        (self.ask)(&mut client);
        assert_eq!(client.connection.in_flight(), client.asked);
        assert_eq!(
            client.write().escape_ascii().to_string(),
            self.sent.concat().escape_ascii().to_string()
        );
        let mut completed = 0;
        for piece in pieces {
            completed += client
                .receive(piece)
                .expect("memcached keeps to the protocol");
        }
        assert_eq!(completed, client.asked);
        assert_eq!(client.connection.in_flight(), 0);
        assert!(client.input.is_empty());
        let (tokens, replies): (Vec<_>, Vec<_>) = client.take_replies().into_iter().unzip();
        assert!(tokens.into_iter().eq(0..client.asked));
        (self.check)(&replies);
    }
}

#[test]
fn whole() {
    for session in SESSIONS {
        session.run([session.received]);
    }
}

#[test]
fn cut_in_two_at_every_place() {
    for session in SESSIONS {
        for place in 0..=session.received.len() {
            let (first, second) = session.received.split_at(place);
            session.run([first, second]);
        }
    }
}

#[test]
fn byte_by_byte() {
    for session in SESSIONS {
        session.run(session.received.chunks(1));
    }
}

proptest! {
    #[test]
    fn cut_anywhere(lens in prop::collection::vec(1..40_usize, 1..50)) {
        for session in SESSIONS {
            let mut rest = session.received;
            let mut lens = lens.iter().cycle();
            session.run(std::iter::from_fn(|| {
                let len = rest.len().min(*lens.next()?);
                let piece = rest.split_off(..len)?;
                (!piece.is_empty()).then_some(piece)
            }));
        }
    }
}
