//! Everything that a run found out.

use serde::{Deserialize, Serialize};
use steersman_bench_contract::Operation;

use crate::campaign::{Instructions, Measured, Single, Unavailable};
use crate::machine::Machine;
use crate::plan::{Mode, Part, VALUE};
use crate::subject::{Kind, SUBJECTS, Subject, named};

/// Written as JSON, and read from it to render the same results again.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) mode: Mode,
    pub(crate) machine: Machine,
    /// Peers that could not be measured, with the reasons.
    pub(crate) unavailable: Unavailable,
    /// Operations that tasks issue one after the other.
    pub(crate) measured: Vec<Measured>,
    /// What only Steersman is measured for.
    pub(crate) single: Single,
    /// Of a read.
    pub(crate) instructions: Vec<Instructions>,
}

/// Which numbers are meant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) part: Part,
    pub(crate) workers: Option<usize>,
    pub(crate) connections: usize,
    pub(crate) tasks: usize,
    pub(crate) value_size: usize,
}

impl Cell {
    pub(crate) fn new(part: Part, (connections, tasks): (usize, usize)) -> Self {
        Self {
            part,
            workers: None,
            connections,
            tasks,
            value_size: VALUE,
        }
    }

    pub(crate) fn workers(self, workers: Option<usize>) -> Self {
        Self { workers, ..self }
    }

    pub(crate) fn value_size(self, value_size: usize) -> Self {
        Self { value_size, ..self }
    }
}

impl Results {
    /// What was measured of a subject there.
    pub(crate) fn find(&self, subject: &str, cell: Cell) -> Option<&Measured> {
        self.measured.iter().find(|measured| {
            let case = &measured.case;
            case.subject == subject
                && case.part == cell.part
                && case.workers == cell.workers
                && case.connections == cell.connections
                && case.tasks == cell.tasks
                && case.value_size == cell.value_size
        })
    }

    /// Operations a second, or not a number.
    pub(crate) fn rate(&self, subject: &str, cell: Cell) -> f64 {
        self.find(subject, cell).map_or(f64::NAN, Measured::rate)
    }

    /// The fastest peer on Tokio there.
    pub(crate) fn best_rust(&self, cell: Cell) -> Option<(&'static Subject, f64)> {
        SUBJECTS
            .iter()
            .filter(|subject| subject.kind == Kind::Rust)
            .map(|subject| (subject, self.rate(subject.id, cell)))
            .filter(|(_, rate)| rate.is_finite())
            .max_by(|left, right| left.1.total_cmp(&right.1))
    }

    /// Subjects whose operations failed while they were counted, with how many did.
    pub(crate) fn errors(&self) -> Vec<(&Measured, &'static Subject)> {
        self.measured
            .iter()
            .filter(|measured| measured.errors() > 0)
            .filter_map(|measured| Some((measured, named(&measured.case.subject)?)))
            .collect()
    }
}

/// The raw limit that operations are compared with.
pub(crate) fn limit(operation: Operation) -> &'static str {
    match operation {
        Operation::Get => "raw-lines",
        Operation::Set => "raw-pipelined",
    }
}
