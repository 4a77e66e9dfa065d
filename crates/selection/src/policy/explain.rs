//! Explanations: what a plan would yield, and why.

use std::fmt;

use super::{Candidate, NodeReport, Plan, Turn};
use crate::Timestamp;

/// What a plan would yield, and why; see [`Plan::explain`].
///
/// Displays as one line for each node, in the order of the plan.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The nodes in the order of the plan.
    pub nodes: Vec<Explained>,
}

/// One node of an [`Explanation`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explained {
    /// The node, its tier and its standing.
    pub candidate: Candidate,
    /// What is known of the node, if a policy of the chain keeps records.
    pub report: Option<NodeReport>,
}

pub(super) fn explain<P: Plan>(mut plan: P, now: Timestamp) -> Explanation {
    let mut nodes = Vec::new();
    while let Some(candidate) = plan.advance(now, Turn::Rehearsal) {
        nodes.push(Explained {
            candidate,
            report: plan.report(candidate.node, now),
        });
    }
    Explanation { nodes }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nodes.is_empty() {
            return f.write_str("no node: the policy permits none of those there are");
        }
        for (place, node) in self.nodes.iter().enumerate() {
            if place > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{}. {node}", place + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Candidate {
            node,
            tier,
            standing,
        } = self.candidate;
        write!(f, "node {}: {tier}, {standing}", node.get())?;
        match &self.report {
            Some(report) => write!(f, "; {report}"),
            None => Ok(()),
        }
    }
}
