//! The calls themselves.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use steersman_memcached::{CasOutcome, Result, StoreOutcome};

use super::Worker;
use super::ledger::Ledger;
use crate::history::{Asked, Outcome};
use crate::value::{self, Stamp};

/// One call in so many is dropped before it has ended, and one in so many has a time-out of its own.
const DROPPED_ONE_IN: u64 = 12;
const HURRIED_ONE_IN: u64 = 8;

/// How long a value lives that expires.
const WHILE: (u64, u64) = (1, 3);

/// How long a caller waits.
struct Patience {
    /// The time-out of the call.
    timeout: Duration,
    /// When the call is dropped, if it is.
    until_dropped: Option<Duration>,
}

impl Patience {
    fn limit(&self) -> Duration {
        self.until_dropped
            .map_or(self.timeout, |dropped| dropped.min(self.timeout))
    }

    /// Waits for a call; none if it was dropped.
    async fn wait<F: IntoFuture>(&self, call: F) -> Option<F::Output> {
        let call = call.into_future();
        match self.until_dropped {
            None => Some(call.await),
            Some(limit) => tokio::time::timeout(limit, call).await.ok(),
        }
    }
}

impl Worker {
    fn patience(&mut self) -> Patience {
        let timeout = self.plan.clients[self.of].timeout;
        let longest = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let is_hurried = self.chance.one_in(HURRIED_ONE_IN);
        let is_dropped = self.chance.one_in(DROPPED_ONE_IN);
        Patience {
            timeout: if is_hurried {
                self.chance.millis(1..=longest)
            } else {
                timeout
            },
            until_dropped: is_dropped.then(|| self.chance.millis(0..=longest)),
        }
    }

    fn stamp(&mut self) -> Stamp {
        self.versions += 1;
        Stamp {
            writer: self.writer,
            version: self.versions,
        }
    }

    fn filling(&mut self) -> usize {
        match self.chance.number(0..=19) {
            0 => self.chance.size(0..=20_000),
            1..=4 => self.chance.size(0..=2_000),
            _ => self.chance.size(0..=60),
        }
    }

    /// Makes a call that gives whether it was done.
    async fn write<F>(&mut self, asked: Asked, key: String, patience: Patience, call: F)
    where
        F: IntoFuture<Output = Result<bool>>,
    {
        let begun = self.ledger.begin(self.of, asked, &key);
        let answer = patience.wait(call).await;
        let outcome = answer.as_ref().map_or(Outcome::Dropped, Outcome::of_write);
        self.ledger
            .end(begun, asked, key, patience.limit(), outcome);
    }

    /// A `get` that goes on by itself.
    pub(super) fn one_get(&mut self, key: String) -> impl Future<Output = ()> + Send + use<> {
        let patience = self.patience();
        let call = self.client.get(key.clone()).timeout(patience.timeout);
        let (ledger, client) = (Arc::clone(&self.ledger), self.of);
        async move { read(&ledger, client, key, patience, call).await }
    }

    pub(super) async fn get(&mut self) {
        let key = self.any_key();
        self.one_get(key).await;
    }

    pub(super) async fn get_many(&mut self) {
        let mut keys: Vec<String> = (0..self.chance.size(1..=12))
            .map(|_| self.any_key())
            .collect();
        keys.sort_unstable();
        keys.dedup();
        let patience = self.patience();
        let begun: Vec<_> = keys
            .iter()
            .enumerate()
            .map(|(index, key)| {
                let asked = Asked::OneOfMany {
                    is_first: index == 0,
                };
                (asked, key, self.ledger.begin(self.of, asked, key))
            })
            .collect();
        let call = self.client.get_many(&keys).timeout(patience.timeout);
        let many = patience.wait(call).await;
        for (asked, key, begun) in begun {
            let outcome = many.as_ref().map_or(Outcome::Dropped, |many| {
                if let Some(value) = many.found.get(key) {
                    Outcome::Hit(value::read(key, &value.data))
                } else if many.missing.contains(&key) {
                    Outcome::Miss
                } else {
                    let failed = many.failed.iter().find(|(failed, _)| *failed == key);
                    // A key that is in none of the three is an answer too few.
                    failed.map_or(Outcome::NotDone, |(_, error)| Outcome::of_error(error))
                }
            });
            self.ledger
                .end(begun, asked, key.clone(), patience.limit(), outcome);
        }
    }

    pub(super) async fn set(&mut self) {
        let (key, stamp, patience) = (self.own_key(), self.stamp(), self.patience());
        let value = value::write(&key, stamp, self.filling());
        let call = self
            .client
            .set(key.clone(), value)
            .timeout(patience.timeout);
        let call = call.into_future().map(|answer| answer.map(|()| true));
        self.write(Asked::Store(stamp), key, patience, call).await;
    }

    pub(super) async fn set_for_a_while(&mut self) {
        let (key, stamp, patience) = (self.own_key(), self.stamp(), self.patience());
        let value = value::write(&key, stamp, self.filling());
        let expiry = Duration::from_secs(self.chance.number(WHILE.0..=WHILE.1));
        let call = self.client.set(key.clone(), value).expires_in(expiry);
        let call = call.timeout(patience.timeout).into_future();
        let call = call.map(|answer| answer.map(|()| true));
        self.write(Asked::Store(stamp), key, patience, call).await;
    }

    pub(super) async fn set_quietly(&mut self) {
        let (key, stamp, patience) = (self.own_key(), self.stamp(), self.patience());
        let value = value::write(&key, stamp, self.filling());
        let call = self.client.set(key.clone(), value).noreply();
        let call = call.timeout(patience.timeout).into_future();
        let call = call.map(|answer| answer.map(|()| true));
        self.write(Asked::StoreQuietly(stamp), key, patience, call)
            .await;
    }

    pub(super) async fn add(&mut self) {
        let (key, stamp, patience) = (self.own_key(), self.stamp(), self.patience());
        let value = value::write(&key, stamp, self.filling());
        let call = self
            .client
            .add(key.clone(), value)
            .timeout(patience.timeout);
        let call = call
            .into_future()
            .map(|answer| answer.map(StoreOutcome::is_stored));
        self.write(Asked::Store(stamp), key, patience, call).await;
    }

    /// Reads a value with its number, and replaces it if it is still the same.
    pub(super) async fn change(&mut self) {
        let (key, patience) = (self.own_key(), self.patience());
        let begun = self.ledger.begin(self.of, Asked::Value, &key);
        let call = self.client.gets(key.clone()).timeout(patience.timeout);
        let answer = patience.wait(call).await;
        let outcome = answer
            .as_ref()
            .map_or(Outcome::Dropped, |answer| Outcome::of_read(&key, answer));
        self.ledger
            .end(begun, Asked::Value, key.clone(), patience.limit(), outcome);
        let Some(Ok(Some(old))) = answer else { return };
        let Some(cas) = old.cas else { return };
        let (stamp, patience) = (self.stamp(), self.patience());
        let value = value::write(&key, stamp, self.filling());
        let call = self
            .client
            .cas(key.clone(), value, cas)
            .timeout(patience.timeout);
        let call = call
            .into_future()
            .map(|answer| answer.map(CasOutcome::is_stored));
        self.write(Asked::Store(stamp), key, patience, call).await;
    }

    pub(super) async fn delete(&mut self) {
        let (key, patience) = (self.own_key(), self.patience());
        let call = self.client.delete(key.clone()).timeout(patience.timeout);
        self.write(Asked::Delete, key, patience, call).await;
    }

    /// Counts a number up, which is put there if it is missing.
    pub(super) async fn count(&mut self) {
        let (key, patience) = (self.counter(), self.patience());
        let begun = self.ledger.begin(self.of, Asked::Count, &key);
        let call = self
            .client
            .increment(key.clone(), 1)
            .timeout(patience.timeout);
        let answer = patience.wait(call).await;
        let outcome = match &answer {
            None => Outcome::Dropped,
            Some(Ok(Some(number))) => Outcome::Number(*number),
            Some(Ok(None)) => Outcome::Miss,
            Some(Err(error)) => Outcome::of_error(error),
        };
        let is_missing = outcome == Outcome::Miss;
        self.ledger
            .end(begun, Asked::Count, key.clone(), patience.limit(), outcome);
        if is_missing {
            let patience = self.patience();
            let call = self.client.add(key.clone(), "0").timeout(patience.timeout);
            let call = call
                .into_future()
                .map(|answer| answer.map(StoreOutcome::is_stored));
            self.write(Asked::Begin, key, patience, call).await;
        }
    }
}

async fn read<F>(ledger: &Ledger, client: usize, key: String, patience: Patience, call: F)
where
    F: IntoFuture<Output = Result<Option<steersman_memcached::Value>>>,
{
    let begun = ledger.begin(client, Asked::Value, &key);
    let answer = patience.wait(call).await;
    let outcome = answer
        .as_ref()
        .map_or(Outcome::Dropped, |answer| Outcome::of_read(&key, answer));
    ledger.end(begun, Asked::Value, key, patience.limit(), outcome);
}
