//! Every order in which requests can meet at the bucket, by loom.

use loom::sync::Arc;
use loom::thread;

use super::*;

#[test]
fn one_token_is_one_hedge() {
    loom::model(|| {
        let budget = Arc::new(Budget::new(1.0, 1));
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || budget.spend())
        };
        let mine = budget.spend();
        assert!(mine != other.join().unwrap());
    });
}

#[test]
fn what_is_earned_is_kept_up_to_the_capacity() {
    loom::model(|| {
        let budget = Arc::new(Budget::new(1.0, 2));
        assert!(budget.spend());
        let other = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || budget.earn())
        };
        budget.earn();
        other.join().unwrap();
        // Both earned one, and there was room for one.
        assert!(budget.spend() && budget.spend() && !budget.spend());
    });
}
