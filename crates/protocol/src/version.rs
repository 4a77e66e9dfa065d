//! The version of a server, by which it is known what it can do.

use std::fmt;

/// A server's version, such as 1.6.18, in the order of releases.
///
/// ```
/// use steersman_memcached_protocol::ServerVersion;
///
/// let version = ServerVersion::parse("1.6.18").unwrap();
/// assert!(version < ServerVersion::new(1, 6, 27));
/// // What packagers write behind the numbers says nothing about what the server can do.
/// assert_eq!(ServerVersion::parse("1.6.18-2ubuntu1"), Some(version));
/// assert_eq!(ServerVersion::parse("unknown"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerVersion {
    major: u32,
    minor: u32,
    patch: u32,
}

impl ServerVersion {
    /// The version of these numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Reads what [`Reply::Version`](crate::Reply::Version) holds: two or three numbers with dots
    /// between them, and anything behind. `None` if it does not begin like that; what such a
    /// server can do is not known.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, rest) = split_number(text)?;
        let (minor, rest) = split_number(rest.strip_prefix('.')?)?;
        let patch = match rest.strip_prefix('.').and_then(split_number) {
            Some((patch, _)) => patch,
            None => 0,
        };
        Some(Self::new(major, minor, patch))
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

fn split_number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_servers_say() {
        let of = ServerVersion::parse;
        for (text, expected) in [
            ("1.6.18", Some(ServerVersion::new(1, 6, 18))),
            ("1.4.5_4_gaa7839e", Some(ServerVersion::new(1, 4, 5))),
            ("1.5", Some(ServerVersion::new(1, 5, 0))),
            ("1.6.", Some(ServerVersion::new(1, 6, 0))),
            ("1.6.18 beta", Some(ServerVersion::new(1, 6, 18))),
            ("1", None),
            ("", None),
            (".6.18", None),
            ("v1.6.18", None),
            ("4294967296.0.0", None),
        ] {
            assert_eq!(of(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read(major: u32, minor: u32, patch: u32) {
            let version = ServerVersion::new(major, minor, patch);
            prop_assert_eq!(ServerVersion::parse(&version.to_string()), Some(version));
        }

        #[test]
        fn any_text_is_refused_or_read(text: String) {
            let _ = ServerVersion::parse(&text);
        }
    }
}
