//! How a node is written down: its name, where it listens, its weight.

use std::fmt;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use crate::error::Error;

/// memcached's usual port, taken when an address names none.
pub const DEFAULT_PORT: u16 = 11211;

/// One node of the cluster, as configured.
///
/// Written as `[NAME=]ADDR[*WEIGHT]`, where `ADDR` is `host:port`, `host` (port 11211),
/// `[v6]:port`, `unix:/path` or `/path`. The name is what placement hashes and what messages
/// show; without one it is the address as written. So a node keeps its keys when its address
/// changes but its name does not.
///
/// ```
/// use steersman_memcached::NodeConfig;
///
/// let node: NodeConfig = "cache-1=10.0.0.7:11211*3".parse()?;
/// assert_eq!(node.name(), "cache-1");
/// assert_eq!(node.weight(), 3);
/// assert_eq!(node.endpoint().to_string(), "10.0.0.7:11211");
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodeConfig {
    name: Arc<str>,
    endpoint: Endpoint,
    weight: u32,
}

/// Where a node listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// A host name or address (IPv6 without brackets) and a port.
    Tcp {
        /// Host name, IPv4 address or IPv6 address.
        host: String,
        /// TCP port, 1 to 65,535.
        port: u16,
    },
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl NodeConfig {
    /// A node named `name` at `endpoint`, of weight 1.
    pub fn new(name: impl Into<Arc<str>>, endpoint: Endpoint) -> Self {
        Self {
            name: name.into(),
            endpoint,
            weight: 1,
        }
    }

    /// Gives the node `weight` times the share of a node of weight 1 (1 or more).
    pub fn weighted(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// Reads a node as [`FromStr`] does; the error is the reason alone and repeats nothing.
    pub(crate) fn read(text: &str) -> Result<Self, &'static str> {
        if text.contains(never) {
            return Err("it holds white space, a comma or a control character");
        }
        let is_path = |text: &str| text.starts_with("unix:") || text.starts_with('/');
        let (name, rest) = match text.split_once('=') {
            Some((name, rest)) if !is_path(text) => (Some(name), rest),
            _ => (None, text),
        };
        if name == Some("") {
            return Err("the name before `=` is empty");
        }
        let (addr, weight) = match rest.rsplit_once('*') {
            Some((addr, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                let weight = digits.parse().ok().filter(|w| *w > 0);
                (addr, weight.ok_or("the weight is not a number from 1")?)
            }
            Some(_) if !is_path(rest) => return Err("the weight is not a number from 1"),
            _ => (rest, 1),
        };
        let endpoint = if is_path(addr) {
            let path = addr.strip_prefix("unix:").unwrap_or(addr);
            if path.is_empty() {
                return Err("the path of the Unix socket is empty");
            }
            Endpoint::Unix(PathBuf::from(path))
        } else {
            let (host, port) = split_host_port(addr)?;
            Endpoint::Tcp {
                host: host.to_owned(),
                port,
            }
        };
        Ok(Self {
            name: name.unwrap_or(addr).into(),
            endpoint,
            weight,
        })
    }

    /// Checks an endpoint that was not read from text by the rules of text, so that what a message
    /// shows can be read again and means the same.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        let Endpoint::Tcp { host, port } = &self.endpoint else {
            return Ok(());
        };
        check_host(host)
            .and_then(|()| check_port(*port))
            .map_err(|why| Error::config("node", format!("{:?} is no node: {why}", &*self.name)))
    }

    /// The node's name: what placement hashes.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn shared_name(&self) -> &Arc<str> {
        &self.name
    }

    /// Where the node listens.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The node's weight.
    pub fn weight(&self) -> u32 {
        self.weight
    }
}

impl FromStr for NodeConfig {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::read(text).map_err(|why| {
            // Before an `@` there may be a password.
            let shown = match text.rsplit_once('@') {
                Some((_, host)) => format!("...@{host}"),
                None => text.to_owned(),
            };
            Error::config(
                "node",
                format!(
                    "{shown:?} is no node: {why}; write [NAME=]HOST[:PORT][*WEIGHT], for example localhost:11211"
                ),
            )
        })
    }
}

/// What stands in no node.
fn never(c: char) -> bool {
    // A byte order mark is where a file of an editor begins, and seen by nobody.
    c.is_control() || c.is_whitespace() || [',', '\u{feff}'].contains(&c)
}

fn split_host_port(addr: &str) -> Result<(&str, u16), &'static str> {
    let (host, port) = if let Some(rest) = addr.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("`[` has no `]`")?;
        match after.strip_prefix(':') {
            Some(port) => (host, Some(port)),
            None if after.is_empty() => (host, None),
            None => return Err("what follows `]` is no port"),
        }
    } else {
        match addr.split_once(':') {
            Some(_) if addr.contains("://") => return Err("it is a URL"),
            Some((_, port)) if port.contains(':') => {
                // With or without a port behind it.
                let is_v6 = |text: &str| text.parse::<Ipv6Addr>().is_ok();
                let v6 = is_v6(addr) || addr.rsplit_once(':').is_some_and(|(host, _)| is_v6(host));
                let is_number = |text: &str| text.parse::<u32>().is_ok();
                let weight = port.split(':').all(is_number) && port.matches(':').count() == 1;
                return Err(if v6 {
                    "an IPv6 address is written in brackets, as in [::1]:11211"
                } else if weight {
                    "a weight stands behind `*`, as in cache-1:11211*2"
                } else {
                    "it has more than one colon"
                });
            }
            Some((host, port)) => (host, Some(port)),
            None => (addr, None),
        }
    };
    check_host(host)?;
    let port = match port {
        None => DEFAULT_PORT,
        Some(port) if port.bytes().all(|b| b.is_ascii_digit()) => {
            let port = port.parse().map_err(|_| NO_PORT)?;
            check_port(port)?;
            port
        }
        Some(_) => return Err("the port is not a number"),
    };
    Ok((host, port))
}

fn check_host(host: &str) -> Result<(), &'static str> {
    if host.is_empty() {
        return Err("the host is empty");
    }
    if host.contains(never) || host.contains(['=', '@', '/', '?', '*', '[', ']']) {
        return Err("the host has a character that no host has");
    }
    // With its port it would be read as the path of a socket.
    if host == "unix" {
        return Err("a Unix socket is written with its path, as in unix:/run/memcached.sock");
    }
    Ok(())
}

const NO_PORT: &str = "the port is not from 1 to 65535";

fn check_port(port: u16) -> Result<(), &'static str> {
    if port == 0 { Err(NO_PORT) } else { Ok(()) }
}

impl fmt::Display for NodeConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// What [`Builder::node`](crate::Builder::node) and its like accept: text, or a [`NodeConfig`].
pub trait IntoNodeConfig {
    /// The node that is meant, or an error that says how to write one.
    fn into_node_config(self) -> Result<NodeConfig, Error>;
}

impl IntoNodeConfig for NodeConfig {
    fn into_node_config(self) -> Result<NodeConfig, Error> {
        Ok(self)
    }
}

impl IntoNodeConfig for &str {
    fn into_node_config(self) -> Result<NodeConfig, Error> {
        self.parse()
    }
}

impl IntoNodeConfig for String {
    fn into_node_config(self) -> Result<NodeConfig, Error> {
        self.parse()
    }
}

impl<T: IntoNodeConfig + Clone> IntoNodeConfig for &T {
    fn into_node_config(self) -> Result<NodeConfig, Error> {
        self.clone().into_node_config()
    }
}

impl IntoNodeConfig for SocketAddr {
    fn into_node_config(self) -> Result<NodeConfig, Error> {
        self.to_string().parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16) -> Endpoint {
        Endpoint::Tcp {
            host: host.to_owned(),
            port,
        }
    }

    #[test]
    fn every_documented_form_is_read() {
        let cases = [
            ("localhost", "localhost", tcp("localhost", 11211), 1),
            ("localhost:1", "localhost:1", tcp("localhost", 1), 1),
            ("a=10.0.0.1:65535", "a", tcp("10.0.0.1", 65535), 1),
            ("a=h*7", "a", tcp("h", 11211), 7),
            ("[::1]:5", "[::1]:5", tcp("::1", 5), 1),
            ("[::1]", "[::1]", tcp("::1", 11211), 1),
            ("x=[fe80::1]:9*2", "x", tcp("fe80::1", 9), 2),
            (
                "unix:/run/m.sock",
                "unix:/run/m.sock",
                Endpoint::Unix("/run/m.sock".into()),
                1,
            ),
            (
                "/run/a=b*c",
                "/run/a=b*c",
                Endpoint::Unix("/run/a=b*c".into()),
                1,
            ),
            ("n=unix:/m*4", "n", Endpoint::Unix("/m".into()), 4),
            ("größe=h:1", "größe", tcp("h", 1), 1),
        ];
        for (text, name, endpoint, weight) in cases {
            let node: NodeConfig = text.parse().unwrap();
            assert_eq!(
                (node.name(), node.endpoint(), node.weight()),
                (name, &endpoint, weight),
                "{text}"
            );
        }
    }

    #[test]
    fn lists_of_texts_and_addresses_are_taken_borrowed_or_not() {
        let addr: SocketAddr = "[::1]:7".parse().unwrap();
        assert_eq!((&addr).into_node_config().unwrap().name(), "[::1]:7");
        assert_eq!(addr.into_node_config().unwrap().endpoint(), &tcp("::1", 7));
        for text in &["a", "b"] {
            assert_eq!(text.into_node_config().unwrap().name(), *text);
        }
        let configs = [NodeConfig::new("n", tcp("h", 1))];
        assert_eq!((&configs[0]).into_node_config().unwrap(), configs[0]);
        assert_eq!((&String::from("h")).into_node_config().unwrap().name(), "h");
    }

    #[test]
    fn an_endpoint_is_held_to_what_text_is_held_to() {
        for (host, port, why) in [
            ("unix", 1, "with its path"),
            ("", 1, "host is empty"),
            ("a b", 1, "no host has"),
            ("a/b", 1, "no host has"),
            ("h", 0, "1 to 65535"),
        ] {
            let error = NodeConfig::new("n", tcp(host, port))
                .validate()
                .unwrap_err();
            assert_eq!(error.option(), Some("node"));
            assert!(error.to_string().contains(why), "{host:?}:{port}: {error}");
        }
        for endpoint in [tcp("::1", 1), tcp("h", 65535), Endpoint::Unix("/m".into())] {
            NodeConfig::new("n", endpoint).validate().unwrap();
        }
    }

    #[test]
    fn what_is_no_node_is_refused_with_the_reason() {
        let cases = [
            ("", "host is empty"),
            (":11211", "host is empty"),
            ("h:", "port is not"),
            ("h:0", "1 to 65535"),
            ("h:65536", "1 to 65535"),
            ("h:-1", "not a number"),
            ("h:+1", "not a number"),
            ("::1:11211", "in brackets"),
            ("::1", "in brackets"),
            ("host:1:2", "as in cache-1:11211*2"),
            ("host:1:x", "more than one colon"),
            ("host:1:2:3", "more than one colon"),
            ("http://localhost:11211", "a URL"),
            ("a=b=c", "no host has"),
            ("user@host", "no host has"),
            ("host/path", "no host has"),
            ("[::1", "no `]`"),
            ("[::1]x", "no port"),
            ("unix", "with its path"),
            ("n=unix*2", "with its path"),
            ("h*0", "weight"),
            ("h*", "weight"),
            ("h*two", "weight"),
            ("h*99999999999", "weight"),
            ("=h", "name before"),
            ("a b", "white space"),
            ("a,b", "comma"),
            ("unix:", "path"),
        ];
        for (text, why) in cases {
            let error = text.parse::<NodeConfig>().unwrap_err();
            assert_eq!(error.option(), Some("node"), "{text}");
            assert!(error.to_string().contains(why), "{text}: {error}");
        }
    }
}
