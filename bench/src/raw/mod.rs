//! What the wire and the server allow: threads that send prepared requests and look at nothing in
//! the replies, but only count their bytes. No client that looks at them can do better.

mod request;
mod stream;

use std::io;
use std::process::ExitCode;
use std::thread;

use steersman_bench_contract::{Order, Outcome, Phase, printed};

use self::request::Kind;
use self::stream::Stream;

/// Carries out the arguments: the kind of requests, then those of the contract.
pub(crate) fn run(args: impl IntoIterator<Item = String>) -> ExitCode {
    let mut args = args.into_iter();
    let outcome = args
        .next()
        .and_then(|name| Kind::named(&name))
        .ok_or_else(|| format!("usage: pipelined|lines|quiet {}", Order::USAGE))
        .and_then(|kind| Ok((kind, Order::from_args(args)?)))
        .and_then(|(kind, order)| measure(kind, &order).map_err(|error| error.to_string()));
    printed(outcome)
}

/// A thread for each connection, with its share of what is outstanding.
fn measure(kind: Kind, order: &Order) -> io::Result<Outcome> {
    let outstanding = (order.tasks / order.connections).max(1);
    let streams: Vec<_> = (0..order.connections)
        .map(|number| request::prepare(kind, order, number, outstanding))
        .map(|requests| Stream::open(&order.server, requests))
        .collect::<Result<_, _>>()?;
    let phase = Phase::default();
    let threads: Vec<_> = streams
        .into_iter()
        .map(|stream| {
            let phase = phase.clone();
            thread::spawn(move || stream.run(outstanding, &phase))
        })
        .collect();
    let mut outcome = Outcome {
        seconds: phase.conduct(order.span),
        ..Outcome::default()
    };
    for thread in threads {
        let counted = thread.join().map_err(|_| io::Error::other("a panic"))?;
        outcome.operations += counted?;
    }
    Ok(outcome)
}
