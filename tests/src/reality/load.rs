//! Open load: reads that are due at random times, whether others are answered or not.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::Instant;

/// A client that reads.
pub trait Reader: Send + Sync + 'static {
    /// Makes the read of that number; says whether it was answered.
    fn read(&self, number: u64) -> impl Future<Output = bool> + Send;
}

/// A read that is over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    /// When it was due, since the load began.
    pub(super) at: Duration,
    /// How long it took from then on.
    pub(super) latency: Duration,
    pub(super) is_answered: bool,
}

/// A load under way.
pub(super) struct Load {
    began: Instant,
    ended: UnboundedReceiver<Ended>,
}

/// So many reads a second by those clients together, as independent of each other as can be, for a time.
///
/// A thread of its own counts the time: the runtime's timers know milliseconds, in which many reads would
/// come at once.
pub(super) fn start<R: Reader>(
    clients: Vec<Arc<R>>,
    rate: u32,
    duration: Duration,
    seed: u64,
) -> Load {
    let (sender, ended) = unbounded_channel();
    let runtime = Handle::current();
    let began = Instant::now();
    thread::spawn(move || {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut at = Duration::ZERO;
        for number in 0.. {
            // The distance between two events of a Poisson process.
            at += Duration::from_secs_f64(-(1.0 - random.f64()).ln() / f64::from(rate));
            if at >= duration {
                return;
            }
            if let Some(wait) = at.checked_sub(began.elapsed()) {
                thread::sleep(wait);
            }
            let client = Arc::clone(&clients[random.usize(..clients.len())]);
            let sender = sender.clone();
            runtime.spawn(async move {
                let is_answered = client.read(number).await;
                let latency = began.elapsed().saturating_sub(at);
                // Whoever does not wait for the end does not want to know.
                let _ = sender.send(Ended {
                    at,
                    latency,
                    is_answered,
                });
            });
        }
    });
    Load { began, ended }
}

impl Load {
    pub(super) fn began(&self) -> Instant {
        self.began
    }

    /// All reads, once the last one is over.
    pub(super) async fn ended(mut self) -> Vec<Ended> {
        let mut all = Vec::new();
        while let Some(ended) = self.ended.recv().await {
            all.push(ended);
        }
        all
    }
}
