//! The simulator against reality: the same faults, load and policies for real servers and in virtual time.
//!
//! Three replicas, each behind a proxy that makes it a few milliseconds far, of which one becomes slow or
//! stands still ([`Plan`]); open load; a policy of its own for each of four clients. How long nodes take
//! without the fault, and the slow one with it, is measured first under round robin, and is all that the
//! simulation is told. Then both are asked for the same figures. `scripts/validate` runs it.

mod cassandra;
mod load;
mod memcached;
mod plan;
mod report;
mod simulated;

pub use self::cassandra::Nodes;
pub use self::memcached::Caches;
pub use self::plan::Plan;
pub use self::report::{Figures, Report, Row};

use std::sync::Arc;
use std::time::Duration;

use steersman_simulator::{Error, PolicyKind};

use self::load::{Ended, Reader};
use self::plan::Wrong;
use self::simulated::Measured;

/// How far away each node is.
const NEAR: Duration = Duration::from_millis(2);
/// How far the slow one is, so that it takes about three times as long.
const FAR: Duration = Duration::from_millis(9);
/// How many clients there are, each with a policy of its own.
const CLIENTS: u64 = 4;
/// For how long it is measured what nodes are like.
const CALIBRATION: Duration = Duration::from_millis(2_500);

/// Three real replicas.
#[allow(async_fn_in_trait, reason = "of this crate alone")]
pub trait Subject {
    /// A client of them.
    type Client: Reader;

    /// What they are.
    const NAME: &'static str;
    /// The datacenter that they are said to be in, if clients prefer one.
    const DATACENTER: Option<&'static str>;

    /// A new client whose reads follow that policy.
    async fn client(&self, policy: PolicyKind, seed: u64) -> Self::Client;

    /// A node is near or far from now on.
    fn set_distance(&self, node: usize, distance: Duration);

    /// A node stands still from now on, or goes on.
    fn set_still(&self, node: usize, is_still: bool);
}

/// Runs the plans under the policies, that often each, and simulates them. `told` hears how far it is.
pub async fn validate<S: Subject>(
    subject: &S,
    plans: &[Plan],
    policies: &[PolicyKind],
    repetitions: u64,
    rate: u32,
    told: &impl Fn(&str),
) -> Result<Report, Error> {
    let mut report = Report::new(S::NAME);
    for plan in plans {
        let mut measured = Measured::default();
        let mut real = vec![Vec::new(); policies.len()];
        // Interleaved, so that what changes meanwhile befalls all alike.
        for repetition in 0..repetitions {
            told(&format!("{} {}: calibrating", S::NAME, plan.name));
            calibrate(subject, rate, 2 * repetition, &mut measured).await;
            for (policy, figures) in policies.iter().zip(&mut real) {
                told(&format!(
                    "{} {}: {policy}, {} of {repetitions}",
                    S::NAME,
                    plan.name,
                    repetition + 1
                ));
                let ended = run(subject, plan, *policy, rate, repetition).await;
                figures.push(Figures::of(&ended, plan.counted_from));
            }
        }
        let simulation = simulated::Scene::new(plan, &measured, rate, S::DATACENTER)?;
        for (policy, real) in policies.iter().zip(&real) {
            let simulated = simulation.figures(*policy)?;
            report.push(Row::new(plan.name, *policy, real, simulated));
        }
    }
    Ok(report)
}

/// Measures what nodes are like, and what a slow one is like.
async fn calibrate<S: Subject>(subject: &S, rate: u32, seed: u64, measured: &mut Measured) {
    let well = Plan::calm(CALIBRATION);
    let slow = Plan::slow_throughout(CALIBRATION);
    // Whatever took that long was at the slow node: nodes that are well take less, by far.
    for (plan, least, all) in [
        (well, Duration::ZERO, &mut measured.base),
        (slow, FAR, &mut measured.slow),
    ] {
        let ended = run(subject, &plan, PolicyKind::RoundRobin, rate, seed).await;
        let counted = ended.iter().filter(|ended| ended.at >= plan.counted_from);
        let latencies = counted.map(|ended| ended.latency);
        all.extend(latencies.filter(|latency| *latency >= least));
    }
}

async fn run<S: Subject>(
    subject: &S,
    plan: &Plan,
    policy: PolicyKind,
    rate: u32,
    seed: u64,
) -> Vec<Ended> {
    let mut clients = Vec::new();
    for client in 0..CLIENTS {
        clients.push(Arc::new(
            subject.client(policy, seed * CLIENTS + client).await,
        ));
    }
    let load = load::start(clients, rate, plan.duration, seed);
    for change in plan.changes() {
        tokio::time::sleep_until(load.began() + change.at).await;
        match (change.wrong, change.begins) {
            (Wrong::Slow, true) => subject.set_distance(change.node, FAR),
            (Wrong::Slow, false) => subject.set_distance(change.node, NEAR),
            (Wrong::Still, is_still) => subject.set_still(change.node, is_still),
        }
    }
    load.ended().await
}
