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

/// How wide the bar of a node that owns everything would be; shares of one half and more fill it.
const BAR: usize = 40;

/// The most nodes that are drawn: a frame higher than the terminal could not be drawn over.
const MAX_NODES: usize = 20;

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
        let can =
            io::stdout().is_terminal() && variable("TERM") != "dumb" && names.len() <= MAX_NODES;
        let node = |name: &String| Node {
            name: name.clone(),
            state: State::Well,
            keys: 0,
        };
        Self {
            out,
            is_live: may && can,
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
        let frame = self.frame();
        if self.drawn > 0 {
            write!(self.out, "\x1b[{}A", self.drawn)?;
        }
        // Lines that do not fit are cut, not wrapped: the next frame starts where this one did.
        self.out.write_all(b"\x1b[?7l")?;
        for line in &frame {
            writeln!(self.out, "{line}\x1b[K")?;
        }
        self.out.write_all(b"\x1b[?7h")?;
        self.drawn = frame.len();
        Ok(self.out.flush()?)
    }

    fn frame(&mut self) -> Vec<String> {
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
        let width = self.nodes.iter().map(|node| node.name.len()).max();
        for (at, node) in self.nodes.iter().enumerate() {
            let mut line = format!("  {:<1$}  ", node.name, width.unwrap_or(0));
            line.push_str(&self.bar(node, all));
            if node.state == State::Dead {
                line.push_str("  its keys live on the others");
            } else if let Some((seen, took)) = &fresh {
                let latency = &seen[at].latency;
                let rate = u128::from(latency.total()) * 1000 / took.as_millis().max(1);
                let median = median(latency);
                let _ = write!(line, "  {:>9} reads/s  {median:>8}", grouped(rate));
            }
            lines.push(line);
        }
        lines
    }

    /// The node's share of all keys, and how it fares.
    fn bar(&self, node: &Node, all: usize) -> String {
        let (colour, word) = match node.state {
            State::Well => ("32", "well"),
            State::Slow => ("33", "slow"),
            State::Dead => ("31", "dead"),
        };
        let full = (node.keys * 2 * BAR / all.max(1)).min(BAR);
        let bar = self.paint(colour, &"#".repeat(full));
        let word = self.paint(colour, word);
        let share = percent(node.keys, all.max(1));
        format!("{word}  {bar}{:<1$}  {share:>6}", "", BAR - full)
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
mod tests {
    use super::*;

    fn screen(out: &mut Vec<u8>, is_live: bool, colours: bool) -> Screen<'_> {
        let names = ["node-1", "node-10"].map(str::to_owned);
        let mut screen = Screen::new(out, false, &names);
        screen.is_live = is_live;
        screen.colours = colours;
        screen.title("under load".to_owned());
        screen.owners(&[0, 1, 0, 0]);
        screen
    }

    #[test]
    fn a_frame_shows_shares_and_states() {
        let mut out = Vec::new();
        let mut screen = screen(&mut out, true, false);
        screen.state(1, State::Dead);
        let half = "#".repeat(20);
        assert_eq!(
            screen.frame(),
            [
                "steersman demo: under load".to_owned(),
                String::new(),
                format!("  node-1   well  {half}{half}   75.0%"),
                format!(
                    "  node-10  dead  {half}{:20}   25.0%  its keys live on the others",
                    ""
                ),
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn frames_are_drawn_over_each_other_and_leave_nothing() {
        let mut out = Vec::new();
        let mut screen = screen(&mut out, true, true);
        let work = tokio::time::sleep(TICK * 5 / 2);
        screen.during(work).await.unwrap();
        screen.clear().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("under load").count(), 3);
        assert_eq!(text.matches("\x1b[4A").count(), 3);
        assert!(text.contains("\x1b[32mwell\x1b[0m"), "{text:?}");
        assert!(text.ends_with("\x1b[4A\x1b[J"), "{text:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_terminal_nothing_is_drawn() {
        let mut out = Vec::new();
        let mut screen = screen(&mut out, false, true);
        screen.during(tokio::time::sleep(TICK * 5)).await.unwrap();
        screen.clear().unwrap();
        assert_eq!(out, b"");
    }
}
