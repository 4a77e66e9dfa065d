use super::*;
use crate::server::{Command, Keys, Verb};

fn events(bytes: &[u8]) -> Vec<Event> {
    feed(&[bytes])
}

fn feed(pieces: &[&[u8]]) -> Vec<Event> {
    let mut parser = Parser::new(Limits::default());
    let mut input = BytesMut::new();
    let mut events = Vec::new();
    for piece in pieces {
        input.extend_from_slice(piece);
        while let Some(event) = parser.next(&mut input) {
            events.push(event);
        }
    }
    events
}

fn rejected(reason: Rejection) -> Event {
    Event::Rejected {
        reason,
        noreply: false,
    }
}

fn silenced(reason: Rejection) -> Event {
    Event::Rejected {
        reason,
        noreply: true,
    }
}

fn request(command: Command) -> Event {
    Event::Request(Request {
        command,
        noreply: false,
    })
}

fn keys(line: &'static str) -> Keys {
    Keys::new(Bytes::from_static(line.as_bytes()))
}

#[test]
fn every_verb_is_understood() {
    let lines = "get k\r\ngets k\r\ngat 1 k\r\ngats 1 k\r\nset k 1 2 1\r\nx\r\nadd k 1 2 1\r\nx\r\n\
                 replace k 1 2 1\r\nx\r\nappend k 1 2 1\r\nx\r\nprepend k 1 2 1\r\nx\r\n\
                 cas k 1 2 1 9\r\nx\r\nincr k 3\r\ndecr k 3\r\ntouch k 5\r\ndelete k\r\n\
                 flush_all\r\nversion\r\nstats\r\nverbosity 1\r\ncache_memlimit 64\r\nmg k v\r\n\
                 ms k 1\r\nx\r\nmd k\r\nma k\r\nme k\r\nconfig get cluster\r\nmn\r\nquit\r\n";
    let mut seen: Vec<Verb> = events(lines.as_bytes())
        .into_iter()
        .map(|event| match event {
            Event::Request(request) => request.command.verb(),
            other => panic!("{other:?}"),
        })
        .collect();
    seen.sort_unstable();
    let mut all = Verb::ALL.to_vec();
    all.sort_unstable();
    assert_eq!(seen, all);
}

#[test]
fn arguments_arrive_where_they_belong() {
    assert_eq!(
        events(b"cas key 7 -1 2 99 noreply\r\n\r\n\r\n"),
        [Event::Request(Request {
            command: Command::Store {
                mode: StoreMode::Cas(99),
                key: Bytes::from_static(b"key"),
                flags: 7,
                exptime: -1,
                value: Bytes::from_static(b"\r\n"),
            },
            noreply: true,
        })]
    );
    assert_eq!(
        events(b"gat 30 a bb  c \r\n"),
        [request(Command::GetAndTouch {
            exptime: 30,
            keys: keys(" a bb  c "),
            with_cas: false
        })]
    );
    assert_eq!(
        events(b"stats cachedump 1 0\r\n"),
        [request(Command::Stats {
            args: vec![
                Bytes::from_static(b"cachedump"),
                Bytes::from_static(b"1"),
                Bytes::from_static(b"0")
            ]
        })]
    );
}

#[test]
fn keys_are_walked_in_order_with_repetitions() {
    let found: Vec<Bytes> = keys("b a  b ").collect();
    assert_eq!(found, ["b", "a", "b"]);
}

#[test]
fn mistakes_are_named_as_memcached_names_them() {
    let long_key = "k".repeat(251);
    for (line, expected) in [
        ("", rejected(Rejection::Error)),
        ("get", rejected(Rejection::Error)),
        ("get ", rejected(Rejection::Error)),
        ("set k 0 0", rejected(Rejection::Error)),
        ("config", rejected(Rejection::Error)),
        ("config get", rejected(Rejection::Error)),
        ("config set cluster", rejected(Rejection::Error)),
        ("config get cluster 1", rejected(Rejection::Error)),
        ("set k 0 0 1 2 noreply", rejected(Rejection::Error)),
        ("set k 0 0 -1", rejected(Rejection::BadFormat)),
        ("set k 0 0 2147483646", rejected(Rejection::BadFormat)),
        ("set k x 0 1", rejected(Rejection::BadFormat)),
        ("set k -1 0 1 noreply", silenced(Rejection::BadFormat)),
        ("set k 0 0 noreply", silenced(Rejection::BadFormat)),
        ("cas k 0 0 1 x", rejected(Rejection::BadFormat)),
        ("gat x noreply", rejected(Rejection::InvalidExptime)),
        ("touch k x", rejected(Rejection::InvalidExptime)),
        ("touch k noreply", silenced(Rejection::InvalidExptime)),
        ("incr k -1", rejected(Rejection::InvalidDelta)),
        ("incr k", rejected(Rejection::Error)),
        ("delete k 1", rejected(Rejection::DeleteUsage)),
        ("delete k 1 noreply", silenced(Rejection::DeleteUsage)),
        ("flush_all x", rejected(Rejection::InvalidExptime)),
        ("flush_all 1 2 3", rejected(Rejection::Error)),
        ("verbosity", rejected(Rejection::Error)),
        ("verbosity noreply", silenced(Rejection::BadFormat)),
        ("cache_memlimit 7", rejected(Rejection::MemlimitTooSmall)),
        (
            "cache_memlimit 2000000000",
            rejected(Rejection::MemlimitTooLarge),
        ),
        ("cache_memlimit noreply", silenced(Rejection::Error)),
        ("shutdown", rejected(Rejection::ShutdownDisabled)),
        ("GET k", rejected(Rejection::Error)),
        ("get\tk", rejected(Rejection::Error)),
        ("set HTTP/1.1", rejected(Rejection::Error)),
        ("GET / HTTP/1.1", Event::Close),
        (
            &format!("get a {long_key} b"),
            rejected(Rejection::BadFormat),
        ),
        (
            &format!("delete {long_key}"),
            rejected(Rejection::BadFormat),
        ),
        (
            &format!("set {long_key} 0 0 1 noreply"),
            silenced(Rejection::BadFormat),
        ),
    ] {
        assert_eq!(
            events(format!("{line}\r\n").as_bytes()),
            [expected],
            "{line:?}"
        );
    }
}

#[test]
fn a_line_may_end_without_carriage_return_and_stops_at_a_zero_byte() {
    let get = |line| {
        request(Command::Get {
            keys: keys(line),
            with_cas: false,
        })
    };
    assert_eq!(events(b"get a\nget b\0 c\r\n"), [get(" a"), get(" b")]);
    assert_eq!(events(b"get a\r\r\n"), [get(" a\r")]);
}

#[test]
fn a_wrong_length_leaves_the_rest_to_be_read_as_commands() {
    assert_eq!(
        events(b"set k 0 0 1\r\nxyz\r\nmn\r\n"),
        [
            rejected(Rejection::BadDataChunk),
            rejected(Rejection::Error),
            request(Command::MetaNoop)
        ]
    );
    assert_eq!(
        events(b"set k 0 0 1 noreply\r\nx\nmn\r\n")[0],
        silenced(Rejection::BadDataChunk)
    );
}

#[test]
fn the_body_of_an_item_too_large_is_swallowed() {
    let limit = Limits::default().max_item_size;
    let largest = limit - item_size(1, 0, 0);
    let mut bytes = format!("set k 0 0 {}\r\n", largest + 1).into_bytes();
    bytes.resize(bytes.len() + largest + 1, b'x');
    bytes.extend_from_slice(b"??mn\r\n");
    assert_eq!(
        events(&bytes),
        [
            Event::TooLarge {
                mode: StoreMode::Set,
                key: Bytes::from_static(b"k"),
                noreply: false
            },
            request(Command::MetaNoop)
        ]
    );
}

#[test]
fn a_swallowed_body_is_never_held() {
    let mut parser = Parser::new(Limits::default());
    let mut input = BytesMut::from("set k 0 0 2147483645\r\n");
    for _ in 0..100 {
        input.extend_from_slice(&[b'x'; 4096]);
        assert_eq!(parser.next(&mut input), None);
        assert!(input.is_empty());
    }
}

#[test]
fn a_line_without_end_closes_unless_it_reads_keys() {
    assert_eq!(events(&[b'x'; 2048]), []);
    assert_eq!(events(&[b'x'; 2049]), [Event::Close]);
    assert_eq!(
        events(&[b"gat 0 ".as_slice(), &[b'k'; 3000]].concat()),
        [Event::Close]
    );
    assert_eq!(events(&[b"get ".as_slice(), &[b'k'; 3000]].concat()), []);
    assert_eq!(
        events(&[&[b' '; 101], b"get ".as_slice(), &[b'k'; 3000]].concat()),
        [Event::Close]
    );

    let endless = [
        b"get ".as_slice(),
        &vec![b'k'; Limits::default().max_line_len],
    ]
    .concat();
    assert_eq!(
        events(&endless),
        [rejected(Rejection::RequestTooLong), Event::Close]
    );
}

#[test]
fn nothing_follows_a_close() {
    assert_eq!(feed(&[b"\x80\x00\x00", b"mn\r\n"]), [Event::Close]);
    assert_eq!(
        feed(&[b"GET / HTTP/1.1\r\nmn\r\n", b"mn\r\n"]),
        [Event::Close]
    );
}

mod splits {
    use proptest::prelude::*;

    use super::*;

    /// Fragments from which sessions are put together; lines stay below 2 KiB.
    fn fragment() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            Just(b"set k 1 2 5\r\nhello\r\n".to_vec()),
            Just(b"set k 1 2 5 noreply\r\nhel\r\n\r\n".to_vec()),
            Just(b"cas k 0 0 0 1\r\n\r\n".to_vec()),
            Just(b"get a b  c\r\n".to_vec()),
            Just(b"incr k 5\r\n".to_vec()),
            Just(b"set k 0 0 2000\r\n".to_vec()),
            Just(b"ms k 2000 c\r\n".to_vec()),
            Just(b"ms k 2 T0 k\r\nhi\r\n".to_vec()),
            Just(b"ms k 5 z\r\n".to_vec()),
            "m[gdae] Zm9v( [bvckO]){0,3}\r\n".prop_map(String::into_bytes),
            Just(b"stats items\n".to_vec()),
            Just(vec![b'v'; 2002]),
            proptest::collection::vec(any::<u8>(), 0..40),
            "[a-z0-9 \\-]{0,30}\r\n".prop_map(String::into_bytes),
        ]
    }

    fn session() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(fragment(), 0..12).prop_map(|fragments| fragments.concat())
    }

    /// A parser that takes small items only, so that sessions exercise the swallowing too.
    fn parse(pieces: &[&[u8]]) -> Vec<Event> {
        let mut parser = Parser::new(Limits {
            max_item_size: 1000,
            ..Limits::default()
        });
        let mut input = BytesMut::new();
        let mut events = Vec::new();
        for piece in pieces {
            input.extend_from_slice(piece);
            while let Some(event) = parser.next(&mut input) {
                events.push(event);
            }
            assert!(
                input.len() <= MAX_PLAIN_LINE + 1,
                "holds {} bytes",
                input.len()
            );
        }
        events
    }

    proptest! {
        #[test]
        fn do_not_change_the_events(session in session(), at in proptest::collection::vec(any::<prop::sample::Index>(), 0..8)) {
            // Plain lines of more than 2 KiB are accepted whole and refused in pieces.
            prop_assume!(session.split(|&byte| byte == b'\n').all(|line| line.len() < MAX_PLAIN_LINE));
            let mut cuts: Vec<usize> = at.iter().map(|index| index.index(session.len() + 1)).collect();
            cuts.extend([0, session.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &session[pair[0]..pair[1]]).collect();
            prop_assert_eq!(parse(&pieces), parse(&[&session]));
        }

        #[test]
        fn byte_by_byte_is_the_same(session in session()) {
            prop_assume!(session.split(|&byte| byte == b'\n').all(|line| line.len() < MAX_PLAIN_LINE));
            let pieces: Vec<&[u8]> = session.chunks(1).collect();
            prop_assert_eq!(parse(&pieces), parse(&[&session]));
        }
    }
}
