//! What is not understood: exit code 2 and a hint, nothing on stdout.

use crate::harness::{Outcome, plain, run, steersman};

#[track_caller]
fn refused(args: &str, hint: &str) -> Outcome {
    let outcome = plain(args);
    assert_eq!((outcome.code, &*outcome.text()), (2, ""), "{args}");
    assert!(outcome.stderr.contains(hint), "{args}: {}", outcome.stderr);
    outcome
}

#[test]
fn unknown_words_are_answered_with_known_ones() {
    refused("", "Usage: steersman");
    refused("gett k", "'get'");
    refused("get k --jsom", "a similar argument exists: '--json'");
    refused("get k --placement emcach", "emcache");
    refused("completions basch", "bash");
}

#[test]
fn arguments_must_be_there_and_make_sense() {
    for args in [
        "get",
        "gets",
        "set k",
        "cas k v",
        "cas k v x",
        "incr k x",
        "incr k -1",
        "gat k",
        "touch k",
        "delete",
        "verbosity",
        "verbosity loud",
        "set k v --flags 4294967296",
        "route",
        "moves",
        "route k --keys f",
        "version extra",
        "demo --nodes 1",
        "demo --keys 99",
        "set k v --ttl 0",
    ] {
        let outcome = refused(args, "");
        assert!(outcome.stderr.starts_with("error: "), "{args}: {outcome:?}");
    }
    refused("get k --timeout 1.5s", "250ms");
    refused("get k --timeout 0", "above zero");
    refused("get k --slot-bits 25", "8 to 24");
    refused("get k --node a b --node", "--node");
    refused(
        "get k --node a:port",
        "--node: \"a:port\" is no node: the port",
    );
}

#[test]
fn a_load_that_makes_no_sense_is_refused_with_the_option_s_name() {
    for option in [
        "connections",
        "tasks",
        "seconds",
        "value-size",
        "workers",
        "keys",
        "rate",
    ] {
        for value in [
            "0",
            "-1",
            "1.5",
            "10000001",
            "99999999999999999999",
            "",
            "x",
        ] {
            refused(
                &format!("bench --{option}={value}"),
                &format!("--{option} "),
            );
        }
    }
    for value in ["", ":", "0:0", "9", "9:", ":1", "-1:1", "1:1:1", "99999:1"] {
        refused(&format!("bench --ratio={value}"), "--ratio ");
    }
    refused("bench --ratio 0:0", "at least one get or one set");
    refused("bench --ratio 9/1", "as in 9:1");
    for value in ["", "yes", "ON"] {
        refused(&format!("bench --batching={value}"), "--batching ");
    }
    refused("bench --batching maybe", "on, off");
    refused("bench 5", "'5'");
    plain("bench --replicas 17").failed_with("--replicas: ");
    plain("bench --replicas 0").failed_with("--replicas: ");
}

#[test]
fn a_mistake_in_the_nodes_says_where_it_is_and_breaks_only_what_uses_them() {
    let with = |args: &str, nodes: &str| {
        run(steersman(args.split_whitespace()).env("STEERSMAN_NODES", nodes))
    };
    for wrong in ["a:port", "http://a", "a:1:2", "a=b=c", "me@a", "a,,b"] {
        for args in ["get k", "version", "route k", "moves --add x", "bench"] {
            with(args, wrong).failed_with("error: STEERSMAN_NODES: \"");
        }
        let args = format!("route k --node {wrong}");
        plain(&args).failed_with("error: --node: \"");
        let args = format!("moves --node a --add {wrong}");
        plain(&args).failed_with("error: --add: \"");
    }
    for args in ["completions bash", "demo --keys 100 --phase 100ms"] {
        let outcome = with(args, "a:port");
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{args}");
    }
    with("get k", "a,a").failed_with("error: STEERSMAN_NODES: ");
    with("route k", "a,a").failed_with("error: STEERSMAN_NODES: ");
    plain("get k --node a,a").failed_with("error: --node: a is given twice");
    plain("moves --node a --add a").failed_with("error: --add: ");
    plain("moves --node a --remove b").failed_with("error: --remove: ");
}

#[test]
fn durations_are_explained_where_they_are_refused() {
    refused("get k --timeout 1.5s", "without a unit: seconds");
    for args in ["get --help", "set --help", "touch --help", "flush --help"] {
        // Wrapped as it fits.
        let help = plain(args).text();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("without a unit: seconds"), "{help}");
    }
}

#[test]
fn the_help_of_completions_says_how_to_load_them() {
    let help = plain("help completions").text();
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            help.contains(&format!("steersman completions {shell}")),
            "{help}"
        );
    }
    assert!(!help.contains("--node"), "{help}");
}

#[test]
fn options_that_would_have_no_effect_are_refused() {
    plain("get k --replicas 2").failed_with("`route`, `moves`, `inspect`");
    plain("demo --node a").failed_with("--nodes");
    plain("demo --phase 1ms").failed_with("100ms to 1m");
}

#[test]
fn help_and_version_are_answers() {
    for args in ["--help", "help", "get --help", "help moves", "demo -h"] {
        let outcome = plain(args);
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{args}");
        assert!(outcome.text().contains("Usage: steersman"), "{args}");
    }
    let version = concat!("steersman ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(plain("--version").text(), version);
}

#[test]
fn every_shell_gets_its_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let outcome = plain(&format!("completions {shell}"));
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{shell}");
        let script = outcome.text();
        assert!(
            script.contains("verbosity") && script.contains("slot-bits"),
            "{shell}"
        );
    }
}

#[cfg(not(feature = "cassandra"))]
#[test]
fn what_is_not_in_this_build_says_how_to_get_it() {
    for args in [
        "cassandra",
        "cassandra watch",
        "cassandra compare --contact a --json",
    ] {
        plain(args).failed_with("--features cassandra");
    }
    assert!(
        plain("cassandra --help")
            .text()
            .contains("--features cassandra")
    );
}
