//! Reading many keys: a read each, all under way at the same time, so that each key is hedged and
//! falls over by itself. Reads of one node that are begun together share their request lines.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use steersman_memcached_protocol::{Reply, Value};
use tokio::task::yield_now;
use tokio::time::Instant;

use super::{Command, Limit, Replicator};
use crate::call::{Turn, unfit_reply};
use crate::error::Result;
use crate::shared::Shared;

/// How many keys are under way at once, so that a long list leaves others room on connections.
const AT_ONCE: usize = 256;

/// Reads these keys; a result for each, in their order.
pub(crate) async fn read_many(
    shared: &Arc<Shared>,
    commands: Vec<Result<Command>>,
    limit: Limit,
) -> Vec<Result<Option<Value>>> {
    let nodes = shared.cluster.members().len();
    let begin = (Arc::clone(shared), commands.into_iter(), Turn::new());
    let reads = stream::unfold(begin, move |(shared, mut commands, mut turn)| async move {
        let command = commands.next()?;
        if turn.is_over(nodes) {
            yield_now().await;
        }
        let read = read(Arc::clone(&shared), command, limit);
        Some((read, (shared, commands, turn)))
    });
    reads.buffered(AT_ONCE).collect().await
}

/// Reads one of them.
async fn read(
    shared: Arc<Shared>,
    command: Result<Command>,
    limit: Limit,
) -> Result<Option<Value>> {
    // The nodes of others may have taken long to find.
    if limit.is_over(Instant::now()) {
        return Err(limit.not_begun());
    }
    let answer = Replicator::start(&shared, command?, limit, false)?.await?;
    match answer.reply {
        Reply::Value(value) => Ok(Some(value)),
        Reply::Miss => Ok(None),
        other => Err(unfit_reply(&other)),
    }
}
