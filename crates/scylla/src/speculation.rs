//! Speculative executions as hedges: after a running percentile, within a budget.
//!
//! The driver asks when a request begins, and does not ask again when the delay has passed. So a request is
//! allowed one speculative execution if the budget has one left by then, and the
//! [history](crate::history) says that it was made.

use std::time::Duration;

use scylla::policies::speculative_execution::{Context, SpeculativeExecutionPolicy};
use steersman_selection::{Hedging, Policy};

use crate::balancer::LoadBalancer;

/// A delay that no request outlives.
const NEVER: Duration = Duration::from_secs(3_600);

impl<P: Policy> SpeculativeExecutionPolicy for LoadBalancer<P> {
    fn max_retry_count(&self, _: &Context) -> usize {
        self.hedging().map_or(0, count)
    }

    fn retry_interval(&self, _: &Context) -> Duration {
        let delay = self.hedging().and_then(|hedging| hedging.delay(&[]));
        delay.unwrap_or(NEVER)
    }
}

/// How many hedges a request may have that begins now.
fn count(hedging: &Hedging) -> usize {
    let delay = hedging.begin(&[]);
    usize::from(delay.is_some() && hedging.is_affordable())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use scylla::observability::history::{HistoryListener, RequestId};
    use steersman_selection::{Hedge, RoundRobin};

    use super::*;

    #[test]
    fn what_the_history_tells_is_paid_by_requests() {
        let hedging = Hedging::new(Hedge::After(Duration::from_millis(5))).unwrap();
        let hedging = hedging.budget(0.25, 1).unwrap();
        let balancer = LoadBalancer::new(RoundRobin::new()).hedge(hedging);
        let hedging = balancer.hedging().unwrap();
        assert_eq!(count(hedging), 1);
        // Two that began while there was one: the second is owed.
        for _ in 0..2 {
            balancer.log_new_speculative_fiber(RequestId(0));
        }
        let counts: Vec<_> = (0..8).map(|_| count(hedging)).collect();
        assert_eq!(counts, [0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn nothing_is_hedged_before_anything_is_known() {
        assert!(LoadBalancer::new(RoundRobin::new()).hedging().is_none());
        let hedging = Hedging::new(Hedge::default()).unwrap();
        assert_eq!((count(&hedging), hedging.delay(&[])), (0, None));
    }
}
