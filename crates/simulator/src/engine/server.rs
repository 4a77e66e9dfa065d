//! A server: slots that work, a queue before them, and what is wrong at the time.

use std::collections::VecDeque;

use steersman_selection::Outcome;

use super::timeline::{Timeline, Window};
use crate::random::Rng;
use crate::recording::Trace;
use crate::scenario::{Effect, Servers, Service};

/// What becomes of a request at a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fate {
    /// When the answer leaves the server, or its connection breaks; none if neither ever happens.
    pub(super) at: Option<u64>,
    pub(super) outcome: Outcome,
}

impl Fate {
    fn at(at: u64, outcome: Outcome) -> Self {
        Self {
            at: Some(at),
            outcome,
        }
    }
}

/// One server, first come first served. Requests must come in order of time.
#[derive(Debug)]
pub(super) struct Server<'a> {
    service: &'a Service,
    timeline: Timeline<'a>,
    /// When each slot is free, the earliest first; empty if there is a slot for everybody.
    free: Vec<u64>,
    /// When those that wait are going to be begun.
    waiting: VecDeque<u64>,
    queue: usize,
    /// When the server is down next, as of the last request: what it did before that is then gone.
    dies: Option<Window>,
    /// How long a request is on its way here, and its answer back.
    pub(super) network: u64,
    pub(super) longest_queue: usize,
    /// What really became of requests, in place of all the rest.
    pub(super) trace: Option<&'a Trace>,
}

impl<'a> Server<'a> {
    pub(super) fn new(kind: &'a Servers, timeline: Timeline<'a>) -> Self {
        Self {
            service: &kind.service,
            timeline,
            free: vec![0; kind.slots.unwrap_or(0) as usize],
            waiting: VecDeque::new(),
            queue: kind.queue.map_or(usize::MAX, |queue| queue as usize),
            dies: None,
            network: kind.network.nanos(),
            longest_queue: 0,
            trace: None,
        }
    }

    /// Takes a request that comes now and is `weight` times as long as others, and tells what becomes of
    /// it.
    pub(super) fn serve(&mut self, now: u64, weight: f64, rng: &mut Rng) -> Fate {
        if let Some(trace) = self.trace {
            // A node is in the recording because it was asked.
            return trace
                .draw(now, rng)
                .map_or(Fate::at(now, Outcome::Failed), |measured| {
                    Fate::at(now + measured.latency, measured.outcome)
                });
        }
        if let Some(died) = self.dies.take_if(|died| died.from <= now) {
            self.restart(died);
        }
        if let Some((window, ())) = self.timeline.down.current(now) {
            self.restart(window);
            return Fate::at(now, Outcome::Disconnected);
        }
        self.dies = self.timeline.down.after(now);
        let dies = self.dies;
        if self.timeline.silent.current(now).is_some() {
            return Fate {
                at: dies.map(|window| window.from),
                outcome: Outcome::Disconnected,
            };
        }
        if let Some((_, (share, after))) = self.timeline.failing.current(now)
            && rng.unit() < *share
        {
            return Fate::at(now + after, Outcome::Failed);
        }
        while self.waiting.front().is_some_and(|begins| *begins <= now) {
            self.waiting.pop_front();
        }
        let begins = self.free.first().map_or(now, |free| now.max(*free));
        if begins > now && self.waiting.len() >= self.queue {
            return Fate::at(now, Outcome::Refused);
        }
        if let Some(dies) = dies
            && dies.from <= begins
        {
            // Nobody works on it any more.
            self.wait_until(begins, now);
            return Fate::at(dies.from, Outcome::Disconnected);
        }
        let ends = self.work(begins, weight, rng);
        self.wait_until(begins, now);
        self.occupy(ends);
        match dies {
            Some(dies) if dies.from <= ends => Fate::at(dies.from, Outcome::Disconnected),
            _ => Fate::at(ends, Outcome::Success),
        }
    }

    /// When a request ends that is begun at a time, for which a slot is set aside.
    fn work(&mut self, begins: u64, weight: f64, rng: &mut Rng) -> u64 {
        let mut base = self.service.draw(rng);
        let mut factor = weight;
        let mut later = 0;
        for (window, effect) in self.timeline.pace.at(begins) {
            match effect {
                Effect::Slower(times) => factor *= times,
                Effect::Cold(times) => factor *= coldness(*times, window, begins),
                Effect::Later(span) => later += span.nanos(),
                Effect::Service(service) => base = service.draw(rng),
                // The others have tracks of their own.
                _ => {}
            }
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and the cast saturates"
        )]
        let mut left = (base * factor).min(MAX_SERVICE) as u64 + later;
        // Stalls stop the clock for it.
        let mut now = begins;
        if let Some((stall, ())) = self
            .timeline
            .stalled
            .at(begins)
            .max_by_key(|(stall, ())| stall.until)
        {
            now = stall.until;
        }
        while let Some(stall) = self.timeline.stalled.after(now)
            && stall.from < now + left
        {
            left -= stall.from - now;
            now = stall.until;
        }
        now + left
    }

    /// How long a request takes on average, in nanoseconds, if nothing is wrong.
    pub(super) fn mean(&self) -> f64 {
        self.service.mean()
    }

    /// How long it would take in nanoseconds, there and back, until a request is answered that sets out now, if
    /// it and the `coming` ones before it took `mean`; none if it would not be answered.
    pub(super) fn outlook(&mut self, now: u64, coming: u32, mean: f64) -> Option<f64> {
        let timeline = &mut self.timeline;
        if timeline.down.current(now).is_some()
            || timeline.silent.current(now).is_some()
            || timeline.failing.current(now).is_some()
        {
            return None;
        }
        let mut begins = self.free.first().map_or(now, |free| now.max(*free));
        let (mut mean, mut factor, mut later) = (mean, 1.0, 0.0);
        for (window, effect) in timeline.pace.at(begins) {
            match effect {
                Effect::Slower(times) => factor *= times,
                Effect::Cold(times) => factor *= coldness(*times, window, begins),
                Effect::Later(span) => later += span.seconds() * 1e9,
                Effect::Service(service) => mean = service.mean(),
                _ => {}
            }
        }
        let stalls = timeline.stalled.at(begins).map(|(stall, ())| stall.until);
        if let Some(until) = stalls.max() {
            begins = until;
        }
        let work = mean * factor + later;
        let ahead = match self.free.len() {
            0 => 0.0,
            #[expect(clippy::cast_precision_loss, reason = "at most 65,536")]
            slots => work * f64::from(coming) / slots as f64,
        };
        #[expect(clippy::cast_precision_loss, reason = "times are below 2^52")]
        let fixed = (begins - now + 2 * self.network) as f64;
        Some(fixed + ahead + work)
    }

    fn wait_until(&mut self, begins: u64, now: u64) {
        if begins > now {
            self.waiting.push_back(begins);
            self.longest_queue = self.longest_queue.max(self.waiting.len());
        }
    }

    /// Takes the slot that is free first until then.
    fn occupy(&mut self, ends: u64) {
        let free = &mut self.free[..];
        if free.is_empty() {
            return;
        }
        let mut hole = 0;
        loop {
            let left = 2 * hole + 1;
            let Some(&first) = free.get(left) else { break };
            let (child, least) = match free.get(left + 1) {
                Some(&second) if second < first => (left + 1, second),
                _ => (left, first),
            };
            if ends <= least {
                break;
            }
            free[hole] = least;
            hole = child;
        }
        free[hole] = ends;
    }

    /// What was worked on is lost, and slots are free when the server is back.
    fn restart(&mut self, window: Window) {
        self.free.fill(window.until);
        self.waiting.clear();
    }
}

/// A thousand hours: what no scenario waits for, and what does not overflow.
const MAX_SERVICE: f64 = 3.6e15;

/// How many times as long work takes: `times` at the beginning of the window, 1 at its end.
#[expect(
    clippy::cast_precision_loss,
    reason = "times of scenarios are below 2^52"
)]
fn coldness(times: f64, window: Window, now: u64) -> f64 {
    let left = (window.until - now) as f64 / (window.until - window.from) as f64;
    1.0 + (times - 1.0) * left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::timeline::lay_out;
    use crate::scenario::Scenario;

    /// A scenario with these faults and one server: two slots, a queue of two, 10 ms for each request.
    fn scenario(faults: &str) -> Scenario {
        let text = format!(
            "name = 's'\ntitle = 't'\nduration = '10s'\nload = {{ rate = 1 }}\nclients = {{ timeout = '1s' }}\n\
             servers = [{{ count = 1, service = {{ fixed = '10ms' }}, slots = 2, queue = 2 }}]\n\
             faults = [{faults}]"
        );
        Scenario::parse(&text).unwrap().remove(0)
    }

    /// What becomes of requests that come at these milliseconds: when, and how it ends.
    fn fates(faults: &str, comings: &[u64]) -> Vec<(Option<u64>, Outcome)> {
        let scenario = scenario(faults);
        let mut timelines = lay_out(&scenario, &mut Rng::new(0, 0)).0;
        let mut server = Server::new(&scenario.servers[0], timelines.remove(0));
        let mut rng = Rng::new(0, 0);
        comings
            .iter()
            .map(|at| {
                let fate = server.serve(at * 1_000_000, 1.0, &mut rng);
                (fate.at.map(|at| at / 1_000_000), fate.outcome)
            })
            .collect()
    }

    use Outcome::{Disconnected, Failed, Refused, Success};

    #[test]
    fn requests_wait_for_a_slot_and_are_refused_by_a_full_queue() {
        assert_eq!(
            fates("", &[0, 0, 1, 1, 1, 10, 40]),
            [
                (Some(10), Success),
                (Some(10), Success),
                (Some(20), Success),
                (Some(20), Success),
                (Some(1), Refused),
                (Some(30), Success),
                (Some(50), Success),
            ]
        );
    }

    #[test]
    fn a_server_that_dies_loses_what_it_had_and_comes_back_idle() {
        let down = "{ servers = [0], effect = 'down', from = '15ms', until = '30ms' }";
        assert_eq!(
            fates(down, &[0, 0, 1, 1, 20, 31]),
            [
                (Some(10), Success),
                (Some(10), Success),
                (Some(15), Disconnected),
                (Some(15), Disconnected),
                (Some(20), Disconnected),
                (Some(41), Success),
            ]
        );
        // Though nobody asked while it was down.
        assert_eq!(fates(down, &[0, 0, 1, 31])[3], (Some(41), Success));
    }

    #[test]
    fn a_stall_holds_up_what_is_worked_on_and_what_waits() {
        let stalled = "{ servers = [0], effect = 'stalled', from = '5ms', until = '25ms' }";
        assert_eq!(
            fates(stalled, &[0, 6, 7]),
            [
                (Some(30), Success),
                (Some(35), Success),
                (Some(40), Success)
            ]
        );
    }

    #[test]
    fn the_pace_is_that_of_the_time_when_work_begins() {
        let faults = "{ servers = [0], effect = { slower = 3 }, from = '5ms', until = '25ms' }, \
                      { servers = [0], effect = { later = '1ms' }, from = '5ms', until = '25ms' }, \
                      { servers = [0], effect = { service = { fixed = '2ms' } }, from = '100ms', until = '200ms' }, \
                      { servers = [0], effect = { cold = 11 }, from = '300ms', until = '400ms' }";
        assert_eq!(
            fates(faults, &[0, 5, 60, 100, 300, 350])
                .into_iter()
                .map(|(at, _)| at.unwrap())
                .collect::<Vec<_>>(),
            [10, 36, 70, 102, 410, 410]
        );
    }

    #[test]
    fn a_silent_server_answers_nothing_and_a_failing_one_fails() {
        let silent = "{ servers = [0], effect = 'silent', from = '5ms', until = '9ms' }";
        assert_eq!(
            fates(silent, &[5, 9]),
            [(None, Disconnected), (Some(19), Success)]
        );
        let failing =
            "{ servers = [0], effect = { failing = { share = 1, after = '1ms' } }, until = '9ms' }";
        assert_eq!(
            fates(failing, &[5, 9]),
            [(Some(6), Failed), (Some(19), Success)]
        );
    }
}
