//! Who plays in a trace: hosts by name and number, and the topologies in the order of the trace.

use std::collections::HashMap;
use std::sync::Arc;

use steersman_selection::{Locality, NodeIndex, Topology};

use super::trace::{Event, PlanTrace};

pub(crate) struct Cast<'t> {
    names: Vec<&'t str>,
    indices: HashMap<&'t str, NodeIndex>,
    /// The topology at the start, and after each event that changes it.
    pub(crate) topologies: Vec<Arc<Topology>>,
    /// For each event that is a plan, what its child yields.
    pub(crate) children: Vec<Vec<NodeIndex>>,
}

impl<'t> Cast<'t> {
    pub(crate) fn of(trace: &'t PlanTrace) -> Result<Self, String> {
        let mut cast = Self {
            names: Vec::new(),
            indices: HashMap::new(),
            topologies: Vec::new(),
            children: Vec::new(),
        };
        let locality = |host: &str| match trace.dcs.get(host) {
            Some(name) => Locality::datacenter(name.as_str()),
            None => Locality::unknown(),
        };
        let datacenters = in_order_of_a_java_set(trace.dcs.values().map(String::as_str).collect());
        let mut topology = Topology::with_datacenters(datacenters);
        for host in &trace.hosts {
            topology.insert(cast.enter(host)?, locality(host));
        }
        cast.topologies.push(Arc::new(topology.clone()));
        for event in &trace.events {
            let mut child: &[String] = &[];
            match event {
                Event::UpOrAdd { host } => topology.insert(cast.enter(host)?, locality(host)),
                Event::DownOrRemove { host } => {
                    topology.remove(cast.enter(host)?);
                }
                Event::Sample { host, .. } => {
                    cast.enter(host)?;
                }
                Event::Plan { child: hosts, .. } | Event::OpenPlan { child: hosts, .. } => {
                    child = hosts;
                }
                Event::UpdateMin { .. } | Event::Next { .. } => {}
            }
            if matches!(event, Event::UpOrAdd { .. } | Event::DownOrRemove { .. }) {
                cast.topologies.push(Arc::new(topology.clone()));
            }
            let nodes = child.iter().map(|host| cast.enter(host));
            let nodes = nodes.collect::<Result<_, _>>()?;
            cast.children.push(nodes);
        }
        Ok(cast)
    }

    /// The number of a host, a new one if it was not seen before.
    fn enter(&mut self, host: &'t str) -> Result<NodeIndex, String> {
        if let Some(&node) = self.indices.get(host) {
            return Ok(node);
        }
        let node = NodeIndex::try_from(self.names.len()).map_err(|error| error.to_string())?;
        self.names.push(host);
        self.indices.insert(host, node);
        Ok(node)
    }

    /// The number of a host of the trace.
    pub(crate) fn node(&self, host: &str) -> NodeIndex {
        self.indices[host]
    }

    pub(crate) fn name(&self, node: NodeIndex) -> String {
        self.names[node.get()].to_owned()
    }
}

/// Java's class visits remote datacenters in the order of a `HashSet` of their names: by the last
/// four bits of their spread hash, as long as there are no more than 12.
fn in_order_of_a_java_set(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_by_key(|name| {
        let hash = name.encode_utf16().fold(0_u32, |hash, unit| {
            hash.wrapping_mul(31).wrapping_add(u32::from(unit))
        });
        (hash ^ (hash >> 16)) & 15
    });
    names.dedup();
    names
}
