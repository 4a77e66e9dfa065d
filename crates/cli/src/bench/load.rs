//! The load: tasks that ask and wait for the answer, one operation after the other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fastrand::Rng;
use steersman_memcached::{Client, Error};
use tokio::task::JoinSet;

use super::dataset::{Dataset, Failed, Key};
use super::schedule::Schedule;
use super::tally::{Operation, Tallies, Tally};
use crate::args::bench::Ratio;

/// The pause of a task whose operation failed, so that a node that is away is not asked in a loop. At a
/// fixed rate there is none.
const PAUSE: Duration = Duration::from_millis(2);

/// Load that runs until it is stopped or dropped.
pub(super) struct Load {
    work: Arc<Work>,
    tasks: JoinSet<()>,
    began: Instant,
}

/// What the tasks share.
struct Work {
    client: Client,
    dataset: Arc<Dataset>,
    ratio: Ratio,
    /// Without it tasks do as much as they can.
    schedule: Option<Arc<Schedule>>,
    stopped: AtomicBool,
    tallies: Tallies,
    first_failed: OnceLock<Failed>,
}

/// What the load came to.
pub(super) struct Outcome {
    pub(super) tally: Tally,
    /// From the beginning to the last answer.
    pub(super) took: Duration,
    /// How many operations were due and never begun.
    pub(super) left: u64,
}

impl Load {
    /// So many tasks begin to ask, at this rate or as fast as they can. What a task draws is the same in
    /// every run.
    pub(super) fn start(
        client: &Client,
        dataset: &Arc<Dataset>,
        ratio: Ratio,
        tasks: u16,
        rate: Option<u32>,
    ) -> Self {
        let began = Instant::now();
        let work = Arc::new(Work {
            client: client.clone(),
            dataset: Arc::clone(dataset),
            ratio,
            schedule: rate.map(|rate| Arc::new(Schedule::new(rate))),
            stopped: AtomicBool::new(false),
            tallies: Tallies::new(workers()),
            first_failed: OnceLock::new(),
        });
        let mut running = JoinSet::new();
        for number in 0..tasks {
            let random = Rng::with_seed(number.into());
            running.spawn(Arc::clone(&work).run(random));
        }
        if let Some(schedule) = work.schedule.clone() {
            running.spawn_blocking(move || schedule.keep());
        }
        Self {
            work,
            tasks: running,
            began,
        }
    }

    pub(super) fn began(&self) -> Instant {
        self.began
    }

    /// How many operations were answered so far, and how many failed.
    pub(super) fn progress(&self) -> (u64, u64) {
        let tally = self.work.tallies.sum();
        (tally.answers(), tally.errors())
    }

    /// No more operations begin.
    pub(super) fn stop(&self) {
        self.work.stop();
    }

    /// Waits until all that has begun is answered.
    pub(super) async fn finished(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    /// What came of it so far.
    pub(super) fn outcome(&self) -> Outcome {
        let took = self.began.elapsed();
        let schedule = self.work.schedule.as_deref();
        Outcome {
            tally: self.work.tallies.sum(),
            took,
            left: schedule.map_or(0, Schedule::left),
        }
    }

    /// The first operation that failed.
    pub(super) fn first_failed(&self) -> Option<&Failed> {
        self.work.first_failed.get()
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Work {
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        if let Some(schedule) = &self.schedule {
            schedule.end();
        }
    }

    async fn run(self: Arc<Self>, mut random: Rng) {
        let mut key = self.dataset.key();
        let mut now = Instant::now();
        while !self.stopped.load(Ordering::Relaxed) {
            let since = match &self.schedule {
                None => now,
                Some(schedule) => match schedule.take().await {
                    Some(due) => due,
                    None => return,
                },
            };
            let operation = self.draw(&mut random);
            self.dataset.draw(&mut key, &mut random);
            let answer = self.ask(operation, &key).await;
            // The next operation begins when this one ends: one look at the clock for both.
            now = Instant::now();
            let found = answer.as_ref().ok().copied();
            self.tallies.own().record(operation, now - since, found);
            if let Err(error) = answer {
                self.first_failed.get_or_init(|| Failed {
                    request: operation.name(),
                    key: key.clone(),
                    error,
                });
                if self.schedule.is_none() {
                    tokio::time::sleep(PAUSE).await;
                    now = Instant::now();
                }
            }
        }
    }

    fn draw(&self, random: &mut Rng) -> Operation {
        let (gets, sets) = (u32::from(self.ratio.gets), u32::from(self.ratio.sets));
        if random.u32(..gets + sets) < gets {
            Operation::Get
        } else {
            Operation::Set
        }
    }

    /// Whether there was a value; a set makes it one.
    async fn ask(&self, operation: Operation, key: &Key) -> Result<bool, Error> {
        match operation {
            Operation::Get => Ok(self.client.get(key).await?.is_some()),
            Operation::Set => {
                self.dataset.set(&self.client, key).await?;
                Ok(true)
            }
        }
    }
}

/// How many threads the tasks run on.
pub(super) fn workers() -> usize {
    tokio::runtime::Handle::current().metrics().num_workers()
}
