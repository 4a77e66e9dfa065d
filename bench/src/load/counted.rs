//! A given number of reads on one worker, for tools that count instructions or take samples.

use serde::{Deserialize, Serialize};
use steersman_bench_contract::{keys, runtime, within};
use steersman_memcached::Client;

use super::{argument, connect, read_one};
use crate::plan::VALUE;

/// How many reads there were.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Counted {
    reads: usize,
}

/// `SERVER TASKS READS`
pub(super) fn run(args: &[String]) -> Result<Counted, String> {
    let server: String = argument(args, 0, "SERVER")?;
    let tasks: usize = argument(args, 1, "TASKS")?;
    let reads: usize = argument(args, 2, "READS")?;
    let runtime = runtime(Some(1))?;
    let client = within(&runtime, async move { connect(&server, 2).await })?;
    let handles: Vec<_> = (0..tasks)
        .map(|number| runtime.spawn(read(client.clone(), number, reads / tasks)))
        .collect();
    for handle in handles {
        runtime
            .block_on(handle)
            .map_err(|error| error.to_string())??;
    }
    Ok(Counted {
        reads: reads / tasks * tasks,
    })
}

async fn read(client: Client, number: usize, reads: usize) -> Result<(), String> {
    let keys = keys(number, 16, VALUE);
    for key in keys.iter().cycle().take(reads) {
        read_one(&client, key).await?;
    }
    Ok(())
}
