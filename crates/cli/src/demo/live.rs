//! The demo while it happens: a few lines at a terminal that are drawn over and over.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use super::load::{Load, Meters, Snapshot, between};
use crate::answer::Failure;
use crate::words::{grouped, median, percent};

const TICK: Duration = Duration::from_millis(100);

/// How wide the bar is that shares of one half and more fill, if the terminal is wide enough.
const BAR: usize = 40;

/// A bar narrower than this tells nothing.
const MIN_BAR: usize = 10;

/// The lines of a frame above the nodes.
const HEADING: usize = 2;

/// What is assumed of a terminal that does not know how large it is.
const USUAL_SIZE: (usize, usize) = (80, 24);

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
    meters: Option<Arc<Meters>>,
    /// The state that the rates of the next frame are taken from.
    last: Option<(Instant, Snapshot)>,
    /// How many lines of the last frame are on the screen.
    drawn: usize,
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
            meters: None,
            last: None,
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
        self.meters = Some(Arc::clone(load.meters()));
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
        let layout = Layout::new((self.size)(), self.nodes.len(), name.unwrap_or(0));
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
        let now = Instant::now();
        let seen = self.meters.as_ref().map(|meters| meters.snapshot());
        let last = self.last.take().filter(|(_, last)| !last.is_empty());
        let fresh = match (&seen, &last) {
            (Some(seen), Some((at, last))) => Some((between(last, seen), now - *at)),
            _ => None,
        };
        self.last = seen.map(|seen| (now, seen));
        let all: usize = self.nodes.iter().map(|node| node.keys).sum();
        let title = self.paint("1", &self.title);
        let mut lines = vec![format!("steersman demo: {title}"), String::new()];
        for (at, node) in self.nodes.iter().enumerate() {
            let mut line = format!("  {:<1$}  ", node.name, layout.name);
            line.push_str(&self.bar(node, all, layout.bar));
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
        lines
    }

    /// The node's share of all keys, and how it fares.
    fn bar(&self, node: &Node, all: usize, width: usize) -> String {
        let (colour, word) = match node.state {
            State::Well => ("32", "well"),
            State::Slow => ("33", "slow"),
            State::Dead => ("31", "dead"),
        };
        let full = (node.keys * 2 * width / all.max(1)).min(width);
        let bar = self.paint(colour, &"#".repeat(full));
        let word = self.paint(colour, word);
        let share = percent(node.keys, all.max(1));
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

/// What of a frame fits into the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    /// The widths of the names and of the bars.
    name: usize,
    bar: usize,
    /// Whether there is room for the reads a second, and for how long they take.
    rate: bool,
    median: bool,
}

impl Layout {
    /// The widest bar and the most columns for this many nodes; `None` if nothing useful fits.
    fn new((width, height): (usize, usize), nodes: usize, name: usize) -> Option<Self> {
        // The cursor has a line of its own below the frame.
        if height <= nodes + HEADING {
            return None;
        }
        // What stands around the bar: margin, name, state and share, with their spaces.
        let fixed = 2 + name + 2 + 4 + 2 + 2 + 6;
        let columns = [(true, true, 19 + 10), (false, true, 10), (false, false, 0)];
        columns.into_iter().find_map(|(rate, median, columns)| {
            let bar = width.saturating_sub(fixed + columns).min(BAR);
            (bar >= MIN_BAR).then_some(Self {
                name,
                bar,
                rate,
                median,
            })
        })
    }
}

fn terminal_size() -> (usize, usize) {
    terminal_size::terminal_size().map_or(USUAL_SIZE, |(width, height)| {
        (width.0.into(), height.0.into())
    })
}

#[cfg(test)]
mod tests;
