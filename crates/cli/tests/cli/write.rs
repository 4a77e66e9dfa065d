//! The commands that change values.

use serde_json::json;

use crate::harness::{Cluster, run, run_with, seconds, steersman};

/// Runs each command and compares exit code and stdout.
fn script(cluster: &Cluster, steps: &[(&str, i32, &str)]) {
    for (args, code, stdout) in steps {
        let outcome = cluster.run(args);
        let seen = (outcome.code, outcome.text(), &*outcome.stderr);
        assert_eq!(seen, (*code, (*stdout).to_owned(), ""), "{args}");
    }
}

#[test]
fn conditions_decide_the_exit_code_and_nothing_is_printed() {
    let cluster = Cluster::of(3);
    script(
        &cluster,
        &[
            ("replace k 0", 1, ""),
            ("append k 0", 1, ""),
            ("prepend k 0", 1, ""),
            ("cas k 0 1", 1, ""),
            ("delete k", 1, ""),
            ("touch k --ttl 1m", 1, ""),
            ("incr k", 1, ""),
            ("decr k 5", 1, ""),
            ("add k b", 0, ""),
            ("add k x", 1, ""),
            ("append k c", 0, ""),
            ("prepend k a", 0, ""),
            ("get k", 0, "abc"),
            ("replace k -7", 0, ""),
            ("get k", 0, "-7"),
            ("cas k x 999999", 1, ""),
            ("touch k --ttl none", 0, ""),
            ("delete k", 0, ""),
            ("get k", 1, ""),
        ],
    );
}

#[test]
fn counting_prints_the_new_number() {
    let cluster = Cluster::of(1);
    script(
        &cluster,
        &[
            ("set n 41", 0, ""),
            ("incr n", 0, "42\n"),
            ("incr n 8", 0, "50\n"),
            ("decr n 8", 0, "42\n"),
            ("decr n 100", 0, "0\n"),
            ("incr n 18446744073709551615", 0, "18446744073709551615\n"),
            ("incr n 2", 0, "1\n"),
            ("incr n 4 --json", 0, "{\"key\":\"n\",\"value\":5}\n"),
            ("decr gone --json", 1, "{\"key\":\"gone\",\"value\":null}\n"),
        ],
    );
    cluster.ok("set word abc");
    cluster
        .run("incr word")
        .failed_with("incr word at a: the server answered CLIENT_ERROR cannot increment");
}

#[test]
fn json_names_the_outcome() {
    let cluster = Cluster::of(2);
    let line = |outcome: &str| format!("{{\"key\":\"k\",\"outcome\":\"{outcome}\"}}\n");
    for (args, code, outcome) in [
        ("set k 1", 0, "stored"),
        ("add k 1", 1, "not_stored"),
        ("cas k 1 999999", 1, "exists"),
        ("touch k --ttl 1h", 0, "touched"),
        ("delete k", 0, "deleted"),
        ("delete k", 1, "not_found"),
        ("cas k 1 1", 1, "not_found"),
        ("touch k --ttl 1h", 1, "not_found"),
    ] {
        let answer = cluster.run(&format!("--json {args}"));
        assert_eq!(
            (answer.code, answer.text()),
            (code, line(outcome)),
            "{args}"
        );
    }
}

#[test]
fn several_keys_can_be_deleted_and_touched_at_once() {
    let cluster = Cluster::of(3);
    for key in ["a", "b", "c"] {
        cluster.ok(&format!("set {key} 1 --ttl 10s"));
    }
    cluster.ok("touch a b --ttl 1h");
    cluster.clock.advance(seconds(11));
    assert_eq!(cluster.run("get a b c").text(), "a\t1\nb\t1\n");
    let outcome = cluster.run("delete a gone b --json");
    assert_eq!(outcome.code, 1);
    let outcomes: Vec<_> = outcome
        .json()
        .iter()
        .map(|line| line["outcome"].clone())
        .collect();
    assert_eq!(
        outcomes,
        [json!("deleted"), json!("not_found"), json!("deleted")]
    );
}

#[test]
fn a_value_lives_as_long_as_it_is_told_to() {
    let cluster = Cluster::of(1);
    cluster.ok("set second 1 --ttl 1ms");
    cluster.ok("set minute 1 --ttl 1m");
    cluster.ok("set months 1 --ttl 90d");
    cluster.ok("add ever 1");
    for (wait, left) in [
        (0, "second\t1\nminute\t1\nmonths\t1\never\t1\n"),
        (2, "minute\t1\nmonths\t1\never\t1\n"),
        (60, "months\t1\never\t1\n"),
        (89 * 86_400, "months\t1\never\t1\n"),
        (2 * 86_400, "ever\t1\n"),
    ] {
        cluster.clock.advance(seconds(wait));
        assert_eq!(cluster.run("get second minute months ever").text(), left);
    }
}

#[test]
fn a_value_can_come_from_stdin() {
    let cluster = Cluster::of(1);
    let value = vec![b'x'; 500_000];
    for (verb, code) in [("set", 0), ("add", 1), ("replace", 0)] {
        let outcome = run_with(&mut cluster.command([verb, "big", "-"]), &value);
        assert_eq!((outcome.code, &*outcome.stderr), (code, ""));
    }
    assert_eq!(cluster.run("get big").stdout, value);
    assert_eq!(
        run_with(&mut cluster.command(["append", "big", "-"]), b"y\n").code,
        0
    );
    assert!(cluster.run("get big").stdout.ends_with(b"xxy\n"));
    let too_big = vec![b'x'; 2_000_000];
    let outcome = run_with(&mut cluster.command(["set", "big", "-"]), &too_big);
    outcome.failed_with("object too large for cache");
}

#[test]
fn a_closed_stdin_is_an_empty_one() {
    let cluster = Cluster::of(1);
    let binary = env!("CARGO_BIN_EXE_steersman");
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", "exec \"$0\" set k - <&-", binary])
        .env("STEERSMAN_NODES", cluster.nodes());
    assert_eq!(run(&mut shell).code, 0);
    assert_eq!(cluster.ok("gets k").split('\t').count(), 4);
    assert_eq!(cluster.ok("get k"), "");
}

#[test]
fn keys_that_memcached_would_refuse_are_refused_with_the_reason() {
    let cluster = Cluster::of(1);
    for key in ["", "two words", "line\r\nbreak", &"k".repeat(251)] {
        for command in [vec!["get", key], vec!["set", key, "v"], vec!["incr", key]] {
            run(&mut cluster.command(command)).failed_with("key");
        }
        let outcome = run(&mut cluster.command(["get", "fine", key, "--json"]));
        outcome.failed_with("error: get ");
        assert_eq!(outcome.json()[0]["value"], json!(null));
        assert!(outcome.json()[1]["error"].is_string());
    }
    assert!(cluster.servers[0].stats().commands.rejected() == 0);
}

#[test]
fn a_value_that_looks_like_an_option_follows_two_dashes() {
    let cluster = Cluster::of(1);
    let outcome = run(&mut cluster.command(["set", "k", "--value"]));
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("-- --value"), "{outcome:?}");
    cluster.ok("set k -- --value");
    assert_eq!(cluster.ok("get k"), "--value");
}

#[test]
fn nodes_are_taken_from_the_arguments_before_the_environment() {
    let (cluster, other) = (Cluster::of(1), Cluster::of(1));
    let args = ["set", "k", "v", "--node", &other.nodes()];
    assert_eq!(run(&mut cluster.command(args)).code, 0);
    assert_eq!(cluster.run("get k").code, 1);
    assert_eq!(other.ok("get k"), "v");
    let args = ["--node", &other.nodes(), "get", "k"];
    assert_eq!(run(&mut steersman(args)).text(), "v");
}
