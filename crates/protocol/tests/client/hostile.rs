//! Servers that send anything at all: nothing panics, memory stays bounded, and every token comes
//! out exactly once.

use bytes::Bytes;
use proptest::prelude::*;
use steersman_memcached_protocol::{Limits, Reply, Request};

use crate::sessions::SESSIONS;
use crate::support::{Client, delete, get, gets, set};

/// Limits that can be reached here.
const LIMITS: Limits = Limits {
    max_value_size: 5_000,
    max_line: 300,
    max_stats_items: 20,
    max_stats_bytes: 2_000,
    autobatch: true,
    max_batch_keys: 4,
    copy_below: 100,
};

/// The most that may stay in the input between two reads.
const MAX_LEFT: usize = 5_000 + 2;

/// Feeds `pieces` to a client that has asked and written; ends by closing the connection.
fn attack<'a>(mut client: Client, pieces: impl IntoIterator<Item = &'a [u8]>) {
    client.write();
    let asked = client.asked;
    let mut failure = None;
    for piece in pieces {
        let in_flight = client.connection.in_flight();
        let result = client.receive(piece);
        if let Some(failure) = &failure {
            assert_eq!(result.as_ref(), Err(failure));
        }
        match result {
            Ok(completed) => {
                assert_eq!(client.connection.in_flight(), in_flight - completed);
                assert!(client.input.len() < MAX_LEFT);
            }
            Err(error) => failure = Some(error),
        }
        if failure.is_none() {
            assert!(client.input.capacity() <= 4 * (MAX_LEFT + piece.len()));
        }
    }
    for (_, reply) in &client.replies {
        match reply {
            Reply::Value(value) => assert!(value.data.len() <= LIMITS.max_value_size),
            Reply::Stats(items) => assert!(items.len() <= LIMITS.max_stats_items),
            _ => {}
        }
    }
    let answered = client.take_replies().into_iter().map(|(token, _)| token);
    let closed: Vec<_> = client.close().into_iter().map(|(token, _)| token).collect();
    let mut tokens: Vec<_> = answered.chain(closed).collect();
    tokens.sort_unstable();
    assert!(tokens.into_iter().eq(0..asked));
    assert_eq!(client.connection.in_flight(), 0);
}

/// A client that waits for replies of every kind.
fn waiting() -> Client {
    let mut client = Client::with_limits(LIMITS);
    client.ask_all(["a", "b", "a", "c"].map(get));
    client.ask(set("a", &Bytes::from_static(b"x")));
    client.ask_all(["a", "b"].map(gets));
    client.ask_all([
        delete("a"),
        Request::Stats { args: None },
        Request::Version,
        Request::FlushAll { delay: None },
    ]);
    client
}

/// What replies are made of.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::sample::select(vec![
            "VALUE a 0 1\r\nx\r\n",
            "VALUE b 7 0\r\n\r\n",
            "VALUE c 0 150\r\n",
            "VALUE a 0 3 99\r\nxyz\r\n",
            "VALUE b 0 4999",
            "VALUE ",
            "a ",
            "0 ",
            "4294967295 ",
            "-1 ",
            "99999999999999999999 ",
            "END\r\n",
            "STORED\r\n",
            "DELETED\r\n",
            "NOT_FOUND\r\n",
            "OK\r\n",
            "VERSION 1.6.18\r\n",
            "STAT a 1\r\n",
            "STAT  \r\n",
            "SERVER_ERROR out of memory\r\n",
            "ERROR\r\n",
            "\r",
            "\n",
            "\r\n",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..200),
    ]
}

#[derive(Clone, Debug)]
enum Mutation {
    Flip(prop::sample::Index, u8),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let place = any::<prop::sample::Index>;
    prop_oneof![
        (place(), 1..=u8::MAX).prop_map(|(place, bits)| Mutation::Flip(place, bits)),
        (place(), 1..40_usize).prop_map(|(place, len)| Mutation::Remove(place, len)),
        (place(), 1..40_usize).prop_map(|(place, len)| Mutation::Repeat(place, len)),
        (place(), fragment()).prop_map(|(place, bytes)| Mutation::Insert(place, bytes)),
    ]
}

fn mutate(bytes: &mut Vec<u8>, mutation: Mutation) {
    if bytes.is_empty() {
        return;
    }
    let range = |place: prop::sample::Index, len: usize| {
        let start = place.index(bytes.len());
        start..(start + len).min(bytes.len())
    };
    match mutation {
        Mutation::Flip(place, bits) => {
            let place = place.index(bytes.len());
            bytes[place] ^= bits;
        }
        Mutation::Remove(place, len) => {
            let range = range(place, len);
            bytes.drain(range);
        }
        Mutation::Repeat(place, len) => {
            let range = range(place, len);
            let repeated = bytes[range.clone()].to_vec();
            bytes.splice(range.end..range.end, repeated);
        }
        Mutation::Insert(place, inserted) => {
            let place = place.index(bytes.len());
            bytes.splice(place..place, inserted);
        }
    }
}

proptest! {
    #[test]
    fn random_bytes(bytes: Vec<u8>, len in 1..50_usize) {
        attack(waiting(), bytes.chunks(len));
    }

    #[test]
    fn replies_in_any_order(
        fragments in prop::collection::vec(fragment(), 0..40),
        len in 1..200_usize,
    ) {
        attack(waiting(), fragments.concat().chunks(len));
    }

    #[test]
    fn recorded_sessions_with_mistakes(
        session in 0..SESSIONS.len(),
        mutations in prop::collection::vec(mutation(), 1..4),
        len in 1..200_usize,
    ) {
        let session = &SESSIONS[session];
        let mut received = session.received.to_vec();
        for mutation in mutations {
            mutate(&mut received, mutation);
        }
        let mut client = Client::with_limits(LIMITS);
        (session.ask)(&mut client);
        attack(client, received.chunks(len));
    }
}
