//! The commands for those who run a cluster, with their arguments.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::duration;

/// Commands that look into nodes.
#[derive(Debug, Subcommand)]
pub(crate) enum Operate {
    /// Lists the keys that are on the nodes
    ///
    /// Prints a line `KEY<TAB>NODE<TAB>EXPIRES<TAB>LAST_ACCESS<TAB>SIZE<TAB>CLASS` for each, node
    /// by node: times in seconds since 1970 by the node's clock, `-` for never or if the node does
    /// not say; the bytes that the item takes; its slab class. Control characters in keys
    /// are percent-encoded; --json gives the bytes.
    ///
    /// The list comes as the nodes send it, however long it is, on connections of its own. It is no
    /// snapshot: what is stored or read meanwhile may be left out or come twice. Write it to a file rather
    /// than to a pager: while its reader waits, so does what makes room in the node.
    Keys(ListKeys),
    /// Tells what the nodes of a key keep about its item, without reading it
    ///
    /// Prints a line for each node, the owner first: with --replicas as many as the key has. FETCHED
    /// is whether the item was ever read, LENGTH is that of the value, SIZE what the item takes in
    /// memory, CLASS its slab class. Exits 1 if no node has the key.
    ///
    /// A node older than the meta commands, memcached 1.6.0, is asked by `gets`, which counts as a
    /// read, and tells less.
    Inspect {
        /// The key: 1 to 250 bytes, no white space, no control characters
        key: OsString,
    },
    /// Finds out which client's placement explains where the keys are
    ///
    /// Lists keys of each node, and places them as every client does whose placement is known, with the nodes
    /// by the names given, by their addresses and by the IP addresses of their hosts, in the order given and
    /// sorted. Prints those that explain most: the share of the keys that are where that client looks, the
    /// placement, and the nodes as --node takes them. Where the order of the list alone counts, the order is
    /// found out, too. Name all nodes, with their weights.
    ///
    /// Keys that were left behind by a change of nodes are explained by none, and by chance one of N nodes
    /// explains 1/N of them. Exits 1 if no placement explains 9 keys of 10.
    Detect(Detect),
    /// Examines the nodes and says what is wrong and what to do about it
    ///
    /// For each node: whether its name resolves and each address takes connections, TLS, credentials, its
    /// version and what that lacks, memory, evictions and connections, and whether its clock is ours, by
    /// which values expire. For all of them: whether two names are one server, and whether keys and memory
    /// are shared out alike. Writes one key to each node, named `steersman:doctor:...`, and deletes it.
    ///
    /// Exits 0 if all is well, 1 if there are warnings, 2 if a node cannot be used.
    Doctor,
    /// Shows the nodes live: health, rate, latency, connections
    ///
    /// OPS/S is what the node does for all its clients, by its own counters. P50, P99 and SCORE are of
    /// requests that `top` makes from here, 20 a second; a node that is much slower than the fastest is shown
    /// as penalised, as the latency-aware policy would. CONNS are the node's connections, all clients'; IN
    /// FLIGHT what `top` itself waits for.
    ///
    /// Keys: q or Esc ends, the arrow keys or j and k choose a node, s the next column to sort by, r
    /// the other order.
    Top(Top),
}

#[derive(Debug, Args)]
pub(crate) struct ListKeys {
    /// Lists so many keys at most
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Lists keys that begin so
    #[arg(long, value_name = "TEXT")]
    pub(crate) prefix: Option<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Detect {
    /// Lists the keys of the servers, as the command `keys` does: it has to be asked for
    #[arg(long, required = true)]
    pub(crate) keys_from_servers: bool,
    /// How many keys of each node are looked at, 1 to 100,000
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) sample: u32,
    /// Takes this off keys that begin so, and leaves others out: for clients that place keys without
    /// their prefix
    #[arg(long, value_name = "TEXT")]
    pub(crate) without_prefix: Option<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Top {
    /// Shows what was seen in one interval and ends; else, without a terminal, every interval
    #[arg(long)]
    pub(crate) once: bool,
    /// How often the figures are taken anew, 200ms to 1m
    #[arg(long, value_name = "DURATION", value_parser = interval, default_value = "1s")]
    pub(crate) interval: Duration,
}

fn interval(text: &str) -> Result<Duration, String> {
    let interval = duration::duration(text)?;
    if (Duration::from_millis(200)..=Duration::from_secs(60)).contains(&interval) {
        Ok(interval)
    } else {
        Err("it must be 200ms to 1m".to_owned())
    }
}
