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
use futures_util::future::join_all;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::clients::Kind;
use super::cluster::Cluster;
use super::key::Key;
use super::report::Report;
use super::side::Side;
use super::stage::Stage;
use super::subject::Subject;
use super::tally::Tally;
use super::workload::Caller;
use crate::vitals::Vitals;

/// How many tasks each client has.
const CALLERS: u32 = 18;
/// Between two looks at something that is going to change.
const LOOK: Duration = Duration::from_millis(5);
/// What has not happened by then never will.
const NEVER: Duration = Duration::from_secs(60);

/// What one round needs.
#[derive(Debug)]
pub struct Round<'a> {
    /// What the callers share.
    pub stage: &'a Arc<Stage>,
    /// The nodes as clients are told of them.
    pub cluster: &'a Arc<Cluster>,
    /// The keys of each kind of client.
    pub keys: &'a [Arc<Vec<Key>>; Kind::ALL.len()],
    /// What the callers draw follows from it.
    pub seed: u64,
    /// For how long faults begin.
    pub lasts: Duration,
}

impl Round<'_> {
    /// Runs it, and gives the sides back.
    ///
    /// # Errors
    ///
    /// If a server cannot be made to fail, or to work again.
    pub async fn run(
        &self,
        sides: Vec<Side>,
        report: &mut Report,
    ) -> Result<Vec<Side>, Box<dyn Error>> {
        let before = Vitals::now()?;
        let mut clients = Vec::new();
        for kind in Kind::ALL {
            clients.push(Arc::new(Subject::new(kind, self.cluster)?));
        }
        for subject in &clients {
            subject.client.ready(NEVER).await?;
        }
        self.stage.stop.store(false, Ordering::Relaxed);
        let callers = self.callers(&clients);
        let sides = self.trouble(sides, &clients, report).await?;
        for subject in &clients {
            self.heal(subject, report).await;
            subject.is_healthy(self.stage).await;
        }
        self.stage.stop.store(true, Ordering::Relaxed);
        let mut tallies = self.end(callers).await;
        for (subject, tally) in clients.iter().zip(&mut tallies) {
            tally.add(&self.caller(subject, u32::MAX).sweep().await);
            // For as long as it takes: a connection that is dead without a word is given up in time.
            subject.client.close_within(NEVER).await;
            self.balance(subject, tally);
            report.tally.add(tally);
        }
        drop(clients);
        self.settle(&sides).await;
        self.nothing_is_left(before, report).await?;
        report.rounds += 1;
        Ok(sides)
    }

    fn caller(&self, subject: &Subject, writer: u32) -> Caller {
        Caller {
            stage: Arc::clone(self.stage),
            kind: subject.kind,
            client: subject.client.clone(),
            keys: Arc::clone(&self.keys[subject.kind as usize]),
            writer,
            random: Rng::with_seed(self.seed ^ u64::from(writer)),
            tally: Tally::new(self.cluster.names.len()),
            latencies: None,
        }
    }

    fn callers(&self, clients: &[Arc<Subject>]) -> Vec<Vec<JoinHandle<Tally>>> {
        let numbered = clients.iter().zip(0..);
        let of_client = |(subject, number): (&Arc<Subject>, u32)| {
            let writers = number * CALLERS..(number + 1) * CALLERS;
            let spawn = |writer| tokio::spawn(self.caller(subject, writer).run());
            writers.map(spawn).collect()
        };
        numbered.map(of_client).collect()
    }

    /// Lets faults happen on all sides.
    async fn trouble(
        &self,
        sides: Vec<Side>,
        clients: &[Arc<Subject>],
        report: &mut Report,
    ) -> io::Result<Vec<Side>> {
        let suffer = |side: Side| {
            let uses = |subject: &&Arc<Subject>| side.is_used_by(subject.kind);
            let subject = clients.iter().find(uses).map(Arc::clone);
            let subject = subject.expect("each side has a client");
            let (stage, cluster) = (Arc::clone(self.stage), Arc::clone(self.cluster));
            tokio::spawn(side.suffer(stage, cluster, subject, self.lasts))
        };
        let mut after = Vec::new();
        for suffered in join_all(sides.into_iter().map(suffer)).await {
            let (side, struck) = suffered??;
            for blow in struck {
                report.struck(blow);
            }
            after.push(side);
        }
        report.peak_memory = report.peak_memory.max(Vitals::now()?.memory);
        Ok(after)
    }

    /// Every node answers within the bound.
    async fn heal(&self, subject: &Subject, report: &mut Report) {
        let after = format!("all faults (client {:?})", subject.kind);
        let homes = subject.kind.homes();
        let answers = homes.map(|home| subject.answers(self.stage, home, &after));
        let slowest = join_all(answers).await.into_iter().max();
        report.slowest_healing = report.slowest_healing.max(slowest.unwrap_or_default());
    }

    /// Waits for the callers; what those of each client have come to.
    async fn end(&self, callers: Vec<Vec<JoinHandle<Tally>>>) -> Vec<Tally> {
        let mut tallies = Vec::new();
        for callers in callers {
            let mut sum = Tally::new(self.cluster.names.len());
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
        // What keys of other nodes, too, come to is any node's.
        let anywhere = kind
            .homes()
            .filter(|home| kind.shares_keys_of(*home))
            .map(|home| tally.sent[home] + tally.dropped[home])
            .sum::<u64>();
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
            let home = self.cluster.names.iter().position(|name| **name == *node);
            let home = home.expect("the client has the nodes it was given");
            let sent = tally.sent[home] + subject.asked(home);
            let more = tally.dropped[home] + anywhere;
            if !kind.shares_keys_of(home) && !(sent..=sent + more).contains(&ended) {
                report(format!(
                    "{ended} operations ended, {sent} were made and {more} more may have been"
                ));
            }
        }
        if kind == Kind::Guarded {
            let (told, metrics) = (
                self.cluster.roster.changes(),
                subject.client.discovery_metrics(),
            );
            if metrics.taken != told {
                self.stage.broken.report(format_args!(
                    "{told} lists of members were news for the client {kind:?}: {metrics:?}"
                ));
            }
        }
    }

    /// Waits until what was sent cannot arrive any more.
    async fn settle(&self, sides: &[Side]) {
        for node in sides.iter().flat_map(|side| &side.nodes) {
            if timeout(NEVER, node.deserted()).await.is_err() {
                self.stage.broken.report(format_args!(
                    "all clients are closed, but connections to {:?} are left",
                    node.role
                ));
            }
            self.stage.ledger.settle(node.home);
        }
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
