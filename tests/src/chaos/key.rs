//! The keys that are used, and where they live.

use steersman_memcached::Client;

use super::clients::Kind;
use super::occupant::SIZES;

/// A key, and the node that owns it.
#[derive(Debug, Clone)]
pub struct Key {
    /// As it is sent.
    pub name: String,
    /// The owner's number.
    pub home: usize,
    /// Whether it is on [other nodes](Kind::shares_keys_of), too.
    pub is_shared: bool,
    /// How many bytes its values have besides their stamp.
    pub size: usize,
}

impl Key {
    /// So many keys of a client of this kind.
    ///
    /// # Errors
    ///
    /// If the client does not know the owner of a key, which it does.
    ///
    /// # Panics
    ///
    /// If the client is one of other nodes.
    pub fn all(
        kind: Kind,
        count: usize,
        client: &Client,
        nodes: &[String],
    ) -> steersman_memcached::Result<Vec<Self>> {
        let key = |number: usize| {
            let name = format!("{}{number}", kind.prefix());
            let owner = client.node_for_key(&name)?;
            let home = nodes.iter().position(|node| *node == owner.name());
            // One large value in ten.
            let size = SIZES[[0, 0, 0, 0, 1, 1, 1, 2, 2, 3][number % 10]];
            let home = home.expect("the owner is one of the client's nodes");
            Ok(Self {
                home,
                is_shared: kind.shares_keys_of(home),
                name,
                size,
            })
        };
        (0..count).map(key).collect()
    }
}
