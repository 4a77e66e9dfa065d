//! What `doctor` says of nodes that are well, and of others. Those that take a real memcached to be unwell
//! are among the end-to-end tests.

use serde_json::{Value, json};

use crate::harness::{Cluster, Outcome, plain, run, seconds, steersman};

/// What was found: how bad, where, and how it begins.
fn findings(outcome: &Outcome) -> Vec<(String, Value, String)> {
    let line = outcome.json().remove(0);
    let findings = line["findings"].as_array().unwrap();
    let findings = findings.iter().map(|finding| {
        assert!(!finding["advice"].as_str().unwrap().is_empty(), "{finding}");
        (
            finding["severity"].as_str().unwrap().to_owned(),
            finding["nodes"].clone(),
            finding["what"].as_str().unwrap().to_owned(),
        )
    });
    findings.collect()
}

/// The findings that are no notes.
fn trouble(outcome: &Outcome) -> Vec<(String, Value, String)> {
    let mut findings = findings(outcome);
    findings.retain(|(severity, ..)| severity != "note");
    findings
}

#[test]
fn nodes_that_are_well_are_listed_and_nothing_of_the_examination_stays() {
    let cluster = Cluster::with_the_system_s_clock(2);
    let outcome = cluster.run("doctor --timeout 10s");
    let text = outcome.text();
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{text}");
    let mut lines = text.lines();
    let heading: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(
        heading,
        [
            "NODE", "CONNECT", "TLS", "LOGIN", "ANSWER", "VERSION", "MEMORY", "CONNS", "CLOCK"
        ]
    );
    assert!(lines.next().unwrap().starts_with("a "), "{text}");
    assert!(text.ends_with("\n\nAll is well.\n"), "{text}");

    let outcome = cluster.run("doctor --json --timeout 10s");
    assert_eq!(trouble(&outcome), []);
    let line = outcome.json().remove(0);
    let node = &line["nodes"][0];
    assert_eq!(node["version"], json!("1.6.18"));
    assert_eq!(node["clock_skew_s"], json!(0));
    assert_eq!(
        (&node["tls"], &node["login"]),
        (&json!("off"), &json!("off"))
    );
    assert!(node["addresses"][0]["connect_us"].is_u64(), "{node}");
    let stats = cluster.run("stats --json").json().remove(0);
    for node in stats["nodes"].as_array().unwrap() {
        assert_eq!(node["stats"]["curr_items"], json!("0"));
        assert_ne!(node["stats"]["total_items"], json!("0"));
    }
}

#[test]
fn a_clock_that_is_off_is_a_warning() {
    let cluster = Cluster::of(1);
    cluster.clock.advance(seconds(3600));
    let outcome = cluster.run("doctor --json --timeout 10s");
    assert_eq!(outcome.code, 1);
    let [(severity, nodes, what)] = &trouble(&outcome)[..] else {
        panic!("{outcome:?}");
    };
    assert_eq!((&**severity, nodes), ("warning", &json!(["a"])));
    assert!(what.starts_with("its clock is 3,"), "{what}");
    assert!(what.contains("ahead of ours"), "{what}");
}

#[test]
fn two_names_of_one_server_are_found_out() {
    let cluster = Cluster::with_the_system_s_clock(2);
    let (one, other) = (cluster.servers[0].node(), cluster.servers[1].node());
    let port = one.rsplit_once(':').unwrap().1;
    let nodes = format!("a={one},b={other},c=localhost:{port}");
    let outcome = plain(&format!("doctor --json --timeout 10s --node {nodes}"));
    assert_eq!(outcome.code, 1, "{outcome:?}");
    let mut twins = trouble(&outcome);
    twins.retain(|(_, _, what)| what.contains("one server under two names"));
    let [(severity, nodes, _)] = &twins[..] else {
        panic!("{outcome:?}");
    };
    assert_eq!(severity, "warning");
    assert!([json!(["a"]), json!(["c"])].contains(nodes), "{nodes}");
}

#[test]
fn a_node_that_cannot_be_used_is_a_problem_and_the_others_are_examined() {
    let cluster = Cluster::with_the_system_s_clock(2);
    cluster.stop(1);
    let outcome = cluster.run("doctor --json --timeout 10s");
    outcome.failed_with_lines(&[
        "doctor at b: the connection was refused; is memcached running there?",
    ]);
    let [(severity, nodes, what)] = &trouble(&outcome)[..] else {
        panic!("{outcome:?}");
    };
    assert_eq!((&**severity, nodes), ("problem", &json!(["b"])));
    assert!(what.contains("refused"), "{what}");
    let line = outcome.json().remove(0);
    assert_eq!(line["nodes"][0]["version"], json!("1.6.18"));
    assert!(line["nodes"][1]["error"].is_string(), "{line}");

    let text = cluster.run("doctor --timeout 10s").text();
    assert!(
        text.contains("\nproblem  b: the connection was refused"),
        "{text}"
    );
    assert!(text.contains("\n         start memcached there"), "{text}");
    assert!(text.ends_with("\n\n1 problem.\n"), "{text}");
}

#[test]
fn a_name_without_an_address_is_a_problem_of_the_name() {
    let outcome = plain("doctor --node x=no-such-host.invalid --json --timeout 20s");
    assert_eq!(outcome.code, 2);
    let line = outcome.json().remove(0);
    assert!(line["nodes"][0]["addresses_error"].is_string(), "{line}");
    let advice = line["findings"][0]["advice"].as_str().unwrap();
    assert!(advice.contains("DNS"), "{advice}");
}

#[test]
fn mistakes_in_the_options_are_told_before_anything_is_asked() {
    run(&mut steersman(["doctor", "--node", "a,a"])).failed_with("--node");
    plain("doctor --ca file").failed_with("--ca has no effect without --tls");
}
