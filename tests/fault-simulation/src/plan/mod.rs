//! What a seed decides before anything runs: the cluster, the clients, their load, and which faults come
//! when.

mod fault;
mod options;
mod schedule;

use std::time::Duration;

pub(crate) use self::fault::{Fault, HostTrouble, WayTrouble};
pub(crate) use self::options::ClientPlan;
use crate::chance::Chance;

/// How clients know their nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Addressing {
    /// By address.
    Addresses,
    /// By host name; answers say how long they are valid, or nothing of it.
    Names(Option<Duration>),
}

/// A run, as it is to be.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) hosts: usize,
    /// How many of the hosts are members at first; the others come by discovery or by a name.
    pub(crate) members: usize,
    pub(crate) addressing: Addressing,
    /// The members are found by discovery, and change.
    pub(crate) discovers: bool,
    /// On how many nodes each key is.
    pub(crate) replicas: usize,
    pub(crate) clients: Vec<ClientPlan>,
    pub(crate) keys: usize,
    /// Whether there are calls of many keys.
    pub(crate) reads_many: bool,
    /// How long calls are made while faults come.
    pub(crate) length: Duration,
    pub(crate) faults: Vec<(Duration, Fault)>,
}

impl Plan {
    /// The plan of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let mut chance = Chance::of(seed, "plan");
        let members = chance.size(1..=5);
        let addressing = match chance.number(0..=3) {
            0 => Addressing::Names(None),
            1 => Addressing::Names(Some(chance.millis(100..=1_000))),
            _ => Addressing::Addresses,
        };
        let discovers = chance.one_in(3);
        let spare = match (addressing, discovers) {
            (Addressing::Addresses, false) => 0,
            _ => chance.size(1..=2),
        };
        let replicas = if chance.one_in(4) {
            chance.size(2..=3)
        } else {
            1
        };
        let clients = (0..chance.size(1..=3))
            .map(|_| ClientPlan::draw(&mut chance))
            .collect();
        let mut plan = Self {
            seed,
            hosts: members + spare,
            members,
            addressing,
            discovers,
            replicas,
            clients,
            keys: chance.size(4..=24),
            reads_many: chance.one_in(2),
            length: chance.millis(4_000..=8_000),
            faults: Vec::new(),
        };
        plan.faults = schedule::draw(&plan, &mut chance);
        plan
    }

    /// Whether all that nodes count can be added up: see [`Limits::is_plain`](crate::history::Limits).
    pub(crate) fn is_plain(&self) -> bool {
        let purges = self
            .clients
            .iter()
            .any(|client| client.purge_unhealthy_nodes);
        !self.discovers && self.replicas == 1 && !self.reads_many && !purges
    }

    /// How often a server stores what is written once.
    pub(crate) fn copies(&self) -> usize {
        match self.addressing {
            Addressing::Addresses => 1,
            Addressing::Names(_) => self.replicas,
        }
    }

    /// When, after the last fault, all has to be well again.
    pub(crate) fn convalescence(&self) -> Duration {
        let longest = self.clients.iter().map(ClientPlan::convalescence).max();
        longest.unwrap_or_default()
    }
}
