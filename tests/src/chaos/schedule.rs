//! Which fault strikes which node, for how long: all of it follows from the seed.

use std::time::Duration;

use fastrand::Rng;

use super::fault::Fault;

/// One fault of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The node, as its index in the lane.
    pub node: usize,
    /// What strikes it.
    pub fault: Fault,
    /// For how long.
    pub lasts: Duration,
    /// The rest before the lane's next fault, once the node is well again.
    pub rest: Duration,
    /// For what the fault itself draws.
    pub seed: u64,
}

/// The faults of one lane, one after the other and without end.
///
/// They are dealt like cards: each fault of each node comes once before any comes again, so that a
/// short run meets as many kinds as it can.
#[derive(Debug)]
pub struct Lane {
    cards: Vec<(usize, Fault)>,
    dealt: usize,
    random: Rng,
}

impl Lane {
    /// A lane of nodes, of each of which is told what may strike it.
    pub fn new(seed: u64, nodes: &[&[Fault]]) -> Self {
        let nodes = nodes.iter().enumerate();
        let cards: Vec<_> = nodes
            .flat_map(|(node, faults)| faults.iter().map(move |fault| (node, *fault)))
            .collect();
        Self {
            dealt: cards.len(),
            cards,
            random: Rng::with_seed(seed),
        }
    }

    fn between(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(self.random.u64(least..=most))
    }
}

impl Iterator for Lane {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.dealt == self.cards.len() {
            self.random.shuffle(&mut self.cards);
            self.dealt = 0;
        }
        let (node, fault) = *self.cards.get(self.dealt)?;
        self.dealt += 1;
        Some(Step {
            node,
            fault,
            lasts: self.between(200, 1_500),
            rest: self.between(50, 600),
            seed: self.random.u64(..),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const NODES: [&[Fault]; 3] = [&[Fault::Down, Fault::Paused], &Fault::ALL, &[]];
    const ALL: usize = 2 + Fault::ALL.len();

    #[test]
    fn equal_seeds_give_equal_schedules() {
        let steps = |seed| Lane::new(seed, &NODES).take(100).collect::<Vec<_>>();
        assert_eq!(steps(7), steps(7));
        assert_ne!(steps(7), steps(8));
    }

    #[test]
    fn every_fault_comes_before_any_comes_again() {
        let mut lane = Lane::new(1, &NODES);
        for _ in 0..5 {
            let round: BTreeSet<_> = lane
                .by_ref()
                .take(ALL)
                .map(|step| (step.node, step.fault))
                .collect();
            assert_eq!(round.len(), ALL);
        }
    }

    #[test]
    fn a_lane_without_faults_is_at_its_end() {
        assert_eq!(Lane::new(1, &[&[]]).next(), None);
    }
}
