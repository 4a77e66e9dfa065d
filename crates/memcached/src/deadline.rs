//! The end of a call's patience, for callers inside and outside of the client's runtime.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::{Context, Poll, ready};
use std::thread;
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep};

use crate::error::{Error, ErrorKind, Stage};

/// How long a call may take.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Patience {
    /// As the client was built.
    Default,
    /// As this call says; `None` is for ever.
    Own(Option<Duration>),
}

impl Patience {
    pub(crate) fn or(self, default: Option<Duration>) -> Option<Duration> {
        match self {
            Self::Default => default,
            Self::Own(limit) => limit,
        }
    }
}

pin_project! {
    /// Runs out once. Unless it is said since when, the time counts from the first poll that has to
    /// wait: a future may be made long before anybody polls it.
    pub(crate) struct Deadline {
        limit: Option<Duration>,
        since: Option<Instant>,
        apart: bool,
        #[pin]
        timer: Timer,
    }
}

pin_project! {
    #[project = TimerProjection]
    enum Timer {
        Unset,
        Here { #[pin] sleep: Sleep },
        /// Outside of the client's runtime: a task on that one keeps the time, or a thread.
        There { #[pin] elapsed: oneshot::Receiver<()>, thread: Option<mpsc::Sender<()>> },
        Over { expired: Expired },
    }
}

/// Why there is no point in waiting any longer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expired {
    TimeOut(Duration),
    RuntimeGone,
}

impl Expired {
    /// The error for a call that had come to `stage`.
    pub(crate) fn error(self, stage: Stage) -> Error {
        let what = match stage {
            Stage::Exchange | Stage::Decoding => "no reply",
            Stage::Waiting | Stage::Connecting => "no place on a connection",
            Stage::Validation | Stage::Routing => "not done",
        };
        match self {
            Self::TimeOut(limit) => Error::new(
                ErrorKind::Timeout,
                stage,
                format!("{what} within {limit:?}"),
            ),
            Self::RuntimeGone => Error::runtime_gone(),
        }
    }
}

impl Deadline {
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        Self {
            limit,
            since: None,
            apart: false,
            timer: Timer::Unset,
        }
    }

    /// The end of what began at that time.
    pub(crate) fn since(begun: Instant, limit: Option<Duration>) -> Self {
        Self {
            since: Some(begun),
            ..Self::new(limit)
        }
    }

    /// One that runs out though the client's runtime does not run. Outside of that it takes a thread, so
    /// it is for what is done rarely.
    pub(crate) fn apart(limit: Option<Duration>) -> Self {
        Self {
            apart: true,
            ..Self::new(limit)
        }
    }

    /// Ready when the time is up, and ever after.
    pub(crate) fn poll_expired(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        runtime: &Handle,
    ) -> Poll<Expired> {
        let mut this = self.project();
        let Some(limit) = *this.limit else {
            return Poll::Pending;
        };
        if let TimerProjection::Unset = this.timer.as_mut().project() {
            // A limit beyond what the clock can count to is no limit.
            let begun = this.since.unwrap_or_else(Instant::now);
            let Some(at) = begun.checked_add(limit) else {
                return Poll::Pending;
            };
            this.timer.set(Timer::new(at, runtime, *this.apart));
        }
        let expired = match this.timer.as_mut().project() {
            TimerProjection::Unset => return Poll::Pending,
            TimerProjection::Here { sleep } => {
                ready!(sleep.poll(cx));
                Expired::TimeOut(limit)
            }
            TimerProjection::There { elapsed, .. } => match ready!(elapsed.poll(cx)) {
                Ok(()) => Expired::TimeOut(limit),
                Err(_) => Expired::RuntimeGone,
            },
            TimerProjection::Over { expired } => *expired,
        };
        this.timer.set(Timer::Over { expired });
        Poll::Ready(expired)
    }

    /// Runs `work` until it is done or the time is up.
    pub(crate) async fn bound<F: Future>(
        mut self: Pin<&mut Self>,
        runtime: &Handle,
        work: F,
    ) -> Result<F::Output, Expired> {
        let mut work = pin!(work);
        poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Ok(done));
            }
            self.as_mut().poll_expired(cx, runtime).map(Err)
        })
        .await
    }
}

/// Runs `work` on the client's own runtime until it is done or the time is up; then gives that limit.
pub(crate) async fn within<F: Future>(
    limit: Option<Duration>,
    work: F,
) -> Result<F::Output, Duration> {
    match limit {
        None => Ok(work.await),
        Some(limit) => tokio::time::timeout(limit, work).await.map_err(|_| limit),
    }
}

impl Timer {
    fn new(at: Instant, runtime: &Handle, apart: bool) -> Self {
        // Another runtime may have no timers, or end before this one.
        if Handle::try_current().is_ok_and(|here| here.id() == runtime.id()) {
            return Self::Here {
                sleep: tokio::time::sleep_until(at),
            };
        }
        let (mut sender, elapsed) = oneshot::channel();
        if apart {
            return Self::There {
                elapsed,
                thread: Some(keep_by_thread(at, sender)),
            };
        }
        runtime.spawn(async move {
            // The call may be over before.
            if tokio::time::timeout_at(at, sender.closed()).await.is_err() {
                let _ = sender.send(());
            }
        });
        Self::There {
            elapsed,
            thread: None,
        }
    }
}

/// Tells when that moment has come, unless what it returns is dropped before.
fn keep_by_thread(at: Instant, elapsed: oneshot::Sender<()>) -> mpsc::Sender<()> {
    let (waiting, over) = mpsc::channel();
    let left = at.saturating_duration_since(Instant::now());
    let thread = thread::Builder::new().name("steersman-time".to_owned());
    // A system without room for a thread drops what would tell: then nothing is waited for.
    let _ = thread.spawn(move || {
        if over.recv_timeout(left) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = elapsed.send(());
        }
    });
    waiting
}
