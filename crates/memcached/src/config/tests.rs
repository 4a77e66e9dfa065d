//! What all sources of a config have in common, and what one must never tell.

mod page;
mod round_trip;
mod secrets;
mod urls;

use super::*;
use crate::error::Error;

fn refused(url: &str) -> Error {
    url.parse::<Config>().expect_err(url)
}

/// The error for a URL is about this option and says this.
#[track_caller]
fn refused_with(url: &str, option: &str, why: &str) {
    let error = refused(url);
    assert_eq!(error.option(), Some(option), "{url}: {error}");
    assert!(error.to_string().contains(why), "{url}: {error}");
}
