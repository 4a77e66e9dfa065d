//! One round: new clients, faults under full load, and then everything has to be well again.
//!
//! When the faults of a round are over,
//!
//! - every node answers every client [within a bound](Subject::answers), and the clients say that it is healthy;
//! - every key can be read by every client, and what is read is right;
//! - the clients' counters balance: each request of the callers is in exactly one of them;
//! - once the clients are closed no connection is left at any server, no task and no open file here.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fastrand::Rng;
use futures_util::future::{join_all, try_join};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::clients::Kind;
use super::fault::Fault;
use super::key::Key;
use super::node::Node;
use super::report::Report;
use super::schedule::Lane;
use super::stage::Stage;
use super::subject::Subject;
use super::tally::Tally;
use super::workload::Caller;
use crate::vitals::Vitals;

/// How many tasks each client has.
const CALLERS: u32 = 24;
/// Between two looks at something that is going to change.
const LOOK: Duration = Duration::from_millis(5);
/// What has not happened by then never will.
const NEVER: Duration = Duration::from_secs(30);

/// What one round needs.
#[derive(Debug)]
pub struct Round<'a> {
    /// What the callers share.
    pub stage: &'a Arc<Stage>,
    /// The nodes' names.
    pub names: &'a [String],
    /// The keys of each kind of client.
    pub keys: &'a [Arc<Vec<Key>>; 3],
    /// What the callers draw follows from it.
    pub seed: u64,
    /// For how long faults begin.
    pub lasts: Duration,
}

impl Round<'_> {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// If a server cannot be made to fail, or to work again.
    pub async fn run(
        &self,
        nodes: &mut [Node],
        lanes: &mut [Lane; 2],
        report: &mut Report,
    ) -> Result<(), Box<dyn Error>> {
        let before = Vitals::now()?;
        let mut clients = Vec::new();
        for kind in Kind::ALL {
            clients.push(Subject::new(kind, self.names)?);
        }
        for subject in &clients {
            subject.client.ready(NEVER).await?;
        }
        self.stage.stop.store(false, Ordering::Relaxed);
        let callers = self.callers(&clients);
        self.trouble(nodes, lanes, &clients[0], report).await?;
        for subject in &mut clients {
            self.heal(subject, report).await;
            subject.is_healthy(self.stage).await;
        }
        self.stage.stop.store(true, Ordering::Relaxed);
        let mut tallies = self.end(callers).await;
        for (subject, tally) in clients.iter().zip(&mut tallies) {
            tally.add(&self.caller(subject, u32::MAX).sweep().await);
            subject.client.close().await;
            self.balance(subject, tally);
            report.tally.add(tally);
        }
        drop(clients);
        self.settle(nodes).await?;
        self.nothing_is_left(before, report).await?;
        report.rounds += 1;
        Ok(())
    }

    fn caller(&self, subject: &Subject, writer: u32) -> Caller {
        Caller {
            stage: Arc::clone(self.stage),
            kind: subject.kind,
            client: subject.client.clone(),
            keys: Arc::clone(&self.keys[subject.kind as usize]),
            writer,
            random: Rng::with_seed(self.seed ^ u64::from(writer)),
            tally: Tally::new(self.names.len()),
            latencies: None,
        }
    }

    fn callers(&self, clients: &[Subject]) -> Vec<Vec<JoinHandle<Tally>>> {
        let numbered = clients.iter().zip(0..);
        let of_client = |(subject, number): (&Subject, u32)| {
            let writers = number * CALLERS..(number + 1) * CALLERS;
            let spawn = |writer| tokio::spawn(self.caller(subject, writer).run());
            writers.map(spawn).collect()
        };
        numbered.map(of_client).collect()
    }

    /// Lets faults happen in both lanes.
    async fn trouble(
        &self,
        nodes: &mut [Node],
        lanes: &mut [Lane; 2],
        subject: &Subject,
        report: &mut Report,
    ) -> io::Result<()> {
        let (left, right) = nodes.split_at_mut(nodes.len() / 2);
        let [one, other] = lanes;
        let (left, right) = try_join(
            self.lane(left, one, subject),
            self.lane(right, other, subject),
        )
        .await?;
        for (fault, healed) in left.into_iter().chain(right) {
            report.struck(fault, healed);
        }
        report.peak_memory = report.peak_memory.max(Vitals::now()?.memory);
        Ok(())
    }

    /// One fault after the other; says how long each was felt when its cause was gone.
    async fn lane(
        &self,
        nodes: &mut [Node],
        lane: &mut Lane,
        subject: &Subject,
    ) -> io::Result<Vec<(Fault, Duration)>> {
        let end = Instant::now() + self.lasts;
        let mut struck = Vec::new();
        while Instant::now() < end {
            let Some(step) = lane.next() else { break };
            let node = &mut nodes[step.node];
            node.suffer(step, &self.stage.ledger).await?;
            let after = format_args!("{} of {:?}", step.fault, node.role).to_string();
            let healed = subject.answers(self.stage, node.home, &after).await;
            struck.push((step.fault, healed));
            sleep(step.rest).await;
        }
        Ok(struck)
    }

    /// Every node answers within the bound.
    async fn heal(&self, subject: &Subject, report: &mut Report) {
        let after = format!("all faults (client {:?})", subject.kind);
        let homes = 0..self.names.len();
        let answers = homes.map(|home| subject.answers(self.stage, home, &after));
        let slowest = join_all(answers).await.into_iter().max();
        report.slowest_healing = report.slowest_healing.max(slowest.unwrap_or_default());
    }

    /// Waits for the callers; what those of each client have come to.
    async fn end(&self, callers: Vec<Vec<JoinHandle<Tally>>>) -> Vec<Tally> {
        let mut tallies = Vec::new();
        for callers in callers {
            let mut sum = Tally::new(self.names.len());
            for caller in callers {
                match caller.await {
                    Ok(tally) => sum.add(&tally),
                    Err(failure) => self.stage.broken.report(failure),
                }
            }
            tallies.push(sum);
        }
        tallies
    }

    /// What the client has counted is what was done.
    fn balance(&self, subject: &Subject, tally: &Tally) {
        let kind = subject.kind;
        for (node, metrics) in subject.client.connection_pool_metrics() {
            let report = |what: String| {
                self.stage.broken.report(format_args!(
                    "the client {kind:?} at {node}: {what}: {metrics:?}"
                ));
            };
            if (metrics.cur_connections, metrics.in_flight, metrics.waiting) != (0, 0, 0) {
                report("something is left after it was closed".to_owned());
            }
            if metrics.connections_created != metrics.connections_closed {
                report("not as many connections were closed as were made".to_owned());
            }
            let ended = metrics.operations_executed
                + metrics.operations_executed_with_error
                + metrics.operations_cancelled;
            let home = self.names.iter().position(|name| **name == *node);
            let home = home.expect("the client has the nodes it was given");
            let sent = tally.sent[home] + subject.asked(home);
            let dropped = tally.dropped[home];
            // A call with replicas makes as many requests as it takes.
            if kind != Kind::Replicated && !(sent..=sent + dropped).contains(&ended) {
                report(format!(
                    "{ended} operations ended, {sent} were made and {dropped} more were dropped"
                ));
            }
        }
    }

    /// Waits until what was sent cannot arrive any more.
    async fn settle(&self, nodes: &[Node]) -> io::Result<()> {
        for node in nodes {
            match timeout(NEVER, node.deserted()).await {
                Ok(left) => left?,
                Err(_) => self.stage.broken.report(format_args!(
                    "all clients are closed, but connections to {:?} are left",
                    node.role
                )),
            }
            self.stage.ledger.settle(node.home);
        }
        Ok(())
    }

    /// No task of the clients is left here, and no open file.
    async fn nothing_is_left(&self, before: Vitals, report: &mut Report) -> io::Result<()> {
        let measured = self.stage.pace.start();
        loop {
            let now = Vitals::now()?;
            report.peak_memory = report.peak_memory.max(now.memory);
            if now.tasks <= before.tasks && now.files <= before.files {
                return Ok(());
            }
            if measured.lived() > NEVER {
                self.stage.broken.report(format_args!(
                    "all clients are closed, but of {before:?} it has become {now:?}"
                ));
                return Ok(());
            }
            sleep(LOOK).await;
        }
    }
}
