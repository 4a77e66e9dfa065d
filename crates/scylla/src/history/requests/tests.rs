use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

fn begun(number: u64) -> Begun {
    Begun {
        address: SocketAddr::from(([127, 0, 0, 1], 9042)),
        host_id: Some(Uuid::from_u128(number.into())),
        started: Timestamp::from_nanos(number.cast_signed()),
    }
}

#[test]
fn what_is_open_at_the_end_of_a_request_is_told_once() {
    let requests = Requests::new();
    let (one, other) = (requests.begin(), requests.begin());
    let attempts = [0, 1, 2].map(|number| requests.attempt(one, begun(number)));
    let stranger = requests.attempt(other, begun(9));
    assert!(Requests::is_first(attempts[0]) && Requests::is_first(stranger));
    assert!(!Requests::is_first(attempts[1]));
    assert_eq!(requests.end_attempt(attempts[1]), Some(begun(1)));
    assert_eq!(requests.end_attempt(attempts[1]), None);
    let open: Vec<_> = requests.end(one).collect();
    assert_eq!(open, [(0, begun(0)), (2, begun(2))]);
    assert_eq!(requests.end(one).count(), 0);
    assert_eq!(requests.end_attempt(attempts[0]), None);
    assert_eq!(requests.end_attempt(stranger), Some(begun(9)));
}

#[test]
fn a_request_that_never_ends_leaves_its_place_to_another() {
    let requests = Requests::new();
    let dropped = requests.begin();
    let attempt = requests.attempt(dropped, begun(1));
    for _ in 0..PLACES {
        requests.begin();
    }
    assert_eq!(requests.end_attempt(attempt), None);
    let later = requests.attempt(dropped, begun(2));
    assert!(!Requests::is_first(later));
    assert_eq!(requests.end_attempt(later), None);
    assert_eq!(requests.end(dropped).count(), 0);
}

#[test]
fn a_request_without_end_is_bounded() {
    let requests = Requests::new();
    let request = requests.begin();
    for number in 0..1_000 {
        let attempt = requests.attempt(request, begun(number));
        assert_eq!(Requests::is_first(attempt), number == 0);
    }
    assert_eq!(requests.end(request).count(), MOST_ATTEMPTS);
}

#[derive(Debug, Clone)]
enum Step {
    Begin,
    Attempt(usize),
    EndAttempt(usize),
    End(usize),
}

proptest! {
    /// As a map of everything that is open would have it.
    #[test]
    fn each_attempt_ends_once(steps in prop::collection::vec(prop_oneof![
        Just(Step::Begin),
        any::<usize>().prop_map(Step::Attempt),
        any::<usize>().prop_map(Step::EndAttempt),
        any::<usize>().prop_map(Step::End),
    ], 0..200)) {
        let requests = Requests::new();
        let mut running = vec![requests.begin()];
        let mut attempts: Vec<(usize, usize, u64)> = Vec::new();
        let mut open: HashMap<usize, u64> = HashMap::new();
        for (number, step) in (0_u64..).zip(steps) {
            match step {
                Step::Begin => running.push(requests.begin()),
                Step::Attempt(which) => {
                    let request = running[which % running.len()];
                    let attempt = requests.attempt(request, begun(number));
                    attempts.push((request, attempt, number));
                    open.insert(attempt, number);
                }
                Step::EndAttempt(which) if !attempts.is_empty() => {
                    let (_, attempt, _) = attempts[which % attempts.len()];
                    let expected = open.remove(&attempt).map(begun);
                    prop_assert_eq!(requests.end_attempt(attempt), expected);
                }
                Step::EndAttempt(_) => {}
                Step::End(which) => {
                    let request = running[which % running.len()];
                    let found: Vec<_> = requests.end(request).map(|(_, begun)| begun).collect();
                    let mut expected = Vec::new();
                    attempts.retain(|&(of, attempt, number)| {
                        if of == request && open.remove(&attempt).is_some() {
                            expected.push(begun(number));
                        }
                        of != request
                    });
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
