//! Latency scores: how they are computed, and how threads share them.

mod cell;
mod parameters;
mod score;

pub(crate) use self::cell::ScoreCell;
pub use self::parameters::LatencyParameters;
pub use self::score::Score;
pub(crate) use self::score::{Averaging, times};
