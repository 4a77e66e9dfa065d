//! Connections that take one operation at a time, dealt out among the tasks: each task queues for one,
//! always for the same.

use std::sync::Arc;

use tokio::sync::Mutex;

pub(crate) struct Dealt<C> {
    all: Arc<[Arc<Mutex<C>>]>,
    /// That of this task.
    pub(crate) own: Arc<Mutex<C>>,
}

impl<C> Dealt<C> {
    /// There is one at least.
    pub(crate) fn new(connections: Vec<C>) -> Self {
        let shared = |connection| Arc::new(Mutex::new(connection));
        let all: Arc<[_]> = connections.into_iter().map(shared).collect();
        Self {
            own: Arc::clone(&all[0]),
            all,
        }
    }

    pub(crate) fn for_task(&self, number: usize) -> Self {
        Self {
            own: Arc::clone(&self.all[number % self.all.len()]),
            ..self.clone()
        }
    }
}

impl<C> Clone for Dealt<C> {
    fn clone(&self) -> Self {
        Self {
            all: Arc::clone(&self.all),
            own: Arc::clone(&self.own),
        }
    }
}
