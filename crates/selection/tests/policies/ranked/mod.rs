//! Ranked policies: what holds for all of them, whatever they rank by.

mod bounds;
mod failures;
mod fleet;
mod herds;
mod joining;
mod plans;
mod steady;

use steersman_selection::{
    CubicInFlight, DynPolicy, HotColdLexicographic, LeastInFlight, PeakEwma, Policy, Steady,
};

/// Each ranked policy around a child, with that seed.
pub(crate) fn each<C: Policy + 'static>(
    seed: u64,
    child: impl Fn() -> C,
) -> Vec<(&'static str, Box<dyn DynPolicy>)> {
    macro_rules! policies {
        ($($name:ident),*) => {
            vec![$((
                stringify!($name),
                Box::new($name::builder().seed(seed).build(child()).unwrap()) as Box<dyn DynPolicy>,
            )),*]
        };
    }
    policies![
        Steady,
        PeakEwma,
        LeastInFlight,
        HotColdLexicographic,
        CubicInFlight
    ]
}
