//! What is said on a new connection before it is taken into service: one question, one answer.

use std::io;

use bytes::{Buf, BytesMut};
use steersman_memcached_protocol::{Connection, Expiry, Key, Limits, Reply, Request, StoreVerb};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::auth::{self, Credentials};
use crate::call::server_error;
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::tls;
use crate::transport::Transport;

/// The key of the `set` that carries the credentials; memcached takes any.
const AUTH_KEY: &[u8] = b"auth";

/// A new connection that the server is asked something on.
pub(super) struct Handshake {
    transport: Box<dyn Transport>,
    over_tls: bool,
}

/// Why there is no reply.
enum Failure {
    Broken(io::Error),
    /// What came is none.
    NoReply(String),
}

impl Handshake {
    pub(super) fn new(transport: Box<dyn Transport>, over_tls: bool) -> Self {
        Self {
            transport,
            over_tls,
        }
    }

    pub(super) fn into_transport(self) -> Box<dyn Transport> {
        self.transport
    }

    /// Tells the server who we are. What it says is not repeated if the password is in it.
    pub(super) async fn authenticate(&mut self, credentials: &Credentials) -> Result<()> {
        let token = credentials.token();
        let request = Request::Store {
            verb: StoreVerb::Set,
            key: Key::new(AUTH_KEY).expect("`auth` is a key"),
            flags: 0,
            expiry: Expiry::NEVER,
            data: &token,
        };
        let user = credentials.user();
        match self.ask(&request).await {
            Ok(Reply::Stored) => Ok(()),
            Ok(Reply::Error(line)) if !credentials.are_shown_by(line.message()) => {
                Err(auth::failed(format!(
                    "the server refused the user {user:?} with {:?}; \
                     are the name and the password in its authentication file?",
                    line.message()
                )))
            }
            Ok(_) => Err(auth::failed(format!(
                "the server refused the user {user:?}"
            ))),
            Err(Failure::Broken(error)) => Err(self.broken(error)),
            Err(Failure::NoReply(_)) => Err(Error::new(
                ErrorKind::Unreachable,
                Stage::Connecting,
                "the server answered the credentials with what is no reply of memcached; is it one?",
            )),
        }
    }

    /// The server's version.
    pub(super) async fn version(&mut self) -> Result<String> {
        match self.ask(&Request::Version).await {
            Ok(Reply::Version(version)) => Ok(version),
            Ok(Reply::Error(line)) => Err(server_error(line).in_stage(Stage::Connecting)),
            Ok(other) => Err(cannot_ask(&format!("it said {other:?}"))),
            Err(Failure::Broken(error)) => Err(self.broken(error)),
            Err(Failure::NoReply(why)) => Err(cannot_ask(&why)),
        }
    }

    async fn ask(&mut self, request: &Request<'_>) -> std::result::Result<Reply, Failure> {
        let mut machine = Connection::new(Limits::default());
        machine
            .submit(request, ())
            .map_err(|error| Failure::NoReply(error.to_string()))?;
        let sent = self.send(&mut machine).await;
        let mut input = BytesMut::new();
        let mut answer = None;
        while answer.is_none() {
            // A server that closes the connection may have said why.
            let error = match (self.transport.read_buf(&mut input).await, &sent) {
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
        }
        answer.ok_or_else(|| Failure::NoReply("there was no answer".to_owned()))
    }

    async fn send(&mut self, machine: &mut Connection<()>) -> io::Result<()> {
        while machine.has_output() {
            let mut output = machine.output();
            let written = self.transport.write(output.chunk()).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            output.advance(written);
        }
        self.transport.flush().await
    }

    /// The connection ended before it could be used.
    fn broken(&self, error: io::Error) -> Error {
        let error = match tls::diagnose(error) {
            Ok(failure) => return failure,
            Err(error) => error,
        };
        let ended = matches!(
            error.kind(),
            io::ErrorKind::UnexpectedEof
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::BrokenPipe
        );
        let what = if ended {
            "the server closed the connection before it could be used".to_owned()
        } else {
            format!("the connection broke before it could be used: {error}")
        };
        let hint = match (ended, self.over_tls) {
            (true, false) => "; does it want TLS?",
            (true, true) => "; does it want a client certificate?",
            (false, _) => "",
        };
        Error::new(
            ErrorKind::Unreachable,
            Stage::Connecting,
            format!("{what}{hint}"),
        )
        .with_source(error)
    }
}

/// A server that is asked for its version and says something else.
fn cannot_ask(what: &str) -> Error {
    Error::new(
        ErrorKind::Unreachable,
        Stage::Connecting,
        format!("the server was asked for its version: {what}; is it a memcached?"),
    )
}
