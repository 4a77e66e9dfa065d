//! Cancelling, quiet requests, closing, and what is written when.

use bytes::{Buf, Bytes};
use steersman_memcached_protocol::{
    Connection, Limits, Outbox, ProtocolErrorKind, ReadKind, Reply, Request, RequestErrorKind,
    StatsArgs, StoreVerb,
};

use crate::support::{Client, delete, get, key, set, store, value};

#[test]
fn a_cancelled_request_keeps_its_place() {
    let mut client = Client::new();
    let tickets = ["a", "b", "c"].map(|name| client.connection.submit(&get(name), 0).unwrap());
    let last = client.connection.submit(&delete("d"), 1).unwrap();
    assert_eq!(client.connection.cancel(tickets[1]), Some(0));
    assert_eq!(client.connection.cancel(tickets[1]), None);
    assert_eq!(client.connection.in_flight(), 4);
    assert_eq!(client.connection.waiting().count(), 3);

    client.write();
    let secret = b"VALUE b 0 6\r\nsecret\r\nEND\r\nDELETED\r\n";
    assert_eq!(client.receive(secret), Ok(4));
    let expected = [(0, Reply::Miss), (0, Reply::Miss), (1, Reply::Deleted)];
    assert_eq!(client.replies, expected);
    // Answered requests can't be cancelled, and their tickets fit no later one.
    client.ask(get("e"));
    assert_eq!(client.connection.cancel(last), None);
    assert_eq!(client.connection.cancel(tickets[0]), None);
    assert_eq!(client.connection.waiting().count(), 1);
}

#[test]
fn cancelling_one_of_two_that_share_an_answer() {
    for cancelled in 0..3 {
        let mut client = Client::new();
        let tickets = [0, 1, 2].map(|n| client.connection.submit(&get("a"), n).unwrap());
        assert_eq!(
            client.connection.cancel(tickets[cancelled]),
            Some(cancelled)
        );
        client.write();
        assert_eq!(client.receive(b"VALUE a 0 1\r\nx\r\nEND\r\n"), Ok(3));
        let answered: Vec<_> = client.replies.iter().map(|(token, _)| *token).collect();
        let others: Vec<_> = (0..3).filter(|n| *n != cancelled).collect();
        assert_eq!(answered, others);
    }
}

#[test]
fn quiet_requests_are_answered_in_turn_to_nobody() {
    let mut client = Client::new();
    let data = Bytes::from_static(b"x");
    client.connection.submit_quiet(&set("a", &data)).unwrap();
    client.ask(get("a"));
    client.connection.submit_quiet(&delete("b")).unwrap();
    client
        .connection
        .submit_quiet(&Request::FlushAll { delay: None })
        .unwrap();
    client.ask(delete("c"));
    assert_eq!(client.connection.in_flight(), 5);
    assert_eq!(client.connection.quiet_in_flight(), 3);
    assert_eq!(client.connection.waiting().count(), 2);
    // The word noreply is not used: an error would be answered all the same.
    assert_eq!(
        client.write(),
        b"set a 0 0 1\r\nx\r\nget a\r\ndelete b\r\nflush_all\r\ndelete c\r\n"
    );
    let replies = b"SERVER_ERROR out of memory storing object\r\nEND\r\nNOT_FOUND\r\nERROR\r\n";
    assert_eq!(client.receive(replies), Ok(4));
    assert_eq!(client.connection.quiet_in_flight(), 0);
    assert_eq!(client.receive(b"DELETED\r\n"), Ok(1));
    assert_eq!(client.replies, [(0, Reply::Miss), (1, Reply::Deleted)]);
}

#[test]
fn what_is_asked_for_its_reply_is_not_quiet() {
    let mut outbox = Outbox::<()>::new(Limits::default());
    let args = StatsArgs::new(b"reset").ok();
    for request in [
        get("a"),
        Request::Version,
        Request::Stats { args },
        Request::ClusterConfig,
    ] {
        let error = outbox.submit_quiet(&request).unwrap_err();
        assert_eq!(error.kind(), RequestErrorKind::NeedsReply);
        assert!(error.to_string().starts_with(request.command()));
    }
    assert!(outbox.is_empty());
}

#[test]
fn requests_that_memcached_would_misread_are_refused() {
    let limits = Limits {
        max_value_size: 10,
        ..Limits::default()
    };
    let mut client = Client::with_limits(limits);
    let data = Bytes::from(vec![0; 11]);
    let month_and_more = Request::FlushAll {
        delay: Some(2_592_001),
    };
    for (request, kind) in [
        (set("a", &data), RequestErrorKind::ValueTooLarge),
        (month_and_more, RequestErrorKind::DelayTooLong),
    ] {
        let error = client.connection.submit(&request, 0).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(
            client.connection.submit_quiet(&request).unwrap_err().kind(),
            kind
        );
    }
    assert!(!client.connection.has_output());
    assert_eq!(client.connection.in_flight(), 0);
    client.ask(set("a", &data.slice(..10)));
}

#[test]
fn closing_tells_what_was_written() {
    let data = Bytes::from(vec![b'x'; 10_000]);
    let upto = |text: &str| text.len();
    let line = "delete a\r\nget b c\r\n";
    for (taken, written) in [
        (0, 0),
        (1, 1),
        (upto("delete a\r\n"), 1),
        (upto("delete a\r\ng"), 4),
        (upto(line), 4),
        (upto(line) + 1, 5),
        (upto(line) + "set d 0 0 10000\r\n".len() + 9_999, 5),
        (upto(line) + "set d 0 0 10000\r\n\r\n".len() + 10_000, 5),
        (upto(line) + "set d 0 0 10000\r\n\r\n".len() + 10_001, 6),
    ] {
        let mut client = Client::new();
        client.ask(delete("a"));
        client.ask_all([get("b"), get("c"), get("b")]);
        client.ask(set("d", &data));
        client.ask(delete("e"));
        client.connection.output().advance(taken);
        let unanswered = client.close();
        let expected = (0..6)
            .map(|token| (token, token < written))
            .collect::<Vec<_>>();
        assert_eq!(unanswered, expected, "after {taken} bytes");
        assert_eq!(client.connection.in_flight(), 0);
        assert!(!client.connection.has_output());
        assert_eq!(client.close(), []);
    }
}

#[test]
fn closing_in_the_middle_of_a_reply() {
    let mut client = Client::new();
    client.ask_all([get("a"), get("b"), get("c"), get("b"), delete("d")]);
    client.connection.submit_quiet(&delete("e")).unwrap();
    client.write();
    // A value cut short by the end of the connection is nobody's.
    client.receive(b"VALUE b 0 5\r\nhal").unwrap();
    assert_eq!(client.replies, [(0, Reply::Miss)]);
    let expected = [1, 2, 3, 4].map(|token| (token, true));
    assert_eq!(client.close(), expected);
    assert_eq!(client.connection.in_flight(), 0);
    assert_eq!(client.connection.quiet_in_flight(), 0);
    // Nobody waits for the rest of the value.
    let error = client.receive(b"f").unwrap_err();
    assert_eq!(error.kind(), ProtocolErrorKind::Unsolicited);
}

#[test]
fn a_closed_connection_takes_nothing() {
    let mut client = Client::new();
    client.close();
    let refused = [
        client.connection.submit(&get("a"), 0).map(|_| ()),
        client.connection.submit_quiet(&delete("a")),
        client
            .connection
            .submit_reads(ReadKind::Get, [(key("a"), 0)]),
    ];
    for result in refused {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), RequestErrorKind::Closed);
        assert!(!error.can_continue() && error.is_retryable());
    }
    let mut outbox = Outbox::new(Limits::default());
    outbox.submit(&get("a"), 7).unwrap();
    client.connection.absorb(&mut outbox);
    assert_eq!(outbox.len(), 1);
    let mut tokens = Vec::new();
    outbox.clear(&mut |token| tokens.push(token));
    assert_eq!(tokens, [7]);
    assert!(outbox.is_empty());
}

#[test]
fn a_cleared_outbox_starts_anew() {
    let mut outbox = Outbox::new(Limits::default());
    let data = Bytes::from(vec![b'x'; 10_000]);
    outbox.submit(&set("a", &data), 0).unwrap();
    outbox.submit_quiet(&delete("a")).unwrap();
    outbox.submit(&get("a"), 1).unwrap();
    outbox.submit(&get("a"), 2).unwrap();
    assert_eq!(outbox.len(), 4);
    let mut tokens = Vec::new();
    outbox.clear(&mut |token| tokens.push(token));
    assert_eq!(tokens, [0, 1, 2]);

    outbox.submit(&get("a"), 3).unwrap();
    let mut connection = Connection::new(Limits::default());
    connection.absorb(&mut outbox);
    assert_eq!(connection.output().chunk(), b"get a\r\n");
}

#[test]
fn large_values_are_written_from_where_they_are() {
    let mut client = Client::new();
    let data = Bytes::from(vec![b'x'; 100_000]);
    client.ask_all([set("a", &data), store(StoreVerb::Append, "b", &data)]);
    let output = client.connection.output();
    let mut slices = [std::io::IoSlice::new(&[]); 8];
    let filled = output.chunks_vectored(&mut slices);
    assert_eq!(filled, 5);
    assert_eq!(slices[1].as_ptr(), data.as_ptr());
    assert_eq!(slices[3].as_ptr(), data.as_ptr());
    assert_eq!(&*slices[2], b"\r\nappend b 0 0 100000\r\n");
}

#[test]
fn a_window_bounds_what_is_written_and_unanswered() {
    let mut client = Client::new();
    let small = Bytes::from(vec![b'x'; 100]);
    let large = Bytes::from(vec![b'x'; 20_000]);
    let command = "set a 0 0 100\r\n\r\n".len() + 100;
    let large_command = "set a 0 0 20000\r\n\r\n".len() + 20_000;
    client.ask_all([
        set("a", &small),
        set("a", &small),
        set("a", &large),
        set("a", &small),
    ]);
    let write = |client: &mut Client| {
        let mut output = client.connection.output_within(150);
        let len = output.remaining();
        output.advance(len);
        len
    };
    // A second one does not fit as a whole.
    assert_eq!(write(&mut client), command);
    assert_eq!(write(&mut client), 0);
    client.receive(b"STORED\r\n").unwrap();
    assert_eq!(write(&mut client), command);
    client.receive(b"STORED\r\n").unwrap();
    // The large one alone, and in as many parts as its writer takes.
    client.connection.output_within(150).advance(5);
    assert_eq!(write(&mut client), large_command - 5);
    assert_eq!(write(&mut client), 0);
    client.receive(b"STORED\r\n").unwrap();
    assert_eq!(write(&mut client), command);
    assert!(!client.connection.has_output());
    assert_eq!(write(&mut client), 0);
}

#[test]
fn a_window_holds_as_many_commands_as_fit() {
    let data = Bytes::from(vec![b'x'; 100]);
    let command = "set a 0 0 100\r\n\r\n".len() + 100;
    for (window, whole) in [
        (command * 3 - 1, 2),
        (command * 3, 3),
        (command * 3 + 1, 3),
        (command * 9, 5),
        (0, 1),
    ] {
        let mut client = Client::new();
        client.ask_all((0..5).map(|_| set("a", &data)));
        let output = client.connection.output_within(window as u64);
        assert_eq!(output.remaining(), command * whole, "{window}");
    }
}

#[test]
fn a_window_counts_whole_lines_of_reads() {
    let mut client = Client::new();
    client.ask_all([get("a"), get("b")]);
    let mut output = client.connection.output_within(0);
    let len = output.remaining();
    assert_eq!(output.copy_to_bytes(len), &b"get a b\r\n"[..]);
}

#[test]
fn the_server_owes_a_reply_once_it_has_the_whole_request() {
    let mut client = Client::new();
    assert!(client.connection.front_is_written());
    let data = Bytes::from(vec![b'x'; 10_000]);
    client.ask_all([get("a"), get("b"), set("c", &data)]);
    let line = "get a b\r\n".len();
    for taken in 0..line {
        assert!(!client.connection.front_is_written(), "after {taken} bytes");
        client.connection.output().advance(1);
    }
    assert!(client.connection.front_is_written());
    client.receive(b"END\r\n").unwrap();
    assert!(!client.connection.front_is_written());
    let rest = client.connection.output().remaining();
    client.connection.output().advance(rest - 1);
    assert!(!client.connection.front_is_written());
    client.connection.output().advance(1);
    assert!(client.connection.front_is_written());
    client.receive(b"STORED\r\n").unwrap();
    assert!(client.connection.front_is_written());
}

#[test]
fn tickets_and_tokens_after_many_rounds() {
    let mut client = Client::new();
    for round in 0..1_000 {
        client.asked = round * 3;
        client.ask_all([get("a"), get("b")]);
        let last = client.connection.submit(&get("a"), round * 3 + 2).unwrap();
        if round % 2 == 0 {
            assert_eq!(client.connection.cancel(last), Some(round * 3 + 2));
        }
        client.write();
        client.receive(b"VALUE a 0 1\r\nx\r\nEND\r\n").unwrap();
        let first = (round * 3, value("x", 0, None));
        let mut expected = vec![first.clone()];
        if round % 2 == 1 {
            expected.push((round * 3 + 2, first.1));
        }
        expected.push((round * 3 + 1, Reply::Miss));
        assert_eq!(client.take_replies(), expected);
    }
}
