//! What the keys have chosen: the order of the nodes, and the node that is looked at.

use std::cmp::Ordering;

use super::frame::{Frame, Seen};
use super::report::HEADING;

/// A key that means something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Quit,
    Up,
    Down,
    /// By the next column.
    Sort,
    Reverse,
}

/// How a frame is shown.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) colours: bool,
    /// The column that nodes are sorted by; without one they stand as they were given.
    pub(super) sort: Option<usize>,
    pub(super) is_reversed: bool,
    /// The name of the node that is looked at, which it stays wherever it moves.
    pub(super) chosen: Option<String>,
}

impl View {
    pub(super) fn new(colours: bool) -> Self {
        Self {
            colours,
            sort: None,
            is_reversed: false,
            chosen: None,
        }
    }

    pub(super) fn press(&mut self, key: Key, frame: &Frame) {
        match key {
            Key::Quit => {}
            Key::Up => self.choose(frame, |at| at.saturating_sub(1)),
            Key::Down => self.choose(frame, |at| at + 1),
            Key::Sort => {
                let next = self.sort.map_or(0, |column| column + 1);
                self.sort = (next < HEADING.len()).then_some(next);
            }
            Key::Reverse => self.is_reversed = !self.is_reversed,
        }
    }

    fn choose(&mut self, frame: &Frame, next: impl Fn(usize) -> usize) {
        let nodes = self.ordered(frame);
        let at = self.chosen_in(&nodes).map_or(0, next);
        let node = nodes.get(at.min(nodes.len().saturating_sub(1)));
        self.chosen = node.map(|node| node.name.clone());
    }

    /// Where the chosen node stands.
    pub(super) fn chosen_in(&self, nodes: &[&Seen]) -> Option<usize> {
        let chosen = self.chosen.as_ref()?;
        nodes.iter().position(|node| node.name == *chosen)
    }

    /// The nodes in the chosen order; those that are equal in it stand as they were given.
    pub(super) fn ordered<'a>(&self, frame: &'a Frame) -> Vec<&'a Seen> {
        let mut nodes: Vec<&Seen> = frame.nodes.iter().collect();
        if let Some(column) = self.sort {
            nodes.sort_by(|one, other| compare(column, one, other));
        }
        if self.is_reversed {
            nodes.reverse();
        }
        nodes
    }
}

/// Names from A to Z; else what asks for attention comes first: the unhealthy, the large.
fn compare(column: usize, one: &Seen, other: &Seen) -> Ordering {
    match column {
        0 => one.name.cmp(&other.name),
        1 => one.is_healthy().cmp(&other.is_healthy()),
        2 => {
            let rate = |node: &Seen| node.ops_per_second.unwrap_or(-1.0);
            rate(other).total_cmp(&rate(one))
        }
        3 => other.p50.cmp(&one.p50),
        4 => other.p99.cmp(&one.p99),
        5 => other.score.cmp(&one.score),
        6 => other.penalised.cmp(&one.penalised),
        7 => other.connections.cmp(&one.connections),
        _ => other.in_flight.cmp(&one.in_flight),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn frame() -> Frame {
        let node = |name: &str, rate, ms: Option<u64>, in_flight| Seen {
            name: name.to_owned(),
            ops_per_second: rate,
            p99: ms.map(Duration::from_millis),
            in_flight,
            ..Seen::default()
        };
        Frame {
            nodes: vec![
                node("b", Some(10.0), Some(3), 0),
                node("a", Some(20.0), None, 2),
                node("c", None, Some(5), 1),
            ],
        }
    }

    fn names(view: &View) -> String {
        let frame = frame();
        let nodes = view.ordered(&frame);
        nodes.iter().map(|node| node.name.as_str()).collect()
    }

    #[test]
    fn each_column_has_its_order_and_the_last_is_followed_by_none() {
        let mut view = View::new(false);
        assert_eq!(names(&view), "bac");
        let mut seen = Vec::new();
        for _ in HEADING {
            view.press(Key::Sort, &frame());
            seen.push(names(&view));
        }
        assert_eq!(seen[0], "abc");
        assert_eq!(seen[2], "abc");
        assert_eq!(seen[4], "cba");
        assert_eq!(seen[8], "acb");
        assert_eq!((&*seen[1], &*seen[6]), ("bac", "bac"));
        view.press(Key::Sort, &frame());
        assert_eq!((view.sort, &*names(&view)), (None, "bac"));
        view.press(Key::Reverse, &frame());
        assert_eq!(names(&view), "cab");
    }

    #[test]
    fn the_chosen_node_stays_chosen_wherever_it_moves() {
        let mut view = View::new(false);
        let chosen = |view: &View| view.chosen.clone().unwrap();
        view.press(Key::Up, &frame());
        assert_eq!(chosen(&view), "b");
        view.press(Key::Down, &frame());
        assert_eq!(chosen(&view), "a");
        view.press(Key::Sort, &frame());
        assert_eq!(view.chosen_in(&view.ordered(&frame())), Some(0));
        for _ in 0..5 {
            view.press(Key::Down, &frame());
        }
        assert_eq!(chosen(&view), "c");
        view.press(Key::Down, &Frame::default());
        assert_eq!(view.chosen, None);
    }
}
