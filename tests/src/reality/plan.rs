//! What goes wrong when: scenarios S6 and S7 of the simulator, short enough to wait for.

use std::fmt::Write;
use std::time::Duration;

/// A scenario, for real nodes and for simulated ones.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Its name.
    pub name: &'static str,
    pub(super) duration: Duration,
    /// Reads that were due before are not counted.
    pub(super) counted_from: Duration,
    strikes: Vec<Strike>,
}

/// A fault of one node for a time.
#[derive(Debug, Clone, Copy)]
struct Strike {
    node: usize,
    wrong: Wrong,
    from: Duration,
    until: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It takes three times as long.
    Slow,
    /// It does nothing.
    Still,
}

/// The beginning or the end of a fault.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub(super) at: Duration,
    pub(super) node: usize,
    pub(super) wrong: Wrong,
    pub(super) begins: bool,
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl Plan {
    /// All of them.
    pub fn all() -> [Self; 3] {
        [Self::steady(), Self::toggling(), Self::stalls()]
    }

    /// S6: one node is slow for long; what counts is after two seconds of it.
    fn steady() -> Self {
        let slow = Strike {
            node: 0,
            wrong: Wrong::Slow,
            from: millis(1_500),
            until: millis(7_000),
        };
        Self {
            name: "s6/steady",
            duration: millis(7_000),
            counted_from: millis(3_500),
            strikes: vec![slow],
        }
    }

    /// S6: one node is slow for two seconds, and well for two.
    fn toggling() -> Self {
        let slow = |from| Strike {
            node: 0,
            wrong: Wrong::Slow,
            from: millis(from),
            until: millis(from + 2_000),
        };
        Self {
            name: "s6/toggling",
            duration: millis(7_500),
            counted_from: millis(500),
            strikes: vec![slow(1_500), slow(5_500)],
        }
    }

    /// S7: one node after the other stands still for 300 ms.
    fn stalls() -> Self {
        let still = |number: usize, from| Strike {
            node: number % 3,
            wrong: Wrong::Still,
            from: millis(from),
            until: millis(from + 300),
        };
        let begin = [1_500, 3_000, 4_500, 6_000];
        Self {
            name: "s7",
            duration: millis(7_500),
            counted_from: millis(500),
            strikes: begin
                .into_iter()
                .enumerate()
                .map(|(number, from)| still(number, from))
                .collect(),
        }
    }

    /// Nothing goes wrong.
    pub(super) fn calm(duration: Duration) -> Self {
        Self {
            name: "calibration",
            duration,
            counted_from: millis(500),
            strikes: Vec::new(),
        }
    }

    /// One node is slow all the time.
    pub(super) fn slow_throughout(duration: Duration) -> Self {
        let slow = Strike {
            node: 0,
            wrong: Wrong::Slow,
            from: Duration::ZERO,
            until: duration,
        };
        Self {
            strikes: vec![slow],
            ..Self::calm(duration)
        }
    }

    /// What changes, in order of time. In the end all nodes are well.
    pub(super) fn changes(&self) -> Vec<Change> {
        let ends = self.strikes.iter().flat_map(|strike| {
            [(strike.from, true), (strike.until, false)].map(|(at, begins)| Change {
                at,
                node: strike.node,
                wrong: strike.wrong,
                begins,
            })
        });
        let mut changes: Vec<_> = ends.collect();
        changes.sort_by_key(|change| change.at);
        changes
    }

    /// The faults as a scenario of the simulator has them; `slow` is the service time of a slow node.
    pub(super) fn faults(&self, slow: &str) -> String {
        let mut faults = String::new();
        for strike in &self.strikes {
            let effect = match strike.wrong {
                Wrong::Slow => format!("{{ service = {slow} }}"),
                Wrong::Still => "\"stalled\"".to_owned(),
            };
            let (node, from, until) = (
                strike.node,
                strike.from.as_millis(),
                strike.until.as_millis(),
            );
            let _ = writeln!(
                faults,
                "[[faults]]\nservers = [{node}]\nfrom = \"{from}ms\"\nuntil = \"{until}ms\"\neffect = {effect}"
            );
        }
        faults
    }
}
