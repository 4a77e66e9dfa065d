//! The list of keys on the command line.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{command, ok, run, say, started};

#[test]
fn keys_come_decoded_with_what_is_known_of_them_and_where_they_are() {
    let (one, other) = (started(&[]), started(&[]));
    let both = [&one, &other];
    for number in 0..40 {
        ok(&both, &format!("set user:{number} value --ttl 1h"));
    }
    ok(&both, "set 50%25+größe value");
    let listed = ok(&both, "keys").stdout;
    let mut places = BTreeSet::new();
    for line in listed.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [key, node, expires, accessed, size, class] = columns[..] else {
            panic!("{line:?}");
        };
        let owner = ok(&both, &format!("route {key}")).stdout;
        let owner = owner.split_once('\t').unwrap().1;
        assert!(owner.starts_with(&format!("{node}=")), "{line}: {owner}");
        places.insert(node);
        let number = |text: &str| text.parse::<u64>().unwrap();
        if key == "50%25+größe" {
            assert_eq!(expires, "-");
        } else {
            assert!(number(expires) > number(accessed), "{line}");
        }
        assert!(number(size) > 40 && number(class) >= 1, "{line}");
    }
    assert_eq!((listed.lines().count(), places.len()), (41, 2));
    assert!(listed.contains("50%25+größe\t"), "{listed}");

    let json = ok(&both, "keys --json --prefix 50%").json();
    assert_eq!(json.len(), 1);
    assert_eq!(json[0]["key"], json!("50%25+größe"));
    assert_eq!(json[0]["expires_at"], Value::Null);
    assert_eq!(json[0]["fetched"], json!(false));
    assert_eq!(ok(&both, "keys --limit 7").stdout.lines().count(), 7);
    assert_eq!(ok(&both, "keys --prefix none").stdout, "");
}

#[test]
fn a_node_that_does_not_list_its_keys_is_named_and_the_others_are_listed() {
    let (off, forbidden, fine) = (started(&[]), started(&["-X"]), started(&[]));
    assert_eq!(say(&off, "lru_crawler disable"), "OK\r\n");
    for server in [&off, &forbidden, &fine] {
        ok(&[server], "set key value");
    }
    let outcome = run(&[&off, &forbidden, &fine], "keys");
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stdout.starts_with("key\tc\t"), "{outcome:?}");
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert!(lines[0].contains("keys at a: ") && lines[0].contains("lru_crawler enable"));
    assert!(lines[1].contains("keys at b: ") && lines[1].contains("`-X`"));
    assert_eq!(lines.len(), 2);
}

#[test]
fn a_great_many_keys_come_to_whoever_wants_them_all_or_a_few() {
    const KEYS: usize = 200_000;
    let server = started(&["-m", "256"]);
    fill(&server, KEYS);
    // Whoever has seen enough ends it, as `head` does.
    let mut child = command(&[&server], "keys");
    let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert!(line.starts_with("key:"), "{line}");
    drop(output);
    assert_eq!(child.wait().unwrap().code(), Some(0));

    let mut child = command(&[&server], "keys");
    let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let listed = output.lines().count();
    // The server moves items between its queues meanwhile, and so misses or repeats a few.
    assert!(listed.abs_diff(KEYS) < KEYS / 100, "{listed}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Stores so many keys.
pub(super) fn fill(server: &steersman_e2e::memcached::RealMemcached, keys: usize) {
    use std::io::{Read, Write};

    let mut stream = std::net::TcpStream::connect(server.addr()).unwrap();
    let mut text = Vec::new();
    for number in 0..keys {
        write!(text, "set key:{number} 0 0 5 noreply\r\nvalue\r\n").unwrap();
    }
    text.extend_from_slice(b"version\r\n");
    stream.write_all(&text).unwrap();
    let mut version = [0; 7];
    stream.read_exact(&mut version).unwrap();
    assert_eq!(&version, b"VERSION");
}
