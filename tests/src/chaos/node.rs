//! The nodes: real servers, some behind a proxy, and the embedded one; and how each fault is brought about.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use fastrand::Rng;
use steersman_testkit::ledger::Ledger;
use steersman_testkit::{Ending, FaultProxy, Faults, Server, Times};
use tokio::task::block_in_place;
use tokio::time::sleep;

use super::fault::Fault;
use super::impostor::{Impostor, garbage};
use super::occupant::{Ballast, Squatters, answers, connections};
use super::schedule::Step;
use crate::memcached::RealMemcached;

/// So many connections a server that has a limit takes, its own listeners included.
const LIMIT: &str = "40";
/// More than enough to reach it.
const CROWD: usize = 60;
/// A server that has taken nobody for so long after its limit was reached never will.
const STUCK: Duration = Duration::from_secs(10);
/// How many new connections wait for a server with a short queue.
const BACKLOG: &str = "8";

/// Which of the servers a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Connected to without a proxy, so that the kernel's own ways to fail are seen.
    Direct,
    /// Behind a proxy that makes a network of it.
    Distant,
    /// With little memory, and not allowed to evict.
    Full,
    /// With few connections, and saying so.
    Limited,
    /// With few connections, of which others wait for one to become free.
    Waiting,
    /// In this process.
    Embedded,
}

impl Role {
    /// All of them, in the order of the nodes.
    pub const ALL: [Self; 6] = [
        Self::Direct,
        Self::Full,
        Self::Limited,
        Self::Distant,
        Self::Waiting,
        Self::Embedded,
    ];

    /// What may strike it.
    pub const fn faults(self) -> &'static [Fault] {
        match self {
            Self::Direct => &[
                Fault::Down,
                Fault::Restart,
                Fault::Paused,
                Fault::BacklogFull,
                Fault::Impostor,
            ],
            Self::Distant => &[
                Fault::Down,
                Fault::BlackHole,
                Fault::HalfOpen,
                Fault::Resets,
                Fault::CutReplies,
                Fault::Slow,
                Fault::Refused,
                Fault::HeldBack,
                Fault::ResetAccepted,
            ],
            Self::Full => &[Fault::OutOfMemory, Fault::Paused],
            Self::Limited => &[Fault::ConnectionLimit],
            Self::Waiting => &[Fault::ConnectionTableFull],
            Self::Embedded => &[
                Fault::Down,
                Fault::Paused,
                Fault::BlackHole,
                Fault::Resets,
                Fault::CutReplies,
                Fault::Garbage,
                Fault::ErrorLines,
            ],
        }
    }

    const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Direct => &["-b", BACKLOG],
            Self::Full => &["-M", "-m", "8"],
            Self::Limited => &["-c", LIMIT],
            Self::Waiting => &["-c", LIMIT, "-o", "no_maxconns_fast"],
            Self::Distant | Self::Embedded => &[],
        }
    }

    const fn has_proxy(self) -> bool {
        matches!(self, Self::Distant | Self::Limited | Self::Waiting)
    }
}

#[derive(Debug)]
enum Kind {
    Real {
        server: RealMemcached,
        /// How many connections it has when it has none but that of whoever asks.
        alone: u64,
    },
    Embedded(Server),
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
    /// Starts a node.
    pub async fn start(role: Role, home: usize) -> io::Result<Self> {
        let kind = if role == Role::Embedded {
            Kind::Embedded(Server::start().await?)
        } else {
            block_in_place(|| {
                let server = RealMemcached::start_with(role.arguments())?;
                let alone = connections(server.addr())?;
                Ok::<_, io::Error>(Kind::Real { server, alone })
            })?
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
        Ok(node)
    }

    /// The server's own address.
    fn addr(&self) -> SocketAddr {
        match &self.kind {
            Kind::Real { server, .. } => server.addr(),
            Kind::Embedded(server) => server.addr(),
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
            Kind::Real { server, alone } => {
                // One that is still at its limit does not answer yet.
                let count = || block_in_place(|| connections(server.addr()));
                while !matches!(count(), Ok(count) if count <= *alone) {
                    sleep(Duration::from_millis(5)).await;
                }
            }
        }
    }

    /// Lets a fault happen, from its beginning until its cause is gone.
    pub async fn suffer(&mut self, step: Step, ledger: &Ledger) -> io::Result<()> {
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
        let Kind::Real { server, .. } = &mut self.kind else {
            return Ok(false);
        };
        let begun = tokio::time::Instant::now();
        while block_in_place(|| answers(server.addr())).is_err() {
            if self.role == Role::Waiting && begun.elapsed() > STUCK {
                let loss = ledger.loss(self.home);
                block_in_place(|| server.kill())?;
                loss.ended();
                block_in_place(|| server.restart())?;
                return Ok(true);
            }
            sleep(Duration::from_millis(5)).await;
        }
        Ok(false)
    }

    /// What a proxy, or the embedded server, does on its own.
    async fn network(&self, step: Step, random: &mut Rng) {
        match step.fault {
            Fault::BlackHole => self.switch(|faults| faults.set_black_hole(true)),
            Fault::HalfOpen => {
                self.switch(|faults| faults.set_black_hole(true));
                // Long enough that every connection under load loses something.
                sleep(Duration::from_millis(50)).await;
                self.switch(|faults| faults.set_black_hole(false));
            }
            Fault::Slow => {
                let seed = random.u64(..);
                self.switch(|faults| {
                    faults.set_latency(Duration::from_millis(random.u64(1..=40)));
                    faults.set_jitter(Duration::from_millis(20), seed);
                    faults.set_split(Some(random.usize(1..=700)));
                });
            }
            Fault::Refused => self.switch(|faults| {
                faults.set_refusing(true);
                faults.close_connections();
            }),
            Fault::HeldBack => self.switch(|faults| faults.set_stalled(true)),
            Fault::ResetAccepted => self.switch(|faults| {
                faults.reset_accepted(Times::Always);
                faults.reset_connections();
            }),
            Fault::CutReplies => self.switch(|faults| {
                let ending = [Ending::Close, Ending::Reset][random.usize(..2)];
                faults.cut_replies(Times::Always, random.usize(..30_000), ending);
            }),
            _ => {}
        }
        let end = tokio::time::Instant::now() + step.lasts;
        while step.fault == Fault::Resets && tokio::time::Instant::now() < end {
            self.switch(Faults::reset_connections);
            sleep(Duration::from_millis(random.u64(1..100))).await;
        }
        tokio::time::sleep_until(end).await;
        self.switch(Faults::clear);
    }

    fn switch(&self, mut switch: impl FnMut(&Faults)) {
        if let Some(faults) = self.faults() {
            switch(faults);
        }
    }

    /// Answers that are none, from a server that can be told what to say.
    async fn answers(&self, step: Step, random: &mut Rng) {
        let Kind::Embedded(server) = &self.kind else {
            return;
        };
        let end = tokio::time::Instant::now() + step.lasts;
        while tokio::time::Instant::now() < end {
            if step.fault == Fault::Garbage {
                server.script().answer(Times::Next(1), garbage(random));
                sleep(Duration::from_millis(random.u64(1..60))).await;
            } else {
                let lines = [
                    "SERVER_ERROR out of memory storing object\r\n",
                    "SERVER_ERROR\r\n",
                    "ERROR\r\n",
                ];
                let line = lines[random.usize(..lines.len())];
                server
                    .script()
                    .answer(Times::Next(random.u32(1..500)), line);
                sleep(Duration::from_millis(20)).await;
            }
        }
        server.script().clear();
    }

    async fn killed(&mut self, step: Step, ledger: &Ledger) -> io::Result<()> {
        let loss = ledger.loss(self.home);
        match &mut self.kind {
            Kind::Embedded(server) => server.stop().await,
            Kind::Real { server, .. } => block_in_place(|| server.kill())?,
        }
        loss.ended();
        match step.fault {
            Fault::Impostor => {
                let impostor = Impostor::start(self.addr(), step.seed)?;
                sleep(step.lasts).await;
                impostor.end().await;
            }
            Fault::Down => sleep(step.lasts).await,
            _ => {}
        }
        match &mut self.kind {
            Kind::Embedded(server) => server.restart().await,
            Kind::Real { server, .. } => block_in_place(|| server.restart()),
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
