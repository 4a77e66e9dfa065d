use std::sync::{Arc, Mutex};

use scylla::errors::DbError;
use steersman_selection::{
    Call, Candidate, Locality, NodeIndex, RoundRobin, RoundRobinPlan, Timestamp, Turn,
};

use super::*;
use crate::ledger::Ledger;
use crate::roster::{Roster, Sighting};
use crate::status::Identity;

/// A policy that keeps what it is told.
#[derive(Default)]
struct Recorder {
    child: RoundRobin,
    told: Mutex<Vec<(usize, Outcome)>>,
}

impl Policy for Recorder {
    type Plan<'a> = RoundRobinPlan<'a>;

    fn plan<'a>(&'a self, call: Call<'a>) -> RoundRobinPlan<'a> {
        self.child.plan(call)
    }

    fn appraise(
        &self,
        call: &Call<'_>,
        node: NodeIndex,
        now: Timestamp,
        turn: Turn,
    ) -> Option<Candidate> {
        self.child.appraise(call, node, now, turn)
    }

    fn record(&self, attempt: &Attempt) {
        let told = (attempt.node().get(), attempt.outcome());
        self.told.lock().unwrap().push(told);
    }
}

type Balancer = LoadBalancer<Recorder>;

fn host(node: usize) -> Uuid {
    Uuid::from_u128(node as u128)
}

fn address(node: u8) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, node], 9042))
}

/// A balancer that has seen three nodes, at addresses of their own.
fn balancer() -> Balancer {
    let balancer = LoadBalancer::new(Recorder::default());
    let sightings = [0, 1, 2].map(|node| Sighting {
        host_id: host(node),
        locality: Locality::unknown(),
        is_enabled: true,
        is_connected: true,
    });
    let mut view = View::default();
    view.roster = Roster::default().succeed(&sightings, balancer.now());
    let identities = [0, 1, 2].map(|node: u8| Identity {
        host_id: host(node.into()),
        address: address(node),
        name: address(node).to_string().into(),
        datacenter: None,
        rack: None,
        sharder: None,
    });
    view.nodes = identities.into();
    balancer.view().store(Arc::new(view));
    balancer
}

fn told(balancer: &Balancer) -> Vec<(usize, Outcome)> {
    std::mem::take(&mut balancer.policy().told.lock().unwrap())
}

fn ledger(balancer: &Balancer, node: usize) -> Arc<Ledger> {
    let view = balancer.view().load();
    let index = view.roster.index(host(node)).unwrap();
    Arc::clone(&view.roster.member(index).unwrap().ledger)
}

fn unanswered(balancer: &Balancer) -> [u64; 3] {
    [0, 1, 2].map(|node| ledger(balancer, node).unanswered())
}

/// The time comes when nothing is waited for any longer.
fn give_up_waiting(balancer: &Balancer) {
    let later = balancer.now() + Duration::from_secs(1);
    for node in 0..3 {
        ledger(balancer, node).settle(later, 0, |_, _| {});
    }
}

/// A request as the driver begins it: it asks the policy for the node first.
fn begin(balancer: &Balancer, node: u8) -> (RequestId, AttemptId) {
    let request = balancer.log_request_start();
    if usize::from(node) < 3 {
        ledger(balancer, node.into()).picked(balancer.now());
    }
    (request, go_on(balancer, request, node))
}

fn go_on(balancer: &Balancer, request: RequestId, node: u8) -> AttemptId {
    balancer.log_attempt_start(request, None, address(node))
}

/// As the driver reports an answer to the listener, and then to the policy.
fn answer(balancer: &Balancer, attempt: AttemptId, node: usize) {
    balancer.log_attempt_success(attempt);
    balancer
        .history()
        .answered_by(host(node), &balancer.view().load());
    ledger(balancer, node).answered(balancer.now(), balancer.now());
}

fn time_out(balancer: &Balancer, request: RequestId) {
    let error = RequestError::RequestTimeout(Duration::from_millis(20));
    balancer.log_request_error(request, &error);
}

fn failure() -> RequestAttemptError {
    RequestAttemptError::DbError(DbError::ServerError, String::new())
}

#[test]
fn at_a_time_out_the_first_attempt_timed_out_and_others_were_cancelled() {
    let balancer = balancer();
    let (request, _) = begin(&balancer, 0);
    go_on(&balancer, request, 1);
    time_out(&balancer, request);
    let expected = [(0, Outcome::TimedOut), (1, Outcome::Cancelled)];
    assert_eq!(told(&balancer), expected);
    assert_eq!(unanswered(&balancer), [1, 1, 0]);
    give_up_waiting(&balancer);
    assert_eq!(unanswered(&balancer), [1, 1, 0], "each once");
}

#[test]
fn a_retry_that_times_out_had_little_time() {
    let balancer = balancer();
    let (request, attempt) = begin(&balancer, 0);
    balancer.log_attempt_error(attempt, &failure(), &RetryDecision::RetryNextTarget(None));
    go_on(&balancer, request, 2);
    time_out(&balancer, request);
    assert_eq!(told(&balancer), [(2, Outcome::Cancelled)]);
}

#[test]
fn the_loser_of_a_speculative_execution_was_cancelled() {
    for loser in [0, 1] {
        let balancer = balancer();
        let (request, first) = begin(&balancer, 0);
        let fiber = balancer.log_new_speculative_fiber(request);
        let second = balancer.log_attempt_start(request, Some(fiber), address(1));
        let (winner, attempt) = if loser == 0 { (1, second) } else { (0, first) };
        answer(&balancer, attempt, winner);
        assert_eq!(told(&balancer), []);
        balancer.log_request_success(request);
        assert_eq!(told(&balancer), [(loser, Outcome::Cancelled)]);
        give_up_waiting(&balancer);
        let [zero, one, _] = unanswered(&balancer);
        assert_eq!([zero, one][loser], 1);
        assert_eq!([zero, one][winner], 0);
    }
}

#[test]
fn answers_and_errors_are_left_to_the_report() {
    let balancer = balancer();
    let (request, attempt) = begin(&balancer, 0);
    answer(&balancer, attempt, 0);
    balancer.log_request_success(request);
    let (request, attempt) = begin(&balancer, 1);
    let error = failure();
    balancer.log_attempt_error(attempt, &error, &RetryDecision::DontRetry);
    balancer.log_request_error(request, &RequestError::LastAttemptError(error));
    assert_eq!(told(&balancer), []);
}

#[test]
fn what_was_overdue_is_not_told_again() {
    let balancer = balancer();
    let (request, _) = begin(&balancer, 0);
    give_up_waiting(&balancer);
    time_out(&balancer, request);
    assert_eq!(told(&balancer), []);
    assert_eq!(unanswered(&balancer), [1, 0, 0]);
}

#[test]
fn all_attempts_at_a_request_that_is_dropped_are_overdue_in_time() {
    let balancer = balancer();
    let (request, _) = begin(&balancer, 0);
    go_on(&balancer, request, 1);
    assert_eq!(unanswered(&balancer), [0, 0, 0]);
    give_up_waiting(&balancer);
    assert_eq!(unanswered(&balancer), [1, 1, 0]);
    assert_eq!(ledger(&balancer, 1).picks(), 0);
}

#[test]
fn a_translated_address_is_of_the_node_that_answered_from_there() {
    let balancer = balancer();
    let (request, _) = begin(&balancer, 77);
    time_out(&balancer, request);
    assert_eq!(told(&balancer), [], "nobody knows whose it is");
    for node in [2, 1] {
        let (request, attempt) = begin(&balancer, 77);
        answer(&balancer, attempt, node);
        balancer.log_request_success(request);
        let (request, _) = begin(&balancer, 77);
        time_out(&balancer, request);
        assert_eq!(told(&balancer), [(node, Outcome::TimedOut)]);
    }
}
