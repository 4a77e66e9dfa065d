//! What is wrong with each server when: faults laid out beforehand as windows of time.
//!
//! Because faults are known in advance, a server can say when it will have answered a request at the
//! moment it receives it, and nothing has to be taken back when a fault begins.

use crate::random::Rng;
use crate::scenario::{Choice, Effect, Fault, Scenario, Victims};

/// From when until when, in nanoseconds, the second excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: u64,
    pub(crate) until: u64,
}

/// A time at which one server is impaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Episode {
    pub(crate) server: usize,
    pub(crate) window: Window,
}

/// Windows with what is in force in them, in order of their beginnings.
#[derive(Debug, Clone)]
pub(super) struct Track<T> {
    windows: Vec<(Window, T)>,
    /// All windows before this one are over for good.
    past: usize,
}

impl<T> Default for Track<T> {
    fn default() -> Self {
        Self {
            windows: Vec::new(),
            past: 0,
        }
    }
}

impl<T> Track<T> {
    fn add(&mut self, window: Window, what: T) {
        let place = self
            .windows
            .partition_point(|(other, _)| other.from <= window.from);
        self.windows.insert(place, (window, what));
    }

    /// What is in force at a time, which is not before that of any earlier question.
    #[inline]
    pub(super) fn at(&mut self, now: u64) -> impl Iterator<Item = (Window, &T)> {
        while self
            .windows
            .get(self.past)
            .is_some_and(|(window, _)| window.until <= now)
        {
            self.past += 1;
        }
        self.windows[self.past..]
            .iter()
            .take_while(move |(window, _)| window.from <= now)
            .filter(move |(window, _)| now < window.until)
            .map(|(window, what)| (*window, what))
    }

    /// One of what is in force.
    #[inline]
    pub(super) fn current(&mut self, now: u64) -> Option<(Window, &T)> {
        self.at(now).next()
    }

    /// The first window that begins after a time.
    #[inline]
    pub(super) fn after(&self, now: u64) -> Option<Window> {
        let later = self.windows[self.past..].iter();
        later
            .map(|(window, _)| *window)
            .find(|window| window.from > now)
    }
}

/// All that is wrong with one server, each kind on a track of its own.
#[derive(Debug, Clone, Default)]
pub(super) struct Timeline<'a> {
    /// Slower, later, another service time, cold.
    pub(super) pace: Track<&'a Effect>,
    pub(super) stalled: Track<()>,
    pub(super) down: Track<()>,
    pub(super) silent: Track<()>,
    /// The share that fails, and after how many nanoseconds.
    pub(super) failing: Track<(f64, u64)>,
}

/// The timelines of all servers, and all times at which one is impaired, in order of their beginnings.
pub(super) fn lay_out<'a>(
    scenario: &'a Scenario,
    rng: &mut Rng,
) -> (Vec<Timeline<'a>>, Vec<Episode>) {
    let servers = scenario.server_count();
    let mut timelines = vec![Timeline::default(); servers];
    let mut episodes = Vec::new();
    for fault in &scenario.faults {
        for window in occurrences(fault, scenario.duration.nanos()) {
            for server in victims(fault, servers, rng) {
                timelines[server].add(window, &fault.effect);
                episodes.push(Episode { server, window });
            }
        }
    }
    episodes.sort_by_key(|episode| (episode.window.from, episode.server));
    (timelines, episodes)
}

fn occurrences(fault: &Fault, duration: u64) -> Vec<Window> {
    let until = fault
        .until
        .map_or(duration, |until| until.nanos().min(duration));
    let Some(every) = fault.every else {
        let from = fault.from.nanos();
        return Vec::from_iter((from < until).then_some(Window { from, until }));
    };
    let lasting = fault.lasting.unwrap_or(every).nanos();
    let step = usize::try_from(every.nanos()).unwrap_or(usize::MAX);
    (fault.from.nanos()..until)
        .step_by(step)
        .map(|from| Window {
            from,
            until: (from + lasting).min(until),
        })
        .collect()
}

fn victims(fault: &Fault, servers: usize, rng: &mut Rng) -> Vec<usize> {
    let mut victims = match &fault.servers {
        Victims::These(numbers) => numbers.clone(),
        Victims::Chosen(Choice::All) => (0..servers).collect(),
        Victims::Chosen(Choice::Random) => {
            vec![rng.below(u32::try_from(servers).unwrap_or(u32::MAX)) as usize]
        }
    };
    if fault.probability < 1.0 {
        victims.retain(|_| rng.unit() < fault.probability);
    }
    victims
}

impl<'a> Timeline<'a> {
    fn add(&mut self, window: Window, effect: &'a Effect) {
        match effect {
            Effect::Stalled => self.stalled.add(window, ()),
            Effect::Down => self.down.add(window, ()),
            Effect::Silent => self.silent.add(window, ()),
            Effect::Failing { share, after } => self.failing.add(window, (*share, after.nanos())),
            Effect::Slower(_) | Effect::Later(_) | Effect::Service(_) | Effect::Cold(_) => {
                self.pace.add(window, effect);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_track_knows_what_is_in_force() {
        let mut track = Track::default();
        for (from, until, what) in [(10, 20, 'a'), (5, 12, 'b'), (30, 40, 'c'), (15, 16, 'd')] {
            track.add(Window { from, until }, what);
        }
        let mut at = |now| track.at(now).map(|(_, what)| *what).collect::<String>();
        assert_eq!(
            [4, 5, 10, 12, 15, 16, 20, 30, 40].map(&mut at),
            ["", "b", "ba", "a", "ad", "a", "", "c", ""].map(String::from)
        );
        assert_eq!(track.after(40), None);
    }

    #[test]
    fn faults_come_and_go_within_their_time() {
        let fault: Fault = toml::from_str(
            "servers = 'all'\neffect = 'stalled'\nfrom = '1s'\nuntil = '12s'\nevery = '5s'\nlasting = '2s'",
        )
        .unwrap();
        let windows = occurrences(&fault, 11_500_000_000);
        let seconds: Vec<_> = windows
            .iter()
            .map(|window| (window.from / 100_000_000, window.until / 100_000_000))
            .collect();
        assert_eq!(seconds, [(10, 30), (60, 80), (110, 115)]);
    }
}
