//! Misplacement: a chain that wants to go where no node is.
//!
//! A wrong name is no error of any request: plans are empty, or lead far away. So it is looked for in
//! each new topology.

use std::collections::BTreeSet;
use std::fmt;

use steersman_selection::Locality;

use crate::roster::Sighting;

/// Why the nodes that a chain prefers are not there; see
/// [`LoadBalancer::misplacement`](crate::LoadBalancer::misplacement).
///
/// Displays as one line that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misplacement {
    /// No node is in the preferred datacenter, so plans are empty, or of remote nodes only.
    Datacenter {
        /// The one that the chain names.
        preferred: String,
        /// Those that the cluster has, sorted.
        existing: Vec<String>,
    },
    /// All nodes of the preferred datacenter are left out by the session's host filter.
    Filtered {
        /// The one that the chain names.
        datacenter: String,
    },
    /// No node of the preferred datacenter is in the preferred rack, so no rack is preferred.
    Rack {
        /// The preferred datacenter.
        datacenter: String,
        /// The rack that the chain names.
        preferred: String,
        /// Those that the datacenter has, sorted.
        existing: Vec<String>,
    },
}

impl Misplacement {
    /// What is wrong with that preference in a cluster of these nodes.
    pub(crate) fn of(preferred: &Locality, nodes: &[Sighting]) -> Option<Self> {
        let datacenter = preferred.datacenter_name();
        let is_there = |seen: &&Sighting| seen.locality.datacenter_name() == datacenter;
        let mut there = nodes.iter().filter(is_there).peekable();
        if there.peek().is_none() {
            let names = nodes.iter().map(|seen| seen.locality.datacenter_name());
            return (!nodes.is_empty()).then(|| Self::Datacenter {
                preferred: datacenter.to_owned(),
                existing: sorted(names.filter(|name| !name.is_empty())),
            });
        }
        if !there.clone().any(|seen| seen.is_enabled) {
            return Some(Self::Filtered {
                datacenter: datacenter.to_owned(),
            });
        }
        let rack = preferred.rack_name()?;
        let racks = there.map(|seen| seen.locality.rack_name());
        let is_missing = racks.clone().all(|name| name != Some(rack));
        is_missing.then(|| Self::Rack {
            datacenter: datacenter.to_owned(),
            preferred: rack.to_owned(),
            existing: sorted(racks.flatten()),
        })
    }
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: BTreeSet<_> = names.collect();
    names.into_iter().map(str::to_owned).collect()
}

impl fmt::Display for Misplacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Datacenter {
                preferred,
                existing,
            } => write!(
                f,
                "no node is in datacenter {preferred:?}, which the policy prefers: requests have no node to go to, \
                 or only remote ones; the cluster has {}; name one of those",
                Names(existing)
            ),
            Self::Filtered { datacenter } => write!(
                f,
                "the session's host filter leaves out all nodes of datacenter {datacenter:?}, which the policy \
                 prefers: requests have no node to go to, or only remote ones; let the filter accept them",
            ),
            Self::Rack {
                datacenter,
                preferred,
                existing,
            } => write!(
                f,
                "no node of datacenter {datacenter:?} is in rack {preferred:?}, which the policy prefers: all its \
                 racks are used alike; it has {}; name one of those",
                Names(existing)
            ),
        }
    }
}

struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.0.split_first() else {
            return f.write_str("no names for any");
        };
        write!(f, "{first:?}")?;
        others.iter().try_for_each(|name| write!(f, ", {name:?}"))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn seen(datacenter: &str, rack: &str, is_enabled: bool) -> Sighting {
        Sighting {
            host_id: Uuid::nil(),
            locality: Locality::datacenter(datacenter).rack(rack),
            is_enabled,
            is_connected: false,
        }
    }

    fn cluster() -> Vec<Sighting> {
        vec![
            seen("dc2", "a", true),
            seen("dc1", "b", true),
            seen("dc1", "a", false),
            seen("dc3", "a", false),
        ]
    }

    #[test]
    fn what_is_there_is_not_complained_of() {
        let of = |preferred| Misplacement::of(&preferred, &cluster());
        assert_eq!(of(Locality::datacenter("dc1")), None);
        assert_eq!(of(Locality::datacenter("dc1").rack("a")), None);
        // Nothing is known yet.
        assert_eq!(Misplacement::of(&Locality::datacenter("dc9"), &[]), None);
    }

    #[test]
    fn what_is_not_is_named_beside_what_is() {
        let message = |preferred| {
            let found: Misplacement = Misplacement::of(&preferred, &cluster()).unwrap();
            found.to_string()
        };
        let datacenter = message(Locality::datacenter("DC1"));
        for part in [r#"datacenter "DC1""#, r#"has "dc1", "dc2", "dc3";"#] {
            assert!(datacenter.contains(part), "{datacenter}");
        }
        let rack = message(Locality::datacenter("dc1").rack("c"));
        for part in [r#""dc1""#, r#"rack "c""#, r#"has "a", "b";"#] {
            assert!(rack.contains(part), "{rack}");
        }
        let filtered = message(Locality::datacenter("dc3"));
        assert!(filtered.contains(r#"filter leaves out all nodes of datacenter "dc3""#));
        let nameless = [Sighting {
            locality: Locality::unknown(),
            ..seen("", "", true)
        }];
        let found = Misplacement::of(&Locality::datacenter("dc1"), &nameless).unwrap();
        assert!(found.to_string().contains("no names for any"), "{found}");
    }
}
