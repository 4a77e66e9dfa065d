//! Ketama with weights (Richard Jones, last.fm, 2007), as libmemcached, twemproxy and spymemcached
//! have it: the MD5 of `NAME-NUMBER` is a group of four points, and a node has groups by its share
//! of the weight, 40 on average.

use super::ring::Points;
use crate::hash::digest::md5_words;

/// The groups of a node by its share of the weight, with the clients' arithmetic: in single
/// precision, rounded down, so that even among equal nodes some numbers of nodes, 25 for one, give
/// each of them 39.
#[expect(clippy::cast_precision_loss, reason = "so do the clients")]
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounded down; so do the clients"
)]
#[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
pub(super) fn groups(weight: u32, total_weight: u64, nodes: usize) -> u32 {
    let share = weight as f32 / total_weight as f32;
    let groups = share * 160.0 / 4.0 * nodes as f32;
    // The clients' constant has double precision, and so has the sum, before it is cut again.
    ((f64::from(groups) + 1e-10) as f32).floor() as u32
}

/// The points of a group.
pub(super) fn points(name: &str, group: u32) -> Points<u32> {
    Points::Four(md5_words(format!("{name}-{group}").as_bytes()))
}
