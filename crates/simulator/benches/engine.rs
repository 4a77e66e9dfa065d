//! How many requests are simulated in a second, on one core.
//!
//! ```text
//! cargo bench -p steersman-simulator --bench engine
//! ```

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use steersman_simulator::{PolicyKind, Scenario, Simulation};

/// Twelve servers with four slots each at 60 % of what they can do; a second and a half of it is 100,000
/// requests and more.
const OPEN: &str = r#"
name = "open"
title = "An open loop without a network"
duration = "2s"
load = { rate = 60000 }
servers = [{ count = 12, service = { exponential = "500us" }, slots = 4 }]
clients = { timeout = "100ms", retries = 1 }
"#;

/// The same with all that costs: a network, keys and replicas, several clients, a slow server.
const WHOLE: &str = r#"
name = "whole"
title = "A network, keys, replicas, clients, a slow server"
duration = "2s"
load = { rate = 60000 }
keys = { count = 10000, zipf = 0.9, replicas = 3 }
servers = [{ count = 12, service = { log-normal = { median = "400us", sigma = 0.6 } }, slots = 4, network = "100us" }]
clients = { count = 20, timeout = "100ms", retries = 1 }
faults = [{ servers = [3], from = "500ms", until = "1500ms", effect = { slower = 3 } }]
"#;

fn engine(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("engine");
    group.sample_size(10);
    for text in [OPEN, WHOLE] {
        let scenario = Scenario::parse(text).expect("it is valid").remove(0);
        let simulation = Simulation::new(&scenario).expect("it is valid");
        for policy in PolicyKind::ALL {
            let requests = simulation.run_policy(policy, 1).requests();
            group.throughput(Throughput::Elements(requests));
            group.bench_function(format!("{}/{policy}", scenario.name), |bencher| {
                bencher.iter(|| simulation.run_policy(policy, 1));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
