//! `bench`: how many operations a second the nodes and the client do, and how long each takes.
//!
//! The order of things is here: a `dataset` is written, the `load` runs on it, at its own speed or by a
//! `schedule`, the `report` is printed, the dataset is deleted. Where no node was given, one is
//! `embedded`.

mod dataset;
mod embedded;
mod interrupts;
mod load;
mod report;
mod schedule;
mod tally;

use std::io::Write;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use steersman_memcached::Client;

use self::dataset::{Dataset, Failed, KEPT};
use self::embedded::Embedded;
use self::interrupts::Interrupts;
use self::load::{Load, Outcome};
use crate::answer::{Answer, Failure};
use crate::args::bench as args;
use crate::args::bench::Switch;
use crate::context::Context;
use crate::source::Source;
use crate::status_line::StatusLine;
use crate::words::grouped;

/// How long to wait for connections where requests may take for ever.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often the progress is shown.
const TICK: Duration = Duration::from_millis(500);

pub(crate) async fn run(
    args: &args::Bench,
    mut context: Context,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    let _embedded = match context.source {
        Source::Default => Some(embed(args, &mut context).await?),
        _ => None,
    };
    let connections = usize::from(args.connections);
    let client = context.client_with(|builder| {
        builder
            .min_connections(connections)
            .max_connections(connections)
            .autobatching(args.batching == Switch::On)
    })?;
    let patience = context.settings.timeout.unwrap_or(PATIENCE);
    let ready = client.ready(patience).await;
    ready.map_err(|error| context.failure_of_nodes([&error]))?;

    let bench = Bench {
        args,
        context: &context,
        client,
        dataset: Arc::new(Dataset::new(args.keys, args.value_size, duration(args))),
        line: StatusLine::new(),
    };
    let mut interrupts = Interrupts::take();
    let measured = bench.measure(&mut interrupts, out).await;
    let deleted = bench.delete(&mut interrupts).await;
    bench.line.clear();
    match (measured, deleted) {
        (Ok(()), Ok(())) => Ok(Answer::Yes),
        (Err(Failure::Told(mut messages)), Err(undeleted)) => {
            messages.push(undeleted);
            Err(Failure::Told(messages))
        }
        (Err(failure), _) => Err(failure),
        (Ok(()), Err(undeleted)) => Err(Failure::told(undeleted)),
    }
}

/// Starts a node with room for all the keys, within reason.
async fn embed(args: &args::Bench, context: &mut Context) -> Result<Embedded, Failure> {
    /// What a node has at least, and at most.
    const MEMORY: (usize, usize) = (64 << 20, 1 << 30);
    /// More than a key and what a node keeps about it.
    const ITEM: usize = 256;
    let item = args.value_size as usize + ITEM;
    let needed = item.saturating_mul(args.keys as usize);
    let embedded = Embedded::start(needed.clamp(MEMORY.0, MEMORY.1)).await?;
    context.embed(embedded.node())?;
    Ok(embedded)
}

fn duration(args: &args::Bench) -> Duration {
    Duration::from_secs(args.seconds.into())
}

/// So many in that time, to the nearest.
fn per_second(count: u64, took: Duration) -> u64 {
    let nanos = took.as_nanos().max(1);
    let rate = (u128::from(count) * 1_000_000_000 + nanos / 2) / nanos;
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// A run of the command.
struct Bench<'a> {
    args: &'a args::Bench,
    context: &'a Context,
    client: Client,
    dataset: Arc<Dataset>,
    line: StatusLine,
}

impl Bench<'_> {
    /// Writes the keys, runs the load and prints what came of it.
    async fn measure(
        &self,
        interrupts: &mut Interrupts,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let keys = grouped(self.args.keys);
        self.line.show(&format!("writing {keys} keys"));
        match interrupts.unless(self.dataset.fill(&self.client)).await {
            Some(Ok(())) => {}
            Some(Err(failed)) => {
                let reason = self.described(&failed);
                return Err(Failure::told(format!("cannot write the keys: {reason}")));
            }
            None => return Err(Failure::told("interrupted before the load began")),
        }
        let Self { args, dataset, .. } = self;
        let mut load = Load::start(&self.client, dataset, args.ratio, args.tasks, args.rate);
        // An interrupt ends the load early.
        let _ = interrupts.unless(self.watch(&load)).await;
        load.stop();
        self.line.show("waiting for the last answers");
        // The next one the waiting.
        let _ = interrupts.unless(load.finished()).await;
        self.line.clear();
        let outcome = load.outcome();
        if self.context.settings.json {
            report::json(args, self.context, &outcome).write_line(out)?;
        } else {
            report::write(args, self.context, &outcome, out)?;
        }
        out.flush()?;
        load.first_failed()
            .map_or(Ok(()), |first| Err(self.errors(&outcome, first)))
    }

    /// Shows how far the load is, until its time is over.
    async fn watch(&self, load: &Load) {
        let mut end = pin!(tokio::time::sleep(duration(self.args)));
        let mut ticks = tokio::time::interval(TICK);
        let mut last = (Instant::now(), 0);
        loop {
            tokio::select! {
                () = &mut end => return,
                _ = ticks.tick() => {}
            }
            let (now, (answers, errors)) = (Instant::now(), load.progress());
            self.line.show(&format!(
                "{} of {} s: {} operations/s, {} errors",
                load.began().elapsed().as_secs(),
                self.args.seconds,
                grouped(per_second(answers - last.1, now - last.0)),
                grouped(errors)
            ));
            last = (now, answers);
        }
    }

    /// Deletes the keys, or says that some are left.
    async fn delete(&self, interrupts: &mut Interrupts) -> Result<(), String> {
        self.line.show("deleting the keys");
        let reason = match interrupts.unless(self.dataset.clear(&self.client)).await {
            Some(Ok(())) => return Ok(()),
            Some(Err(failed)) => self.described(&failed),
            None => "interrupted".to_owned(),
        };
        Err(format!(
            "not all keys were deleted, those left expire within {} h: {reason}",
            (duration(self.args) + KEPT).as_secs().div_ceil(3600)
        ))
    }

    fn errors(&self, outcome: &Outcome, first: &Failed) -> Failure {
        let errors = outcome.tally.errors();
        let all = outcome.tally.answers() + errors;
        Failure::told(format!(
            "{} of {} operations failed, the first: {}",
            grouped(errors),
            grouped(all),
            self.described(first)
        ))
    }

    fn described(&self, failed: &Failed) -> String {
        let Failed {
            request,
            key,
            error,
        } = failed;
        self.context.described(request, key.as_ref(), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_rounded_to_the_nearest() {
        let ms = Duration::from_millis;
        for (count, took, rate) in [
            (0, ms(0), 0),
            (0, ms(10), 0),
            (1_000, ms(500), 2_000),
            (3, ms(2_000), 2),
            (1, ms(2_001), 0),
            (u64::MAX, Duration::from_nanos(1), u64::MAX),
        ] {
            assert_eq!(per_second(count, took), rate);
        }
    }
}
