//! spymemcached 2.12.3.
//!
//! - Ketama has 40 groups of four points a node without weights; with some, as many as libmemcached's
//!   weighted ring, by the same arithmetic. The two differ even where all weights are equal. Weights that
//!   are all 1 are taken for none. Of equal points that of the node that is later in the list counts.
//! - A node is called by what Java writes of its socket's address: `host/ip:port`, or `ip:port` if
//!   only the address is known. Its other format has libmemcached's names.
//! - Hashes but CRC and MD5 go over the UTF-16 units of the key. The default, `native`, is what
//!   Java's strings have as their hash code.

use std::net::IpAddr;

use super::libmemcached::host_and_other_port;
use super::list::List;
use super::ring::{Groups, Layout, Ring};
use super::{Node, active, is_weighted, ketama};
use crate::hash::text::{java_hash_code, utf16_units};
use crate::hash::{crc, digest, fnv};
use crate::placement::address::Address;
use crate::{Error, SpymemcachedHash, SpymemcachedNames};

const GROUPS: u32 = 40;

/// A node's name in one of the formats, given as `ip:port`, `host/ip:port` or, if only the
/// host is hashed, `host:port`.
pub(super) fn text(names: SpymemcachedNames, name: &str) -> Result<String, Error> {
    let refuse = |problem| Err(Error::invalid_name(name, problem));
    let Address::Tcp { host, port } = Address::of(name)? else {
        return refuse("spymemcached has no Unix sockets");
    };
    let (host, address) = match host.split_once('/') {
        Some((host, address)) => (Some(host), address),
        None => (None, host),
    };
    if host == Some("")
        || (host.is_some() || names == SpymemcachedNames::Spymemcached) && !is_ip(address)
    {
        return refuse(
            "spymemcached hashes the address too: name it `ip:port`, or `host/ip:port` if spymemcached's \
             nodes are given by host name; the client's way to write that is `host/ip:port=ip:port`",
        );
    }
    Ok(match (names, host) {
        (SpymemcachedNames::Spymemcached, Some(host)) => format!("{host}/{address}:{port}"),
        (SpymemcachedNames::Spymemcached, None) => format!("{address}:{port}"),
        (SpymemcachedNames::Libmemcached, host) => {
            host_and_other_port(host.unwrap_or(address), port)
        }
    })
}

fn is_ip(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok()
}

pub(super) fn ring(nodes: &[Node]) -> Ring<u32> {
    let layout = Layout {
        hash: digest::md5_32,
        groups: if is_weighted(nodes) {
            Groups::Shared(ketama::groups)
        } else {
            Groups::Fixed(|_| GROUPS)
        },
        points: |_, name, group| ketama::points(name, group),
    };
    Ring::new(layout, active(nodes).rev())
}

pub(super) fn list(hash: SpymemcachedHash, nodes: &[Node]) -> List {
    List::modulo(function(hash), active(nodes))
}

fn function(hash: SpymemcachedHash) -> fn(&[u8]) -> u32 {
    match hash {
        SpymemcachedHash::Native => java_hash_code,
        SpymemcachedHash::Crc => crc::crc32_15,
        SpymemcachedHash::Fnv1_64 => |key| fnv::fnv1_64(utf16_units(key)),
        SpymemcachedHash::Fnv1a64 => |key| fnv::fnv1a_64(utf16_units(key)),
        SpymemcachedHash::Fnv1_32 => |key| fnv::fnv1_32(utf16_units(key)),
        SpymemcachedHash::Fnv1a32 => |key| fnv::fnv1a_32(utf16_units(key)),
        SpymemcachedHash::Ketama => digest::md5_32,
    }
}
