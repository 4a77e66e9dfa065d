//! Nodes as they are written on the command line.

use std::fmt::Display;
use std::net::Ipv6Addr;

use steersman_memcached::{DEFAULT_PORT, Endpoint, NodeConfig};
use steersman_selection::{Member, Scheme};

use crate::answer::Failure;
use crate::errors::reason;

/// Reads `[NAME=]ADDR[*WEIGHT]`, given by `from`.
///
/// What is placed is NAME, or ADDR as written. With other clients' placements IPv6 may be written as
/// their users do, without brackets.
pub(crate) fn parse(text: &str, scheme: Scheme, from: impl Display) -> Result<NodeConfig, Failure> {
    let text = text.trim();
    let bare = if scheme.reads_addresses() {
        bare_ipv6(text)
    } else {
        None
    };
    match bare {
        Some(endpoint) => Ok(NodeConfig::new(text, endpoint)),
        None => text
            .parse()
            .map_err(|error| Failure::told(format!("{from}: {}", reason(&error)))),
    }
}

/// Reads `v6:port`, or `v6` if that is all it can be.
fn bare_ipv6(text: &str) -> Option<Endpoint> {
    let is_address = |host: &str| host.parse::<Ipv6Addr>().is_ok();
    let with_port = text.rsplit_once(':').and_then(|(host, digits)| {
        let is_port = digits.bytes().all(|byte| byte.is_ascii_digit());
        let port = digits.parse().ok().filter(|&port| is_port && port != 0)?;
        is_address(host).then_some((host, port))
    });
    let (host, port) = match with_port {
        Some(split) => split,
        None => is_address(text).then_some((text, DEFAULT_PORT))?,
    };
    Some(Endpoint::Tcp {
        host: host.to_owned(),
        port,
    })
}

/// A node as placement sees it.
pub(crate) fn member(node: &NodeConfig) -> Member {
    Member::new(node.name()).weighted(node.weight())
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
    fn emcache_has_ipv6_without_brackets() {
        for (text, endpoint) in [
            ("::1:11212", tcp("::1", 11212)),
            ("::1", tcp("::1", 11211)),
            ("fe80::1:2:11211", tcp("fe80::1:2", 11211)),
            ("fe80::1", tcp("fe80::1", 11211)),
        ] {
            for scheme in [Scheme::Emcache, Scheme::EmcacheAarch64] {
                let node = parse(text, scheme, "--node").unwrap();
                assert_eq!((node.name(), node.endpoint()), (text, &endpoint));
            }
            let Err(Failure::Told(why)) = parse(text, Scheme::default(), "--add") else {
                panic!("{text} was taken");
            };
            assert!(why[0].starts_with("--add: ") && why[0].contains("brackets"));
        }
    }

    #[test]
    fn other_forms_are_the_client_s() {
        for scheme in [Scheme::default(), Scheme::Emcache] {
            let node = parse(" a=h:1*2 ", scheme, "--node").unwrap();
            assert_eq!((node.name(), node.weight()), ("a", 2));
            assert_eq!(node.endpoint(), &tcp("h", 1));
            let node = parse("/run/m.sock", scheme, "--node").unwrap();
            assert_eq!(node.endpoint(), &Endpoint::Unix("/run/m.sock".into()));
            for text in ["", "http://h", "h:1:2", "a=b=c", "user@h"] {
                assert!(parse(text, scheme, "--node").is_err(), "{text}");
            }
        }
    }
}
