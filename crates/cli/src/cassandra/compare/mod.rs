//! `cassandra compare`: the same load under several policies, in turns.

mod candidates;
mod report;

use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

use self::candidates::{Candidate, candidates};
use self::report::{Round, Score};
use super::load::{Load, Pace};
use super::target::Target;
use crate::answer::{Answer, Failure};
use crate::args::cassandra as args;
use crate::context::Settings;
use crate::status_line::StatusLine;

/// How many tasks read if the rate is not fixed.
const TASKS: u32 = 32;

pub(super) async fn run(
    args: &args::Compare,
    settings: &Settings,
    out: &mut dyn Write,
) -> Result<Answer, Failure> {
    let pace = pace(args)?;
    let target = Target::find(&args.target, settings).await?;
    let mut scores: Vec<Score> = candidates(args.speculation.0).map(Score::new).collect();
    let mut nodes = BTreeSet::new();
    let mut progress = Progress::new(args, scores.len());
    for round in 0..args.rounds {
        // Nobody is always the first, who finds the cluster cold, or the same one's successor.
        let first = round as usize % scores.len();
        let (before, after) = scores.split_at_mut(first);
        for score in after.iter_mut().chain(before) {
            progress.show(round, &score.candidate);
            let policy = score.candidate.policy(target.datacenter())?;
            let reads = target.connect(policy, score.candidate.speculation).await?;
            nodes.extend(reads.nodes());
            // Each candidate reads the same keys, and other ones in each round.
            let load = Load::start(reads, pace, args.warm_up, round.into());
            tokio::time::sleep(args.warm_up).await;
            let began = Instant::now();
            tokio::time::sleep(Duration::from_secs(args.seconds.into())).await;
            let took = began.elapsed();
            let seen = load.stop().await;
            nodes.extend(seen.answered.keys());
            score.rounds.push(Round { took, seen });
        }
    }
    progress.line.clear();
    if settings.json {
        report::json(args, pace, &nodes, &scores).write_line(out)?;
    } else {
        report::write(args, pace, &nodes, &scores, out)?;
    }
    match report::outage(&scores) {
        Some(reason) => Err(Failure::told(format!("no read was answered: {reason}"))),
        None => Ok(Answer::Yes),
    }
}

fn pace(args: &args::Compare) -> Result<Pace, Failure> {
    match (args.rate, args.tasks) {
        (0, tasks) => Ok(Pace::Tasks(tasks.unwrap_or(TASKS))),
        (rate, None) => Ok(Pace::Rate(rate)),
        (_, Some(_)) => Err(Failure::told(
            "--tasks has no effect at a fixed rate; give --rate 0 as well",
        )),
    }
}

/// Tells a person at a terminal that it goes on.
struct Progress {
    line: StatusLine,
    rounds: u32,
    run: Duration,
    left: u32,
}

impl Progress {
    fn new(args: &args::Compare, candidates: usize) -> Self {
        let candidates = u32::try_from(candidates).unwrap_or(u32::MAX);
        Self {
            line: StatusLine::new(),
            rounds: args.rounds,
            run: args.warm_up + Duration::from_secs(args.seconds.into()),
            left: candidates.saturating_mul(args.rounds),
        }
    }

    fn show(&mut self, round: u32, candidate: &Candidate) {
        let left = (self.run * self.left).as_secs();
        self.line.show(&format!(
            "round {} of {}: {candidate}; {left} s left",
            round + 1,
            self.rounds,
        ));
        self.left = self.left.saturating_sub(1);
    }
}
