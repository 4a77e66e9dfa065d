//! One look at real nodes, well and unwell.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{Outcome, command, run, started};

fn nodes(outcome: &Outcome) -> Vec<Value> {
    let line = outcome.json().remove(0);
    line["nodes"].as_array().unwrap().clone()
}

#[test]
fn what_all_clients_do_is_counted_where_it_is_done() {
    let (busy, idle) = (started(&[]), started(&[]));
    let mut top = command(&[&busy, &idle], "top --once --json --interval 1s");
    let mut top = top
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut load = TcpStream::connect(busy.addr()).unwrap();
    let mut answer = [0; b"END\r\n".len()];
    while top.try_wait().unwrap().is_none() {
        load.write_all(b"get key\r\n").unwrap();
        load.read_exact(&mut answer).unwrap();
    }
    let outcome = Outcome::from(top.wait_with_output().unwrap());
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""));
    let nodes = nodes(&outcome);
    assert!(
        nodes[0]["ops_per_second"].as_u64().unwrap() > 0,
        "{outcome:?}"
    );
    assert_eq!(nodes[1]["ops_per_second"], json!(0));
    // That of the load, and ours.
    assert_eq!(nodes[0]["connections"], json!(2));
    assert_eq!(nodes[1]["connections"], json!(1));
    for node in &nodes {
        assert_eq!(node["health"], json!("healthy"));
        assert!(node["score_us"].is_u64(), "{node}");
    }
}

#[test]
fn a_node_that_is_stopped_or_dead_is_unhealthy_and_says_why() {
    let (stopped, mut dead, well) = (started(&[]), started(&[]), started(&[]));
    stopped.pause().unwrap();
    dead.kill().unwrap();
    let args = "top --once --json --interval 500ms --timeout 1s";
    let outcome = run(&[&stopped, &dead, &well], args);
    stopped.resume().unwrap();
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    let nodes = nodes(&outcome);
    let health: Vec<&str> = nodes
        .iter()
        .map(|node| node["health"].as_str().unwrap())
        .collect();
    assert_eq!(health, ["unhealthy", "unhealthy", "healthy"]);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert!(
        lines[0].starts_with("error: top at a: no reply within 1s"),
        "{lines:?}"
    );
    assert!(
        lines[1].contains("top at b: ") && lines[1].contains("refused"),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 2);
}
