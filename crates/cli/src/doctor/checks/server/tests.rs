use std::time::Duration;

use super::*;

fn stats(stats: &[(&str, &str)]) -> Stats {
    let stats = stats.iter();
    let stats = stats.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Stats::from(stats.collect::<Vec<_>>())
}

/// What is found at a node that is well but for these.
fn found(general: &[(&str, &str)], change: impl FnOnce(&mut Answered, &mut Given)) -> Vec<String> {
    let mut node = Answered {
        took: Duration::from_millis(1),
        version: "1.6.45".to_owned(),
        stats: stats(general),
        settings: stats(&[]),
        skew: Some(0),
    };
    let mut given = Given::default();
    change(&mut node, &mut given);
    let mut findings = Vec::new();
    check("a", &node, given, &mut findings);
    let shown = findings.iter();
    let shown = shown.map(|finding| format!("{}: {}", finding.severity.word(), finding.what));
    shown.collect()
}

#[track_caller]
fn assert_found(found: &[String], beginnings: &[&str]) {
    assert_eq!(found.len(), beginnings.len(), "{found:?}");
    for (found, beginning) in found.iter().zip(beginnings) {
        assert!(found.starts_with(beginning), "{found}");
    }
}

#[test]
fn of_a_node_that_is_well_there_is_nothing_to_say() {
    assert_found(&found(&[], |_, _| {}), &[]);
    let usual = [
        ("max_connections", "1024"),
        ("curr_connections", "819"),
        ("evictions", "0"),
        ("bytes", "67108864"),
        ("limit_maxbytes", "67108864"),
    ];
    assert_found(&found(&usual, |node, _| node.skew = Some(-2)), &[]);
}

#[test]
fn versions_lack_what_came_later() {
    let of = |version: &str, tls: bool| {
        found(&[], |node, given| {
            version.clone_into(&mut node.version);
            given.tls = tls.then_some(Way::Arguments);
        })
    };
    assert_found(&of("1.6.40", false), &[]);
    assert_found(
        &of("1.6.18", false),
        &["note: it is 1.6.18, which lacks cas numbers drawn by the client, TLS that"],
    );
    assert_found(
        &of("1.6.38", true),
        &["warning: it is 1.6.38, which hangs", "note: it is 1.6.38"],
    );
    assert_found(
        &of("1.6.39", true),
        &["note: it is 1.6.39, which lacks values"],
    );
    assert_found(
        &of("1.5.22", true),
        &["warning: it is 1.5.22, which has no meta"],
    );
    assert_found(&of("proxy", false), &["note: its version is \"proxy\""]);
    assert_eq!(lacks("1.4.0").len(), FEATURES.len());
    assert_eq!(lacks("proxy"), Vec::<&str>::new());
}

#[test]
fn credentials_and_certificates_that_protect_nothing_are_named() {
    let of = |asks: &str, options: &[&str]| {
        found(&[], |node, given| {
            node.settings = stats(&[("auth_enabled_ascii", asks)]);
            given.user = options.contains(&"user").then_some(Way::Arguments);
            given.tls = options.contains(&"tls").then_some(Way::Arguments);
            given.unverified = options.contains(&"insecure");
        })
    };
    assert_found(&of("no", &[]), &[]);
    assert_found(&of("yes", &["user", "tls"]), &[]);
    assert_found(&of("yes", &["user"]), &["note: the password"]);
    assert_found(
        &of("no", &["user", "tls"]),
        &["warning: it takes any credentials"],
    );
    assert_found(
        &of("no", &["tls", "insecure"]),
        &["warning: its certificate is not verified"],
    );
}

#[test]
fn memory_that_does_not_suffice_shows_in_what_was_forgotten_and_refused() {
    let of = |evictions, stored| {
        found(
            &[("evictions", evictions), ("total_items", stored)],
            |_, _| {},
        )
    };
    assert_found(&of("4", "100"), &["note: it had to forget 4 values"]);
    assert_found(&of("5", "100"), &["warning: it had to forget 5 values"]);
    assert_found(
        &found(
            &[("store_no_memory", "7"), ("store_too_large", "8")],
            |_, _| {},
        ),
        &["warning: it refused 7", "note: it refused 8"],
    );
}

#[test]
fn connections_run_out_at_four_fifths() {
    let of = |now, limit| {
        found(
            &[("curr_connections", now), ("max_connections", limit)],
            |_, _| {},
        )
    };
    assert_found(&of("79", "100"), &[]);
    assert_found(&of("80", "100"), &["warning: 80 of 100 connections"]);
    let reserved = [
        ("curr_connections", "64"),
        ("max_connections", "100"),
        ("reserved_fds", "20"),
    ];
    assert_found(
        &found(&reserved, |_, _| {}),
        &["warning: 64 of 100 connections are taken, 20 of which"],
    );
    for counter in ["rejected_connections", "listen_disabled_num"] {
        assert_found(
            &found(&[(counter, "3")], |_, _| {}),
            &["warning: since it started, it has had no place for a connection 3 times"],
        );
    }
}

#[test]
fn a_clock_that_is_off_lets_values_expire_at_another_time() {
    let of = |skew| found(&[], |node, _| node.skew = skew);
    assert_found(&of(None), &[]);
    assert_found(&of(Some(2)), &[]);
    let ahead = of(Some(3600));
    assert_found(&ahead, &["warning: its clock is 3,600 s ahead of ours"]);
    assert!(ahead[0].ends_with("do so early"));
    let behind = of(Some(-3));
    assert_found(&behind, &["warning: its clock is 3 s behind ours"]);
    assert!(behind[0].ends_with("do so late"));
}
