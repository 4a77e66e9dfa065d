//! A call: an operation that is configured, then awaited.
//!
//! [`Call`] carries what all operations share (time-out, target), the operations themselves are
//! small types that say which request they make and how its reply reads. [`CallFuture`] takes one
//! from routing to reply; dropping it at any point is harmless.

mod admin;
mod future;
mod inspect;
mod many;
mod meta;
mod read;
mod turn;
mod write;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use steersman_memcached_protocol::{Key, Reply, ServerError, ServerErrorKind};

pub use self::admin::{AllNodes, CacheMemlimit, FlushAll, Stats, Verbosity, Version};
pub use self::future::CallFuture;
pub use self::inspect::Inspected;
pub use self::many::{GetMany, GetManyFuture};
pub(crate) use self::meta::build;
pub use self::meta::{
    Meta, MetaArithmetic, MetaBuild, MetaDelete, MetaGet, MetaInspect, MetaNoop, MetaSet,
};
pub use self::read::Get;
pub(crate) use self::read::ReadOf;
pub(crate) use self::turn::Turn;
pub(crate) use self::write::private::HasItem;
pub(crate) use self::write::store_name;
pub use self::write::{
    Arithmetic, Cas, Concat, Delete, Item, NoReply, Set, SetIf, Touch, Write, WriteExpiry,
    WriteItem,
};
use crate::deadline::Patience;
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::keys::invalid_key;
use crate::node::Node;
use crate::shared::Shared;

/// One request and how its reply is read. Implemented by this crate's operations only.
pub trait Operation: sealed::Operation<Output = <Self as Operation>::Answer> {
    /// What the operation gives back.
    type Answer;
}

impl<O: sealed::Operation> Operation for O {
    type Answer = O::Output;
}

pub(crate) mod sealed {
    use steersman_memcached_protocol::{Reply, Request};

    use crate::error::Result;
    use crate::outcome::PerNode;

    pub trait Operation {
        type Output;

        /// Whether it is what one replica is asked, of a call to several.
        const IS_ATTEMPT: bool = false;

        /// The name of the client's method.
        fn name(&self) -> &'static str;

        /// What the node is asked to do: the method that asks for that alone.
        fn command(&self) -> &'static str {
            self.name()
        }

        /// The key whose owner is asked; none for a node's own operations.
        fn key(&self) -> Option<&[u8]>;

        /// The request for `key`, or why it or its arguments cannot be sent. That is its
        /// [`key`](Self::key) as the servers know it: under the client's prefix, for example.
        fn request<'a>(&'a self, key: &'a [u8]) -> Result<Request<'a>>;

        /// Changes the operation to one that older servers can do as well, if there is one.
        fn fall_back(&mut self) -> bool {
            false
        }

        /// Reads the reply; gives it back if it is none that fits.
        fn read(reply: Reply) -> std::result::Result<Self::Output, Reply>;

        /// Reads the reply that the replicas came to, and what became of the call at each.
        fn read_replicated(
            reply: Reply,
            _replicas: PerNode<()>,
        ) -> std::result::Result<Self::Output, Reply> {
            Self::read(reply)
        }

        /// Puts an answer in the words of the caller, where it repeats those of the request.
        fn in_own_words(&self, answer: Self::Output) -> Self::Output {
            answer
        }

        /// For operations that do not wait for the reply: what they give instead.
        fn unanswered() -> Option<Self::Output> {
            None
        }
    }
}

/// An operation that can be configured and then awaited; from [`Client`](crate::Client)'s and
/// [`NodeHandle`](crate::NodeHandle)'s methods.
///
/// ```no_run
/// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
/// use std::time::Duration;
///
/// let value = client.get("key").timeout(Duration::from_millis(50)).await?;
/// # Ok(()) }
/// ```
///
/// It is no future itself but turns into one. To spawn it, turn it explicitly, or await it in an
/// `async` block:
///
/// ```no_run
/// # async fn example(client: steersman_memcached::Client) {
/// let one = tokio::spawn(client.get("key").into_future());
/// let other = tokio::spawn(async move { client.get("key").await });
/// # }
/// ```
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<O> {
    shared: Arc<Shared>,
    /// The node to ask; none is the key's owner.
    node: Option<Arc<Node>>,
    patience: Patience,
    operation: O,
}

impl<O> Call<O> {
    pub(crate) fn new(shared: Arc<Shared>, node: Option<Arc<Node>>, operation: O) -> Self {
        Self {
            shared,
            node,
            patience: Patience::Default,
            operation,
        }
    }

    /// Replaces the client's time-out for this call; `None` waits for ever.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.patience = Patience::Own(timeout.into());
        self
    }

    pub(crate) fn patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// How long it may take.
    fn limit(&self) -> Option<Duration> {
        self.patience.or(self.shared.options().timeout)
    }

    pub(crate) fn map<P>(self, change: impl FnOnce(O) -> P) -> Call<P> {
        let Self {
            shared,
            node,
            patience,
            operation,
        } = self;
        Call {
            shared,
            node,
            patience,
            operation: change(operation),
        }
    }
}

impl<O: sealed::Operation> fmt::Debug for Call<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("operation", &self.operation.name())
            .finish_non_exhaustive()
    }
}

impl<O: sealed::Operation> IntoFuture for Call<O> {
    type Output = Result<O::Output>;
    type IntoFuture = CallFuture<O>;

    fn into_future(self) -> CallFuture<O> {
        CallFuture::new(self)
    }
}

/// A reply that the protocol allows and that says nothing the operation could give back, such as
/// `NOT_STORED` to a `set`.
pub(crate) fn unfit_reply(reply: &Reply) -> Error {
    let said = match reply {
        Reply::NotStored => "NOT_STORED".to_owned(),
        other => format!("{other:?}"),
    };
    Error::new(
        ErrorKind::Server,
        Stage::Exchange,
        format!("the server answered {said}"),
    )
}

pub(crate) fn server_error(error: ServerError) -> Error {
    if is_unauthenticated(&error) {
        let what =
            format!("the server wants to know who the client is ({error}): give credentials");
        return Error::new(ErrorKind::Authentication, Stage::Exchange, what).with_source(error);
    }
    Error::new(ErrorKind::Server, Stage::Exchange, error.to_string()).with_source(error)
}

/// Whether it is what memcached says to everything as long as nobody has given credentials.
fn is_unauthenticated(error: &ServerError) -> bool {
    error.kind() == ServerErrorKind::Client
        && [
            "unauthenticated",
            "bad authentication token format",
            "authentication failure",
        ]
        .contains(&error.message())
}

/// Checks a key.
pub(crate) fn key(bytes: &[u8]) -> Result<Key<'_>> {
    Key::new(bytes).map_err(invalid_key)
}
