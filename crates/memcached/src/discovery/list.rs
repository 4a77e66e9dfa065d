//! What a discovered list has to be to become the members of the cluster.

use std::collections::HashMap;

use steersman_selection::Placement;

use super::Discovered;
use crate::address::NodeConfig;

/// What to do with a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It says what is known already.
    Known,
    /// These are the members from now on.
    News(Vec<NodeConfig>),
    /// It makes no sense, for this reason.
    Refused(String),
}

/// The last list that was taken.
#[derive(Debug, Default)]
pub(super) struct Last {
    nodes: Vec<NodeConfig>,
    version: Option<u64>,
}

impl Last {
    pub(super) fn judge(&self, found: &Discovered) -> Verdict {
        if let (Some(last), Some(version)) = (self.version, found.version) {
            if version == last {
                return Verdict::Known;
            }
            if version < last {
                return Verdict::Refused(format!(
                    "version {version} of the list is older than {last}, which was taken before; \
                     if the cluster was made anew, build a new client"
                ));
            }
        }
        let count = found.nodes.len();
        if count > Placement::MAX_NODES {
            return Verdict::Refused(format!(
                "the list has {count} nodes, and {} are the most there can be",
                Placement::MAX_NODES
            ));
        }
        match distinct(&found.nodes) {
            Err(why) => Verdict::Refused(why),
            Ok(nodes) if nodes.is_empty() => Verdict::Refused("the list is empty".to_owned()),
            Ok(nodes) if nodes == self.nodes && found.version.is_none() => Verdict::Known,
            Ok(nodes) => Verdict::News(nodes),
        }
    }

    /// Keeps a list that was taken.
    pub(super) fn taken(&mut self, nodes: Vec<NodeConfig>, version: Option<u64>) {
        self.nodes = nodes;
        self.version = version;
    }
}

/// The nodes without those that are listed again in the same way.
fn distinct(nodes: &[NodeConfig]) -> Result<Vec<NodeConfig>, String> {
    let mut by_name: HashMap<&str, &NodeConfig> = HashMap::new();
    let mut distinct = Vec::with_capacity(nodes.len());
    for node in nodes {
        match by_name.insert(node.name(), node) {
            None => distinct.push(node.clone()),
            Some(same) if same == node => {}
            Some(_) => {
                return Err(format!("{node} is listed twice, and not in the same way"));
            }
        }
    }
    Ok(distinct)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(texts: &[&str]) -> Vec<NodeConfig> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn found(texts: &[&str]) -> Discovered {
        Discovered::new(nodes(texts))
    }

    fn refusal(verdict: Verdict) -> String {
        match verdict {
            Verdict::Refused(why) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lists_without_a_version_are_news_if_they_differ() {
        let mut last = Last::default();
        assert_eq!(
            last.judge(&found(&["a", "b", "a"])),
            Verdict::News(nodes(&["a", "b"]))
        );
        last.taken(nodes(&["a", "b"]), None);
        assert_eq!(last.judge(&found(&["a", "b"])), Verdict::Known);
        assert_eq!(last.judge(&found(&["a"])), Verdict::News(nodes(&["a"])));
    }

    #[test]
    fn versions_only_grow() {
        let mut last = Last::default();
        last.taken(nodes(&["a"]), Some(7));
        assert_eq!(last.judge(&found(&["b"]).version(7)), Verdict::Known);
        let why = refusal(last.judge(&found(&["b"]).version(6)));
        assert!(
            why.contains("version 6") && why.contains("older than 7"),
            "{why}"
        );
        assert_eq!(
            last.judge(&found(&["b"]).version(8)),
            Verdict::News(nodes(&["b"]))
        );
        // The version is to be kept even if nothing else is new.
        assert_eq!(
            last.judge(&found(&["a"]).version(8)),
            Verdict::News(nodes(&["a"]))
        );
    }

    #[test]
    fn empty_and_contradictory_lists_are_refused() {
        let last = Last::default();
        assert!(refusal(last.judge(&found(&[]))).contains("empty"));
        let endless = vec![nodes(&["a"])[0].clone(); Placement::MAX_NODES + 1];
        let why = refusal(last.judge(&Discovered::new(endless)));
        assert!(why.contains("the most there can be"), "{why}");
        let why = refusal(last.judge(&found(&["n=a", "n=b"])));
        assert!(why.contains("n is listed twice"), "{why}");
        let why = refusal(last.judge(&found(&["n=a", "n=a*2"])));
        assert!(why.contains("n is listed twice"), "{why}");
    }
}
