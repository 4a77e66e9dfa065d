//! libmemcached 1.1.4, and what is made of it: pylibmc, PHP's memcached.
//!
//! - A list of one node is not hashed.
//! - Modula knows no weights: it ignores them.
//! - A node's name has its port only if that is not 11211; IPv6 has no brackets, and a Unix
//!   socket's port is 0.
//! - Ketama without weights has 100 points a node, each the hash of `NAME-NUMBER` by the same
//!   function as keys, `one_at_a_time` unless another is set. One weight above 1 gives all nodes the
//!   points of the weighted ring; keys are hashed by the same function still.
//! - Of equal points that of the node that is earlier in the list counts.

use super::list::List;
use super::ring::{Groups, Layout, Points, Ring};
use super::{Node, active, is_weighted, ketama};
use crate::hash::{crc, digest, fnv, hsieh, jenkins, murmur2, murmur3_32, one_at_a_time, widened};
use crate::placement::address::{Address, DEFAULT_PORT};
use crate::{Error, LibmemcachedHash};

const POINTS: u32 = 100;

/// `host`, or `host:port` for another port than 11211.
pub(super) fn text(name: &str) -> Result<String, Error> {
    Ok(match Address::of(name)? {
        Address::Tcp { host, port } => host_and_other_port(host, port),
        Address::Unix { path } => format!("{path}:0"),
    })
}

/// `host`, or `host:port` for another port than 11211.
pub(super) fn host_and_other_port(host: &str, port: u16) -> String {
    if port == DEFAULT_PORT {
        host.to_owned()
    } else {
        format!("{host}:{port}")
    }
}

/// `/host:port`, whatever the port.
pub(super) fn spy_text(name: &str) -> Result<String, Error> {
    Ok(match Address::of(name)? {
        Address::Tcp { host, port } => format!("/{host}:{port}"),
        Address::Unix { path } => format!("/{path}:0"),
    })
}

pub(super) fn ring(hash: LibmemcachedHash, nodes: &[Node]) -> Ring<u32> {
    if is_weighted(nodes) {
        return weighted_ring(hash, nodes);
    }
    let layout = Layout {
        hash: function(hash),
        groups: Groups::Fixed(|_| POINTS),
        points: |layout, name, number| {
            Points::One((layout.hash)(format!("{name}-{number}").as_bytes()))
        },
    };
    Ring::new(layout, active(nodes))
}

pub(super) fn weighted_ring(hash: LibmemcachedHash, nodes: &[Node]) -> Ring<u32> {
    let layout = Layout {
        hash: function(hash),
        groups: Groups::Shared(ketama::groups),
        points: |_, name, group| ketama::points(name, group),
    };
    Ring::new(layout, active(nodes))
}

pub(super) fn list(hash: LibmemcachedHash, nodes: &[Node]) -> List {
    List::modulo(function(hash), active(nodes))
}

fn function(hash: LibmemcachedHash) -> fn(&[u8]) -> u32 {
    match hash {
        LibmemcachedHash::OneAtATime => one_at_a_time::one_at_a_time,
        LibmemcachedHash::Md5 => digest::md5_32,
        LibmemcachedHash::Crc => crc::crc32_15,
        LibmemcachedHash::Fnv1_64 => |key| fnv::fnv1_64(signed(key)),
        LibmemcachedHash::Fnv1a64 => |key| fnv::fnv1a_64(signed(key)),
        LibmemcachedHash::Fnv1_32 => |key| fnv::fnv1_32(signed(key)),
        LibmemcachedHash::Fnv1a32 => |key| fnv::fnv1a_32(signed(key)),
        LibmemcachedHash::Hsieh => hsieh::hsieh,
        LibmemcachedHash::Murmur => murmur2::murmur2_32,
        LibmemcachedHash::Jenkins => jenkins::jenkins,
        LibmemcachedHash::Murmur3 => murmur3_32::murmur3_32,
    }
}

/// The bytes of a key as C's signed `char`s.
pub(super) fn signed(key: &[u8]) -> impl Iterator<Item = u32> {
    key.iter().copied().map(widened)
}
