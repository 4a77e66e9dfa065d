//! A connection without a network: what is written goes nowhere, what is read is given.

use std::hint::black_box;

use bytes::{Buf, BytesMut};
use steersman_memcached_protocol::{Connection, Limits, Outbox, Reply};

/// The client's side of a connection, its steps one by one. Tokens are numbers.
pub(crate) struct Driver {
    connection: Connection<usize>,
    pub(crate) outbox: Outbox<usize>,
    input: BytesMut,
}

impl Driver {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            connection: Connection::new(limits),
            outbox: Outbox::new(limits),
            input: BytesMut::new(),
        }
    }

    /// Writes what is in the outbox.
    pub(crate) fn write(&mut self) {
        self.connection.absorb(&mut self.outbox);
        let mut output = self.connection.output();
        output.advance(output.remaining());
    }

    /// Lets these bytes come from the network.
    pub(crate) fn receive(&mut self, replies: &[u8]) {
        self.input.extend_from_slice(replies);
    }

    /// Reads what came: the replies to all that was written.
    pub(crate) fn read(&mut self) {
        let mut sink = |token, reply: Reply| drop(black_box((token, reply)));
        self.connection
            .feed(&mut self.input, &mut sink)
            .expect("the replies are valid");
        assert_eq!(self.connection.in_flight(), 0);
    }
}

/// Keys of a usual length, all different.
pub(crate) fn keys(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("user:{n:08}:profile")).collect()
}

/// The reply to a read of these keys, all of which have the value.
pub(crate) fn values(keys: &[String], value: &[u8]) -> Vec<u8> {
    let mut reply = Vec::new();
    for key in keys {
        reply.extend(format!("VALUE {key} 0 {}\r\n", value.len()).bytes());
        reply.extend_from_slice(value);
        reply.extend(b"\r\n");
    }
    reply.extend(b"END\r\n");
    reply
}
