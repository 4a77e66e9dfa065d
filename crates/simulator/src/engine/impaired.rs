//! Which servers are impaired at the moment.

use super::timeline::Episode;

/// Follows the episodes as time goes on.
#[derive(Debug)]
pub(super) struct Impaired {
    /// When which server becomes worse or better, in order of time.
    changes: Vec<(u64, usize, bool)>,
    next: usize,
    /// By server, how many episodes it is in.
    depth: Vec<u32>,
    servers: usize,
}

impl Impaired {
    pub(super) fn new(episodes: &[Episode], servers: usize) -> Self {
        let mut changes: Vec<_> = episodes
            .iter()
            .flat_map(|&Episode { server, window }| {
                [(window.from, server, true), (window.until, server, false)]
            })
            .collect();
        changes.sort_unstable();
        Self {
            changes,
            next: 0,
            depth: vec![0; servers],
            servers: 0,
        }
    }

    /// Goes on to a time not before any earlier one.
    #[inline]
    pub(super) fn advance(&mut self, now: u64) {
        while let Some(&(at, server, worse)) = self.changes.get(self.next)
            && at <= now
        {
            self.next += 1;
            let depth = &mut self.depth[server];
            if worse {
                self.servers += usize::from(*depth == 0);
                *depth += 1;
            } else {
                *depth -= 1;
                self.servers -= usize::from(*depth == 0);
            }
        }
    }

    /// Whether some server is impaired and some is not: only then there is a choice.
    #[inline]
    pub(super) fn is_choice(&self) -> bool {
        self.servers > 0 && self.servers < self.depth.len()
    }

    #[inline]
    pub(super) fn is_impaired(&self, server: usize) -> bool {
        self.depth[server] > 0
    }
}
