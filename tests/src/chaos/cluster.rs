//! The nodes as clients are told of them.

use steersman_memcached::{Client, Tls};

use super::clients::Kind;
use super::guard::Guard;
use super::node::Role;
use super::roster::{INTERVAL, Roster};

/// The nodes as clients are told of them.
#[derive(Debug)]
pub struct Cluster {
    /// Their names, of which a node's number is the index.
    pub names: Vec<String>,
    /// What some of them ask for.
    pub guard: Guard,
    /// Who of these is a member.
    pub roster: Roster,
}

impl Cluster {
    /// The nodes of these names, in the order of [`Role::ALL`].
    pub fn new(names: Vec<String>, guard: Guard) -> Self {
        let roster = Roster::default();
        for name in &names[Role::WITH_A_GUARD] {
            roster.add(name);
        }
        Self {
            names,
            guard,
            roster,
        }
    }

    /// A client of the nodes that its kind uses.
    ///
    /// # Errors
    ///
    /// If an option is invalid, which none is.
    pub fn client(&self, kind: Kind) -> steersman_memcached::Result<Client> {
        let builder = kind.builder(&self.names[kind.homes()]);
        if kind != Kind::Guarded {
            return builder.build();
        }
        builder
            .tls(Tls::new().roots(self.guard.authority()))
            .auth_with(self.guard.keyring.clone())
            .discovery(self.roster.clone())
            .discovery_interval(INTERVAL)
            .build()
    }
}
