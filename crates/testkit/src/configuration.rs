//! The list of nodes that a server gives as a configuration endpoint of Amazon ElastiCache does.

use bytes::{Bytes, BytesMut};
use steersman_memcached_protocol::ClusterConfig;
use steersman_memcached_protocol::server::{Rejection, Reply, StoreMode};

use crate::item::Seconds;
use crate::lock;
use crate::machine::Machine;
use crate::server::Server;

/// The name under which the list of nodes is asked for.
const CLUSTER: &[u8] = b"cluster";

/// What a configuration endpoint knows of its cluster; see [`Server::configure`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterConfiguration {
    text: Bytes,
    legacy: bool,
}

impl ClusterConfiguration {
    /// A version and the nodes, written `host:port` or `[v6]:port`.
    pub fn new(version: u64, nodes: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let entries: Vec<String> = nodes.into_iter().map(|node| entry(node.as_ref())).collect();
        Self::text(format!("{version}\n{}\n", entries.join(" ")))
    }

    /// Any text in the place of a configuration.
    pub fn text(text: impl Into<Bytes>) -> Self {
        Self {
            text: text.into(),
            legacy: false,
        }
    }

    /// Only under the key of engines before 1.4.14, which do not know the command.
    pub fn legacy(mut self) -> Self {
        self.legacy = true;
        self
    }
}

/// `host|ip|port`
fn entry(node: &str) -> String {
    let (host, port) = node.rsplit_once(':').unwrap_or((node, ""));
    let host = host.trim_matches(['[', ']']);
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    format!("{host}|{}|{port}", if is_address { host } else { "" })
}

impl Server {
    /// Makes the server a configuration endpoint: it answers `config get cluster`, which it
    /// refuses otherwise as memcached does. A restart leaves it one.
    ///
    /// ```
    /// use std::io::{Read, Write};
    /// use steersman_testkit::{ClusterConfiguration, Server};
    ///
    /// # #[tokio::main] async fn main() -> std::io::Result<()> {
    /// let server = Server::start().await?;
    /// server.configure(ClusterConfiguration::new(7, ["10.0.0.1:11211", "cache-2:11211"]));
    ///
    /// let mut client = std::net::TcpStream::connect(server.addr())?;
    /// client.write_all(b"config get cluster\r\nquit\r\n")?;
    /// let mut reply = String::new();
    /// client.read_to_string(&mut reply)?;
    /// let nodes = "7\n10.0.0.1|10.0.0.1|11211 cache-2||11211\n";
    /// assert_eq!(reply, format!("CONFIG cluster 0 {}\r\n{nodes}\r\nEND\r\n", nodes.len()));
    /// # Ok(()) }
    /// ```
    pub fn configure(&self, configuration: ClusterConfiguration) {
        let now = self.shared.now();
        lock(&self.shared.machine).configure(configuration, now);
    }
}

impl Machine {
    pub(crate) fn configure(&mut self, configuration: ClusterConfiguration, now: Seconds) {
        let key = ClusterConfig::LEGACY_KEY.as_bytes();
        if configuration.legacy {
            self.store
                .store(StoreMode::Set, key, 0, 0, &configuration.text, now);
        } else {
            self.store.delete(key, now);
        }
        self.configuration = Some(configuration);
    }

    /// Answers `config get`.
    pub(crate) fn config_get(&self, name: &[u8], out: &mut BytesMut) {
        match &self.configuration {
            Some(known) if !known.legacy && name == CLUSTER => {
                let data = &known.text;
                Reply::Config { name, data }.encode(out);
                Reply::End.encode(out);
            }
            _ => Reply::Rejected(Rejection::Error).encode(out),
        }
    }
}
