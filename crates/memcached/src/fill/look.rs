//! One look at the cache, which may give the caller the lease to load.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use steersman_memcached_protocol::meta::{self, Status};

use super::flight::Lead;
use super::lease::Held;
use super::{Filled, Lease, NAME, Origin, Reader};
use crate::call::{Call, CallFuture, Meta, MetaGet, sealed};
use crate::deadline::{Deadline, Expired};
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::expires::Expires;
use crate::metrics::Ended;

/// What a look at the cache gives.
pub(super) enum Look {
    Found(Filled),
    /// The caller is to load; there may be an old value.
    Won(Lease, Option<Filled>),
    /// Another caller is to load.
    Pending(Pending),
}

/// What stands in the cache while another caller loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pending {
    /// The number of the placeholder, or of the old value.
    pub(super) cas: u64,
    /// It was marked stale, and does not go away with the lease.
    pub(super) stale: bool,
}

/// What comes of looking until there is something to do.
pub(super) enum Sought {
    Found(Filled),
    Won(Box<Turn>),
}

/// The right to load, and what the caller has until then.
pub(super) struct Turn {
    // Given back in this order: who takes the lead looks for the lease next.
    pub(super) lease: Lease,
    /// Others in this process wait for this caller.
    _lead: Option<Lead>,
    pub(super) old: Option<Filled>,
}

impl Turn {
    pub(super) fn new(lease: Lease, lead: Option<Lead>, old: Option<Filled>) -> Box<Self> {
        Box::new(Self {
            lease,
            _lead: lead,
            old,
        })
    }
}

impl Reader {
    /// Looks at the cache until there is a value, or it is this caller's turn to load.
    pub(super) async fn seek(&self) -> Result<Sought> {
        let sought = match self.look().await? {
            Look::Found(filled) => Sought::Found(filled),
            Look::Won(lease, old) => {
                let lead = self.shared.flights.join(&self.key).try_lead();
                Sought::Won(Turn::new(lease, lead, old))
            }
            Look::Pending(pending) => self.wait(pending).await?,
        };
        Ok(sought)
    }

    pub(super) async fn look(&self) -> Result<Look> {
        let lease = Expires::In(self.options.lease);
        let ahead = self.options.refresh_ahead.map(|left| {
            let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
            u32::try_from(seconds).unwrap_or(u32::MAX)
        });
        let get = MetaGet::new(move |get| {
            let get = get.value().client_flags().cas().vivify(lease);
            match ahead {
                Some(seconds) => get.recache_below(seconds),
                None => get,
            }
        });
        let reply = self
            .question(get)
            .await
            .map_err(|error| error.asked(NAME))?;
        self.read(reply)
    }

    /// Makes a request whose answer may be a lease. Its time is kept here: an answer that comes too late
    /// is heard all the same.
    async fn question<B>(&self, get: B) -> Result<meta::Reply>
    where
        B: Send + 'static,
        Meta<Bytes, B>: sealed::Operation<Output = meta::Reply>,
    {
        let limit = self.options.patience.or(self.shared.options().timeout);
        let (runtime, limit) = self.shared.begin(limit).await?;
        let mut question = Question {
            reader: self,
            call: Some(self.call(get).timeout(None).into_future()),
        };
        let deadline = pin!(Deadline::new(limit));
        match deadline.bound(runtime, &mut question).await {
            Ok(answer) => answer,
            Err(expired) => Err(question.expire(expired)),
        }
    }

    /// Makes a request of the key.
    pub(super) async fn ask<B>(&self, build: B) -> Result<meta::Reply>
    where
        Meta<Bytes, B>: sealed::Operation<Output = meta::Reply>,
    {
        let answer = self.call(build).await;
        answer.map_err(|error| error.asked(NAME))
    }

    fn call<B>(&self, build: B) -> Call<Meta<Bytes, B>>
    where
        Meta<Bytes, B>: sealed::Operation<Output = meta::Reply>,
    {
        let operation = Meta::new(self.key.clone(), build);
        Call::new(self.shared.clone(), None, operation).patience(self.options.patience)
    }

    fn read(&self, reply: meta::Reply) -> Result<Look> {
        let meta::Reply {
            status: Status::Value,
            value: Some(data),
            cas: Some(cas),
            client_flags: Some(flags),
            won,
            stale,
            recaching,
            ..
        } = reply
        else {
            let what = format!(
                "the server answered {:?} to a read with a lease, without what was asked for; does a \
                 proxy stand between?",
                reply.status
            );
            return Err(Error::new(ErrorKind::Server, Stage::Exchange, what).asked(NAME));
        };
        // A placeholder has no value and no flags. A value like that is taken for one as long as somebody
        // is to renew it: the others wait for the new one then, and miss nothing.
        let placeholder = data.is_empty() && flags == 0 && (won || stale || recaching);
        let old = (!placeholder).then(|| Filled {
            data,
            flags,
            origin: if stale { Origin::Stale } else { Origin::Cached },
        });
        if won {
            let held = match (placeholder, stale) {
                (true, _) => Held::Placeholder,
                (false, true) => Held::Stale,
                (false, false) => Held::Fresh,
            };
            let lease = Lease::new(self, cas, held);
            return Ok(Look::Won(lease, old));
        }
        Ok(match old {
            Some(old) if !stale || self.options.stale_while_revalidate => Look::Found(old),
            _ => Look::Pending(Pending { cas, stale }),
        })
    }
}

/// What a look asks the cache. If it ends before the answer has come, its caller may have been given
/// the lease all the same: then a task waits for the answer in its place, and gives it back.
struct Question<'a, B>
where
    B: Send + 'static,
    Meta<Bytes, B>: sealed::Operation<Output = meta::Reply>,
{
    reader: &'a Reader,
    /// None once it is answered.
    call: Option<CallFuture<Meta<Bytes, B>>>,
}

impl<B> Future for Question<'_, B>
where
    B: Send + 'static,
    Meta<Bytes, B>: sealed::Operation<Output = meta::Reply>,
{
    type Output = Result<meta::Reply>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(call) = &mut self.call else {
            return Poll::Pending;
        };
        let answer = ready!(Pin::new(call).poll(cx));
        self.call = None;
        Poll::Ready(answer)
    }
}

impl<B> Question<'_, B>
where
    B: Send + 'static,
    Meta<Bytes, B>: sealed::Operation<Output = meta::Reply>,
{
    /// Its time is up.
    fn expire(&mut self, expired: Expired) -> Error {
        let Some(mut call) = self.call.take() else {
            return expired.error(Stage::Exchange);
        };
        let stage = call.withdraw(Ended::Failed);
        let mut error = expired.error(stage).executed(stage == Stage::Exchange);
        if let Ok(owner) = self.reader.shared.owner(&self.reader.key) {
            error = error.at_node(owner.name());
        }
        call.end(Some(&error));
        self.leave(call, stage);
        error
    }

    fn leave(&self, call: CallFuture<Meta<Bytes, B>>, stage: Stage) {
        // What no connection has seen gives no lease.
        if stage != Stage::Exchange {
            return;
        }
        if let Some(runtime) = self.reader.shared.cluster.runtime() {
            let reader = self.reader.clone();
            runtime.spawn(async move {
                // After that it has ended by itself.
                let lease = reader.options.lease;
                if let Ok(Ok(reply)) = tokio::time::timeout(lease, call).await {
                    drop(reader.read(reply));
                }
            });
        }
    }
}

impl<B> Drop for Question<'_, B>
where
    B: Send + 'static,
    Meta<Bytes, B>: sealed::Operation<Output = meta::Reply>,
{
    fn drop(&mut self) {
        let Some(call) = self.call.take() else {
            return;
        };
        let stage = call.withdraw(Ended::Cancelled);
        self.leave(call, stage);
    }
}
