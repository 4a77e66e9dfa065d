//! Servers that break the protocol: each violation is fatal, typed, and tells what came.

use bytes::Bytes;
use steersman_memcached_protocol::{Expiry, Limits, ProtocolErrorKind, Reply, Request, StatsArgs};

use crate::support::{Client, delete, get, gets, key, set, value};

/// Asks, writes, receives something that has to fail; returns the kind and the message.
fn failure(requests: &[Request<'_>], received: &[u8]) -> (ProtocolErrorKind, String) {
    failure_within(Limits::default(), requests, received)
}

fn failure_within(
    limits: Limits,
    requests: &[Request<'_>],
    received: &[u8],
) -> (ProtocolErrorKind, String) {
    let mut client = Client::with_limits(limits);
    client.ask_all(requests.iter().copied());
    client.write();
    let failed = client.receive(received).expect_err("a violation");
    assert!(!failed.can_continue());

    // It stays failed, even if what comes next would fit, and each token comes out once.
    let fitting = b"\r\nEND\r\nSTORED\r\nDELETED\r\n";
    assert_eq!(client.receive(fitting), Err(failed.clone()));
    let answered = client.take_replies().into_iter().map(|(token, _)| token);
    let closed: Vec<_> = client.close().into_iter().map(|(token, _)| token).collect();
    let mut tokens: Vec<_> = answered.chain(closed).collect();
    tokens.sort_unstable();
    assert!(tokens.into_iter().eq(0..requests.len()));
    (failed.kind(), failed.to_string())
}

#[test]
fn a_reply_to_another_request() {
    let data = Bytes::new();
    let cas = Request::Cas {
        key: key("a"),
        flags: 0,
        expiry: Expiry::NEVER,
        cas: 1,
        data: &data,
    };
    let touch = Request::Touch {
        key: key("a"),
        expiry: Expiry::NEVER,
    };
    let (key, delta) = (key("a"), 1);
    let requests = [
        (get("a"), &["END", "VALUE"][..]),
        (set("a", &data), &["STORED", "NOT_STORED"]),
        (cas, &["STORED", "NOT_STORED", "EXISTS", "NOT_FOUND"]),
        (Request::Increment { key, delta }, &["12", "NOT_FOUND"]),
        (Request::Decrement { key, delta }, &["12", "NOT_FOUND"]),
        (touch, &["TOUCHED", "NOT_FOUND"]),
        (delete("a"), &["DELETED", "NOT_FOUND"]),
        (Request::Version, &["VERSION 1"]),
        (Request::ClusterConfig, &[]),
        (
            Request::Stats { args: None },
            &["END", "STAT a b", "OK", "RESET"],
        ),
        (Request::FlushAll { delay: None }, &["OK", "BUSY x"]),
        (Request::Verbosity { level: 1 }, &["OK", "BUSY x"]),
        (Request::CacheMemlimit { megabytes: 9 }, &["OK", "BUSY x"]),
    ];
    let lines = [
        "STORED",
        "NOT_STORED",
        "EXISTS",
        "NOT_FOUND",
        "12",
        "TOUCHED",
        "DELETED",
        "VERSION 1",
        "END",
        "STAT a b",
        "OK",
        "RESET",
        "BUSY x",
        "",
        " ",
        "stored",
        "STORED ",
        "HD",
        "EN",
        "VA 2",
        "MN",
        "-1",
        "12x",
        "VERSION",
        "ERRORS",
        "HTTP/1.1 400 Bad Request",
        "\u{0}",
    ];
    for (request, allowed) in requests {
        for line in lines.into_iter().filter(|line| !allowed.contains(line)) {
            let (kind, message) = failure(&[request], format!("{line}\r\n").as_bytes());
            assert_eq!(
                kind,
                ProtocolErrorKind::UnexpectedReply,
                "{line} to {request:?}"
            );
            let shown = line.as_bytes().escape_ascii().to_string();
            assert!(
                message.ends_with(&format!("but received \"{shown}\"")),
                "{message}"
            );
            assert!(
                message.contains(request.command())
                    || message.contains("administrative")
                    || message.contains("a store"),
                "{message}"
            );
        }
    }
}

#[test]
fn an_error_line_answers_any_request_and_nothing_else() {
    let data = Bytes::new();
    let requests = [
        get("a"),
        set("a", &data),
        delete("a"),
        Request::Version,
        Request::Stats { args: None },
        Request::FlushAll { delay: None },
        get("b"),
    ];
    for line in [
        "ERROR",
        "ERROR x",
        "CLIENT_ERROR bad data chunk",
        "SERVER_ERROR",
    ] {
        let mut client = Client::new();
        client.ask_all(requests);
        client.write();
        let lines = format!("{line}\r\n").repeat(requests.len());
        assert_eq!(client.receive(lines.as_bytes()), Ok(requests.len()));
        for (n, (token, reply)) in client.take_replies().into_iter().enumerate() {
            assert_eq!(token, n);
            assert!(matches!(reply, Reply::Error(_)), "{reply:?}");
        }
    }
}

#[test]
fn an_error_in_the_middle_of_statistics() {
    let mut client = Client::new();
    client.ask_all([Request::Stats { args: None }; 2]);
    client.write();
    client
        .receive(b"STAT a 1\r\nSERVER_ERROR out of memory\r\nSTAT b 2\r\nEND\r\n")
        .unwrap();
    assert!(matches!(client.replies[0], (0, Reply::Error(_))));
    let items = vec![(Bytes::from_static(b"b"), Bytes::from_static(b"2"))];
    assert_eq!(client.replies[1], (1, Reply::Stats(items)));
}

#[test]
fn malformed_value_lines() {
    for line in [
        "VALUE a",
        "VALUE a 0",
        "VALUE a 0 x",
        "VALUE a x 1",
        "VALUE a 0 -1",
        "VALUE a 0 1 2",
        "VALUE a 4294967296 1",
        "VALUE  a 0 1",
        "VALUE a 0 1 ",
        "VALUE a 0 99999999999999999999",
    ] {
        let (kind, message) = failure(&[get("a")], format!("{line}\r\n1\r\nEND\r\n").as_bytes());
        assert_eq!(kind, ProtocolErrorKind::UnexpectedReply, "{line}");
        assert!(message.starts_with("expected VALUE key flags bytes, or END, in reply to get"));
    }
    let (kind, message) = failure(&[gets("a")], b"VALUE a 0 1\r\n1\r\nEND\r\n");
    assert_eq!(kind, ProtocolErrorKind::UnexpectedReply);
    assert!(
        message.starts_with("expected VALUE key flags bytes cas, or END"),
        "{message}"
    );
}

#[test]
fn malformed_cluster_configurations() {
    for received in [
        "CONFIG cluster 0 1\r\nx\r\nCONFIG cluster 0 1\r\n",
        "CONFIG other 0 1\r\n",
        "CONFIG cluster 0\r\n",
        "CONFIG cluster 0 1 2\r\n",
        "VALUE cluster 0 1\r\n",
    ] {
        let (kind, _) = failure(&[Request::ClusterConfig], received.as_bytes());
        assert_eq!(kind, ProtocolErrorKind::UnexpectedReply);
    }
}

#[test]
fn lines_end_with_both_characters() {
    for received in [&b"STORED\n"[..], b"\n", b"\r\n", b"STORED\r\r\n"] {
        let (kind, _) = failure(&[set("a", &Bytes::new())], received);
        assert_eq!(kind, ProtocolErrorKind::UnexpectedReply);
    }
}

#[test]
fn a_value_under_a_key_that_was_not_asked() {
    let requests = ["a", "b", "c"].map(get);
    for (received, expected) in [
        (
            "VALUE d 0 1\r\n1\r\n",
            "the value of key \"a\" or of one asked after it",
        ),
        ("VALUE aa 0 1\r\n1\r\n", "the value of key \"a\""),
        (
            "VALUE c 0 1\r\n1\r\nVALUE b 0 1\r\n1\r\n",
            "no further value",
        ),
        (
            "VALUE b 0 1\r\n1\r\nVALUE b 0 1\r\n1\r\n",
            "the value of key \"c\"",
        ),
        (
            "VALUE b 0 1\r\n1\r\nVALUE a 0 1\r\n1\r\n",
            "the value of key \"c\"",
        ),
        // What comes for the next command is not this one's.
        ("VALUE z 0 1\r\n1\r\n", "the value of key \"a\""),
    ] {
        let all = [requests[0], requests[1], requests[2], delete("x"), get("z")];
        let (kind, message) = failure(&all, received.as_bytes());
        assert_eq!(kind, ProtocolErrorKind::UnexpectedKey);
        assert!(
            message.starts_with(&format!("expected {expected}")),
            "{message}"
        );
    }
}

#[test]
fn a_wrong_key_answers_nobody() {
    let mut client = Client::new();
    client.ask_all(["a", "b", "c"].map(get));
    client.write();
    client.receive(b"VALUE b 0 1\r\n1\r\n").unwrap();
    let answered = [(0, Reply::Miss), (1, value("1", 0, None))];
    assert_eq!(client.take_replies(), answered);
    client.receive(b"VALUE a 0 1\r\n1\r\nEND\r\n").unwrap_err();
    assert_eq!(client.take_replies(), []);
    assert_eq!(client.close(), [(2, true)]);
}

#[test]
fn bytes_that_nobody_asked_for() {
    let (kind, message) = failure(&[], b"ERROR Too many open connections\r\n");
    assert_eq!(kind, ProtocolErrorKind::Unsolicited);
    assert_eq!(
        message,
        "the server answered ERROR Too many open connections, though no request was waiting \
         for a reply"
    );
    let (kind, message) = failure(&[get("a")], b"END\r\nEND\r\n");
    assert_eq!(kind, ProtocolErrorKind::Unsolicited);
    assert!(message.ends_with("but received \"END\""), "{message}");
    // One byte is enough: what follows might otherwise be taken for the next reply.
    assert_eq!(failure(&[], b"E").0, ProtocolErrorKind::Unsolicited);
}

#[test]
fn a_reply_to_what_is_not_written_yet() {
    let mut client = Client::new();
    client.ask_all([get("a"), delete("b")]);
    assert_eq!(
        client.receive(b"END\r\n").unwrap_err().kind(),
        ProtocolErrorKind::Unsolicited
    );
    assert_eq!(client.close(), [(0, false), (1, false)]);
}

#[test]
fn a_value_that_does_not_end_where_it_was_said_to() {
    for behind in ["xx", "\rx", "\n", "x"] {
        let received = format!("VALUE a 0 3\r\nabc{behind}");
        let (kind, message) = failure(&[get("a")], received.as_bytes());
        assert_eq!(kind, ProtocolErrorKind::BadValueEnd);
        assert!(
            message.starts_with("expected a line end after the 3 bytes of the value of key \"a\"")
        );
    }
}

#[test]
fn lines_are_bounded() {
    let limits = Limits {
        max_line: 20,
        ..Limits::default()
    };
    let version = |text: &str| format!("VERSION {text}\r\n");
    let mut client = Client::with_limits(limits);
    client.ask(Request::Version);
    client.write();
    client.receive(version("1234567890").as_bytes()).unwrap();
    let line = version("12345678901");
    for received in [line.as_bytes(), &line.as_bytes()[..20]] {
        let (kind, message) = failure_within(limits, &[Request::Version], received);
        assert_eq!(kind, ProtocolErrorKind::LineTooLong);
        assert!(
            message.contains("a line of more than 20 bytes"),
            "{message}"
        );
    }
}

#[test]
fn values_are_bounded() {
    let limits = Limits {
        max_value_size: 3,
        ..Limits::default()
    };
    let mut client = Client::with_limits(limits);
    client.ask(get("a"));
    client.write();
    client.receive(b"VALUE a 0 3\r\nabc\r\nEND\r\n").unwrap();
    for declared in ["4", "18446744073709551615"] {
        let received = format!("VALUE a 0 {declared}\r\n");
        let (kind, message) = failure_within(limits, &[get("a")], received.as_bytes());
        assert_eq!(kind, ProtocolErrorKind::ValueTooLarge);
        assert!(
            message.contains(declared) && message.contains("at most 3 bytes"),
            "{message}"
        );
    }
    // Even without a limit, a length that no memory could hold is refused.
    let limits = Limits {
        max_value_size: usize::MAX,
        ..limits
    };
    let (kind, _) = failure_within(limits, &[get("a")], b"VALUE a 0 2147483646\r\n");
    assert_eq!(kind, ProtocolErrorKind::ValueTooLarge);
}

#[test]
fn statistics_are_bounded() {
    let limits = Limits {
        max_stats_items: 2,
        max_stats_bytes: 10,
        ..Limits::default()
    };
    let stats = Request::Stats {
        args: StatsArgs::new(b"items").ok(),
    };
    let mut client = Client::with_limits(limits);
    client.ask_all([stats; 2]);
    client.write();
    // The count begins anew with each reply.
    let fitting = b"STAT ab cde\r\nSTAT fg hij\r\nEND\r\n".repeat(2);
    client.receive(&fitting).unwrap();
    for received in ["STAT a b\r\n".repeat(3), "STAT abcde fghijk\r\n".to_owned()] {
        let (kind, _) = failure_within(limits, &[stats], received.as_bytes());
        assert_eq!(kind, ProtocolErrorKind::StatsTooLarge);
    }
}

#[test]
fn messages_show_a_short_excerpt() {
    let (_, message) = failure(&[delete("a")], &[&[0xff; 500][..], b"\r\n"].concat());
    assert!(message.ends_with("\"..."), "{message}");
    assert!(message.len() < 500 && message.is_ascii(), "{message}");
}
