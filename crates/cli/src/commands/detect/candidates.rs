//! What could explain where keys are: every placement, over the nodes by several names and in several
//! orders.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};

use steersman_memcached::{Endpoint, NodeConfig};
use steersman_selection::{Member, Placement, Scheme};

/// A key and the node that has it, by its place in the list given.
pub(super) struct Found {
    pub(super) key: Vec<u8>,
    pub(super) holder: usize,
}

/// The nodes by some names, in some order.
pub(super) struct Naming {
    /// The name of each, and its place in the list given.
    names: Vec<(String, usize)>,
    nodes: Vec<NodeConfig>,
}

/// A placement, and how much it explains.
pub(super) struct Explanation {
    pub(super) scheme: Scheme,
    /// The nodes as `--node` takes them.
    pub(super) nodes: Vec<String>,
    /// How many keys are where the placement looks.
    pub(super) explained: usize,
}

impl Naming {
    /// The nodes by the names given and by their addresses; if an IP address was found for each, by that,
    /// with their hosts as Java writes them and without.
    pub(super) fn all(nodes: &[NodeConfig], addresses: &[Option<SocketAddr>]) -> Vec<Self> {
        let names = |name: fn(&NodeConfig) -> String| nodes.iter().map(name).collect();
        let mut namings = Vec::new();
        for names in [
            names(|node| node.name().to_owned()),
            names(|node| node.endpoint().to_string()),
        ] {
            Self::add(&mut namings, nodes, names);
        }
        let addresses: Option<Vec<_>> = addresses.iter().copied().collect();
        let Some(addresses) = addresses else {
            return namings;
        };
        let plain = addresses.iter().map(SocketAddr::to_string).collect();
        Self::add(&mut namings, nodes, plain);
        let with_host = |(node, address): (&NodeConfig, &SocketAddr)| match node.endpoint() {
            Endpoint::Tcp { host, .. } if host.parse::<IpAddr>().is_err() => {
                format!("{host}/{address}")
            }
            _ => address.to_string(),
        };
        let with_hosts = nodes.iter().zip(&addresses).map(with_host).collect();
        Self::add(&mut namings, nodes, with_hosts);
        namings
    }

    /// Adds the nodes by these names as they stand, and sorted, where that is something else.
    fn add(namings: &mut Vec<Self>, nodes: &[NodeConfig], names: Vec<String>) {
        let given: Vec<(String, usize)> = names.into_iter().zip(0..).collect();
        let mut sorted = given.clone();
        sorted.sort();
        for names in [given, sorted] {
            if namings.iter().all(|known: &Self| known.names != names) {
                let nodes = nodes.to_vec();
                namings.push(Self { names, nodes });
            }
        }
    }

    fn placement(&self, scheme: Scheme) -> Option<Placement> {
        let member = |(name, at): &(String, usize)| {
            Member::new(name.as_str()).weighted(self.nodes[*at].weight())
        };
        Placement::new(scheme, self.names.iter().map(member)).ok()
    }

    /// The nodes as `--node` takes them, those of these places in the list.
    fn written(&self, order: &[usize]) -> Vec<String> {
        let write = |place: &usize| {
            let (name, at) = &self.names[*place];
            let node = &self.nodes[*at];
            let mut text = name.clone();
            let is_address = name.parse::<NodeConfig>();
            if !is_address.is_ok_and(|read| read.endpoint() == node.endpoint()) {
                text = format!("{name}={}", node.endpoint());
            }
            if node.weight() != 1 {
                text = format!("{text}*{}", node.weight());
            }
            text
        };
        order.iter().map(write).collect()
    }
}

/// What each placement explains, best first; of equals, those that were tried first. Each is told once,
/// with the naming by which it explains most.
pub(super) fn explain(namings: &[Naming], found: &[Found]) -> Vec<Explanation> {
    let mut explanations = Vec::new();
    for scheme in Scheme::all() {
        for (number, naming) in namings.iter().enumerate() {
            if number > 0 && by_order_alone(scheme) {
                break;
            }
            if let Some(placement) = naming.placement(scheme) {
                explanations.push(explanation(scheme, naming, &placement, found));
            }
        }
    }
    explanations.sort_by_key(|explanation| std::cmp::Reverse(explanation.explained));
    let mut told = HashSet::new();
    explanations.retain(|explanation| told.insert(explanation.scheme));
    explanations
}

fn explanation(
    scheme: Scheme,
    naming: &Naming,
    placement: &Placement,
    found: &[Found],
) -> Explanation {
    let count = naming.names.len();
    // How many keys that belong to a place of the list are on each node.
    let mut held = vec![vec![0; count]; count];
    for Found { key, holder } in found {
        if let Some(owner) = placement.owner(key) {
            held[owner.get()][*holder] += 1;
        }
    }
    let order = if by_order_alone(scheme) {
        likeliest_order(&held)
    } else {
        naming.names.iter().map(|(_, at)| *at).collect()
    };
    let explained = held.iter().zip(&order).map(|(held, at)| held[*at]).sum();
    let places = order.iter().map(|at| {
        let place = naming.names.iter().position(|(_, other)| other == at);
        place.unwrap_or(*at)
    });
    Explanation {
        scheme,
        nodes: naming.written(&places.collect::<Vec<_>>()),
        explained,
    }
}

/// Whether a placement knows of the nodes nothing but their places in the list.
fn by_order_alone(scheme: Scheme) -> bool {
    matches!(
        scheme.name(),
        "libmemcached-modula"
            | "spymemcached-modula"
            | "gomemcache"
            | "mcrouter-ch3"
            | "mcrouter-crc32"
    )
}

/// Which node has which place in the list, so that it has most of what belongs there: the clearest
/// first.
fn likeliest_order(held: &[Vec<usize>]) -> Vec<usize> {
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
    for (place, held) in held.iter().enumerate() {
        pairs.extend(
            held.iter()
                .zip(0..)
                .map(|(keys, node)| (*keys, place, node)),
        );
    }
    pairs.sort_by_key(|(keys, place, node)| (std::cmp::Reverse(*keys), *place, *node));
    let mut order = vec![None; held.len()];
    let mut taken = vec![false; held.len()];
    for (_, place, node) in pairs {
        if order[place].is_none() && !taken[node] {
            order[place] = Some(node);
            taken[node] = true;
        }
    }
    order.into_iter().flatten().collect()
}

#[cfg(all(test, feature = "compat"))]
mod tests {
    use super::*;

    /// Where a client that has these nodes puts 120 keys, by the places in the list `given`.
    fn found(scheme: &str, theirs: &[&str], given: &[&str]) -> Vec<Found> {
        let scheme: Scheme = scheme.parse().unwrap();
        let members = theirs.iter().map(|name| Member::new(*name));
        let placement = Placement::new(scheme, members).unwrap();
        let keys = (0..120).map(|number| format!("user:{number}").into_bytes());
        let keys = keys.map(|key| {
            let owner = theirs[placement.owner(&key).unwrap().get()];
            let holder = given.iter().position(|name| *name == owner).unwrap();
            Found { key, holder }
        });
        keys.collect()
    }

    fn nodes(texts: &[&str]) -> Vec<NodeConfig> {
        let nodes = texts.iter().map(|text| text.parse().unwrap());
        nodes.collect()
    }

    #[test]
    fn each_placement_is_found_by_what_it_did() {
        let names = ["10.0.0.2:11211", "10.0.0.1:11212", "10.0.0.3:11211"];
        let namings = Naming::all(&nodes(&names), &[None; 3]);
        for name in Scheme::NAMES {
            let found = found(name, &names, &names);
            let explanations = explain(&namings, &found);
            let same = explanations
                .iter()
                .find(|other| other.scheme.to_string() == *name);
            assert_eq!(same.unwrap().explained, found.len(), "{name}");
            let wrong = explanations
                .iter()
                .filter(|other| other.explained * 6 < found.len() * 5);
            assert!(wrong.count() > 50, "{name}");
        }
    }

    #[test]
    fn the_order_of_a_list_is_found() {
        let theirs = ["10.0.0.3:11211", "10.0.0.1:11211", "10.0.0.2:11211"];
        let given = ["10.0.0.1:11211", "10.0.0.2:11211", "10.0.0.3:11211"];
        let explanations = explain(
            &Naming::all(&nodes(&given), &[None; 3]),
            &found("gomemcache", &theirs, &given),
        );
        assert_eq!(explanations[0].scheme.to_string(), "gomemcache");
        assert_eq!(explanations[0].explained, 120);
        assert_eq!(explanations[0].nodes, theirs);
    }

    #[test]
    fn the_names_are_found() {
        let theirs = ["cache-1/10.0.0.1:11211", "cache-2/10.0.0.2:11211"];
        let given = nodes(&["a=cache-1", "b=cache-2*1"]);
        let addresses = ["10.0.0.1:11211", "10.0.0.2:11211"].map(|text| text.parse().ok());
        let namings = Naming::all(&given, &addresses);
        let explanations = explain(&namings, &found("spymemcached-ketama", &theirs, &theirs));
        assert_eq!(explanations[0].scheme.to_string(), "spymemcached-ketama");
        assert_eq!(explanations[0].explained, 120);
        assert_eq!(
            explanations[0].nodes,
            [
                "cache-1/10.0.0.1:11211=cache-1:11211",
                "cache-2/10.0.0.2:11211=cache-2:11211"
            ]
        );
    }
}
