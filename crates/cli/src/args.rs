//! The command line as it is written; what it means is found out in `context` and `commands`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, Parser, Subcommand};
use clap_complete::Shell;
use steersman_memcached::Scheme;

use crate::duration::{self, Limit};

const AFTER_HELP: &str = "\
Exit codes: 0 done; 1 a negative answer (a miss, not stored, not found); 2 wrong usage or an \
outage, which stderr describes.

Examples:
  steersman demo
  steersman --node cache-1:11211,cache-2:11211 set greeting hello --ttl 5m
  steersman --node cache-1:11211,cache-2:11211 get greeting
  steersman --node cache-1,cache-2,cache-3 moves --add cache-4";

/// Steers every request to the right node of a memcached cluster
#[derive(Debug, Parser)]
#[command(name = "steersman", version, after_help = AFTER_HELP, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What holds for every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// A node of the cluster; repeat it or separate by commas
    ///
    /// ADDR is `host:port`, `host` (port 11211), `[v6]:port` or `unix:/path`. Keys are placed by
    /// NAME, or by ADDR as written if there is none, so every client must write it the same way.
    /// A node of WEIGHT 2 owns twice as many keys as one of 1.
    ///
    /// Without it the environment's `STEERSMAN_NODES` is taken, and without that localhost:11211.
    /// Nodes given after the command replace those before it.
    #[arg(
        id = "node",
        long,
        value_name = "[NAME=]ADDR[*WEIGHT]",
        value_delimiter = ',',
        global = true
    )]
    pub(crate) nodes: Vec<String>,

    /// How keys are placed on nodes; the same for every client of a cluster
    #[arg(
        long,
        value_name = "SCHEME",
        value_parser = PossibleValuesParser::new(Scheme::NAMES),
        default_value = Scheme::NAMES[0],
        global = true
    )]
    pub(crate) placement: String,

    /// The slots of the placement `rendezvous`, as a power of two: 8 to 24 [default: 16]
    #[arg(long, value_name = "BITS", global = true)]
    pub(crate) slot_bits: Option<u8>,

    /// On how many nodes a key lives, for `route` and `moves`: 1 to 16 [default: 1]
    #[arg(long, value_name = "K", global = true)]
    pub(crate) replicas: Option<usize>,

    /// How long to wait for an answer: `250ms`, `1s`, `2m`, or `none` to wait for ever
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = duration::limit,
        default_value = "1s",
        global = true
    )]
    pub(crate) timeout: Limit,

    /// Prints JSON; bytes that are not UTF-8 are in `key_base64` or `value_base64`
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows what Steersman does, on a cluster inside this process
    ///
    /// Starts memcached nodes in this process, loads keys, makes one node slow, kills one under
    /// load and brings it back, and checks what it promises meanwhile. Needs nothing else. Exits 0
    /// only if everything promised was seen, 1 otherwise.
    Demo(Demo),

    #[command(flatten)]
    Read(Read),

    #[command(flatten)]
    Write(Write),

    /// Tells which node owns a key, without connecting to any
    ///
    /// Prints a line `KEY<TAB>NODE[,NODE...]` for each key: its nodes as given by --node, best
    /// first, as many as --replicas says. Keys are any bytes, even those that memcached would refuse.
    #[command(group = ArgGroup::new("which").required(true).args(["keys", "keys_from"]))]
    Route(Route),
    /// Tells what a change of membership would move
    ///
    /// Places keys on the nodes given by --node and on the nodes after the change: a sample of
    /// 100,000, or your own with --keys. With --replicas a copy counts as moved if it would be on
    /// a node that does not hold it now.
    #[command(group = ArgGroup::new("change").required(true).multiple(true).args(["add", "remove"]))]
    Moves(Moves),

    #[command(flatten)]
    Admin(Admin),

    /// Prints the completion script of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Commands that read values.
#[derive(Debug, Subcommand)]
pub(crate) enum Read {
    /// Reads values
    ///
    /// One key: prints its value and nothing else (and a line break at a terminal). Several: a
    /// line `KEY<TAB>VALUE` for each that exists, in the order asked; use --json for values with
    /// line breaks. Exits 1 if any key does not exist.
    Get(Keys),
    /// Reads values with their flags and cas numbers
    ///
    /// Prints a line `KEY<TAB>FLAGS<TAB>CAS<TAB>VALUE` for each key that exists. Exits 1 if any
    /// key does not exist.
    Gets(Keys),
    /// Reads values and sets a new time to live; prints as `get` does
    Gat(KeysAndTtl),
}

/// Commands that change values.
#[derive(Debug, Subcommand)]
pub(crate) enum Write {
    /// Stores a value
    Set(Store),
    /// Stores a value if the key does not exist; exits 1 if it does
    Add(Store),
    /// Stores a value if the key exists; exits 1 if it does not
    Replace(Store),
    /// Adds to the end of a value; exits 1 if the key does not exist
    Append(Item),
    /// Adds to the beginning of a value; exits 1 if the key does not exist
    Prepend(Item),
    /// Stores a value if nobody changed it since `gets` gave its cas number; exits 1 otherwise
    Cas(Cas),
    /// Deletes keys; exits 1 if any does not exist
    Delete(Keys),
    /// Adds to a number and prints the new one; exits 1 if the key does not exist
    ///
    /// Wraps around at 2^64.
    Incr(Arithmetic),
    /// Subtracts from a number and prints the new one; exits 1 if the key does not exist
    ///
    /// Stops at 0.
    Decr(Arithmetic),
    /// Sets a new time to live; exits 1 if any key does not exist
    Touch(KeysAndTtl),
}

/// Commands that ask every node.
#[derive(Debug, Subcommand)]
pub(crate) enum Admin {
    /// Prints the statistics of every node
    Stats {
        /// What to ask for: nothing for the general ones, `settings`, `items`, `slabs`, ...
        #[arg(value_name = "ARGS")]
        args: Vec<String>,
    },
    /// Prints the version of every node
    Version,
    /// Makes every value of every node invisible
    Flush {
        /// Flushes only after this time, rounded up to whole seconds: `30s`, `5m`
        #[arg(long, value_name = "DURATION", value_parser = duration::duration, default_value = "0")]
        delay: Duration,
    },
    /// Sets how much every node logs
    Verbosity {
        /// 0 logs nothing, 1 and 2 more and more
        level: u32,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Keys {
    /// Keys: 1 to 250 bytes, no white space, no control characters
    #[arg(value_name = "KEY", required = true)]
    pub(crate) keys: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct KeysAndTtl {
    #[command(flatten)]
    pub(crate) keys: Keys,
    /// How long the values live from now: `30s`, `5m`, `7d`, or `none` for ever
    #[arg(long, value_name = "DURATION", value_parser = duration::limit)]
    pub(crate) ttl: Limit,
}

#[derive(Debug, Args)]
pub(crate) struct Item {
    /// The key: 1 to 250 bytes, no white space, no control characters
    pub(crate) key: OsString,
    /// The value; `-` reads it from stdin
    #[arg(allow_negative_numbers = true)]
    pub(crate) value: OsString,
}

#[derive(Debug, Args)]
pub(crate) struct ItemOptions {
    /// How long the value lives: `30s`, `5m`, `7d`, or `none` for ever
    #[arg(long, value_name = "DURATION", value_parser = duration::limit, default_value = "none")]
    pub(crate) ttl: Limit,
    /// A number that is stored with the value
    #[arg(long, default_value_t = 0)]
    pub(crate) flags: u32,
}

#[derive(Debug, Args)]
pub(crate) struct Store {
    #[command(flatten)]
    pub(crate) item: Item,
    #[command(flatten)]
    pub(crate) options: ItemOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Cas {
    #[command(flatten)]
    pub(crate) item: Item,
    /// The cas number that `gets` printed
    #[arg(value_name = "CAS")]
    pub(crate) number: u64,
    #[command(flatten)]
    pub(crate) options: ItemOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Arithmetic {
    /// The key: 1 to 250 bytes, no white space, no control characters
    pub(crate) key: OsString,
    /// How much
    #[arg(default_value_t = 1)]
    pub(crate) delta: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Route {
    /// Keys
    #[arg(value_name = "KEY")]
    pub(crate) keys: Vec<OsString>,
    /// Takes the keys from a file, one a line; `-` is stdin
    #[arg(long = "keys", value_name = "FILE")]
    pub(crate) keys_from: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Moves {
    /// A node that would join, written as for --node
    #[arg(long, value_name = "NODE", value_delimiter = ',')]
    pub(crate) add: Vec<String>,
    /// A node that would leave, by its name or written as for --node
    #[arg(long, value_name = "NODE", value_delimiter = ',')]
    pub(crate) remove: Vec<String>,
    /// Takes the keys from a file instead of a sample, one a line; `-` is stdin
    #[arg(long = "keys", value_name = "FILE")]
    pub(crate) keys_from: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// How many nodes to start
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..=64))]
    pub(crate) nodes: u16,
    /// How many keys to load
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) keys: u32,
    /// Chooses the nodes that suffer and the order of reads; equal seeds choose equally
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How long each phase is measured, 100ms to 1m
    #[arg(long, value_name = "DURATION", value_parser = duration::duration, default_value = "1s")]
    pub(crate) phase: Duration,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }
}
