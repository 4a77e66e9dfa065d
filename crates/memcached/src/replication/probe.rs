//! Probes of replicas, for policies that want to hear of nodes that no read goes to.
//!
//! A probe is an `mn`, which a server answers without looking anything up: how long that takes is the
//! network and the wait before it, on the connection and in the server.

use std::sync::Arc;
use std::time::Duration;

use steersman_memcached_protocol::{Reply, Request as Line};
use steersman_selection::{Attempt as Record, Call as Asked, NodeIndex, Outcome};
use tokio::time::Instant;

use super::{Replicator, Request};
use crate::call::{Call, MetaNoop, sealed};
use crate::error::Result;

/// How long a probe is waited for where there is no attempt time-out.
const LONGEST: Duration = Duration::from_secs(1);

impl Request {
    /// Sends the probes that the policy wants, without waiting for them.
    #[inline]
    pub(super) fn probe(&self, replicator: &Replicator, replicas: &[NodeIndex]) {
        let asked = Asked::new(&self.members.view().topology).replicas(replicas);
        let now = replicator.now();
        let mut nth = 0;
        while let Some(node) = replicator.policy().dyn_probe(&asked, nth, now) {
            self.send_probe(replicator, node);
            nth += 1;
        }
    }

    #[cold]
    fn send_probe(&self, replicator: &Replicator, index: NodeIndex) {
        let target = self.targets.iter().find(|target| target.index == index);
        let (Some(target), Some(runtime)) = (target, self.shared.cluster.runtime()) else {
            return;
        };
        let shared = Arc::clone(&self.shared);
        let timeout = self.attempt_timeout(replicator).unwrap_or(LONGEST);
        let probe = Probe(MetaNoop::default());
        let call = Call::new(Arc::clone(&shared), Some(Arc::clone(&target.node)), probe)
            .timeout(timeout)
            .into_future();
        runtime.spawn(async move {
            let started = Instant::now();
            let outcome = match call.await {
                Ok(()) => Outcome::Success,
                Err(_) => Outcome::TimedOut,
            };
            if let Some(replicator) = &shared.cluster.replicator {
                let now = replicator.now();
                replicator.record(&Record::new(index, now, started.elapsed(), outcome).of_probe());
            }
        });
    }
}

/// The request of a probe: a part of what the client does for a call, and no call of the user's.
#[derive(Debug)]
struct Probe(MetaNoop);

impl sealed::Operation for Probe {
    type Output = ();

    const IS_ATTEMPT: bool = true;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn key(&self) -> Option<&[u8]> {
        None
    }

    fn request<'a>(&'a self, key: &'a [u8]) -> Result<Line<'a>> {
        self.0.request(key)
    }

    fn fall_back(&mut self) -> bool {
        self.0.fall_back()
    }

    fn read(reply: Reply) -> std::result::Result<(), Reply> {
        MetaNoop::read(reply)
    }
}
