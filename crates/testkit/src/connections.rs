//! The connections of a server: how many there are, and how to end them.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, oneshot};

use crate::lock;
use crate::stream::Ending;

/// All connections of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    changed: Arc<Notify>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    admitted: u64,
    /// The open ones; the sender is gone once the connection was told to end.
    /// In their order, in which they end too: a simulation has to be repeatable.
    open: BTreeMap<u64, Option<oneshot::Sender<Ending>>>,
}

impl Connections {
    /// `changed` is notified when a connection comes or goes.
    pub(crate) fn new(changed: Arc<Notify>) -> Self {
        Self {
            changed,
            state: Mutex::default(),
        }
    }

    /// Counts a connection in; it is counted out when the answer is dropped.
    pub(crate) fn admit(self: &Arc<Self>) -> Admission {
        let (sender, order) = oneshot::channel();
        let mut state = lock(&self.state);
        state.admitted += 1;
        let number = state.admitted;
        state.open.insert(number, Some(sender));
        let place = Place {
            number,
            open: state.open.len(),
        };
        drop(state);
        self.changed.notify_waiters();
        Admission {
            connections: Arc::clone(self),
            place,
            order,
        }
    }

    /// Tells all open connections to end.
    pub(crate) fn end_all(&self, ending: Ending) {
        for sender in lock(&self.state).open.values_mut() {
            if let Some(sender) = sender.take() {
                // A connection that is ending by itself does not listen any more.
                let _ = sender.send(ending);
            }
        }
    }

    /// How many are open now, and how many there have been.
    pub(crate) fn count(&self) -> (usize, u64) {
        let state = lock(&self.state);
        (state.open.len(), state.admitted)
    }
}

/// A connection's place among the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Counted from 1, in the order of admission.
    pub(crate) number: u64,
    /// How many connections were open, this one included.
    pub(crate) open: usize,
}

/// The right to be connected.
#[derive(Debug)]
pub(crate) struct Admission {
    connections: Arc<Connections>,
    place: Place,
    order: oneshot::Receiver<Ending>,
}

impl Admission {
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Waits for the order to end.
    pub(crate) async fn ordered(&mut self) -> Ending {
        match (&mut self.order).await {
            Ok(ending) => ending,
            Err(_) => pending().await,
        }
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        lock(&self.connections.state)
            .open
            .remove(&self.place.number);
        self.connections.changed.notify_waiters();
    }
}
