//! What a server makes of requests, and that they come out as the client meant them.
//!
//! However the bytes are cut the events are the same, and within the limits. What a client can say of
//! them is said, and read again: it must be what was meant, and nothing besides.

use bytes::{Buf, BytesMut};
use steersman_memcached_protocol::server::{
    Command, Event, Limits, MAX_KEY_LEN, Parser, item_size,
};
use steersman_memcached_protocol::{Connection, Outbox};

use crate::asked::{Asked, What};
use crate::pieces::Cut;

/// A line that is longer is taken if it comes at once, and refused if it does not, by memcached too. So
/// shorter inputs are the same however they are cut.
const MAX_PLAIN_LINE: usize = 2048;

/// Small, so that inputs exceed them.
const LIMITS: Limits = Limits {
    max_item_size: 200,
    max_line_len: 4096,
};

/// Runs the target.
pub fn run(input: &[u8]) {
    let [whole, cut] = Cut::two(input).map(|cut| events(cut.apply(input)));
    for event in &whole {
        check(event);
    }
    if input.len() <= MAX_PLAIN_LINE {
        assert_eq!(whole, cut, "the pieces made a difference");
    }
    round_trip(&Asked::read(input));
}

fn events<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut parser = Parser::new(LIMITS);
    let mut input = BytesMut::new();
    let mut events = Vec::new();
    for piece in pieces {
        input.extend_from_slice(piece);
        while let Some(event) = parser.next(&mut input) {
            events.push(event);
        }
        let bound = LIMITS.max_line_len.max(LIMITS.max_item_size) + piece.len();
        assert!(input.len() <= bound, "{} bytes are held", input.len());
    }
    let closed = events.iter().position(|event| *event == Event::Close);
    assert!(
        closed.is_none_or(|at| at + 1 == events.len()),
        "something follows the end"
    );
    events
}

fn check(event: &Event) {
    let keys = match event {
        Event::Request(request) => match &request.command {
            Command::Get { keys, .. } | Command::GetAndTouch { keys, .. } => keys.clone().collect(),
            Command::Store {
                key, flags, value, ..
            } => {
                assert!(item_size(key.len(), *flags, value.len()) <= LIMITS.max_item_size);
                vec![key.clone()]
            }
            Command::Increment { key, .. }
            | Command::Decrement { key, .. }
            | Command::Touch { key, .. }
            | Command::Delete { key } => vec![key.clone()],
            Command::MetaGet(meta) | Command::MetaDelete(meta) | Command::MetaArithmetic(meta) => {
                vec![meta.key.clone()]
            }
            Command::MetaSet { request, value } => {
                let size = item_size(request.key.len(), request.client_flags, value.len());
                assert!(size <= LIMITS.max_item_size);
                vec![request.key.clone()]
            }
            _ => Vec::new(),
        },
        Event::Rejected { reason, .. } => {
            assert!(!reason.as_str().contains(['\r', '\n']));
            Vec::new()
        }
        Event::TooLarge { key, .. } => vec![key.clone()],
        Event::Close => Vec::new(),
    };
    for key in keys {
        assert!(
            (1..=MAX_KEY_LEN).contains(&key.len()),
            "a key of {} bytes",
            key.len()
        );
    }
}

/// What the client writes is read as it was meant.
fn round_trip(asked: &[Asked]) {
    let limits = steersman_memcached_protocol::Limits {
        autobatch: false,
        ..steersman_memcached_protocol::Limits::default()
    };
    let mut outbox = Outbox::new(limits);
    for one in asked {
        let sent = one.submit(&mut outbox, ());
        assert!(matches!(sent, Some(Ok(()))), "{one:?} can't be sent");
    }
    let mut connection = Connection::new(limits);
    connection.absorb(&mut outbox);
    let length = connection.output().remaining();
    let written = connection.output().copy_to_bytes(length);
    let read = Asked::read(&written);
    assert_eq!(
        read.len(),
        asked.len(),
        "{:?}",
        written.escape_ascii().to_string()
    );
    for (asked, read) in asked.iter().zip(&read) {
        // The client never says `noreply`.
        assert!(!read.quiet);
        let same = match (&asked.what, &read.what) {
            (What::Meta(asked), What::Meta(read)) => asked.means(read),
            (asked, read) => asked == read,
        };
        assert!(same, "{asked:?} became {read:?}");
    }
}
