//! twemproxy (nutcracker) 0.5.0.
//!
//! It sorts its servers as it loads them, by the length of their names and then by the names. That
//! order, not the list's, decides between equal points and is the one that modula indexes. A server
//! without a name of its own is called by its host, and by its port too unless that is 11211; a Unix
//! socket by its path and the colon that follows it in the configuration (so its sources). Modula has
//! each server as often as its weight says.

use super::libmemcached::{host_and_other_port, signed};
use super::list::List;
use super::ring::{Groups, Layout, Ring};
use super::{Node, active, ketama};
use crate::hash::{crc, digest, fnv, hsieh, jenkins, murmur2, one_at_a_time};
use crate::placement::address::Address;
use crate::{Error, TwemproxyHash};

/// `host`, or `host:port` for another port than 11211, or a socket's path with a colon.
pub(super) fn text(name: &str) -> Result<String, Error> {
    Ok(match Address::of(name)? {
        Address::Tcp { host, port } => host_and_other_port(host, port),
        Address::Unix { path } => format!("{path}:"),
    })
}

pub(super) fn ring(hash: TwemproxyHash, nodes: &[Node]) -> Ring<u32> {
    let layout = Layout {
        hash: function(hash),
        groups: Groups::Shared(ketama::groups),
        points: |_, name, group| ketama::points(name, group),
    };
    Ring::new(layout, sorted(nodes).into_iter())
}

pub(super) fn list(hash: TwemproxyHash, nodes: &[Node]) -> List {
    List::weighted(function(hash), sorted(nodes).into_iter())
}

fn sorted(nodes: &[Node]) -> Vec<&Node> {
    let mut nodes: Vec<_> = active(nodes).collect();
    nodes.sort_by_key(|node| (node.text.len(), node.text.as_bytes()));
    nodes
}

fn function(hash: TwemproxyHash) -> fn(&[u8]) -> u32 {
    match hash {
        TwemproxyHash::OneAtATime => one_at_a_time::one_at_a_time,
        TwemproxyHash::Md5 => digest::md5_32,
        TwemproxyHash::Crc16 => crc::crc16,
        TwemproxyHash::Crc32 => crc::crc32_15,
        TwemproxyHash::Crc32a => crc::crc32,
        TwemproxyHash::Fnv1_64 => |key| fnv::fnv1_64(signed(key)),
        TwemproxyHash::Fnv1a64 => |key| fnv::fnv1a_64(signed(key)),
        TwemproxyHash::Fnv1_32 => |key| fnv::fnv1_32(signed(key)),
        TwemproxyHash::Fnv1a32 => |key| fnv::fnv1a_32(signed(key)),
        TwemproxyHash::Hsieh => hsieh::hsieh,
        TwemproxyHash::Murmur => murmur2::murmur2_32,
        TwemproxyHash::Jenkins => jenkins::jenkins,
    }
}
