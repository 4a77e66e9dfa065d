//! What others published of a scenario, to be printed beside our own figures.

use serde::Deserialize;

use crate::measure::Measure;
use crate::{Error, PolicyKind};

/// One figure that was published.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Published {
    /// The policy that it is of, by its name here.
    pub policy: PolicyKind,
    /// What was measured.
    pub measure: Measure,
    /// The figure, above 0: a share up to 1, or seconds.
    pub value: f64,
    /// How much ours may differ, as a part of the published figure, to be called alike.
    pub margin: f64,
    /// Why ours differs, if it does.
    #[serde(default)]
    pub note: Option<String>,
}

impl Published {
    pub(super) fn validate(&self) -> Result<(), Error> {
        if !(self.value.is_finite() && self.value > 0.0) {
            return Err(Error::option(
                "published.value",
                self.value,
                "choose more than 0: the margin is a part of it",
            ));
        }
        if !(self.margin.is_finite() && self.margin >= 0.0) {
            return Err(Error::option(
                "published.margin",
                self.margin,
                "choose 0 or more",
            ));
        }
        Ok(())
    }
}
