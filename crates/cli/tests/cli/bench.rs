//! Load on given nodes and on an embedded one: what is measured is what the nodes were asked, and what
//! is theirs is left alone.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use steersman_testkit::{Times, Verb};

use crate::harness::{Cluster, Outcome, plain, seconds};

/// A load that goes on until it is interrupted.
struct Running(Child);

impl Running {
    /// Has begun to read from every server.
    fn start(cluster: &Cluster, args: &str) -> Self {
        let args = format!("bench --seconds 3600 --tasks 4 --keys 300 {args}");
        let child = cluster
            .command(args.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        for server in 0..cluster.servers.len() {
            cluster.wait_for_reads(server, 1);
        }
        Self(child)
    }

    /// As Ctrl-C does.
    fn interrupt(self) -> Outcome {
        kill_process(Pid::from_child(&self.0), Signal::INT).unwrap();
        let output = self.0.wait_with_output().unwrap();
        Outcome {
            code: output.status.code().unwrap(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn number(object: &Value, field: &str) -> u64 {
    let number = object[field].as_u64();
    number.unwrap_or_else(|| panic!("{field} is no number in {object}"))
}

fn requests(cluster: &Cluster, verb: Verb) -> Vec<u64> {
    let servers = cluster.servers.iter();
    let counts = servers.map(|server| server.stats().commands.of(verb));
    counts.collect()
}

fn items(cluster: &Cluster) -> Vec<String> {
    let stats = cluster.run("stats --json").json().remove(0);
    let nodes = stats["nodes"].as_array().unwrap().iter();
    let items = nodes.map(|node| node["stats"]["curr_items"].as_str().unwrap().to_owned());
    items.collect()
}

#[test]
fn without_nodes_one_in_this_process_is_asked() {
    let outcome = plain("bench --json --seconds 1 --keys 100 --tasks 3 --workers 1");
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{outcome:?}");
    let bench = outcome.json().remove(0);
    for field in ["ops_per_second", "gets", "sets", "hits"] {
        assert!(number(&bench, field) > 0, "{field}: {bench}");
    }
    for field in ["errors", "misses", "not_begun"] {
        assert_eq!(number(&bench, field), 0, "{field}: {bench}");
    }
    assert_eq!(bench["gets"], bench["hits"]);
    for measured in [&bench, &bench["get"], &bench["set"]] {
        let times = ["p50_us", "p99_us", "p999_us", "max_us"];
        let times = times.map(|time| number(measured, time));
        assert!(times.is_sorted(), "{measured}");
    }
    let run = &bench["run"];
    let expected = json!({
        "nodes": run["nodes"], "embedded": true, "placement": "rendezvous", "replicas": 1,
        "connections": 2, "tasks": 3, "workers": 1, "seconds": 1, "value_size": 100,
        "ratio": "9:1", "batching": true, "keys": 100, "rate": null,
    });
    assert_eq!(run, &expected);
}

#[test]
fn what_is_counted_is_what_the_nodes_were_asked() {
    let cluster = Cluster::of(3);
    let outcome = cluster.run("bench --json --seconds 1 --keys 300 --ratio 1:1 --batching off");
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{outcome:?}");
    let bench = outcome.json().remove(0);
    let total = |verb| requests(&cluster, verb).iter().sum::<u64>();
    assert_eq!(total(Verb::Get), number(&bench, "gets"));
    assert_eq!(total(Verb::Set), number(&bench, "sets") + 300);
    assert_eq!(total(Verb::Delete), 300);
    for verb in [Verb::Get, Verb::Set, Verb::Delete] {
        assert!(requests(&cluster, verb).iter().all(|&count| count > 0));
    }
    let connections = cluster.servers.iter().map(|server| server.stats().accepted);
    assert_eq!(connections.collect::<Vec<_>>(), [2; 3]);
}

#[test]
fn with_batching_gets_share_requests() {
    let cluster = Cluster::of(1);
    let bench = cluster.run("bench --json --seconds 1 --keys 300 --ratio 1:0 --connections 1");
    let bench = bench.json().remove(0);
    let asked = cluster.servers[0].stats();
    // Gets of one key at the same time are one key of the request.
    assert!(asked.commands.keys_read() <= number(&bench, "gets"));
    assert!(asked.commands.of(Verb::Get) < asked.commands.keys_read());
    assert_eq!(asked.commands.of(Verb::Set), 300);
    assert_eq!(
        (number(&bench, "sets"), &bench["set"]["p50_us"]),
        (0, &Value::Null)
    );
    assert_eq!(asked.accepted, 1);
}

#[test]
fn each_copy_is_written_and_deleted() {
    let cluster = Cluster::of(3);
    let bench = cluster.run("bench --json --seconds 1 --keys 100 --replicas 3 --ratio 1:1");
    let bench = bench.json().remove(0);
    let sets = number(&bench, "sets") + 100;
    assert_eq!(requests(&cluster, Verb::Set), [sets; 3]);
    assert_eq!(requests(&cluster, Verb::Delete), [100; 3]);
    assert_eq!(bench["run"]["replicas"], json!(3));
}

#[test]
fn keys_are_its_own_and_deleted_afterwards() {
    let cluster = Cluster::of(2);
    cluster.ok("set steersman mine");
    cluster.ok("set steersman:bench:1 mine");
    let before = items(&cluster);
    let text = cluster.ok("bench --seconds 1 --keys 1000 --value-size 1000");
    assert_eq!(items(&cluster), before);
    let kept = "steersman\tmine\nsteersman:bench:1\tmine\n";
    assert_eq!(cluster.ok("get steersman steersman:bench:1"), kept);
    // The last requests of each node were for its keys.
    for server in &cluster.servers {
        let requests = server.requests();
        let deletions = requests
            .iter()
            .map(|request| format!("{:?}", request.command));
        let deletions = deletions.filter(|command| command.starts_with("Delete"));
        let deletions: Vec<String> = deletions.collect();
        assert!(deletions.len() > 50, "{requests:?}");
        assert!(
            deletions
                .iter()
                .all(|command| command.contains("steersman:bench:"))
        );
    }

    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "2 nodes (a, b), placement rendezvous");
    assert_eq!(
        lines[1],
        "1,000 keys with 1,000 bytes each, gets to sets 9:1, batching on"
    );
    assert!(lines[2].starts_with("64 tasks on "), "{text}");
    assert!(lines[2].contains(", 2 connections to each node; as fast as they can, for "));
    let heading: Vec<&str> = lines[4].split_whitespace().collect();
    let expected = [
        "OPERATION",
        "COUNT",
        "OPS/S",
        "p50",
        "p99",
        "p99.9",
        "MAX",
        "ERRORS",
    ];
    assert_eq!(heading, expected);
    let rows = lines[5..]
        .iter()
        .map(|line| line.split(' ').next().unwrap());
    assert_eq!(rows.collect::<Vec<_>>(), ["get", "set", "all"], "{text}");
}

#[test]
fn a_rate_is_kept() {
    let bench = plain("bench --json --seconds 1 --rate 300 --keys 10 --ratio 0:1").json();
    let (bench, seconds) = (&bench[0], bench[0]["seconds"].as_f64().unwrap());
    let answered = number(bench, "sets");
    assert!(answered > 0, "{bench}");
    // What is due at the very beginning makes one more.
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    let rate = (answered + number(bench, "not_begun") - 1) as f64 / seconds;
    assert!(rate <= 300.0, "{bench}");
    assert_eq!(bench["run"]["rate"], json!(300));
}

#[test]
fn more_than_the_tasks_can_do_is_told() {
    let text = plain("bench --seconds 1 --rate 10000000 --keys 10 --tasks 1").text();
    assert!(text.contains("1 task on "), "{text}");
    assert!(text.contains("; 10,000,000 operations/s, timed from when due, for "));
    assert!(text.contains(" operations were due and never begun, for want of a free task"));
}

#[test]
fn an_interrupt_ends_the_load_and_what_was_measured_is_printed() {
    let cluster = Cluster::of(2);
    let running = Running::start(&cluster, "--json");
    cluster.wait_for_reads(0, 100);
    let outcome = running.interrupt();
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{outcome:?}");
    assert!(number(&outcome.json()[0], "gets") >= 100);
    assert_eq!(items(&cluster), ["0", "0"]);
}

#[test]
fn an_outage_under_load_is_counted_and_told_after_what_was_measured() {
    let cluster = Cluster::of(2);
    let running = Running::start(&cluster, "--json");
    cluster.stop(0);
    cluster.wait_for_reads(1, 500);
    let outcome = running.interrupt();
    assert_eq!(outcome.code, 2, "{outcome:?}");
    let bench = outcome.json().remove(0);
    assert!(number(&bench, "errors") > 0 && number(&bench, "gets") >= 500);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    let [failed, left] = lines[..] else {
        panic!("{lines:?}");
    };
    assert!(failed.starts_with("error: ") && failed.contains(" operations failed, the first: "));
    assert!(failed.contains("et steersman:bench:") && failed.contains(" at a: "));
    let expected =
        "error: not all keys were deleted, those left expire within 2 h: delete steersman:";
    assert!(
        left.starts_with(expected) && left.contains(" at a: "),
        "{left}"
    );
}

#[test]
fn an_outage_before_the_load_is_all_there_is_to_tell() {
    let cluster = Cluster::of(2);
    cluster.stop(1);
    let outcome = cluster.run("bench");
    let reason = "the connection was refused; is memcached running there?";
    outcome.failed_with_lines(&[&format!("bench at b: {reason}")]);
    assert_eq!(outcome.text(), "");
}

#[test]
fn keys_that_cannot_be_written_make_no_load() {
    let cluster = Cluster::of(1);
    let script = cluster.servers[0].script();
    script.answer(Times::Next(1), "SERVER_ERROR out of memory\r\n");
    let outcome = cluster.run("bench --keys 1");
    outcome.failed_with("error: cannot write the keys: set steersman:bench:");
    outcome.failed_with(" at a: the server answered SERVER_ERROR out of memory");
    assert_eq!(outcome.text(), "");
    assert_eq!(requests(&cluster, Verb::Get), [0]);
}

#[test]
fn a_miss_is_counted_and_no_error() {
    let cluster = Cluster::of(1);
    let running = Running::start(&cluster, "--ratio 1:0");
    // Later than any key is kept.
    cluster.clock.advance(seconds(3 * 3600));
    cluster.wait_for_reads(0, 100);
    let outcome = running.interrupt();
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{outcome:?}");
    let text = outcome.text();
    let note = text.lines().last().unwrap();
    assert!(note.ends_with(" gets found no value"), "{text}");
}
