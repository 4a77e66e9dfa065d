//! What a scenario comes to before its first request: topology, replicas, who asks for what.

use steersman_selection::{Hedging, Locality, Member, NodeIndex, Placement, Scheme, Topology};

use crate::random::Weighted;
use crate::scenario::{Clients, Keys, Scenario};
use crate::{Error, ErrorKind};

/// The parts of a scenario that do not depend on the seed.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) topology: Topology,
    /// By key, its replicas, `copies` of each.
    replicas: Vec<NodeIndex>,
    copies: usize,
    /// Which keys are asked for; none if there are no keys.
    pub(super) keys: Option<Weighted>,
    /// Which clients ask; none if all do alike.
    pub(super) demand: Option<Weighted>,
    /// By server, the part of all requests that it would get if each key's were spread evenly.
    pub(super) even_shares: Vec<f64>,
    /// By server, whether it is in another datacenter than the clients.
    pub(super) is_remote: Vec<bool>,
}

impl Setting {
    pub(super) fn new(scenario: &Scenario) -> Result<Self, Error> {
        let refused = |error: steersman_selection::Error| {
            Error::new(ErrorKind::InvalidScenario, error.to_string())
        };
        let mut topology = Topology::new();
        let mut is_remote = Vec::new();
        for kind in &scenario.servers {
            let name = kind.datacenter.as_deref().unwrap_or_default();
            for _ in 0..kind.count {
                let node = NodeIndex::try_from(is_remote.len()).map_err(refused)?;
                topology.insert(node, Locality::datacenter(name));
                let own = scenario.clients.datacenter.as_deref();
                is_remote.push(own.is_some_and(|own| own != name));
            }
        }
        let servers = is_remote.len();
        let mut setting = Self {
            topology,
            replicas: Vec::new(),
            copies: 0,
            keys: None,
            demand: demand(&scenario.clients),
            even_shares: even_shares(&is_remote),
            is_remote,
        };
        if let Some(keys) = &scenario.keys {
            let members = (0..servers).map(|server| Member::new(format!("server-{server}")));
            let placement = Placement::with_replicas(Scheme::default(), keys.replicas, members)
                .map_err(refused)?;
            setting.place(keys, &placement);
        }
        Ok(setting)
    }

    fn place(&mut self, keys: &Keys, placement: &Placement) {
        let weights = Weighted::zipf(keys.count, keys.zipf);
        let total: f64 = weights.iter().sum();
        self.copies = keys.replicas;
        self.replicas = vec![NodeIndex::default(); keys.count as usize * self.copies];
        self.even_shares.fill(0.0);
        let places = self.replicas.chunks_exact_mut(self.copies);
        for ((key, weight), replicas) in (0..keys.count).zip(&weights).zip(places) {
            placement.replicas(&key.to_le_bytes(), replicas);
            #[expect(clippy::cast_precision_loss, reason = "at most 16")]
            for node in replicas {
                self.even_shares[node.get()] += weight / total / keys.replicas as f64;
            }
        }
        self.keys = Some(Weighted::new(&weights));
    }

    /// What decides about hedges, for each client; none if there are no hedges.
    pub(super) fn hedging(clients: &Clients) -> Vec<Hedging> {
        let one = || clients.hedge?.hedging().ok();
        std::iter::repeat_with(one)
            .map_while(|hedging| hedging)
            .take(clients.count as usize)
            .collect()
    }

    /// The nodes that hold a key; none if any node will do.
    pub(super) fn replicas_of(&self, key: u32) -> &[NodeIndex] {
        let first = key as usize * self.copies;
        self.replicas
            .get(first..first + self.copies)
            .unwrap_or_default()
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most 10,000")]
fn even_shares(is_remote: &[bool]) -> Vec<f64> {
    let local = is_remote.iter().filter(|remote| !**remote).count();
    let share = 1.0 / local.max(1) as f64;
    is_remote
        .iter()
        .map(|remote| if *remote { 0.0 } else { share })
        .collect()
}

fn demand(clients: &Clients) -> Option<Weighted> {
    let (busy, demand) = clients.busy.zip(clients.demand)?;
    let count = f64::from(clients.count);
    let busy_clients = (count * busy).round();
    let weights: Vec<f64> = (0..clients.count)
        .map(|client| {
            if f64::from(client) < busy_clients {
                demand / busy_clients
            } else {
                (1.0 - demand) / (count - busy_clients)
            }
        })
        .collect();
    // All of the demand may be that of nobody.
    (weights.iter().sum::<f64>() > 0.0).then(|| Weighted::new(&weights))
}
