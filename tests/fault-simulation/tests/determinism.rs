//! A run is decided by its seed alone, event for event.

use steersman_fault_simulation::run;

#[test]
fn equal_seeds_give_equal_runs() {
    for seed in [3, 32, 97] {
        let first = run(seed, false);
        assert!(first.events > 1_000, "seed {seed}: {} events", first.events);
        let second = run(seed, false);
        assert_eq!(
            (second.hash, second.events),
            (first.hash, first.events),
            "seed {seed}"
        );
        assert_eq!(second.violations, first.violations, "seed {seed}");
    }
}

#[test]
fn other_seeds_give_other_runs() {
    assert_ne!(run(3, false).hash, run(4, false).hash);
}
