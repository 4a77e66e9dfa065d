//! One question and its answer on a connection that nobody else uses yet.

use std::{fmt, io};

use bytes::{Buf, BytesMut};
use steersman_memcached_protocol::{Connection, Limits, Reply, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::transport::Transport;

/// Why there is no reply.
#[derive(Debug)]
pub(crate) enum Failure {
    Broken(io::Error),
    /// What came is none.
    NoReply(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                f.write_str("the server closed the connection")
            }
            Self::Broken(error) => write!(f, "the connection broke: {error}"),
            Self::NoReply(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Failure {}

/// Sends `request` and waits for its reply; nothing else may come.
pub(crate) async fn ask(
    transport: &mut dyn Transport,
    limits: Limits,
    request: &Request<'_>,
) -> Result<Reply, Failure> {
    let mut machine = Connection::new(limits);
    machine
        .submit(request, ())
        .map_err(|error| Failure::NoReply(error.to_string()))?;
    let sent = send(transport, &mut machine).await;
    let mut input = BytesMut::new();
    let mut answer = None;
    loop {
        // A server that closes the connection may have said why.
        let error = match (transport.read_buf(&mut input).await, &sent) {
            (Ok(1..), _) => None,
            (Ok(0), Ok(())) => Some(io::ErrorKind::UnexpectedEof.into()),
            (Err(error), Ok(())) => Some(error),
            (Err(error), Err(_)) if error.kind() == io::ErrorKind::InvalidData => Some(error),
            (_, Err(error)) => Some(error.kind().into()),
        };
        if let Some(error) = error {
            return Err(Failure::Broken(error));
        }
        machine
            .feed(&mut input, &mut |(), reply| answer = Some(reply))
            .map_err(|error| Failure::NoReply(error.to_string()))?;
        if let Some(answer) = answer.take() {
            return Ok(answer);
        }
    }
}

async fn send(transport: &mut dyn Transport, machine: &mut Connection<()>) -> io::Result<()> {
    while machine.has_output() {
        let mut output = machine.output();
        let written = transport.write(output.chunk()).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        output.advance(written);
    }
    transport.flush().await
}
