//! What is asked of every node.

use serde_json::json;

use crate::harness::{Cluster, plain, seconds};

#[test]
fn every_node_tells_its_version() {
    let cluster = Cluster::of(2);
    assert_eq!(
        cluster.ok("version"),
        "NODE  VERSION\na     1.6.18\nb     1.6.18\n"
    );
    assert_eq!(
        cluster.ok("version --json"),
        "{\"nodes\":[{\"name\":\"a\",\"version\":\"1.6.18\"},{\"name\":\"b\",\"version\":\"1.6.18\"}]}\n"
    );
}

#[test]
fn statistics_are_listed_node_by_node() {
    let cluster = Cluster::of(2);
    cluster.ok("set k v");
    let table = cluster.ok("stats");
    let mut lines = table.lines();
    let heading: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(heading, ["NODE", "NAME", "VALUE"]);
    let items = lines.filter_map(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        (cells[1] == "curr_items").then(|| (cells[0].to_owned(), cells[2].to_owned()))
    });
    let mut items: Vec<_> = items.collect();
    items.sort_by(|one, other| one.1.cmp(&other.1));
    assert_eq!((&*items[0].1, &*items[1].1, items.len()), ("0", "1", 2));

    let json = cluster.run("stats settings --json").json().remove(0);
    assert_eq!(json["nodes"][1]["name"], json!("b"));
    assert_eq!(json["nodes"][1]["stats"]["maxbytes"], json!("67108864"));
    assert_eq!(
        cluster.ok("stats reset"),
        "NODE  NAME  VALUE\na     -     none\nb     -     none\n"
    );
    cluster.run("stats nonsense").failed_with_lines(&[
        "stats at a: the server answered ERROR",
        "stats at b: the server answered ERROR",
    ]);
}

#[test]
fn flushing_hides_every_value_now_or_later() {
    let cluster = Cluster::of(2);
    cluster.ok("set k v");
    cluster.ok("set l v");
    assert_eq!(
        cluster.ok("flush --delay 30s"),
        "NODE  FLUSH\na     will be flushed in 30s\nb     will be flushed in 30s\n"
    );
    cluster.clock.advance(seconds(10));
    assert_eq!(cluster.ok("get k l"), "k\tv\nl\tv\n");
    cluster.clock.advance(seconds(30));
    assert_eq!(cluster.run("get k l").text(), "");
    cluster.ok("set k v");
    let json = cluster.run("flush --delay 1500ms --json").json().remove(0);
    assert_eq!(json["nodes"][0]["flush"], json!("will be flushed in 2s"));
    assert_eq!(
        cluster.ok("flush"),
        "NODE  FLUSH\na     flushed\nb     flushed\n"
    );
    assert_eq!(cluster.run("get k").code, 1);
}

#[test]
fn a_flush_takes_no_default() {
    for args in ["flush", "flush --delay 1m", "flush --json"] {
        let outcome = plain(args);
        outcome.failed_with("say which by --node or STEERSMAN_NODES");
        assert_eq!(outcome.text(), "");
    }
    let cluster = Cluster::of(1);
    let node = cluster.nodes();
    assert_eq!(plain(&format!("flush --node {node}")).code, 0);
}

#[test]
fn every_node_is_told_how_much_to_log() {
    let cluster = Cluster::of(2);
    assert_eq!(
        cluster.ok("verbosity 1"),
        "NODE  VERBOSITY\na     1\nb     1\n"
    );
    let json = cluster.run("verbosity 1 --json").json().remove(0);
    assert_eq!(json["nodes"][0], json!({"name": "a", "verbosity": 1}));
    for server in &cluster.servers {
        let last = server.requests().pop().unwrap();
        assert_eq!(format!("{:?}", last.command), "Verbosity { level: 1 }");
    }
}

#[test]
fn a_node_that_failed_is_listed_with_its_reason() {
    let cluster = Cluster::of(2);
    cluster.stop(1);
    for command in ["version", "stats", "flush", "verbosity 1"] {
        let outcome = cluster.run(command);
        let name = command.split(' ').next().unwrap();
        outcome.failed_with_lines(&[&format!(
            "{name} at b: the connection was refused; is memcached running there?"
        )]);
        // The reason is told once.
        let text = outcome.text();
        let rows = text.lines().filter(|line| line.starts_with("b "));
        let rows: Vec<&str> = rows.collect();
        assert!(rows.len() == 1 && rows[0].ends_with(" failed"), "{text}");
        let json = cluster.run(&format!("{command} --json")).json().remove(0);
        assert_eq!(json["nodes"][0]["error"], json!(null));
        let error = json["nodes"][1]["error"].as_str().unwrap();
        assert!(error.contains("refused"), "{error}");
    }
}
