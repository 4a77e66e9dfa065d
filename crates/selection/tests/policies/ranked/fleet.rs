//! A fleet in virtual time: clients, each with a policy of its own, that share servers with queues.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use steersman_selection::{
    Attempt, Call, DynPolicy, Outcome, Plan, Policy, RoundRobin, Timestamp, Topology,
};

use super::each;
use crate::cluster::{in_one_place, node, random};

const TICK: Duration = Duration::from_millis(100);

pub(super) struct Fleet {
    clients: Vec<Box<dyn DynPolicy>>,
    pub(super) topology: Topology,
    servers: Vec<Server>,
    slots: usize,
    now: Timestamp,
    next_tick: Timestamp,
    events: BTreeMap<(i64, u64), Event>,
    sequence: u64,
    lots: Box<dyn FnMut() -> f64>,
}

#[derive(Default)]
struct Server {
    busy: usize,
    queue: VecDeque<Request>,
}

struct Request {
    client: usize,
    sent: Timestamp,
    service: Duration,
    outcome: Outcome,
}

struct Event {
    server: usize,
    request: Request,
}

/// What is asked, and how long a server takes for it, by its number, the time since the beginning and a
/// random number from 0 to 1.
#[derive(Clone, Copy)]
pub(super) struct Load<'a> {
    pub(super) requests_per_second: u32,
    pub(super) latency: &'a dyn Fn(usize, Duration, f64) -> (Duration, Outcome),
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) failed: u32,
    /// By second, by server: how many requests were sent there.
    pub(super) served: Vec<Vec<u32>>,
    /// The most requests that a server had at a time.
    pub(super) longest_queue: usize,
}

impl Fleet {
    /// Of so many clients with that policy, and servers that work on so many requests at a time.
    pub(super) fn new(clients: usize, servers: usize, slots: usize, policy: &str) -> Self {
        let topology = in_one_place(servers);
        let now = Timestamp::from_nanos(0);
        let clients = (0..clients).map(|client| {
            let seed = client as u64;
            let start = i32::try_from(client).unwrap();
            let made: Box<dyn DynPolicy> = if policy == "RoundRobin" {
                Box::new(RoundRobin::starting_at(start))
            } else {
                let mut all = each(seed, || RoundRobin::starting_at(start)).into_iter();
                all.find(|(name, _)| *name == policy).unwrap().1
            };
            made.topology_changed(&topology, now);
            made
        });
        Self {
            clients: clients.collect(),
            servers: (0..servers).map(|_| Server::default()).collect(),
            slots,
            topology,
            now,
            next_tick: now,
            events: BTreeMap::new(),
            sequence: 0,
            lots: Box::new(random(9)),
        }
    }

    pub(super) fn change(&mut self, change: impl FnOnce(&mut Topology)) {
        change(&mut self.topology);
        for client in &self.clients {
            client.topology_changed(&self.topology, self.now);
        }
    }

    /// Requests at random times, from each client alike, for so long.
    pub(super) fn run(&mut self, span: Duration, load: Load<'_>) -> Run {
        let begin = self.now;
        let end = begin + span;
        let mut run = Run::default();
        let mean = 1.0 / f64::from(load.requests_per_second);
        loop {
            let gap = -(1.0 - (self.lots)()).ln() * mean;
            let next = self.now + Duration::from_secs_f64(gap);
            let is_over = next.nanos_since(end) >= 0;
            self.pass(if is_over { end } else { next }, &mut run);
            if is_over {
                return run;
            }
            self.send(begin, load, &mut run);
        }
    }

    fn send(&mut self, begin: Timestamp, load: Load<'_>, run: &mut Run) {
        let client = self.draw();
        let policy = &self.clients[client];
        let first = policy
            .plan(Call::new(&self.topology))
            .next(self.now)
            .unwrap();
        policy.begin(first, self.now);
        let server = first.get();
        let age = Duration::from_nanos(
            self.now
                .nanos_since(Timestamp::from_nanos(0))
                .unsigned_abs(),
        );
        let second = usize::try_from(self.now.nanos_since(begin) / 1_000_000_000).unwrap();
        run.served.resize(second + 1, vec![0; self.servers.len()]);
        run.served[second][server] += 1;
        let (service, outcome) = (load.latency)(server, age, (self.lots)());
        let request = Request {
            client,
            sent: self.now,
            service,
            outcome,
        };
        let at = &mut self.servers[server];
        run.longest_queue = run.longest_queue.max(at.busy + at.queue.len() + 1);
        if at.busy < self.slots {
            at.busy += 1;
            self.serve(server, request);
        } else {
            at.queue.push_back(request);
        }
    }

    /// A client, by lot.
    fn draw(&mut self) -> usize {
        let lot = Duration::from_secs_f64((self.lots)()).as_nanos();
        usize::try_from(lot).unwrap() * self.clients.len() / 1_000_000_001
    }

    fn serve(&mut self, server: usize, request: Request) {
        self.sequence += 1;
        let done = (self.now + request.service).nanos();
        self.events
            .insert((done, self.sequence), Event { server, request });
    }

    fn pass(&mut self, end: Timestamp, run: &mut Run) {
        while let Some(event) = self.events.first_entry()
            && event.key().0 <= end.nanos()
        {
            self.now = Timestamp::from_nanos(event.key().0);
            let Event { server, request } = event.remove();
            self.tick_until(self.now);
            let latency = Duration::from_nanos(self.now.nanos_since(request.sent).unsigned_abs());
            let attempt = Attempt::new(node(server), self.now, latency, request.outcome);
            self.clients[request.client].record(&attempt);
            run.failed += u32::from(request.outcome != Outcome::Success);
            self.servers[server].busy -= 1;
            if let Some(next) = self.servers[server].queue.pop_front() {
                self.servers[server].busy += 1;
                self.serve(server, next);
            }
        }
        self.tick_until(end);
        self.now = end;
    }

    fn tick_until(&mut self, end: Timestamp) {
        while self.next_tick.nanos_since(end) <= 0 {
            for client in &self.clients {
                client.tick(self.next_tick);
            }
            self.next_tick = self.next_tick + TICK;
        }
    }
}
