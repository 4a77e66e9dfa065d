//! Which placement put the keys where they are.

use super::{ok, run, started};

#[test]
fn a_placement_and_the_order_of_its_nodes_are_found_by_the_keys_of_the_servers() {
    let servers = [started(&[]), started(&[]), started(&[])];
    let [a, b, c] = [&servers[0], &servers[1], &servers[2]];
    // Named `a`, `b` and `c` in this order, and told to `detect` in another.
    for number in 0..60 {
        let set = format!("set shop:{number} value --placement gomemcache");
        ok(&[a, b, c], &set);
    }
    let detect = "detect --keys-from-servers --json";
    let told = ok(&[c, a, b], detect).json().remove(0);
    assert_eq!(told["keys"], 60);
    let best = &told["candidates"][0];
    assert_eq!(
        (&best["placement"], &best["explained"]),
        (&"gomemcache".into(), &60.into())
    );
    // `detect` calls them a, b and c, too, of which the first is last in the list that was used.
    let names = best["nodes"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|node| &node.as_str().unwrap()[..2]).collect();
    assert_eq!(names, ["b=", "c=", "a="]);

    let table = ok(&[a, b, c], "detect --keys-from-servers").stdout;
    assert!(
        table
            .lines()
            .any(|line| line.starts_with("   100.0%  gomemcache  a=")),
        "{table}"
    );
    // Where these keys are says nothing of keys without the prefix.
    let outcome = run(
        &[a, b, c],
        "detect --keys-from-servers --without-prefix shop:",
    );
    assert_eq!(outcome.code, Some(1), "{outcome:?}");

    let outcome = run(
        &[a, b, c],
        "detect --keys-from-servers --without-prefix none",
    );
    assert!(
        outcome.code == Some(2) && outcome.stderr.contains("no such keys"),
        "{outcome:?}"
    );
    let outcome = run(&[a], "detect --keys-from-servers");
    assert!(
        outcome.code == Some(2) && outcome.stderr.contains("all nodes"),
        "{outcome:?}"
    );
}
