//! A run as it should be, and one thing wrong with it at a time.

use super::*;

const QUICK: Duration = Duration::from_millis(1);

/// So many quick reads and so many slow ones, all of the latter at node 1 of three, which has so
/// many of the former too.
fn traffic(quick: u64, slow: u64, quick_at_slow: u64) -> Traffic {
    let seen = |quick, slow| {
        let mut seen = Seen::default();
        for _ in 0..quick {
            seen.latency.record(QUICK);
        }
        for _ in 0..slow {
            seen.latency.record(LATE);
        }
        seen
    };
    let others = quick - quick_at_slow;
    Traffic {
        reads: seen(quick, slow),
        asked: vec![
            seen(others / 2, 0),
            seen(quick_at_slow, slow),
            seen(others - others / 2, 0),
        ],
    }
}

fn good() -> Observed {
    let well = || Both {
        aware: traffic(1000, 0, 200),
        plain: traffic(1000, 0, 200),
    };
    let all = || Seen {
        latency: traffic(3000, 0, 0).reads.latency,
        ..Seen::default()
    };
    Observed {
        name: "b".to_owned(),
        slow: 1,
        keys: 100,
        unstored: 0,
        before: well(),
        during: Both {
            aware: traffic(998, 2, 0),
            plain: traffic(800, 200, 0),
        },
        after: well(),
        noticed: Some(Duration::from_millis(300)),
        probed: Some(Duration::from_millis(400)),
        back: Some(Duration::from_millis(900)),
        probes: 5,
        reads: Both {
            aware: all(),
            plain: all(),
        },
    }
}

/// The promises that are not kept after this change of a good run, and what is said of them.
fn broken(change: impl FnOnce(&mut Observed)) -> Vec<(&'static str, String)> {
    let mut observed = good();
    change(&mut observed);
    let promises = observed.promises().into_iter();
    let broken = promises.filter(|promise| !promise.kept);
    broken.map(|promise| (promise.name, promise.seen)).collect()
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
            "100 keys stored on 2 nodes each",
            "b is 50 ms late: noticed after 300 ms; then it gets 0.2% of reads, without the policy \
             20.0%",
            "p99 of all reads meanwhile: 1.00 ms, without the policy 49.7 ms; before 1.00 ms, \
             after 1.00 ms",
            "b well again: seen by probes after 400 ms, back in full after 900 ms: 20.0% of \
             reads",
            "6,000 reads, 0 failed, 0 found no value, 0 wrong values",
        ]
    );
    assert!(promises.iter().all(|promise| promise.kept));
}

#[test]
fn the_end_of_each_range_is_good_enough() {
    // A tenth of the share without the policy; half of the share before.
    let none = broken(|run| {
        run.during.aware = traffic(1000, 0, 20);
        run.after.aware = traffic(1000, 0, 100);
    });
    assert_eq!(none, []);
}

type Change = fn(&mut Observed);

#[test]
fn a_broken_promise_shows_the_number_that_broke_it() {
    let changes: [(&str, Change, &str); 14] = [
        ("replicated", |run| run.unstored = 7, "7 keys not stored"),
        ("avoided", |run| run.noticed = None, "never noticed"),
        (
            "avoided",
            |run| run.during.aware = traffic(1000, 0, 21),
            "it gets 2.1%",
        ),
        (
            "avoided",
            |run| run.during.plain.asked[1] = Seen::default(),
            "without the policy 0.0%",
        ),
        (
            "quick",
            |run| run.during.aware = traffic(989, 11, 0),
            "meanwhile: 49.7 ms",
        ),
        (
            "quick",
            |run| run.during.plain.reads = run.before.plain.reads.clone(),
            "without the policy 1.00 ms",
        ),
        (
            "quick",
            |run| run.during.aware.reads = Seen::default(),
            "meanwhile: -,",
        ),
        ("recovered", |run| run.back = None, "never back in full"),
        (
            "recovered",
            |run| run.after.aware = traffic(1000, 0, 99),
            "9.9% of reads",
        ),
        (
            "recovered",
            |run| run.after.aware.asked[1] = Seen::default(),
            "0.0% of reads",
        ),
        (
            "recovered",
            |run| run.probes = 0,
            "back in full without a probe",
        ),
        ("answered", |run| run.reads.aware.failures = 7, "7 failed"),
        (
            "answered",
            |run| run.reads.plain.missed = vec![0; 7],
            "7 found no value",
        ),
        (
            "answered",
            |run| run.reads.plain.wrong = 7,
            "7 wrong values",
        ),
    ];
    for (name, change, number) in changes {
        let broken = broken(change);
        let names: Vec<&str> = broken.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [name], "{number}");
        let said = &broken[0].1;
        assert!(said.contains(number), "{number:?} is not in {said:?}");
    }
}

#[test]
fn what_is_fresh_is_what_was_not_seen_before() {
    let (earlier, later) = (traffic(10, 1, 5), traffic(30, 4, 8));
    let fresh = later.since(&earlier);
    assert_eq!(fresh.reads.latency.total(), 23);
    assert_eq!(fresh.attempts(1), (6, 23));
}
