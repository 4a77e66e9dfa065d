//! Nodes without a network: each connection answers what is written to it, at once and in memory.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, BytesMut};
use steersman_memcached::{Connecting, Connector, Endpoint, Transport};
use steersman_memcached_protocol::server::{Command, Event, Limits, Parser, Reply};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What every key holds.
const VALUE: [u8; 100] = [b'v'; 100];

/// Every node has every key, and stores whatever it is given.
pub(crate) struct Echoes;

impl Connector for Echoes {
    fn connect<'a>(&'a self, _: &'a Endpoint) -> Connecting<'a> {
        let connected: Box<dyn Transport> = Box::new(Echo {
            parser: Parser::new(Limits::default()),
            requests: BytesMut::new(),
            replies: BytesMut::new(),
            reader: None,
        });
        Box::pin(std::future::ready(Ok(connected)))
    }
}

struct Echo {
    parser: Parser,
    requests: BytesMut,
    replies: BytesMut,
    /// Who waits for replies.
    reader: Option<Waker>,
}

impl Echo {
    fn answer(&mut self, event: Event) {
        let replies = &mut self.replies;
        match event {
            Event::Request(request) => match request.command {
                Command::Get { keys, .. } => {
                    for key in keys {
                        let value = Reply::Value {
                            key: &key,
                            flags: 0,
                            data: &VALUE,
                            cas: None,
                        };
                        value.encode(replies);
                    }
                    Reply::End.encode(replies);
                }
                Command::Store { .. } => Reply::Stored.encode(replies),
                other => panic!("{other:?} is not measured"),
            },
            other => panic!("{other:?} is no request"),
        }
    }
}

impl AsyncRead for Echo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.replies.is_empty() {
            self.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let count = out.remaining().min(self.replies.len());
        out.put_slice(&self.replies[..count]);
        self.replies.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Echo {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.requests.extend_from_slice(bytes);
        while let Some(event) = this.parser.next(&mut this.requests) {
            this.answer(event);
        }
        if let Some(reader) = this.reader.take_if(|_| !this.replies.is_empty()) {
            reader.wake();
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
