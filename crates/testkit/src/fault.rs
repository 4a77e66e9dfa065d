//! Faults of a network and of the process behind it, switchable while everything runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;

use crate::connections::Connections;
use crate::gate::Gate;
use crate::lock;
use crate::observe::wait_until;
use crate::stream::Ending;

/// How often a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// Until it is switched off.
    Always,
    /// The next so many times.
    Next(u32),
}

impl Times {
    /// Nothing is to happen.
    pub const NEVER: Times = Times::Next(0);

    /// Uses up one time, if there is one left.
    pub(crate) fn take(&mut self) -> bool {
        match self {
            Times::Always => true,
            Times::Next(0) => false,
            Times::Next(left) => {
                *left -= 1;
                true
            }
        }
    }
}

/// What goes wrong between a server and its clients.
///
/// Every [`Server`](crate::Server) and every [`FaultProxy`](crate::FaultProxy) has one. Without
/// faults nothing is slowed down. A switch takes effect for connections that are open, too,
/// unless its description says otherwise. Clones switch the same faults.
///
/// ```
/// use std::time::Duration;
/// use steersman_testkit::Server;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
/// let server = Server::start().await?;
/// server.faults().set_latency(Duration::from_millis(20));
/// // ... everything takes 20 ms longer ...
/// server.faults().clear();
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Faults {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    gate: Arc<Gate>,
    connections: Arc<Connections>,
    plan: Mutex<Plan>,
    is_active: AtomicBool,
    changes: AtomicU64,
    /// Notified of each change. Who waits is woken in the order of waiting, so that a simulation can be
    /// repeated; a `watch` channel wakes in an order of its own.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Plan {
    latency: Duration,
    jitter: Option<(Duration, fastrand::Rng)>,
    stalled: bool,
    frozen: bool,
    black_hole: bool,
    accept_delay: Duration,
    reset_accepted: Option<Times>,
    split: Option<usize>,
    cut: Option<(Times, Cut)>,
    /// How often it was decided anew what to cut, so that each decision strikes a connection once.
    cuts: u64,
}

impl Plan {
    fn is_active(&self) -> bool {
        !self.latency.is_zero()
            || self.jitter.is_some()
            || self.stalled
            || self.frozen
            || self.black_hole
            || !self.accept_delay.is_zero()
            || self.reset_accepted.is_some()
            || self.split.is_some()
            || self.cut.is_some()
    }
}

/// The end of a connection after so many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) after: usize,
    pub(crate) ending: Ending,
}

impl Faults {
    pub(crate) fn new(gate: Arc<Gate>, connections: Arc<Connections>) -> Self {
        Self {
            inner: Arc::new(Inner {
                gate,
                connections,
                plan: Mutex::default(),
                is_active: AtomicBool::new(false),
                changes: AtomicU64::new(0),
                changed: Notify::new(),
            }),
        }
    }

    /// Every reply comes this much later. Replies keep their order and do not wait for each
    /// other: as on a longer way, throughput stays.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # fn example(server: &steersman_testkit::Server) {
    /// server.faults().set_latency(Duration::from_millis(5));
    /// # }
    /// ```
    pub fn set_latency(&self, latency: Duration) {
        self.change(|plan| plan.latency = latency);
    }

    /// On top of the latency every reply takes between nothing and `jitter` longer, uniformly
    /// distributed; equal seeds give equal sequences. Zero switches it off.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # fn example(server: &steersman_testkit::Server) {
    /// server.faults().set_jitter(Duration::from_millis(2), 1);
    /// # }
    /// ```
    pub fn set_jitter(&self, jitter: Duration, seed: u64) {
        let jitter = (!jitter.is_zero()).then(|| (jitter, fastrand::Rng::with_seed(seed)));
        self.change(|plan| plan.jitter = jitter);
    }

    /// Replies are held back: connections are accepted, requests read and executed, but nothing
    /// is answered until the stall is switched off, when everything held back is sent.
    ///
    /// ```
    /// # fn example(server: &steersman_testkit::Server) {
    /// server.faults().set_stalled(true);
    /// // ... requests time out ...
    /// server.faults().set_stalled(false);
    /// // ... and their replies come late.
    /// # }
    /// ```
    pub fn set_stalled(&self, stalled: bool) {
        self.change(|plan| plan.stalled = stalled);
    }

    /// Everything stands still, as when the process is stopped by a signal: connecting succeeds
    /// (the system does that), but nothing is accepted, read or answered until it is switched off.
    ///
    /// ```
    /// # fn example(server: &steersman_testkit::Server) {
    /// server.faults().set_frozen(true);
    /// # }
    /// ```
    pub fn set_frozen(&self, frozen: bool) {
        self.change(|plan| plan.frozen = frozen);
    }

    /// Everything disappears: connections are accepted and what they send is read, but nothing
    /// is executed or answered. A connection that has lost bytes this way stays silent for good;
    /// switching off helps those that have not.
    ///
    /// ```
    /// # fn example(server: &steersman_testkit::Server) {
    /// server.faults().set_black_hole(true);
    /// # }
    /// ```
    pub fn set_black_hole(&self, black_hole: bool) {
        self.change(|plan| plan.black_hole = black_hole);
    }

    /// Nobody listens: connecting is refused. Open connections live on. Takes effect before the
    /// call returns; in the unlikely case that the address cannot be opened again, that is
    /// logged, and connects stay refused.
    ///
    /// ```
    /// # fn example(server: &steersman_testkit::Server) {
    /// server.faults().set_refusing(true);
    /// server.faults().close_connections();
    /// // ... an outage without stopping the server: its items live on ...
    /// server.faults().set_refusing(false);
    /// # }
    /// ```
    pub fn set_refusing(&self, refusing: bool) {
        if let Err(error) = self.inner.gate.set_refusing(refusing) {
            let node = self.inner.gate.endpoint().node();
            tracing::error!(%error, node, "cannot listen again");
        }
    }

    /// A connection is served only this long after it was accepted.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # fn example(server: &steersman_testkit::Server) {
    /// server.faults().set_accept_delay(Duration::from_secs(1));
    /// # }
    /// ```
    pub fn set_accept_delay(&self, delay: Duration) {
        self.change(|plan| plan.accept_delay = delay);
    }

    /// Connections are reset as soon as they are accepted.
    ///
    /// ```
    /// # use steersman_testkit::Times;
    /// # fn example(server: &steersman_testkit::Server) {
    /// // The next two attempts fail, the third succeeds.
    /// server.faults().reset_accepted(Times::Next(2));
    /// # }
    /// ```
    pub fn reset_accepted(&self, times: Times) {
        self.change(|plan| plan.reset_accepted = (times != Times::NEVER).then_some(times));
    }

    /// Resets all open connections.
    ///
    /// ```
    /// # async fn example(server: &steersman_testkit::Server) {
    /// server.faults().reset_connections();
    /// server.wait_for(|stats| stats.connections == 0).await;
    /// # }
    /// ```
    pub fn reset_connections(&self) {
        self.inner.connections.end_all(Ending::Reset);
    }

    /// Closes all open connections in order.
    ///
    /// ```
    /// # fn example(server: &steersman_testkit::Server) {
    /// server.faults().close_connections();
    /// # }
    /// ```
    pub fn close_connections(&self) {
        self.inner.connections.end_all(Ending::Close);
    }

    /// The next `times` connections that are sent anything get `after` bytes more and end:
    /// after 0 bytes, within a line or within a value, as you like it.
    ///
    /// ```
    /// # use steersman_testkit::{Ending, Times};
    /// # fn example(server: &steersman_testkit::Server) {
    /// // The next reply breaks off in the middle of its first line.
    /// server.faults().cut_replies(Times::Next(1), 3, Ending::Reset);
    /// # }
    /// ```
    pub fn cut_replies(&self, times: Times, after: usize, ending: Ending) {
        self.change(|plan| {
            plan.cuts += 1;
            plan.cut = (times != Times::NEVER).then_some((times, Cut { after, ending }));
        });
    }

    /// Replies are written at most so many bytes at a time, and other tasks run in between.
    /// `None` (and 0) switches it off.
    ///
    /// ```
    /// # fn example(server: &steersman_testkit::Server) {
    /// server.faults().set_split(Some(1));
    /// # }
    /// ```
    pub fn set_split(&self, bytes: Option<usize>) {
        self.change(|plan| plan.split = bytes.filter(|&bytes| bytes > 0));
    }

    /// Switches all faults off.
    pub fn clear(&self) {
        self.change(|plan| {
            *plan = Plan {
                cuts: plan.cuts + 1,
                ..Plan::default()
            }
        });
        self.set_refusing(false);
    }

    fn change(&self, change: impl FnOnce(&mut Plan)) {
        let mut plan = lock(&self.inner.plan);
        change(&mut plan);
        self.inner
            .is_active
            .store(plan.is_active(), Ordering::Release);
        drop(plan);
        self.inner.changes.fetch_add(1, Ordering::Release);
        self.inner.changed.notify_waiters();
    }

    /// Is there any fault that concerns accepted connections? Cheap, for the hot path.
    pub(crate) fn is_active(&self) -> bool {
        self.inner.is_active.load(Ordering::Acquire)
    }

    /// Learns of every change from now on.
    pub(crate) fn changes(&self) -> Changes {
        Changes {
            seen: self.inner.changes.load(Ordering::Acquire),
            faults: self.clone(),
        }
    }

    /// How long the next reply takes.
    pub(crate) fn delay(&self) -> Duration {
        let mut plan = lock(&self.inner.plan);
        let jitter = match &mut plan.jitter {
            Some((jitter, rng)) => jitter.mul_f64(rng.f64()),
            None => Duration::ZERO,
        };
        plan.latency + jitter
    }

    pub(crate) fn holds_replies(&self) -> bool {
        let plan = lock(&self.inner.plan);
        plan.stalled || plan.frozen
    }

    pub(crate) fn is_frozen(&self) -> bool {
        self.is_active() && lock(&self.inner.plan).frozen
    }

    pub(crate) fn is_black_hole(&self) -> bool {
        self.is_active() && lock(&self.inner.plan).black_hole
    }

    pub(crate) fn split(&self) -> Option<usize> {
        lock(&self.inner.plan).split
    }

    pub(crate) fn accept_delay(&self) -> Duration {
        lock(&self.inner.plan).accept_delay
    }

    pub(crate) fn takes_reset(&self) -> bool {
        lock(&self.inner.plan)
            .reset_accepted
            .as_mut()
            .is_some_and(Times::take)
    }

    /// Brings a connection's cut up to date with the last decision, which it is `seen` to know.
    pub(crate) fn update_cut(&self, seen: &mut u64, cut: &mut Option<Cut>) {
        let mut plan = lock(&self.inner.plan);
        if std::mem::replace(seen, plan.cuts) != plan.cuts {
            *cut = match &mut plan.cut {
                Some((times, planned)) => times.take().then_some(*planned),
                None => None,
            };
        }
    }
}

/// The changes of faults, for somebody who waits for them.
pub(crate) struct Changes {
    faults: Faults,
    seen: u64,
}

impl Changes {
    /// Waits until anything has changed since the last time.
    pub(crate) async fn changed(&mut self) {
        let Inner {
            changes, changed, ..
        } = &*self.faults.inner;
        let look = || {
            let now = changes.load(Ordering::Acquire);
            (now != self.seen).then_some(now)
        };
        self.seen = wait_until(changed, look).await;
    }
}
