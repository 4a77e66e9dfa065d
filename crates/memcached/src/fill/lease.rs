//! The lease by which one caller alone loads: what is done with it, and how it is given back.

use std::pin::Pin;
use std::task::{Context, Waker};

use steersman_memcached_protocol::meta::{self, Status};
use tracing::debug;

use super::look::Turn;
use super::{FillError, Filled, IntoFill, Origin, Reader};
use crate::call::{Call, Meta, MetaDelete, MetaSet};
use crate::observe::targets;

/// The right to load what the cache holds under a cas number. Dropped unused, it is given back.
pub(super) struct Lease {
    reader: Reader,
    cas: u64,
    held: Held,
}

/// What the cache holds meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// Nothing but the mark that somebody loads.
    Placeholder,
    /// A value that was marked stale.
    Stale,
    /// A value that is to expire soon.
    Fresh,
    /// The lease is over.
    Over,
}

impl Lease {
    pub(super) fn new(reader: &Reader, cas: u64, held: Held) -> Self {
        Self {
            reader: reader.clone(),
            cas,
            held,
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let (cas, stale) = (self.cas, self.held == Held::Stale);
        if matches!(self.held, Held::Over | Held::Fresh) {
            // There is nothing to give back: memcached lets a value be refreshed ahead once.
            return;
        }
        let Reader { shared, key, .. } = &self.reader;
        let Some(runtime) = shared.cluster.runtime() else {
            return;
        };
        let mut call = Call::new(
            shared.clone(),
            None,
            Meta::new(
                key.clone(),
                MetaDelete::new(move |delete| give_back(delete, cas, stale)),
            ),
        )
        .into_future();
        // It is sent now, if it can be: before whatever this caller asks next.
        let mut context = Context::from_waker(Waker::noop());
        if Pin::new(&mut call).poll(&mut context).is_pending() {
            runtime.spawn(async move {
                if let Err(error) = call.await {
                    debug!(target: targets::UNANSWERED, %error, "a lease could not be given back; it ends by itself");
                }
            });
        }
    }
}

/// Removes a placeholder, or lets the next reader of a stale value win.
fn give_back(delete: meta::Delete<'_>, cas: u64, stale: bool) -> meta::Delete<'_> {
    let delete = delete.if_cas(cas);
    if stale {
        delete.invalidate(None)
    } else {
        delete
    }
}

impl Reader {
    /// Takes the lease of a stale value back from a caller that has had it for too long.
    pub(super) async fn reclaim(&self, cas: u64) -> crate::Result<()> {
        let delete = MetaDelete::new(move |delete| give_back(delete, cas, true));
        self.ask(delete).await.map(drop)
    }
}

impl Turn {
    /// The old value, if it may be used while a new one is loaded.
    pub(super) fn fresh_enough(&self) -> Option<Filled> {
        let stale_too = self.lease.reader.options.stale_while_revalidate;
        let old = self.old.as_ref();
        old.filter(|old| stale_too || old.origin == Origin::Cached)
            .cloned()
    }

    /// Loads the value and stores it, unless that has become pointless.
    pub(super) async fn load<F, L, V, E>(mut self, load: F) -> Result<Filled, FillError<E>>
    where
        F: FnOnce() -> L,
        L: Future<Output = Result<V, E>>,
        V: IntoFill,
    {
        let fill = match load().await {
            Ok(value) => value.into_fill(),
            Err(error) => {
                let old = self.old.take();
                let old = old.filter(|_| self.lease.reader.options.stale_if_error);
                return old.ok_or(FillError::Load(error));
            }
        };
        let options = &self.lease.reader.options;
        let flags = fill.flags.unwrap_or(options.flags);
        let expires = fill.expires.unwrap_or(options.expires);
        let stored = self.store(&fill.data, flags, expires).await;
        let filled = |origin| Filled {
            data: fill.data.clone(),
            flags,
            origin,
        };
        if stored {
            let flights = &self.lease.reader.shared.flights;
            flights.land(&self.lease.reader.key, self.lease.cas, || {
                filled(Origin::Waited)
            });
        }
        Ok(filled(Origin::Loaded { stored }))
    }

    /// Stores the value if nobody has changed what was there; says whether it did.
    async fn store(&mut self, data: &bytes::Bytes, flags: u32, expires: crate::Expires) -> bool {
        let cas = self.lease.cas;
        let set = MetaSet::new(data.clone(), move |set| {
            set.if_cas(cas).client_flags(flags).expires(expires)
        });
        match self.lease.reader.ask(set).await {
            Ok(reply) => {
                self.lease.held = Held::Over;
                reply.status == Status::Done
            }
            Err(error) => {
                debug!(target: targets::UNANSWERED, %error, "a loaded value could not be stored");
                false
            }
        }
    }
}
