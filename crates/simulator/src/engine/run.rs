//! One run: the loop over events, and what a client does about a request.

use std::time::Duration;

use steersman_selection::{Attempt as Finished, Call, Hedging, NodeIndex, Outcome, Timestamp};

use super::arrivals::Schedule;
use super::flight::{Attempt, Request, Slab};
use super::impaired::Impaired;
use super::oracle::Oracle;
use super::queue::{Event, EventQueue};
use super::server::Server;
use super::setting::Setting;
use super::steering::Steering;
use super::timeline::{self, Episode};
use crate::measure::{Report, Tally};
use crate::random::Rng;
use crate::recording::Recording;
use crate::scenario::Scenario;

/// The concerns that draw random numbers, each from a generator of its own.
pub(super) const POLICIES: u64 = 0;
const FAULTS: u64 = 1;
const ARRIVALS: u64 = 2;
const REQUESTS: u64 = 3;
const SERVICE: u64 = 4;
const PHASES: u64 = 5;

pub(super) struct Run<'a> {
    scenario: &'a Scenario,
    setting: &'a Setting,
    policies: Vec<Box<dyn Steering>>,
    /// Chooses in place of the policies, if it is there.
    oracle: Option<Oracle>,
    servers: Vec<Server<'a>>,
    episodes: Vec<Episode>,
    impaired: Impaired,
    events: EventQueue,
    requests: Slab<Request>,
    attempts: Slab<Attempt>,
    schedule: Schedule<'a>,
    /// By worker, when it was to ask last.
    due: Vec<u64>,
    arrivals: Rng,
    choices: Rng,
    service: Rng,
    /// By client; empty if requests are not hedged.
    hedging: Vec<Hedging>,
    tally: Tally,
    /// When no more requests are made.
    end: u64,
}

/// More than any policy wants to hear of after one call.
const MOST_PROBES: usize = 16;

/// How long a worker waits at least after a failure: one that fails at once must not ask at once.
const AFTER_FAILURE: u64 = 1_000_000;

fn time(now: u64) -> Timestamp {
    // Scenarios end after a thousand hours at most.
    Timestamp::from_nanos(i64::try_from(now).unwrap_or(i64::MAX))
}

impl<'a> Run<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        setting: &'a Setting,
        policies: Vec<Box<dyn Steering>>,
        recording: Option<&'a Recording>,
        seed: u64,
    ) -> Self {
        let (timelines, episodes) = timeline::lay_out(scenario, &mut Rng::new(seed, FAULTS));
        let kinds = scenario
            .servers
            .iter()
            .flat_map(|kind| std::iter::repeat_n(kind, kind.count as usize));
        let mut servers: Vec<_> = kinds
            .zip(timelines)
            .map(|(kind, timeline)| Server::new(kind, timeline))
            .collect();
        let mut schedule = Schedule::new(&scenario.load);
        if let Some(recording) = recording {
            schedule = Schedule::Recorded(recording.beginnings().iter());
            for (server, trace) in servers.iter_mut().zip(recording.traces()) {
                server.trace = Some(trace);
            }
        }
        Self {
            scenario,
            setting,
            policies,
            oracle: None,
            impaired: Impaired::new(&episodes, servers.len()),
            tally: Tally::new(scenario, &setting.is_remote),
            servers,
            episodes,
            events: EventQueue::default(),
            requests: Slab::new(),
            attempts: Slab::new(),
            schedule,
            due: Vec::new(),
            arrivals: Rng::new(seed, ARRIVALS),
            choices: Rng::new(seed, REQUESTS),
            service: Rng::new(seed, SERVICE),
            hedging: Setting::hedging(&scenario.clients),
            end: scenario.duration.nanos(),
        }
        .with_clients(seed)
        .with_workers()
    }

    /// Each policy learns of the servers, and does its regular work at times of its own.
    fn with_clients(mut self, seed: u64) -> Self {
        let mut phases = Rng::new(seed, PHASES);
        for hedging in &self.hedging {
            hedging.topology_changed(&self.setting.topology);
        }
        for (client, policy) in (0..).zip(&self.policies) {
            policy.settle(&self.setting.topology, time(0));
            if let Some(every) = self.tick_every(client) {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "from 0 to below a span"
                )]
                let phase = (every.as_secs_f64() * 1e9 * phases.unit()) as u64;
                self.events.push(phase, Event::Tick(client));
            }
        }
        self
    }

    /// Workers begin evenly spread over one round of theirs, or one after the other.
    fn with_workers(mut self) -> Self {
        let Some(workers) = self.scenario.load.workers else {
            return self;
        };
        let apart = self.period(0).unwrap_or_default() / u64::from(workers);
        for worker in 0..workers {
            let first = u64::from(worker) * apart.max(1);
            self.due.push(first);
            self.events.push(first, Event::Issue(worker));
        }
        self
    }

    /// How often a worker asks, if a rate says so.
    fn period(&mut self, now: u64) -> Option<u64> {
        let workers = self.scenario.load.workers?;
        let rate = self.schedule.rate_at(now)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and the cast saturates"
        )]
        Some((f64::from(workers) / rate) as u64)
    }

    /// An oracle chooses.
    pub(super) fn guided(mut self) -> Self {
        self.oracle = Some(Oracle::new(&self.servers));
        self
    }

    pub(super) fn run(mut self) -> Report {
        let mut arrival = match self.scenario.load.workers {
            None => self.next_arrival(0),
            Some(_) => u64::MAX,
        };
        loop {
            let next = self.events.next_at().unwrap_or(u64::MAX);
            if arrival <= next && arrival < self.end {
                self.arrive(arrival, None);
                arrival = self.next_arrival(arrival);
                continue;
            }
            let Some((now, event)) = self.events.pop() else {
                break;
            };
            match event {
                Event::Reach(attempt) => self.reach(now, attempt),
                Event::End(attempt) => self.end(now, attempt),
                Event::Hedge(attempt) => self.hedge(now, attempt),
                Event::Issue(worker) if now < self.end => self.arrive(now, Some(worker)),
                Event::Issue(_) => {}
                Event::Tick(client) => self.tick(now, client),
            }
        }
        let longest = self.servers.iter().map(|server| server.longest_queue).max();
        self.tally.report(
            &self.episodes,
            &self.setting.even_shares,
            longest.unwrap_or_default(),
        )
    }

    /// When the request after that of `now` comes; beyond any time if none does.
    fn next_arrival(&mut self, now: u64) -> u64 {
        self.schedule
            .next(now, &mut self.arrivals)
            .unwrap_or(u64::MAX)
    }

    /// How often a client's policy and hedges want to be seen to.
    fn tick_every(&self, client: u32) -> Option<Duration> {
        let policy = self.policies[client as usize].tick_every();
        let hedging = self.hedging.get(client as usize);
        let hedging = hedging.and_then(Hedging::tick_every);
        policy.into_iter().chain(hedging).min()
    }

    fn tick(&mut self, now: u64, client: u32) {
        self.policies[client as usize].tick(time(now));
        if let Some(hedging) = self.hedging.get(client as usize) {
            hedging.tick();
        }
        if let Some(every) = self.tick_every(client)
            && now < self.end
        {
            let every = u64::try_from(every.as_nanos()).unwrap_or(u64::MAX);
            self.events
                .push(now.saturating_add(every.max(1)), Event::Tick(client));
        }
    }

    /// A client makes a request.
    fn arrive(&mut self, now: u64, worker: Option<u32>) {
        let clients = &self.scenario.clients;
        let client = match (worker, &self.setting.demand) {
            (Some(worker), _) => worker % clients.count,
            (None, Some(demand)) => demand.draw(&mut self.choices),
            (None, None) if clients.count == 1 => 0,
            (None, None) => self.choices.below(clients.count),
        };
        let key = self
            .setting
            .keys
            .as_ref()
            .map_or(0, |keys| keys.draw(&mut self.choices));
        let mut request = Request::new(now, client, key, clients);
        request.worker = worker;
        let load = &self.scenario.load;
        if load.scans > 0.0 && self.choices.unit() < load.scans {
            request.weight = load.scan_factor;
        }
        if let Some(hedging) = self.hedging.get(client as usize) {
            let after = hedging.begin(self.setting.replicas_of(key));
            request.hedged_after =
                after.map(|after| u64::try_from(after.as_nanos()).unwrap_or(u64::MAX));
        }
        self.tally.asked(now);
        match self.requests.insert(request) {
            Some(request) => {
                if !self.send(now, request) {
                    self.finish(now, request, false);
                }
            }
            None => self.tally.done(now, now, false),
        }
        self.probe(now, client, key);
    }

    /// Sends the probes that a client's policy wants after a call.
    fn probe(&mut self, now: u64, client: u32, key: u32) {
        for nth in 0..MOST_PROBES {
            let call = Call::new(&self.setting.topology).replicas(self.setting.replicas_of(key));
            let policy = &self.policies[client as usize];
            let Some(node) = policy.wants_probe(&call, nth, time(now)) else {
                return;
            };
            let probe = Attempt {
                client,
                request: None,
                node,
                sent: now,
                outcome: Outcome::Busy,
                is_cancelled: false,
            };
            if let Some(probe) = self.attempts.insert(probe) {
                self.depart(now, node, probe);
            }
        }
    }

    /// Sends a request to the next node, if there is one.
    fn send(&mut self, now: u64, number: u32) -> bool {
        let request = self.requests.get(number);
        if !request.may_ask() {
            return false;
        }
        let (topology, replicas) = (
            &self.setting.topology,
            self.setting.replicas_of(request.key),
        );
        let asked = request.asked();
        let chosen = match &self.oracle {
            None => {
                let call = Call::new(topology).replicas(replicas);
                let policy = &self.policies[request.client as usize];
                policy.choose(call, asked, time(now))
            }
            Some(oracle) => oracle.choose(&mut self.servers, topology, replicas, asked, now),
        };
        let Some(node) = chosen else {
            return false;
        };
        let client = request.client;
        let attempt = Attempt {
            client,
            request: Some(number),
            node,
            sent: now,
            outcome: Outcome::Busy,
            is_cancelled: false,
        };
        let Some(attempt) = self.attempts.insert(attempt) else {
            return false;
        };
        self.policies[client as usize].sent(node, time(now));
        self.requests.get_mut(number).ask(node, attempt);
        self.impaired.advance(now);
        let impaired = self
            .impaired
            .is_choice()
            .then(|| self.impaired.is_impaired(node.get()));
        self.tally.sent(now, node.get(), impaired);
        self.depart(now, node, attempt);
        true
    }

    /// An attempt is on its way.
    fn depart(&mut self, now: u64, node: NodeIndex, attempt: u32) {
        if let Some(oracle) = &mut self.oracle {
            oracle.departed(node.get());
        }
        match self.servers[node.get()].network {
            0 => self.reach(now, attempt),
            network => self.events.push(now + network, Event::Reach(attempt)),
        }
    }

    /// An attempt reaches its server, which tells what becomes of it.
    fn reach(&mut self, now: u64, number: u32) {
        let attempt = *self.attempts.get(number);
        // A probe waits for its turn as others do, and takes no time then.
        let weight = attempt
            .request
            .map_or(0.0, |request| self.requests.get(request).weight);
        if let Some(oracle) = &mut self.oracle {
            oracle.reached(attempt.node.get());
        }
        let server = &mut self.servers[attempt.node.get()];
        let fate = server.serve(now, weight, &mut self.service);
        let answered = fate
            .at
            .map_or(u64::MAX, |at| at.saturating_add(server.network));
        let timeout = self.scenario.clients.timeout;
        let gives_up = timeout.map_or(u64::MAX, |timeout| attempt.sent + timeout.nanos());
        let (over, outcome) = if answered <= gives_up {
            (answered, fate.outcome)
        } else {
            (gives_up, Outcome::TimedOut)
        };
        self.attempts.get_mut(number).outcome = outcome;
        let hedged_after = attempt
            .request
            .and_then(|request| self.requests.get(request).hedged_after);
        if let Some(after) = hedged_after {
            let hedge = attempt.sent.saturating_add(after).max(now);
            if hedge < over {
                self.events.push(hedge, Event::Hedge(number));
            }
        }
        self.events.push(over, Event::End(number));
    }

    /// Asks a second node as well, if the first has still not answered and the budget allows it.
    fn hedge(&mut self, now: u64, number: u32) {
        let attempt = *self.attempts.get(number);
        let (Some(request), Some(hedging)) =
            (attempt.request, self.hedging.get(attempt.client as usize))
        else {
            return;
        };
        if !self.requests.get(request).is_done && hedging.allow() && self.send(now, request) {
            self.tally.hedged(now);
        }
    }

    /// An attempt is over for its client.
    fn end(&mut self, now: u64, number: u32) {
        let attempt = *self.attempts.get(number);
        if !attempt.is_cancelled {
            self.learn(now, attempt, attempt.outcome);
        }
        self.attempts.remove(number);
        let Some(owner) = attempt.request else {
            return;
        };
        let request = self.requests.get_mut(owner);
        request.end(number);
        if request.is_done {
            if request.running == 0 {
                self.requests.remove(owner);
            }
            return;
        }
        if attempt.outcome == Outcome::Success {
            return self.finish(now, owner, true);
        }
        if request.retries_left > 0 {
            request.retries_left -= 1;
            if self.send(now, owner) {
                return;
            }
        }
        if self.requests.get(owner).running == 0 {
            self.finish(now, owner, false);
        }
    }

    fn learn(&self, now: u64, attempt: Attempt, outcome: Outcome) {
        let latency = Duration::from_nanos(now - attempt.sent);
        let mut finished = Finished::new(attempt.node, time(now), latency, outcome);
        if attempt.request.is_none() {
            finished = finished.of_probe();
        } else if let (Outcome::Success, Some(hedging)) =
            (outcome, self.hedging.get(attempt.client as usize))
        {
            hedging.answered(attempt.node, latency);
        }
        self.policies[attempt.client as usize].learn(&finished);
    }

    /// A request has its answer or has failed: its other attempts are cancelled.
    fn finish(&mut self, now: u64, number: u32, succeeded: bool) {
        let request = self.requests.get_mut(number);
        request.is_done = true;
        let (began, worker, running) = (request.began, request.worker, request.running);
        self.tally.done(began, now, succeeded);
        if running == 0 {
            self.requests.remove(number);
        } else {
            self.cancel(now, number);
        }
        if let Some(worker) = worker {
            let think = self.scenario.load.think.nanos();
            let think = if succeeded {
                think.max(1)
            } else {
                think.max(AFTER_FAILURE)
            };
            let due = self
                .period(now)
                .map_or(0, |period| self.due[worker as usize] + period);
            let next = due.max(now + think);
            self.due[worker as usize] = next;
            self.events.push(next, Event::Issue(worker));
        }
    }

    /// The client loses interest in what is under way for a request.
    fn cancel(&mut self, now: u64, request: u32) {
        for number in self.requests.get(request).under_way() {
            let attempt = self.attempts.get_mut(number);
            attempt.is_cancelled = true;
            let attempt = *attempt;
            self.learn(now, attempt, Outcome::Cancelled);
        }
    }
}
