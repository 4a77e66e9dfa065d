//! Reads of many keys: one line of keys after another to each node, all nodes at the same time.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::poll_fn;
use std::hash::Hash;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::future::join_all;
use steersman_memcached_protocol::{Key, ReadKind, Reply, Value};
use tokio::time::Instant;

use super::read::ReadOf;
use super::{key, server_error, unfit_reply};
use crate::deadline::{Deadline, Expired, Patience};
use crate::error::{Error, Result, Stage};
use crate::keys::KeyRules;
use crate::metrics::Ended;
use crate::node::{Ask, Gather, Node, Started, Ticket, Token};
use crate::observe::CallWatch;
use crate::outcome::Many;
use crate::replication::{Command, Limit, read_many};
use crate::shared::Shared;

/// A read of many keys; from [`Client::get_many`](crate::Client::get_many) and its like. Awaiting it gives [`Many`].
#[must_use = "a call does nothing until it is awaited"]
pub struct GetMany<K> {
    shared: Arc<Shared>,
    keys: Vec<K>,
    kind: ReadOf,
    patience: Patience,
}

impl<K> GetMany<K> {
    pub(crate) fn new(shared: Arc<Shared>, keys: Vec<K>, kind: ReadOf) -> Self {
        Self {
            shared,
            keys,
            kind,
            patience: Patience::Default,
        }
    }

    /// Replaces the client's time-out for the whole call; `None` waits for ever. Keys that were
    /// answered in time are found all the same.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.patience = Patience::Own(timeout.into());
        self
    }
}

impl<K> fmt::Debug for GetMany<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GetMany")
            .field("operation", &self.kind.name(true))
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}

/// The future of a [`GetMany`].
#[must_use = "futures do nothing until they are awaited"]
pub struct GetManyFuture<K> {
    keys: Vec<K>,
    results: Pin<Box<dyn Future<Output = (Vec<Outcome>, CallWatch)> + Send>>,
}

// The keys are not pinned: nothing points into them.
impl<K> Unpin for GetManyFuture<K> {}

/// What became of one key.
type Outcome = Result<Option<Value>>;

impl<K: AsRef<[u8]> + Eq + Hash> IntoFuture for GetMany<K> {
    type Output = Many<K>;
    type IntoFuture = GetManyFuture<K>;

    fn into_future(self) -> GetManyFuture<K> {
        let Self {
            shared,
            mut keys,
            kind,
            patience,
        } = self;
        let limit = patience.or(shared.options().timeout);
        let mut seen = HashSet::new();
        let first: Vec<bool> = keys.iter().map(|key| seen.insert(key.as_ref())).collect();
        let mut first = first.into_iter();
        keys.retain(|_| first.next() == Some(true));
        let asked = Asked::new(&keys, shared.options().keys.as_ref());
        GetManyFuture {
            keys,
            results: Box::pin(read_all(shared, asked, kind, limit)),
        }
    }
}

impl<K> GetManyFuture<K> {
    /// What became of each key. The watch has yet to be told how the call ended by whoever looks at
    /// the values.
    pub(crate) fn poll_answers(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<(Vec<(K, Outcome)>, CallWatch)> {
        let (results, watch) = ready!(self.results.as_mut().poll(cx));
        let keys = std::mem::take(&mut self.keys);
        Poll::Ready((keys.into_iter().zip(results).collect(), watch))
    }
}

impl<K: Eq + Hash> Future for GetManyFuture<K> {
    type Output = Many<K>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Many<K>> {
        let (answers, mut watch) = ready!(self.poll_answers(cx));
        watch.end_many(answers.iter().map(|(_, result)| result));
        Poll::Ready(Many::of(answers))
    }
}

/// The keys' bytes as they are sent, one after the other.
struct Asked {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The keys of which nothing can be sent under the client's rules.
    refused: HashMap<usize, Error>,
}

impl Asked {
    fn new<K: AsRef<[u8]>>(keys: &[K], rules: Option<&KeyRules>) -> Self {
        let mut asked = Self {
            bytes: Vec::new(),
            ends: Vec::with_capacity(keys.len()),
            refused: HashMap::new(),
        };
        for (index, key) in keys.iter().enumerate() {
            let key = key.as_ref();
            match rules.map(|rules| rules.sent(key)) {
                None => asked.bytes.extend_from_slice(key),
                Some(Ok(sent)) => asked.bytes.extend_from_slice(&sent),
                Some(Err(error)) => drop(asked.refused.insert(index, error)),
            }
            asked.ends.push(asked.bytes.len());
        }
        asked
    }

    fn key(&self, index: usize) -> Result<Key<'_>> {
        if let Some(error) = self.refused.get(&index) {
            return Err(error.clone());
        }
        key(self.bytes(index))
    }

    fn bytes(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }

    fn all(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.ends.len()).map(|index| self.bytes(index))
    }
}

async fn read_all(
    shared: Arc<Shared>,
    asked: Asked,
    kind: ReadOf,
    limit: Option<Duration>,
) -> (Vec<Outcome>, CallWatch) {
    // As for single calls: those that fail at once must not starve the client's tasks.
    tokio::task::coop::consume_budget().await;
    let cluster = &shared.cluster;
    let mut watch = CallWatch::default();
    // What others see are the caller's keys, as those of single calls.
    let rules = shared.options().keys.as_ref();
    let prefix = rules.map_or(0, |rules| rules.prefix.len());
    let keys = asked.all().map(|key| key.get(prefix..).unwrap_or_default());
    watch.begin_many(&shared.options().observer, kind.name(true), keys);
    let mut limit = limit;
    let mut started = shared.ensure_started();
    if started.is_ok() && cluster.awaits_first_list() {
        started = shared.first_list(limit).await.map(|left| limit = left);
    }
    if cluster.replicator.is_some() && started.is_ok() {
        let name = kind.name(true);
        let expiry = kind.touch.map(crate::expires::Expires::to_wire);
        let commands = (0..asked.ends.len()).map(|index| {
            let key = asked.key(index)?;
            Ok(Command::read(name, key, kind.cas, expiry))
        });
        let reads = read_many(&shared, name, commands, Limit::new(limit));
        let results = watch.around(reads).await;
        return (results, watch);
    }
    // A key without a result was asked of a node whose part did not report it, which cannot be.
    let mut results: Vec<Outcome> = std::iter::repeat_with(|| Err(Error::closed()))
        .take(asked.ends.len())
        .collect();
    let kind_on_wire = match (kind.touch.map(crate::expires::Expires::to_wire), kind.cas) {
        (None, false) => ReadKind::Get,
        (None, true) => ReadKind::Gets,
        (Some(expiry), false) => ReadKind::GetAndTouch(expiry),
        (Some(expiry), true) => ReadKind::GetsAndTouch(expiry),
    };
    let until = limit.and_then(|limit| Instant::now().checked_add(limit));
    let mut parts = split(
        &shared,
        &asked,
        kind,
        &started,
        0..asked.ends.len(),
        &mut results,
    );
    loop {
        let reads = parts
            .iter()
            .map(|part| part.read(kind_on_wire, Deadline::new(limit)));
        let mut homeless = Vec::new();
        for (index, result) in watch.around(join_all(reads)).await.into_iter().flatten() {
            if matches!(&result, Err(error) if error.node_left()) {
                homeless.push(index);
            }
            results[index] = result;
        }
        if homeless.is_empty() {
            break;
        }
        // They have other owners now.
        limit = until.map(|until| until.saturating_duration_since(Instant::now()));
        parts = split(
            &shared,
            &asked,
            kind,
            &started,
            homeless.into_iter(),
            &mut results,
        );
    }
    let results: Vec<_> = results
        .into_iter()
        .map(|result| result.map_err(|error| cluster.explain(error).asked(kind.name(true))))
        .collect();
    (results, watch)
}

/// Parts the keys by the nodes that own them. Those that have none fail.
fn split<'a>(
    shared: &'a Shared,
    asked: &'a Asked,
    kind: ReadOf,
    started: &Result<()>,
    indices: impl Iterator<Item = usize>,
    results: &mut [Outcome],
) -> Vec<Part<'a>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut part_of: HashMap<usize, usize> = HashMap::new();
    for index in indices {
        let route = started.clone().and_then(|()| asked.key(index));
        match route.and_then(|key| shared.cluster.route(key.as_bytes())) {
            Ok(node) => {
                let part = *part_of.entry(Arc::as_ptr(&node).addr()).or_insert_with(|| {
                    parts.push(Part {
                        shared,
                        name: kind.name(true),
                        asked,
                        node,
                        keys: Vec::new(),
                    });
                    parts.len() - 1
                });
                parts[part].keys.push(index);
            }
            Err(error) => results[index] = Err(error),
        }
    }
    parts
}

/// The keys of one node.
struct Part<'a> {
    shared: &'a Shared,
    name: &'static str,
    asked: &'a Asked,
    node: Arc<Node>,
    keys: Vec<usize>,
}

impl Part<'_> {
    async fn read(&self, kind: ReadKind, deadline: Deadline) -> Vec<(usize, Outcome)> {
        let Some(runtime) = self.shared.cluster.runtime() else {
            return Vec::new();
        };
        let mut watch = CallWatch::default();
        watch.begin_part(&self.shared.options().observer, self.name, self.keys.len());
        watch.at(&self.node);
        let mut deadline = pin!(deadline);
        let mut results = Vec::with_capacity(self.keys.len());
        let mut lines = Vec::new();
        for keys in self
            .keys
            .chunks(self.shared.options().limits.max_batch_keys)
        {
            let mut line = Line::new(&self.node, keys);
            match self.send(kind, &mut line) {
                Ok(Some(mut ticket)) => {
                    // One line of a call in the queue at a time: it is bounded, and for others too.
                    let admitted = poll_fn(|cx| ticket.poll_admitted(cx));
                    if let Err(expired) = deadline.as_mut().bound(runtime, admitted).await
                        && ticket.withdraw(Ended::Failed)
                    {
                        line.fail(&expired.error(Stage::Waiting), &mut results);
                        continue;
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    line.fail(&error, &mut results);
                    continue;
                }
            }
            lines.push(line);
        }
        for line in lines {
            let answered = poll_fn(|cx| line.gather.poll_complete(cx));
            let late = deadline.as_mut().bound(runtime, answered).await.err();
            line.read(late, &mut results);
        }
        watch.end_many(results.iter().map(|(_, result)| result));
        results
    }

    /// Sends one line of keys; a ticket if it has to wait for a place.
    fn send(&self, kind: ReadKind, line: &mut Line<'_>) -> Result<Option<Ticket>> {
        let (gather, shares) = Gather::new(line.keys.len());
        line.gather = gather;
        let reads = line.keys.iter().zip(shares);
        let reads = reads.map(|(&index, share)| Ok((self.asked.key(index)?, Token::Many(share))));
        match self
            .node
            .start(Ask::Reads(kind, reads.collect::<Result<_>>()?), None)?
        {
            Started::OnConnection => Ok(None),
            Started::Queued(ticket) => Ok(Some(ticket)),
        }
    }
}

/// One request line on its way.
struct Line<'a> {
    node: &'a Node,
    keys: &'a [usize],
    gather: Arc<Gather>,
    counted: bool,
}

impl<'a> Line<'a> {
    fn new(node: &'a Node, keys: &'a [usize]) -> Self {
        let (gather, _) = Gather::new(0);
        Self {
            node,
            keys,
            gather,
            counted: false,
        }
    }

    fn read(self, late: Option<Expired>, results: &mut Vec<(usize, Outcome)>) {
        let unanswered = late
            .unwrap_or(Expired::RuntimeGone)
            .error(Stage::Exchange)
            .executed(true);
        let replies = self.gather.take();
        let outcomes = replies.into_iter().map(|reply| match reply {
            Some(Ok(Reply::Value(value))) => Ok(Some(value)),
            Some(Ok(Reply::Miss)) => Ok(None),
            Some(Ok(Reply::Error(error))) => Err(server_error(error)),
            Some(Ok(other)) => Err(unfit_reply(&other)),
            Some(Err(error)) => Err(error),
            None => Err(unanswered.clone()),
        });
        self.end(outcomes, results);
    }

    fn fail(self, error: &Error, results: &mut Vec<(usize, Outcome)>) {
        self.end(std::iter::repeat_with(|| Err(error.clone())), results);
    }

    fn end(mut self, outcomes: impl Iterator<Item = Outcome>, results: &mut Vec<(usize, Outcome)>) {
        let mut failed = false;
        for (&index, outcome) in self.keys.iter().zip(outcomes) {
            failed |= outcome.is_err();
            self.node.watch().looked_up(&outcome);
            let outcome = outcome.map_err(|error| error.at_node(self.node.name()));
            results.push((index, outcome));
        }
        self.counted = true;
        self.node.count(if failed {
            Ended::Failed
        } else {
            Ended::Executed
        });
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if !self.counted {
            self.node.count(Ended::Cancelled);
        }
    }
}
