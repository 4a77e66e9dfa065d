//! The way of a read of many keys: each to the node that owns it, and to another one if that leaves.

use std::collections::HashMap;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use steersman_memcached_protocol::ReadKind;
use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio::time::Instant;

use super::part::Part;
use super::{Asked, Outcome};
use crate::call::{ReadOf, Turn};
use crate::deadline::Deadline;
use crate::error::{Error, Stage};
use crate::observe::CallWatch;
use crate::replication::{Command, Limit, read_many};
use crate::shared::Shared;

/// Reads these keys. The watch has yet to be told how the call ended.
pub(super) async fn read_all(
    shared: Arc<Shared>,
    asked: Asked,
    kind: ReadOf,
    limit: Option<Duration>,
) -> (Vec<Outcome>, CallWatch) {
    // As for single calls: those that fail at once must not starve the client's tasks.
    tokio::task::coop::consume_budget().await;
    let mut watch = CallWatch::default();
    // What others see are the caller's keys, as those of single calls.
    let rules = shared.options().keys.as_ref();
    let prefix = rules.map_or(0, |rules| rules.prefix.len());
    let keys = asked.all().map(|key| key.get(prefix..).unwrap_or_default());
    watch.begin_many(&shared.options().observer, kind.name(true), keys);
    let results = match shared.begin(limit).await {
        Ok((runtime, limit)) => {
            let read = Read {
                shared: &shared,
                runtime,
                asked: &asked,
                kind,
                limit,
            };
            watch.around(read.run()).await
        }
        Err(error) => asked.all().map(|_| Err(error.clone())).collect(),
    };
    let explain = shared.cluster.explain();
    let explain = |error| explain(error).asked(kind.name(true));
    let results = results.into_iter().map(|result| result.map_err(explain));
    (results.collect(), watch)
}

/// A read of many keys on its way.
struct Read<'a> {
    shared: &'a Arc<Shared>,
    runtime: &'a Handle,
    asked: &'a Asked,
    kind: ReadOf,
    limit: Option<Duration>,
}

impl<'a> Read<'a> {
    async fn run(&self) -> Vec<Outcome> {
        if self.shared.cluster.replicator.is_some() {
            self.ask_replicas().await
        } else {
            self.ask_owners().await
        }
    }

    async fn ask_replicas(&self) -> Vec<Outcome> {
        let expiry = self.kind.touch.map(crate::expires::Expires::to_wire);
        let command = |index| {
            let key = self.asked.key(index)?;
            let name = self.kind.name(true);
            Ok(Command::read(name, key, self.kind.cas, expiry))
        };
        let commands = (0..self.asked.ends.len()).map(command).collect();
        read_many(self.shared, commands, Limit::new(self.limit)).await
    }

    async fn ask_owners(&self) -> Vec<Outcome> {
        let begun = Instant::now();
        let deadline = || Deadline::since(begun, self.limit);
        let expiry = self.kind.touch.map(crate::expires::Expires::to_wire);
        let kind = match (expiry, self.kind.cas) {
            (None, false) => ReadKind::Get,
            (None, true) => ReadKind::Gets,
            (Some(expiry), false) => ReadKind::GetAndTouch(expiry),
            (Some(expiry), true) => ReadKind::GetsAndTouch(expiry),
        };
        // A key without a result was asked of a node whose part did not report it, which cannot be.
        let mut results: Vec<Outcome> = std::iter::repeat_with(|| Err(Error::closed()))
            .take(self.asked.ends.len())
            .collect();
        let mut steering = pin!(deadline());
        let all = 0..self.asked.ends.len();
        let mut parts = self.split(all, steering.as_mut(), &mut results).await;
        loop {
            let reads = parts.iter().map(|part| part.read(kind, deadline()));
            let mut homeless = Vec::new();
            for (index, result) in join_all(reads).await.into_iter().flatten() {
                if matches!(&result, Err(error) if error.node_left()) {
                    homeless.push(index);
                }
                results[index] = result;
            }
            if homeless.is_empty() {
                return results;
            }
            // They have other owners now.
            let homeless = homeless.into_iter();
            parts = self.split(homeless, steering.as_mut(), &mut results).await;
        }
    }

    /// Parts the keys by the nodes that own them. Those that have none fail, and all of them if that
    /// takes too long.
    async fn split(
        &self,
        indices: impl Iterator<Item = usize>,
        mut deadline: Pin<&mut Deadline>,
        results: &mut [Outcome],
    ) -> Vec<Part<'a>> {
        let cluster = &self.shared.cluster;
        let nodes = cluster.members().len();
        let mut turn = Turn::new();
        let mut late = None;
        let mut parts: Vec<Part<'_>> = Vec::new();
        let mut part_of: HashMap<usize, usize> = HashMap::new();
        for index in indices {
            if late.is_none() && turn.is_over(nodes) {
                let waited = deadline.as_mut().bound(self.runtime, yield_now()).await;
                late = waited.err().map(|expired| expired.error(Stage::Routing));
            }
            let route = self.asked.key(index).and_then(|key| match &late {
                None => cluster.route(key.as_bytes()),
                Some(late) => Err(late.clone()),
            });
            match route {
                Ok(node) => {
                    let part = *part_of.entry(Arc::as_ptr(&node).addr()).or_insert_with(|| {
                        parts.push(Part {
                            shared: self.shared,
                            runtime: self.runtime,
                            name: self.kind.name(true),
                            asked: self.asked,
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
        if let Some(late) = late {
            for index in parts.drain(..).flat_map(|part| part.keys) {
                results[index] = Err(late.clone());
            }
        }
        parts
    }
}
