//! What servers did, by key, so that what callers were told can be held against it.

use std::collections::HashMap;

use crate::history::{Call, Deed, Fact, History};
use crate::value::Stamp;

/// The facts of a history, by key and in their order.
pub(super) struct Evidence<'a> {
    by_key: HashMap<&'a str, Vec<&'a Fact>>,
    stored: HashMap<Stamp, Vec<&'a Fact>>,
}

impl<'a> Evidence<'a> {
    pub(super) fn new(history: &'a History) -> Self {
        let mut by_key: HashMap<&str, Vec<&Fact>> = HashMap::new();
        let mut stored: HashMap<Stamp, Vec<&Fact>> = HashMap::new();
        for fact in &history.facts {
            by_key.entry(&fact.key).or_default().push(fact);
            if let Deed::Stored(stamp) = fact.deed {
                stored.entry(stamp).or_default().push(fact);
            }
        }
        Self { by_key, stored }
    }

    /// All that was done with a key.
    pub(super) fn of_key(&self, key: &str) -> &[&'a Fact] {
        self.by_key.get(key).map_or(&[], Vec::as_slice)
    }

    /// What was done with a call's key while the call was under way.
    pub(super) fn during(&self, call: &Call) -> &[&'a Fact] {
        let facts = self.of_key(&call.key);
        let from = facts.partition_point(|fact| fact.when < call.begun);
        let to = facts.partition_point(|fact| fact.when <= call.ended);
        &facts[from..to]
    }

    /// Where and when a value was stored.
    pub(super) fn storings(&self, stamp: Stamp) -> &[&'a Fact] {
        self.stored.get(&stamp).map_or(&[], Vec::as_slice)
    }
}
