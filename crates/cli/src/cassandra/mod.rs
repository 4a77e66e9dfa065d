//! `cassandra`: latency awareness on a Cassandra or `ScyllaDB` cluster of yours.
//!
//! A [`target`] is the cluster and what is read there, checked before anything is measured. [`load`]
//! reads and counts under a policy, for ours a [`chain`]. `watch` shows what the chain knows
//! meanwhile, `compare` measures what policies are worth.

mod chain;
mod compare;
mod failures;
mod keys;
mod load;
mod slow;
mod tally;
mod target;
mod watch;

use std::io::Write;

pub(crate) use self::keys::Keys;
pub(crate) use self::slow::Slow;
pub(crate) use self::target::{consistency, contact};

use crate::answer::{Answer, Failure};
use crate::args::cassandra::Cassandra;
use crate::context::Settings;

pub(crate) async fn run(
    command: &Cassandra,
    settings: &Settings,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    match command {
        Cassandra::Watch(args) => watch::run(args, settings, out).await,
        Cassandra::Compare(args) => compare::run(args, settings, out).await,
    }
}
