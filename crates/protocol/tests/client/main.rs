//! The client side of the protocol as its users see it.

mod batching;
mod failures;
mod hostile;
mod lifecycle;
mod meta;
mod model;
mod sessions;
mod splits;
mod support;
mod values;
