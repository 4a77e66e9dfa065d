//! A connection between a client and a host: its two directions, and how it can go wrong.

use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;

use super::pipe::{Content, Pipe};
use super::socket::Side;
use super::way::{Direction, Way};
use crate::chance::Chance;
use crate::lock;

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) number: u64,
    pub(super) client: usize,
    pub(super) host: usize,
    way: Arc<Way>,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) chance: Chance,
    pipes: [Pipe; 2],
    /// The host has lost its power, and with it all that it knew of the connection.
    orphan: Option<Orphan>,
    is_reset: bool,
}

#[derive(Debug, Default)]
struct Orphan {
    /// The host has power again, and answers what it does not know by a reset.
    host_is_back: bool,
    /// The client has sent something since, and sends it again until it is answered.
    has_sent: bool,
}

impl State {
    pub(super) fn pipe(&mut self, direction: Direction) -> &mut Pipe {
        &mut self.pipes[direction as usize]
    }

    /// Whether writing is an error.
    pub(super) fn refuses(&mut self, side: Side) -> bool {
        self.is_reset || self.pipe(side.outgoing()).has_ended()
    }
}

impl Connection {
    pub(super) fn new(
        number: u64,
        client: usize,
        host: usize,
        way: Arc<Way>,
        chance: Chance,
    ) -> Self {
        let state = State {
            chance,
            pipes: [Pipe::default(), Pipe::default()],
            orphan: None,
            is_reset: false,
        };
        Self {
            number,
            client,
            host,
            way,
            state: Mutex::new(state),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn send(&self, state: &mut State, direction: Direction, content: Content) {
        let size = match &content {
            Content::Data(data) => data.len(),
            Content::End | Content::Reset => 0,
        };
        let pipe = state.pipe(direction);
        let due = self.way.arrival(direction, size, pipe.last());
        pipe.push(content, due);
    }

    /// How many bytes a writer may send now.
    pub(super) fn room(&self, state: &mut State, side: Side) -> usize {
        let direction = side.outgoing();
        self.way
            .window(direction)
            .saturating_sub(state.pipe(direction).bytes())
    }

    pub(super) fn write(&self, state: &mut State, side: Side, data: Bytes) {
        if let Some(orphan) = &mut state.orphan
            && side == Side::Client
        {
            orphan.has_sent = true;
            self.answer_for_orphan(state);
        } else if !state.pipe(side.outgoing()).is_unread() {
            // What nobody reads is lost; who has left has said so.
            self.send(state, side.outgoing(), Content::Data(data));
        }
    }

    fn answer_for_orphan(&self, state: &mut State) {
        let answers = state
            .orphan
            .as_ref()
            .is_some_and(|orphan| orphan.host_is_back && orphan.has_sent);
        if answers && !state.pipe(Direction::Down).has_ended() {
            self.send(state, Direction::Down, Content::Reset);
        }
    }

    /// One end writes nothing more.
    pub(super) fn end(&self, side: Side) {
        let mut state = self.state();
        let silent = state.orphan.is_some() && side == Side::Host;
        if !silent && !state.pipe(side.outgoing()).has_ended() {
            self.send(&mut state, side.outgoing(), Content::End);
        }
    }

    /// One end is gone.
    pub(super) fn leave(&self, side: Side) {
        self.end(side);
        self.state().pipe(side.incoming()).abandon();
    }

    pub(super) fn is_open_at(&self, side: Side) -> bool {
        !self.state().pipe(side.incoming()).is_unread()
    }

    pub(super) fn reset(&self) {
        let mut state = self.state();
        state.is_reset = true;
        for direction in Direction::BOTH {
            state.pipe(direction).reset();
        }
    }

    /// The host loses its power.
    pub(super) fn orphan(&self) {
        let mut state = self.state();
        state.orphan = Some(Orphan::default());
        for direction in Direction::BOTH {
            state.pipe(direction).lose();
        }
    }

    pub(super) fn is_orphan(&self) -> bool {
        self.state().orphan.is_some()
    }

    /// The host has power again.
    pub(super) fn host_is_back(&self) {
        let mut state = self.state();
        if let Some(orphan) = &mut state.orphan {
            orphan.host_is_back = true;
        }
        self.answer_for_orphan(&mut state);
    }

    /// The way has changed.
    pub(super) fn look_again(&self) {
        let mut state = self.state();
        for direction in Direction::BOTH {
            if !self.way.is_cut(direction) {
                let arrival = |size, last| self.way.arrival(direction, size, last);
                state.pipe(direction).let_go(arrival);
            }
            state.pipe(direction).wake_writer();
        }
    }

    /// How many bytes are under way in the direction in which there are more.
    pub(super) fn held(&self) -> usize {
        let mut state = self.state();
        let up = state.pipe(Direction::Up).bytes();
        up.max(state.pipe(Direction::Down).bytes())
    }
}
