//! The policies as their users see them: against vectors of the Java driver, in all nestings, and in
//! the situations that latency awareness is for.

#[path = "../../examples/replay/cast.rs"]
mod cast;
#[path = "../../examples/replay/player.rs"]
mod player;
#[path = "../../examples/replay/trace.rs"]
mod trace;

mod allocations;
mod cluster;
mod equal;
mod faults;
mod guarded;
mod insight;
mod lesson;
mod nestings;
mod places;
mod ranked;
mod turns;
mod vectors;
