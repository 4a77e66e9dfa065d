//! From what was seen to what it means.

mod cluster;
mod network;
mod server;

use super::examination::Examination;
use super::finding::{self, Finding};
use super::marker::Mark;
use crate::answer::Failure;
use crate::context::Context;

pub(super) use self::server::{lacks, share};

/// Everything that there is to say about the nodes.
pub(super) fn all(
    nodes: &[Examination],
    marks: &[Mark],
    context: &Context,
) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for node in nodes {
        network::check(node, context, &mut findings);
        if let Ok(answered) = &node.answer {
            server::check(&node.name, answered, context.given(), &mut findings);
        }
    }
    cluster::check_marks(nodes, marks, &mut findings);
    cluster::check_versions(nodes, &mut findings);
    cluster::check_shares(nodes, context, &mut findings)?;
    Ok(finding::sorted(findings))
}
