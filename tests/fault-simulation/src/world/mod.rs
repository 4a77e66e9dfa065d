//! The cluster of a run and what can be done to it: servers, network, names, the list of members.

mod clock;
mod inventory;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use steersman_testkit::{Ending, Server, Times};

use self::clock::HostClock;
pub(crate) use self::inventory::Inventory;
use crate::chance::Chance;
use crate::history::Fact;
use crate::lock;
use crate::network::{Direction, Names, Network, Pace, Temper, Way};
use crate::plan::{Addressing, Fault, HostTrouble, Plan, WayTrouble};
use crate::trace::{Moment, Trace};
use crate::witness::{Facts, Observer};

/// The port of every host.
const PORT: u16 = 11_211;

/// The error line of a server that has no memory left.
const NO_MEMORY: &[u8] = b"SERVER_ERROR out of memory storing object\r\n";

/// Everything but the clients.
pub(crate) struct World {
    pub(crate) trace: Arc<Trace>,
    pub(crate) network: Arc<Network>,
    pub(crate) names: Arc<Names>,
    pub(crate) inventory: Inventory,
    plan: Plan,
    hosts: Vec<Host>,
    facts: Facts,
    leaps: Mutex<Vec<(Moment, Duration)>>,
}

/// A machine with a server.
struct Host {
    server: Arc<Server>,
    clock: Arc<HostClock>,
    life: Arc<AtomicU64>,
}

fn address(host: usize) -> SocketAddr {
    let last = u8::try_from(host + 1).unwrap_or(u8::MAX);
    SocketAddr::from(([10, 0, 0, last], PORT))
}

/// An address of no host.
fn vacant(number: usize) -> SocketAddr {
    let last = u8::try_from(number + 1).unwrap_or(u8::MAX);
    SocketAddr::from(([10, 0, 1, last], PORT))
}

fn name(member: usize) -> String {
    format!("cache-{member}.example")
}

impl World {
    /// The world of a plan, with everything in order.
    ///
    /// # Errors
    ///
    /// If a server cannot be started, which needs nothing but a runtime.
    pub(crate) async fn new(plan: &Plan, trace: Arc<Trace>) -> io::Result<Self> {
        let facts = Facts::default();
        let mut hosts = Vec::new();
        for index in 0..plan.hosts {
            let (clock, life) = (Arc::new(HostClock::new()), Arc::new(AtomicU64::new(0)));
            let observer = Observer::new(
                index,
                Arc::clone(&trace),
                Arc::clone(&facts),
                Arc::clone(&life),
            );
            let server = Server::builder()
                .listen_nowhere()
                .clock(Arc::clone(&clock) as Arc<_>)
                .witness(Arc::new(observer))
                .start()
                .await?;
            hosts.push(Host {
                server: Arc::new(server),
                clock,
                life,
            });
        }
        let servers: Vec<_> = hosts
            .iter()
            .enumerate()
            .map(|(index, host)| (address(index), Arc::clone(&host.server)))
            .collect();
        let chance = Chance::of(plan.seed, "network");
        let network = Network::new(Arc::clone(&trace), chance, &servers, plan.clients.len());
        let valid_for = match plan.addressing {
            Addressing::Names(valid_for) => valid_for,
            Addressing::Addresses => None,
        };
        let names = Names::new(valid_for);
        for member in 0..plan.hosts {
            names.set(name(member), vec![address(member)]);
        }
        let world = Self {
            trace,
            network: Arc::new(network),
            names: Arc::new(names),
            inventory: Inventory::default(),
            plan: plan.clone(),
            hosts,
            facts,
            leaps: Mutex::default(),
        };
        world.inventory.list(world.nodes(0..plan.members));
        Ok(world)
    }

    /// What clients are given to know some nodes by.
    fn nodes(&self, members: impl IntoIterator<Item = usize>) -> Vec<String> {
        let node = |member| match self.plan.addressing {
            Addressing::Addresses => format!("n{member}={}", address(member)),
            Addressing::Names(_) => format!("n{member}={}:{PORT}", name(member)),
        };
        members.into_iter().map(node).collect()
    }

    /// The nodes that are members at first.
    pub(crate) fn first_members(&self) -> Vec<String> {
        self.nodes(0..self.plan.members)
    }

    /// Makes a fault begin or end.
    pub(crate) async fn apply(&self, fault: &Fault) -> io::Result<()> {
        self.trace.note(fault);
        match fault {
            Fault::Way {
                client,
                host,
                trouble,
            } => self.trouble_way(*client, *host, *trouble),
            Fault::Host { host, trouble } => self.trouble_host(*host, *trouble).await?,
            Fault::Leap { by } => self.leap(*by).await,
            Fault::Rename {
                member,
                host,
                vacant: none,
            } => {
                let addresses = (0..*none).map(vacant).chain([address(*host)]);
                self.names.set(name(*member), addresses.collect());
            }
            Fault::Names { temper } => self.names.set_temper(*temper),
            Fault::Members { hosts } => self.inventory.list(self.nodes(hosts.iter().copied())),
            Fault::Source { temper } => self.inventory.set_temper(*temper),
        }
        Ok(())
    }

    fn trouble_way(&self, client: Option<usize>, host: usize, trouble: WayTrouble) {
        match trouble {
            WayTrouble::Cut(direction) => {
                self.change_ways(client, host, |way| way.cut(direction, true));
            }
            WayTrouble::Mend { resets } => {
                if resets {
                    self.network.reset(client, Some(host));
                }
                self.change_ways(client, host, |way| {
                    for direction in Direction::BOTH {
                        way.cut(direction, false);
                    }
                });
            }
            WayTrouble::Pace(direction, pace) => {
                self.change_ways(client, host, |way| way.set_pace(direction, pace));
            }
            WayTrouble::Reset => self.network.reset(client, Some(host)),
        }
    }

    async fn trouble_host(&self, host: usize, trouble: HostTrouble) -> io::Result<()> {
        let Host { server, clock, .. } = &self.hosts[host];
        match trouble {
            HostTrouble::Kill => server.stop().await,
            HostTrouble::Start => self.start(host).await?,
            HostTrouble::PowerOff => {
                self.network.set_power(host, false);
                server.stop().await;
            }
            HostTrouble::PowerOn => {
                self.start(host).await?;
                self.network.set_power(host, true);
            }
            HostTrouble::Freeze(frozen) => server.faults().set_frozen(frozen),
            HostTrouble::Stall(stalled) => server.faults().set_stalled(stalled),
            HostTrouble::ErrorLines { times } => {
                let line = Bytes::from_static(NO_MEMORY);
                server.script().answer(Times::Next(times), line);
            }
            HostTrouble::CutReplies {
                times,
                after,
                resets,
            } => {
                let ending = if resets { Ending::Reset } else { Ending::Close };
                server
                    .faults()
                    .cut_replies(Times::Next(times), after, ending);
            }
            HostTrouble::SetClock { seconds } => clock.set(seconds),
        }
        Ok(())
    }

    fn change_ways(&self, client: Option<usize>, host: usize, change: impl Fn(&Way)) {
        let clients = match client {
            Some(client) => client..client + 1,
            None => 0..self.plan.clients.len(),
        };
        for client in clients {
            self.network.change_way(client, host, &change);
        }
    }

    /// Starts a server anew, which has lost everything.
    async fn start(&self, host: usize) -> io::Result<()> {
        let Host { server, life, .. } = &self.hosts[host];
        server.stop().await;
        life.fetch_add(1, Ordering::Relaxed);
        server.restart().await
    }

    async fn leap(&self, by: Duration) {
        let leap = self.trace.note(&"leap");
        lock(&self.leaps).push((leap, by));
        tokio::time::advance(by).await;
    }

    /// Ends all faults that have not ended by themselves, and what they have left behind. Servers that were
    /// stopped run again: each such fault had its end.
    pub(crate) fn heal(&self) {
        self.trace.note(&"heal");
        self.names.set_temper(Temper::Well);
        self.inventory.set_temper(Temper::Well);
        for (index, host) in self.hosts.iter().enumerate() {
            host.server.faults().clear();
            host.server.script().clear();
            self.change_ways(None, index, |way| {
                for direction in Direction::BOTH {
                    way.cut(direction, false);
                    way.set_pace(direction, Pace::SWIFT);
                }
            });
        }
        self.network.reset_orphans();
    }

    /// Stops all servers: a slow one may have something to read for long after its client is gone.
    pub(crate) async fn shut_down(&self) {
        for host in &self.hosts {
            host.server.stop().await;
        }
    }

    /// What the servers have done.
    pub(crate) fn take_facts(&self) -> Vec<Fact> {
        std::mem::take(&mut *lock(&self.facts))
    }

    pub(crate) fn leaps(&self) -> Vec<(Moment, Duration)> {
        lock(&self.leaps).clone()
    }
}
