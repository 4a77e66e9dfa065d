//! Spans of calls, as OpenTelemetry's conventions for database clients have them.

use std::borrow::Cow;
use std::fmt;

use steersman_memcached_protocol::{Key, ServerErrorKind};
use tracing::field::{self, Empty};
use tracing::{Level, Span};

use super::operation::Operation;
use super::outcome::Outcome;
use super::targets;
use crate::address::Endpoint;
use crate::error::{Error, ErrorKind};

/// No more keys than that are written to a span.
const MOST_KEYS: usize = 32;

/// That calls have spans, and what those hold; for [`Builder::spans`](crate::Builder::spans).
///
/// Names and attributes are those of OpenTelemetry's conventions for database clients; `otel.name`,
/// `otel.kind` and `otel.status_code` are as `tracing-opentelemetry` reads them. Values are never in
/// a span.
///
/// ```
/// use steersman_memcached::{Client, Spans};
///
/// let client = Client::builder().node("localhost:11211").spans(Spans::new()).build()?;
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "spans do nothing until they are given to a builder"]
pub struct Spans {
    keys: bool,
}

impl Spans {
    /// Without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether spans hold the keys asked for, in `db.query.text`; off by default. Of a call of many
    /// keys those are the first 32.
    pub fn keys(mut self, on: bool) -> Self {
        self.keys = on;
        self
    }
}

/// The span of a call. It is opened when it is known which node is asked, or that there are several,
/// so that it has its attributes from the beginning, by which samplers choose.
pub(super) struct Trace {
    operation: Operation,
    keys: usize,
    /// What is asked, if that is to be seen.
    query: Option<String>,
    span: Option<Span>,
}

impl Trace {
    pub(super) fn new<'a>(
        spans: &Spans,
        operation: Operation,
        count: usize,
        keys: impl Iterator<Item = &'a [u8]>,
    ) -> Self {
        Self {
            operation,
            keys: count,
            query: spans.keys.then(|| query(operation, keys)),
            span: None,
        }
    }

    /// The span; of a call to several nodes if no node was asked before.
    pub(super) fn span(&mut self) -> &Span {
        if self.span.is_none() {
            self.span = Some(self.open(None));
        }
        self.span.get_or_insert_with(Span::none)
    }

    /// This node is asked.
    pub(super) fn at(&mut self, endpoint: &Endpoint) {
        if self.span.is_none() {
            self.span = Some(self.open(Some(endpoint)));
        }
    }

    fn open(&self, endpoint: Option<&Endpoint>) -> Span {
        let operation = self.operation.name();
        let address = endpoint.map(|endpoint| match endpoint {
            Endpoint::Tcp { host, .. } => Cow::Borrowed(host.as_str()),
            Endpoint::Unix(path) => path.to_string_lossy(),
        });
        let port = endpoint.and_then(|endpoint| match endpoint {
            Endpoint::Tcp { port, .. } => Some(*port),
            Endpoint::Unix(_) => None,
        });
        let name = Name {
            operation,
            endpoint,
        };
        tracing::span!(
            target: targets::CALL,
            Level::INFO,
            "memcached",
            "otel.name" = field::display(name),
            "otel.kind" = "client",
            "otel.status_code" = Empty,
            "db.system.name" = "memcached",
            "db.operation.name" = operation,
            "db.operation.batch.size" = (self.keys > 1).then_some(self.keys),
            "db.query.text" = self.query.as_deref(),
            "db.response.status_code" = Empty,
            "server.address" = address.as_deref(),
            "server.port" = port,
            "error.type" = Empty,
            "steersman.outcome" = Empty,
        )
    }

    pub(super) fn end(mut self, outcome: Outcome, error: Option<&Error>) {
        let span = self.span();
        span.record("steersman.outcome", outcome.as_str());
        let Some(error) = error else { return };
        if let Some(kind) = outcome.error_type() {
            span.record("error.type", kind);
        }
        span.record("otel.status_code", "ERROR");
        if error.kind() == ErrorKind::Server
            && let Some(line) = error.server_error()
        {
            span.record("db.response.status_code", status_code(line.kind()));
        }
    }
}

/// What a span is called.
struct Name<'a> {
    operation: &'static str,
    endpoint: Option<&'a Endpoint>,
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation)?;
        match self.endpoint {
            Some(endpoint) => write!(f, " {endpoint}"),
            None => Ok(()),
        }
    }
}

/// What is asked, with keys and without values.
fn query<'a>(operation: Operation, keys: impl Iterator<Item = &'a [u8]>) -> String {
    let mut query = operation.name().trim_start_matches("BATCH ").to_owned();
    for (index, key) in keys.enumerate() {
        if index == MOST_KEYS {
            query.push_str(" ...");
            break;
        }
        query.push(' ');
        // A key that cannot be sent may be of any length.
        let shown = &key[..key.len().min(Key::MAX_LEN)];
        query.push_str(&shown.escape_ascii().to_string());
    }
    if operation.sends_value() {
        query.push_str(" ?");
    }
    query
}

/// How the server says that it could not do it.
fn status_code(kind: ServerErrorKind) -> &'static str {
    match kind {
        ServerErrorKind::Error => "ERROR",
        ServerErrorKind::Client => "CLIENT_ERROR",
        ServerErrorKind::Server => "SERVER_ERROR",
        _ => "_OTHER",
    }
}
