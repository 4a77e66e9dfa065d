//! Recorders: where it is written down what attempts cost.

use std::sync::Arc;

use super::Attempt;

/// Takes down attempts as they end, beside the policy that learns from them: for a log that is replayed
/// under other policies later, or for figures of one's own.
///
/// A client that is given one calls it once for each attempt whose end it knows, with the name of the
/// node. It is called on the way of each request, so it must neither block nor take long.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::sync::Arc;
/// use std::time::Duration;
/// use steersman_selection::{Attempt, NodeIndex, Outcome, Recorder, Timestamp};
///
/// #[derive(Default)]
/// struct Slowest(AtomicU64);
///
/// impl Recorder for Slowest {
///     fn record(&self, _node: &Arc<str>, attempt: &Attempt) {
///         self.0.fetch_max(attempt.latency_nanos().unsigned_abs(), Ordering::Relaxed);
///     }
/// }
///
/// let slowest = Arc::new(Slowest::default());
/// let recorder: Arc<dyn Recorder> = slowest.clone();
/// let (node, took) = (NodeIndex::default(), Duration::from_micros(80));
/// let attempt = Attempt::new(node, Timestamp::default(), took, Outcome::Success);
/// recorder.record(&Arc::from("cache-1:11211"), &attempt);
/// assert_eq!(slowest.0.load(Ordering::Relaxed), 80_000);
/// ```
pub trait Recorder: Send + Sync {
    /// An attempt at the node of that name has ended.
    fn record(&self, node: &Arc<str>, attempt: &Attempt);
}

impl<R: Recorder + ?Sized> Recorder for Arc<R> {
    fn record(&self, node: &Arc<str>, attempt: &Attempt) {
        (**self).record(node, attempt);
    }
}
