//! A client under test, and whether it finds its nodes well again when they are.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::FutureExt;
use futures_util::stream::StreamExt;
use steersman_memcached::{Client, Event, EventStream};
use tokio::task::block_in_place;
use tokio::time::sleep;

use super::clients::Kind;
use super::cluster::Cluster;
use super::line::Door;
use super::stage::Stage;

/// Between two requests to a node that may not be well.
const LOOK: Duration = Duration::from_millis(5);
/// A node that does not answer by then never will.
const NEVER: Duration = Duration::from_secs(30);

/// A client under test.
#[derive(Debug)]
pub struct Subject {
    /// Which it is.
    pub kind: Kind,
    /// The client.
    pub client: Client,
    names: Vec<String>,
    events: Mutex<EventStream>,
    /// How often each node was asked whether it is well.
    asked: Vec<AtomicU64>,
}

impl Subject {
    /// A new client.
    ///
    /// # Errors
    ///
    /// If an option is invalid, which none is.
    pub fn new(kind: Kind, cluster: &Cluster) -> steersman_memcached::Result<Self> {
        let client = cluster.client(kind)?;
        Ok(Self {
            kind,
            events: Mutex::new(client.events()),
            asked: cluster.names.iter().map(|_| AtomicU64::new(0)).collect(),
            names: cluster.names.clone(),
            client,
        })
    }

    /// How many requests [`answers`](Self::answers) has made to a node.
    pub fn asked(&self, home: usize) -> u64 {
        self.asked[home].load(Ordering::Relaxed)
    }

    /// Waits until a node answers, of which what was wrong with it is over; says how long that took. It must
    /// not be longer than [the bound](Kind::healing_bound).
    pub async fn answers(&self, stage: &Stage, home: usize, after: &str) -> Duration {
        let node = &self.names[home];
        let bound = self.kind.healing_bound();
        let measured = stage.pace.start();
        let mut is_late = false;
        while measured.lived() < NEVER {
            let asked = async {
                let handle = self.client.node(node)?;
                self.asked[home].fetch_add(1, Ordering::Relaxed);
                handle.version().await
            };
            let Err(error) = asked.await else { break };
            if !is_late && measured.lived() > bound {
                is_late = true;
                let kind = self.kind;
                let metrics = self.client.connection_pool_metrics().remove(node);
                stage.broken.report(format_args!(
                    "{node} is well again after {after}, but has not answered the client {kind:?} for \
                     {bound:?}: {error}; asked without a client it says {:?}; {metrics:?}",
                    block_in_place(|| Door::of(node)?.answers())
                ));
            }
            sleep(LOOK).await;
        }
        measured.lived()
    }

    fn news(&self) -> Option<Event> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.next().now_or_never().flatten()
    }

    /// Waits until the last that was told of each node is that it is healthy, which must not take longer than
    /// [the bound](Kind::healing_bound).
    pub async fn is_healthy(&self, stage: &Stage) {
        let measured = stage.pace.start();
        let mut unhealthy = HashMap::new();
        loop {
            // What has been told by now is there to be taken.
            while let Some(event) = self.news() {
                match event {
                    Event::NodeUnhealthy { node, reason } => drop(unhealthy.insert(node, reason)),
                    Event::NodeHealthy { node } | Event::NodeRemoved { node } => {
                        drop(unhealthy.remove(&node));
                    }
                    _ => {}
                }
            }
            if unhealthy.is_empty() {
                return;
            }
            if measured.lived() > self.kind.healing_bound() {
                let kind = self.kind;
                stage.broken.report(format_args!(
                    "nodes that are well are unhealthy for the client {kind:?}: {unhealthy:?}"
                ));
                return;
            }
            sleep(LOOK).await;
        }
    }
}
