//! What is said on a new connection before it is taken into service: one question, one answer.

use std::io;

use steersman_memcached_protocol::{Expiry, Key, Limits, Reply, Request, StoreVerb};

use crate::ask::{Failure, ask};
use crate::auth::{self, Credentials};
use crate::call::server_error;
use crate::error::{Error, ErrorKind, Result, Stage, Unexpected};
use crate::tls;
use crate::transport::Transport;

/// The key of the `set` that carries the credentials; memcached takes any.
const AUTH_KEY: &[u8] = b"auth";

/// A new connection that the server is asked something on.
pub(super) struct Handshake {
    transport: Box<dyn Transport>,
    over_tls: bool,
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
            Ok(Reply::Error(line)) => Err(match server_error(line) {
                error if error.kind() == ErrorKind::Authentication => {
                    error.in_stage(Stage::Connecting)
                }
                error => cannot_ask(&format!("it said {}", error.detail())),
            }),
            Ok(other) => Err(cannot_ask(&format!("it said {other:?}"))),
            Err(Failure::Broken(error)) => Err(self.broken(error)),
            Err(Failure::NoReply(why)) => Err(cannot_ask(&why)),
        }
    }

    async fn ask(&mut self, request: &Request<'_>) -> std::result::Result<Reply, Failure> {
        ask(&mut *self.transport, Limits::default(), request).await
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
    .with_source(Unexpected(
        "the server was asked for its version and said something else; is it a memcached?",
    ))
}
