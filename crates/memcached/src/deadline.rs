//! The end of a call's patience, for callers inside and outside of the client's runtime.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
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
    /// Runs out once. The time counts from the first poll that has to wait: a future may be made
    /// long before anybody polls it.
    pub(crate) struct Deadline {
        limit: Option<Duration>,
        #[pin]
        timer: Timer,
    }
}

pin_project! {
    #[project = TimerProjection]
    enum Timer {
        Unset,
        Here { #[pin] sleep: Sleep },
        /// Outside of the client's runtime: a task on that one keeps the time.
        There { #[pin] elapsed: oneshot::Receiver<()> },
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
            timer: Timer::Unset,
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
            let Some(at) = Instant::now().checked_add(limit) else {
                return Poll::Pending;
            };
            this.timer.set(Timer::new(at, runtime));
        }
        let expired = match this.timer.as_mut().project() {
            TimerProjection::Unset => return Poll::Pending,
            TimerProjection::Here { sleep } => {
                ready!(sleep.poll(cx));
                Expired::TimeOut(limit)
            }
            TimerProjection::There { elapsed } => match ready!(elapsed.poll(cx)) {
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
    fn new(at: Instant, runtime: &Handle) -> Self {
        // Another runtime may have no timers, or end before this one.
        if Handle::try_current().is_ok_and(|here| here.id() == runtime.id()) {
            return Self::Here {
                sleep: tokio::time::sleep_until(at),
            };
        }
        let (mut sender, elapsed) = oneshot::channel();
        runtime.spawn(async move {
            // The call may be over before.
            if tokio::time::timeout_at(at, sender.closed()).await.is_err() {
                let _ = sender.send(());
            }
        });
        Self::There { elapsed }
    }
}
