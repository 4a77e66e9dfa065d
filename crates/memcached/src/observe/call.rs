//! A call under way, seen from its caller: what it is, which node is asked, how it ends.

#![cfg_attr(
    not(feature = "spans"),
    expect(clippy::unused_self, reason = "it is used with the feature")
)]

#[cfg(feature = "metrics")]
use std::sync::Arc;
#[cfg(feature = "metrics")]
use std::time::Instant;

use steersman_memcached_protocol::Reply;

use super::Observer;
#[cfg(feature = "metrics")]
use super::metrics::{NodeMetrics, Recorder};
use super::operation::Operation as Name;
use super::outcome::Outcome;
#[cfg(feature = "spans")]
use super::spans::Trace;
use crate::call::sealed::Operation;
use crate::error::{Error, Result};
#[cfg(feature = "metrics")]
use crate::error::{ErrorKind, Stage};
use crate::node::Node;

/// Watches one call, if that was asked for. Dropped before its end, the call was cancelled.
#[derive(Default)]
pub(crate) struct CallWatch(Option<Box<Watched>>);

/// What a call is to its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// The request to one replica.
    Attempt,
    /// The requests to one node, of a read of many keys.
    Share,
}

struct Watched {
    outcome: Outcome,
    #[cfg(feature = "metrics")]
    measure: Option<Measure>,
    #[cfg(feature = "spans")]
    trace: Option<Trace>,
}

/// Where a call is counted.
#[cfg(feature = "metrics")]
struct Measure {
    name: Name,
    part: Part,
    recorder: Arc<Recorder>,
    node: Option<Arc<NodeMetrics>>,
    /// None if nobody wants to know how long it takes.
    started: Option<Instant>,
}

impl CallWatch {
    /// The call begins, or goes on in other words.
    #[inline]
    pub(crate) fn begin<O: Operation>(&mut self, observer: &Observer, operation: &O) {
        if observer.watches_calls() && self.0.is_none() {
            let part = if O::IS_ATTEMPT {
                Part::Attempt
            } else {
                Part::Whole
            };
            let name = Name::of(operation.command(), 1);
            self.watch(observer, name, part, 1, operation.key().into_iter());
        }
    }

    /// A read of many keys begins.
    pub(crate) fn begin_many<'a>(
        &mut self,
        observer: &Observer,
        method: &'static str,
        keys: impl ExactSizeIterator<Item = &'a [u8]>,
    ) {
        if observer.watches_calls() {
            let count = keys.len();
            let name = Name::of(method, count);
            self.watch(observer, name, Part::Whole, count, keys);
        }
    }

    /// What one node is asked of a read of many keys begins.
    pub(crate) fn begin_part(&mut self, observer: &Observer, method: &'static str, keys: usize) {
        if observer.watches_calls() {
            let name = Name::of(method, keys);
            self.watch(observer, name, Part::Share, keys, std::iter::empty());
        }
    }

    #[cold]
    fn watch<'a>(
        &mut self,
        observer: &Observer,
        name: Name,
        part: Part,
        count: usize,
        keys: impl Iterator<Item = &'a [u8]>,
    ) {
        #[cfg(not(feature = "metrics"))]
        let _ = part;
        #[cfg(not(feature = "spans"))]
        let _ = (count, keys);
        self.0 = Some(Box::new(Watched {
            outcome: Outcome::Queued,
            #[cfg(feature = "metrics")]
            measure: observer.recorder.as_ref().map(|recorder| Measure {
                name,
                part,
                recorder: Arc::clone(recorder),
                node: None,
                started: recorder.durations().then(Instant::now),
            }),
            #[cfg(feature = "spans")]
            trace: observer
                .spans
                .as_ref()
                .map(|spans| Trace::new(spans, name, count, keys)),
        }));
    }

    /// This node is asked.
    #[inline]
    pub(crate) fn at(&mut self, node: &Node) {
        if let Some(watched) = &mut self.0 {
            watched.at(node);
        }
    }

    /// Does a part of the call: what begins in it belongs to it.
    #[inline]
    pub(crate) fn within<T>(&mut self, work: impl FnOnce() -> T) -> T {
        #[cfg(feature = "spans")]
        if let Some(trace) = self.0.as_mut().and_then(|watched| watched.trace.as_mut()) {
            return trace.span().in_scope(work);
        }
        work()
    }

    /// The same for a part that takes time.
    #[cfg(feature = "spans")]
    pub(crate) fn around<F: Future>(&mut self, work: F) -> tracing::instrument::Instrumented<F> {
        let trace = self.0.as_mut().and_then(|watched| watched.trace.as_mut());
        let span = trace.map_or_else(tracing::Span::none, |trace| trace.span().clone());
        tracing::Instrument::instrument(work, span)
    }

    /// The same for a part that takes time.
    #[cfg(not(feature = "spans"))]
    pub(crate) fn around<F: Future>(&mut self, work: F) -> F {
        work
    }

    /// The server has answered.
    #[inline]
    pub(crate) fn replied(&mut self, reply: &Reply) {
        if let Some(watched) = &mut self.0 {
            watched.outcome = Outcome::of(reply);
        }
    }

    /// The call has ended, with that error if it failed.
    #[inline]
    pub(crate) fn end(&mut self, error: Option<&Error>) {
        if let Some(watched) = self.0.take() {
            watched.end(error);
        }
    }

    /// A read of many keys has ended. It has failed if one of them has.
    #[inline]
    pub(crate) fn end_many<'a, T: 'a>(&mut self, results: impl IntoIterator<Item = &'a Result<T>>) {
        if let Some(mut watched) = self.0.take() {
            watched.outcome = Outcome::Done;
            watched.end(results.into_iter().find_map(|result| result.as_ref().err()));
        }
    }
}

impl Drop for CallWatch {
    fn drop(&mut self) {
        if let Some(mut watched) = self.0.take() {
            watched.outcome = Outcome::Cancelled;
            watched.end(None);
        }
    }
}

impl Watched {
    fn at(&mut self, node: &Node) {
        #[cfg(feature = "metrics")]
        if let Some(measure) = &mut self.measure {
            measure.node.clone_from(&node.watch().metrics);
        }
        #[cfg(feature = "spans")]
        if let Some(trace) = &mut self.trace {
            trace.at(node.config().endpoint());
        }
    }

    fn end(mut self, error: Option<&Error>) {
        if let Some(error) = error {
            self.outcome = Outcome::Failed(error.kind());
        }
        #[cfg(feature = "metrics")]
        if let Some(measure) = self.measure {
            let late = error.is_some_and(found_no_place);
            measure.end(self.outcome, late);
        }
        #[cfg(feature = "spans")]
        if let Some(trace) = self.trace {
            trace.end(self.outcome, error);
        }
    }
}

/// Whether its time was up before it had a place on a connection.
#[cfg(feature = "metrics")]
fn found_no_place(error: &Error) -> bool {
    error.kind() == ErrorKind::Timeout
        && matches!(error.stage(), Stage::Waiting | Stage::Connecting)
}

#[cfg(feature = "metrics")]
impl Measure {
    fn end(self, outcome: Outcome, found_no_place: bool) {
        let Self { name, part, .. } = self;
        let took = self.started.map(|started| started.elapsed());
        if let Some(node) = &self.node {
            if found_no_place {
                node.found_no_place();
            }
            if name.is_read() && part != Part::Share && outcome != Outcome::Cancelled {
                node.looked_up(outcome.into());
            }
        }
        if part == Part::Share {
            // Its whole is counted.
            return;
        }
        let calls = match &self.node {
            Some(node) => node.calls(part == Part::Attempt),
            None => self.recorder.calls(),
        };
        calls.count(name, outcome, took);
    }
}
