//! Frames: what the probes have shown, and what the nodes have counted since the frame before.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use steersman_memcached::{Backoff, Client, Error, NodeHandle};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::counters::Counters;
use super::frame::{Frame, Seen};
use super::probe::Probes;
use crate::answer::Failure;
use crate::context::Context;

pub(super) struct Observer {
    /// Its connections are those of the handles.
    _client: Client,
    nodes: Vec<Watched>,
    probes: Arc<Probes>,
}

/// A node, and what it had counted at the last frame, and when that was.
struct Watched {
    handle: NodeHandle,
    last: Option<(Instant, Counters)>,
}

impl Observer {
    pub(super) fn new(context: &Context) -> Result<Self, Failure> {
        let client = context.client_with(|builder| {
            builder
                .connection_timeout(context.settings.timeout)
                // A node that comes back is to be seen soon.
                .backoff(Backoff {
                    initial: Duration::from_millis(200),
                    max: Duration::from_secs(2),
                    ..Backoff::default()
                })
        })?;
        let handles = context.nodes.iter().map(|node| client.node(node.name()));
        let handles: Vec<NodeHandle> = handles.collect::<Result<_, Error>>()?;
        let watched = handles.iter().cloned();
        Ok(Self {
            nodes: watched
                .map(|handle| Watched { handle, last: None })
                .collect(),
            probes: Probes::start(handles)?,
            _client: client,
        })
    }

    /// What is seen now; rates are of the time since the last frame that was finished.
    pub(super) async fn frame(&mut self) -> Frame {
        let probes = &self.probes;
        let seen = self.nodes.iter_mut().enumerate();
        let seen = seen.map(|(at, node)| node.look(probes, at));
        Frame {
            nodes: join_all(seen).await,
        }
    }
}

impl Observer {
    /// A frame at once, and then one so often, as long as there is a receiver.
    pub(super) fn every(mut self, every: Duration) -> watch::Receiver<Frame> {
        let (sender, receiver) = watch::channel(Frame::default());
        tokio::spawn(async move {
            let mut ticks = interval(every);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                if sender.send(self.frame().await).is_err() {
                    break;
                }
            }
        });
        receiver
    }
}

impl Watched {
    async fn look(&mut self, probes: &Probes, at: usize) -> Seen {
        let stats = self.handle.stats("").await;
        let now = Instant::now();
        let (counters, failure) = match stats {
            Ok(stats) => (Some(Counters::read(&stats)), None),
            Err(error) => (None, Some(error)),
        };
        let last = std::mem::replace(&mut self.last, counters.map(|counters| (now, counters)));
        let probed = probes.summary(at);
        let report = probed.report;
        let score = report.and_then(|report| report.score);
        Seen {
            name: self.handle.config().name().to_owned(),
            failure: probed.failure.or(failure),
            ops_per_second: rate(last, self.last),
            p50: probed.p50,
            p99: probed.p99,
            score: score.and_then(|score| {
                let nanos = u64::try_from(score.average_nanos).ok()?;
                Some(Duration::from_nanos(nanos))
            }),
            penalised: report.is_some_and(|report| report.condition.is_penalised()),
            report: report.map(|report| report.to_string()).unwrap_or_default(),
            connections: counters.and_then(|counters| counters.connections),
            in_flight: self.handle.metrics().in_flight,
        }
    }
}

/// Operations a second between two frames; `None` if the counters began anew meanwhile.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn rate(before: Option<(Instant, Counters)>, now: Option<(Instant, Counters)>) -> Option<f64> {
    let ((then, before), (now, counters)) = before.zip(now)?;
    let done = counters.operations.checked_sub(before.operations)?;
    let seconds = (now - then).as_secs_f64();
    (seconds > 0.0).then(|| done as f64 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_takes_two_looks_at_counters_that_grow() {
        let then = Instant::now();
        let at = |seconds, operations| {
            let counters = Counters {
                operations,
                connections: None,
            };
            Some((then + Duration::from_secs(seconds), counters))
        };
        assert_eq!(rate(at(0, 10), at(2, 20)), Some(5.0));
        assert_eq!(rate(at(0, 10), at(0, 20)), None);
        assert_eq!(rate(at(0, 10), at(2, 9)), None);
        assert_eq!(rate(None, at(2, 9)), None);
        assert_eq!(rate(at(2, 9), None), None);
    }
}
