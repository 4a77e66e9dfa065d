//! One node answers late, or not at all.

use std::sync::Arc;
use std::time::Duration;

use steersman_e2e::cassandra::{Connector, Load, Reads};
use tokio::time::Instant;

use crate::world::{
    EVERYWHERE, World, all_picks, balancer, default_policy, millis, picks, seconds,
};

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
    // A probe that the machine itself makes slow costs another period.
    let mut shares = Vec::new();
    for period in 1..=3 {
        load.until(fast + RETRY_PERIOD * period + seconds(3)).await;
        let (before, all_before) = (picks(&balancer, 2).0, all_picks(&balancer));
        load.until(load.elapsed() + seconds(1)).await;
        let (now, all_now) = (picks(&balancer, 2).0, all_picks(&balancer));
        shares.push(100 * (now - before) / (all_now - all_before).max(1));
        if shares.last() >= Some(&25) {
            break;
        }
    }
    let report = load.stop().await;

    assert_eq!(report.failed(), 0);
    let noticed = report.during(slow + seconds(2)..fast);
    let burst = report
        .during(slow + seconds(2)..Duration::MAX)
        .burst(2, millis(100));
    println!(
        "before {:.1} %, slow {} of {} reads with p99 {:.1?}, after each retry period {shares:?} %, at most {burst} in 100 ms; {:?}",
        report.during(Duration::ZERO..slow).percent(2),
        noticed.count(2),
        noticed.samples.len(),
        noticed.percentile(99),
        balancer.policy().counters(),
    );
    assert!(noticed.count(2) <= 1, "but for a probe it has no requests");
    assert!(shares.last() >= Some(&25), "its share is back");
    let fair = usize::try_from(world.rate / 30).expect("a small number");
    assert!(burst <= 2 * fair, "a fair share of 100 ms is {fair} reads");
}

/// Against an oracle that has never heard of the slow node.
pub(crate) async fn costs_little_more_than_none(world: &World) {
    let proxy = world.proxy().await;
    proxy.faults().set_latency(DELAY);
    let session = Connector::new(balancer("dc1"))
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
    Load::run(&ours, world.rate, seconds(2)).await;
    let mut p99 = [Vec::new(), Vec::new()];
    for _ in 0..3 {
        for (reads, p99) in [&ours, &oracle].into_iter().zip(&mut p99) {
            p99.push(
                Load::run(reads, world.rate, seconds(2))
                    .await
                    .percentile(99),
            );
        }
    }
    for p99 in &mut p99 {
        p99.sort_unstable();
    }
    println!("p99 of ours and of the oracle: {p99:.1?}");
    // A machine that is busy with other things is no measure for small differences.
    let allowed = p99[1][1].mul_f64(1.5) + millis(5);
    assert!(p99[0][1] <= allowed, "medians of 3: {p99:?}");
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
    assert_eq!(report.failed(), 0);
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
