//! `cassandra watch`: what a latency-aware chain knows of each node, while it steers some load.
//!
//! An `observer` takes frames, each of which `report` writes as a table or as JSON. At a terminal
//! `screen` draws one over the other.

mod journal;
mod observer;
mod report;
mod screen;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use steersman_selection::LatencyAware;
use tokio::time::MissedTickBehavior;

use self::journal::Journal;
use self::observer::Observer;
use self::screen::Screen;
use super::chain::chain;
use super::load::{Load, Pace};
use super::target::Target;
use crate::answer::{Answer, Failure};
use crate::args::cassandra as args;
use crate::context::Settings;

/// How often the live view, the tables and the lines of JSON come.
const EVERY: Duration = Duration::from_secs(1);

pub(super) async fn run(
    args: &args::Watch,
    settings: &Settings,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    let target = Target::find(&args.target, settings).await?;
    let journal = Arc::new(Journal::new());
    let latency = LatencyAware::builder().listener(Arc::clone(&journal).listener());
    let chain = chain(latency, target.datacenter())?;
    let reads = target.connect(chain.clone(), None).await?;
    let load = Load::start(
        reads,
        Pace::Rate(args.rate),
        Duration::ZERO,
        fastrand::u64(..),
    );
    let mut observer = Observer::new(chain, load, journal);
    let shown = async {
        if args.once {
            let seconds = Duration::from_secs(args.seconds.into());
            once(&mut observer, seconds, settings.json, out).await
        } else {
            live(&mut observer, settings.json, out).await
        }
    };
    tokio::select! {
        ended = shown => ended?,
        interrupted = tokio::signal::ctrl_c() => interrupted
            .map_err(|error| Failure::told(format!("cannot wait for Ctrl-C: {error}")))?,
    }
    Ok(Answer::Yes)
}

async fn once(
    observer: &mut Observer,
    time: Duration,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    tokio::time::sleep(time).await;
    let frame = observer.frame();
    if json {
        report::json(&frame).write_line(out)?;
    } else {
        report::write(&frame, out)?;
    }
    match (&frame.seen.reason, frame.seen.answers()) {
        (Some(reason), 0) => Err(Failure::told(format!("no read was answered: {reason}"))),
        _ => Ok(()),
    }
}

async fn live(observer: &mut Observer, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let variable = |name| std::env::var_os(name).unwrap_or_default();
    let can = io::stdout().is_terminal() && variable("TERM") != "dumb";
    let mut screen = (can && !json).then(|| Screen::new(variable("NO_COLOR").is_empty()));
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first one comes at once, when there is nothing to see.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let frame = observer.frame();
        match &mut screen {
            Some(screen) => screen.draw(&frame, out)?,
            None if json => report::json(&frame).write_line(out)?,
            None => {
                report::write(&frame, out)?;
                writeln!(out)?;
            }
        }
        out.flush()?;
    }
}
