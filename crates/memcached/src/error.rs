//! What can go wrong, and what the caller may conclude from it.
//!
//! One opaque [`Error`] for the crate. Its [`kind`](Error::kind) says what went wrong, its
//! [`stage`](Error::stage) how far the operation had come, and
//! [`maybe_executed`](Error::maybe_executed) whether the server may have done it all the same.

mod kind;

use std::fmt;
use std::sync::Arc;

use steersman_memcached_protocol::{ProtocolError, RequestError, ServerError, ServerErrorKind};

pub use self::kind::{ErrorKind, Stage};
use crate::codec::CodecError;
use crate::outcome::PerNode;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation, or building a client, did not succeed.
///
/// A miss is never an error, and an outage is never a miss: reads give `None` only when the
/// server said that it has no such key.
///
/// ```
/// use steersman_memcached::{Client, ErrorKind};
///
/// let error = Client::builder().node("localhost:11211").max_connections(0).build().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Config);
/// assert_eq!(error.option(), Some("max_connections"));
/// ```
#[derive(Clone)]
pub struct Error(Box<Repr>);

#[derive(Clone)]
struct Repr {
    kind: ErrorKind,
    stage: Stage,
    maybe_executed: bool,
    asked: Option<&'static str>,
    node: Option<Arc<str>>,
    option: Option<&'static str>,
    detail: Arc<str>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    replicas: Option<Arc<PerNode<()>>>,
    /// Whether it may pass by itself, where others of its kind do not.
    passing: bool,
}

/// Operations of which it does not matter whether the server executed them.
const READS: [&str; 9] = [
    "get",
    "gets",
    "get_many",
    "gets_many",
    "keys",
    "meta_inspect",
    "meta_noop",
    "version",
    "stats",
];

impl Error {
    pub(crate) fn new(kind: ErrorKind, stage: Stage, detail: impl Into<Arc<str>>) -> Self {
        Self(Box::new(Repr {
            kind,
            stage,
            maybe_executed: false,
            asked: None,
            node: None,
            option: None,
            detail: detail.into(),
            source: None,
            replicas: None,
            passing: false,
        }))
    }

    pub(crate) fn config(option: &'static str, detail: impl Into<Arc<str>>) -> Self {
        let mut error = Self::new(ErrorKind::Config, Stage::Validation, detail);
        error.0.option = Some(option);
        error
    }

    pub(crate) fn closed() -> Self {
        Self::new(ErrorKind::Closed, Stage::Routing, "the client is closed")
    }

    pub(crate) fn removed() -> Self {
        Self::new(
            ErrorKind::UnknownNode,
            Stage::Routing,
            "the node was removed from the cluster",
        )
    }

    /// Whether the node left the cluster before any connection has seen the request, so that another
    /// one may be asked.
    pub(crate) fn node_left(&self) -> bool {
        self.kind() == ErrorKind::UnknownNode && !self.maybe_executed()
    }

    pub(crate) fn cannot_send(error: RequestError) -> Self {
        Self::new(
            ErrorKind::InvalidArgument,
            Stage::Validation,
            error.to_string(),
        )
        .with_source(error)
    }

    pub(crate) fn runtime_gone() -> Self {
        Self::new(
            ErrorKind::Runtime,
            Stage::Routing,
            "the Tokio runtime that this client lives on is gone; \
             build the client on a runtime that outlives its use",
        )
    }

    pub(crate) fn runtime_without_time() -> Self {
        Self::new(
            ErrorKind::Runtime,
            Stage::Routing,
            "the Tokio runtime that this client is to live on has no timers; build the runtime with \
             `enable_all`, or give the client's builder another `runtime`",
        )
    }

    pub(crate) fn bug() -> Self {
        Self::new(
            ErrorKind::Runtime,
            Stage::Routing,
            "a background task of the client panicked; please report it",
        )
    }

    pub(crate) fn with_source(
        mut self,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    pub(crate) fn at_node(mut self, node: &Arc<str>) -> Self {
        self.0.node = Some(Arc::clone(node));
        self
    }

    pub(crate) fn asked(mut self, operation: &'static str) -> Self {
        self.0.asked = Some(operation);
        self
    }

    pub(crate) fn executed(mut self, maybe: bool) -> Self {
        self.0.maybe_executed = maybe;
        self
    }

    /// The same failure as the reason for another one.
    pub(crate) fn because(mut self, what: &str) -> Self {
        self.0.detail = format!("{what}: {}", self.0.detail).into();
        self
    }

    /// The same failure with something to add to what it says.
    pub(crate) fn adding(mut self, hint: &str) -> Self {
        self.0.detail = format!("{}{hint}", self.0.detail).into();
        self
    }

    /// The failure without anything that a server has sent: what breaks the protocol may be part of a
    /// value or a key, and those are not for logs.
    pub(crate) fn for_log(&self) -> impl fmt::Display {
        let source = self.0.source.as_deref();
        let source = source.map(|source| source as &(dyn std::error::Error + 'static));
        let protocol = source.and_then(|source| source.downcast_ref::<ProtocolError>());
        let unexpected = source.and_then(|source| source.downcast_ref::<Unexpected>());
        if let Some(unexpected) = unexpected {
            unexpected.to_string()
        } else if let Some(broken) = protocol {
            format!("the server broke the protocol: {:?}", broken.kind())
        } else if let Some(line) = self.server_error() {
            format!("the server answered with an error line: {:?}", line.kind())
        } else {
            self.to_string()
        }
    }

    /// What went wrong, without the operation and the node.
    pub(crate) fn detail(&self) -> &Arc<str> {
        &self.0.detail
    }

    pub(crate) fn in_stage(mut self, stage: Stage) -> Self {
        self.0.stage = stage;
        self
    }

    pub(crate) fn of_replicas(mut self, replicas: PerNode<()>) -> Self {
        self.0.replicas = Some(Arc::new(replicas));
        self
    }

    /// The same failure, of which is known that it may pass by itself.
    pub(crate) fn passing(mut self) -> Self {
        self.0.passing = true;
        self
    }

    /// Whether a node refuses the client for a reason that waiting does not mend.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Tls | ErrorKind::Authentication) && !self.0.passing
    }

    /// Whether there is no node yet because the first list of them is being asked for.
    pub(crate) fn awaits_list(&self) -> bool {
        self.0.kind == ErrorKind::NoNodeReachable && self.0.passing
    }

    pub(crate) fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// How far the operation had come.
    pub fn stage(&self) -> Stage {
        self.0.stage
    }

    /// The name of the node that was asked, if one had been chosen.
    pub fn node(&self) -> Option<&str> {
        self.0.node.as_deref()
    }

    /// The builder option that is invalid, for [`ErrorKind::Config`].
    pub fn option(&self) -> Option<&str> {
        self.0.option
    }

    /// The operation that was asked for, as its method is called.
    pub fn operation(&self) -> Option<&str> {
        self.0.asked
    }

    /// Whether the same call may succeed when it is repeated later without changing anything.
    ///
    /// It says nothing about whether repeating is harmless: see
    /// [`maybe_executed`](Self::maybe_executed).
    pub fn is_retryable(&self) -> bool {
        match self.0.kind {
            ErrorKind::Timeout
            | ErrorKind::Overloaded
            | ErrorKind::Unreachable
            | ErrorKind::NoNodeReachable
            | ErrorKind::ConnectionLost
            | ErrorKind::Stalled
            | ErrorKind::Protocol => true,
            // Most error lines say that this request will never do; a shortage passes.
            ErrorKind::Server => self.server_error().is_some_and(|line| {
                line.kind() == ServerErrorKind::Server
                    && line.message().starts_with("out of memory")
            }),
            ErrorKind::Config
            | ErrorKind::InvalidKey
            | ErrorKind::InvalidArgument
            | ErrorKind::UnknownNode
            | ErrorKind::Tls
            | ErrorKind::Unsupported
            | ErrorKind::Codec
            | ErrorKind::Closed
            | ErrorKind::Runtime => false,
            // A provider of credentials may have them the next time.
            ErrorKind::Authentication => self.0.passing,
        }
    }

    /// The server's error line, for [`ErrorKind::Server`].
    pub fn server_error(&self) -> Option<&ServerError> {
        self.0.source.as_deref()?.downcast_ref()
    }

    /// What is wrong with the value, for [`ErrorKind::Codec`].
    pub fn codec_error(&self) -> Option<&CodecError> {
        self.0.source.as_deref()?.downcast_ref()
    }

    /// What became of the call at each replica that it was sent to, if the client has replicas and
    /// the call was for all of them or tried several. The rest of the error is that of the first
    /// that failed; [`maybe_executed`](Self::maybe_executed) is for all of them.
    pub fn replicas(&self) -> Option<&PerNode<()>> {
        self.0.replicas.as_deref()
    }

    /// Whether the server may have executed the request although it failed here.
    ///
    /// `false` is certain: no byte of the request reached a connection, or the server refused it.
    pub fn maybe_executed(&self) -> bool {
        self.0.maybe_executed
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repr {
            asked,
            node,
            option,
            detail,
            ..
        } = &*self.0;
        match (asked, node) {
            (Some(asked), Some(node)) => write!(f, "{asked} at {node}: ")?,
            (Some(asked), None) => write!(f, "{asked}: ")?,
            (None, Some(node)) => write!(f, "{node}: ")?,
            (None, None) => {}
        }
        if let Some(option) = option {
            write!(f, "option `{option}`: ")?;
        }
        f.write_str(detail)?;
        if let Some(replicas) = &self.0.replicas {
            let failed = replicas.iter().filter(|(_, result)| result.is_err());
            let all = replicas.results.len();
            write!(f, "; {} of {all} replicas failed", failed.count())?;
        }
        let read = asked.is_some_and(|asked| READS.contains(&asked));
        if self.0.maybe_executed && !read {
            f.write_str(" (the server may have executed it)")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("stage", &self.0.stage)
            .field("maybe_executed", &self.0.maybe_executed)
            .field("message", &self.to_string())
            .finish_non_exhaustive()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn std::error::Error + 'static))
    }
}

/// The source of an error whose message shows what a server said in place of an answer: what the log
/// says of it.
#[derive(Debug)]
pub(crate) struct Unexpected(pub(crate) &'static str);

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Unexpected {}
