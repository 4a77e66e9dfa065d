//! What a server has been asked: for tests to look at and to wait for.

use steersman_memcached_protocol::server::Verb;
use tokio::sync::Notify;

/// How many requests of each kind a server has received.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandCounts {
    by_verb: [u64; Verb::ALL.len()],
    keys_read: u64,
    rejected: u64,
}

impl CommandCounts {
    /// How many requests with this word were well-formed. A `get` of many keys is one request.
    pub fn of(&self, verb: Verb) -> u64 {
        self.by_verb[verb as usize]
    }

    /// How many keys `get`, `gets`, `gat`, `gats` and `mg` have asked for.
    pub fn keys_read(&self) -> u64 {
        self.keys_read
    }

    /// How many requests were refused for their form or size.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// All requests, the refused ones included.
    pub fn total(&self) -> u64 {
        self.by_verb.iter().sum::<u64>() + self.rejected
    }

    pub(crate) fn count(&mut self, verb: Verb) {
        self.by_verb[verb as usize] += 1;
    }

    pub(crate) fn count_keys(&mut self, keys: u64) {
        self.keys_read += keys;
    }

    pub(crate) fn count_rejected(&mut self) {
        self.rejected += 1;
    }
}

/// A server's counters at one moment. They count from the first start: neither a restart nor
/// `stats reset` touches them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Connections open now.
    pub connections: usize,
    /// Connections accepted so far.
    pub accepted: u64,
    /// Connections turned away because there were too many.
    pub turned_away: u64,
    /// Bytes received.
    pub bytes_read: u64,
    /// Bytes sent.
    pub bytes_written: u64,
    /// Requests received.
    pub commands: CommandCounts,
}

/// Waits until `look` returns something; looks again whenever `changed` is notified.
pub(crate) async fn wait_until<T>(changed: &Notify, mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        let notified = changed.notified();
        tokio::pin!(notified);
        // From here on no notification is missed.
        notified.as_mut().enable();
        if let Some(found) = look() {
            return found;
        }
        notified.await;
    }
}
