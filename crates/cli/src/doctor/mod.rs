//! `doctor`: what is wrong with the nodes, and what to do about it.
//!
//! Each node is examined by itself (`examination`), then a marker is left at all of them to see which
//! are one server (`marker`). The `checks` turn that into `Finding`s, which `report` shows below what
//! was seen.

mod checks;
mod examination;
mod finding;
mod marker;
mod report;
mod stats;

use std::io::Write;

use futures_util::future::join_all;
use steersman_memcached::{Client, Error};

use self::examination::Examination;
use self::finding::Severity;
use crate::answer::{Answer, Failure};
use crate::context::Context;

pub(crate) async fn run(context: &Context, out: &mut dyn Write) -> Result<Answer, Failure> {
    // A mistake in the options is told before anything is asked.
    context.placement(&context.nodes, context.source)?;
    let clients = context.nodes.iter().map(|node| context.client_of(node));
    let clients: Vec<Client> = clients.collect::<Result<_, _>>()?;
    let examined = context.nodes.iter().zip(&clients);
    let examined = examined.map(|(node, client)| examination::examine(node, client, context));
    let examined: Vec<Examination> = join_all(examined).await;
    let usable = examined.iter().zip(&clients);
    let usable = usable.map(|(node, client)| node.answer.is_ok().then_some(client));
    let marks = marker::leave(&usable.collect::<Vec<_>>()).await;
    let findings = checks::all(&examined, &marks, context)?;
    report::write(&examined, &findings, context, out)?;
    let errors: Vec<&Error> = examined
        .iter()
        .filter_map(|node| node.answer.as_ref().err())
        .collect();
    if !errors.is_empty() {
        return Err(context.failure_of_nodes(errors));
    }
    let worst = findings.iter().map(|finding| finding.severity).max();
    Ok(Answer::of(
        worst.is_none_or(|worst| worst == Severity::Note),
    ))
}
