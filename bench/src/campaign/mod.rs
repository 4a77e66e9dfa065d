//! Carries out a plan: the cases of a part take turns, round after round, each in a process of its
//! own beside the same server.

mod cpu;
mod process;
mod single;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::{Deserialize, Serialize};
use steersman_bench_contract::{Operation, Outcome};

pub(crate) use self::cpu::{Instructions, flame_graph, instructions};
pub(crate) use self::process::Programs;
pub(crate) use self::single::{Single, measure as measure_single};
use crate::plan::{Case, Mode, Part, VALUE};
use crate::server::Server;
use crate::subject::SUBJECTS;

/// A case and what came of it, round by round.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    #[serde(flatten)]
    pub(crate) case: Case,
    pub(crate) samples: Vec<Outcome>,
    /// Why rounds are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) failures: Vec<String>,
}

impl Measured {
    /// Operations a second: the median of the rounds.
    pub(crate) fn rate(&self) -> f64 {
        median(self.samples.iter().map(Outcome::rate).collect())
    }

    pub(crate) fn errors(&self) -> u64 {
        self.samples.iter().map(|sample| sample.errors).sum()
    }
}

/// The median; not a number if there are none.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() {
        0 => f64::NAN,
        length if length % 2 == 0 => f64::midpoint(numbers[middle - 1], numbers[middle]),
        _ => numbers[middle],
    }
}

/// Why a peer is not measured.
pub(crate) type Unavailable = BTreeMap<String, String>;

/// Tries every subject once; those that do not work are not measured, and the reasons are told.
pub(crate) fn unavailable(programs: &Programs) -> io::Result<Unavailable> {
    let server = Server::start_encrypted(VALUE)?;
    let mut missing = Unavailable::new();
    for subject in &SUBJECTS {
        let case = Case {
            part: Part::Reads,
            subject: subject.id.to_owned(),
            workers: None,
            connections: 1,
            tasks: 1,
            operation: Operation::Get,
            value_size: VALUE,
        };
        let reason = process::not_built(subject);
        let reason = reason.or_else(|| programs.run(&case, &server, 0.1).err());
        if let Some(reason) = reason {
            eprintln!("{} is not measured: {reason}", subject.id);
            missing.insert(subject.id.to_owned(), reason);
        }
    }
    Ok(missing)
}

/// Measures the cases of a part. Every round starts with another case, so that none always follows
/// the same one.
pub(crate) fn measure(
    part: Part,
    mode: Mode,
    programs: &Programs,
    missing: &Unavailable,
) -> io::Result<Vec<Measured>> {
    let effort = part.effort(mode);
    let mut all: Vec<_> = part
        .cases(mode)
        .into_iter()
        .filter(|case| !missing.contains_key(&case.subject))
        .map(|case| Measured {
            case,
            samples: Vec::new(),
            failures: Vec::new(),
        })
        .collect();
    let sizes: BTreeSet<_> = all
        .iter()
        .map(|measured| measured.case.value_size)
        .collect();
    for size in sizes {
        let server = match part {
            Part::Encrypted => Server::start_encrypted(size)?,
            _ => Server::start(size)?,
        };
        let mut cases: Vec<_> = all
            .iter_mut()
            .filter(|measured| measured.case.value_size == size)
            .collect();
        for round in 0..effort.rounds {
            eprintln!(
                "{part:?}, values of {size} B: round {} of {}",
                round + 1,
                effort.rounds
            );
            let count = cases.len();
            cases.rotate_left(count / effort.rounds);
            for measured in &mut cases {
                match programs.run(&measured.case, &server, effort.seconds) {
                    Ok(outcome) => measured.samples.push(outcome),
                    Err(reason) => {
                        eprintln!("{reason}");
                        measured.failures.push(reason);
                    }
                }
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]).to_bits(), 2.0_f64.to_bits());
        assert_eq!(
            median(vec![4.0, 1.0, 2.0, 3.0]).to_bits(),
            2.5_f64.to_bits()
        );
        assert!(median(Vec::new()).is_nan());
    }
}
