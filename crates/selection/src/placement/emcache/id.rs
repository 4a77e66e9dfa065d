//! What emcache hashes of a node: its host and port run together, or its socket's path.

use crate::Error;
use crate::placement::address::Address;

/// The id of a node that is named as a user writes it.
pub(super) fn of(name: &str) -> Result<String, Error> {
    Ok(match Address::of(name)? {
        Address::Tcp { host, port } => format!("{host}{port}"),
        Address::Unix { path } => path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn names_as_users_write_them() {
        for (name, id) in [
            ("localhost:11211", "localhost11211"),
            ("localhost", "localhost11211"),
            ("localhost1:1211", "localhost11211"),
            ("10.0.0.1:011212", "10.0.0.111212"),
            ("[::1]:11211", "::111211"),
            ("[::1]", "::111211"),
            ("[fe80::1%eth0]:11212", "fe80::1%eth011212"),
            ("::1:11211", "::111211"),
            ("::1:2", "::12"),
            ("::1", "::111211"),
            ("fe80::1", "fe80::111211"),
            ("/run/memcached.sock", "/run/memcached.sock"),
            ("unix:/run/memcached.sock", "/run/memcached.sock"),
            ("unix:11212", "unix11212"),
            ("köln:11211", "köln11211"),
        ] {
            assert_eq!(of(name).unwrap(), id, "{name}");
        }
    }
}
