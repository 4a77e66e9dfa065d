//! The loop of a connection: read, turn what was read into what is to be sent, send.
//!
//! One task does all of it, so that a slow peer holds up nobody else and a reply costs no hand-over.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::sleep_until;

use crate::fault::Faults;
use crate::outbox::{Next, Outbox};
use crate::stream::Ending;

/// At least so much room is made before each read.
const READ: usize = 16 * 1024;

/// What turns input into output.
pub(crate) trait Work {
    /// Takes input and pushes output, until the input is used up or the outbox is full. Called
    /// again when there is more input or room.
    fn work(&mut self, input: &mut BytesMut, outbox: &mut Outbox);

    /// Learns that so many bytes were received.
    fn received(&mut self, bytes: usize);

    /// Learns that so many bytes were sent.
    fn sent(&mut self, bytes: usize);
}

/// Works until the source ends and everything is sent, the outbox ends the connection, or either
/// end fails.
pub(crate) async fn relay(
    source: &mut (impl AsyncRead + Unpin),
    sink: &mut (impl AsyncWrite + Unpin),
    faults: &Faults,
    mut outbox: Outbox,
    work: &mut impl Work,
) -> io::Result<Ending> {
    let mut changes = faults.changes();
    let mut input = BytesMut::new();
    loop {
        let is_frozen = faults.is_frozen();
        if !is_frozen {
            work.work(&mut input, &mut outbox);
        }
        let may_read = !is_frozen && !outbox.is_full() && !outbox.is_ending();
        let (bytes, due) = match outbox.next() {
            Next::Write(bytes) => (Some(bytes), None),
            Next::At(due) => (None, Some(due)),
            Next::Idle | Next::Held => (None, None),
            Next::End(ending) => return Ok(ending),
        };
        if may_read {
            input.reserve(READ);
        }
        tokio::select! {
            biased;
            written = sink.write(bytes.unwrap_or_default()), if bytes.is_some() => {
                let written = written?;
                if written == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                outbox.advance(written);
                work.sent(written);
                if faults.is_active() {
                    // A split reply is to be seen in its pieces.
                    tokio::task::yield_now().await;
                }
            }
            () = sleep_until(due.unwrap_or_else(tokio::time::Instant::now)), if due.is_some() => {}
            read = source.read_buf(&mut input), if may_read => {
                match read? {
                    0 => outbox.end_after(Ending::Close),
                    bytes => work.received(bytes),
                }
            }
            () = changes.changed() => {}
        }
    }
}
