//! Prints the vectors that pin the native placements: `tests/vectors/rendezvous.json`.
//!
//! The file is fixed for good; this program is how it was made, and how vectors for another
//! implementation are made:
//!
//! ```text
//! cargo run -p steersman-selection --example placement_vectors
//! ```

use serde_json::{Value, json};
use steersman_selection::{Error, Member, NodeIndex, Placement, Scheme};

fn main() -> Result<(), Error> {
    let clusters = [
        members(&[("localhost:11211", 1)]),
        members(&[
            ("10.0.0.1:11211", 1),
            ("10.0.0.2:11211", 1),
            ("10.0.0.3:11211", 1),
        ]),
        members(&[
            ("cache-a", 1),
            ("cache-b", 2),
            ("cache-c", 5),
            ("[2001:db8::7]:11211", 1),
            ("unix:/run/memcached/mc1.sock", 3),
            ("köln.example:11211", 1),
            ("🦀", 2),
        ]),
        (0..100)
            .map(|i| Member::new(format!("node{i:03}.cluster.example:11211")))
            .collect(),
    ];
    let schemes = [
        Scheme::RendezvousExact,
        Scheme::default().with_slot_bits(8)?,
        Scheme::default(),
        Scheme::default().with_slot_bits(20)?,
    ];
    let keys = keys();
    let mut cases = Vec::new();
    for members in clusters {
        for scheme in schemes {
            let placement = Placement::new(scheme, members.clone())?;
            cases.push(case(&placement, &keys).to_string());
        }
    }
    println!("{{\"cases\":[\n{}\n]}}", cases.join(",\n"));
    Ok(())
}

fn members(members: &[(&str, u32)]) -> Vec<Member> {
    let member = |(name, weight): &(&str, u32)| Member::new(*name).weighted(*weight);
    members.iter().map(member).collect()
}

/// Keys of every length at which the hash changes its course, and a few that people use.
fn keys() -> Vec<Vec<u8>> {
    let lengths = [
        0, 1, 3, 4, 8, 9, 16, 17, 32, 33, 64, 65, 96, 97, 128, 129, 240, 241, 250, 1024, 1025,
    ];
    let bytes = || (0..=u8::MAX).map(|byte| byte.wrapping_mul(131)).cycle();
    let patterns = (lengths.into_iter().enumerate())
        .map(|(number, length)| bytes().skip(number).take(length).collect());
    let names = [
        "user:1",
        "user:2",
        "session:9f86d081884c7d65",
        "clé",
        "a b",
        "localhost:11211",
    ];
    patterns
        .chain(names.map(|name| name.as_bytes().to_vec()))
        .collect()
}

fn case(placement: &Placement, keys: &[Vec<u8>]) -> Value {
    let slot_bits = match placement.scheme() {
        Scheme::Rendezvous { slot_bits } => Some(slot_bits),
        _ => None,
    };
    let members = placement
        .iter()
        .map(|(_, member, _)| json!([member.name(), member.weight()]));
    let keys = keys.iter().map(|key| {
        let mut nodes = [NodeIndex::default(); 3];
        let count = placement.replicas(key, &mut nodes);
        let replicas: Vec<_> = nodes[..count].iter().map(|node| node.get()).collect();
        let digits = key.iter().fold(String::new(), |digits, byte| {
            digits + &format!("{byte:02x}")
        });
        let owner = placement.owner(key).map(NodeIndex::get);
        json!({ "key": digits, "owner": owner, "replicas": replicas })
    });
    json!({
        "scheme": placement.scheme().name(),
        "slot_bits": slot_bits,
        "members": members.collect::<Vec<_>>(),
        "keys": keys.collect::<Vec<_>>(),
    })
}
