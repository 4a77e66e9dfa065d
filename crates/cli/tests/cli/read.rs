//! `get`, `gets` and `gat`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::json;

use crate::harness::{Cluster, run, run_with, seconds};

#[test]
fn one_key_gives_its_value_and_nothing_else() {
    let cluster = Cluster::of(3);
    cluster.ok("set greeting hello");
    assert_eq!(cluster.ok("get greeting"), "hello");
    assert_eq!(run(&mut cluster.command(["set", "empty", ""])).code, 0);
    assert_eq!(cluster.ok("get empty"), "");
    let bytes: Vec<u8> = (0..=255).chain(*b"\r\nEND\r\n").collect();
    assert_eq!(
        run_with(&mut cluster.command(["set", "raw", "-"]), &bytes).code,
        0
    );
    assert_eq!(cluster.run("get raw").stdout, bytes);
}

#[test]
fn several_keys_give_a_line_each_in_the_order_asked() {
    let cluster = Cluster::of(3);
    for n in 0..50 {
        cluster.ok(&format!("set key{n} value{n}"));
    }
    let keys: Vec<String> = (0..50).rev().map(|n| format!("key{n}")).collect();
    let expected: Vec<String> = (0..50)
        .rev()
        .map(|n| format!("key{n}\tvalue{n}\n"))
        .collect();
    let lines = cluster.ok(&format!("get {}", keys.join(" ")));
    assert_eq!(lines, expected.concat());
    assert_eq!(cluster.ok("get key1 key1"), "key1\tvalue1\nkey1\tvalue1\n");
}

#[test]
fn a_miss_exits_1_and_shows_what_there_is() {
    let cluster = Cluster::of(2);
    cluster.ok("set here x");
    for (command, stdout) in [
        ("get gone", ""),
        ("get gone here", "here\tx\n"),
        ("gets gone", ""),
        ("gat gone --ttl 1m", ""),
    ] {
        let outcome = cluster.run(command);
        assert_eq!(
            (outcome.code, &*outcome.text(), &*outcome.stderr),
            (1, stdout, "")
        );
    }
    let outcome = cluster.run("get gone here --json");
    assert_eq!(outcome.code, 1);
    assert_eq!(
        outcome.text(),
        "{\"key\":\"gone\",\"value\":null}\n{\"key\":\"here\",\"value\":\"x\",\"flags\":0}\n"
    );
}

#[test]
fn gets_shows_flags_and_the_cas_number_that_cas_takes() {
    let cluster = Cluster::of(1);
    cluster.ok("set k old --flags 7");
    let line = cluster.ok("gets k");
    let fields: Vec<&str> = line.trim_end().split('\t').collect();
    let &["k", "7", cas, "old"] = &fields[..] else {
        panic!("{line}");
    };
    cluster.ok(&format!("cas k new {cas}"));
    assert_eq!(cluster.run(&format!("cas k newer {cas}")).code, 1);
    let json = &cluster.run("gets k --json").json()[0];
    assert_eq!((&json["value"], &json["flags"]), (&json!("new"), &json!(0)));
    assert_eq!(
        json["cas"].as_u64().unwrap(),
        cas.parse::<u64>().unwrap() + 1
    );
}

#[test]
fn gat_prolongs_a_value_s_life() {
    let cluster = Cluster::of(1);
    cluster.ok("set a 1 --ttl 10s");
    cluster.ok("set b 2 --ttl 10");
    assert_eq!(cluster.ok("gat a --ttl 1m"), "1");
    cluster.clock.advance(seconds(30));
    assert_eq!(cluster.run("get a b").text(), "a\t1\n");
    cluster.ok("gat a --ttl none");
    cluster.clock.advance(seconds(100_000_000));
    assert_eq!(cluster.ok("get a"), "1");
}

#[test]
fn bytes_that_are_no_text_pass_unharmed() {
    let cluster = Cluster::of(2);
    let key = OsStr::from_bytes(b"k\xff\xfe");
    let value = OsStr::from_bytes(b"v\xff\n\t");
    let arguments = ["set".as_ref(), key, value];
    assert_eq!(run(&mut cluster.command(arguments)).code, 0);
    let get = |more: &[&str]| {
        let keys = ["get".as_ref(), key].into_iter();
        run(&mut cluster.command(keys.chain(more.iter().map(OsStr::new))))
    };
    assert_eq!(get(&[]).stdout, value.as_bytes());
    assert_eq!(
        get(&["--json"]).text(),
        "{\"key_base64\":\"a//+\",\"value_base64\":\"dv8KCQ==\",\"flags\":0}\n"
    );
    cluster.ok("set größe 日本語");
    assert_eq!(cluster.ok("get größe"), "日本語");
    assert_eq!(
        cluster.ok("get größe --json"),
        "{\"key\":\"größe\",\"value\":\"日本語\",\"flags\":0}\n"
    );
}
