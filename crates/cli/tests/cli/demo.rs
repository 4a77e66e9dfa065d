//! The demo from beginning to end.

use serde_json::{Value, json};

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
    let parts: Vec<&str> = rest.split("\n\n").collect();
    let [owners, promises, comparison, clients, more, end] = parts[..] else {
        panic!("{text}");
    };
    assert_eq!(owners.lines().count(), 7);
    assert_eq!(clients.lines().count(), 4);
    assert!(comparison.starts_with("Now each key is on 2 nodes."));
    assert_eq!((promises.lines().count(), more.lines().count()), (7, 5));
    let mut all = promises.lines().chain(more.lines());
    assert!(all.all(|line| line.starts_with("ok ")));
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

#[test]
fn the_slow_node_gets_no_reads_of_the_latency_aware_client_but_probes() {
    // More nodes than take part in this half.
    let outcome = plain("demo --json --nodes 9 --keys 1000 --phase 100ms --seed 3");
    let story = outcome.json().remove(0);
    assert_eq!((outcome.code, &story["kept"]), (0, &json!(true)), "{story}");
    let replicated = &story["latency_aware"];
    let number = |pointer: &str| -> f64 {
        let number = replicated.pointer(pointer).and_then(Value::as_f64);
        number.unwrap_or_else(|| panic!("{pointer} is not in {replicated}"))
    };
    let share = |phase: &str| {
        number(&format!("{phase}/attempts_at_slow")) / number(&format!("{phase}/attempts"))
    };
    for client in ["with_policy", "without_policy"] {
        for phase in ["before", "during", "after"] {
            let phase = format!("/{client}/{phase}");
            assert!(number(&format!("{phase}/reads")) >= 300.0);
            for nothing in ["misses", "failures"] {
                let count = replicated.pointer(&format!("{phase}/{nothing}"));
                assert_eq!(count, Some(&json!(0)), "{phase}");
            }
        }
    }
    let late_us = number("/late_ms") * 1000.0;
    assert!(number("/without_policy/during/p99_us") > late_us * 0.98);
    assert!(number("/with_policy/during/p99_us") < number("/without_policy/during/p99_us"));
    assert!(share("/with_policy/during") * 10.0 <= share("/without_policy/during"));
    assert!(share("/with_policy/after") * 2.0 >= share("/with_policy/before"));
    assert!(number("/penalised_after_ms") > 0.0);
    assert!(number("/recovering_after_ms") <= number("/back_after_ms"));
    assert!(number("/probes") >= 1.0);
    for parameter in ["retry_period_ms", "ramp_ms", "min_difference_ms"] {
        assert!(number(&format!("/parameters/{parameter}")) > 0.0);
    }
    let promises = story["promises"].as_array().unwrap();
    assert_eq!(promises.len(), 12);
}
