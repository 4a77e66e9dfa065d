//! From an endpoint to a connection that can be used, within the connection time-out.
//!
//! The steps: the connector connects; over that stream TLS is agreed on, if it is asked for; the
//! server is told who we are, if that is; and it is asked for its version, if that matters.

mod handshake;
mod release;

use std::io;
use std::time::Duration;

use tokio::time::Instant;

use self::handshake::Handshake;
use crate::address::{Endpoint, NodeConfig};
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::options::Options;
use crate::resolve::{Dialled, Route, dial};
use crate::transport::Transport;

/// What is missing when the provider of credentials takes too long, which is no fault of the server.
const NO_CREDENTIALS: &str = "no credentials from their provider for";

/// A connection that can be used.
pub(crate) struct Opened {
    pub(crate) transport: Box<dyn Transport>,
    /// Which address it goes to, if the endpoint is a name that the client resolves.
    pub(super) route: Option<Route>,
    /// So many bytes may be written and unanswered at most; see
    /// [`output_within`](steersman_memcached_protocol::Connection::output_within).
    pub(super) window: Option<u64>,
    /// The server's version, if it was asked.
    pub(super) version: Option<String>,
}

/// Connects, and with `must_answer` waits until the server has answered a request.
pub(crate) async fn open(
    node: &NodeConfig,
    options: &Options,
    must_answer: bool,
) -> Result<Opened> {
    let endpoint = node.endpoint();
    let patience = Patience::new(endpoint, options, must_answer);
    let Dialled { transport, route } = patience
        .wait("no connection to", async {
            let dialling = dial(&*options.connector, endpoint);
            dialling.await.map_err(cannot_connect)
        })
        .await?;
    let transport = match &options.tls {
        Some(tls) => {
            let agreed = tls.handshake(transport, endpoint);
            patience.wait("no answer to TLS from", agreed).await?
        }
        None => transport,
    };

    let mut handshake = Handshake::new(transport, options.is_over_tls());
    let mut answered = false;
    if let Some(auth) = &options.auth {
        let credentials = patience
            .wait(NO_CREDENTIALS, auth.credentials(node.name()))
            .await?;
        let introduced = handshake.authenticate(&credentials);
        patience
            .wait("no answer to the credentials from", introduced)
            .await?;
        answered = true;
    }
    let (mut window, mut version) = (None, None);
    if options.is_over_tls() || (must_answer && !answered) {
        let asked = handshake.version();
        let said = patience.wait("no answer from", asked).await?;
        if options.is_over_tls() {
            window = release::tls_window(&said);
        }
        version = Some(said);
    }
    Ok(Opened {
        transport: handshake.into_transport(),
        route,
        window,
        version,
    })
}

/// How long the whole of it may take.
struct Patience<'a> {
    endpoint: &'a Endpoint,
    limit: Option<Duration>,
    until: Option<Instant>,
}

impl<'a> Patience<'a> {
    fn new(endpoint: &'a Endpoint, options: &Options, must_answer: bool) -> Self {
        // A stopped server accepts and never answers: wait for it no longer than for any reply.
        let limit = match (options.connection_timeout, options.stalled_after) {
            (Some(connect), Some(stalled)) if must_answer => Some(connect.min(stalled)),
            (connect, _) => connect,
        };
        Self {
            endpoint,
            limit,
            until: limit.and_then(|limit| Instant::now().checked_add(limit)),
        }
    }

    /// Does one step in the time that is left; `missing` is what there is not when that is up.
    async fn wait<T>(&self, missing: &str, step: impl Future<Output = Result<T>>) -> Result<T> {
        let (Some(limit), Some(until)) = (self.limit, self.until) else {
            return step.await;
        };
        let done = tokio::time::timeout_at(until, step).await;
        done.unwrap_or_else(|_| {
            let endpoint = self.endpoint;
            let hint = if missing == NO_CREDENTIALS {
                "it is asked for each connection, so it has to be quick"
            } else {
                "is the server stopped, or a firewall between?"
            };
            Err(Error::new(
                ErrorKind::Unreachable,
                Stage::Connecting,
                format!("{missing} {endpoint} within {limit:?}; {hint}"),
            ))
        })
    }
}

fn cannot_connect(error: io::Error) -> Error {
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
}
