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
    // Another client may have put them there by chance of the ports, which decide what is sorted how.
    let candidates = told["candidates"].as_array().unwrap().iter();
    let mut candidates = candidates.filter(|candidate| candidate["placement"] == "gomemcache");
    let best = candidates.next().unwrap();
    assert_eq!(best["explained"], 60);
    // `detect` calls them a, b and c, too, of which the first is last in the list that was used.
    let names = best["nodes"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|node| &node.as_str().unwrap()[..2]).collect();
    assert_eq!(names, ["b=", "c=", "a="]);

    let table = ok(&[a, b, c], "detect --keys-from-servers").stdout;
    let mut lines = table.lines().map(str::split_whitespace);
    let columns = lines.find_map(|mut line| {
        let [explained, placement, nodes] = [line.next()?, line.next()?, line.next()?];
        (placement == "gomemcache").then_some((explained, nodes))
    });
    let (explained, nodes) = columns.unwrap();
    assert!(explained == "100.0%" && nodes.starts_with("a="), "{table}");
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
