//! Nodes that cannot be reached or do not answer: never a miss, always exit code 2.

use serde_json::json;

use crate::harness::{Cluster, plain, run, steersman};

#[test]
fn a_dead_node_fails_its_own_keys_only() {
    let cluster = Cluster::of(3);
    let keys: Vec<String> = (0..30).map(|n| format!("key{n}")).collect();
    for key in &keys {
        cluster.ok(&format!("set {key} v"));
    }
    cluster.stop(0);
    let all = keys.join(" ");
    let route = cluster.ok(&format!("route {all}"));
    let of_others: Vec<&str> = route
        .lines()
        .filter(|line| !line.contains("\ta="))
        .map(|line| line.split('\t').next().unwrap())
        .collect();
    let expected: Vec<String> = of_others.iter().map(|key| format!("{key}\tv\n")).collect();
    let outcome = cluster.run(&format!("get {all}"));
    let failed = keys.len() - of_others.len();
    assert!(failed > 0);
    outcome.failed_with(&format!("{failed} of 30 keys failed; get_many at a: "));
    assert_eq!(outcome.text(), expected.concat());
    let outcome = cluster.run(&format!("get {all} --json"));
    assert_eq!(outcome.code, 2);
    let lines = outcome.json();
    let errors = lines.iter().filter(|line| line["error"].is_string());
    assert_eq!((lines.len(), errors.count()), (30, failed));
}

#[test]
fn an_outage_outweighs_a_miss_and_says_which_node_and_what_to_do() {
    let cluster = Cluster::of(1);
    cluster.stop(0);
    for command in [
        "get k",
        "gets k l",
        "gat k --ttl 1s",
        "set k v",
        "add k v",
        "replace k v",
        "append k v",
        "prepend k v",
        "cas k v 1",
        "delete k",
        "incr k",
        "decr k",
        "touch k --ttl 1s",
    ] {
        let outcome = cluster.run(command);
        outcome.failed_with(" at a: the connection was refused; is memcached running there?");
        assert_eq!(outcome.text(), "", "{command}");
    }
    let json = cluster.run("incr k --json").json().remove(0);
    assert_eq!(json["key"], json!("k"));
    assert!(json["error"].as_str().unwrap().contains("refused"));
}

#[test]
fn a_silent_node_is_given_up_after_the_time_out() {
    let cluster = Cluster::of(1);
    cluster.servers[0].faults().set_black_hole(true);
    for command in ["get k", "set k v", "version"] {
        let outcome = cluster.run(&format!("{command} --timeout 50ms"));
        outcome.failed_with("--timeout sets how long to wait");
        outcome.failed_with(" at a: ");
    }
    cluster.servers[0].faults().set_black_hole(false);
    cluster.ok("set k v --timeout none");
}

#[test]
fn a_garbled_answer_is_an_outage_and_cannot_steer_the_terminal() {
    let cluster = Cluster::of(1);
    let script = cluster.servers[0].script();
    script.answer(
        steersman_testkit::Times::Next(1),
        "SERVER_ERROR \x1b[2Jgone\r\n",
    );
    let outcome = cluster.run("get k");
    outcome.failed_with("gone");
    assert!(!outcome.stderr.contains('\x1b'), "{outcome:?}");
    script.answer(
        steersman_testkit::Times::Next(1),
        "VALUE other 0 1\r\nx\r\nEND\r\n",
    );
    cluster.run("get k").failed_with("get at a: ");
}

#[test]
fn unix_sockets_and_names_are_understood() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("nobody");
    let node = format!("unix:{}", path.display());
    let outcome = run(&mut steersman(["--node", &node, "get", "k"]));
    outcome.failed_with(&format!("get at {node}: "));
    let outcome = run(&mut steersman(["--node", "x=nowhere.invalid", "get", "k"]));
    outcome.failed_with("get at x: ");
}

/// Port 11211 may be taken on the machine that the test runs on: then its server answers.
#[test]
fn without_nodes_the_default_is_tried_and_named() {
    let outcome = plain("get k");
    if std::net::TcpStream::connect("localhost:11211").is_err() {
        outcome.failed_with("get at localhost:11211: the connection was refused");
        outcome.failed_with("no --node was given");
        outcome.failed_with("`steersman demo` needs no memcached");
    } else {
        assert!(outcome.code <= 1, "{outcome:?}");
    }
}
