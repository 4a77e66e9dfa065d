//! uhashring 2.5, as meta-memcache 4.3.0 uses it: over nodes named `host:port`.
//!
//! - uhashring hashes a name as it is given. meta-memcache gives IPv6 addresses in brackets, so brackets
//!   stay if there are some, and none are added.
//! - `md5`: the whole MD5s of `NAME-NUMBER`, 160 points for each unit of weight. A key belongs to the
//!   first point above its hash, not at it.
//! - `ketama`: groups of four points by a node's share of the weight, in whole numbers. Above the hash,
//!   too; of equal points that of the later node counts.

use super::ring::{Groups, Layout, Points, Ring};
use super::{Node, Table, active, ketama};
use crate::UhashringRing;
use crate::hash::digest::{md5_32, md5_number};

/// The points of a unit of weight.
const POINTS: u32 = 160;

/// A table of whole MD5s has 160 points of 22 bytes for each unit of weight.
pub(super) fn most_weight(ring: UhashringRing) -> usize {
    match ring {
        UhashringRing::Md5 => crate::NodeIndex::COUNT,
        UhashringRing::Ketama => crate::placement::roster::MAX_TOTAL_WEIGHT,
    }
}

pub(super) fn table(ring: UhashringRing, nodes: &[Node]) -> Table {
    match ring {
        UhashringRing::Md5 => {
            let layout = Layout {
                hash: |key| md5_number(key, &[]).wrapping_add(1),
                groups: Groups::Fixed(|weight| POINTS * weight),
                points: |_, name, number| {
                    let number = number.to_string();
                    Points::One(md5_number(format!("{name}-").as_bytes(), number.as_bytes()))
                },
            };
            Table::WideRing(Ring::new(layout, active(nodes).rev()))
        }
        UhashringRing::Ketama => {
            let layout = Layout {
                hash: |key| md5_32(key).wrapping_add(1),
                groups: Groups::Shared(|weight, total, nodes| {
                    let groups = 40 * nodes as u64 * u64::from(weight) / total;
                    u32::try_from(groups).unwrap_or(u32::MAX)
                }),
                points: |_, name, group| ketama::points(name, group),
            };
            Table::Ring(Ring::new(layout, active(nodes).rev()))
        }
    }
}
