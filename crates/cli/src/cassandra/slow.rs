//! A node that is made slow for us alone: a proxy before it.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use steersman_testkit::FaultProxy;

use crate::answer::Failure;
use crate::duration::duration;

/// `NODE=DELAY`: which node, by its address with or without a port, and how late its answers are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slow {
    node: IpAddr,
    port: Option<u16>,
    delay: Duration,
}

impl FromStr for Slow {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "write a node's address and a delay, as in 127.0.0.2=50ms";
        let (node, delay) = text.split_once('=').ok_or(wrong)?;
        if !delay.is_empty() && delay.bytes().all(|byte| byte.is_ascii_digit()) {
            // Elsewhere these are seconds; here hardly anybody means them.
            return Err(format!(
                "a delay needs a unit: write {node}={delay}ms or {node}={delay}s"
            ));
        }
        let delay = duration(delay)?;
        let (node, port) = match (node.parse::<SocketAddr>(), node.parse()) {
            (Ok(address), _) => (address.ip(), Some(address.port())),
            (_, Ok(ip)) => (ip, None),
            _ => return Err(wrong.to_owned()),
        };
        Ok(Self { node, port, delay })
    }
}

/// The way to the nodes of a cluster, which for one of them goes through a proxy.
pub(super) struct Detour {
    nodes: Vec<SocketAddr>,
    node: SocketAddr,
    proxy: FaultProxy,
}

impl Slow {
    /// Refuses a delay after which nobody waits for the answers any more.
    pub(super) fn check(&self, timeout: Option<Duration>) -> Result<(), Failure> {
        match timeout {
            Some(timeout) if self.delay >= timeout => Err(Failure::told(format!(
                "--slow: with a delay of {:?} the node answers nothing within {timeout:?}; give a \
                 shorter delay or a longer --timeout",
                self.delay
            ))),
            _ => Ok(()),
        }
    }

    /// Puts a proxy before the node that is meant.
    pub(super) async fn start(&self, nodes: Vec<SocketAddr>) -> Result<Detour, Failure> {
        let is_meant = |address: &&SocketAddr| {
            address.ip() == self.node && self.port.is_none_or(|port| address.port() == port)
        };
        let Some(&node) = nodes.iter().find(is_meant) else {
            let nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
            return Err(Failure::told(format!(
                "--slow: {} is none of the cluster's nodes: {}",
                self.node,
                nodes.join(", ")
            )));
        };
        let proxy = FaultProxy::start(node.to_string()).await;
        let proxy = proxy
            .map_err(|error| Failure::told(format!("--slow: cannot start a proxy: {error}")))?;
        proxy.faults().set_latency(self.delay);
        Ok(Detour { nodes, node, proxy })
    }
}

impl Detour {
    /// Where the driver is to find each node. It wants to be told of all of them.
    pub(super) fn translations(&self) -> HashMap<SocketAddr, SocketAddr> {
        let nodes = self.nodes.iter().map(|&node| (node, node));
        let mut translations: HashMap<_, _> = nodes.collect();
        translations.insert(self.node, self.proxy.addr());
        translations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(text: &str) -> Result<Slow, String> {
        text.parse()
    }

    #[test]
    fn a_node_and_its_delay_are_read() {
        let expected = Slow {
            node: IpAddr::from([127, 0, 0, 2]),
            port: None,
            delay: Duration::from_millis(50),
        };
        assert_eq!(slow("127.0.0.2=50ms"), Ok(expected.clone()));
        let port = Some(9042);
        let with_port = Slow { port, ..expected };
        assert_eq!(slow("127.0.0.2:9042=50ms"), Ok(with_port));
        assert!(slow("[::1]:9042=1s").is_ok() && slow("::1=1s").is_ok());
        for wrong in [
            "",
            "127.0.0.2",
            "=1s",
            "db-2=1s",
            "127.0.0.2=",
            "127.0.0.2=fast",
            "127.0.0.2=50",
        ] {
            assert!(slow(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_delay_must_be_within_the_time_out() {
        let second = Some(Duration::from_secs(1));
        for (text, timeout, allowed) in [
            ("127.0.0.2=999ms", second, true),
            ("127.0.0.2=1s", second, false),
            ("127.0.0.2=1m", None, true),
        ] {
            let checked = slow(text).unwrap().check(timeout);
            assert_eq!(checked.is_ok(), allowed, "{text}");
        }
    }

    #[tokio::test]
    async fn a_node_that_is_not_there_is_answered_with_those_that_are() {
        let nodes = ["127.0.0.1:9042", "127.0.0.2:9043"].map(|node| node.parse().unwrap());
        for (text, found) in [
            ("127.0.0.1=1s", true),
            ("127.0.0.2:9043=1s", true),
            ("127.0.0.2:9042=1s", false),
            ("127.0.0.3=1s", false),
        ] {
            let started = slow(text).unwrap().start(nodes.to_vec()).await;
            assert_eq!(started.is_ok(), found, "{text}");
            if let Err(Failure::Told(why)) = started {
                assert!(why[0].contains("127.0.0.1:9042, 127.0.0.2:9043"), "{why:?}");
            }
        }
    }
}
