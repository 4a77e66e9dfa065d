//! `cassandra` without a cluster: what is refused, and what is said when nobody answers.

use std::net::{Ipv4Addr, TcpListener};

use crate::harness::{Cluster, plain, run, steersman};

/// An address at which nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().to_string()
}

#[test]
fn arguments_must_make_sense() {
    for (args, hint) in [
        ("", "watch"),
        ("watch --contact http://db", "HOST:PORT"),
        ("watch --contact db:0", "HOST:PORT"),
        ("watch --consistency any", "local_quorum"),
        ("watch --rate 0", "1..=100000"),
        ("watch --seconds 3", "--once"),
        ("watch --keys 5..4", "greater"),
        ("watch --slow db-2=1s", "127.0.0.2=50ms"),
        ("watch --slow 127.0.0.2=soon", "250ms"),
        ("watch --slow 127.0.0.2=50", "127.0.0.2=50ms"),
        ("compare --seconds 0", "1..=3600"),
        ("compare --rounds 0", "1..=100"),
        ("compare --speculation 0ms", "above zero"),
    ] {
        let outcome = plain(&format!("cassandra {args}"));
        assert_eq!((outcome.code, &*outcome.text()), (2, ""), "{args}");
        assert!(outcome.stderr.contains(hint), "{args}: {}", outcome.stderr);
    }
    plain("cassandra compare --tasks 8").failed_with("--rate 0");
    plain("cassandra watch --slow 127.0.0.2=50s").failed_with("longer --timeout");
    plain("cassandra watch --node a").failed_with("--contact");
    plain("cassandra watch --replicas 2").failed_with("--replicas");
}

#[test]
fn a_user_needs_a_password_that_nobody_sees() {
    let variable = "STEERSMAN_CASSANDRA_PASSWORD";
    let mut command = steersman(["cassandra", "watch", "--user", "ada"]);
    run(command.env_remove(variable)).failed_with(variable);
    let help = plain("cassandra watch --help").text();
    assert!(
        help.contains(variable) && !help.contains("--password"),
        "{help}"
    );
}

#[test]
fn contact_points_that_refuse_are_named() {
    let (a, b) = (nobody(), nobody());
    for command in ["watch", "watch --once --json", "compare"] {
        let outcome = plain(&format!("cassandra {command} --contact {a}"));
        outcome.failed_with_lines(&[&format!(
            "no contact point answered: {a} refused the connection; is Cassandra running there?"
        )]);
        assert_eq!(outcome.text(), "");
    }
    let outcome = plain(&format!("cassandra watch --contact {a},{b}"));
    outcome.failed_with(&format!(
        "{a} refused the connection, {b} refused the connection; is"
    ));
}

#[test]
fn a_server_that_is_no_cassandra_is_given_up() {
    let cluster = Cluster::of(1);
    let memcached = cluster.servers[0].node();
    let args = format!("cassandra watch --timeout 30ms --contact {memcached}");
    plain(&args).failed_with("is this Cassandra?");
}

#[test]
fn help_shows_what_has_an_effect() {
    for command in ["watch", "compare"] {
        let help = plain(&format!("cassandra {command} --help")).text();
        for (option, shown) in [
            ("--contact", true),
            ("--timeout", true),
            ("--json", true),
            ("--node", false),
            ("--placement", false),
        ] {
            assert_eq!(help.contains(option), shown, "{option} in {help}");
        }
    }
}
