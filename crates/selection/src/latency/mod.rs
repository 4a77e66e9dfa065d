//! Latency scores: how they are computed, and how threads share them.

mod cell;
mod parameters;
mod score;

pub(crate) use self::cell::ScoreCell;
pub use self::parameters::LatencyParameters;
pub(crate) use self::parameters::{in_range, positive};
pub use self::score::Score;
pub(crate) use self::score::{Averaging, float, times, truncated};
