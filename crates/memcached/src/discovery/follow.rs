//! The task that asks a discovery again and again, and applies what it says.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt;
use tracing::{debug, info, warn};

use super::list::{Last, Verdict};
use super::progress::Trouble;
use super::{Dialer, Discovered, DynDiscovery};
use crate::backoff::jittered;
use crate::cluster::Cluster;
use crate::deadline::within;
use crate::error::Error;
use crate::events::Event;
use crate::observe::targets;

/// A list counts as valid for that long at least, whatever its source says.
const SHORTEST_VALIDITY: Duration = Duration::from_secs(1);

/// Asks a discovery for as long as its cluster is there.
pub(crate) struct Follower {
    discovery: Box<dyn DynDiscovery>,
    last: Last,
    /// Failures in a row.
    failures: u32,
    /// Why the last attempt failed, if it did: the same reason is not told again.
    trouble: Option<Trouble>,
}

impl Follower {
    pub(crate) fn new(discovery: Box<dyn DynDiscovery>) -> Self {
        Self {
            discovery,
            last: Last::default(),
            failures: 0,
            trouble: None,
        }
    }

    /// Runs until the cluster is closed or gone. Whoever waits for the first list hears of the end even
    /// if it comes before the future was polled.
    pub(crate) fn follow(self, cluster: Weak<Cluster>) -> impl Future<Output = ()> + Send {
        let ended = Ended(Weak::clone(&cluster));
        async move {
            let _ended = ended;
            self.run(cluster).await;
        }
    }

    async fn run(mut self, cluster: Weak<Cluster>) {
        let Some(options) = cluster
            .upgrade()
            .map(|cluster| Arc::clone(&cluster.options))
        else {
            return;
        };
        let timeout = options.discovery_timeout;
        let dialer = Dialer::new(options);
        loop {
            let found = self.ask(&dialer, timeout).await;
            let wait = match cluster.upgrade() {
                Some(cluster) if !cluster.is_closed() => self.take(&cluster, found),
                _ => return,
            };
            tokio::time::sleep(wait).await;
        }
    }

    async fn ask(
        &mut self,
        dialer: &Dialer,
        timeout: Option<Duration>,
    ) -> Result<Discovered, Trouble> {
        // A panic of somebody else's code ends this attempt only.
        let asked = async { self.discovery.dyn_discover(dialer).await };
        let asked = AssertUnwindSafe(asked).catch_unwind();
        match within(timeout, asked).await {
            Ok(Ok(found)) => found.map_err(Trouble::from),
            Ok(Err(_)) => Err(Trouble::new("the discovery panicked")),
            Err(limit) => Err(Trouble::new(format!("no list came within {limit:?}"))),
        }
    }

    /// Deals with an answer; says how long to wait before the next one.
    fn take(&mut self, cluster: &Cluster, found: Result<Discovered, Trouble>) -> Duration {
        let every = cluster.options.discovery_interval;
        let valid_for = found.as_ref().ok().and_then(|found| found.valid_for);
        match found.and_then(|found| self.apply(cluster, &found)) {
            Ok(()) => {
                if self.trouble.take().is_some() {
                    info!(target: targets::DISCOVERY, "the list of nodes can be found again");
                }
                self.failures = 0;
                let wait = valid_for.map_or(every, |time| time.max(SHORTEST_VALIDITY).min(every));
                jittered(wait)
            }
            Err(why) => {
                self.failures = self.failures.saturating_add(1);
                self.tell(cluster, why);
                let wait = cluster.options.backoff.wait(self.failures, fastrand::f64());
                wait.min(every)
            }
        }
    }

    /// Makes a list the members of the cluster, if it is news and makes sense.
    fn apply(&mut self, cluster: &Cluster, found: &Discovered) -> Result<(), Trouble> {
        match self.last.judge(found) {
            Verdict::Known => {
                if let Some(progress) = &cluster.discovery {
                    progress.unchanged();
                }
                Ok(())
            }
            Verdict::Refused(why) => Err(Trouble::new(why)),
            Verdict::News(nodes) => {
                let change = cluster.replace(&nodes).map_err(|error: Error| {
                    Trouble::new(format!("the list cannot be taken: {}", error.detail()))
                })?;
                if let Some(progress) = &cluster.discovery {
                    progress.listed();
                    info!(
                        target: targets::DISCOVERY,
                        source = progress.source(),
                        version = found.version,
                        nodes = nodes.len(),
                        added = change.added,
                        removed = change.removed,
                        "a list of nodes was taken"
                    );
                }
                cluster.events.publish(&Event::ListTaken {
                    nodes: nodes.len(),
                    version: found.version,
                });
                self.last.taken(nodes, found.version);
                cluster.changed.notify_waiters();
                Ok(())
            }
        }
    }

    /// Tells why there is no list, once for each reason.
    fn tell(&mut self, cluster: &Cluster, trouble: Trouble) {
        let Some(progress) = &cluster.discovery else {
            return;
        };
        progress.failed(&trouble);
        cluster.changed.notify_waiters();
        let (source, why) = (progress.source(), &trouble.why);
        if self.trouble.as_ref() == Some(&trouble) {
            debug!(target: targets::DISCOVERY, source, %why, "there is still no list of nodes to be taken");
            return;
        }
        warn!(target: targets::DISCOVERY, source, %why, "no list of nodes could be taken: the members stay as they are");
        cluster.events.publish(&Event::ListRefused {
            reason: Arc::clone(why),
        });
        self.trouble = Some(trouble);
    }
}

/// Tells those who wait for the first list when nobody asks for it any more: the client was closed, or
/// its runtime is gone.
struct Ended(Weak<Cluster>);

impl Drop for Ended {
    fn drop(&mut self) {
        let Some(cluster) = self.0.upgrade() else {
            return;
        };
        if let Some(progress) = &cluster.discovery {
            progress.ended(&Trouble::new("nobody asks for it any more"));
            cluster.changed.notify_waiters();
        }
    }
}
