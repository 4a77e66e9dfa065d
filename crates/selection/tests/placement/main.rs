//! Placement through the public interface.

#[cfg(feature = "compat")]
mod compat;
mod golden;
mod limits;
mod model;
#[cfg(feature = "compat")]
mod peers;
mod shares;

use steersman_selection::{NodeIndex, Placement};

/// The name of the owner, which unlike its index means the same in any placement.
fn owner<'a>(placement: &'a Placement, key: &[u8]) -> Option<&'a str> {
    let owner = placement.owner(key)?;
    Some(
        placement
            .member(owner)
            .expect("an owner is a member")
            .name(),
    )
}

/// The names of the `count` best nodes.
fn replicas<'a>(placement: &'a Placement, key: &[u8], count: usize) -> Vec<&'a str> {
    let mut nodes = vec![NodeIndex::default(); count];
    let found = placement.replicas(key, &mut nodes);
    let members = nodes[..found].iter().map(|node| placement.member(*node));
    members
        .map(|member| member.expect("a replica is a member").name())
        .collect()
}

/// Different keys of different lengths.
fn keys(count: usize) -> impl Iterator<Item = Vec<u8>> {
    (0..count).map(|i| format!("{i}:{}", "k".repeat(i % 40)).into_bytes())
}
