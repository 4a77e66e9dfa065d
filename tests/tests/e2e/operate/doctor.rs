//! Real nodes in each state that `doctor` is to tell from others.

use serde_json::{Value, json};
use steersman_e2e::authority::Authority;
use steersman_e2e::command_line::steersman;
use steersman_e2e::memcached::RealMemcached;

use super::{Outcome, ok, run, started};

/// Severity, nodes, and what was found, without the notes.
fn trouble(outcome: &Outcome) -> Vec<(String, String, String)> {
    let line = outcome.json().remove(0);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = line["findings"].as_array().unwrap().iter().map(|finding| {
        let nodes = finding["nodes"].as_array().unwrap();
        let nodes: Vec<String> = nodes.iter().map(text).collect();
        (
            text(&finding["severity"]),
            nodes.join(","),
            text(&finding["what"]),
        )
    });
    findings
        .filter(|(severity, ..)| severity != "note")
        .collect()
}

/// Runs it where one thing is wrong.
#[track_caller]
fn only_trouble(servers: &[&RealMemcached], args: &str) -> (Option<i32>, String, String, String) {
    let outcome = run(servers, &format!("doctor --json {args}"));
    let mut found = trouble(&outcome);
    let Some((severity, nodes, what)) = found.pop().filter(|_| found.is_empty()) else {
        panic!("{outcome:?}");
    };
    (outcome.code, severity, nodes, what)
}

#[test]
fn nodes_that_are_well_are_said_to_be() {
    let servers = [started(&[]), started(&[]), started(&[])];
    let servers = servers.each_ref();
    let outcome = ok(&servers, "doctor --json");
    assert_eq!(trouble(&outcome), []);
    let line = outcome.json().remove(0);
    let node = &line["nodes"][2];
    assert_eq!(node["name"], "c");
    assert_eq!(node["clock_skew_s"], 0);
    assert!(node["memory_limit_bytes"].as_u64().unwrap() > 0);
    let lacks = node["lacks"].as_array().unwrap();
    assert!(
        lacks
            .iter()
            .any(|lack| lack.as_str().unwrap().contains("TLS")),
        "{lacks:?}"
    );
    assert!(ok(&servers, "doctor").stdout.ends_with("All is well.\n"));
    assert_eq!(ok(&servers, "keys").stdout, "", "nothing stays");
}

#[test]
fn a_node_that_is_stopped_or_dead_cannot_be_used() {
    let (well, stopped, mut dead) = (started(&[]), started(&[]), started(&[]));
    stopped.pause().unwrap();
    let (code, severity, nodes, what) = only_trouble(&[&well, &stopped], "--timeout 2s");
    stopped.resume().unwrap();
    assert_eq!((code, &*severity, &*nodes), (Some(2), "problem", "b"));
    assert!(what.contains("no reply within 2s"), "{what}");
    dead.kill().unwrap();
    let (code, severity, nodes, what) = only_trouble(&[&well, &dead], "");
    assert_eq!((code, &*severity, &*nodes), (Some(2), "problem", "b"));
    assert!(what.contains("refused"), "{what}");
}

#[test]
fn full_memory_and_connections_that_run_out_are_warnings() {
    let full = started(&["-m", "2"]);
    let value = "v".repeat(50_000);
    for number in 0..400 {
        let line = format!("set k{number} 0 0 50000\r\n{value}");
        assert_eq!(super::say(&full, &line), "STORED\r\n");
    }
    let (code, severity, _, what) = only_trouble(&[&full], "");
    assert_eq!((code, &*severity), (Some(1), "warning"));
    assert!(what.starts_with("it had to forget "), "{what}");

    let crowded = started(&["-c", "100"]);
    let crowd: Vec<_> = (0..70)
        .map(|_| std::net::TcpStream::connect(crowded.addr()).unwrap())
        .collect();
    let (code, severity, _, what) = only_trouble(&[&crowded], "");
    assert_eq!((code, &*severity), (Some(1), "warning"));
    assert!(what.contains(" of 100 connections are taken"), "{what}");
    // Eighty are for clients.
    let more: Vec<_> = (0..10)
        .map(|_| std::net::TcpStream::connect(crowded.addr()).unwrap())
        .collect();
    let (code, severity, _, what) = only_trouble(&[&crowded], "");
    assert_eq!((code, &*severity), (Some(2), "problem"));
    assert!(what.contains("Too many open connections"), "{what}");
    drop((crowd, more));
}

#[test]
fn a_node_whose_memory_does_not_fit_its_keys_is_named() {
    let (small, large) = (started(&["-m", "8"]), started(&["-m", "800"]));
    let (code, severity, nodes, what) = only_trouble(&[&small, &large], "");
    assert_eq!((code, &*severity, &*nodes), (Some(1), "warning", "a"));
    assert!(
        what.starts_with("it has 1.0% of the memory and owns "),
        "{what}"
    );
    let replicated = run(&[&small, &large], "doctor --replicas 2 --json");
    assert_eq!(trouble(&replicated).len(), 1, "{replicated:?}");
}

#[test]
fn tls_and_credentials_that_do_not_fit_are_told_with_their_option() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("ours").unwrap();
    let server = authority.issue(&["cache.internal"]).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (chain, key) = (write("chain", &server.chain), write("key", &server.key));
    let (ca, users) = (write("ca", authority.pem()), write("users", "joe:secret\n"));
    let (right, wrong) = (write("right", "secret"), write("wrong", "hunter2"));
    let options = format!("ssl_chain_cert={chain},ssl_key={key}");
    let guarded = RealMemcached::start_guarded(&["-Z", "-o", &options, "-Y", &users]);
    let guarded = guarded.unwrap_or_else(|error| panic!("{error}"));
    let tls = format!("--tls --ca {ca} --server-name cache.internal");
    let user = "--user joe --password-file";
    for (options, hint) in [
        (String::new(), "does it want TLS?"),
        (format!("--tls {user} {right}"), "see --ca"),
        (
            format!("--tls --ca {ca} {user} {right}"),
            "see --server-name",
        ),
        (tls.clone(), "see --user"),
        (format!("{tls} {user} {wrong}"), "refused the user \"joe\""),
    ] {
        let (code, severity, _, what) = only_trouble(&[&guarded], &options);
        assert_eq!((code, &*severity), (Some(2), "problem"), "{options}");
        assert!(what.contains(hint), "{options}: {what}");
        assert!(!what.contains("hunter2"), "{what}");
    }
    // All is well, but for what memcached 1.6.18 makes of TLS.
    let args = format!("{tls} {user} {right}");
    let (code, severity, _, what) = only_trouble(&[&guarded], &args);
    assert_eq!((code, &*severity), (Some(1), "warning"));
    assert!(
        what.contains("hangs when it is sent more than 16 KiB"),
        "{what}"
    );
    // Whoever writes a URL is told of the URL's options.
    let url = |user: &str, options: &str| {
        let url = format!("memcached+tls://{user}{}?{options}", guarded.node());
        let args = ["doctor", "--json", "--timeout", "10s", "--url", &url];
        let outcome = Outcome::from(steersman().args(args).output().unwrap());
        let line = outcome.json().remove(0);
        let text = |name: &str| line["findings"][0][name].as_str().unwrap().to_owned();
        for option in ["--tls", "--ca", "--user", "--server-name"] {
            assert!(!outcome.stdout.contains(option), "{outcome:?}");
        }
        (text("what"), text("advice"), line["nodes"][0].clone())
    };
    let (name, roots) = (
        "tls_server_name=cache.internal",
        &*format!("tls_roots={ca}"),
    );
    let trust = format!("{name}&{roots}");
    let (what, advice, node) = url("", roots);
    assert!(what.ends_with("; see `tls_server_name` of --url"), "{what}");
    let compare = "compare `tls`, `tls_roots`, `tls_cert` and `tls_server_name` of --url with";
    assert!(advice.starts_with(compare), "{advice}");
    assert_eq!(
        (&node["tls"], &node["login"]),
        (&json!("failed"), &json!("off"))
    );
    let (what, ..) = url("joe:secret@", name);
    assert!(what.ends_with("; see `tls_roots` of --url"), "{what}");
    let (what, ..) = url("", &trust);
    assert!(what.ends_with("; see `user` of --url"), "{what}");
    let (_, advice, node) = url("joe:hunter2@", &trust);
    assert!(
        advice.starts_with("compare `user` of --url and its password"),
        "{advice}"
    );
    assert_eq!(node["login"], "failed");
    let (what, _, node) = url("joe:secret@", &trust);
    assert!(what.contains("hangs when it is sent"), "{what}");
    assert_eq!((&node["tls"], &node["login"]), (&json!("ok"), &json!("ok")));
    // Credentials that nobody asks for protect nothing.
    let open = started(&[]);
    let (code, _, _, what) = only_trouble(&[&open], &format!("{user} {right}"));
    assert_eq!(code, Some(1));
    assert!(what.starts_with("it takes any credentials"), "{what}");
}

#[test]
fn one_server_under_two_names_is_found_out() {
    let server = started(&[]);
    let outcome = run(&[&server, &server], "doctor --json");
    assert_eq!(outcome.code, Some(1));
    let trouble = trouble(&outcome);
    assert!(
        trouble
            .iter()
            .any(|(_, _, what)| what.contains("one server under two names"))
    );
    assert!(
        trouble
            .iter()
            .any(|(_, _, what)| what.starts_with("it has the address of a"))
    );
}
