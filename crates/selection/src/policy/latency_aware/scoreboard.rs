//! The scoreboard: what is known of each node, shared by all threads.
//!
//! Three parties meet here. Plans read; recorders write scores and, in guarded mode, the phase of
//! the node they report on; ticks and changes of the topology do the rest, one at a time under a
//! lock that the others never take.

use std::sync::PoisonError;

use super::event::{Announcer, Change, Event};
use super::phase::{AtomicPhase, Phase};
use super::{Mode, guarded, reference};
use crate::latency::{Averaging, LatencyParameters, Score, ScoreCell};
use crate::policy::dice::Dice;
use crate::policy::{Attempt, Call, Candidate, Turn};
use crate::sync::atomic::{AtomicI64, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::table::Table;
use crate::{NodeIndex, Timestamp, Topology};

pub(super) struct Scoreboard {
    pub(super) parameters: LatencyParameters,
    pub(super) mode: Mode,
    pub(super) averaging: Averaging,
    pub(super) retry_nanos: i64,
    pub(super) first_probe_nanos: i64,
    pub(super) ramp_nanos: i64,
    pub(super) tick_nanos: i64,
    pub(super) entries: Table<Entry>,
    /// The minimum that reference mode compares with.
    pub(super) minimum: OptionalNanos,
    pub(super) dice: Dice,
    pub(super) announcer: Announcer,
    register: Mutex<Register>,
}

/// What threads share of one node. What plans read is in another cache line than the scores that
/// each answer changes.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) score: ScoreCell,
    pub(super) verdict: Verdict,
}

#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Verdict {
    pub(super) phase: AtomicPhase,
    /// In guarded mode, the minimum of the node's datacenter and the limit that follows from it.
    pub(super) minimum: OptionalNanos,
    pub(super) limit: OptionalNanos,
}

/// Who is in the topology.
#[derive(Debug, Default)]
pub(super) struct Register {
    pub(super) members: Vec<Member>,
    /// The number of datacenters.
    pub(super) datacenters: usize,
}

/// What ticks remember of a node.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) node: NodeIndex,
    incarnation: u32,
    pub(super) datacenter: usize,
    /// Whether it was penalised at the last tick.
    pub(super) excluded: bool,
    /// In guarded mode, at how many ticks in a row it was over the limit.
    pub(super) streak: u32,
    /// How many samples it had at the last tick, and their average.
    pub(super) samples: u64,
    pub(super) average_nanos: i64,
    /// Whether its silence was told already.
    pub(super) silent: bool,
}

impl Scoreboard {
    pub(super) fn new(
        parameters: LatencyParameters,
        mode: Mode,
        seed: u64,
        announcer: Announcer,
    ) -> Self {
        Self {
            averaging: Averaging::new(&parameters),
            retry_nanos: parameters.retry_nanos(),
            first_probe_nanos: parameters.first_probe_nanos(),
            ramp_nanos: parameters.ramp_nanos(),
            tick_nanos: parameters.tick_nanos(),
            parameters,
            mode,
            entries: Table::new(),
            minimum: OptionalNanos::default(),
            dice: Dice::new(seed),
            announcer,
            register: Mutex::default(),
        }
    }

    pub(super) fn score(&self, node: NodeIndex) -> Option<Score> {
        self.entries.get(node)?.score.load()
    }

    #[inline]
    pub(super) fn record(&self, attempt: &Attempt) {
        let Some(entry) = self.entries.get(attempt.node()) else {
            return;
        };
        match self.mode {
            Mode::Reference => reference::record(self, entry, attempt),
            Mode::Guarded => guarded::record(self, entry, attempt),
        }
    }

    /// Adds a sample to the score of a node that is in the topology.
    #[inline]
    pub(super) fn sample(
        &self,
        entry: &Entry,
        now: Timestamp,
        latency_nanos: i64,
    ) -> Option<Score> {
        entry.score.update(|before| {
            // Asked each time anew: a node that leaves is first untracked and then cleared.
            if entry.verdict.phase.is_tracked() {
                self.averaging.next(before, now, latency_nanos)
            } else {
                None
            }
        })
    }

    /// Whether the score is of enough samples and young enough to judge by.
    #[inline]
    pub(super) fn is_measured(&self, score: &Score, now: Timestamp) -> bool {
        score.samples >= u64::from(self.parameters.min_measured_samples())
            && now.nanos_since(score.updated) <= self.retry_nanos
    }

    pub(super) fn tick(&self, now: Timestamp) {
        let events = {
            let mut register = self.register();
            match self.mode {
                Mode::Reference => reference::tick(self, &mut register, now),
                Mode::Guarded => guarded::tick(self, &mut register, now),
            }
        };
        for event in &events {
            self.announcer.announce(event);
        }
    }

    pub(super) fn topology_changed(&self, topology: &Topology, now: Timestamp) {
        let mut register = self.register();
        let gone = |member: &Member| {
            !topology.contains(member.node)
                || topology.incarnation(member.node) != member.incarnation
        };
        register.members.retain(|member| {
            if gone(member) {
                let entry = self.entries.get_or_make(member.node);
                entry.verdict.phase.store(Phase::Untracked);
                entry.score.clear();
                return false;
            }
            true
        });
        register.datacenters = topology.datacenters().len();
        for member in &mut register.members {
            member.datacenter = topology.datacenter_of(member.node).unwrap_or_default();
        }
        // Nodes that come have no minimum yet, and so make no difference to each other.
        let measured = self.measured(&register);
        for &node in topology.nodes() {
            let entry = self.entries.get_or_make(node);
            if entry.verdict.phase.is_tracked() {
                continue;
            }
            let datacenter = topology.datacenter_of(node).unwrap_or_default();
            let joins = self.mode == Mode::Guarded && measured.get(datacenter) == Some(&true);
            entry.verdict.phase.store(if joins {
                Phase::Joining { since: now }
            } else {
                Phase::Normal
            });
            entry.verdict.minimum.set(None);
            entry.verdict.limit.set(None);
            register.members.push(Member {
                node,
                incarnation: topology.incarnation(node),
                datacenter,
                excluded: false,
                streak: 0,
                samples: 0,
                average_nanos: 0,
                silent: false,
            });
        }
    }

    /// Which datacenters have a minimum, as their nodes know it.
    fn measured(&self, register: &Register) -> Vec<bool> {
        let mut measured = vec![false; register.datacenters];
        for member in &register.members {
            let entry = self.entries.get(member.node);
            let minimum = entry.and_then(|entry| entry.verdict.minimum.get());
            if let Some(measured) = measured.get_mut(member.datacenter) {
                *measured |= minimum.is_some();
            }
        }
        measured
    }

    pub(super) fn lowest_minimum(&self) -> Option<i64> {
        match self.mode {
            Mode::Reference => self.minimum.get(),
            Mode::Guarded => {
                let register = self.register();
                let minima = register
                    .members
                    .iter()
                    .filter_map(|member| self.entries.get(member.node)?.verdict.minimum.get());
                minima.min()
            }
        }
    }

    /// A panic under the lock leaves numbers that the next tick puts right.
    pub(super) fn register(&self) -> MutexGuard<'_, Register> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A judge for one step of a plan. It reads the minimum once.
    #[inline]
    pub(super) fn judge(&self, now: Timestamp, turn: Turn, first: bool) -> Judge<'_> {
        let limit = match self.mode {
            Mode::Reference => reference::limit(self),
            Mode::Guarded => None,
        };
        Judge {
            board: self,
            now,
            limit,
            may_probe: first,
            rehearsal: turn == Turn::Rehearsal,
        }
    }

    /// An event that is to be told.
    pub(super) fn event(
        &self,
        now: Timestamp,
        node: NodeIndex,
        change: Change,
        average_nanos: i64,
    ) -> Event {
        let minimum_nanos = match self.mode {
            Mode::Reference => self.minimum.get(),
            Mode::Guarded => self
                .entries
                .get(node)
                .and_then(|entry| entry.verdict.minimum.get()),
        };
        Event {
            at: now,
            node,
            change,
            average_nanos,
            minimum_nanos,
        }
    }
}

/// Judges the nodes that one step of a plan comes to.
pub(super) struct Judge<'a> {
    pub(super) board: &'a Scoreboard,
    pub(super) now: Timestamp,
    /// In reference mode, the limit, if there is a minimum.
    pub(super) limit: Option<i64>,
    pub(super) may_probe: bool,
    pub(super) rehearsal: bool,
}

impl Judge<'_> {
    /// The candidate with the standing that it has here.
    #[inline]
    pub(super) fn judged(&self, call: &Call<'_>, mut candidate: Candidate) -> Candidate {
        if let Some(entry) = self.board.entries.get(candidate.node) {
            candidate.standing = match self.board.mode {
                Mode::Reference => reference::standing(self, entry),
                Mode::Guarded => guarded::standing(self, entry, call, candidate.node),
            };
        }
        candidate
    }
}

/// Nanoseconds, 0 or more, or none.
#[derive(Debug)]
pub(super) struct OptionalNanos(AtomicI64);

impl Default for OptionalNanos {
    fn default() -> Self {
        Self(AtomicI64::new(-1))
    }
}

impl OptionalNanos {
    #[inline]
    pub(super) fn get(&self) -> Option<i64> {
        let nanos = self.0.load(Ordering::Relaxed);
        (nanos >= 0).then_some(nanos)
    }

    pub(super) fn set(&self, nanos: Option<i64>) {
        self.0.store(nanos.unwrap_or(-1), Ordering::Relaxed);
    }
}
