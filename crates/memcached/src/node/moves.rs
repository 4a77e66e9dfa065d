//! Nodes whose name comes to stand for another address while they are connected.
//!
//! Each connection remembers the address that it was made to. As long as one stands the name is
//! looked up again when the last answer is not valid any more, and a connection whose address is
//! missing from [`CONFIRMED`] answers in a row is moved: another one is made, to an address that is
//! listed, and then the first takes no more requests and closes once all of them are answered. If
//! none can be made, or the name cannot be looked up, connections stay while they work.
//!
//! What follows a noreply write must not overtake it on the other connection, so it stays on the first.
//! If there is always such a write outstanding when the name is looked up the next time, requests wait
//! in the queue until those that were sent are answered.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;
use tracing::{debug, info};

use super::Node;
use super::lane::Leave;
use super::state::State;
use crate::backoff::jittered;
use crate::deadline::within;
use crate::observe::targets;
use crate::resolve::{self, Resolved, Route};

/// An address has left its record when so many answers in a row lack it: a record of many
/// addresses may give some of them each time.
const CONFIRMED: u32 = 2;

/// A name is not looked up more often, whatever its record says.
const SHORTEST_VALIDITY: Duration = Duration::from_secs(1);

/// Where a node's connections go; it lives under the node's lock.
#[derive(Default)]
pub(super) struct Addresses {
    known: Vec<Known>,
    /// The connection that goes as soon as its noreply writes are answered.
    held: Option<u64>,
    /// When the name is to be looked up; none while no connection was made by it.
    look_at: Option<Instant>,
}

struct Known {
    lane: u64,
    address: SocketAddr,
    /// How many answers in a row lacked it.
    missing: u32,
}

impl Addresses {
    /// Whether a connection goes where its node's name does not any more.
    pub(super) fn is_outdated(&self, lane: u64) -> bool {
        self.is_missing(lane, CONFIRMED)
    }

    /// Whether that was so already when the name was looked up the last time.
    fn is_overdue(&self, lane: u64) -> bool {
        self.is_missing(lane, CONFIRMED + 1)
    }

    /// Whether so many answers in a row lacked a connection's address.
    fn is_missing(&self, lane: u64, answers: u32) -> bool {
        let mut known = self.known.iter();
        known.any(|known| known.lane == lane && known.missing >= answers)
    }
}

impl State {
    /// Forgets where a connection went that has ended.
    pub(super) fn forget_address(&mut self, lane: u64) {
        self.addresses.known.retain(|known| known.lane != lane);
        self.addresses.held.take_if(|held| *held == lane);
    }

    /// Whether a connection takes no more requests although noreply writes are outstanding on it.
    pub(super) fn is_held(&self, lane: u64) -> bool {
        self.addresses.held == Some(lane)
    }

    /// Lets the connection go that waited for its noreply writes, if they are answered, or lets it serve
    /// again if there is no other any more. Returns the drivers to wake.
    pub(super) fn let_held_go(&mut self) -> Vec<Waker> {
        let is_quiet = |held| self.lanes.iter().any(|l| l.id == held && l.quiet > 0);
        match self.addresses.held {
            Some(held) if !is_quiet(held) || self.current_lanes() == 0 => self.let_outdated_go(),
            _ => Vec::new(),
        }
    }

    /// How many connections take requests and go to an address that the name stands for.
    pub(super) fn current_lanes(&self) -> usize {
        let open = self.lanes.iter().filter(|lane| lane.is_open());
        if self.addresses.known.is_empty() {
            return open.count();
        }
        open.filter(|lane| !self.addresses.is_outdated(lane.id))
            .count()
    }

    /// Lets the connections go that are outdated, once there is another one. Returns the drivers to
    /// wake.
    pub(super) fn let_outdated_go(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        self.addresses.held = None;
        if self.addresses.known.is_empty() || self.current_lanes() == 0 {
            return wakers;
        }
        for at in 0..self.lanes.len() {
            let id = self.lanes[at].id;
            if !self.addresses.is_outdated(id) {
                continue;
            }
            if self.lanes[at].quiet > 0 {
                if self.addresses.is_overdue(id) {
                    self.addresses.held = Some(id);
                }
                continue;
            }
            self.lanes[at].ask_to_leave(Leave::Depart);
            wakers.extend(self.lanes[at].waker.take());
        }
        wakers
    }

    /// Takes note of an answer; says whether a connection has become outdated by it.
    fn name_stands_for(&mut self, addresses: &[SocketAddr]) -> bool {
        let mut news = false;
        for known in &mut self.addresses.known {
            known.missing = if addresses.contains(&known.address) {
                0
            } else {
                known.missing.saturating_add(1)
            };
            news |= known.missing == CONFIRMED;
        }
        news
    }

    /// Sets when the name is to be looked up again.
    fn look_after(&mut self, valid_for: Duration) {
        let wait = valid_for.max(SHORTEST_VALIDITY);
        self.addresses.look_at = Instant::now().checked_add(wait);
    }
}

/// Looks the node's name up again and again, for as long as it is followed.
pub(super) async fn follow(node: Arc<Node>) {
    let Some(every) = node.options.resolve_interval else {
        return;
    };
    loop {
        let look_at = node.lock().addresses.look_at;
        match look_at {
            None => node.located.notified().await,
            Some(at) if at > Instant::now() => tokio::time::sleep_until(at).await,
            Some(_) => {
                // A panic of somebody else's resolver is a look that found nothing.
                let look = AssertUnwindSafe(look_up(&node)).catch_unwind();
                match look.await {
                    Ok(None) => return,
                    Ok(Some(found)) => node.looked(found, every),
                    Err(_) => node.looked(Err("the resolver panicked".to_owned()), every),
                }
            }
        }
    }
}

/// What the node's name stands for, if it is one.
async fn look_up(node: &Node) -> Option<Result<Resolved, String>> {
    let resolving = resolve::resolve(&*node.options.connector, node.config.endpoint())?;
    Some(
        match within(node.options.connection_timeout, resolving).await {
            Ok(found) => found.map_err(|error| error.to_string()),
            Err(limit) => Err(format!("no answer within {limit:?}")),
        },
    )
}

impl Node {
    /// A connection has been made to an address of the node's name.
    pub(super) fn remember_route(&self, lane: u64, route: Option<Route>) {
        let (Some(route), Some(every)) = (route, self.options.resolve_interval) else {
            return;
        };
        let mut state = self.lock();
        // It may have ended already.
        if state.lane(lane).is_none() {
            return;
        }
        state.addresses.known.push(Known {
            lane,
            address: route.address,
            missing: 0,
        });
        state.look_after(jittered(route.valid_for.unwrap_or(every)));
        drop(state);
        self.located.notify_one();
    }

    /// The name was looked up.
    fn looked(&self, found: Result<Resolved, String>, every: Duration) {
        let mut state = self.lock();
        if state.addresses.known.is_empty() {
            // Whoever connects next looks it up.
            state.addresses.look_at = None;
            return;
        }
        let valid_for = match &found {
            Ok(resolved) => resolved.validity().unwrap_or(every),
            Err(_) => every,
        };
        state.look_after(jittered(valid_for));
        let moved = match &found {
            Ok(resolved) => state.name_stands_for(resolved.addresses()),
            Err(_) => false,
        };
        drop(state);
        match found {
            Ok(resolved) if moved => info!(
                target: targets::CONNECTION,
                node = %self.name(),
                addresses = ?resolved.addresses(),
                "the node's name stands for other addresses: its connections move there"
            ),
            Ok(_) => {}
            Err(error) => debug!(
                target: targets::CONNECTION,
                node = %self.name(),
                error,
                "the node's name cannot be looked up"
            ),
        }
        self.supervise.notify_one();
    }
}
