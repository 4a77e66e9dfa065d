//! The list of nodes that a configuration endpoint of Amazon ElastiCache gives.
//!
//! Engines of 1.4.14 and later answer `config get cluster`, earlier ones keep the same text under
//! the key [`ClusterConfig::LEGACY_KEY`]. It is two lines, the version and the nodes:
//!
//! ```text
//! 12
//! a.cache.amazonaws.com|10.0.0.1|11211 b.cache.amazonaws.com|10.0.0.2|11211
//! ```
//!
//! The format is that of "Adding auto discovery to your client library" in the user guide of
//! ElastiCache for Memcached.

use std::error::Error;
use std::fmt;

use crate::error::excerpt;

/// The configuration of a cluster, borrowed from the reply.
///
/// ```
/// use steersman_memcached_protocol::ClusterConfig;
///
/// let config = ClusterConfig::parse(b"12\na.example|10.0.0.1|11211 b.example||11212\n")?;
/// assert_eq!(config.version, 12);
/// assert_eq!(config.nodes[0].address, Some("10.0.0.1"));
/// assert_eq!((config.nodes[1].host, config.nodes[1].port), ("b.example", 11212));
/// # Ok::<(), steersman_memcached_protocol::ClusterConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterConfig<'a> {
    /// Grows with every change of the cluster.
    pub version: u64,
    /// The nodes in the order of the server, one at least; nothing says that they differ.
    pub nodes: Vec<ClusterNode<'a>>,
}

/// One node of a [`ClusterConfig`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterNode<'a> {
    /// Its host name; its address if it has no name.
    pub host: &'a str,
    /// Its IP address, if the server knows one.
    pub address: Option<&'a str>,
    /// Its TCP port, 1 to 65,535.
    pub port: u16,
}

impl<'a> ClusterConfig<'a> {
    /// The key under which engines before 1.4.14 keep the configuration.
    pub const LEGACY_KEY: &'static str = "AmazonElastiCache:cluster";

    /// Reads the value of a reply, which must be a configuration from end to end.
    ///
    /// # Errors
    /// [`ClusterConfigError`] if there is no version, no node, or a node that makes no sense. One
    /// bad node spoils the list: without it the list would be another one.
    pub fn parse(value: &'a [u8]) -> Result<Self, ClusterConfigError> {
        let text = str::from_utf8(value).map_err(|_| Problem::BadVersion(excerpt(value)))?;
        let (version, nodes) = text.split_once('\n').unwrap_or((text, ""));
        let digits = version.strip_suffix('\r').unwrap_or(version);
        let version = decimal(digits)
            .ok_or_else(|| ClusterConfigError(Problem::BadVersion(excerpt(digits.as_bytes()))))?;
        let nodes = nodes
            .split_ascii_whitespace()
            .map(ClusterNode::parse)
            .collect::<Result<Vec<_>, _>>()?;
        if nodes.is_empty() {
            return Err(Problem::Empty { version }.into());
        }
        Ok(Self { version, nodes })
    }
}

impl<'a> ClusterNode<'a> {
    fn parse(entry: &'a str) -> Result<Self, ClusterConfigError> {
        let fields = || {
            let (host, rest) = entry.split_once('|')?;
            let (address, port) = rest.split_once('|')?;
            let port = decimal(port).and_then(|port| u16::try_from(port).ok());
            let port = port.filter(|&port| port > 0)?;
            let address = Some(address).filter(|address| !address.is_empty());
            let host = if host.is_empty() { address? } else { host };
            let is_plain = is_host(host) && address.is_none_or(is_host);
            is_plain.then_some(Self {
                host,
                address,
                port,
            })
        };
        fields().ok_or_else(|| Problem::BadNode(excerpt(entry.as_bytes())).into())
    }
}

/// Whether it has only what a host name or an IP address is made of.
fn is_host(text: &str) -> bool {
    let is_host_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:%".contains(&byte);
    text.len() <= 255 && text.bytes().all(is_host_byte)
}

fn decimal(digits: &str) -> Option<u64> {
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_decimal.then(|| digits.parse().ok()).flatten()
}

/// Why something is not the configuration of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterConfigError(Problem);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    BadVersion(String),
    Empty { version: u64 },
    BadNode(String),
}

impl From<Problem> for ClusterConfigError {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl fmt::Display for ClusterConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Problem::BadVersion(text) => write!(
                f,
                "the configuration begins with {text} in place of the number of its version"
            ),
            Problem::Empty { version } => {
                write!(f, "version {version} of the configuration has no nodes")
            }
            Problem::BadNode(entry) => write!(
                f,
                "the configuration has {entry} in place of a node, which is written HOST|IP|PORT"
            ),
        }
    }
}

impl Error for ClusterConfigError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn node<'a>(host: &'a str, address: Option<&'a str>, port: u16) -> ClusterNode<'a> {
        ClusterNode {
            host,
            address,
            port,
        }
    }

    #[test]
    fn what_servers_send_is_read() {
        let text = "12\na.example|10.82.235.120|11211 b.example|10.80.249.27|11211\n";
        let nodes = vec![
            node("a.example", Some("10.82.235.120"), 11211),
            node("b.example", Some("10.80.249.27"), 11211),
        ];
        let config = ClusterConfig { version: 12, nodes };
        assert_eq!(ClusterConfig::parse(text.as_bytes()), Ok(config.clone()));
        let carriage_returns = text.replace('\n', "\r\n");
        assert_eq!(
            ClusterConfig::parse(carriage_returns.as_bytes()),
            Ok(config)
        );

        let odd = ClusterConfig::parse(b"0\n|fe80::1|1  b||65535 b||65535").unwrap();
        let b = node("b", None, 65535);
        assert_eq!(odd.nodes, [node("fe80::1", Some("fe80::1"), 1), b, b]);
    }

    #[test]
    fn what_is_no_configuration_is_refused_with_the_reason() {
        for (text, why) in [
            ("", "in place of the number"),
            ("\n", "in place of the number"),
            ("a||1\n", "in place of the number"),
            ("-1\na||1\n", "in place of the number"),
            ("+1\na||1\n", "in place of the number"),
            ("18446744073709551616\na||1\n", "in place of the number"),
            ("7", "version 7 of the configuration has no nodes"),
            ("7\n", "no nodes"),
            ("7\n \r\n", "no nodes"),
            ("7\na", "\"a\" in place of a node"),
            ("7\na|1", "in place of a node"),
            ("7\na||", "in place of a node"),
            ("7\na||0", "in place of a node"),
            ("7\na||65536", "in place of a node"),
            ("7\na||-1", "in place of a node"),
            ("7\na||+1", "in place of a node"),
            ("7\na||1|", "in place of a node"),
            ("7\n||1", "in place of a node"),
            ("7\na/b||1", "in place of a node"),
            ("7\na=b||1", "in place of a node"),
            ("7\na||1 b||x c||1", "\"b||x\" in place of a node"),
            ("7\na\0||1", "\"a\\x00||1\" in place of a node"),
        ] {
            let error = ClusterConfig::parse(text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(why), "{text:?}: {error}");
        }
        let garbage = ClusterConfig::parse(b"1\xff\na||1").unwrap_err();
        assert!(garbage.to_string().contains("\"1\\xff"), "{garbage}");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            version: u64,
            nodes in prop::collection::vec(("[a-z0-9.-]{1,20}", "([0-9a-f:.]{2,20})?", 1_u16..), 1..20),
        ) {
            let entries: Vec<String> =
                nodes.iter().map(|(host, ip, port)| format!("{host}|{ip}|{port}")).collect();
            let text = format!("{version}\n{}\n", entries.join(" "));
            let parsed = ClusterConfig::parse(text.as_bytes()).unwrap();
            prop_assert_eq!(parsed.version, version);
            let read: Vec<String> = parsed
                .nodes
                .iter()
                .map(|n| format!("{}|{}|{}", n.host, n.address.unwrap_or_default(), n.port))
                .collect();
            prop_assert_eq!(read, entries);
        }

        #[test]
        fn any_bytes_are_refused_or_name_usable_nodes(value in "[0-9]{1,3}\n[-|a1: \n/=\u{e9}]{0,40}") {
            if let Ok(config) = ClusterConfig::parse(value.as_bytes()) {
                prop_assert!(!config.nodes.is_empty());
                for node in config.nodes {
                    prop_assert!(!node.host.is_empty() && node.port > 0);
                    prop_assert!(!node.host.contains(['|', ' ', '\n', '/', '=']));
                }
            }
        }
    }
}
