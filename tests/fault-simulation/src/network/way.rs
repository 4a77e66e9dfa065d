//! The way between a client and a host: how long packets take, which ones get lost, what comes through.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use crate::chance::Chance;
use crate::lock;

/// The first packet that is lost is sent again after this time, and each further loss doubles it.
const SENT_AGAIN: Duration = Duration::from_millis(200);

/// Where bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    /// From the client to the host.
    Up,
    /// From the host to the client.
    Down,
}

impl Direction {
    pub(crate) const BOTH: [Self; 2] = [Self::Up, Self::Down];
}

/// How fast and how well bytes travel in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Pace {
    /// Each packet takes from so many to so many milliseconds.
    pub(crate) delay: (u64, u64),
    /// One packet of so many is lost; none if it is 0.
    pub(crate) lost_one_in: u64,
    /// The receiver takes so many bytes in a millisecond; any number if it is 0.
    pub(crate) bytes_per_ms: u64,
    /// So many bytes may be under way.
    pub(crate) window: usize,
}

impl Pace {
    /// A local network.
    pub(crate) const SWIFT: Self = Self {
        delay: (0, 1),
        lost_one_in: 0,
        bytes_per_ms: 0,
        window: 64 * 1024,
    };
}

/// The state of a way, in both directions.
#[derive(Debug)]
pub(crate) struct Way(Mutex<State>);

#[derive(Debug)]
struct State {
    chance: Chance,
    paces: [Pace; 2],
    cut: [bool; 2],
}

impl Way {
    pub(super) fn new(chance: Chance) -> Self {
        Self(Mutex::new(State {
            chance,
            paces: [Pace::SWIFT; 2],
            cut: [false; 2],
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }

    /// Lets nothing through, or everything again.
    pub(crate) fn cut(&self, direction: Direction, cut: bool) {
        self.state().cut[direction as usize] = cut;
    }

    pub(crate) fn set_pace(&self, direction: Direction, pace: Pace) {
        self.state().paces[direction as usize] = pace;
    }

    pub(super) fn is_cut(&self, direction: Direction) -> bool {
        self.state().cut[direction as usize]
    }

    pub(super) fn window(&self, direction: Direction) -> usize {
        self.state().paces[direction as usize].window
    }

    /// The chances of what has no direction.
    pub(super) fn chance(&self) -> Chance {
        self.state().chance.fork()
    }

    /// How long it takes to ask for a connection and to hear of it.
    pub(super) fn round_trip(&self, asked_again_ms: u64) -> Duration {
        let mut state = self.state();
        let State { chance, paces, .. } = &mut *state;
        let mut takes = Duration::ZERO;
        for pace in paces {
            takes += chance.millis(pace.delay.0..=pace.delay.1);
            if chance.one_in(pace.lost_one_in) {
                takes += Duration::from_millis(asked_again_ms);
            }
        }
        takes
    }

    /// When so many bytes arrive that are sent now after others that arrive at `last`. Never, for now, if
    /// the way is cut.
    pub(super) fn arrival(
        &self,
        direction: Direction,
        bytes: usize,
        last: Option<Instant>,
    ) -> Option<Instant> {
        let mut state = self.state();
        if state.cut[direction as usize] {
            return None;
        }
        let pace = state.paces[direction as usize];
        let mut takes = state.chance.millis(pace.delay.0..=pace.delay.1);
        let mut again = SENT_AGAIN;
        while state.chance.one_in(pace.lost_one_in) && again < 8 * SENT_AGAIN {
            takes += again;
            again *= 2;
        }
        let sent = Instant::now() + takes;
        let begins = last.map_or(sent, |last| last.max(sent));
        let taking = (bytes as u64).checked_div(pace.bytes_per_ms).unwrap_or(0);
        Some(begins + Duration::from_millis(taking))
    }
}
