//! The list of a server's keys, which is read line by line.

use bytes::{Bytes, BytesMut};
use steersman_memcached_protocol::{Dumped, Key, Metadump, ProtocolErrorKind};

use crate::pieces::Cut;

/// Longer lines are refused.
const MAX_LINE: usize = 2048;

/// Runs the target.
pub fn run(input: &[u8]) {
    let [whole, cut] = Cut::two(input).map(|cut| read(cut.apply(input)));
    assert_eq!(whole, cut, "the pieces made a difference");
    let (parts, _) = &whole;
    for (number, part) in parts.iter().enumerate() {
        match part {
            Dumped::Item(item) => check_key(&item.key),
            Dumped::End | Dumped::Refused(_) => {
                assert_eq!(number + 1, parts.len(), "something follows the end");
            }
        }
    }
}

fn check_key(key: &Bytes) {
    assert!(
        (1..=Key::MAX_LEN).contains(&key.len()),
        "a key of {} bytes",
        key.len()
    );
}

fn read<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Dumped>, Result<usize, ProtocolErrorKind>) {
    let mut dump = Metadump::new();
    let mut input = BytesMut::new();
    let mut parts = Vec::new();
    for piece in pieces {
        input.extend_from_slice(piece);
        loop {
            match dump.next(&mut input) {
                Ok(Some(part)) => parts.push(part),
                Ok(None) => break,
                Err(error) => return (parts, Err(error.kind())),
            }
        }
        assert!(input.len() < MAX_LINE, "{} bytes are held", input.len());
    }
    (parts, Ok(input.len()))
}
