//! What concerns several nodes: whether they are different servers, of one version, and whether keys are
//! shared out as memory is.

use steersman_selection::NodeIndex;

use super::super::examination::Examination;
use super::super::finding::{Finding, Severity};
use super::super::marker::Mark;
use crate::answer::Failure;
use crate::context::Context;
use crate::errors::reason;

/// How many keys stand for all.
const SAMPLE: u64 = 20_000;

/// A node that owns so many times more keys than it has memory, as parts of the whole, is too small.
const TOO_MANY: f64 = 1.5;

pub(super) fn check_marks(nodes: &[Examination], marks: &[Mark], findings: &mut Vec<Finding>) {
    for (at, (node, mark)) in nodes.iter().zip(marks).enumerate() {
        match mark {
            Mark::None => {}
            Mark::Of(other) if *other == at => {}
            Mark::Of(other) => {
                let other = nodes.get(*other).map_or("another node", |node| &node.name);
                findings.push(Finding::new(
                    Severity::Warning,
                    &node.name,
                    format!(
                        "what is stored at {other} is found here: they are one server under two names, \
                         or something on the way leads both to one"
                    ),
                    "name each server once: it owns twice its share of the keys, and a replica there is none",
                ));
            }
            Mark::Lost => findings.push(Finding::new(
                Severity::Warning,
                &node.name,
                "what was stored there was gone at once",
                "see whether it is full, or flushed all the time",
            )),
            Mark::Failed(error) => findings.push(Finding::new(
                Severity::Warning,
                &node.name,
                format!(
                    "a value could not be stored there and read again: {}",
                    reason(error)
                ),
                "see its memory and its log",
            )),
        }
    }
    for (at, node) in nodes.iter().enumerate() {
        let before = &nodes[..at];
        if let Some(other) = before.iter().find(|other| other.endpoint == node.endpoint) {
            findings.push(Finding::new(
                Severity::Warning,
                &node.name,
                format!("it has the address of {}: {}", other.name, node.endpoint),
                "name each server once",
            ));
        }
    }
}

pub(super) fn check_versions(nodes: &[Examination], findings: &mut Vec<Finding>) {
    let version = |node: &Examination| {
        let answered = node.answer.as_ref().ok()?;
        Some(answered.version.clone())
    };
    let Some(first) = nodes.iter().find_map(version) else {
        return;
    };
    let others = nodes
        .iter()
        .filter(|node| version(node).is_some_and(|version| version != first));
    findings.extend(others.map(|node| {
        let version = version(node).unwrap_or_default();
        Finding::new(
            Severity::Note,
            &node.name,
            format!("it is {version}, others are {first}"),
            "what only some nodes can do fails for some keys only: bring all to one version",
        )
    }));
}

/// Compares the share of the keys with the share of the memory, if all nodes tell theirs.
#[expect(clippy::cast_precision_loss, reason = "shares are compared roughly")]
pub(super) fn check_shares(
    nodes: &[Examination],
    context: &Context,
    findings: &mut Vec<Finding>,
) -> Result<(), Failure> {
    let memory = nodes.iter().map(|node| {
        let answered = node.answer.as_ref().ok()?;
        answered
            .stats
            .number("limit_maxbytes")
            .filter(|&bytes| bytes > 0)
    });
    let Some(memory) = memory.collect::<Option<Vec<u64>>>() else {
        return Ok(());
    };
    let placement = context.placement(&context.nodes, context.source)?;
    let mut copies = vec![0_u64; nodes.len()];
    let mut best = vec![NodeIndex::default(); context.replicas.min(nodes.len())];
    for number in 0..SAMPLE {
        let held = placement.replicas(format!("key:{number}").as_bytes(), &mut best);
        for index in &best[..held] {
            copies[index.get()] += 1;
        }
    }
    let all_memory = memory.iter().map(|&bytes| bytes as f64).sum::<f64>();
    let all_copies = copies.iter().sum::<u64>() as f64;
    for ((node, &memory), &copies) in nodes.iter().zip(&memory).zip(&copies) {
        let of_memory = memory as f64 / all_memory;
        let of_keys = copies as f64 / all_copies;
        if of_keys > of_memory * TOO_MANY {
            findings.push(Finding::new(
                Severity::Warning,
                &node.name,
                format!(
                    "it has {:.1}% of the memory and owns {:.1}% of the keys",
                    of_memory * 100.0,
                    of_keys * 100.0
                ),
                "weigh nodes by their memory, as in --node NAME=ADDR*WEIGHT, the same at every client",
            ));
        }
    }
    Ok(())
}
