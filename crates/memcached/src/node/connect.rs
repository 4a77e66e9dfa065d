//! From an endpoint to a connection that can be used, within the connection time-out.

use std::io;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use steersman_memcached_protocol::{Connection, Reply, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::address::Endpoint;
use crate::error::{Error, ErrorKind, Stage};
use crate::options::Options;
use crate::transport::Transport;

/// Connects, and with `must_answer` waits until the server has answered a request.
pub(super) async fn open(
    endpoint: &Endpoint,
    options: &Options,
    must_answer: bool,
) -> Result<Box<dyn Transport>, Error> {
    let attempt = async {
        let mut transport = options.connector.connect(endpoint).await?;
        if must_answer {
            probe(&mut *transport, options).await?;
        }
        Ok(transport)
    };
    // A stopped server accepts and never answers: wait for it no longer than for any reply.
    let limit = match (options.connection_timeout, options.stalled_after) {
        (Some(connect), Some(stalled)) if must_answer => Some(connect.min(stalled)),
        (connect, _) => connect,
    };
    let made = match limit {
        Some(limit) => match tokio::time::timeout(limit, attempt).await {
            Ok(made) => made,
            Err(_) => return Err(timed_out(endpoint, limit, must_answer)),
        },
        None => attempt.await,
    };
    made.map_err(|error: io::Error| {
        let hint = match error.kind() {
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => {
                "; is memcached running there?"
            }
            _ => "",
        };
        let what = match error.kind() {
            io::ErrorKind::ConnectionRefused => "the connection was refused".to_owned(),
            _ => format!("cannot connect: {error}"),
        };
        Error::new(
            ErrorKind::Unreachable,
            Stage::Connecting,
            format!("{what}{hint}"),
        )
        .with_source(error)
    })
}

fn timed_out(endpoint: &Endpoint, limit: Duration, must_answer: bool) -> Error {
    let what = if must_answer {
        "no answer from"
    } else {
        "no connection to"
    };
    Error::new(
        ErrorKind::Unreachable,
        Stage::Connecting,
        format!(
            "{what} {endpoint} within {limit:?}; is the server stopped, or a firewall between?"
        ),
    )
}

/// Asks for the server's version and waits for it.
async fn probe(transport: &mut dyn Transport, options: &Options) -> io::Result<()> {
    let mut machine = Connection::new(options.limits);
    machine
        .submit(&Request::Version, ())
        .map_err(io::Error::other)?;
    while machine.has_output() {
        let mut output = machine.output();
        let written = transport.write(output.chunk()).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        output.advance(written);
    }
    let mut input = BytesMut::new();
    let mut answer = None;
    while answer.is_none() {
        if transport.read_buf(&mut input).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        machine
            .feed(&mut input, &mut |(), reply| answer = Some(reply))
            .map_err(io::Error::other)?;
    }
    match answer {
        Some(Reply::Version(_)) => Ok(()),
        other => Err(io::Error::other(format!(
            "asked for its version, the server said {other:?}"
        ))),
    }
}
