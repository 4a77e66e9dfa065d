//! The demo from beginning to end.

use serde_json::json;

use crate::harness::plain;

#[test]
fn the_demo_shows_everything_it_promises() {
    let outcome = plain("demo --keys 2000 --phase 100ms");
    assert_eq!(
        (outcome.code, &*outcome.stderr),
        (0, ""),
        "{}",
        outcome.text()
    );
    let text = outcome.text();
    let (heading, rest) = text.split_once("\n\n").unwrap();
    assert_eq!(
        heading,
        "Steersman demo: 5 memcached nodes in this process, 2,000 keys, seed 1"
    );
    let (table, rest) = rest.split_once("\n\n").unwrap();
    assert_eq!(table.lines().count(), 7);
    let (promises, end) = rest.split_once("\n\n").unwrap();
    assert_eq!(promises.lines().count(), 7);
    assert!(promises.lines().all(|line| line.starts_with("ok ")));
    // Each key of the dead node is counted once, though many readers may have missed it.
    let counted = promises.split_once("refilled: ").unwrap().1;
    let words: Vec<&str> = counted.split_whitespace().take(4).collect();
    assert_eq!((words[0], words[1], words[2]), (words[3], "of", "its"));
    assert!(
        end.starts_with("Everything promised was seen, in "),
        "{end}"
    );
    assert!(!text.contains('\x1b'), "no live view: this is no terminal");
}

#[test]
fn equal_seeds_tell_the_same_story_under_any_placement() {
    let mut suffering = Vec::new();
    for placement in ["rendezvous", "rendezvous-exact", "emcache"] {
        let outcome = plain(&format!(
            "demo --json --nodes 4 --keys 500 --phase 100ms --seed 7 --placement {placement}"
        ));
        let story = outcome.json().remove(0);
        assert_eq!((outcome.code, &story["kept"]), (0, &json!(true)), "{story}");
        let (slow, killed) = (story["slow"].clone(), story["killed"].clone());
        let nodes = story["nodes"].as_array().unwrap();
        let killed_at = nodes.iter().position(|node| node["name"] == killed);
        let keys = |when: &str| -> Vec<u64> {
            let keys = nodes.iter().map(|node| node[when].as_u64().unwrap());
            keys.collect()
        };
        let (before, meanwhile) = (keys("keys"), keys("keys_while_dead"));
        assert_eq!(before, keys("keys_at_the_end"));
        assert_eq!(meanwhile[killed_at.unwrap()], 0);
        assert_eq!(before.iter().sum::<u64>(), 500);
        assert_eq!(meanwhile.iter().sum::<u64>(), 500);
        suffering.push((slow, killed));
    }
    suffering.dedup();
    assert_eq!(suffering.len(), 1);
}
