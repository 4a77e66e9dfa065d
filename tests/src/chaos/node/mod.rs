//! The nodes: real servers, some behind a proxy, and the embedded one; and how each fault is brought about.

mod network;
mod role;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use fastrand::Rng;
use steersman_testkit::ledger::Ledger;
use steersman_testkit::{FaultProxy, Faults, Server};
use tokio::task::block_in_place;
use tokio::time::sleep;

pub use self::role::Role;
use super::cluster::Cluster;
use super::fault::Fault;
use super::guard::{Guard, Lock};
use super::impostor::Impostor;
use super::line::Door;
use super::occupant::{Ballast, Squatters};
use super::schedule::Step;
use crate::memcached::RealMemcached;

/// More connections than a server with a limit takes.
const CROWD: usize = 60;
/// A server that has taken nobody for so long after its limit was reached never will.
const STUCK: Duration = Duration::from_secs(10);

#[derive(Debug)]
enum Kind {
    Real {
        server: RealMemcached,
        /// What it asks for.
        lock: Option<Lock>,
        /// How many connections it has when it has none but that of whoever asks.
        alone: u64,
    },
    Embedded(Server),
}

impl Kind {
    fn real(role: Role, home: usize, guard: &Guard) -> io::Result<Self> {
        let lock = role.has_guard().then(|| guard.lock(home)).transpose()?;
        let server = match &lock {
            None => RealMemcached::start_with(role.arguments()),
            Some(lock) => {
                let arguments = guard.arguments(lock);
                let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
                RealMemcached::start_guarded(&arguments)
            }
        }?;
        let door = Door {
            addr: server.addr(),
            lock: lock.as_ref(),
        };
        let alone = door.connections()?;
        Ok(Self::Real {
            server,
            lock,
            alone,
        })
    }
}

/// A node and what is done to it.
#[derive(Debug)]
pub struct Node {
    /// Which one it is.
    pub role: Role,
    /// Its number in the ledger.
    pub home: usize,
    kind: Kind,
    proxy: Option<FaultProxy>,
}

impl Node {
    /// Starts a node, whose lock, if it has one, is the guard's.
    pub async fn start(role: Role, home: usize, guard: &Guard) -> io::Result<Self> {
        let kind = if role == Role::Embedded {
            Kind::Embedded(Server::start().await?)
        } else {
            block_in_place(|| Kind::real(role, home, guard))?
        };
        let mut node = Self {
            role,
            home,
            kind,
            proxy: None,
        };
        if role.has_proxy() {
            node.proxy = Some(FaultProxy::start(node.addr().to_string()).await?);
        }
        if let Some(lock) = node.lock() {
            guard.keyring.tell(&node.name(), &lock.password);
        }
        Ok(node)
    }

    /// The server's own address.
    fn addr(&self) -> SocketAddr {
        match &self.kind {
            Kind::Real { server, .. } => server.addr(),
            Kind::Embedded(server) => server.addr(),
        }
    }

    fn lock(&self) -> Option<&Lock> {
        match &self.kind {
            Kind::Real { lock, .. } => lock.as_ref(),
            Kind::Embedded(_) => None,
        }
    }

    fn door(&self) -> Door<'_> {
        Door {
            addr: self.addr(),
            lock: self.lock(),
        }
    }

    /// Its name and address for clients.
    pub fn name(&self) -> String {
        let proxy = self.proxy.as_ref();
        proxy.map_or_else(|| self.addr().to_string(), FaultProxy::node)
    }

    /// The switches of whatever is between the clients and the server.
    fn faults(&self) -> Option<&Faults> {
        match &self.kind {
            Kind::Embedded(server) => Some(server.faults()),
            Kind::Real { .. } => self.proxy.as_ref().map(FaultProxy::faults),
        }
    }

    /// Waits until nobody is connected any more, by which all that was sent has been executed or lost.
    pub async fn deserted(&self) {
        if let Some(proxy) = &self.proxy {
            proxy.wait_for(|stats| stats.connections == 0).await;
        }
        match &self.kind {
            Kind::Embedded(server) => {
                server.wait_for(|stats| stats.connections == 0).await;
            }
            Kind::Real { alone, .. } => {
                // One that is still at its limit does not answer yet.
                let count = || block_in_place(|| self.door().connections());
                while !matches!(count(), Ok(count) if count <= *alone) {
                    sleep(Duration::from_millis(5)).await;
                }
            }
        }
    }

    /// Lets a fault happen, from its beginning until its cause is gone.
    pub async fn suffer(
        &mut self,
        step: Step,
        ledger: &Ledger,
        cluster: &Cluster,
    ) -> io::Result<()> {
        let mut random = Rng::with_seed(step.seed);
        match step.fault {
            Fault::Down | Fault::Restart | Fault::Impostor => {
                self.killed(step, ledger).await?;
            }
            Fault::Paused => self.paused(step.lasts).await?,
            Fault::BacklogFull => {
                self.pause()?;
                let _crowd = Squatters::connect(self.addr(), CROWD)?;
                sleep(step.lasts).await;
                self.resume()?;
            }
            Fault::OutOfMemory => {
                let ballast = Ballast::load(self.addr());
                sleep(step.lasts).await;
                block_in_place(|| ballast.unload())?;
            }
            Fault::ConnectionLimit | Fault::ConnectionTableFull => {
                let _crowd = Squatters::connect(self.addr(), CROWD)?;
                // Those who were there before have to come again.
                self.switch(Faults::reset_connections);
                sleep(step.lasts).await;
            }
            Fault::Garbage | Fault::ErrorLines => {
                self.answers(step, &mut random).await;
            }
            Fault::WrongPassword => {
                let name = self.name();
                cluster.guard.keyring.tell(&name, "wrong");
                self.switch(Faults::reset_connections);
                sleep(step.lasts).await;
                self.tell_password(cluster);
            }
            Fault::PasswordChanged => {
                self.change_password(step.seed)?;
                self.killed(step, ledger).await?;
                sleep(step.lasts).await;
                self.tell_password(cluster);
            }
            Fault::NoMember => {
                cluster.roster.remove(&self.name());
                sleep(step.lasts).await;
                cluster.roster.add(&self.name());
            }
            _ => self.network(step, &mut random).await,
        }
        Ok(())
    }

    /// Waits until the server itself is well, which clients that find it again presuppose; whether it had to
    /// be restarted for that.
    ///
    /// Memcached stops to accept when its table is full and notes that only afterwards. If those who are about
    /// to leave have left by then, it waits for one more to do so, and a table of connections in use may
    /// see none.
    pub async fn recover(&mut self, ledger: &Ledger) -> io::Result<bool> {
        let begun = tokio::time::Instant::now();
        while block_in_place(|| self.door().answers()).is_err() {
            if self.role == Role::Waiting && begun.elapsed() > STUCK {
                self.kill(ledger).await?;
                self.start_again().await?;
                return Ok(true);
            }
            sleep(Duration::from_millis(5)).await;
        }
        Ok(false)
    }

    async fn killed(&mut self, step: Step, ledger: &Ledger) -> io::Result<()> {
        self.kill(ledger).await?;
        match step.fault {
            Fault::Impostor => {
                let impostor = Impostor::start(self.addr(), step.seed)?;
                sleep(step.lasts).await;
                impostor.end().await;
            }
            Fault::Down => sleep(step.lasts).await,
            _ => {}
        }
        self.start_again().await
    }

    async fn kill(&mut self, ledger: &Ledger) -> io::Result<()> {
        let loss = ledger.loss(self.home);
        match &mut self.kind {
            Kind::Embedded(server) => server.stop().await,
            Kind::Real { server, .. } => block_in_place(|| server.kill())?,
        }
        loss.ended();
        Ok(())
    }

    async fn start_again(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::Embedded(server) => server.restart().await,
            Kind::Real { server, .. } => block_in_place(|| server.restart()),
        }
    }

    fn change_password(&mut self, random: u64) -> io::Result<()> {
        match &mut self.kind {
            Kind::Real {
                lock: Some(lock), ..
            } => lock.change(random),
            _ => Ok(()),
        }
    }

    /// Clients hear of the password that the server knows.
    fn tell_password(&self, cluster: &Cluster) {
        if let Some(lock) = self.lock() {
            cluster.guard.keyring.tell(&self.name(), &lock.password);
        }
    }

    async fn paused(&self, lasts: Duration) -> io::Result<()> {
        self.pause()?;
        sleep(lasts).await;
        self.resume()
    }

    fn pause(&self) -> io::Result<()> {
        match &self.kind {
            Kind::Embedded(server) => {
                server.faults().set_frozen(true);
                Ok(())
            }
            Kind::Real { server, .. } => block_in_place(|| server.pause()),
        }
    }

    fn resume(&self) -> io::Result<()> {
        match &self.kind {
            Kind::Embedded(server) => {
                server.faults().set_frozen(false);
                Ok(())
            }
            Kind::Real { server, .. } => server.resume(),
        }
    }
}
