//! Waiting for the value that another caller loads, in this process or in another one.

use std::pin::pin;
use std::time::Duration;

use tokio::time::Instant;

use super::flight::{Lead, Next};
use super::look::{Look, Pending, Sought, Turn};
use super::{Origin, Reader};
use crate::backoff::Backoff;
use crate::deadline::{Deadline, Expired};
use crate::error::{Error, Result};

/// The pauses between looks of the one that has the lead.
const PAUSES: Backoff = Backoff {
    initial: Duration::from_millis(2),
    max: Duration::from_millis(100),
    jitter: 0.5,
};

impl Reader {
    /// Waits until there is a value, or it is this caller's turn.
    pub(super) async fn wait(&self, mut pending: Pending) -> Result<Sought> {
        loop {
            let seat = self.shared.flights.join(&self.key);
            // A lease is over by then: whoever has the lead may be stuck.
            let limit = self.options.lease;
            match self.within(limit, seat.next(pending.cas)).await? {
                Some(Next::Landed(filled)) => return Ok(Sought::Found(filled)),
                Some(Next::Turn(guard)) => {
                    if let Some(sought) = self.watch(seat.lead(guard), pending).await? {
                        return Ok(sought);
                    }
                }
                Some(Next::Missed) | None => drop(seat),
            }
            match self.look().await? {
                Look::Found(filled) => return Ok(Sought::Found(filled)),
                Look::Won(lease, old) => return Ok(Sought::Won(Turn::new(lease, None, old))),
                Look::Pending(now) => pending = now,
            }
        }
    }

    /// Watches the cache for all who wait in this process. Gives none if the flight is over, and what
    /// has come of it is nothing for this caller.
    async fn watch(&self, lead: Lead, mut pending: Pending) -> Result<Option<Sought>> {
        let mut since = Instant::now();
        let mut looks = 0;
        loop {
            looks += 1;
            let pause = PAUSES.wait(looks, fastrand::f64());
            match self.within(pause, lead.seat.landed(pending.cas)).await? {
                Some(Next::Landed(filled)) => return Ok(Some(Sought::Found(filled))),
                Some(_) => return Ok(None),
                None => {}
            }
            match self.look().await? {
                Look::Found(mut filled) => {
                    if filled.origin == Origin::Cached {
                        filled.origin = Origin::Waited;
                    }
                    let flights = &self.shared.flights;
                    flights.land(&self.key, pending.cas, || filled.clone());
                    return Ok(Some(Sought::Found(filled)));
                }
                Look::Won(lease, old) => {
                    return Ok(Some(Sought::Won(Turn::new(lease, Some(lead), old))));
                }
                Look::Pending(now) if now != pending => {
                    (pending, since, looks) = (now, Instant::now(), 0);
                }
                Look::Pending(_) if pending.stale && since.elapsed() > self.options.lease => {
                    self.reclaim(pending.cas).await?;
                }
                Look::Pending(_) => {}
            }
        }
    }

    /// Does that for so long at most.
    async fn within<F: Future>(&self, limit: Duration, work: F) -> Result<Option<F::Output>> {
        let Some(runtime) = self.shared.cluster.runtime() else {
            return Err(Error::runtime_gone());
        };
        let deadline = pin!(Deadline::new(Some(limit)));
        match deadline.bound(runtime, work).await {
            Ok(done) => Ok(Some(done)),
            Err(Expired::TimeOut(_)) => Ok(None),
            Err(Expired::RuntimeGone) => Err(Error::runtime_gone()),
        }
    }
}
