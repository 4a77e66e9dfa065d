//! The demo while it happens: a few lines at a terminal that are drawn over and over.

mod layout;

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use self::layout::{Layout, terminal_size};
use super::load::{Load, Meters, Snapshot, between};
use crate::answer::Failure;
use crate::words::{grouped, median, p99, percent};

const TICK: Duration = Duration::from_millis(100);

/// The lines of a frame above the nodes.
const HEADING: usize = 2;

/// And those below the nodes where clients are compared.
const COMPARISON: usize = 3;

/// How a node fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Well,
    Slow,
    Dead,
}

/// Draws the demo, if the output is a terminal that can.
pub(super) struct Screen<'a> {
    out: &'a mut dyn Write,
    is_live: bool,
    /// The terminal's width and height, which may change while it is drawn on.
    size: fn() -> (usize, usize),
    colours: bool,
    title: String,
    nodes: Vec<Node>,
    /// What is seen of the nodes.
    watched: Option<Watch>,
    /// Whether the bars are shares of what was seen; else they are shares of the keys.
    bars_of_reads: bool,
    /// What clients see that are compared below the nodes.
    clients: Option<([&'static str; 2], Watch)>,
    /// How many lines of the last frame are on the screen.
    drawn: usize,
}

/// Meters, and what they stood at when the last frame was drawn.
struct Watch {
    meters: Arc<Meters>,
    last: Option<(Instant, Snapshot)>,
}

impl Watch {
    fn new(meters: &Arc<Meters>) -> Self {
        Self {
            meters: Arc::clone(meters),
            last: None,
        }
    }

    /// What was seen since the last time, and how long ago that was.
    fn fresh(&mut self) -> Option<(Snapshot, Duration)> {
        let (now, seen) = (Instant::now(), self.meters.snapshot());
        let last = self.last.replace((now, seen.clone()));
        last.map(|(at, last)| (between(&last, &seen), now - at))
    }
}

struct Node {
    name: String,
    state: State,
    /// How many keys it owns at the moment.
    keys: usize,
}

impl<'a> Screen<'a> {
    /// A screen for these nodes, drawn on only if it `may` be and can be.
    pub(super) fn new(out: &'a mut dyn Write, may: bool, names: &[String]) -> Self {
        let variable = |name| std::env::var_os(name).unwrap_or_default();
        let can = io::stdout().is_terminal() && variable("TERM") != "dumb";
        let node = |name: &String| Node {
            name: name.clone(),
            state: State::Well,
            keys: 0,
        };
        Self {
            out,
            is_live: may && can,
            size: terminal_size,
            colours: variable("NO_COLOR").is_empty(),
            title: String::new(),
            nodes: names.iter().map(node).collect(),
            watched: None,
            bars_of_reads: false,
            clients: None,
            drawn: 0,
        }
    }

    /// What is going on from now on.
    pub(super) fn title(&mut self, title: String) {
        self.title = title;
    }

    pub(super) fn state(&mut self, node: usize, state: State) {
        self.nodes[node].state = state;
    }

    /// The owner of each key from now on.
    pub(super) fn owners(&mut self, owners: &[usize]) {
        for node in &mut self.nodes {
            node.keys = 0;
        }
        for &owner in owners {
            self.nodes[owner].keys += 1;
        }
    }

    /// Shows what these readers see.
    pub(super) fn watch(&mut self, load: &Load) {
        self.watched = Some(Watch::new(load.meters()));
    }

    /// Shows what is seen by node, and how that is shared among them instead of the keys.
    pub(super) fn watch_shares(&mut self, nodes: &Arc<Meters>) {
        self.watched = Some(Watch::new(nodes));
        self.bars_of_reads = true;
    }

    /// Compares what two clients see.
    pub(super) fn watch_clients(&mut self, names: [&'static str; 2], clients: &Arc<Meters>) {
        self.clients = Some((names, Watch::new(clients)));
    }

    /// Draws until the work is done.
    pub(super) async fn during<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Failure> {
        if !self.is_live {
            return Ok(work.await);
        }
        let mut work = pin!(work);
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                _ = ticks.tick() => self.draw()?,
            }
        }
    }

    /// Takes the last frame off the screen.
    pub(super) fn clear(&mut self) -> Result<(), Failure> {
        if self.drawn > 0 {
            write!(self.out, "\x1b[{}A\x1b[J", self.drawn)?;
            self.drawn = 0;
        }
        Ok(self.out.flush()?)
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let name = self.nodes.iter().map(|node| node.name.len()).max();
        let lines = HEADING + self.nodes.len() + self.clients.as_ref().map_or(0, |_| COMPARISON);
        let layout = Layout::new((self.size)(), lines, name.unwrap_or(0));
        let Some(layout) = layout else {
            return self.clear();
        };
        let frame = self.frame(layout);
        if self.drawn > 0 {
            write!(self.out, "\x1b[{}A", self.drawn)?;
        }
        // Lines that do not fit are cut, not wrapped: the next frame starts where this one did.
        self.out.write_all(b"\x1b[?7l")?;
        for line in &frame {
            writeln!(self.out, "\x1b[2K{line}")?;
        }
        self.out.write_all(b"\x1b[?7h")?;
        self.drawn = frame.len();
        Ok(self.out.flush()?)
    }

    fn frame(&mut self, layout: Layout) -> Vec<String> {
        let fresh = self.watched.as_mut().and_then(Watch::fresh);
        let parts: Vec<usize> = match &fresh {
            _ if !self.bars_of_reads => self.nodes.iter().map(|node| node.keys).collect(),
            Some((seen, _)) => {
                let reads = seen.iter().map(|seen| seen.latency.total());
                reads
                    .map(|reads| usize::try_from(reads).unwrap_or(usize::MAX))
                    .collect()
            }
            None => vec![0; self.nodes.len()],
        };
        let all: usize = parts.iter().sum();
        let title = self.paint("1", &self.title);
        let mut lines = vec![format!("steersman demo: {title}"), String::new()];
        for (at, node) in self.nodes.iter().enumerate() {
            let mut line = format!("  {:<1$}  ", node.name, layout.name);
            line.push_str(&self.bar(node.state, (parts[at], all), layout.bar));
            if node.state == State::Dead {
                if layout.rate {
                    line.push_str("  its keys live on the others");
                }
            } else if let Some((seen, took)) = &fresh {
                let latency = &seen[at].latency;
                if layout.rate {
                    let rate = u128::from(latency.total()) * 1000 / took.as_millis().max(1);
                    let _ = write!(line, "  {:>9} reads/s", grouped(rate));
                }
                if layout.median {
                    let _ = write!(line, "  {:>8}", median(latency));
                }
            }
            lines.push(line);
        }
        if let Some((names, watch)) = &mut self.clients {
            lines.push(String::new());
            let fresh = watch.fresh();
            let width = names[0].len().max(names[1].len());
            for (at, name) in names.iter().enumerate() {
                let latency = fresh.as_ref().map(|(seen, _)| p99(&seen[at].latency));
                let latency = latency.unwrap_or_default();
                lines.push(format!("  {name:<width$}  p99 {latency:>8}"));
            }
        }
        lines
    }

    /// A node's share of the whole, and how it fares.
    fn bar(&self, state: State, (part, all): (usize, usize), width: usize) -> String {
        let (colour, word) = match state {
            State::Well => ("32", "well"),
            State::Slow => ("33", "slow"),
            State::Dead => ("31", "dead"),
        };
        let full = (part * 2 * width / all.max(1)).min(width);
        let bar = self.paint(colour, &"#".repeat(full));
        let word = self.paint(colour, word);
        let share = percent(part, all.max(1));
        format!("{word}  {bar}{:<1$}  {share:>6}", "", width - full)
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.colours {
            format!("\x1b[{colour}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests;
