use proptest::prelude::*;

use super::*;

const SPANS: Spans = Spans {
    ramp: 1_000_000_000,
    joining: 2_000_000_000,
    retry: 10_000_000_000,
    burden: 10_000_000_000,
};

fn at(nanos: i64) -> Timestamp {
    Timestamp::from_nanos(nanos)
}

#[test]
fn phases_survive_their_word() {
    for nanos in [0, 64, -64, i64::MIN, i64::MAX & !63] {
        let at = at(nanos);
        let mut phases = vec![Phase::Absent, Phase::Normal, Phase::Joining { since: at }];
        for failures in 1..FAILURES {
            phases.push(Phase::Failing { failures, last: at });
        }
        for holds in 0..=MOST_HOLDS {
            phases.push(Phase::Ramping { holds, since: at });
            phases.push(Phase::Held { holds, due: at });
            phases.push(Phase::Probing { holds, since: at });
        }
        for phase in phases {
            assert_eq!(Phase::unpack(phase.pack()), phase);
            let shared = AtomicPhase::default();
            shared.store(phase);
            assert_eq!(shared.load(), phase);
            assert_eq!(shared.is_normal(), phase == Phase::Normal);
        }
    }
}

#[test]
fn three_failures_in_a_row_hold_a_node_back_for_longer_each_time() {
    let second = 1_000_000_000;
    let mut now = at(0);
    let mut phase = Phase::Normal;
    for burden in [1, 3] {
        phase = phase.failed(now, now, SPANS);
        assert_eq!(phase.burden(now, SPANS), burden);
    }
    phase = phase.failed(now, now, SPANS);
    for (holds, seconds) in [1, 2, 4, 8, 10, 10, 10, 10, 10].into_iter().enumerate() {
        let holds = u8::try_from(holds).unwrap().min(MOST_HOLDS);
        let due = now + std::time::Duration::from_secs(seconds);
        let due = at(due.nanos());
        assert_eq!(phase, Phase::Held { holds, due });
        now = due;
        phase = Phase::Probing { holds, since: now };
        phase = phase.failed(now, now, SPANS);
    }
    let Phase::Held { due, .. } = phase else {
        panic!("{phase:?}");
    };
    // A probe that is answered starts the ramp; a failure in it holds the node back again.
    let ramp = phase.answered(due, due, SPANS);
    let since = due;
    assert_eq!(ramp, Phase::Ramping { holds: 7, since });
    let early = at(since.nanos() + second / 2);
    assert!(matches!(
        ramp.failed(early, early, SPANS),
        Phase::Held { .. }
    ));
    let over = at(since.nanos() + second);
    assert_eq!(ramp.answered(over, over, SPANS), Phase::Normal);
}

#[test]
fn what_began_before_the_phase_tells_nothing_of_it() {
    let (before, since, now) = (at(0), at(640), at(1280));
    let ramp = Phase::Ramping { holds: 0, since };
    assert_eq!(ramp.failed(before, now, SPANS), ramp);
    let probing = Phase::Probing { holds: 0, since };
    assert_eq!(probing.failed(before, now, SPANS), probing);
    assert_eq!(probing.answered(before, now, SPANS), probing);
    assert_eq!(probing.untold(before, now), probing);
    assert_eq!(
        probing.untold(since, now),
        Phase::Held { holds: 0, due: now }
    );
    let held = Phase::held(0, since, SPANS);
    assert_eq!(held.answered(before, now, SPANS), held);
    let ramping = Phase::Ramping {
        holds: 0,
        since: now,
    };
    assert_eq!(held.answered(since, now, SPANS), ramping);
}

#[test]
fn a_single_failure_is_forgotten_after_the_retry_period() {
    let failing = Phase::Normal.failed(at(0), at(0), SPANS);
    assert_eq!(failing.burden(at(SPANS.retry), SPANS), 1);
    assert_eq!(failing.burden(at(SPANS.retry + 64), SPANS), 0);
    let later = at(SPANS.retry + 64);
    assert_eq!(failing.failed(later, later, SPANS).burden(later, SPANS), 1);
    assert_eq!(failing.answered(at(0), at(0), SPANS), Phase::Normal);
}

fn any_phase() -> impl Strategy<Value = Phase> {
    (0..6, 0..=MOST_HOLDS, any::<i64>()).prop_map(|(kind, holds, nanos)| {
        let time = at(nanos & !63);
        match kind {
            0 => Phase::Normal,
            1 => Phase::Failing {
                failures: holds % 2 + 1,
                last: time,
            },
            2 => Phase::Joining { since: time },
            3 => Phase::Ramping { holds, since: time },
            4 => Phase::Held { holds, due: time },
            _ => Phase::Probing { holds, since: time },
        }
    })
}

proptest! {
    /// However late or early the times: a failure never lowers the burden by more than it ends in
    /// flight unless it holds the node back, and nothing panics.
    #[test]
    fn a_failure_never_helps(phase in any_phase(), begun: i64, now: i64) {
        let now = at(now);
        let before = phase.burden(now, SPANS);
        let after = phase.failed(at(begun), now, SPANS);
        let is_held = |phase| matches!(phase, Phase::Held { .. } | Phase::Probing { .. });
        let is_rising = |phase| matches!(phase, Phase::Joining { .. } | Phase::Ramping { .. });
        prop_assert!(is_held(after) || is_rising(after) || after.burden(now, SPANS) > before);
        prop_assert!(!is_rising(after) || after == phase);
        prop_assert!(!is_held(phase) || is_held(after));
        // And no answer makes the hold longer.
        let answered = phase.answered(at(begun), now, SPANS);
        prop_assert!(!is_held(answered) || answered == phase);
    }
}
