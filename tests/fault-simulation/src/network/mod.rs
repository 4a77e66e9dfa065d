//! A network in memory: hosts, ways to them, and connections whose every byte takes its time.
//!
//! It behaves as TCP does towards those who use it: bytes arrive in order or not at all, a lost packet is
//! one that comes late, what is written to somebody who has gone is answered by a reset, and a host that
//! lost its power answers nothing. What happens on a [`way`] is decided by the faults of the run.

mod connection;
mod connector;
mod names;
mod pipe;
mod socket;
mod way;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, Weak};

use steersman_testkit::Server;
use tokio::sync::Notify;

use self::connection::Connection;
pub(crate) use self::connector::Reach;
pub(crate) use self::names::{Names, Temper};
use self::socket::{Side, Socket};
pub(crate) use self::way::{Direction, Pace, Way};
use crate::chance::Chance;
use crate::lock;
use crate::trace::Trace;

/// A packet that asks for a connection is sent again after this time if it was lost.
const ASKED_AGAIN_MS: u64 = 1_000;

/// The hosts of the servers, and the ways between them and the clients.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) trace: Arc<Trace>,
    hosts: Vec<Host>,
    /// By client, then by host.
    ways: Vec<Vec<Arc<Way>>>,
    state: Mutex<State>,
    /// Notified when a way or a host has changed.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    chance: Chance,
    /// Those that may be open.
    connections: Vec<Weak<Connection>>,
    made: u64,
}

#[derive(Debug)]
struct Host {
    address: SocketAddr,
    server: Arc<Server>,
    has_power: Mutex<bool>,
}

/// What happens on the network, for the trace.
#[derive(Debug, Hash)]
enum Event {
    Asked {
        client: usize,
        to: SocketAddr,
    },
    Refused {
        client: usize,
        host: usize,
    },
    Connected {
        client: usize,
        host: usize,
        connection: u64,
    },
}

impl Network {
    /// A network on which these servers can be reached by so many clients.
    pub(crate) fn new(
        trace: Arc<Trace>,
        mut chance: Chance,
        servers: &[(SocketAddr, Arc<Server>)],
        clients: usize,
    ) -> Self {
        let hosts = servers.iter().map(|(address, server)| Host {
            address: *address,
            server: Arc::clone(server),
            has_power: Mutex::new(true),
        });
        let ways = (0..clients).map(|_| {
            let ways = servers.iter().map(|_| Arc::new(Way::new(chance.fork())));
            ways.collect()
        });
        Self {
            trace,
            ways: ways.collect(),
            hosts: hosts.collect(),
            state: Mutex::new(State {
                chance,
                connections: Vec::new(),
                made: 0,
            }),
            changed: Notify::new(),
        }
    }

    /// The way between a client and a host, for changes that take effect at once.
    pub(crate) fn change_way(&self, client: usize, host: usize, change: impl FnOnce(&Way)) {
        change(&self.ways[client][host]);
        for connection in self.between(Some(client), Some(host)) {
            connection.look_again();
        }
        self.changed.notify_waiters();
    }

    /// Resets the connections of a client, a host, or both.
    pub(crate) fn reset(&self, client: Option<usize>, host: Option<usize>) {
        for connection in self.between(client, host) {
            connection.reset();
        }
    }

    /// A host loses its power, and its connections without a word, or has it again.
    pub(crate) fn set_power(&self, host: usize, on: bool) {
        *lock(&self.hosts[host].has_power) = on;
        for connection in self.between(None, Some(host)) {
            if on {
                connection.host_is_back();
            } else {
                connection.orphan();
            }
        }
        self.changed.notify_waiters();
    }

    /// Resets what hosts without power have left behind, as keepalive would in the end.
    pub(crate) fn reset_orphans(&self) {
        for connection in self.between(None, None) {
            if connection.is_orphan() {
                connection.reset();
            }
        }
    }

    /// The most bytes that are under way on one connection in one direction.
    pub(crate) fn most_under_way(&self) -> usize {
        let held = self.between(None, None).map(|connection| connection.held());
        held.max().unwrap_or_default()
    }

    /// How many connections of a client are open at its end.
    pub(crate) fn open_connections(&self, client: usize) -> usize {
        let of_client = self.between(Some(client), None);
        of_client
            .filter(|connection| connection.is_open_at(Side::Client))
            .count()
    }

    fn between(
        &self,
        client: Option<usize>,
        host: Option<usize>,
    ) -> impl Iterator<Item = Arc<Connection>> {
        let mut state = lock(&self.state);
        state
            .connections
            .retain(|connection| connection.strong_count() > 0);
        let open: Vec<_> = state.connections.iter().filter_map(Weak::upgrade).collect();
        open.into_iter().filter(move |connection| {
            client.is_none_or(|client| client == connection.client)
                && host.is_none_or(|host| host == connection.host)
        })
    }

    /// Connects a client with an address.
    async fn connect(self: Arc<Self>, client: usize, to: SocketAddr) -> io::Result<Socket> {
        self.trace.note(&Event::Asked { client, to });
        let Some(host) = self.hosts.iter().position(|host| host.address == to) else {
            return Err(io::ErrorKind::HostUnreachable.into());
        };
        let way = Arc::clone(&self.ways[client][host]);
        self.passage(&way, host).await;
        let (number, chance) = {
            let mut state = lock(&self.state);
            state.made += 1;
            (state.made, state.chance.fork())
        };
        let connection = Connection::new(number, client, host, Arc::clone(&way), chance);
        let connection = Arc::new(connection);
        lock(&self.state)
            .connections
            .push(Arc::downgrade(&connection));
        let ours = Socket::new(Arc::clone(&self), Arc::clone(&connection), Side::Client);
        let theirs = Socket::new(Arc::clone(&self), connection, Side::Host);
        if let Err(refused) = self.hosts[host].server.connect(theirs) {
            self.trace.note(&Event::Refused { client, host });
            ours.forget();
            return Err(refused);
        }
        self.trace.note(&Event::Connected {
            client,
            host,
            connection: number,
        });
        Ok(ours)
    }

    /// Waits until a packet has come through and another one back.
    async fn passage(&self, way: &Way, host: usize) {
        loop {
            let changed = self.changed.notified();
            let is_open = !way.is_cut(Direction::Up) && !way.is_cut(Direction::Down);
            if !is_open || !self.has_power(host) {
                changed.await;
                // Nobody knows that it would get through now: it is asked again when that is due.
                tokio::time::sleep(way.chance().millis(0..=ASKED_AGAIN_MS / 4)).await;
                continue;
            }
            tokio::time::sleep(way.round_trip(ASKED_AGAIN_MS)).await;
            if !way.is_cut(Direction::Down) && self.has_power(host) {
                return;
            }
        }
    }

    fn has_power(&self, host: usize) -> bool {
        *lock(&self.hosts[host].has_power)
    }
}
