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
    outcome.failed_with(" at a: the connection was refused; is memcached running there?");
    assert_eq!(outcome.text(), expected.concat());
    let outcome = cluster.run(&format!("get {all} --json"));
    assert_eq!(outcome.code, 2);
    let lines = outcome.json();
    let errors = lines.iter().filter(|line| line["error"].is_string());
    assert_eq!((lines.len(), errors.count()), (30, failed));
}

#[test]
fn each_node_that_failed_has_a_line_with_its_first_keys_and_how_many_more() {
    let cluster = Cluster::of(3);
    let keys: Vec<String> = (0..60).map(|n| format!("key{n}")).collect();
    let all = keys.join(" ");
    let route = cluster.ok(&format!("route {all}"));
    cluster.stop(0);
    cluster.stop(2);
    let line = |command: &str, node: &str| {
        let owned = route.lines().filter_map(|line| {
            let (key, owner) = line.split_once('\t')?;
            owner.starts_with(&format!("{node}=")).then_some(key)
        });
        let owned: Vec<&str> = owned.collect();
        let (named, more) = (owned[..3].join(", "), owned.len() - 3);
        let reason = "the connection was refused; is memcached running there?";
        format!("error: {command} {named} and {more} more at {node}: {reason}")
    };
    for command in ["get", "gets", "gat", "touch", "delete"] {
        let ttl = match command {
            "gat" | "touch" => "--ttl 1m",
            _ => "",
        };
        for json in ["", "--json"] {
            let outcome = cluster.run(&format!("{command} {all} {ttl} {json}"));
            let mut seen: Vec<&str> = outcome.stderr.lines().collect();
            seen.sort_by_key(|line| line.contains(" at c: "));
            assert_eq!(seen, [line(command, "a"), line(command, "c")]);
            assert_eq!(outcome.code, 2);
        }
    }
}

#[test]
fn a_failure_has_the_command_s_own_name_and_its_key() {
    let cluster = Cluster::of(1);
    cluster.stop(0);
    let reason = "the connection was refused; is memcached running there?";
    for (args, asked) in [
        ("get user:1", "get user:1"),
        ("gat user:1 --ttl 1s", "gat user:1"),
        ("set user:1 v", "set user:1"),
        ("incr user:1", "incr user:1"),
        ("decr user:1 2", "decr user:1"),
        ("get k l", "get k, l"),
        ("delete k l m n", "delete k, l, m and 1 more"),
        ("flush", "flush"),
        ("version", "version"),
    ] {
        let line = format!("{asked} at a: {reason}");
        cluster.run(args).failed_with_lines(&[&line]);
    }
    let json = cluster.run("get k l --json").json();
    assert_eq!(json[1]["error"], json!(format!("get at a: {reason}")));
}

#[test]
fn a_key_s_own_failure_is_not_its_node_s() {
    let cluster = Cluster::of(1);
    cluster.ok("set word abc");
    let outcome = cluster.run("incr word");
    outcome.failed_with("error: incr word at a: the server answered CLIENT_ERROR ");
    let long = "k".repeat(251);
    let args = ["get", "k", &long, "", "a b"];
    let outcome = run(&mut cluster.command(args));
    assert_eq!((outcome.code, outcome.stderr.lines().count()), (2, 3));
    for key in [&format!("{}...", "k".repeat(250)), "\"\"", "\"a b\""] {
        let line = format!("error: get {key}: ");
        assert!(outcome.stderr.contains(&line), "{outcome:?}");
    }
}

#[test]
fn whatever_speaks_another_protocol_may_be_no_memcached() {
    let cluster = Cluster::of(1);
    let script = cluster.servers[0].script();
    for command in ["get k", "set k v", "incr k", "version"] {
        script.answer(
            steersman_testkit::Times::Next(1),
            "HTTP/1.1 400 Bad Request\r\n",
        );
        let outcome = cluster.run(command);
        outcome.failed_with("; is this memcached?");
        outcome.failed_with(" at a: ");
    }
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
    cluster.run("get k").failed_with("get k at a: ");
}

#[test]
fn unix_sockets_and_names_are_understood() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("nobody");
    let node = format!("unix:{}", path.display());
    let outcome = run(&mut steersman(["--node", &node, "get", "k"]));
    outcome.failed_with(&format!("get k at {node}: "));
    let outcome = run(&mut steersman(["--node", "x=nowhere.invalid", "get", "k"]));
    outcome.failed_with("get k at x: ");
}

/// Port 11211 may be taken on the machine that the test runs on: then its server answers.
#[test]
fn without_nodes_the_default_is_tried_and_named() {
    let outcome = plain("get k");
    if std::net::TcpStream::connect("localhost:11211").is_err() {
        outcome.failed_with("get k at localhost:11211: the connection was refused");
        outcome.failed_with("no --node was given");
        outcome.failed_with("`steersman demo` needs no memcached");
    } else {
        assert!(outcome.code <= 1, "{outcome:?}");
    }
}
