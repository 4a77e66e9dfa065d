//! The arguments of `simulate`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use steersman_simulator::PolicyKind;

pub(crate) const EXAMPLES: &str = "\
Examples:
  steersman simulate s1
  steersman simulate s7 --policy round-robin,latency-aware --seeds 10 --plot s7.svg
  steersman simulate my-cluster.toml --json
  steersman simulate --record attempts.jsonl";

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// Scenarios: s1 to s12, a variant of one as in s2/one-slow, or paths of TOML files
    #[arg(value_name = "SCENARIO", required_unless_present_any = ["record", "list"])]
    pub(crate) scenarios: Vec<String>,
    /// Policies to compare, repeated or separated by commas [default: all]
    #[arg(long = "policy", value_name = "POLICY", value_delimiter = ',', value_parser = policy())]
    pub(crate) policies: Vec<PolicyKind>,
    /// With how many seeds each is run, 1 to 1000; with several, figures have 95 % confidence intervals
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) seeds: u16,
    /// The first seed; the others are the numbers that follow
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Writes a plot of latency and shares over time; with several scenarios one each, numbered
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Replays what clients measured under each policy; the log is lines of JSON with `time_ns`, `node`,
    /// `latency_ns` and `outcome`
    #[arg(long, value_name = "LOG", num_args = 1.., conflicts_with_all = ["scenarios", "list"])]
    pub(crate) record: Vec<PathBuf>,
    /// Lists the scenarios that come with the program
    #[arg(long, conflicts_with = "scenarios")]
    pub(crate) list: bool,
}

fn policy() -> impl TypedValueParser<Value = PolicyKind> {
    PossibleValuesParser::new(PolicyKind::NAMES).try_map(|name| PolicyKind::from_name(&name))
}
