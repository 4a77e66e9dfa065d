//! Ctrl-C, which ends what a command is at and not the command.

use tokio::sync::watch;

/// Counts how often Ctrl-C was pressed.
pub(super) struct Interrupts(watch::Receiver<u64>);

impl Interrupts {
    /// From now on Ctrl-C does not end the process.
    pub(super) fn take() -> Self {
        let (count, receiver) = watch::channel(0);
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                count.send_modify(|count| *count += 1);
            }
        });
        Self(receiver)
    }

    /// Waits until it is pressed, if it was not since the last time.
    pub(super) async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            // It cannot be waited for, so it does not come.
            std::future::pending::<()>().await;
        }
    }

    /// The output of some work, or `None` if it was interrupted.
    pub(super) async fn unless<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.next() => None,
        }
    }
}
