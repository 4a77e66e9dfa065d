//! A run as it should be, and one thing wrong with it at a time.

use super::*;

const KEYS: usize = 100;

/// Two reads of each node's keys, this long each.
fn snapshot(latencies: [Duration; 3]) -> Snapshot {
    let seen = latencies.map(|latency| {
        let mut seen = Seen::default();
        seen.latency.record(latency);
        seen.latency.record(latency);
        seen
    });
    seen.to_vec()
}

fn sweep() -> Sweep {
    Sweep {
        right: KEYS,
        ..Sweep::default()
    }
}

/// Node 1 was slow, node 2 dead. Key k is at home on node k % 3.
fn good() -> Observed {
    let quick = Duration::from_millis(1);
    let home: Vec<usize> = (0..KEYS).map(|key| key % 3).collect();
    let dead_keys: Vec<usize> = (0..KEYS).filter(|key| home[*key] == 2).collect();
    let while_dead = home.iter().map(|&node| if node == 2 { 0 } else { node });
    let missing = |keys: &[usize]| Sweep {
        right: KEYS - keys.len(),
        missing: keys.to_vec(),
        ..Sweep::default()
    };
    let mut killed = snapshot([quick; 3]);
    killed[2].failures = 7;
    killed[2].missed = dead_keys[3..].to_vec();
    let mut returned = snapshot([quick; 3]);
    // Two readers missed the same key before either had filled it.
    returned[2].missed = [&dead_keys[..1], &dead_keys[..20]].concat();
    Observed {
        names: ["a", "b", "c"].map(str::to_owned).to_vec(),
        seed: 1,
        slow: 1,
        dead: 2,
        loading: quick,
        unloaded: 0,
        loaded: sweep(),
        items: vec![34, 33, 33],
        calm: snapshot([quick; 3]),
        slowed: snapshot([quick, LATE, quick]),
        killed,
        returned,
        failover: Some(Duration::from_millis(60)),
        comeback: Some(Duration::from_millis(80)),
        sweep_while_dead: missing(&dead_keys[..3]),
        unread: missing(&dead_keys[20..]),
        unfilled: 0,
        last: sweep(),
        while_dead: while_dead.collect(),
        at_the_end: home.clone(),
        home,
        seen: snapshot([quick; 3]),
    }
}

/// The promises that are not kept after this change of a good run.
fn broken(change: impl FnOnce(&mut Observed)) -> Vec<&'static str> {
    let mut observed = good();
    change(&mut observed);
    let promises = observed.promises().into_iter();
    let broken = promises.filter(|promise| !promise.kept);
    broken.map(|promise| promise.name).collect()
}

#[test]
fn a_good_run_keeps_every_promise() {
    let promises = good().promises();
    let seen: Vec<&str> = promises
        .iter()
        .map(|promise| promise.seen.as_str())
        .collect();
    assert_eq!(
        seen,
        [
            "100 keys loaded, 100 read back right, 100 on the node that owns them",
            "b answers 25 ms late: its keys take 24.8 ms, all others 1.00 ms at most; 0 reads failed",
            "c killed: routed around after 60.0 ms; failed reads: 7 of its keys, 0 of others",
            "meanwhile moved: 33 of its 33 keys, 0 of others; lost: 0 of others",
            "c back, empty: its keys came home after 80.0 ms; away from home: 0 keys",
            "at the end 100 of 100 keys right; refilled: 33 of its 33 keys, 0 of others",
            "406 reads, 0 wrong values",
        ]
    );
    assert!(promises.iter().all(|promise| promise.kept));
}

#[test]
fn keys_that_were_not_loaded_or_not_in_place_are_noticed() {
    assert_eq!(broken(|run| run.unloaded = 1), ["loaded"]);
    assert_eq!(broken(|run| run.loaded.right = 99), ["loaded"]);
    assert_eq!(broken(|run| run.items = vec![33, 34, 33]), ["loaded"]);
}

#[test]
fn a_slow_node_must_be_slow_and_nobody_else() {
    let quick = Duration::from_millis(1);
    assert_eq!(broken(|run| run.slowed = run.calm.clone()), ["slow"]);
    let all = snapshot([LATE; 3]);
    assert_eq!(broken(|run| run.slowed = all), ["slow"]);
    let almost = snapshot([quick, LATE * 9 / 10, quick]);
    assert_eq!(broken(|run| run.slowed = almost), ["slow"]);
    assert_eq!(broken(|run| run.slowed[1].failures = 1), ["slow"]);
    assert_eq!(broken(|run| run.slowed[0].missed.push(0)), ["slow"]);
}

#[test]
fn a_dead_node_must_be_routed_around_and_hurt_nobody_else() {
    assert_eq!(broken(|run| run.failover = None), ["killed"]);
    assert_eq!(broken(|run| run.killed[0].failures = 1), ["killed"]);
    assert_eq!(broken(|run| run.killed[1].missed.push(1)), ["moved"]);
    assert_eq!(broken(|run| run.while_dead[0] = 1), ["moved"]);
    assert_eq!(broken(|run| run.while_dead[2] = 2), ["moved"]);
    assert_eq!(
        broken(|run| run.sweep_while_dead.missing.push(0)),
        ["moved"]
    );
    assert_eq!(broken(|run| run.sweep_while_dead.failed.push(2)), ["moved"]);
}

#[test]
fn all_must_be_as_before_when_the_node_is_back() {
    assert_eq!(broken(|run| run.comeback = None), ["back"]);
    assert_eq!(broken(|run| run.at_the_end[0] = 1), ["back"]);
    assert_eq!(broken(|run| run.returned[0].failures = 1), ["back"]);
    assert_eq!(broken(|run| run.returned[0].missed.push(0)), ["refilled"]);
    assert_eq!(broken(|run| run.unread.missing.push(1)), ["refilled"]);
    assert_eq!(broken(|run| run.unread.failed.push(2)), ["refilled"]);
    assert_eq!(broken(|run| run.unfilled = 1), ["refilled"]);
    assert_eq!(broken(|run| run.last.right = 99), ["refilled"]);
}

#[test]
fn one_wrong_value_is_too_many() {
    assert_eq!(broken(|run| run.seen[2].wrong = 1), ["right"]);
    assert_eq!(broken(|run| run.sweep_while_dead.wrong = 1), ["right"]);
    assert_eq!(broken(|run| run.last.wrong = 1), ["right"]);
}

/// What is said of a promise after this change of a good run, which breaks it.
fn said(name: &str, change: impl FnOnce(&mut Observed)) -> String {
    let mut observed = good();
    change(&mut observed);
    let mut promises = observed.promises().into_iter();
    let promise = promises.find(|promise| promise.name == name).unwrap();
    assert!(!promise.kept, "{promise:?}");
    promise.seen
}

type Change = fn(&mut Observed);

#[test]
fn a_broken_promise_shows_the_number_that_broke_it() {
    let changes: [(&str, Change, &str); 20] = [
        ("loaded", |run| run.unloaded = 7, "7 keys not loaded"),
        ("loaded", |run| run.loaded.right = 93, "93 read back right"),
        (
            "loaded",
            |run| run.items[0] = 41,
            "7 keys on a node that does not own them",
        ),
        (
            "loaded",
            |run| run.items[0] = 27,
            "93 on the node that owns them",
        ),
        ("slow", |run| run.slowed[0].failures = 7, "7 reads failed"),
        (
            "slow",
            |run| run.slowed[0].missed = vec![0; 7],
            "7 reads found no value",
        ),
        (
            "slow",
            |run| run.slowed = run.calm.clone(),
            "its keys take 1.00 ms",
        ),
        ("killed", |run| run.failover = None, "never routed around"),
        ("killed", |run| run.killed[0].failures = 7, "7 of others"),
        ("moved", |run| run.while_dead[2] = 2, "32 of its 33 keys"),
        ("moved", |run| run.while_dead[0] = 1, "1 of others; lost"),
        (
            "moved",
            |run| run.killed[0].missed = vec![0, 3, 0],
            "lost: 2 of others",
        ),
        (
            "moved",
            |run| run.sweep_while_dead.failed = vec![2],
            "1 keys could not be read",
        ),
        (
            "back",
            |run| run.comeback = None,
            "never its keys came home",
        ),
        (
            "back",
            |run| run.at_the_end[0] = 1,
            "away from home: 1 keys",
        ),
        (
            "back",
            |run| run.returned[0].failures = 7,
            "7 failed reads of others",
        ),
        (
            "refilled",
            |run| run.last.right = 93,
            "93 of 100 keys right",
        ),
        ("refilled", |run| run.unread.missing.push(0), "1 of others"),
        (
            "refilled",
            |run| run.unread.failed = vec![2],
            "1 keys could not be read",
        ),
        (
            "refilled",
            |run| run.unfilled = 7,
            "7 keys could not be refilled",
        ),
    ];
    for (name, change, number) in changes {
        let said = said(name, change);
        assert!(said.contains(number), "{number:?} is not in {said:?}");
    }
}

#[test]
fn without_reads_there_is_no_latency_to_show() {
    let none = |run: &mut Observed| run.slowed = vec![Seen::default(); 3];
    assert_eq!(
        said("slow", none),
        "b answers 25 ms late: its keys take -, all others - at most; 0 reads failed"
    );
}
