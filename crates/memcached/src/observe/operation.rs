//! The names of operations, as the conventions for database clients have them.

/// The operations, named by the client's methods; a read of several keys is a batch of the reads of
/// one.
const NAMES: [&str; 31] = [
    "get",
    "gets",
    "gat",
    "gats",
    "BATCH get",
    "BATCH gets",
    "BATCH gat",
    "BATCH gats",
    "set",
    "add",
    "replace",
    "append",
    "prepend",
    "cas",
    "increment",
    "decrement",
    "touch",
    "delete",
    "flush_all",
    "version",
    "stats",
    "verbosity",
    "cache_memlimit",
    "meta_get",
    "meta_set",
    "meta_delete",
    "meta_increment",
    "meta_decrement",
    "meta_inspect",
    "meta_noop",
    "_OTHER",
];

/// The name of an operation, in few bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operation(u8);

impl Operation {
    #[cfg(feature = "metrics")]
    pub(super) const COUNT: usize = NAMES.len();

    /// Of the client's method of that name and so many keys.
    pub(super) fn of(method: &str, keys: usize) -> Self {
        let batch = u8::from(keys > 1) * 4;
        Self(match method {
            "get" | "get_many" => batch,
            "gets" | "gets_many" => 1 + batch,
            "gat" | "gat_many" => 2 + batch,
            "gats" | "gats_many" => 3 + batch,
            "set" => 8,
            "add" => 9,
            "replace" => 10,
            "append" => 11,
            "prepend" => 12,
            "cas" => 13,
            "increment" => 14,
            "decrement" => 15,
            "touch" => 16,
            "delete" => 17,
            "flush_all" => 18,
            "version" => 19,
            "stats" => 20,
            "verbosity" => 21,
            "cache_memlimit" => 22,
            "meta_get" => 23,
            "meta_set" => 24,
            "meta_delete" => 25,
            "meta_increment" => 26,
            "meta_decrement" => 27,
            "meta_inspect" => 28,
            "meta_noop" => 29,
            _ => 30,
        })
    }

    pub(super) fn name(self) -> &'static str {
        NAMES[self.index()]
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Whether it reads values.
    #[cfg(feature = "metrics")]
    pub(super) fn is_read(self) -> bool {
        self.0 < 8 || self.0 == 23
    }

    /// Whether it sends a value.
    #[cfg(feature = "spans")]
    pub(super) fn sends_value(self) -> bool {
        (8..14).contains(&self.0) || self.0 == 24
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_has_its_name() {
        for name in NAMES {
            let one = name.trim_start_matches("BATCH ");
            let keys = if one == name { 1 } else { 2 };
            assert_eq!(Operation::of(one, keys).name(), name);
        }
        assert_eq!(Operation::of("get_many", 1).name(), "get");
        assert_eq!(Operation::of("gats_many", 2).name(), "BATCH gats");
    }
}
