//! Building a latency-aware policy with other parameters than the defaults.

use super::event::{Announcer, Listener};
use super::scoreboard::Scoreboard;
use super::{LatencyAware, Mode};
use crate::{Error, LatencyParameters};

/// Builds a [`LatencyAware`] policy.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use steersman_selection::{Event, LatencyAware, LatencyParameters, Mode, RoundRobin};
///
/// let policy = LatencyAware::builder()
///     .parameters(LatencyParameters::default().scale(Duration::from_millis(50)))
///     .mode(Mode::Reference)
///     .listener(|event: &Event| println!("{event}"))
///     .build(RoundRobin::new())?;
/// # Ok::<(), steersman_selection::Error>(())
/// ```
#[derive(Default)]
pub struct LatencyAwareBuilder {
    parameters: LatencyParameters,
    mode: Mode,
    seed: u64,
    listener: Option<Box<dyn Listener>>,
}

impl LatencyAwareBuilder {
    /// With these parameters.
    pub fn parameters(mut self, parameters: LatencyParameters) -> Self {
        self.parameters = parameters;
        self
    }

    /// In this mode; [`Mode::Guarded`] by default.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// With the lots that this seed gives, by which requests fall into a rising share; 0 by
    /// default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// With a listener that is told of each change of a node's standing.
    pub fn listener(mut self, listener: impl Listener + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// The policy around that child. Fails as [`LatencyParameters::validate`] does; and with a retry
    /// period of 0 in guarded mode, which believes no score for longer than that.
    pub fn build<C>(self, child: C) -> Result<LatencyAware<C>, Error> {
        self.parameters.validate()?;
        if self.mode == Mode::Guarded && self.parameters.retry_nanos() == 0 {
            let allowed = "choose more than 0, or reference mode";
            return Err(Error::invalid_parameter("retry_period", 0, allowed));
        }
        Ok(self.build_valid(child))
    }

    pub(super) fn build_valid<C>(self, child: C) -> LatencyAware<C> {
        let announcer = Announcer::new(self.listener);
        let board = Scoreboard::new(self.parameters, self.mode, self.seed, announcer);
        LatencyAware::with_board(child, board)
    }
}

impl std::fmt::Debug for LatencyAwareBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LatencyAwareBuilder")
            .field("parameters", &self.parameters)
            .field("mode", &self.mode)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
