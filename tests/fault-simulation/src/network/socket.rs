//! One end of a connection, as a stream.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;
use xxhash_rust::xxh3::xxh3_64;

use super::Network;
use super::connection::Connection;
use super::pipe::Found;
use super::way::Direction;

/// One write in so many is taken in part only, and one read in so many gives less than there is.
const IN_PART: u64 = 4;

/// Whose end it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Client,
    Host,
}

impl Side {
    pub(super) fn outgoing(self) -> Direction {
        match self {
            Self::Client => Direction::Up,
            Self::Host => Direction::Down,
        }
    }

    pub(super) fn incoming(self) -> Direction {
        match self {
            Self::Client => Direction::Down,
            Self::Host => Direction::Up,
        }
    }
}

pub(super) struct Socket {
    network: Arc<Network>,
    connection: Arc<Connection>,
    side: Side,
    /// Until what is under way arrives.
    arrival: Option<Pin<Box<Sleep>>>,
    forgotten: bool,
}

/// What happens at an end, for the trace.
#[derive(Debug, Hash)]
enum Event {
    Wrote {
        connection: u64,
        by: Side,
        bytes: usize,
        digest: u64,
    },
    Read {
        connection: u64,
        by: Side,
        bytes: usize,
    },
    FoundEnd {
        connection: u64,
        by: Side,
    },
    FoundReset {
        connection: u64,
        by: Side,
    },
    Left {
        connection: u64,
        by: Side,
    },
}

impl Socket {
    pub(super) fn new(network: Arc<Network>, connection: Arc<Connection>, side: Side) -> Self {
        Self {
            network,
            connection,
            side,
            arrival: None,
            forgotten: false,
        }
    }

    /// Nobody is told that it ends.
    pub(super) fn forget(mut self) {
        self.forgotten = true;
    }

    fn note(&self, event: impl FnOnce(u64, Side) -> Event) {
        self.network
            .trace
            .note(&event(self.connection.number, self.side));
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            let found = {
                let mut state = this.connection.state();
                let mut most = buffer.remaining();
                if state.chance.one_in(IN_PART) {
                    most = state.chance.size(1..=most.clamp(1, 64));
                }
                let pipe = state.pipe(this.side.incoming());
                let found = pipe.take(most);
                if let Found::Nothing | Found::Later(_) = found {
                    pipe.await_reading(cx.waker());
                }
                found
            };
            match found {
                Found::Data(data) => {
                    let bytes = data.len();
                    this.note(|connection, by| Event::Read {
                        connection,
                        by,
                        bytes,
                    });
                    buffer.put_slice(&data);
                    return Poll::Ready(Ok(()));
                }
                Found::End => {
                    this.note(|connection, by| Event::FoundEnd { connection, by });
                    return Poll::Ready(Ok(()));
                }
                Found::Reset => {
                    this.note(|connection, by| Event::FoundReset { connection, by });
                    return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
                }
                Found::Nothing => return Poll::Pending,
                Found::Later(due) => {
                    let arrival = this
                        .arrival
                        .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
                    if arrival.deadline() != due {
                        arrival.as_mut().reset(due);
                    }
                    ready!(arrival.as_mut().poll(cx));
                }
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let (connection, side) = (&self.connection, self.side);
        let mut state = connection.state();
        if state.refuses(side) {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = connection.room(&mut state, side).min(bytes.len());
        if room == 0 && !bytes.is_empty() {
            state.pipe(side.outgoing()).await_writing(cx.waker());
            return Poll::Pending;
        }
        let taken = if room > 1 && state.chance.one_in(IN_PART) {
            state.chance.size(1..=room)
        } else {
            room
        };
        connection.write(&mut state, side, Bytes::copy_from_slice(&bytes[..taken]));
        drop(state);
        self.note(|connection, by| Event::Wrote {
            connection,
            by,
            bytes: taken,
            digest: xxh3_64(&bytes[..taken]),
        });
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.connection.end(self.side);
        Poll::Ready(Ok(()))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.connection.leave(self.side);
        if !self.forgotten {
            self.note(|connection, by| Event::Left { connection, by });
        }
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket")
            .field("connection", &self.connection.number)
            .field("side", &self.side)
            .finish_non_exhaustive()
    }
}
