//! Nodes as placement sees them: a name, a weight and a dense index.

use std::sync::Arc;

use crate::Error;

/// The index of a member within its [`Placement`](crate::Placement).
///
/// Indices are dense: the first member is 0, and the index of a removed member is given to a later
/// one, the lowest free index first. Use them to keep what you know of a node in a `Vec`. Which
/// node owns a key never depends on them.
///
/// The default is index 0, handy to make the array that
/// [`Placement::replicas`](crate::Placement::replicas) fills.
///
/// # Examples
///
/// ```
/// use steersman_selection::NodeIndex;
///
/// let index = NodeIndex::try_from(7_usize)?;
/// assert_eq!(index.get(), 7);
/// assert!(NodeIndex::try_from(65_535_usize).is_err());
/// # Ok::<(), steersman_selection::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(u16);

impl NodeIndex {
    /// How many different indices there are, and so how many members a placement can hold: 65,535.
    pub const COUNT: usize = u16::MAX as usize;

    /// The index as a number, 0 to 65,534.
    #[inline]
    pub const fn get(self) -> usize {
        self.0 as usize
    }

    /// The index in the two bytes that a slot has for it; never `u16::MAX`.
    #[inline]
    pub(crate) const fn to_slot(self) -> u16 {
        self.0
    }

    /// The index that a slot holds, or `None` for `u16::MAX`.
    #[inline]
    pub(crate) const fn from_slot(entry: u16) -> Option<Self> {
        if entry == u16::MAX {
            None
        } else {
            Some(Self(entry))
        }
    }
}

impl TryFrom<usize> for NodeIndex {
    type Error = Error;

    /// Fails with [`ErrorKind::TooManyNodes`](crate::ErrorKind::TooManyNodes) for 65,535 and more.
    fn try_from(index: usize) -> Result<Self, Error> {
        u16::try_from(index)
            .ok()
            .and_then(Self::from_slot)
            .ok_or_else(|| Error::index_out_of_range(index, Self::COUNT))
    }
}

impl From<NodeIndex> for usize {
    #[inline]
    fn from(index: NodeIndex) -> Self {
        index.get()
    }
}

/// A node that keys can be placed on: its name and its weight.
///
/// The name is what is hashed, exactly as given: two clients agree on where a key lives if they
/// call the nodes by the same names, whatever these resolve to. A node that moves to another
/// address keeps its keys if it keeps its name.
///
/// Cloning is cheap: the name is shared.
///
/// # Examples
///
/// ```
/// use steersman_selection::Member;
///
/// let node = Member::new("cache-a:11211").weighted(3);
/// assert_eq!((node.name(), node.weight()), ("cache-a:11211", 3));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Member {
    name: Arc<str>,
    weight: u32,
}

impl Member {
    /// A member of weight 1.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into().into(),
            weight: 1,
        }
    }

    /// The same member with another weight: of two nodes, one with twice the weight owns twice as
    /// many keys. 1 or more; a placement refuses 0, and weights that add up to more than
    /// [`Placement::MAX_TOTAL_WEIGHT`](crate::Placement::MAX_TOTAL_WEIGHT).
    ///
    /// Memory and the time of a scan grow with the sum of the weights, so prefer small ones: 1 and
    /// 2 rather than 512 and 1024.
    pub fn weighted(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// The name, as given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The weight; 1 unless it was set.
    pub fn weight(&self) -> u32 {
        self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::NodeIndex;
    use crate::ErrorKind;

    #[test]
    fn every_index_fits_a_slot() {
        for number in [0, 1, 65_533, 65_534] {
            let index = NodeIndex::try_from(number).unwrap();
            assert_eq!(NodeIndex::from_slot(index.to_slot()), Some(index));
            assert_eq!(usize::from(index), number);
        }
        assert_eq!(NodeIndex::from_slot(u16::MAX), None);
        for number in [65_535, 65_536, usize::MAX] {
            let error = NodeIndex::try_from(number).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TooManyNodes);
        }
    }
}
