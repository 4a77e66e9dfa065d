//! One node answers late, or not at all.

use std::sync::Arc;
use std::time::Duration;

use steersman_e2e::cassandra::{Connector, Load, Reads};
use tokio::time::Instant;

use crate::world::{EVERYWHERE, World, balancer, default_policy, millis, picks, seconds};

const DELAY: Duration = millis(50);

/// How long a penalised node waits for its next probe, at the default settings.
const RETRY_PERIOD: Duration = seconds(10);

pub(crate) async fn loses_its_requests_and_gets_them_back(world: &World) {
    let proxy = world.proxy().await;
    let balancer = balancer("dc1");
    let session = Connector::new(balancer.clone())
        .through(2, &proxy)
        .connect()
        .await;
    let reads = Reads::new(session, EVERYWHERE)
        .await
        .expect("the table is there");

    let load = Load::start(&reads, world.rate);
    load.until(seconds(3)).await;
    proxy.faults().set_latency(DELAY);
    let slow = load.elapsed();
    load.until(slow + seconds(5)).await;
    proxy.faults().clear();
    let fast = load.elapsed();
    let back = fast + RETRY_PERIOD + seconds(3);
    load.until(back + seconds(1)).await;
    let report = load.stop().await;

    report.assert_none_failed("beside a slow node");
    let noticed = report.during(slow + seconds(2)..fast);
    let burst = report
        .during(slow + seconds(2)..Duration::MAX)
        .burst(2, millis(100));
    let share = report.during(back..Duration::MAX).percent(2);
    println!(
        "before {:.1} %, slow {} of {} reads with p99 {:.1?}, after {share:.1} %, at most {burst} in 100 ms; {:?}",
        report.during(Duration::ZERO..slow).percent(2),
        noticed.count(2),
        noticed.samples.len(),
        noticed.percentile(99),
        balancer.policy().counters(),
    );
    // It may be penalised late, when another node has the one place; its first series has three.
    assert!(noticed.count(2) <= 3, "but for probes it has no requests");
    assert!(share >= 25.0, "its share is back");
    let fair = usize::try_from(world.rate / 30).expect("a small number");
    assert!(burst <= 2 * fair, "a fair share of 100 ms is {fair} reads");
}

/// A node that is slow costs little more than none.
pub(crate) async fn costs_little(world: &World) {
    beside_oracle(world, 990, 5, seconds(4)).await;
}

/// Nor do its probes, of which there is one every retry period.
pub(crate) async fn probes_cost_little(world: &World) {
    beside_oracle(world, 999, 5, RETRY_PERIOD + seconds(2)).await;
}

/// The medians of a percentile, beside those of an oracle that has never heard of the slow node.
async fn beside_oracle(world: &World, permille: usize, rounds: usize, round: Duration) {
    let proxy = world.proxy().await;
    proxy.faults().set_latency(DELAY);
    let balancer = balancer("dc1");
    let session = Connector::new(balancer.clone())
        .through(2, &proxy)
        .connect()
        .await;
    let ours = Reads::new(session, EVERYWHERE)
        .await
        .expect("the table is there");
    let session = Connector::new(default_policy())
        .only(&[1, 3])
        .connect()
        .await;
    let oracle = Reads::new(session, EVERYWHERE)
        .await
        .expect("the table is there");

    // Time to notice.
    Load::run(&ours, world.rate, seconds(3)).await;
    let mut latencies = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (reads, latencies) in [&ours, &oracle].into_iter().zip(&mut latencies) {
            let report = Load::run(reads, world.rate, round).await;
            report.assert_none_failed("beside a slow node");
            latencies.push(report.permille(permille));
        }
    }
    for latencies in &mut latencies {
        latencies.sort_unstable();
    }
    println!(
        "{permille} of 1,000 reads of ours and of the oracle within {latencies:.1?}; {:?}",
        balancer.policy().counters()
    );
    let [ours, oracle] = latencies.map(|latencies| latencies[rounds / 2]);
    assert!(ours <= oracle.mul_f64(1.5), "{ours:.1?}, {oracle:.1?}");
}

pub(crate) async fn time_outs_are_noticed(world: &World) {
    let proxy = world.proxy().await;
    let balancer = balancer("dc1");
    let connector = Connector::new(balancer.clone()).through(2, &proxy);
    let session = connector.timeout(millis(20)).connect().await;
    let reads = Reads::new(session, EVERYWHERE)
        .await
        .expect("the table is there");

    let load = Load::start(&reads, world.rate.min(1_000));
    load.until(seconds(2)).await;
    proxy.faults().set_latency(DELAY);
    let slow = load.elapsed();
    load.until(slow + seconds(2)).await;
    let before = picks(&balancer, 2);
    load.until(slow + seconds(5)).await;
    let after = picks(&balancer, 2);
    let report = load.stop().await;
    println!(
        "{} timed out in all, {} after 2 s; picks and unanswered {before:?}, {after:?}",
        report.failed(),
        report.during(slow + seconds(2)..Duration::MAX).failed(),
    );
    assert!(before.1 > 0, "reads that timed out are missed");
    assert!(after.0 - before.0 <= 1, "but for a probe no more are sent");
}

pub(crate) async fn losers_of_speculation_are_noticed(world: &World) {
    let proxy = world.proxy().await;
    let balancer = balancer("dc1");
    let connector = Connector::new(balancer.clone()).through(2, &proxy);
    let session = connector.speculate(millis(3)).connect().await;
    let reads = Reads::new(session, EVERYWHERE)
        .await
        .expect("the table is there");

    let load = Load::start(&reads, world.rate.min(1_000));
    load.until(seconds(2)).await;
    let fair = picks(&balancer, 2);
    proxy.faults().set_latency(DELAY);
    let slow = load.elapsed();
    load.until(slow + seconds(2)).await;
    let before = picks(&balancer, 2);
    load.until(slow + seconds(6)).await;
    let after = picks(&balancer, 2);
    let report = load.stop().await;
    let late = report.during(slow + seconds(2)..Duration::MAX);
    println!(
        "first tries to node 2: {} in 2 s before, {} in 2 s of noticing, {} of {} afterwards; p99 {:.1?}",
        fair.0,
        before.0 - fair.0,
        after.0 - before.0,
        late.samples.len(),
        late.percentile(99),
    );
    report.assert_none_failed("beside a slow node");
    let first_tries = usize::try_from(after.0 - before.0).expect("a small number");
    assert!(
        first_tries * 20 <= late.samples.len(),
        "at most 5 % of first tries"
    );
}

pub(crate) async fn hanging_is_noticed(world: &World) {
    let balancer = balancer("dc1");
    let connector = Connector::new(balancer.clone()).timeout(millis(300));
    let reads = Reads::new(connector.connect().await, EVERYWHERE)
        .await
        .expect("the table is there");

    let load = Load::start(&reads, world.rate.min(1_000));
    load.until(seconds(2)).await;
    let before = picks(&balancer, 2).0;
    let hung = load.elapsed();
    tokio::task::block_in_place(|| world.cluster.pause(2));
    load.until(hung + seconds(1)).await;
    let noticed = picks(&balancer, 2).0;
    load.until(hung + seconds(4)).await;
    let after = picks(&balancer, 2).0;
    tokio::task::block_in_place(|| world.cluster.resume(2));
    let report = load.stop().await;
    let failed = report.during(hung..Duration::MAX);
    let last = failed
        .samples
        .iter()
        .filter(|sample| sample.node.is_none())
        .map(|sample| sample.at)
        .max();
    let last = last.unwrap_or(hung).saturating_sub(hung);
    println!(
        "{} reads failed, the last was sent {last:.1?} after; picks {before}, {noticed}, {after}",
        failed.failed()
    );
    assert!(failed.failed() <= 200, "{} reads failed", failed.failed());
    assert!(after - noticed <= 1, "after 1 s there is a probe at most");
    settle(&reads).await;
}

/// Waits until all nodes answer again.
async fn settle(reads: &Arc<Reads>) {
    let deadline = Instant::now() + seconds(60);
    while Load::closed(reads, 300).await.failed() > 0 {
        assert!(Instant::now() < deadline, "the cluster does not recover");
    }
}
