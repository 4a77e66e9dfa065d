//! The command line as it is written; what it means is found out in `context` and `commands`.

mod access;
pub(crate) mod bench;
#[cfg(feature = "cassandra")]
pub(crate) mod cassandra;
mod operate;
mod request;
mod scheme;
pub(crate) mod simulate;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgGroup, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use steersman_memcached::Scheme;

pub(crate) use self::access::Access;
pub(crate) use self::operate::{Detect, ListKeys, Operate, Top};
pub(crate) use self::request::{
    Admin, Arithmetic, Item, ItemOptions, Keys, KeysAndTtl, Read, Write,
};
use self::scheme::SchemeParser;
use crate::duration::{self, Limit};

const AFTER_HELP: &str = "\
Exit codes: 0 done; 1 a negative answer (a miss, not stored, not found); 2 wrong usage or an \
outage, which stderr describes.

Examples:
  steersman demo
  steersman --node cache-1:11211,cache-2:11211 set greeting hello --ttl 5m
  steersman --node cache-1:11211,cache-2:11211 get greeting
  steersman --node cache-1,cache-2,cache-3 moves --add cache-4";

const MIGRATIONS: &str = "\
Examples:
  steersman --node 10.0.0.1,10.0.0.2 migrate-plan --from libmemcached-ketama --to rendezvous
  steersman --node 10.0.0.1,10.0.0.2 --placement dalli migrate-plan --to \
'memcached://10.0.0.1,10.0.0.3*2?placement=dalli'";

const LOADING_COMPLETIONS: &str = "\
To load the script in every new shell:
  bash  echo 'source <(steersman completions bash)' >> ~/.bashrc
  zsh   steersman completions zsh > ~/.zfunc/_steersman
        and in ~/.zshrc, before compinit: fpath+=~/.zfunc
  fish  steersman completions fish > ~/.config/fish/completions/steersman.fish";

#[cfg(not(feature = "cassandra"))]
pub(crate) const NOT_IN_THIS_BUILD: &str = "\
cassandra is not in this build: get it by `cargo install --path crates/cli --features cassandra`, or \
run `cargo run --release -p steersman --features cassandra -- cassandra watch`";

/// Steers every request to the right node of a memcached cluster
#[derive(Debug, Parser)]
#[command(name = "steersman", version, after_help = AFTER_HELP, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
    /// The command's name, for messages.
    #[arg(skip)]
    pub(crate) name: String,
}

impl Cli {
    /// Reads the arguments, the first of which is the name of the program.
    pub(crate) fn read(
        args: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Self, clap::Error> {
        let matches = definition().try_get_matches_from(args)?;
        Ok(Self {
            name: matches.subcommand_name().unwrap_or_default().to_owned(),
            ..Self::from_arg_matches(&matches)?
        })
    }
}

/// The commands and their options. A global option is taken after every command, so that it can
/// be given in an alias, and left out of the help of those where it has no effect.
pub(crate) fn definition() -> clap::Command {
    let definition = Cli::command();
    let global: Vec<Arg> = definition
        .get_arguments()
        .filter(|arg| arg.is_global_set())
        .map(|arg| arg.clone().hide(true))
        .collect();
    definition.mut_subcommands(|command| {
        let without_effect: &[&str] = match command.get_name() {
            "simulate" => &[
                "node",
                "discovery",
                "url",
                "config",
                "placement",
                "slot_bits",
                "replicas",
                "timeout",
            ],
            "completions" => &[
                "node",
                "discovery",
                "url",
                "config",
                "placement",
                "slot_bits",
                "replicas",
                "timeout",
                "json",
            ],
            "demo" => &["node", "discovery", "url", "config", "replicas"],
            "cassandra" => &[
                "node",
                "discovery",
                "url",
                "config",
                "placement",
                "slot_bits",
                "replicas",
            ],
            "route" | "moves" => &["timeout"],
            "migrate-plan" => &["timeout", "replicas"],
            "bench" | "inspect" | "doctor" => &[],
            "keys" | "detect" | "top" | "stats" | "version" | "flush" | "verbosity" => {
                &["placement", "slot_bits", "replicas"]
            }
            _ => &["replicas"],
        };
        let connects = ![
            "completions",
            "demo",
            "cassandra",
            "route",
            "moves",
            "migrate-plan",
            "simulate",
        ]
        .contains(&command.get_name());
        let is_hidden = |arg: &&Arg| {
            let name = arg.get_id().as_str();
            without_effect.contains(&name) || (!connects && Access::OPTIONS.contains(&name))
        };
        command.args(global.iter().filter(is_hidden).cloned())
    })
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
    /// Without it the nodes of --url or --config are taken, else those of the environment's
    /// `STEERSMAN_URL` or `STEERSMAN_NODES`, and without that localhost:11211, or for `bench` a node
    /// inside this process. Nodes given after the command replace those before it.
    #[arg(
        id = "node",
        long,
        value_name = "[NAME=]ADDR[*WEIGHT]",
        value_delimiter = ',',
        global = true
    )]
    pub(crate) nodes: Vec<String>,

    /// Where the nodes are found, in place of --node: `elasticache://HOST[:PORT]`,
    /// `dns://NAME[:PORT]`, `dns+srv://NAME` or `file:///PATH`
    ///
    /// It is asked once, when the command begins: the configuration endpoint of an ElastiCache
    /// cluster, the addresses of a name, its SRV records (if that was built: feature `dns`), or a file
    /// with a node a line.
    #[arg(long, value_name = "URL", conflicts_with = "node", global = true)]
    pub(crate) discovery: Option<String>,

    /// The cluster and how it is used: `memcached://NODE[,NODE...][?OPTION=VALUE&...]`
    ///
    /// Also `memcached+tls://`, `unix:/PATH`, or the URL of a source as for --discovery. Options are
    /// those of the client, as in `?timeout=250ms&replicas=2`; other arguments win over them. Without
    /// --url and --config the environment's `STEERSMAN_URL` is taken. Others can read the arguments of
    /// a command: give a password by that, or by the option `password_file`.
    #[arg(long, value_name = "URL", conflicts_with = "config", global = true)]
    pub(crate) url: Option<Url>,

    /// A file with the options of --url and their values: TOML, or JSON if its name ends so
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,

    /// How keys are placed on nodes; the same for every client of a cluster [default: rendezvous]
    ///
    /// `rendezvous` and `rendezvous-exact` are Steersman's own. The others are those of other clients,
    /// to share a cache with them; some take a variant, as in `libmemcached-modula:crc`.
    #[arg(long, value_name = "SCHEME", value_parser = SchemeParser, global = true)]
    pub(crate) placement: Option<Scheme>,

    /// The slots of the placement `rendezvous`, as a power of two: 8 to 24 [default: 16]
    #[arg(long, value_name = "BITS", global = true)]
    pub(crate) slot_bits: Option<u8>,

    /// On how many nodes a key lives, for `route`, `moves`, `inspect`, `doctor` and `bench`: 1 to 16 [default: 1]
    #[arg(long, value_name = "K", global = true)]
    pub(crate) replicas: Option<usize>,

    /// How long to wait for an answer: `250ms`, `1s`, `2m` (without a unit: seconds), or `none`
    /// to wait for ever [default: 1s]
    #[arg(long, value_name = "DURATION", value_parser = duration::limit, global = true)]
    pub(crate) timeout: Option<Limit>,

    #[command(flatten)]
    pub(crate) access: Access,

    /// Prints JSON; bytes that are not UTF-8 are in `key_base64` or `value_base64`
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// A URL that may have a password in it.
#[derive(Clone)]
pub(crate) struct Url(pub(crate) String);

impl From<String> for Url {
    fn from(url: String) -> Self {
        Self(url)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Url(..)")
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows what Steersman does, on a cluster inside this process
    ///
    /// Starts memcached nodes in this process, loads keys, makes one node slow, kills one under
    /// load and brings it back, and checks what it promises meanwhile. Then keeps each key on two
    /// nodes, of five at most, and compares latency-aware reads with others while one is slow.
    /// Needs nothing else. Exits 0 only if everything promised was seen, 1 otherwise.
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
    /// Tells what a move to another placement or to other nodes would cost
    ///
    /// Places keys as two clusters do, a sample of 100,000 or your own with --keys, and tells for each server
    /// how many it has before and after, how many leave it, and how many arrive: so many misses it is
    /// going to see. Which server is which is told by the addresses, since placements want different names.
    ///
    /// FROM and TO are a placement, of the nodes that --node names, or a whole cluster as for --url:
    /// `memcached://NODE[,NODE...]?placement=SCHEME`.
    #[command(after_help = MIGRATIONS)]
    MigratePlan(MigratePlan),

    #[command(flatten)]
    Admin(Admin),

    #[command(flatten)]
    Operate(Operate),

    /// Measures how many operations a second the nodes and the client do, and how long each takes
    ///
    /// Loads the given nodes, or a node inside this process if none is given. Writes keys of its own
    /// before, named `steersman:bench:...`, and deletes them afterwards; no other key is touched.
    /// Ctrl-C ends the load early, and what was measured is printed all the same.
    ///
    /// Counted are operations that were answered, and their latencies. Errors are counted apart and
    /// the first is told; if there are any, the command exits 2. A miss means that a node had to
    /// forget the key, usually as its memory is too small for all.
    #[command(after_help = bench::EXAMPLES)]
    Bench(bench::Bench),

    /// Compares selection policies in virtual time: which one is best for which cluster
    ///
    /// Runs scenarios, each with every policy and with several seeds: the policies' own code, on simulated
    /// servers that are slow, stall, fail and come back. The same seed gives the same figures. A request that
    /// fails counts with the clients' time-out.
    ///
    /// TO IMPAIRED is the share of attempts that go to impaired servers while there are others; EXTRA what
    /// retries and hedges add. NOTICES and READMITS are how long it takes until an impaired server gets less
    /// than half of its even share, and one that is well again more; QUEUE is the longest; SWING how far the
    /// shares of servers that are not impaired vary over time; STARVED how much of the time such servers get
    /// less than half.
    #[command(after_help = simulate::EXAMPLES)]
    Simulate(simulate::Simulate),

    #[cfg(feature = "cassandra")]
    #[command(subcommand)]
    #[command(
        about = "Latency awareness on a Cassandra or ScyllaDB cluster: what it knows, what it is worth"
    )]
    Cassandra(cassandra::Cassandra),
    #[cfg(not(feature = "cassandra"))]
    #[command(about = "Latency awareness on a Cassandra or ScyllaDB cluster (not in this build)")]
    #[command(long_about = NOT_IN_THIS_BUILD)]
    Cassandra {
        /// What would be done
        #[arg(
            value_name = "ARGS",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        args: Vec<OsString>,
    },

    /// Prints the completion script of a shell
    #[command(after_help = LOADING_COMPLETIONS)]
    Completions {
        /// The shell
        shell: Shell,
    },
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
pub(crate) struct MigratePlan {
    /// Where keys are: a placement, or a URL [default: the one of --node and --placement]
    #[arg(long, value_name = "PLACEMENT|URL")]
    pub(crate) from: Option<Url>,
    /// Where keys will be: a placement, or a URL
    #[arg(long, value_name = "PLACEMENT|URL")]
    pub(crate) to: Url,
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
    use super::definition;

    #[test]
    fn the_definition_holds_together() {
        definition().debug_assert();
    }

    #[test]
    fn a_command_s_help_has_the_global_options_that_have_an_effect_on_it() {
        let all = [
            "node",
            "url",
            "config",
            "placement",
            "slot-bits",
            "replicas",
            "timeout",
            "json",
            "tls",
            "user",
        ];
        let mut definition = definition();
        definition.build();
        for (command, expected) in [
            ("completions", &[][..]),
            ("demo", &["placement", "slot-bits", "timeout", "json"]),
            (
                "route",
                &[
                    "node",
                    "url",
                    "config",
                    "placement",
                    "slot-bits",
                    "replicas",
                    "json",
                ],
            ),
            (
                "get",
                &[
                    "node",
                    "url",
                    "config",
                    "placement",
                    "slot-bits",
                    "timeout",
                    "json",
                    "tls",
                    "user",
                ],
            ),
            (
                "flush",
                &["node", "url", "config", "timeout", "json", "tls", "user"],
            ),
            ("bench", &all),
            ("cassandra", &["timeout", "json"]),
            ("simulate", &["json"]),
        ] {
            let command = definition.find_subcommand_mut(command).unwrap();
            let help = command.render_long_help().to_string();
            let words: Vec<&str> = help.split_whitespace().collect();
            let shown = all
                .iter()
                .filter(|name| words.contains(&&*format!("--{name}")));
            let shown: Vec<&str> = shown.copied().collect();
            assert_eq!(shown, expected, "{help}");
        }
    }
}
