//! Which reads share a command line, and what everybody gets out of it.

use std::time::Duration;

use steersman_memcached_protocol::{
    Connection, Expiry, Limits, Outbox, ReadKind, Reply, Request, ServerErrorKind,
};

use crate::support::{Client, delete, error, get, gets, key, value};

fn written(requests: &[Request<'_>], limits: Limits) -> String {
    let mut client = Client::with_limits(limits);
    client.ask_all(requests.iter().copied());
    String::from_utf8(client.write()).expect("tests use text")
}

fn touching(name: &str, seconds: u64) -> Request<'_> {
    Request::GetAndTouch {
        key: key(name),
        expiry: Expiry::after(Duration::from_secs(seconds), 0),
        cas: false,
    }
}

#[test]
fn consecutive_reads_of_one_kind_share_a_line() {
    let requests = [
        get("a"),
        get("b"),
        gets("a"),
        gets("c"),
        get("d"),
        delete("d"),
        get("d"),
        touching("e", 5),
        touching("f", 5),
        touching("g", 6),
    ];
    assert_eq!(
        written(&requests, Limits::default()),
        "get a b\r\ngets a c\r\nget d\r\ndelete d\r\nget d\r\ngat 5 e f\r\ngat 6 g\r\n"
    );
}

#[test]
fn without_autobatching_each_read_is_a_command() {
    let limits = Limits {
        autobatch: false,
        ..Limits::default()
    };
    let requests = [get("a"), get("a"), gets("b")];
    assert_eq!(written(&requests, limits), "get a\r\nget a\r\ngets b\r\n");
}

#[test]
fn many_reads_are_grouped_even_without_autobatching() {
    let limits = Limits {
        autobatch: false,
        max_batch_keys: 2,
        ..Limits::default()
    };
    let mut client = Client::with_limits(limits);
    client.ask(get("x"));
    let reads = ["a", "b", "a", "c"].into_iter().enumerate();
    let reads = reads.map(|(n, name)| (key(name), n + 1));
    client
        .connection
        .submit_reads(ReadKind::Get, reads)
        .unwrap();
    client.asked = 5;
    client.ask(get("c"));
    assert_eq!(client.write(), b"get x\r\nget a b\r\nget c\r\nget c\r\n");

    let replies = b"END\r\nVALUE a 0 1\r\n1\r\nEND\r\nEND\r\nVALUE c 0 1\r\n2\r\nEND\r\n";
    assert_eq!(client.receive(replies), Ok(6));
    let (a, c) = (value("1", 0, None), value("2", 0, None));
    let expected = [(0, Reply::Miss), (1, a.clone()), (3, a), (2, Reply::Miss)];
    let replies = client.take_replies();
    assert_eq!(replies[..4], expected);
    assert_eq!(replies[4..], [(4, Reply::Miss), (5, c)]);
}

#[test]
fn a_line_has_a_bounded_number_of_keys() {
    let names: Vec<_> = (0..70).map(|n| format!("k{n}")).collect();
    let requests: Vec<_> = names.iter().map(|name| get(name)).collect();
    let counts = |limits| -> Vec<_> {
        let lines = written(&requests, limits);
        lines
            .lines()
            .map(|line| line.split(' ').count() - 1)
            .collect()
    };
    assert_eq!(counts(Limits::default()), [32, 32, 6]);
    for max_batch_keys in [0, 1] {
        let limits = Limits {
            max_batch_keys,
            ..Limits::default()
        };
        assert_eq!(counts(limits), [1; 70]);
    }
}

#[test]
fn a_line_has_a_bounded_length() {
    let names: Vec<_> = (0..100).map(|n| format!("{n:0250}")).collect();
    let limits = Limits {
        max_batch_keys: 1000,
        ..Limits::default()
    };
    let longest = |requests: Vec<Request<'_>>| {
        let lines = written(&requests, limits);
        lines.split_inclusive("\r\n").map(str::len).max()
    };
    let get_line = longest(names.iter().map(|name| get(name)).collect());
    assert_eq!(get_line, Some("get".len() + 32 * 251 + 2));
    // The last key of a line may fill it to the last byte: 8,192 in all.
    for (len, lines) in [(154, 1), (155, 2)] {
        let last = "x".repeat(len);
        let requests = names[..32].iter().map(|name| get(name)).chain([get(&last)]);
        let written = written(&requests.collect::<Vec<_>>(), limits);
        assert_eq!(written.lines().count(), lines);
    }
    // memcached hangs up on a longer line without an end that does not begin with a get.
    let gat_line = longest(names.iter().map(|name| touching(name, 2_592_000)).collect());
    assert_eq!(gat_line, Some("gat 2592000".len() + 7 * 251 + 2));
}

#[test]
fn a_key_asked_twice_in_a_line_is_asked_once_and_answered_twice() {
    let mut client = Client::new();
    client.ask_all(["a", "b", "a", "c", "a", "b"].map(get));
    assert_eq!(client.connection.in_flight(), 6);
    assert_eq!(client.write(), b"get a b c\r\n");
    assert_eq!(
        client.receive(b"VALUE b 1 1\r\n2\r\nVALUE c 1 1\r\n3\r\n"),
        Ok(6)
    );
    let (b, c) = (value("2", 1, None), value("3", 1, None));
    let misses = [(0, Reply::Miss), (2, Reply::Miss), (4, Reply::Miss)];
    assert_eq!(client.replies[..3], misses);
    assert_eq!(client.replies[3..], [(1, b.clone()), (5, b), (3, c)]);
    assert_eq!(client.receive(b"END\r\n"), Ok(0));
    assert_eq!(client.connection.in_flight(), 0);
}

#[test]
fn a_line_that_may_have_been_written_takes_no_more() {
    let mut client = Client::new();
    client.ask(get("a"));
    drop(client.connection.output());
    client.ask_all([get("a"), get("b")]);
    assert_eq!(client.write(), b"get a\r\nget a b\r\n");
}

#[test]
fn a_line_answers_a_bounded_number_of_requests() {
    let mut client = Client::new();
    client.ask_all((0..70_000).map(|_| get("hot")));
    assert_eq!(client.write(), b"get hot\r\nget hot\r\n");
    let reply = b"VALUE hot 0 1\r\nx\r\nEND\r\n";
    assert_eq!(client.receive(reply), Ok(65_536));
    assert_eq!(client.receive(reply), Ok(70_000 - 65_536));
    let tokens = client.replies.iter().map(|(token, _)| *token);
    assert!(tokens.eq(0..70_000));
}

#[test]
fn lines_of_outboxes_stay_apart() {
    let limits = Limits::default();
    let mut connection = Connection::new(limits);
    let mut outbox = Outbox::new(limits);
    connection.submit(&get("a"), 0).unwrap();
    outbox.submit(&get("b"), 1).unwrap();
    outbox.submit(&get("b"), 2).unwrap();
    connection.absorb(&mut outbox);
    assert!(outbox.is_empty());
    connection.submit(&get("b"), 3).unwrap();
    outbox.submit(&get("d"), 4).unwrap();
    connection.absorb(&mut outbox);

    let mut client = Client::new();
    client.connection = connection;
    assert_eq!(client.write(), b"get a\r\nget b\r\nget b\r\nget d\r\n");
    let reply = b"END\r\nVALUE b 0 1\r\n1\r\nEND\r\nVALUE b 0 1\r\n2\r\nEND\r\nEND\r\n";
    assert_eq!(client.receive(reply), Ok(5));
    let (first, second) = (value("1", 0, None), value("2", 0, None));
    let expected = [
        (0, Reply::Miss),
        (1, first.clone()),
        (2, first),
        (3, second),
    ];
    assert_eq!(client.replies[..4], expected);
    assert_eq!(client.replies[4..], [(4, Reply::Miss)]);
}

#[test]
fn an_error_line_ends_the_line_of_reads_alone() {
    for (came, answered) in [
        (&b""[..], 0),
        (b"VALUE a 0 1\r\n1\r\n", 1),
        (b"VALUE b 0 1\r\n1\r\n", 2),
        (b"VALUE c 0 1\r\n1\r\n", 3),
    ] {
        let mut client = Client::new();
        client.ask_all([get("a"), get("b"), get("c"), delete("d")]);
        client.write();
        client.receive(came).unwrap();
        assert_eq!(client.take_replies().len(), answered);
        client
            .receive(b"SERVER_ERROR out of memory\r\nDELETED\r\n")
            .unwrap();
        let replies = client.take_replies();
        let (last, errors) = replies.split_last().unwrap();
        assert_eq!(*last, (3, Reply::Deleted));
        assert_eq!(errors.len(), 3 - answered);
        for (_, reply) in errors {
            assert_eq!(error(reply).kind(), ServerErrorKind::Server);
            assert_eq!(error(reply).message(), "out of memory");
        }
    }
}
