//! The commands that ask nodes, with their arguments.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::duration::{self, Limit};

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
    ///
    /// It has no default node: --node or `STEERSMAN_NODES` must say which nodes are meant.
    Flush {
        /// Flushes only after this time, rounded up to whole seconds: `30s`, `5m` (without a unit:
        /// seconds)
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
    /// How long the values live from now, rounded up to whole seconds: `30s`, `5m`, `7d` (without
    /// a unit: seconds), or `none` for ever
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
    /// How long the value lives, rounded up to whole seconds: `30s`, `5m`, `7d` (without a unit:
    /// seconds), or `none` for ever
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
