//! What a node counts of all its clients, as its `stats` tell.

/// The counters that together count every operation. A `gat` is in two of them.
const OPERATIONS: [&str; 9] = [
    "cmd_get",
    "cmd_set",
    "cmd_touch",
    "delete_hits",
    "delete_misses",
    "incr_hits",
    "incr_misses",
    "decr_hits",
    "decr_misses",
];

/// What stood in the statistics of a node at some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) operations: u64,
    pub(super) connections: Option<u64>,
}

impl Counters {
    pub(super) fn read(stats: &[(String, String)]) -> Self {
        let number = |name: &str| {
            let (_, value) = stats.iter().find(|(stat, _)| stat == name)?;
            value.parse::<u64>().ok()
        };
        let operations = OPERATIONS.into_iter().filter_map(number);
        Self {
            operations: operations.fold(0, u64::saturating_add),
            connections: number("curr_connections"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_operation_counts() {
        let stats = [
            ("cmd_get", "10"),
            ("get_hits", "7"),
            ("cmd_set", "5"),
            ("delete_misses", "2"),
            ("incr_hits", "1"),
            ("curr_connections", "3"),
            ("decr_hits", "many"),
        ];
        let stats = stats.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let counters = Counters::read(&stats);
        assert_eq!((counters.operations, counters.connections), (18, Some(3)));
        assert_eq!(Counters::read(&[]), Counters::default());
    }
}
