//! What follows from a server's version.

use steersman_memcached_protocol::ServerVersion;

/// The read buffer of memcached. Before 1.6.39 it stops reading for good when more is sent to it over
/// TLS than fits: what the TLS library holds for it then wakes nobody.
const READ_BUFFER: u64 = 16 * 1024;

/// The first one that reads on.
const MENDED: ServerVersion = ServerVersion::new(1, 6, 39);

/// How many bytes may be written and unanswered over TLS; no limit is `None`.
pub(super) fn tls_window(version: &str) -> Option<u64> {
    let mended = ServerVersion::parse(version).is_some_and(|found| {
        // What has not all three numbers is no release.
        found >= MENDED && version.starts_with(&found.to_string())
    });
    (!mended).then_some(READ_BUFFER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_versions_known_to_be_mended_have_no_window() {
        for version in ["1.6.39", "1.6.40", "1.6.45_12-g0", "1.7.0", "2.0.0-rc1"] {
            assert_eq!(tls_window(version), None, "{version}");
        }
        for version in [
            "1.6.38",
            "1.6.18",
            "1.5.99",
            "0.9.99",
            "",
            "1.6",
            "1.6.x",
            "1.6.99999999999",
            "1.7",
            "2.0.x",
            "v1.6.40",
            "AmazonElastiCache",
        ] {
            assert_eq!(tls_window(version), Some(READ_BUFFER), "{version}");
        }
    }
}
