//! Tasks that do everything one can do with a client, as fast as they can, and show each answer to the
//! ledger.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fastrand::Rng;
use steersman_memcached::Client;
use tokio::time::{sleep, timeout};

use super::clients::Kind;
use super::key::Key;
use super::stage::Stage;
use super::tally::Tally;
use crate::soak::sample::Latencies;

/// The pause after a failure: what fails at once would keep the processors from the servers.
const PAUSE: Duration = Duration::from_millis(2);
/// The longest that a call which is going to be dropped is let live.
const DROPPED_WITHIN: u64 = 2_000;
/// How many keys a read of many has at most; all of one node fit one request line.
const MANY: usize = 16;

/// One task's calls.
#[derive(Debug)]
pub struct Caller {
    /// What it shares with the others.
    pub stage: Arc<Stage>,
    /// Which client it has.
    pub kind: Kind,
    /// The client.
    pub client: Client,
    /// The keys it may use.
    pub keys: Arc<Vec<Key>>,
    /// Its number.
    pub writer: u32,
    /// What it draws.
    pub random: Rng,
    /// What its calls come to.
    pub tally: Tally,
    /// Where the time that its calls take is told.
    pub latencies: Option<Arc<Latencies>>,
}

impl Caller {
    /// Makes calls until it is to stop.
    pub async fn run(mut self) -> Tally {
        while !self.stage.stop.load(Ordering::Relaxed) {
            if !self.call().await {
                sleep(PAUSE).await;
            }
        }
        self.tally
    }

    /// Makes a call, or a few that belong together; whether they had answers.
    pub async fn call(&mut self) -> bool {
        let (stage, keys) = (Arc::clone(&self.stage), Arc::clone(&self.keys));
        let key = &keys[self.random.usize(..keys.len())];
        match self.random.u32(..100) {
            0..50 => self.get_or_set(&stage, key).await,
            50..60 => self.get_many(&stage, &keys).await,
            60..78 => self.set(&stage, key).await,
            78..81 => self.set_quietly(&stage, key).await,
            81..85 => self.delete(&stage, key).await,
            85..90 => self.compare_and_swap(&stage, key).await,
            90..93 => self.add(&stage, key).await,
            _ => self.drop_a_call(&stage, key).await,
        }
    }

    /// Reads every key; each has to be read while all nodes are well, though not at the first attempt.
    pub async fn sweep(mut self) -> Tally {
        let stage = Arc::clone(&self.stage);
        for key in Arc::clone(&self.keys).iter() {
            let measured = stage.pace.start();
            let bound = self.kind.healing_bound();
            while self.get(&stage, key).await.is_none() {
                if measured.lived() > bound {
                    stage.broken.report(format_args!(
                        "with all nodes well, the client {:?} could not read {} for {bound:?}",
                        self.kind, key.name
                    ));
                    break;
                }
                sleep(PAUSE).await;
            }
        }
        self.tally
    }

    /// As caches are used: what is missing is put there.
    async fn get_or_set(&mut self, stage: &Stage, key: &Key) -> bool {
        match self.get(stage, key).await {
            Some(true) => true,
            Some(false) => self.set(stage, key).await,
            None => false,
        }
    }

    /// Whether the key was found; `None` without an answer.
    async fn get(&mut self, stage: &Stage, key: &Key) -> Option<bool> {
        let read = stage.ledger.read(key.home, &key.name);
        self.tally.sent[key.home] += 1;
        let answer = self.watch(stage, "get", self.client.get(&key.name)).await;
        let found = matches!(answer, Some(Ok(Some(_))));
        self.judge(stage, "get", key, read, answer).then_some(found)
    }

    async fn get_many(&mut self, stage: &Stage, keys: &[Key]) -> bool {
        let first = self.random.usize(..keys.len());
        let asked = &keys[first..keys.len().min(first + MANY)];
        let reads = asked
            .iter()
            .map(|key| stage.ledger.read(key.home, &key.name));
        let reads: Vec<_> = reads.collect();
        let mut homes: Vec<_> = asked.iter().map(|key| key.home).collect();
        homes.sort_unstable();
        homes.dedup();
        for home in homes {
            self.tally.sent[home] += 1;
        }
        let names: Vec<_> = asked.iter().map(|key| &*key.name).collect();
        let call = self.client.get_many(names);
        let call = async { Ok(call.await) };
        let Some(Ok(mut many)) = self.watch(stage, "get_many", call).await else {
            return false;
        };
        let accounted = many.found.len() + many.missing.len() + many.failed.len();
        if accounted != asked.len() {
            let asked = asked.len();
            let count = format!("get_many of {asked} keys accounts for {accounted}");
            stage.broken.report(count);
        }
        let went_well = many.failed.is_empty();
        let mut failed: Vec<_> = many.failed;
        for (key, read) in asked.iter().zip(reads) {
            let answer = if let Some(value) = many.found.remove(&*key.name) {
                Ok(Some(value))
            } else if let Some(at) = failed.iter().position(|(name, _)| *name == key.name) {
                Err(failed.swap_remove(at).1)
            } else {
                Ok(None)
            };
            self.judge(stage, "get_many", key, read, Some(answer));
        }
        went_well
    }

    async fn set(&mut self, stage: &Stage, key: &Key) -> bool {
        let write = stage.ledger.write(key.home, &key.name, self.writer);
        self.tally.sent[key.home] += 1;
        let call = self.client.set(&key.name, write.value(key.size));
        match self.watch(stage, "set", call).await {
            Some(Ok(())) => self.confirm("set", write),
            Some(Err(error)) => self.unconfirmed(stage, "set", write, &error),
            None => false,
        }
    }

    async fn set_quietly(&mut self, stage: &Stage, key: &Key) -> bool {
        let write = stage.ledger.write(key.home, &key.name, self.writer);
        self.tally.sent[key.home] += 1;
        let call = self.client.set(&key.name, write.value(key.size)).noreply();
        match self.watch(stage, "set noreply", call).await {
            Some(Ok(())) => {
                self.tally.count("set noreply", "queued");
                true
            }
            Some(Err(error)) => self.unconfirmed(stage, "set noreply", write, &error),
            None => false,
        }
    }

    async fn delete(&mut self, stage: &Stage, key: &Key) -> bool {
        let write = stage.ledger.delete(key.home, &key.name, self.writer);
        self.tally.sent[key.home] += 1;
        let answer = self
            .watch(stage, "delete", self.client.delete(&key.name))
            .await;
        match answer {
            Some(Ok(_)) => self.confirm("delete", write),
            Some(Err(error)) => self.unconfirmed(stage, "delete", write, &error),
            None => false,
        }
    }

    async fn compare_and_swap(&mut self, stage: &Stage, key: &Key) -> bool {
        let read = stage.ledger.read(key.home, &key.name);
        self.tally.sent[key.home] += 1;
        let answer = self.watch(stage, "gets", self.client.gets(&key.name)).await;
        let cas = match &answer {
            Some(Ok(Some(value))) => value.cas,
            _ => None,
        };
        if !self.judge(stage, "gets", key, read, answer) {
            return false;
        }
        let Some(cas) = cas else { return true };
        let write = stage.ledger.write(key.home, &key.name, self.writer);
        self.tally.sent[key.home] += 1;
        let call = self.client.cas(&key.name, write.value(key.size), cas);
        match self.watch(stage, "cas", call).await {
            Some(Ok(outcome)) if outcome.is_stored() => self.confirm("cas", write),
            Some(Ok(_)) => self.declined("cas", write),
            Some(Err(error)) => self.unconfirmed(stage, "cas", write, &error),
            None => false,
        }
    }

    async fn add(&mut self, stage: &Stage, key: &Key) -> bool {
        let write = stage.ledger.write(key.home, &key.name, self.writer);
        self.tally.sent[key.home] += 1;
        let call = self.client.add(&key.name, write.value(key.size));
        match self.watch(stage, "add", call).await {
            Some(Ok(outcome)) if outcome.is_stored() => self.confirm("add", write),
            Some(Ok(_)) => self.declined("add", write),
            Some(Err(error)) => self.unconfirmed(stage, "add", write, &error),
            None => false,
        }
    }

    /// A call whose future is dropped at whatever point it has reached, if it is not over before.
    async fn drop_a_call(&mut self, stage: &Stage, key: &Key) -> bool {
        let patience = Duration::from_micros(self.random.u64(..DROPPED_WITHIN));
        self.tally.dropped[key.home] += 1;
        if self.random.bool() {
            let read = stage.ledger.read(key.home, &key.name);
            match timeout(patience, self.client.get(&key.name)).await {
                Ok(answer) => return self.judge(stage, "get", key, read, Some(answer)),
                Err(_) => self.tally.count("get", "dropped"),
            }
        } else {
            let write = stage.ledger.write(key.home, &key.name, self.writer);
            let call = self.client.set(&key.name, write.value(key.size));
            match timeout(patience, call).await {
                Ok(Ok(())) => return self.confirm("set", write),
                Ok(Err(error)) => return self.unconfirmed(stage, "set", write, &error),
                Err(_) => self.tally.count("set", "dropped"),
            }
        }
        true
    }
}
