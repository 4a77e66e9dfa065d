//! Where a node is.

use std::sync::Arc;

/// Where a node is: its datacenter and, within it, its rack.
///
/// Both are optional. Nodes without a datacenter are together in a nameless one, so that a cluster
/// whose nodes have no localities is a cluster in one place. Cloning is cheap: names are shared.
///
/// # Examples
///
/// ```
/// use steersman_selection::Locality;
///
/// let here = Locality::datacenter("eu-1").rack("b");
/// assert_eq!((here.datacenter_name(), here.rack_name()), ("eu-1", Some("b")));
/// assert_eq!(Locality::unknown().datacenter_name(), "");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Locality {
    datacenter: Arc<str>,
    rack: Option<Arc<str>>,
}

impl Locality {
    /// In the datacenter of that name, in no rack.
    pub fn datacenter(name: impl Into<Arc<str>>) -> Self {
        Self {
            datacenter: name.into(),
            rack: None,
        }
    }

    /// Nothing is known: the nameless datacenter, no rack.
    pub fn unknown() -> Self {
        Self::datacenter("")
    }

    /// The same datacenter, in the rack of that name.
    pub fn rack(mut self, name: impl Into<Arc<str>>) -> Self {
        self.rack = Some(name.into());
        self
    }

    /// The datacenter's name, empty if none is known.
    pub fn datacenter_name(&self) -> &str {
        &self.datacenter
    }

    /// The rack's name, if one is known.
    pub fn rack_name(&self) -> Option<&str> {
        self.rack.as_deref()
    }
}

impl Default for Locality {
    /// [`Locality::unknown`].
    fn default() -> Self {
        Self::unknown()
    }
}
