//! Guarded mode: the reference's measurements, judged with care. See
//! [`Mode::Guarded`](super::Mode::Guarded) for what it does.
//!
//! A node's phase is decided when attempts are recorded and at ticks; a plan that comes to a node in
//! its normal phase looks at one word.

mod record;
mod standing;
mod tick;

pub(super) use self::record::record;
pub(super) use self::standing::standing;
pub(super) use self::tick::tick;
