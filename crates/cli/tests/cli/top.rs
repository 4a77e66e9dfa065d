//! The screen of nodes: at a terminal, and without one.

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{Cluster, plain, run, steersman};
use crate::pseudo_terminal::PseudoTerminal;

const CLEAR: &str = "\x1b[2J";
const REVERSED: &str = "\x1b[7m";
const LEFT: &str = "\x1b[?1049l";
const CURSOR: &str = "\x1b[?25h";

fn top(cluster: &Cluster) -> std::process::Command {
    cluster.command(["top", "--timeout", "10s", "--interval", "200ms"])
}

#[test]
fn the_screen_starts_follows_the_keys_and_gives_the_terminal_back() {
    let cluster = Cluster::of(3);
    let mut terminal = PseudoTerminal::run(top(&cluster), (100, 20));
    terminal.wait_for("3 of 3");
    terminal.press("j");
    terminal.wait_for(REVERSED);
    terminal.press("s");
    // What stays as it is is not written again.
    terminal.wait_for("*");
    terminal.press("\x1b[C");
    terminal.wait_for("*");
    terminal.resize((60, 10));
    terminal.wait_for(CLEAR);
    terminal.press("q");
    let (code, seen) = terminal.end();
    assert_eq!(code, 0);
    let end = &seen[seen.len() - 40..];
    assert!(end.contains(LEFT) && end.contains(CURSOR), "{end:?}");
}

#[test]
fn ctrl_c_and_a_request_to_terminate_give_the_terminal_back_too() {
    let cluster = Cluster::of(1);
    for way in ["\x03", "\x1b", ""] {
        let mut terminal = PseudoTerminal::run(top(&cluster), (100, 20));
        terminal.wait_for("1 of 1");
        match way {
            "" => terminal.signal(Signal::TERM),
            keys => terminal.press(keys),
        }
        let (code, seen) = terminal.end();
        assert_eq!(code, 0);
        assert!(seen.contains(LEFT), "{seen:?}");
    }
}

#[test]
fn a_dead_node_is_red_unless_colours_are_not_wanted() {
    let cluster = Cluster::of(2);
    cluster.stop(1);
    for (variable, red) in [("", true), ("1", false)] {
        let mut command = top(&cluster);
        command.env("NO_COLOR", variable);
        let mut terminal = PseudoTerminal::run(command, (100, 20));
        terminal.wait_for("1 of 2");
        terminal.press("q");
        let (_, seen) = terminal.end();
        assert_eq!(seen.contains("\x1b[38;5;1;"), red, "{seen:?}");
    }
}

#[test]
fn one_look_is_json_of_stable_names() {
    let cluster = Cluster::of(2);
    let seen = cluster.run("top --once --json --timeout 10s --interval 500ms");
    assert_eq!((seen.code, &*seen.stderr), (0, ""));
    let mut lines = seen.json();
    let nodes = lines[0]["nodes"].as_array_mut().unwrap();
    assert_eq!(nodes.len(), 2);
    let node = nodes[0].as_object_mut().unwrap();
    let names: Vec<&str> = node.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "name",
            "health",
            "ops_per_second",
            "p50_us",
            "p99_us",
            "score_us",
            "penalised",
            "connections",
            "in_flight"
        ]
    );
    assert_eq!(
        (&node["name"], &node["health"]),
        (&json!("a"), &json!("healthy"))
    );
    // The clock of the test's server stands still, but not ours.
    assert_eq!(node["ops_per_second"], json!(0));
    let number = |name: &str| node[name].as_u64().unwrap();
    assert!(number("p50_us") > 0 && number("p50_us") <= number("p99_us"));
    assert_eq!(number("connections"), 1);
    let table = cluster.ok("top --once --timeout 10s --interval 200ms");
    assert!(table.starts_with("NODE  HEALTH   OPS/S"), "{table}");
}

#[test]
fn one_look_at_a_dead_node_says_why_and_fails() {
    let cluster = Cluster::of(2);
    cluster.stop(1);
    let seen = cluster.run("top --once --json --timeout 10s --interval 200ms");
    seen.failed_with("error: top at b: ");
    seen.failed_with("the connection was refused; is memcached running there?");
    let line = seen.json().remove(0);
    assert_eq!(line["nodes"][0]["health"], json!("healthy"));
    let dead = &line["nodes"][1];
    assert_eq!(dead["health"], json!("unhealthy"));
    for unknown in ["ops_per_second", "p50_us", "p99_us", "connections"] {
        assert_eq!(dead[unknown], json!(null), "{unknown}");
    }
}

#[test]
fn without_a_terminal_lines_come_until_nobody_reads_them() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let cluster = Cluster::of(1);
    let mut command = cluster.command(["top", "--json", "--interval", "200ms"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..2 {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["nodes"][0]["name"], json!("a"));
    }
    drop(output);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_interval_has_its_limits() {
    for interval in ["0", "199ms", "61s", "x"] {
        let refused = run(&mut steersman(["top", "--interval", interval]));
        assert_eq!(refused.code, 2, "{interval}");
        assert!(refused.stderr.contains("--interval"), "{refused:?}");
    }
    assert!(plain("top --help").text().contains("q or Esc ends"));
}
