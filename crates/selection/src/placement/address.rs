//! A node's name as the address that clients which hash addresses take it for.

use std::net::Ipv6Addr;

use crate::Error;

/// memcached's port, where none is given.
pub(super) const DEFAULT_PORT: u16 = 11_211;

/// What a node's name says. IPv6 has no brackets here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Address<'a> {
    Tcp { host: &'a str, port: u16 },
    Unix { path: &'a str },
}

impl<'a> Address<'a> {
    /// Reads a name as a user writes it: `host:port`, `host` (port 11211), `[v6]:port`, `[v6]`,
    /// `v6:port` or `v6` without brackets, `/path` or `unix:/path`.
    pub(super) fn of(name: &'a str) -> Result<Self, Error> {
        let path = name.strip_prefix("unix:").unwrap_or(name);
        if path.starts_with('/') {
            return Ok(Self::Unix { path });
        }
        let (host, port) = split(name).map_err(|problem| Error::invalid_name(name, problem))?;
        Ok(Self::Tcp { host, port })
    }
}

/// Splits the address of a TCP node into host and port, or says what is wrong with it.
fn split(name: &str) -> Result<(&str, u16), &'static str> {
    if let Some(bracketed) = name.strip_prefix('[') {
        let (host, after) = bracketed
            .split_once(']')
            .ok_or("its bracket is not closed")?;
        return match after.strip_prefix(':') {
            _ if host.is_empty() => Err("there is no address in its brackets"),
            Some(port) => Ok((host, self::port(port)?)),
            None if after.is_empty() => Ok((host, DEFAULT_PORT)),
            None => Err("what follows its bracket is not `:port`"),
        };
    }
    let Some((host, port)) = name.rsplit_once(':') else {
        return Ok((name, DEFAULT_PORT));
    };
    if host.is_empty() {
        Err("there is no host before its port")
    } else if !host.contains(':') || host.parse::<Ipv6Addr>().is_ok() {
        Ok((host, self::port(port)?))
    } else if name.parse::<Ipv6Addr>().is_ok() {
        Ok((name, DEFAULT_PORT))
    } else {
        Err("it has several colons and is no IPv6 address; write IPv6 as `[address]:port`")
    }
}

fn port(digits: &str) -> Result<u16, &'static str> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = if plain { digits.parse().ok() } else { None };
    port.filter(|port| *port != 0)
        .ok_or("its port is not a number from 1 to 65535")
}

#[cfg(test)]
mod tests {
    use super::Address;
    use crate::ErrorKind;

    #[test]
    fn names_as_users_write_them() {
        for (name, host, port) in [
            ("localhost:11212", "localhost", 11_212),
            ("localhost", "localhost", 11_211),
            ("10.0.0.1:011212", "10.0.0.1", 11_212),
            ("[::1]:11212", "::1", 11_212),
            ("[::1]", "::1", 11_211),
            ("[fe80::1%eth0]:11212", "fe80::1%eth0", 11_212),
            ("::1:11211", "::1", 11_211),
            ("::1:2", "::1", 2),
            ("::1", "::1", 11_211),
            ("fe80::1", "fe80::1", 11_211),
            ("unix:11212", "unix", 11_212),
        ] {
            assert_eq!(Address::of(name), Ok(Address::Tcp { host, port }), "{name}");
        }
        for name in ["/run/memcached.sock", "unix:/run/memcached.sock"] {
            let path = "/run/memcached.sock";
            assert_eq!(Address::of(name), Ok(Address::Unix { path }), "{name}");
        }
    }

    #[test]
    fn names_that_are_no_address() {
        for name in [
            ":11211",
            "localhost:",
            "localhost:0",
            "localhost:65536",
            "localhost:+11211",
            "localhost:memcached",
            "[::1",
            "[]:11211",
            "[::1]11211",
            "[::1]:",
            "a:b:11211",
            "fe80::1%eth0:11211",
        ] {
            let error = Address::of(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidName, "{name}");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
