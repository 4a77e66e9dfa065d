//! Who is a member: names, weights, indices and the order of the list.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Error, Member, NodeIndex, hash};

/// The most virtual ids, and so the largest sum of weights.
pub(super) const MAX_TOTAL_WEIGHT: usize = 1 << 20;

/// The members of a placement. It knows nothing of keys; it refuses members that no placement
/// could tell apart.
#[derive(Debug, Clone)]
pub(super) struct Roster {
    /// How many virtual ids a member of some weight has.
    ids_of: fn(u32) -> u32,
    /// By index; `None` where a member was removed.
    entries: Vec<Option<Entry>>,
    /// The indices of the `None`s.
    free: BTreeSet<NodeIndex>,
    /// The order in which the members were inserted.
    order: Vec<NodeIndex>,
    /// Whose each virtual id is, of inactive members too: they keep their place.
    virtual_ids: BTreeMap<u64, NodeIndex>,
    active: usize,
}

#[derive(Debug, Clone)]
struct Entry {
    member: Member,
    active: bool,
}

impl Roster {
    /// No members yet. With `weighted_ids` a member has as many virtual ids as its weight says. The
    /// schemes that make something else of weights need one alone, by which a name is found.
    pub(super) fn new(weighted_ids: bool) -> Self {
        Self {
            ids_of: if weighted_ids { |weight| weight } else { |_| 1 },
            entries: Vec::new(),
            free: BTreeSet::new(),
            order: Vec::new(),
            virtual_ids: BTreeMap::new(),
            active: 0,
        }
    }

    /// Adds active members at the end of the list; returns their indices. On error nothing has
    /// changed.
    pub(super) fn insert(
        &mut self,
        members: impl IntoIterator<Item = Member>,
    ) -> Result<Vec<NodeIndex>, Error> {
        let mut indices = Vec::new();
        for member in members {
            match self.insert_one(member) {
                Ok(index) => indices.push(index),
                Err(error) => {
                    self.remove(&indices);
                    return Err(error);
                }
            }
        }
        Ok(indices)
    }

    fn insert_one(&mut self, member: Member) -> Result<NodeIndex, Error> {
        let (name, weight) = (member.name(), member.weight());
        if name.is_empty() {
            return Err(Error::invalid_name(name, "its name is empty"));
        }
        if self.find(name).is_some() {
            return Err(Error::duplicate_name(name));
        }
        if weight == 0 {
            return Err(Error::zero_weight(name));
        }
        if self.len() == NodeIndex::COUNT {
            return Err(Error::too_many_nodes(NodeIndex::COUNT));
        }
        let ids = (self.ids_of)(weight);
        if ids as usize > MAX_TOTAL_WEIGHT - self.virtual_ids.len() {
            return Err(Error::weights_too_large(name, weight, MAX_TOTAL_WEIGHT));
        }
        let index = match self.free.first() {
            Some(index) => *index,
            None => NodeIndex::try_from(self.entries.len())?,
        };
        let virtual_ids = || hash::virtual_ids(name, ids);
        if let Some(other) = virtual_ids().find_map(|id| self.virtual_ids.get(&id)) {
            let other = self.get(*other).map_or(name, Member::name);
            return Err(Error::duplicate_hash(name, other));
        }
        self.virtual_ids.extend(virtual_ids().map(|id| (id, index)));
        if !self.free.remove(&index) {
            self.entries.push(None);
        }
        self.order.push(index);
        self.active += 1;
        self.entries[index.get()] = Some(Entry {
            member,
            active: true,
        });
        Ok(index)
    }

    /// Removes members; their indices become free. Returns those that there were.
    pub(super) fn remove(&mut self, indices: &[NodeIndex]) -> Vec<NodeIndex> {
        let mut gone = Vec::with_capacity(indices.len());
        for &index in indices {
            let Some(entry) = self.entries.get_mut(index.get()).and_then(Option::take) else {
                continue;
            };
            let ids = (self.ids_of)(entry.member.weight());
            for id in hash::virtual_ids(entry.member.name(), ids) {
                self.virtual_ids.remove(&id);
            }
            self.free.insert(index);
            self.active -= usize::from(entry.active);
            gone.push(index);
        }
        if !gone.is_empty() {
            let entries = &self.entries;
            self.order.retain(|index| entries[index.get()].is_some());
        }
        gone
    }

    /// Marks members as active or not. Returns those for which that is a change.
    pub(super) fn set_active(&mut self, indices: &[NodeIndex], active: bool) -> Vec<NodeIndex> {
        let mut changed = Vec::with_capacity(indices.len());
        for &index in indices {
            if let Some(Some(entry)) = self.entries.get_mut(index.get())
                && entry.active != active
            {
                entry.active = active;
                changed.push(index);
            }
        }
        if active {
            self.active += changed.len();
        } else {
            self.active -= changed.len();
        }
        changed
    }

    /// The members of these indices, with them.
    pub(super) fn pick(&self, indices: &[NodeIndex]) -> Vec<(NodeIndex, &Member)> {
        let known = |index: &NodeIndex| Some((*index, self.get(*index)?));
        indices.iter().filter_map(known).collect()
    }

    pub(super) fn get(&self, index: NodeIndex) -> Option<&Member> {
        Some(&self.entry(index)?.member)
    }

    pub(super) fn find(&self, name: &str) -> Option<NodeIndex> {
        let first_id = hash::virtual_ids(name, 1).next()?;
        let index = *self.virtual_ids.get(&first_id)?;
        (self.get(index)?.name() == name).then_some(index)
    }

    /// All members in the order of the list, and whether each is active.
    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeIndex, &Member, bool)> {
        self.order.iter().filter_map(|index| {
            let entry = self.entry(*index)?;
            Some((*index, &entry.member, entry.active))
        })
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn active_len(&self) -> usize {
        self.active
    }

    fn entry(&self, index: NodeIndex) -> Option<&Entry> {
        self.entries.get(index.get())?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::Roster;
    use crate::Member;

    #[test]
    fn a_weight_takes_virtual_ids_only_where_they_are_scored() {
        for (weighted_ids, expected) in [(true, 1_000), (false, 1)] {
            let mut roster = Roster::new(weighted_ids);
            let heavy = Member::new("10.0.0.1").weighted(1_000);
            let indices = roster.insert([heavy]).unwrap();
            assert_eq!(roster.virtual_ids.len(), expected);
            assert_eq!(roster.find("10.0.0.1"), Some(indices[0]));
            roster.remove(&indices);
            assert!(roster.virtual_ids.is_empty());
        }
    }
}
