//! `simulate`: scenarios and recordings under several policies. No node is needed.

use std::fs;

use serde_json::Value;

use crate::harness::plain;

const TINY: &str = r#"
name = "tiny"
title = "One of three servers is slow"
duration = "5s"
load = { rate = 300 }
servers = [{ count = 3, service = { exponential = "1ms" } }]
faults = [{ servers = [1], from = "1s", effect = { slower = 20 } }]
published = [{ policy = "round-robin", measure = "success", value = 1, margin = 0.01, note = "of course" }]
"#;

#[test]
fn a_scenario_file_is_run_under_the_policies_that_were_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.toml");
    fs::write(&path, TINY.replace("servers is", "servers\\u001b[2J is")).unwrap();
    let plot = folder.path().join("plot.svg");
    let args = format!(
        "simulate {} --policy round-robin,latency-aware --seeds 2 --plot {}",
        path.display(),
        plot.display()
    );
    let outcome = plain(&args);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let text = outcome.text();
    let lines: Vec<&str> = text.lines().collect();
    // What a file says does not steer a terminal.
    assert_eq!(lines[0], "tiny: One of three servers\\u{1b}[2J is slow");
    assert!(
        lines[1].starts_with("POLICY") && lines[2].starts_with("round-robin"),
        "{text}"
    );
    assert!(
        text.contains("agrees") && text.contains("of course"),
        "{text}"
    );
    assert!(fs::read_to_string(&plot).unwrap().starts_with("<svg "));
    assert_eq!(plain(&args).text(), text);

    let outcome = plain(&format!("simulate {} --seeds 2 --json", path.display()));
    let report: Value = serde_json::from_str(&outcome.text()).unwrap();
    let slow = |policy: usize| {
        assert_eq!(report["policies"][policy]["seeds"], 2);
        report["policies"][policy]["slow-share"]["mean"]
            .as_f64()
            .unwrap()
    };
    assert_eq!(report["policies"][0]["policy"], "round-robin");
    assert_eq!(report["policies"][1]["policy"], "latency-aware");
    assert!(slow(0) > 0.3 && slow(1) < 0.2, "{report}");
    assert_eq!(report["policies"][0]["notice"], "never");
    assert_eq!(report["published"][0]["agrees"], true);
}

#[test]
fn a_recording_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.jsonl");
    let line = |request: u64| {
        let (node, latency) =
            [("a", 1), ("b", 40), ("c", 1)][usize::try_from(request % 3).unwrap()];
        format!(
            r#"{{"time_ns": {}, "node": "{node}", "latency_ns": {latency}000000, "outcome": "success"}}"#,
            request * 2_000_000
        )
    };
    fs::write(&path, (0..3_000).map(line).collect::<Vec<_>>().join("\n")).unwrap();
    let outcome = plain(&format!(
        "simulate --record {} --seeds 1 --json",
        path.display()
    ));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let report: Value = serde_json::from_str(&outcome.text()).unwrap();
    assert_eq!(report["nodes"], serde_json::json!(["a", "b", "c"]));
    assert!(
        report["recorded"]["p90"].as_f64().unwrap() > 0.039,
        "{report}"
    );
    let aware = &report["policies"][1];
    assert!(aware["p90"]["mean"].as_f64().unwrap() < 0.002, "{report}");
    assert!(aware["shares"][1].as_f64().unwrap() < 0.25, "{report}");
    let text = plain(&format!("simulate --record {} --seeds 1", path.display())).text();
    assert!(text.starts_with("3000 attempts at 3 nodes\n"), "{text}");
}

#[test]
fn what_cannot_be_simulated_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.toml");
    fs::write(&path, TINY.replace("rate = 300", "rate = -1")).unwrap();
    let bad = path.display();
    let endless = folder.path().join("endless.toml");
    fs::write(&endless, TINY.replace("rate = 300", "rate = 1e8")).unwrap();
    let endless = endless.display();
    let empty = folder.path().join("empty.toml");
    fs::write(&empty, "").unwrap();
    let empty = empty.display();
    for (args, hint) in [
        ("simulate".to_owned(), "SCENARIO"),
        ("simulate s99".to_owned(), "choose one of s1"),
        ("simulate nowhere.toml".to_owned(), "nowhere.toml"),
        (
            "simulate s9 --policy best".to_owned(),
            "possible values: round-robin",
        ),
        ("simulate s9 --seeds 0".to_owned(), "1..=1000"),
        (
            "simulate s9 --node a".to_owned(),
            "--node has no effect here",
        ),
        (format!("simulate {bad}"), "load.rate of -1"),
        (format!("simulate {endless}"), "a shorter duration"),
        (format!("simulate {empty}"), "nothing is in it"),
        ("simulate ./mine".to_owned(), "ends in .toml"),
        (format!("simulate --record {bad}"), "line 2"),
        (format!("simulate --record {empty}"), "no measurement"),
    ] {
        let outcome = plain(&args);
        assert_eq!((outcome.code, &*outcome.text()), (2, ""), "{args}");
        assert!(outcome.stderr.contains(hint), "{args}: {}", outcome.stderr);
    }
    let list = plain("simulate --list").text();
    assert!(
        list.contains("s12") && list.contains("s2/one-slow"),
        "{list}"
    );
}
