//! The end of a call's patience, for callers inside and outside of a Tokio runtime.

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
    /// Runs out once. The timer is set at the first poll that has to wait.
    pub(crate) struct Deadline {
        limit: Option<Duration>,
        at: Option<Instant>,
        #[pin]
        timer: Timer,
    }
}

pin_project! {
    #[project = TimerProjection]
    enum Timer {
        Unset,
        Here { #[pin] sleep: Sleep },
        /// Outside of a runtime: a task on the client's runtime keeps the time.
        There { #[pin] elapsed: oneshot::Receiver<()> },
    }
}

impl Deadline {
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        // A limit beyond what the clock can count to is no limit.
        let at = limit.and_then(|limit| Instant::now().checked_add(limit));
        Self {
            limit,
            at,
            timer: Timer::Unset,
        }
    }

    /// Ready with the error when the time is up. `stage` is where the call is at the moment.
    pub(crate) fn poll_elapsed(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        runtime: &Handle,
        stage: Stage,
    ) -> Poll<Error> {
        let mut this = self.project();
        let (Some(at), Some(limit)) = (*this.at, *this.limit) else {
            return Poll::Pending;
        };
        if let TimerProjection::Unset = this.timer.as_mut().project() {
            this.timer.set(Timer::new(at, runtime));
        }
        match this.timer.project() {
            TimerProjection::Unset => return Poll::Pending,
            TimerProjection::Here { sleep } => ready!(sleep.poll(cx)),
            TimerProjection::There { elapsed } => {
                if ready!(elapsed.poll(cx)).is_err() {
                    return Poll::Ready(Error::runtime_gone());
                }
            }
        }
        let what = match stage {
            Stage::Exchange => "no reply",
            Stage::Waiting | Stage::Connecting => "no place on a connection",
            Stage::Validation | Stage::Routing => "not done",
        };
        Poll::Ready(Error::new(
            ErrorKind::Timeout,
            stage,
            format!("{what} within {limit:?}"),
        ))
    }

    /// Runs `work` until it is done or the time is up.
    pub(crate) async fn bound<F: Future>(
        mut self: Pin<&mut Self>,
        runtime: &Handle,
        stage: Stage,
        work: F,
    ) -> Result<F::Output, Error> {
        let mut work = pin!(work);
        poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Ok(done));
            }
            self.as_mut().poll_elapsed(cx, runtime, stage).map(Err)
        })
        .await
    }
}

impl Timer {
    fn new(at: Instant, runtime: &Handle) -> Self {
        if Handle::try_current().is_ok() {
            return Self::Here {
                sleep: tokio::time::sleep_until(at),
            };
        }
        let (sender, elapsed) = oneshot::channel();
        runtime.spawn(async move {
            tokio::time::sleep_until(at).await;
            // The call may be over by now.
            let _ = sender.send(());
        });
        Self::There { elapsed }
    }
}
