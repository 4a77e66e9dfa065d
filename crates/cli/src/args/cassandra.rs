//! The commands about a Cassandra cluster, with their arguments.

use std::time::Duration;

use clap::{Args, Subcommand};
use scylla::statement::Consistency;

use crate::cassandra::{Keys, Slow, consistency, contact};
use crate::duration::{self, Limit};

const WATCH_EXAMPLES: &str = "\
Examples:
  steersman cassandra watch --contact 10.0.0.1 --datacenter dc1
  steersman cassandra watch --slow 127.0.0.2=50ms
  steersman cassandra watch --keyspace shop --query 'SELECT * FROM users WHERE id = ?' --keys 1..9999
  steersman cassandra watch --once --json";

const COMPARE_EXAMPLES: &str = "\
Examples:
  steersman cassandra compare --keyspace shop --query 'SELECT * FROM users WHERE id = ?' --keys 1..9999
  steersman cassandra compare --slow 127.0.0.2=50ms --seconds 3 --rate 1000 \\
    --keyspace shop --query 'SELECT * FROM users WHERE id = ?' --keys 1..9999";

#[derive(Debug, Subcommand)]
pub(crate) enum Cassandra {
    /// Shows what a latency-aware chain knows of each node
    ///
    /// Reads at a modest rate under the chain `LatencyAware` over `TokenAware` over `DatacenterAware`
    /// (over `RoundRobin` without --datacenter), and shows each node: its score (the average latency
    /// that decides), the limit, how it is regarded and why, its share of the requests of the last
    /// second.
    /// Below that, what changed. A live view at a terminal, a table a second otherwise, with --json a
    /// line of JSON a second; Ctrl-C ends it.
    #[command(after_help = WATCH_EXAMPLES)]
    Watch(Watch),
    /// Measures what policies are worth on your cluster, with your query
    ///
    /// The same load under the driver's default policy, the same with the driver's latency awareness,
    /// and Steersman's chain in its reference mode (the Java driver's) and its default mode; each with
    /// and without speculative executions. All take turns, for several rounds with new sessions;
    /// shown are medians of the rounds, and shares of all answers.
    ///
    /// At a fixed rate a latency counts from the time at which the read was due, so that a policy that
    /// falls behind does not look better than it is. A read that failed counts with the time until
    /// then.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Compare),
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Reads a second
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) rate: u32,
    /// Prints what is known after --seconds, and ends; a node is judged when it has 50 samples
    #[arg(long)]
    pub(crate) once: bool,
    /// How long --once measures
    #[arg(long, value_name = "S", requires = "once", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) seconds: u32,
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// How long each policy is measured in each round
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) seconds: u32,
    /// How long each policy runs before that, unmeasured
    #[arg(long, value_name = "DURATION", value_parser = duration::duration, default_value = "2s")]
    pub(crate) warm_up: Duration,
    /// How many rounds
    #[arg(long, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// Reads a second, whether earlier ones are answered or not; 0 for as many as --tasks tasks can
    /// do, each of which waits for its answer
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) rate: u32,
    /// How many tasks read at --rate 0 [default: 32]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) tasks: Option<u32>,
    /// After which time a read is sent to a second node as well, or `none` to leave these runs out
    #[arg(long, value_name = "DURATION", value_parser = duration::limit, default_value = "3ms")]
    pub(crate) speculation: Limit,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// Which cluster, and what is read there.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster and query")]
pub(crate) struct Target {
    /// A node to ask about the cluster; repeat it or separate by commas
    ///
    /// `HOST:PORT`, `HOST` (port 9042) or `[v6]:PORT`.
    #[arg(
        long = "contact",
        value_name = "HOST:PORT",
        value_delimiter = ',',
        value_parser = contact,
        default_value = "127.0.0.1:9042"
    )]
    pub(crate) contacts: Vec<String>,
    /// The datacenter whose nodes are asked; without it the nodes of all
    #[arg(long, value_name = "DC")]
    pub(crate) datacenter: Option<String>,
    /// Who asks; the password is in the environment's `STEERSMAN_CASSANDRA_PASSWORD`
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// The consistency level of reads: `one`, `two`, `three`, `quorum`, `all`, `local_one`,
    /// `local_quorum`, `serial` or `local_serial`
    #[arg(long, value_name = "LEVEL", value_parser = consistency, default_value = "local_one")]
    pub(crate) consistency: Consistency,
    /// The keyspace of tables that are named without one
    #[arg(long, value_name = "K")]
    pub(crate) keyspace: Option<String>,
    /// What is read: a SELECT, with one `?` at most
    ///
    /// The default asks whichever node the policy chose for something that each knows by itself.
    #[arg(
        long,
        value_name = "Q",
        default_value = "SELECT release_version FROM system.local"
    )]
    pub(crate) query: String,
    /// What stands for the `?`: a number from A to B, both included, or text that ends in one, as in
    /// `user:1..1000`
    ///
    /// The column may be tinyint, smallint, int, bigint, text or ascii. The numbers are drawn at
    /// random, for each policy the same.
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    pub(crate) keys: Option<Keys>,
    /// Makes answers of one node late, by a proxy in this process: `127.0.0.2=50ms`; the delay has a
    /// unit (`ms` or `s`) and is below --timeout
    #[arg(long, value_name = "NODE=DELAY")]
    pub(crate) slow: Option<Slow>,
}
