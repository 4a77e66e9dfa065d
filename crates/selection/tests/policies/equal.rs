//! Nodes as real ones are: with heavy tails, cold starts and pauses. Equal ones must have equal shares,
//! slow ones none.

use std::time::Duration;

use steersman_selection::{LatencyAware, Outcome, RoundRobin};

use crate::cluster::{Cluster, in_one_place, micros, millis, random};

const SECOND: Duration = Duration::from_secs(1);

/// The 99th percentiles of the latencies, in milliseconds.
const TAILS: [u64; 3] = [4, 10, 18];

fn cluster(seed: u64) -> Cluster<LatencyAware<RoundRobin>> {
    let builder = LatencyAware::builder().seed(seed);
    Cluster::new(builder.build(RoundRobin::new()).unwrap(), in_one_place(3))
}

/// Random latencies with that median and 99th percentile, log-normal.
fn heavy_tailed(median: Duration, p99: Duration, seed: u64) -> impl FnMut() -> Duration {
    let sigma = p99.div_duration_f64(median).ln() / 2.326;
    let mut random = random(seed);
    move || {
        // By Box and Muller, "A note on the generation of random normal deviates", 1958.
        let (radius, angle) = (random().max(1e-9), random());
        let normal = (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
        median.mul_f64((sigma * normal).exp())
    }
}

/// A node stands still for a while: what it has to answer meanwhile is answered at the end.
struct Pause {
    node: usize,
    from: Duration,
    until: Duration,
}

/// The shares of three equal nodes in 10 s of 3,000 requests a second, in percent.
fn shares(seed: u64, p99: Duration, pauses: &[Pause]) -> Vec<f64> {
    let mut cluster = cluster(seed);
    let mut latency = heavy_tailed(micros(1_400), p99, seed);
    let mut random = random(!seed);
    let mut counts = [0.0; 3];
    for _ in 0..30_000 {
        cluster.pass(micros(333));
        let now = cluster.age();
        let node = cluster.send(|node| {
            // In the beginning the nodes are cold.
            let cold = 1.0 - now.div_duration_f64(millis(400)).min(1.0);
            let mut answered = now + latency().mul_f64(1.0 + 20.0 * random() * cold);
            for pause in pauses.iter().filter(|pause| pause.node == node) {
                if now < pause.until && answered > pause.from {
                    answered = answered.max(pause.until + millis(5).mul_f64(random()));
                }
            }
            (answered.saturating_sub(now), Outcome::Success)
        });
        counts[node] += 100.0 / 30_000.0;
    }
    counts.to_vec()
}

fn assert_equal_shares(seed: u64, p99: u64, pauses: &[Pause]) {
    let shares = shares(seed, millis(p99), pauses);
    assert!(
        shares.iter().all(|share| (25.3..=41.3).contains(share)),
        "seed {seed}, p99 {p99} ms: {shares:.1?} %"
    );
}

#[test]
fn equal_nodes_with_heavy_tails_have_equal_shares() {
    for (seed, p99) in (0..).zip(TAILS) {
        assert_equal_shares(seed, p99, &[]);
    }
}

/// A node that pauses again and again is penalised, and is back when it was probed: no late answer by
/// itself keeps it out.
#[test]
fn equal_nodes_that_make_pauses_have_equal_shares() {
    for (seed, p99) in (0..12).zip(TAILS.into_iter().cycle()) {
        let mut random = random(seed);
        let pause = |number: u64| {
            let from = millis(200 + 400 * number);
            let until = from + millis(100) + millis(250).mul_f64(random());
            Pause {
                node: 0,
                from,
                until,
            }
        };
        let pauses: Vec<_> = (0..4).map(pause).collect();
        assert_equal_shares(seed, p99, &pauses);
    }
}

/// It is out within two seconds, has one request in flight at most when it is probed, and is back,
/// without a burst, three seconds after the retry period at the latest.
#[test]
fn a_slow_node_with_a_heavy_tail_is_out_and_comes_back() {
    for (seed, delay) in (0..4).flat_map(|seed| [(seed, 5), (seed, 50)]) {
        let what = format!("seed {seed}, {delay} ms");
        let mut cluster = cluster(seed);
        let mut latency = heavy_tailed(micros(1_400), millis(4), seed);
        let mut serve = |cluster: &mut Cluster<_>, span, delay| {
            cluster.serve(span, |node| {
                latency() + millis(if node == 0 { delay } else { 0 })
            })[0]
        };
        let before = serve(&mut cluster, SECOND, 0);
        assert!((330..=340).contains(&before), "{what}: {before}");
        serve(&mut cluster, 2 * SECOND, delay);
        // Slow for a whole retry period more: a series of probes goes, one after the other.
        let mut probes = 0;
        for _ in 0..10_000 {
            probes += serve(&mut cluster, millis(1), delay);
            assert!(cluster.in_flight_of(0) <= 1, "{what}");
        }
        assert!(probes <= 6, "{what}: {probes}");

        let mut steps = Vec::new();
        for _ in 0..140 {
            steps.push(serve(&mut cluster, millis(100), 0));
        }
        let most = steps.iter().max().unwrap();
        assert!(*most <= 66, "{what}: {steps:?}");
        assert!(
            steps[130..].iter().all(|&count| count >= 30),
            "{what}: {steps:?}"
        );
    }
}
