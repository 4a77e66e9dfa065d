//! The statistics of a node, by name.

#[derive(Debug, Clone, Default)]
pub(super) struct Stats(Vec<(String, String)>);

impl Stats {
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(stat, _)| stat == name)?;
        Some(value)
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }
}

impl From<Vec<(String, String)>> for Stats {
    fn from(stats: Vec<(String, String)>) -> Self {
        Self(stats)
    }
}
