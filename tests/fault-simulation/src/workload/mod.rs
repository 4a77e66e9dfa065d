//! What clients do: tasks that make one call after the other, or several at a time, write down what they
//! were told, and drop some calls before they have ended.

mod calls;
mod ledger;

use std::sync::Arc;

use futures_util::future::join_all;
use steersman_memcached::Client;
use tokio::time::Instant;

pub(crate) use self::ledger::Ledger;
use crate::chance::Chance;
use crate::plan::Plan;

/// One key of so many is written by every task, the others by one each.
const SHARED: usize = 4;

/// The keys whose numbers are counted up.
const COUNTERS: usize = 2;

/// The longest pause between two calls of a task.
const LONGEST_PAUSE_MS: u64 = 40;

/// A task of a client.
pub(crate) struct Worker {
    pub(super) client: Client,
    /// The client's number.
    pub(super) of: usize,
    /// The task's number among those of all clients.
    writer: u32,
    /// How many tasks there are.
    writers: u32,
    pub(super) plan: Arc<Plan>,
    pub(super) ledger: Arc<Ledger>,
    pub(super) chance: Chance,
    versions: u64,
}

/// The keys of a plan.
pub(crate) fn keys(plan: &Plan) -> impl Iterator<Item = String> {
    (0..plan.keys).map(|index| format!("key-{index}"))
}

impl Worker {
    /// All workers of a plan, each with a handle to its client.
    pub(crate) fn all(plan: &Arc<Plan>, clients: &[Client], ledger: &Arc<Ledger>) -> Vec<Self> {
        let mut chance = Chance::of(plan.seed, "workload");
        let tasks = clients.iter().zip(&plan.clients).enumerate();
        let tasks: Vec<_> = tasks
            .flat_map(|(of, (client, plan))| vec![(of, client.clone()); plan.tasks])
            .collect();
        let writers = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
        let workers = (0..writers).zip(tasks).map(|(writer, (of, client))| Self {
            client,
            of,
            writer,
            writers,
            plan: Arc::clone(plan),
            ledger: Arc::clone(ledger),
            chance: chance.fork(),
            versions: 0,
        });
        workers.collect()
    }

    /// Makes calls until the time is up.
    pub(crate) async fn work(mut self, until: Instant) {
        while Instant::now() < until {
            match self.chance.number(0..=19) {
                0 | 1 => self.get_several().await,
                2 if self.plan.reads_many => self.get_many().await,
                2..=5 => self.set().await,
                6 | 7 => self.set_quietly().await,
                8 => self.add().await,
                9 | 10 => self.change().await,
                11 => self.delete().await,
                12 => self.count().await,
                13 => self.set_for_a_while().await,
                _ => self.get().await,
            }
            // Never at once: where calls fail at once, time would stand still.
            tokio::time::sleep(self.chance.millis(1..=LONGEST_PAUSE_MS)).await;
        }
    }

    fn any_key(&mut self) -> String {
        format!("key-{}", self.chance.size(0..=self.plan.keys - 1))
    }

    /// A key that this task may write.
    fn own_key(&mut self) -> String {
        let index = self.chance.size(0..=self.plan.keys - 1);
        if index.is_multiple_of(SHARED) {
            return format!("key-{index}");
        }
        let first = usize::try_from(self.writer).unwrap_or(0);
        let step = usize::try_from(self.writers).unwrap_or(usize::MAX);
        let own: Vec<usize> = (first..self.plan.keys).step_by(step).collect();
        match own.as_slice() {
            [] => "key-0".to_owned(),
            own => format!("key-{}", self.chance.pick(own)),
        }
    }

    fn counter(&mut self) -> String {
        format!("count-{}", self.chance.size(0..=COUNTERS - 1))
    }

    async fn get_several(&mut self) {
        let keys: Vec<String> = (0..self.chance.size(2..=8))
            .map(|_| self.any_key())
            .collect();
        let calls: Vec<_> = keys.into_iter().map(|key| self.one_get(key)).collect();
        join_all(calls).await;
    }
}
