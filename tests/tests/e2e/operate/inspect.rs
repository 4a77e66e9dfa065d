//! What a real memcached keeps about an item.

use serde_json::{Value, json};

use super::{ok, run, started};

#[test]
fn an_item_is_described_and_not_read() {
    let server = started(&[]);
    let servers = [&server];
    ok(&servers, "set k value --flags 7 --ttl 1h");
    let inspect = || {
        let line = ok(&servers, "inspect k --json").json().remove(0);
        assert_eq!(line["key"], json!("k"));
        line["nodes"][0].clone()
    };
    inspect();
    let item = inspect();
    assert_eq!(item["name"], json!("a"));
    assert_eq!(
        (&item["found"], &item["fetched"]),
        (&json!(true), &json!(false))
    );
    assert_eq!((&item["flags"], &item["length"]), (&json!(7), &json!(5)));
    let number = |name: &str| item[name].as_u64().unwrap();
    assert!((3_000..=3_600).contains(&number("ttl")), "{item}");
    assert!(number("size") > number("length") && number("class") >= 1);
    let cas = ok(&servers, "gets k").stdout;
    assert_eq!(cas.split('\t').nth(2), Some(&*number("cas").to_string()));
    assert_eq!(inspect()["fetched"], json!(true));

    ok(&servers, "set k value");
    assert_eq!(inspect()["ttl"], Value::Null);
    let table = ok(&servers, "inspect k").stdout;
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|row| row.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0][..3], ["NODE", "TTL", "ACCESSED"]);
    assert_eq!(rows[1][..2], ["a", "none"]);
}

#[test]
fn the_owner_comes_first_and_a_copy_elsewhere_counts() {
    let (one, other) = (started(&[]), started(&[]));
    let both = [&one, &other];
    let owner = ok(&both, "route k").stdout;
    let owner = owner.trim_end().split_once('\t').unwrap().1;
    let owner = owner.split_once('=').unwrap().0.to_owned();
    let copy = if owner == "a" { &other } else { &one };
    let args = "inspect k --replicas 2 --json";
    assert_eq!(run(&both, args).code, Some(1));
    ok(&[copy], "set k value");
    let line = ok(&both, args).json().remove(0);
    assert_eq!(line["nodes"][0]["name"], json!(owner));
    assert_eq!(line["nodes"][0]["found"], json!(false));
    assert_eq!(line["nodes"][1]["found"], json!(true));
    assert_eq!(run(&both, "inspect k").code, Some(1));
}
