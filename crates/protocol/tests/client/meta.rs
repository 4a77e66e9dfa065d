//! Meta commands: how they are spelled, what answers them, and what must not.

use bytes::Bytes;
use proptest::prelude::*;
use steersman_memcached_protocol::meta::{
    Arithmetic, BinaryKey, Command, Delete, Get, Reply as MetaReply, Set, SetMode, Status,
};
use steersman_memcached_protocol::{
    Expiry, Limits, ProtocolErrorKind, Reply, Request, RequestErrorKind,
};

use crate::support::{Client, delete, error, get, key, value};

fn meta<'a>(command: impl Into<Command<'a>>) -> Request<'a> {
    Request::Meta(command.into())
}

/// The meta reply in a reply; panics if it is none.
fn of_meta(reply: &Reply) -> &MetaReply {
    match reply {
        Reply::Meta(reply) => reply,
        other => panic!("expected a meta reply, not {other:?}"),
    }
}

fn written<'a>(command: impl Into<Command<'a>>) -> String {
    let mut client = Client::new();
    client.ask(meta(command));
    String::from_utf8(client.write()).unwrap()
}

#[test]
fn every_flag_is_spelled() {
    let (k, data) = (key("k"), Bytes::from_static(b"hi"));
    let soon = Expiry::at(2_000_000_000);
    let get = Get::new(k)
        .value()
        .client_flags()
        .cas()
        .ttl()
        .size()
        .hit_before()
        .last_access()
        .return_key()
        .no_bump()
        .opaque(u32::MAX)
        .touch(soon)
        .vivify(Expiry::IMMEDIATE)
        .recache_below(u32::MAX)
        .new_cas(u64::MAX)
        .unless_cas(1);
    assert_eq!(
        written(get),
        "mg k N-1 R2592000 c f h k l s t u v O4294967295 C1 E18446744073709551615 T2000000000\r\n"
    );
    let set = Set::new(k, &data)
        .mode(SetMode::Append)
        .client_flags(5)
        .expires(soon)
        .if_cas(6)
        .invalidate()
        .return_cas()
        .return_key()
        .return_size()
        .opaque(7)
        .vivify(Expiry::NEVER)
        .new_cas(8);
    assert_eq!(
        written(set),
        "ms k 2 c k s O7 C6 E8 F5 I MA N0 T2000000000\r\nhi\r\n"
    );
    let delete = Delete::new(k)
        .if_cas(1)
        .invalidate(Some(soon))
        .remove_value()
        .return_key()
        .opaque(2)
        .new_cas(3);
    assert_eq!(written(delete), "md k k x O2 C1 E3 I T2000000000\r\n");
    let count = Arithmetic::decrement(k, 10)
        .initial(3, Expiry::NEVER)
        .touch(soon)
        .if_cas(1)
        .return_value()
        .return_cas()
        .return_ttl()
        .return_key()
        .opaque(2)
        .new_cas(4);
    assert_eq!(
        written(count),
        "ma k D10 MD N0 J3 T2000000000 c k t v O2 C1 E4\r\n"
    );
    assert_eq!(written(Command::Inspect(k.into())), "me k\r\n");
    assert_eq!(written(Command::Noop), "mn\r\n");
}

#[test]
fn what_is_not_set_is_not_sent() {
    let data = Bytes::new();
    assert_eq!(written(Get::new(key("k"))), "mg k\r\n");
    assert_eq!(written(Set::new(key("k"), &data)), "ms k 0\r\n\r\n");
    assert_eq!(
        written(Set::new(key("k"), &data).mode(SetMode::Add)),
        "ms k 0 ME\r\n\r\n"
    );
    assert_eq!(written(Delete::new(key("k"))), "md k\r\n");
    assert_eq!(written(Arithmetic::increment(key("k"), 1)), "ma k\r\n");
}

#[test]
fn binary_keys_travel_in_base64() {
    let binary = BinaryKey::new(b"\x00 \r\n").unwrap();
    let data = Bytes::from_static(b"x");
    assert_eq!(
        written(Get::new(binary).return_key().opaque(1)),
        "mg ACANCg== b O1\r\n"
    );
    assert_eq!(written(Set::new(binary, &data)), "ms ACANCg== 1 b\r\nx\r\n");
    assert_eq!(
        written(Command::Inspect(binary.into())),
        "me ACANCg== b\r\n"
    );

    let mut client = Client::new();
    client.ask(meta(Delete::new(binary).return_key()));
    client.write();
    client.receive(b"HD kACANCg== b\r\n").unwrap();
    let replies = client.take_replies();
    assert_eq!(of_meta(&replies[0].1).key.as_deref(), Some(&b"\0 \r\n"[..]));
}

#[test]
fn they_mix_with_classic_commands() {
    let mut client = Client::new();
    let data = Bytes::from_static(b"hi");
    client.ask_all([
        get("a"),
        meta(Get::new(key("b")).value().cas().opaque(1)),
        get("c"),
        meta(Set::new(key("d"), &data).return_key()),
        delete("e"),
        meta(Command::Noop),
    ]);
    assert_eq!(
        client.write(),
        b"get a\r\nmg b c v O1\r\nget c\r\nms d 2 k\r\nhi\r\ndelete e\r\nmn\r\n"
    );
    client
        .receive(
            b"VALUE a 0 1\r\nA\r\nEND\r\nVA 5 c9 O1\r\nEND\r\n\r\nEND\r\nHD kd\r\nDELETED\r\nMN\r\n",
        )
        .unwrap();
    let replies = client.take_replies();
    assert_eq!(replies[0], (0, value("A", 0, None)));
    let read = of_meta(&replies[1].1);
    assert_eq!(read.status, Status::Value);
    assert_eq!((read.cas, read.opaque), (Some(9), Some(1)));
    assert_eq!(read.value.as_deref(), Some(&b"END\r\n"[..]));
    assert_eq!(replies[2], (2, Reply::Miss));
    assert_eq!(of_meta(&replies[3].1).status, Status::Done);
    assert_eq!(replies[4], (4, Reply::Deleted));
    assert_eq!(of_meta(&replies[5].1).status, Status::Noop);
    assert_eq!(client.connection.in_flight(), 0);
}

#[test]
fn a_given_up_command_keeps_its_place() {
    let mut client = Client::new();
    let asks = [1, 2].map(|opaque| meta(Get::new(key("k")).value().opaque(opaque)));
    let ticket = client.connection.submit(&asks[0], 0).unwrap();
    client.connection.submit(&asks[1], 1).unwrap();
    client.write();
    client.receive(b"VA 3 O1\r\nol").unwrap();
    assert_eq!(client.connection.cancel(ticket), Some(0));
    client.receive(b"d\r\nVA 3 O2\r\nnew\r\n").unwrap();
    let replies = client.take_replies();
    assert_eq!(replies.len(), 1);
    assert_eq!(replies[0].0, 1);
    assert_eq!(of_meta(&replies[0].1).value.as_deref(), Some(&b"new"[..]));
}

#[test]
fn error_lines_answer_the_command_in_turn() {
    let mut client = Client::new();
    client.ask_all([1, 2].map(|opaque| meta(Get::new(key("k")).return_key().opaque(opaque))));
    client.write();
    client
        .receive(b"CLIENT_ERROR invalid flag\r\nHD kk O2\r\n")
        .unwrap();
    let replies = client.take_replies();
    assert_eq!(error(&replies[0].1).message(), "invalid flag");
    assert_eq!(of_meta(&replies[1].1).opaque, Some(2));
}

#[test]
fn a_reply_to_another_command_ends_the_connection() {
    for line in [
        "HD O2\r\n",
        "EN O2\r\n",
        "VA 1 O2\r\nx\r\n",
        "HD kother O1\r\n",
    ] {
        let mut client = Client::new();
        client.ask(meta(Get::new(key("k")).value().return_key().opaque(1)));
        client.write();
        let error = client.receive(line.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ProtocolErrorKind::UnexpectedKey, "{line}");
        assert!(
            error
                .to_string()
                .contains(r#"with key "k" with opaque "1""#),
            "{error}"
        );
        assert_eq!(client.take_replies(), []);
        assert_eq!(client.close(), [(0, true)]);
    }
}

#[test]
fn what_a_server_declares_is_bounded() {
    let limits = Limits {
        max_value_size: 10,
        max_line: 40,
        ..Limits::default()
    };
    let ask = || meta(Get::new(key("k")).value());
    for (bytes, kind) in [
        ("VA 11\r\n", ProtocolErrorKind::ValueTooLarge),
        (
            "VA 18446744073709551615\r\n",
            ProtocolErrorKind::ValueTooLarge,
        ),
        (
            "VA 18446744073709551616\r\n",
            ProtocolErrorKind::UnexpectedReply,
        ),
        (
            "HD                                        ",
            ProtocolErrorKind::LineTooLong,
        ),
        ("VA 1\r\nxy\r\n", ProtocolErrorKind::BadValueEnd),
        ("STORED\r\n", ProtocolErrorKind::UnexpectedReply),
    ] {
        let mut client = Client::with_limits(limits);
        client.ask(ask());
        client.write();
        let error = client.receive(bytes.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), kind, "{bytes}");
    }
    let data = Bytes::from_static(b"eleven byte");
    let mut client = Client::with_limits(limits);
    let set = meta(Set::new(key("k"), &data));
    let error = client.connection.submit(&set, 0).unwrap_err();
    assert_eq!(error.kind(), RequestErrorKind::ValueTooLarge);
}

#[test]
fn only_what_changes_something_can_go_without_its_reply() {
    let mut client = Client::new();
    let data = Bytes::from_static(b"hi");
    let quiet = |client: &mut Client, request| client.connection.submit_quiet(&request);
    quiet(&mut client, meta(Set::new(key("k"), &data).opaque(1))).unwrap();
    quiet(&mut client, meta(Delete::new(key("k")))).unwrap();
    for request in [meta(Get::new(key("k"))), meta(Command::Noop)] {
        let error = quiet(&mut client, request).unwrap_err();
        assert_eq!(error.kind(), RequestErrorKind::NeedsReply);
    }
    client.write();
    assert_eq!(client.connection.quiet_in_flight(), 2);
    client.receive(b"HD O1\r\nNF\r\n").unwrap();
    assert_eq!(client.take_replies(), []);
    assert_eq!(client.connection.in_flight(), 0);
}

/// A reply to `mg k v k O..` as a server may send it, or nearly.
fn replies() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof![
        6 => (0..30_usize, "( [cfstl][0-9]{1,3}| [WXZ]| h1){0,3}")
            .prop_map(|(len, flags)| format!("VA {len} kk{flags}\r\n{}\r\n", "x\r\nVA 1\r\n".chars().cycle().take(len).collect::<String>())),
        2 => Just("EN kk\r\n".to_owned()),
        2 => Just("HD\r\n".to_owned()),
        1 => Just("SERVER_ERROR x\r\n".to_owned()),
        1 => "[ -~]{0,12}".prop_map(|line| line + "\r\n"),
    ];
    prop::collection::vec(line, 1..8)
}

proptest! {
    #[test]
    fn pieces_of_any_size_are_answered_alike(
        replies in replies(),
        cuts in prop::collection::vec(1..20_usize, 1..8),
        copy_below in prop_oneof![Just(0_usize), Just(10), Just(100)],
    ) {
        let bytes = replies.concat().into_bytes();
        let play = |limits: Limits, cuts: &[usize]| {
            let mut client = Client::with_limits(limits);
            client.ask_all(replies.iter().map(|_| meta(Get::new(key("k")).value().return_key())));
            client.write();
            let (mut rest, mut error) = (&bytes[..], None);
            for cut in cuts.iter().cycle() {
                let (piece, behind) = rest.split_at((*cut).min(rest.len()));
                rest = behind;
                error = client.receive(piece).err().map(|error| error.kind());
                if rest.is_empty() || error.is_some() {
                    break;
                }
            }
            (client.take_replies(), error)
        };
        let whole = play(Limits::default(), &[usize::MAX]);
        let cut = play(Limits { copy_below, ..Limits::default() }, &cuts);
        prop_assert_eq!(whole, cut);
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes: Vec<u8>) {
        let mut client = Client::new();
        client.ask(meta(Get::new(key("k")).value().opaque(1)));
        client.ask(meta(Arithmetic::increment(key("k"), 1).return_value()));
        client.ask(meta(Command::Inspect(key("k").into())));
        client.write();
        let _ = client.receive(&bytes);
        prop_assert!(client.take_replies().len() + client.close().len() == 3);
    }
}
