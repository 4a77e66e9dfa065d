//! How shares follow what happens to servers: who notices, who readmits, who swings, who starves.

use super::buckets::Buckets;
use crate::engine::Episode;

/// What became of the shares of servers in one run. Seconds, and parts of 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reactions {
    pub(super) notice: Option<f64>,
    pub(super) readmit: Option<f64>,
    pub(super) swing: Option<f64>,
    pub(super) starved: Option<f64>,
    pub(super) most_impaired: Vec<usize>,
}

/// A server that gets less than this part of its even share is avoided.
const AVOIDED: f64 = 0.5;

pub(super) fn reactions(buckets: &Buckets, episodes: &[Episode], even: &[f64]) -> Reactions {
    let shares = Shares { buckets, even };
    let mut notices = Vec::new();
    let mut readmits = Vec::new();
    for (index, &Episode { server, window }) in episodes.iter().enumerate() {
        let next = episodes[index + 1..]
            .iter()
            .find(|later| later.server == server);
        let whole = window.until - window.from >= 2 * buckets.width;
        if even[server] == 0.0 || !whole {
            continue;
        }
        let noticed = shares.first(server, window.from, window.until, |share| share < AVOIDED);
        notices.push(noticed.unwrap_or(f64::INFINITY));
        let rest = next.map_or(u64::MAX, |next| next.window.from);
        if noticed.is_some() && shares.covers(window.until, rest) {
            let back = shares.first(server, window.until, rest, |share| share >= AVOIDED);
            readmits.push(back.unwrap_or(f64::INFINITY));
        }
    }
    let impaired = impaired_parts(buckets, episodes, even.len());
    Reactions {
        notice: median(notices),
        readmit: median(readmits),
        swing: shares.swing(&impaired),
        starved: shares.starved(&impaired),
        most_impaired: most_impaired(episodes, even.len()),
    }
}

struct Shares<'a> {
    buckets: &'a Buckets,
    even: &'a [f64],
}

impl Shares<'_> {
    /// A server's share of a bucket in proportion to its even share.
    fn relative(&self, part: usize, server: usize) -> Option<f64> {
        let even = self.even[server];
        (even > 0.0).then(|| self.buckets.share(part, server).map(|share| share / even))?
    }

    /// The buckets that lie within a time as a whole.
    fn within(&self, from: u64, until: u64) -> std::ops::Range<usize> {
        let first = self.buckets.part_of(from + self.buckets.width - 1);
        let end = self.buckets.part_of(until);
        first..end.min(self.buckets.len())
    }

    fn covers(&self, from: u64, until: u64) -> bool {
        !self.within(from, until).is_empty()
    }

    /// How many seconds after the beginning the first bucket is over of which something holds.
    #[expect(
        clippy::cast_precision_loss,
        reason = "times of scenarios are below 2^52"
    )]
    fn first(
        &self,
        server: usize,
        from: u64,
        until: u64,
        holds: impl Fn(f64) -> bool,
    ) -> Option<f64> {
        let part = self
            .within(from, until)
            .find(|&part| self.relative(part, server).is_some_and(&holds))?;
        Some(((part as u64 + 1) * self.buckets.width - from) as f64 / 1e9)
    }

    /// The relative shares of a server while it is not impaired.
    fn while_well(&self, server: usize, impaired: &[bool]) -> Vec<f64> {
        let servers = self.even.len();
        (0..self.buckets.len())
            .filter(|part| !impaired[part * servers + server])
            .filter_map(|part| self.relative(part, server))
            .collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn swing(&self, impaired: &[bool]) -> Option<f64> {
        let deviations = (0..self.even.len()).filter_map(|server| {
            let shares = self.while_well(server, impaired);
            let count = shares.len() as f64;
            let mean = shares.iter().sum::<f64>() / count;
            let squares: f64 = shares.iter().map(|share| (share - mean).powi(2)).sum();
            (shares.len() > 1).then(|| (squares / count).sqrt())
        });
        mean(&deviations.collect::<Vec<_>>())
    }

    fn starved(&self, impaired: &[bool]) -> Option<f64> {
        let avoided: Vec<f64> = (0..self.even.len())
            .flat_map(|server| self.while_well(server, impaired))
            .map(|share| if share < AVOIDED { 1.0 } else { 0.0 })
            .collect();
        mean(&avoided)
    }
}

/// By bucket and server, whether it was impaired at any time of it.
fn impaired_parts(buckets: &Buckets, episodes: &[Episode], servers: usize) -> Vec<bool> {
    let mut impaired = vec![false; buckets.len() * servers];
    for &Episode { server, window } in episodes {
        let first = buckets.part_of(window.from);
        let end = buckets.part_of(window.until - 1) + 1;
        for part in first..end.min(buckets.len()) {
            impaired[part * servers + server] = true;
        }
    }
    impaired
}

fn most_impaired(episodes: &[Episode], servers: usize) -> Vec<usize> {
    let mut times = vec![0_u64; servers];
    for &Episode { server, window } in episodes {
        times[server] += window.until - window.from;
    }
    let longest = times.iter().copied().max().unwrap_or_default();
    if longest == 0 {
        return Vec::new();
    }
    (0..servers)
        .filter(|server| times[*server] == longest)
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
