//! The commands: each takes its arguments, the context and an output.

mod admin;
mod detect;
mod inspect;
mod keys;
mod migrate_plan;
mod moves;
mod read;
mod route;
mod write;

use std::io::Write;

use steersman_memcached::{Config, Expires};

use crate::answer::{Answer, Failure};
#[cfg(not(feature = "cassandra"))]
use crate::args::NOT_IN_THIS_BUILD;
use crate::args::{Cli, Command, Globals, Operate, definition};
use crate::bench;
#[cfg(feature = "cassandra")]
use crate::cassandra;
use crate::context::{Context, Environment, Settings};
use crate::demo;
use crate::doctor;
use crate::duration::Limit;
use crate::simulate;
use crate::top;

/// Runs the command that was asked for.
pub(crate) fn run(cli: Cli, out: &mut dyn Write) -> Result<Answer, Failure> {
    let Cli {
        globals,
        command,
        name,
    } = cli;
    refuse_what_has_no_effect(&globals, &command)?;
    // Made by the commands that use it: a mistake in the nodes is none for the others.
    let settings = || Settings::new(&globals, &Config::default(), name.clone());
    let context = || Context::new(&globals, name.clone(), Environment::read());
    let one_thread = tokio::runtime::Builder::new_current_thread;
    match command {
        Command::Demo(args) => on(
            tokio::runtime::Builder::new_multi_thread(),
            demo::run(&args, &settings()?, out),
        ),
        Command::Read(command) => on(one_thread(), read::run(command, &context()?, out)),
        Command::Write(command) => on(one_thread(), write::run(command, &context()?, out)),
        Command::Admin(command) => on(one_thread(), admin::run(command, &context()?, out)),
        Command::Operate(command) => operate(command, &context()?, out),
        Command::Bench(args) => {
            let mut threads = tokio::runtime::Builder::new_multi_thread();
            if let Some(workers) = args.workers {
                threads.worker_threads(workers.into());
            }
            on(threads, bench::run(&args, context()?, out))
        }
        #[cfg(feature = "cassandra")]
        Command::Cassandra(command) => on(
            tokio::runtime::Builder::new_multi_thread(),
            cassandra::run(&command, &settings()?, out),
        ),
        #[cfg(not(feature = "cassandra"))]
        Command::Cassandra { .. } => Err(Failure::told(NOT_IN_THIS_BUILD)),
        Command::Route(args) => route::run(args, &context()?, out),
        Command::Moves(args) => moves::run(&args, &context()?, out),
        Command::MigratePlan(args) => migrate_plan::run(&args, &context()?, out),
        Command::Simulate(args) => simulate::run(&args, globals.json, out),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut definition(), "steersman", &mut script);
            out.write_all(&script)?;
            Ok(Answer::Yes)
        }
    }
}

fn operate(command: Operate, context: &Context, out: &mut dyn Write) -> Result<Answer, Failure> {
    let one_thread = tokio::runtime::Builder::new_current_thread;
    match command {
        Operate::Keys(args) => on(one_thread(), keys::run(args, context, out)),
        Operate::Inspect { key } => on(one_thread(), inspect::run(key, context, out)),
        Operate::Detect(args) => on(one_thread(), detect::run(&args, context, out)),
        Operate::Doctor => on(one_thread(), doctor::run(context, out)),
        Operate::Top(args) => on(one_thread(), top::run(&args, context, out)),
    }
}

fn on(
    mut runtime: tokio::runtime::Builder,
    work: impl Future<Output = Result<Answer, Failure>>,
) -> Result<Answer, Failure> {
    let runtime = runtime.enable_all().build();
    let runtime = runtime.map_err(|error| Failure::told(format!("cannot start: {error}")))?;
    let answer = runtime.block_on(work);
    // A name that is still being resolved must not hold up the exit.
    runtime.shutdown_background();
    answer
}

/// An option that a command would ignore is a misunderstanding, better cleared up than passed over.
fn refuse_what_has_no_effect(globals: &Globals, command: &Command) -> Result<(), Failure> {
    let has_copies = matches!(
        command,
        Command::Route(_)
            | Command::Moves(_)
            | Command::Bench(_)
            | Command::Operate(Operate::Inspect { .. } | Operate::Doctor)
    );
    if globals.replicas.is_some() && !has_copies {
        return Err(Failure::told(
            "--replicas has no effect here: it is for `route`, `moves`, `inspect`, `doctor` and `bench`",
        ));
    }
    if matches!(command, Command::Cassandra { .. }) && !globals.nodes.is_empty() {
        return Err(Failure::told(
            "--node has no effect here: it names nodes of memcached; `cassandra` takes --contact",
        ));
    }
    let own_nodes = matches!(
        command,
        Command::Demo(_) | Command::Cassandra { .. } | Command::Simulate(_)
    );
    let of_memcached = [
        ("--discovery", globals.discovery.is_some()),
        ("--url", globals.url.is_some()),
        ("--config", globals.config.is_some()),
    ];
    if let Some((option, _)) = of_memcached.iter().find(|(_, given)| own_nodes && *given) {
        return Err(Failure::told(format!(
            "{option} has no effect here: it is for commands that use nodes of memcached"
        )));
    }
    if own_nodes && globals.access.tls {
        return Err(Failure::told(
            "--tls has no effect here: it is for nodes of memcached that --node names",
        ));
    }
    if matches!(command, Command::Simulate(_)) && !globals.nodes.is_empty() {
        return Err(Failure::told(
            "--node has no effect here: `simulate` has servers of its own, which a scenario describes",
        ));
    }
    if matches!(command, Command::Demo(_)) && !globals.nodes.is_empty() {
        return Err(Failure::told(
            "--node has no effect here: `demo` starts nodes of its own, --nodes says how many",
        ));
    }
    Ok(())
}

/// When a value with this time to live expires.
fn expires(ttl: Limit) -> Expires {
    ttl.0.map_or(Expires::Never, Expires::In)
}
