//! What the client lets others see of it: metrics, spans, and where it logs.
//!
//! The rest of the client tells what it does to three small types: a call to its [`CallWatch`], a
//! node to its [`NodeWatch`], a connection's driver to its [`BatchWatch`]; [`Observer`] makes them
//! and knows what was asked for. Without the features `metrics` and `spans` all four are empty and
//! their methods do nothing (`off`), so that nothing of this is left in a build. What can be
//! read from counters that are kept anyhow is read now and then ([`metrics`]) rather than told.

#[cfg(any(feature = "metrics", feature = "spans"))]
mod batch;
#[cfg(any(feature = "metrics", feature = "spans"))]
mod call;
#[cfg(feature = "metrics")]
pub(crate) mod metrics;
#[cfg(any(feature = "metrics", feature = "spans"))]
mod observer;
#[cfg(not(any(feature = "metrics", feature = "spans")))]
mod off;
#[cfg(any(feature = "metrics", feature = "spans"))]
mod operation;
#[cfg(any(feature = "metrics", feature = "spans"))]
mod outcome;
#[cfg(feature = "spans")]
mod spans;
pub(crate) mod targets;

#[cfg(feature = "metrics")]
pub use self::metrics::Metrics;
#[cfg(not(any(feature = "metrics", feature = "spans")))]
pub(crate) use self::off::{BatchWatch, CallWatch, NodeWatch, Observer};
#[cfg(feature = "spans")]
pub use self::spans::Spans;
#[cfg(any(feature = "metrics", feature = "spans"))]
pub(crate) use self::{
    batch::BatchWatch,
    call::CallWatch,
    observer::{NodeWatch, Observer},
};
