//! What is known of an item without reading it, by servers that know the meta commands or not.

use serde_json::json;
use steersman_testkit::Times;

use crate::harness::Cluster;

#[test]
fn a_key_that_is_nowhere_is_a_negative_answer() {
    let cluster = Cluster::of(2);
    for args in ["inspect k", "inspect k --json", "inspect k --replicas 2"] {
        let outcome = cluster.run(args);
        assert_eq!((outcome.code, &*outcome.stderr), (1, ""), "{args}");
    }
    let line = cluster
        .run("inspect k --json --replicas 2")
        .json()
        .remove(0);
    assert_eq!(line["key"], json!("k"));
    for node in line["nodes"].as_array().unwrap() {
        assert_eq!(node["found"], json!(false));
    }
}

#[test]
fn a_server_without_meta_commands_tells_what_a_value_tells() {
    let cluster = Cluster::of(1);
    cluster.ok("set k value --flags 7");
    let script = cluster.servers[0].script();
    // The first question is for the version.
    script.answer(Times::Next(1), "VERSION 1.5.22\r\n");
    let node = cluster.run("inspect k --json").json().remove(0)["nodes"][0].clone();
    assert_eq!((&node["flags"], &node["length"]), (&json!(7), &json!(5)));
    assert!(node["cas"].is_u64(), "{node}");
    // What is not known is not there; a ttl of null would mean that it never expires.
    assert_eq!(node.get("ttl"), None);
    assert_eq!(node.get("size"), None);
}

#[test]
fn a_dead_node_is_an_outage_and_no_miss() {
    let cluster = Cluster::of(1);
    cluster.stop(0);
    let outcome = cluster.run("inspect k");
    outcome.failed_with("inspect k at a: the connection was refused");
    assert!(outcome.text().contains("failed"));
}
