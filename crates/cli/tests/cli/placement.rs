//! `route`, `moves` and `migrate-plan`, which connect to nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{plain, run, run_with, steersman};

const VECTORS: &str = include_str!("../../../selection/tests/vectors/emcache_vectors.json");

fn hex(text: &str) -> Vec<u8> {
    let digit = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digit).collect()
}

/// Keys with the index of their node, by list of nodes.
type Vectors = BTreeMap<Vec<String>, Vec<(Vec<u8>, usize)>>;

fn vectors(chosen: &str) -> Vectors {
    let file: Value = serde_json::from_str(VECTORS).unwrap();
    let mut vectors = Vectors::new();
    for vector in file["vectors"].as_array().unwrap() {
        let nodes = vector["nodes"].as_array().unwrap();
        let nodes = nodes.iter().map(|node| node.as_str().unwrap().to_owned());
        let key = hex(vector["key"].as_str().unwrap());
        let chosen = usize::try_from(vector[chosen].as_u64().unwrap()).unwrap();
        let of_nodes = vectors.entry(nodes.collect()).or_default();
        of_nodes.push((key, chosen));
    }
    vectors
}

#[test]
fn every_vector_of_the_real_emcache_is_routed_as_emcache_does() {
    for (scheme, chosen) in [
        ("emcache", "chosen"),
        ("emcache-aarch64", "chosen_aarch64_linux"),
    ] {
        let vectors = vectors(chosen);
        assert_eq!(vectors.values().map(Vec::len).sum::<usize>(), 810);
        for (nodes, keys) in vectors {
            let (mut input, mut expected) = (Vec::new(), Vec::new());
            for (key, chosen) in keys {
                input.extend([&key[..], b"\n"].concat());
                expected.extend([&key[..], b"\t", nodes[chosen].as_bytes(), b"\n"].concat());
            }
            let nodes = nodes.join(",");
            let args = [
                "--placement",
                scheme,
                "--node",
                &nodes,
                "route",
                "--keys",
                "-",
            ];
            let outcome = run_with(&mut steersman(args), &input);
            assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{nodes}");
            assert!(outcome.stdout == expected, "{scheme}: {nodes}");
        }
    }
}

/// The answers of other clients, which are in the crate of placements.
#[test]
fn other_clients_vectors_are_routed_as_they_do() {
    const VECTORS: &str = include_str!("../../../selection/tests/vectors/compat.json");
    let file: Value = serde_json::from_str(VECTORS).unwrap();
    let texts = |value: &Value| -> Vec<String> {
        let texts = value.as_array().unwrap().iter();
        texts
            .map(|text| text.as_str().unwrap().to_owned())
            .collect()
    };
    let keys = texts(&file["keys"]);
    let mut families = BTreeSet::new();
    for vector in file["vectors"].as_array().unwrap() {
        let placement = vector["placement"].as_str().unwrap();
        // One variant of each, and one list of nodes, with names.
        if vector["pool"].is_u64() || !families.insert(placement.split(':').next().unwrap()) {
            continue;
        }
        let nodes = texts(&vector["nodes"]);
        let owners = vector["owners"].as_array().unwrap().iter();
        let lines = keys.iter().zip(owners).map(|(key, owner)| {
            let owner = usize::try_from(owner.as_u64().unwrap()).unwrap();
            format!("{key}\t{}\n", nodes[owner])
        });
        let args = format!(
            "route --keys - --placement {placement} --node {}",
            nodes.join(",")
        );
        let outcome = run_with(&mut steersman(args.split(' ')), keys.join("\n").as_bytes());
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{args}");
        assert_eq!(outcome.text(), lines.collect::<String>(), "{args}");
    }
    assert_eq!(families.len(), 13);
}

#[test]
fn other_clients_nodes_are_named_as_these_do() {
    let java = "--placement spymemcached-ketama route k --node";
    plain(&format!("{java} cache-1")).failed_with("`host/ip:port=ip:port`");
    let named = format!("{java} cache-1/10.0.0.1:11211=10.0.0.1");
    assert_eq!(plain(&named).text(), "k\tcache-1/10.0.0.1:11211=10.0.0.1\n");
    let bare = "route k --placement dalli --node ::1:11212";
    assert_eq!(plain(bare).text(), "k\t::1:11212\n");
    let unknown = plain("route k --placement twemproxy-modula:crc");
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("twemproxy-modula:crc32a"));
    plain("route k --placement gomemcache --node a*2").failed_with("weight");
    plain("route k --placement gomemcache --slot-bits 16").failed_with("slot");
}

#[test]
fn some_vectors_pass_as_arguments_too() {
    for (nodes, keys) in vectors("chosen") {
        let (key, chosen) = &keys[keys.len() / 2];
        let mut command = steersman(["route", "--placement", "emcache"]);
        for node in &nodes {
            command.args(["--node", node]);
        }
        let outcome = run(command.arg("--").arg(OsStr::from_bytes(key)));
        let expected = [&key[..], b"\t", nodes[*chosen].as_bytes(), b"\n"].concat();
        assert_eq!((outcome.code, outcome.stdout), (0, expected));
    }
}

#[test]
fn nodes_are_named_as_given_and_the_best_comes_first() {
    let one = plain("route k l m --node east=10.0.0.1:11211*2,west,[::1]:5,unix:/run/m");
    assert_eq!((one.code, &*one.stderr), (0, ""));
    let all =
        plain("route k l m --node east=10.0.0.1:11211*2,west,[::1]:5,unix:/run/m --replicas 9");
    for ((one, all), key) in one
        .text()
        .lines()
        .zip(all.text().lines())
        .zip(["k", "l", "m"])
    {
        let (first, nodes) = all.split_once('\t').unwrap();
        assert_eq!(first, key);
        let mut nodes: Vec<&str> = nodes.split(',').collect();
        assert_eq!(one, format!("{key}\t{}", nodes[0]));
        nodes.sort_unstable();
        assert_eq!(
            nodes,
            ["[::1]:5", "east=10.0.0.1:11211*2", "unix:/run/m", "west"]
        );
    }
    assert_eq!(plain("route k").text(), "k\tlocalhost:11211\n");
}

#[test]
fn json_has_a_list_of_nodes_for_each_key() {
    let outcome = plain("route --json --node a größe");
    assert_eq!(outcome.text(), "{\"key\":\"größe\",\"nodes\":[\"a\"]}\n");
    let key = OsStr::from_bytes(b"\xff");
    let args = ["route", "--json", "--node", "a"].map(OsStr::new);
    let outcome = run(steersman(args).arg(key));
    assert_eq!(
        outcome.text(),
        "{\"key_base64\":\"/w==\",\"nodes\":[\"a\"]}\n"
    );
}

#[test]
fn keys_come_from_a_file_or_stdin_one_a_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys");
    std::fs::write(&path, b"a\r\n\nb c\n\xff").unwrap();
    let mut command = steersman(["route", "--node", "n", "--keys"]);
    let outcome = run(command.arg(&path));
    assert_eq!(outcome.stdout, b"a\tn\n\tn\nb c\tn\n\xff\tn\n");
    let args = ["route", "--node", "n", "--keys", "-"];
    assert_eq!(
        run_with(&mut steersman(args), b"a\nb").text(),
        "a\tn\nb\tn\n"
    );
    assert_eq!(run_with(&mut steersman(args), b"").text(), "");
    let endless = vec![b'x'; 100_000];
    let outcome = run_with(&mut steersman(args), &[b"a\n", &endless[..]].concat());
    outcome.failed_with("line 2 of stdin");
    assert_eq!(outcome.text(), "a\tn\n");
    plain("route --keys /nowhere/keys").failed_with("cannot open /nowhere/keys: ");
    plain("route --keys /").failed_with("cannot read /: ");
}

#[test]
fn an_answer_does_not_wait_for_the_next_key() {
    let mut child = steersman(["route", "--node", "n", "--keys", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keys = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for key in ["a", "b"] {
        writeln!(keys, "{key}").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert_eq!(answer, format!("{key}\tn\n"));
    }
    drop(keys);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_node_that_joins_takes_its_share_from_all_and_nothing_else_moves() {
    let json = plain("moves --json --node a,b,c,d --add e")
        .json()
        .remove(0);
    let (keys, moved) = (json["keys"].as_u64(), json["moved"].as_f64().unwrap());
    assert_eq!(keys, Some(100_000));
    let nodes = json["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 5);
    for node in &nodes[..4] {
        assert!(node["before"].as_f64().unwrap() > node["after"].as_f64().unwrap());
    }
    assert_eq!(nodes[4]["name"], json!("e"));
    assert_eq!(nodes[4]["before"], json!(null));
    assert_eq!(nodes[4]["after"], json!(moved));
    assert!((0.19..0.21).contains(&moved), "{moved}");
}

#[test]
fn a_change_is_shown_as_a_table() {
    let args = [
        "moves",
        "--node",
        "a",
        "--add",
        "größe=h",
        "--remove",
        "a",
        "--keys",
        "-",
    ];
    let outcome = run_with(&mut steersman(args), b"k\nl\nm\n");
    assert_eq!(
        outcome.text(),
        "NODE    BEFORE    AFTER\n\
         a      100.00%        -\n\
         größe        -  100.00%\n\
         moved: 100.00% of the 3 keys\n"
    );
    let outcome = plain("moves --node a,b --add c --replicas 2 --placement rendezvous-exact");
    let text = outcome.text();
    assert!(
        text.ends_with("% of the copies of 100,000 sample keys\n"),
        "{text}"
    );
    let outcome = plain("moves --node x=a:1*2,b --remove a:1,x=a:1*2,b --add c");
    outcome.failed_with("--remove: \"a:1\" is none of the nodes x, b");
}

#[test]
fn a_copy_that_stays_on_a_node_in_another_rank_has_not_moved() {
    let all = "moves --json --node a,b --replicas 2 --remove b --add";
    // Both keep all keys: only b's copies have to go somewhere.
    let json = plain(&format!("{all} c")).json().remove(0);
    assert_eq!(json["moved"], json!(0.5));
    // With no more nodes than copies, each node has everything.
    assert_eq!(
        json["nodes"][0],
        json!({"name": "a", "before": 0.5, "after": 0.5})
    );
}

#[test]
fn a_plan_tells_what_each_server_loses_and_gains() {
    // gomemcache is told the same servers in another order: a and b swap their keys, c keeps its own.
    let args = "--node a,b,c --placement gomemcache migrate-plan \
                --to memcached://b,a,n=c:11211?placement=gomemcache";
    let plan = plain(&format!("{args} --json")).json().remove(0);
    let keys = plan["keys"].as_u64().unwrap();
    let of = |at: usize, what: &str| plan["nodes"][at][what].as_u64().unwrap();
    assert_eq!(plan["nodes"].as_array().unwrap().len(), 3, "{plan}");
    assert_eq!(
        (keys, plan["moved"].as_u64()),
        (100_000, Some(keys - of(2, "before")))
    );
    for (one, other) in [(0, 1), (1, 0)] {
        assert_eq!(of(one, "leaving"), of(one, "before"));
        assert_eq!(of(one, "arriving"), of(other, "before"));
        assert_eq!(of(one, "after"), of(other, "before"));
    }
    assert_eq!((of(2, "leaving"), of(2, "arriving")), (0, 0));
    assert_eq!(plan["nodes"][2]["address"], json!("c:11211"));

    // A node that leaves, by a plan of memberships, as a table.
    let args = "--node a,b migrate-plan --from rendezvous --to memcached://a --keys -";
    let outcome = run_with(&mut steersman(args.split(' ')), b"k\nl\nm\nn\n");
    let owners = run_with(
        &mut steersman("--node a,b route --keys -".split(' ')),
        b"k\nl\nm\nn\n",
    );
    let moved = owners.text().matches("\tb\n").count();
    assert!(moved > 0, "{owners:?}");
    let text = outcome.text();
    let last = text.lines().last().unwrap();
    assert!(
        last.starts_with(&format!("moved: {moved} of the 4 keys, ")),
        "{text}"
    );
    assert_eq!(text.matches('#').count(), 20, "{text}");
}

#[test]
fn a_plan_that_cannot_be_made_says_which_side_is_wrong() {
    let plan = "--node a,b migrate-plan --to";
    plain(&format!("{plan} pymemcahe")).failed_with("error: --to: unknown placement");
    plain(&format!("{plan} dalli --from memcached://?placement=dalli")).failed_with("--from: ");
    plain(&format!("{plan} spymemcached-ketama")).failed_with("--to: node \"a\"");
    plain(&format!("{plan} dalli --keys /dev/null")).failed_with("no keys");
    plain(&format!("{plan} dalli --replicas 2")).failed_with("--replicas has no effect");
    let secret = plain(&format!("{plan} memcached://app:s%2/fe@a,a"));
    assert!(
        secret.code == 2 && !secret.stderr.contains("fe@"),
        "{secret:?}"
    );
}

#[test]
fn what_cannot_be_placed_is_refused() {
    plain("route k --node a,a").failed_with("a");
    plain("route k --node a*0").failed_with("weight");
    plain("route k --node a*2 --placement emcache").failed_with("weight");
    plain("route k --node ::1:11211").failed_with("brackets");
    plain("route k --replicas 0").failed_with("replicas");
    plain("route k --replicas 17").failed_with("replicas");
    plain("moves --node a --remove a").failed_with("no node would be left");
    plain("moves --node a --add a").failed_with("\"a\"");
    plain("moves --node a --add b --keys /dev/null").failed_with("no keys");
}
