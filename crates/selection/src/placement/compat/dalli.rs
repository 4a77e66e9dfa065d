//! dalli 3.0.6, a client for Ruby.
//!
//! A node has points by its share of the weight, 160 on average: the first 32 bits of the SHA-1 of
//! `NAME:NUMBER`. A key belongs to the last point that is not above its CRC-32, or to the last of
//! all. On this ring all numbers are complemented, so that it is the first that is not below.

use super::ring::{Groups, Layout, Points, Ring};
use super::{Node, active};
use crate::hash::crc::crc32;
use crate::hash::digest::sha1_32;

pub(super) fn ring(nodes: &[Node]) -> Ring<u32> {
    let layout = Layout {
        hash: |key| !crc32(key),
        groups: Groups::Shared(groups),
        points: |_, name, number| Points::One(!sha1_32(format!("{name}:{number}").as_bytes())),
    };
    Ring::new(layout, active(nodes).rev())
}

/// In double precision: 160 times the number of nodes times the weight, which is exact, divided by
/// all weights and rounded down.
#[expect(clippy::cast_precision_loss, reason = "there are 36 bits at most")]
#[expect(clippy::cast_possible_truncation, reason = "rounded down")]
#[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
fn groups(weight: u32, total_weight: u64, nodes: usize) -> u32 {
    let points = 160 * nodes as u64 * u64::from(weight);
    (points as f64 / total_weight as f64).floor() as u32
}
