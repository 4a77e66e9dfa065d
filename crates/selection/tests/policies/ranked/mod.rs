//! Ranked policies: what holds for all of them, whatever they rank by.

mod bounds;
mod failures;
mod fleet;
mod herds;
mod joining;
mod plans;

use steersman_selection::{DynPolicy, LeastInFlight, PeakEwma, Policy};

/// Each ranked policy around a child, with that seed.
pub(crate) fn each<C: Policy + 'static>(
    seed: u64,
    child: impl Fn() -> C,
) -> Vec<(&'static str, Box<dyn DynPolicy>)> {
    vec![
        (
            "PeakEwma",
            Box::new(PeakEwma::builder().seed(seed).build(child()).unwrap()),
        ),
        (
            "LeastInFlight",
            Box::new(LeastInFlight::builder().seed(seed).build(child()).unwrap()),
        ),
    ]
}
