//! `top`: how the nodes fare, live.
//!
//! Each node is probed from here all the time (`probe`), and its counters are read once an interval
//! (`counters`); an `observer` puts both into a `Frame`. That is drawn on a terminal (`screen`, with
//! what the keys have chosen in `view`), or written as a table or as JSON (`report`).

mod counters;
mod frame;
mod observer;
mod probe;
mod report;
mod screen;
mod terminal;
mod view;

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use tokio::sync::watch;

use self::frame::Frame;
use self::observer::Observer;
use self::terminal::{Input, Terminal};
use self::view::{Key, View};
use crate::answer::{Answer, Failure};
use crate::args;
use crate::context::Context;

pub(crate) async fn run(
    args: &args::Top,
    context: &Context,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    let observer = Observer::new(context)?;
    if args.once {
        return once(observer, args.interval, context, out).await;
    }
    let variable = |name| std::env::var_os(name).unwrap_or_default();
    let can = io::stdout().is_terminal() && io::stdin().is_terminal() && variable("TERM") != "dumb";
    if can && !context.settings.json {
        let view = View::new(variable("NO_COLOR").is_empty());
        return live(observer, args.interval, view, out).await;
    }
    tokio::select! {
        ended = lines(observer, args.interval, context.settings.json, out) => ended?,
        interrupted = tokio::signal::ctrl_c() => interrupted
            .map_err(|error| Failure::told(format!("cannot wait for Ctrl-C: {error}")))?,
    }
    Ok(Answer::Yes)
}

/// What is seen in one interval.
async fn once(
    mut observer: Observer,
    interval: Duration,
    context: &Context,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    observer.frame().await;
    tokio::time::sleep(interval).await;
    let frame = observer.frame().await;
    report::write(&frame, context.settings.json, out)?;
    match frame.failures() {
        failures if failures.is_empty() => Ok(Answer::Yes),
        failures => Err(context.failure_of_nodes(failures)),
    }
}

/// What is seen in each interval, one below the other.
async fn lines(
    observer: Observer,
    every: Duration,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut frames = observer.every(every);
    while let Some(frame) = next(&mut frames).await {
        report::write(&frame, json, out)?;
        if !json {
            writeln!(out)?;
        }
        out.flush()?;
    }
    Ok(())
}

/// The live screen.
async fn live(
    observer: Observer,
    every: Duration,
    mut view: View,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    let mut terminal = Terminal::take(out)?;
    let mut frames = observer.every(every);
    let mut frame = None;
    loop {
        if let Some(frame) = &frame {
            terminal.draw(|area| screen::draw(area, frame, &view))?;
        }
        tokio::select! {
            input = terminal.next() => match (input, &frame) {
                (Input::Key(Key::Quit), _) => return Ok(Answer::Yes),
                (Input::Key(key), Some(frame)) => view.press(key, frame),
                (Input::Key(_), None) | (Input::Resized, _) => {}
            },
            Some(fresh) = next(&mut frames) => frame = Some(fresh),
        }
    }
}

/// The next frame, which nobody has seen yet.
async fn next(frames: &mut watch::Receiver<Frame>) -> Option<Frame> {
    frames.changed().await.ok()?;
    Some(frames.borrow_and_update().clone())
}
