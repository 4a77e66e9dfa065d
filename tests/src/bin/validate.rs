//! Holds the simulator against real servers; see `scripts/validate`.

use std::error::Error;

use clap::{Parser, ValueEnum};
use steersman_e2e::reality::{Caches, Nodes, Plan, Report, Subject, validate};
use steersman_simulator::PolicyKind;

/// The same faults, load and policies for real servers and in virtual time. Takes some eight seconds for each
/// run; the machine should do nothing else.
#[derive(Debug, Parser)]
#[command(name = "scripts/validate")]
struct Arguments {
    /// What to run it on.
    #[arg(value_enum, default_value = "memcached")]
    subject: Kind,
    /// Only plans whose name contains this: s6/steady, s6/toggling or s7.
    #[arg(long, default_value = "")]
    plan: String,
    /// The policies, by their names.
    #[arg(
        long = "policy",
        value_delimiter = ',',
        default_value = "round-robin,latency-aware,peak-ewma,least-in-flight,steady"
    )]
    policies: Vec<String>,
    /// How often each is run.
    #[arg(long, default_value_t = 3)]
    repetitions: u64,
    /// How many reads begin in a second.
    #[arg(long, default_value_t = 1_500)]
    rate: u32,
    /// Cassandra nodes run already: an earlier run has left them.
    #[arg(long)]
    running: bool,
    /// Leaves Cassandra nodes running.
    #[arg(long)]
    leave: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Memcached,
    Cassandra,
}

impl Arguments {
    async fn run(&self, subject: &impl Subject) -> Result<Report, Box<dyn Error>> {
        let mut plans = Plan::all().to_vec();
        plans.retain(|plan| plan.name.contains(&self.plan));
        let policies: Vec<_> = self
            .policies
            .iter()
            .map(|name| PolicyKind::from_name(name))
            .collect::<Result<_, _>>()?;
        let told = |progress: &str| eprintln!("{progress}");
        let report = validate(
            subject,
            &plans,
            &policies,
            self.repetitions,
            self.rate,
            &told,
        );
        Ok(report.await?)
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let report = match arguments.subject {
        Kind::Memcached => arguments.run(&Caches::start().await?).await?,
        Kind::Cassandra => {
            let nodes = Nodes::start(arguments.running).await?;
            let report = arguments.run(&nodes).await;
            if arguments.leave {
                nodes.leave();
            }
            report?
        }
    };
    print!("{report}");
    Ok(())
}
