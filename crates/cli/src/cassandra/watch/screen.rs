//! The live view: frames drawn one over the other, with the last changes below.

use std::collections::VecDeque;
use std::io::{self, Write};

use steersman_selection::Condition;

use super::observer::{Frame, Node};
use super::report;

/// How many of the last changes are shown.
const CHANGES: usize = 8;

/// How high a terminal is that does not know it.
const USUAL_HEIGHT: usize = 24;

pub(super) struct Screen {
    colours: bool,
    /// The terminal's height, which may change while it is drawn on.
    height: fn() -> usize,
    changes: VecDeque<String>,
    /// How many lines of the last frame are on the screen.
    drawn: usize,
}

impl Screen {
    pub(super) fn new(colours: bool) -> Self {
        Self {
            colours,
            height: terminal_height,
            changes: VecDeque::new(),
            drawn: 0,
        }
    }

    pub(super) fn draw(&mut self, frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = self.lines(frame)?;
        // The cursor has a line of its own below the frame.
        lines.truncate((self.height)().saturating_sub(1));
        if self.drawn > 0 {
            write!(out, "\x1b[{}A", self.drawn)?;
        }
        // Lines that do not fit are cut, not wrapped: the next frame starts where this one did.
        out.write_all(b"\x1b[?7l\x1b[J")?;
        for line in &lines {
            writeln!(out, "{line}")?;
        }
        out.write_all(b"\x1b[?7h")?;
        self.drawn = lines.len();
        Ok(())
    }

    fn lines(&mut self, frame: &Frame) -> io::Result<Vec<String>> {
        let title = self.paint("1", &report::title(frame));
        let mut table = Vec::new();
        report::table(frame).write(&mut table)?;
        let table = String::from_utf8_lossy(&table);
        let mut rows = table.lines();
        let mut lines = vec![
            format!("steersman cassandra watch: {title}"),
            String::new(),
            rows.next().unwrap_or_default().to_owned(),
        ];
        let nodes = frame.nodes.iter().zip(rows);
        lines.extend(nodes.map(|(node, row)| self.row(node, row)));
        for change in &frame.changes {
            if self.changes.len() == CHANGES {
                self.changes.pop_front();
            }
            self.changes.push_back(report::sentence(change));
        }
        if !self.changes.is_empty() {
            lines.push(String::new());
            lines.extend(self.changes.iter().cloned());
        }
        Ok(lines)
    }

    /// A node's row, in a colour if the node is not as it should be.
    fn row(&self, node: &Node, row: &str) -> String {
        let condition = node.report.map(|report| report.condition);
        match condition {
            _ if !node.is_connected => self.paint("31", row),
            Some(Condition::Penalised) => self.paint("31", row),
            Some(Condition::Probed(_) | Condition::Recovering | Condition::Joining) => {
                self.paint("33", row)
            }
            _ => row.to_owned(),
        }
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.colours {
            format!("\x1b[{colour}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

fn terminal_height() -> usize {
    let size = terminal_size::terminal_size();
    size.map_or(USUAL_HEIGHT, |(_, height)| height.0.into())
}

#[cfg(test)]
mod tests;
