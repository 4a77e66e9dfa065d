//! Caches shared with real clients in other languages: what these store is found where they have put it,
//! and what Steersman stores is found by them.
//!
//! The clients and their programs are in `tests/peers`. A client that cannot be made ready fails its
//! tests, with one line that says what to install.

mod keys;
mod peer;
mod placements;
mod values;
mod world;
