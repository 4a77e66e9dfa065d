//! Slots in the order of their last use: a doubly linked list whose links are indices.

/// No slot.
const NONE: usize = usize::MAX;

/// The order in which slots were used. A slot is in the list at most once.
#[derive(Debug)]
pub(crate) struct Lru {
    links: Vec<Link>,
    newest: usize,
    oldest: usize,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    newer: usize,
    older: usize,
}

impl Lru {
    pub(crate) fn new() -> Self {
        Self {
            links: Vec::new(),
            newest: NONE,
            oldest: NONE,
        }
    }

    /// The slot that was not used for longest.
    pub(crate) fn oldest(&self) -> Option<usize> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Adds a slot, which is not in the list, as the one used last.
    pub(crate) fn insert(&mut self, slot: usize) {
        if slot >= self.links.len() {
            self.links.resize(
                slot + 1,
                Link {
                    newer: NONE,
                    older: NONE,
                },
            );
        }
        self.links[slot] = Link {
            newer: NONE,
            older: self.newest,
        };
        match self.newest {
            NONE => self.oldest = slot,
            newest => self.links[newest].newer = slot,
        }
        self.newest = slot;
    }

    /// Takes a slot, which is in the list, out of it.
    pub(crate) fn remove(&mut self, slot: usize) {
        let Link { newer, older } = self.links[slot];
        match newer {
            NONE => self.newest = older,
            newer => self.links[newer].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.links[older].newer = newer,
        }
    }

    /// Makes a slot, which is in the list, the one used last.
    pub(crate) fn touch(&mut self, slot: usize) {
        if self.newest != slot {
            self.remove(slot);
            self.insert(slot);
        }
    }

    /// The slots from the one used last to the one not used for longest.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = usize> {
        let some = |slot: usize| (slot != NONE).then_some(slot);
        std::iter::successors(some(self.newest), move |&slot| some(self.links[slot].older))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_use() {
        let mut lru = Lru::new();
        assert_eq!(lru.oldest(), None);
        for slot in [3, 0, 1, 2] {
            lru.insert(slot);
        }
        lru.touch(0);
        lru.touch(0);
        assert_eq!(lru.newest_first().collect::<Vec<_>>(), [0, 2, 1, 3]);
        lru.remove(3);
        lru.remove(2);
        assert_eq!(lru.oldest(), Some(1));
        lru.remove(0);
        lru.remove(1);
        assert_eq!(lru.oldest(), None);
        assert_eq!(lru.newest_first().count(), 0);
    }
}
