//! Load: reads at a fixed rate, or as many as some tasks can do.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fastrand::Rng;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::tally::Tally;
use super::target::Reads;
use crate::pace::{due_after, wake_in_time};

/// How many reads may be under way at a fixed rate. More than that is a cluster that hangs.
const MAX_UNDER_WAY: u32 = 100_000;

/// How long the pacer sleeps at a time, at most, before it looks whether it is to stop.
const NAP: Duration = Duration::from_millis(50);

/// The pause of a task whose read failed.
const PAUSE: Duration = Duration::from_millis(2);

/// How reads are paced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// So many a second, whether earlier ones are answered or not. A read's latency counts from when
    /// it was due, as Gil Tene asks for: else a stall would hide the reads that it holds up.
    Rate(u32),
    /// As many as so many tasks can do that wait for each answer.
    Tasks(u32),
}

/// Load that runs until it is stopped or dropped.
pub(super) struct Load {
    work: Arc<Work>,
    /// The pacer, or those who read.
    tasks: JoinSet<()>,
}

struct Work {
    reads: Reads,
    tally: Mutex<Tally>,
    stopped: AtomicBool,
    /// A permit for each read that is under way at a fixed rate.
    under_way: Arc<Semaphore>,
    /// Reads that are due before do not count.
    counts_from: Instant,
}

impl Load {
    /// Reads from now on, and counts those that are due after the warm-up. Equal seeds draw equal
    /// keys.
    pub(super) fn start(reads: Reads, pace: Pace, warm_up: Duration, seed: u64) -> Self {
        let began = Instant::now();
        let work = Arc::new(Work {
            reads,
            tally: Mutex::default(),
            stopped: AtomicBool::new(false),
            under_way: Arc::new(Semaphore::new(MAX_UNDER_WAY as usize)),
            counts_from: began + warm_up,
        });
        let mut random = Rng::with_seed(seed);
        let mut tasks = JoinSet::new();
        match pace {
            // Timers of the runtime are late by up to a millisecond, which is much for a read.
            Pace::Rate(rate) => {
                let (pacer, runtime) = (Arc::clone(&work), Handle::current());
                tasks.spawn_blocking(move || pacer.keep_pace(&runtime, began, rate, random));
            }
            Pace::Tasks(count) => {
                for _ in 0..count {
                    tasks.spawn(Arc::clone(&work).go_on(random.fork()));
                }
            }
        }
        Self { work, tasks }
    }

    /// What was counted so far.
    pub(super) fn tally(&self) -> Tally {
        self.work.tally().clone()
    }

    /// No more reads begin; waits for those that have begun, and tells what was counted.
    pub(super) async fn stop(mut self) -> Tally {
        self.work.stop();
        while self.tasks.join_next().await.is_some() {}
        // It is never closed, so all it can do is wait.
        let _ = self.work.under_way.acquire_many(MAX_UNDER_WAY).await;
        self.tally()
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.work.stop();
    }
}

impl Work {
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets reads begin when they are due, by a thread of its own.
    fn keep_pace(self: Arc<Self>, runtime: &Handle, began: Instant, rate: u32, mut random: Rng) {
        wake_in_time();
        for number in 0.. {
            let due = began + due_after(number, rate);
            if !self.sleep_until(due) {
                return;
            }
            let values = self.reads.draw(&mut random);
            let Ok(permit) = Arc::clone(&self.under_way).try_acquire_owned() else {
                let reason = format!("not sent, as {MAX_UNDER_WAY} reads have no answer yet");
                self.count(due, Err(reason));
                continue;
            };
            let work = Arc::clone(&self);
            runtime.spawn(async move {
                let answer = work.reads.read(values).await;
                work.count(due, answer);
                drop(permit);
            });
        }
    }

    /// `false` if the load is to stop.
    fn sleep_until(&self, due: Instant) -> bool {
        loop {
            if self.is_stopped() {
                return false;
            }
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(NAP));
        }
    }

    /// Reads, one after the other.
    async fn go_on(self: Arc<Self>, mut random: Rng) {
        while !self.is_stopped() {
            let begun = Instant::now();
            let answer = self.reads.read(self.reads.draw(&mut random)).await;
            let failed = answer.is_err();
            self.count(begun, answer);
            if failed {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    fn count(&self, due: Instant, answer: Result<SocketAddr, String>) {
        if due >= self.counts_from {
            self.tally().record(due.elapsed(), answer);
        }
    }
}
