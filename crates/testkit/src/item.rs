//! One stored item, and when it stops to exist.

use bytes::Bytes;
use steersman_memcached_protocol::server::item_size;

/// Up to 30 days an expiry counts from now; above, it is a time of day.
const LONGEST_RELATIVE: i32 = 60 * 60 * 24 * 30;

/// Seconds since the Unix epoch.
pub(crate) type Seconds = i64;

/// When an item expires; `None` is never.
pub(crate) fn deadline(exptime: i32, now: Seconds) -> Option<Seconds> {
    match exptime {
        0 => None,
        ..0 => Some(Seconds::MIN),
        1..=LONGEST_RELATIVE => Some(now.saturating_add(exptime.into())),
        _ => Some(exptime.into()),
    }
}

/// A stored item.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) key: Bytes,
    pub(crate) value: Bytes,
    pub(crate) flags: u32,
    pub(crate) cas: u64,
    pub(crate) expires: Option<Seconds>,
    /// When the value was stored; decides what a delayed `flush_all` will take.
    pub(crate) stored: Seconds,
    /// Has it ever been read?
    pub(crate) fetched: bool,
    /// When it was last read or stored.
    pub(crate) last_access: Seconds,
    /// Its key came in base64.
    pub(crate) is_binary: bool,
    /// It is to be renewed.
    pub(crate) is_stale: bool,
    /// Somebody has been told to renew it.
    pub(crate) has_leased: bool,
}

impl Item {
    /// An item that is stored now, without a CAS number yet.
    pub(crate) fn new(
        key: Bytes,
        value: Bytes,
        flags: u32,
        expires: Option<Seconds>,
        now: Seconds,
    ) -> Self {
        Self {
            key,
            value,
            flags,
            cas: 0,
            expires,
            stored: now,
            fetched: false,
            last_access: now,
            is_binary: false,
            is_stale: false,
            has_leased: false,
        }
    }

    /// What it costs.
    pub(crate) fn size(&self) -> usize {
        item_size(self.key.len(), self.flags, self.value.len())
    }

    pub(crate) fn is_expired(&self, now: Seconds) -> bool {
        self.expires.is_some_and(|at| at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_relative_absolute_never_or_at_once() {
        const NOW: Seconds = 1_800_000_000;
        assert_eq!(deadline(0, NOW), None);
        assert_eq!(deadline(1, NOW), Some(NOW + 1));
        assert_eq!(deadline(2_592_000, NOW), Some(NOW + 2_592_000));
        assert_eq!(deadline(2_592_001, NOW), Some(2_592_001));
        assert_eq!(deadline(1_900_000_000, NOW), Some(1_900_000_000));
        assert!(deadline(-1, NOW).is_some_and(|at| at < 0));
    }
}
