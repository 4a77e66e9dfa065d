//! What is under way: requests, and their attempts at servers.

use steersman_selection::{NodeIndex, Outcome};

use super::queue::MAX_NUMBER;
use crate::scenario::Clients;

/// A request of a client, until all its attempts are over.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) began: u64,
    pub(super) client: u32,
    pub(super) key: u32,
    pub(super) worker: Option<u32>,
    /// After how long an attempt is hedged, if it is.
    pub(super) hedged_after: Option<u64>,
    /// How many times as long as others it takes.
    pub(super) weight: f64,
    asked: [NodeIndex; MOST_ATTEMPTS],
    attempts: [u32; MOST_ATTEMPTS],
    asked_len: u8,
    /// Attempts that are not over.
    pub(super) running: u8,
    pub(super) retries_left: u8,
    /// It has its answer, or failed.
    pub(super) is_done: bool,
}

/// The first, six retries and a hedge.
const MOST_ATTEMPTS: usize = 8;

/// In the place of an attempt that is over.
const OVER: u32 = u32::MAX;

impl Request {
    pub(super) fn new(began: u64, client: u32, key: u32, clients: &Clients) -> Self {
        Self {
            began,
            client,
            key,
            worker: None,
            hedged_after: None,
            weight: 1.0,
            asked: [NodeIndex::default(); MOST_ATTEMPTS],
            attempts: [OVER; MOST_ATTEMPTS],
            asked_len: 0,
            running: 0,
            retries_left: clients.retries,
            is_done: false,
        }
    }

    /// The nodes that were asked.
    pub(super) fn asked(&self) -> &[NodeIndex] {
        &self.asked[..usize::from(self.asked_len)]
    }

    /// Whether it may ask a further node.
    pub(super) fn may_ask(&self) -> bool {
        usize::from(self.asked_len) < MOST_ATTEMPTS
    }

    /// Begins an attempt at a node; it [may](Self::may_ask).
    pub(super) fn ask(&mut self, node: NodeIndex, attempt: u32) {
        let place = usize::from(self.asked_len);
        self.asked[place] = node;
        self.attempts[place] = attempt;
        self.asked_len += 1;
        self.running += 1;
    }

    /// An attempt is over.
    pub(super) fn end(&mut self, attempt: u32) {
        for place in &mut self.attempts {
            if *place == attempt {
                *place = OVER;
            }
        }
        self.running -= 1;
    }

    /// The attempts that are not over.
    pub(super) fn under_way(&self) -> impl Iterator<Item = u32> + use<> {
        self.attempts.into_iter().filter(|attempt| *attempt != OVER)
    }
}

/// An attempt at a server, until it is over for its client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) client: u32,
    /// The request that it is for; none if it is a probe.
    pub(super) request: Option<u32>,
    pub(super) node: NodeIndex,
    pub(super) sent: u64,
    pub(super) outcome: Outcome,
    /// Its client has lost interest: another one was faster.
    pub(super) is_cancelled: bool,
}

/// Numbered places that are used again.
#[derive(Debug)]
pub(super) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

/// As many attempts as can be under way; what comes beyond that fails at once. No sensible scenario
/// comes near.
pub(super) const MOST_UNDER_WAY: u32 = 1 << 20;
const _: () = assert!(MOST_UNDER_WAY <= MAX_NUMBER);

impl<T> Slab<T> {
    pub(super) fn new() -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Puts something in a place, if there is one left.
    pub(super) fn insert(&mut self, item: T) -> Option<u32> {
        if let Some(index) = self.free.pop() {
            self.items[index as usize] = item;
            return Some(index);
        }
        let index = u32::try_from(self.items.len())
            .ok()
            .filter(|index| *index < MOST_UNDER_WAY)?;
        self.items.push(item);
        Some(index)
    }

    pub(super) fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    pub(super) fn get(&self, index: u32) -> &T {
        &self.items[index as usize]
    }

    pub(super) fn get_mut(&mut self, index: u32) -> &mut T {
        &mut self.items[index as usize]
    }
}
