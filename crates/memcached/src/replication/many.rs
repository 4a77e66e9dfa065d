//! Reading many keys: a read each, all under way at the same time, so that each key is hedged and
//! falls over by itself. Reads of one node that are begun together share their request lines.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use steersman_memcached_protocol::{Reply, Value};

use super::{Command, Limit, Replicator};
use crate::call::unfit_reply;
use crate::error::Result;
use crate::shared::Shared;

/// How many keys are under way at once, so that a long list leaves others room on connections.
const AT_ONCE: usize = 256;

/// Reads these keys; a result for each, in their order.
pub(crate) async fn read_many(
    shared: &Arc<Shared>,
    name: &'static str,
    commands: impl Iterator<Item = Result<Command>>,
    limit: Limit,
) -> Vec<Result<Option<Value>>> {
    let reads: Vec<_> = commands
        .map(|command| async move {
            match Replicator::start(shared, command?, limit, false)?
                .await?
                .reply
            {
                Reply::Value(value) => Ok(Some(value)),
                Reply::Miss => Ok(None),
                other => Err(unfit_reply(&other)),
            }
        })
        .collect();
    let results = stream::iter(reads).buffered(AT_ONCE);
    results
        .map(|result: Result<_>| result.map_err(|error| shared.cluster.explain(error).asked(name)))
        .collect()
        .await
}
