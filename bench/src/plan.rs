//! What is measured: the cases of a quick and of a full run.

use serde::{Deserialize, Serialize};
use steersman_bench_contract::Operation;

use crate::subject::{Kind, SUBJECTS, Subject};

/// How thorough a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// A few minutes: every comparison, few repetitions.
    Quick,
    /// Everything, with medians that hold.
    Full,
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}

/// Cases that are compared with one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Part {
    Reads,
    Writes,
    /// Reads over TLS and without.
    Encrypted,
    /// One caller alone.
    Alone,
    /// Reads over 1 to 128 connections.
    Connections,
    /// Values of 1 B to 1 MiB.
    Sizes,
}

/// One program with one set of arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) part: Part,
    pub(crate) subject: String,
    /// Of a Tokio runtime; none is its default.
    pub(crate) workers: Option<usize>,
    pub(crate) connections: usize,
    pub(crate) tasks: usize,
    pub(crate) operation: Operation,
    pub(crate) value_size: usize,
}

/// How often and how long the cases of a part are run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    pub(crate) seconds: f64,
}

/// Bytes of a value, where nothing else is said.
pub(crate) const VALUE: usize = 100;

/// Connections and tasks at which reads are compared.
pub(crate) const SHAPES: [(usize, usize); 3] = [(2, 64), (2, 512), (32, 256)];

/// Numbers of connections for which emcache documents its throughput.
pub(crate) const CONNECTIONS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Numbers of tasks that read over those.
pub(crate) const CONNECTION_TASKS: [usize; 2] = [256, 64];

/// Sizes of values.
pub(crate) const SIZES: [usize; 6] = [1, 100, 1024, 10 * 1024, 100 * 1024, 1024 * 1024];

impl Part {
    /// All of them, in the order in which they are measured.
    pub(crate) const ALL: [Self; 6] = [
        Self::Reads,
        Self::Writes,
        Self::Encrypted,
        Self::Alone,
        Self::Connections,
        Self::Sizes,
    ];

    pub(crate) fn effort(self, mode: Mode) -> Effort {
        let (rounds, seconds) = match (self, mode) {
            (Self::Reads | Self::Encrypted, Mode::Full) => (5, 0.6),
            (Self::Writes | Self::Alone, Mode::Full) => (3, 0.6),
            (Self::Connections | Self::Sizes, Mode::Full) => (3, 0.3),
            (Self::Reads | Self::Encrypted, Mode::Quick) => (3, 0.4),
            (Self::Writes | Self::Alone, Mode::Quick) => (2, 0.4),
            (Self::Connections | Self::Sizes, Mode::Quick) => (1, 0.3),
        };
        Effort { rounds, seconds }
    }

    /// The cases of this part; none in a mode that leaves it out.
    pub(crate) fn cases(self, mode: Mode) -> Vec<Case> {
        match self {
            Self::Reads => shaped(self, &SHAPES, Operation::Get, mode),
            Self::Writes => shaped(self, &SHAPES[..2], Operation::Set, mode),
            Self::Encrypted => shaped(self, &SHAPES[..2], Operation::Get, mode),
            Self::Alone => shaped(self, &[(1, 1)], Operation::Get, mode),
            Self::Connections => connections(mode),
            Self::Sizes => sizes(mode),
        }
    }
}

fn case(part: Part, subject: &Subject, shape: (usize, usize), operation: Operation) -> Case {
    Case {
        part,
        subject: subject.id.to_owned(),
        workers: None,
        connections: shape.0,
        tasks: shape.1,
        operation,
        value_size: VALUE,
    }
}

/// All subjects at those numbers of connections and tasks; programs on Tokio on one worker as well.
fn shaped(part: Part, shapes: &[(usize, usize)], operation: Operation, mode: Mode) -> Vec<Case> {
    let mut cases = Vec::new();
    for &shape in shapes {
        for subject in SUBJECTS
            .iter()
            .filter(|subject| takes_part(subject, part, mode))
        {
            if mode == Mode::Quick && subject.kind == Kind::Other && shape == SHAPES[2] {
                continue;
            }
            let default = case(part, subject, shape, operation);
            let one_worker = Case {
                workers: Some(1),
                ..default.clone()
            };
            cases.push(default);
            if part != Part::Alone && runs_on_one_worker(subject, mode) {
                cases.push(one_worker);
            }
        }
    }
    cases
}

fn runs_on_one_worker(subject: &Subject, mode: Mode) -> bool {
    match subject.kind {
        Kind::Steersman | Kind::Encrypted | Kind::Sketch => true,
        Kind::Rust => mode == Mode::Full,
        Kind::Raw | Kind::Other => false,
    }
}

/// Where a subject has nothing of its own to show, or too little for a quick run, it is left out.
fn takes_part(subject: &Subject, part: Part, mode: Mode) -> bool {
    match (part, subject.kind) {
        (Part::Encrypted, kind) => return matches!(kind, Kind::Steersman | Kind::Encrypted),
        (_, Kind::Encrypted) => return false,
        (part, Kind::Sketch) => return part == Part::Reads,
        _ => {}
    }
    let senseless = match part {
        Part::Writes => matches!(subject.id, "raw-lines" | "emcache-batching"),
        Part::Alone => subject.kind == Kind::Raw,
        _ => false,
    };
    let quick = subject.kind != Kind::Other || subject.id == "emcache" || part == Part::Reads;
    !senseless && (quick || mode == Mode::Full)
}

fn connections(mode: Mode) -> Vec<Case> {
    let subjects = SUBJECTS.iter().filter(|subject| {
        matches!(subject.kind, Kind::Steersman | Kind::Rust) || subject.id.starts_with("emcache")
    });
    let tasks = match mode {
        Mode::Quick => &CONNECTION_TASKS[..1],
        Mode::Full => &CONNECTION_TASKS,
    };
    let mut cases = Vec::new();
    for subject in subjects {
        for &tasks in tasks {
            for connections in CONNECTIONS {
                let shape = (connections, tasks);
                cases.push(case(Part::Connections, subject, shape, Operation::Get));
            }
        }
    }
    cases
}

fn sizes(mode: Mode) -> Vec<Case> {
    if mode == Mode::Quick {
        return Vec::new();
    }
    let subjects = SUBJECTS
        .iter()
        .filter(|subject| matches!(subject.id, "steersman" | "raw-lines" | "raw-pipelined"));
    let mut cases = Vec::new();
    for subject in subjects {
        for value_size in SIZES {
            let case = case(Part::Sizes, subject, (2, 64), Operation::Get);
            cases.push(Case { value_size, ..case });
        }
    }
    cases
}
