//! `steersman cassandra` on a real cluster, as scripts use it.

use std::process::Output;

use serde_json::Value;
use steersman_e2e::command_line;
use tokio::process::Command;

use crate::world::{EVERYWHERE, World};

/// Reads of the rows that the world has.
const READS: [&str; 6] = [
    "--keyspace",
    EVERYWHERE,
    "--query",
    "SELECT v FROM t WHERE k = ?",
    "--keys",
    "0..999",
];

/// One look and a short comparison tell of each node; what cannot be done is told.
pub(crate) async fn watches_and_compares(_: &World) {
    watches().await;
    compares().await;
    refuses().await;
}

async fn watches() {
    let seen = json(&steersman(&["watch", "--once", "--json"], &READS).await);
    assert_eq!(seen["failures"], 0, "{seen}");
    assert!(number(&seen, "reads_per_second") > 0.0, "{seen}");
    assert!(number(&seen, "p50_us") <= number(&seen, "p99_us"), "{seen}");
    for node in nodes(&seen) {
        assert_eq!(node["connected"], true, "{seen}");
        assert!(number(node, "picks") > 0.0, "{seen}");
        assert!(number(node, "score_us") > 0.0, "{seen}");
    }
}

async fn compares() {
    let length = ["--seconds", "1", "--rounds", "1", "--warm-up", "500ms"];
    let command = [&["compare", "--json", "--rate", "300"], &length[..]].concat();
    let seen = json(&steersman(&command, &READS).await);
    let policies = seen["policies"].as_array().expect("policies are listed");
    assert_eq!(policies.len(), 8, "{seen}");
    for policy in policies {
        assert_eq!(policy["failures"], 0, "{policy}");
        assert!(number(policy, "reads_per_second") > 0.0, "{policy}");
        let (p99, p999) = (number(policy, "p99_us"), number(policy, "p999_us"));
        assert!(p99 <= p999, "{policy}");
        nodes(policy);
    }
}

async fn refuses() {
    for (arguments, why) in [
        (["--datacenter", "dc9"], "the cluster has dc1"),
        (["--keyspace", "nowhere"], EVERYWHERE),
        (["--query", "SELECT v FROM everywhere.missing"], "missing"),
    ] {
        let output = steersman(&["watch", "--once"], &arguments).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.starts_with("error: --") && said.contains(why),
            "{said}"
        );
    }
}

async fn steersman(command: &[&str], arguments: &[&str]) -> Output {
    let mut program = Command::from(command_line::steersman());
    let program = program.arg("cassandra").args(command).args(arguments);
    program.output().await.expect("the command can be run")
}

/// What it printed.
fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).expect("it printed JSON")
}

/// What is said of the three nodes, whose shares are all there is.
fn nodes(object: &Value) -> &[Value] {
    let nodes = object["nodes"].as_array().expect("nodes are listed");
    assert_eq!(nodes.len(), 3, "{object}");
    let shares = nodes.iter().map(|node| number(node, "share_percent"));
    let sum: f64 = shares.sum();
    assert!((99.0..=101.0).contains(&sum), "{sum} % in {object}");
    nodes
}

fn number(object: &Value, name: &str) -> f64 {
    let number = object[name].as_f64();
    number.unwrap_or_else(|| panic!("{name} is no number in {object}"))
}
