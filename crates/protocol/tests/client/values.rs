//! Values of every size in pieces of every size, and whose memory they share.

use bytes::{BufMut, Bytes, BytesMut};
use steersman_memcached_protocol::{Limits, Reply, Request, Value};

use crate::support::{Client, get, value};

const MIB: usize = 1024 * 1024;

/// Bytes in which a wrong position shows.
fn pattern(len: usize) -> Vec<u8> {
    (0..251_u8).cycle().take(len).collect()
}

fn reply(data: &[u8]) -> Vec<u8> {
    let line = format!("VALUE k 0 {}\r\n", data.len());
    [line.as_bytes(), data, b"\r\nEND\r\n"].concat()
}

/// Receives a value in pieces of `len` bytes.
fn receive_in_pieces(client: &mut Client, data: &[u8], len: usize) -> Bytes {
    client.ask(get("k"));
    client.write();
    for piece in reply(data).chunks(len) {
        client.receive(piece).unwrap();
    }
    match client.take_replies().pop() {
        Some((_, Reply::Value(Value { data, .. }))) => data,
        other => panic!("expected a value, not {other:?}"),
    }
}

/// Takes ages if anything is looked at or moved again for every piece.
#[test]
fn a_large_value_in_small_segments() {
    let data = pattern(MIB);
    for len in [1, 1_448, 65_536] {
        assert_eq!(receive_in_pieces(&mut Client::new(), &data, len), data);
    }
}

/// As above: the line end is looked for where it was not looked for before.
#[test]
fn a_long_line_byte_by_byte() {
    let limits = Limits {
        max_line: 2 * MIB,
        ..Limits::default()
    };
    let mut client = Client::with_limits(limits);
    client.ask(Request::Version);
    client.write();
    let text = "1".repeat(MIB);
    for byte in format!("VERSION {text}\r\n").as_bytes().chunks(1) {
        client.receive(byte).unwrap();
    }
    assert_eq!(client.replies, [(0, Reply::Version(text))]);
}

#[test]
fn sizes_around_every_threshold() {
    let limits = Limits {
        copy_below: 8,
        ..Limits::default()
    };
    let mut client = Client::with_limits(limits);
    for size in 0..40 {
        let data = pattern(size);
        for len in 1..=size + 30 {
            assert_eq!(receive_in_pieces(&mut client, &data, len), data);
        }
    }
}

#[test]
fn room_for_a_large_value_is_reserved_once() {
    let mut client = Client::new();
    client.ask(get("k"));
    client.write();
    let data = pattern(MIB);
    let reply = reply(&data);
    client.receive(&reply[..20]).unwrap();
    let missing = MIB + 2 - client.input.len();
    assert!(client.input.capacity() - client.input.len() >= missing);
    let place = client.input.as_ptr();
    for piece in reply[20..].chunks(1_000) {
        client.receive(piece).unwrap();
    }
    let Some((_, Reply::Value(value))) = client.replies.pop() else {
        panic!("expected a value")
    };
    // Nothing moved, and the value is where it was read to.
    assert_eq!(value.data.as_ptr(), place);
    assert_eq!(value.data, data);
}

#[test]
fn small_values_are_copied_and_large_ones_shared() {
    let limits = Limits {
        copy_below: 100,
        ..Limits::default()
    };
    for (size, shared) in [(0, false), (99, false), (100, true)] {
        let mut client = Client::with_limits(limits);
        client.ask(get("k"));
        client.write();
        let data = pattern(size);
        client.input = BytesMut::with_capacity(4096);
        client.input.put_slice(&reply(&data));
        let buffer = client.input.as_ptr_range();
        client.receive(b"").unwrap();
        let Some((_, Reply::Value(value))) = client.replies.pop() else {
            panic!("expected a value")
        };
        assert_eq!(buffer.contains(&value.data.as_ptr()), shared, "{size}");
        assert_eq!(value.data, data);
    }
}

#[test]
fn values_that_look_like_replies() {
    for data in [
        "END\r\n",
        "\r\nEND\r\n",
        "VALUE k 0 3\r\nabc\r\nEND\r\n",
        "STORED\r\n",
        "SERVER_ERROR x\r\n",
        "\r\n",
        "\r",
        "\n",
        "trailing spaces   ",
        "trailing line ends\r\n\r\n",
        "\0",
    ] {
        for len in 1..40 {
            let mut client = Client::new();
            client.ask_all([get("k"), get("l")]);
            client.write();
            let line = format!(
                "VALUE k 5 {}\r\n{data}\r\nVALUE l 6 0\r\n\r\nEND\r\n",
                data.len()
            );
            for piece in line.as_bytes().chunks(len) {
                client.receive(piece).unwrap();
            }
            let expected = [(0, value(data, 5, None)), (1, value("", 6, None))];
            assert_eq!(client.take_replies(), expected);
        }
    }
}

#[test]
fn the_configuration_of_a_cluster() {
    let nodes = "12\ncache-1.example.com|10.0.0.1|11211 cache-2.example.com|10.0.0.2|11211\n";
    let received = format!("CONFIG cluster 0 {}\r\n{nodes}\r\nEND\r\n", nodes.len());
    for len in 1..received.len() {
        let mut client = Client::new();
        client.ask_all([Request::ClusterConfig, Request::ClusterConfig]);
        assert_eq!(client.write(), b"config get cluster\r\n".repeat(2));
        for piece in received.as_bytes().chunks(len) {
            client.receive(piece).unwrap();
        }
        // Where it is not known.
        client.receive(b"ERROR\r\n").unwrap();
        let replies = client.take_replies();
        assert_eq!(replies[0], (0, value(nodes, 0, None)));
        assert!(matches!(&replies[1], (1, Reply::Error(_))));
    }
}

#[test]
fn a_configuration_that_ends_in_an_error_is_forgotten() {
    let mut client = Client::new();
    client.ask_all([Request::ClusterConfig, Request::ClusterConfig]);
    client.write();
    client
        .receive(b"CONFIG cluster 0 1\r\nx\r\nSERVER_ERROR out of memory\r\n")
        .unwrap();
    client
        .receive(b"CONFIG cluster 0 1\r\ny\r\nEND\r\n")
        .unwrap();
    assert!(matches!(client.replies[0], (0, Reply::Error(_))));
    assert_eq!(client.replies[1], (1, value("y", 0, None)));
}
