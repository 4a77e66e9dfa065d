//! The board: what is known of each node, shared by all threads.
//!
//! Plans read; whoever sends and records changes the node's own entry, without a lock. Changes of the
//! topology, ticks and reports go one at a time under a lock that the others never take.

use std::sync::PoisonError;

use super::phase::{AtomicPhase, Phase, Spans};
use super::ranking::{Cost, sealed::Ranking};
use crate::policy::dice::{self, Dice};
use crate::policy::{Attempt, Call, Candidate, Outcome, Standing};
use crate::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::table::Table;
use crate::{NodeIndex, Timestamp, Topology};

/// A novice gets one in so many of its requests.
const NOVICE_LOTS: u64 = 4;

/// A node whose neighbours have not been there for so long has not come in among them, but with them.
const SETTLED_NANOS: i64 = 1_000_000_000;

pub(super) struct Board<R: Ranking> {
    pub(super) ranking: R,
    pub(super) choices: usize,
    pub(super) spans: Spans,
    pub(super) dice: Dice,
    pub(super) entries: Table<Entry<R::Record>>,
    register: Mutex<Vec<Member>>,
}

/// What threads share of one node.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Entry<T> {
    pub(super) phase: AtomicPhase,
    in_flight: AtomicU32,
    /// When the node came in, if another one had its number before: what began earlier is of that one.
    joined: AtomicI64,
    is_second: AtomicBool,
    pub(super) record: T,
}

/// A node of the topology.
#[derive(Debug, Clone, Copy)]
struct Member {
    node: NodeIndex,
    incarnation: u32,
    joined: Timestamp,
}

/// By what and for what a board is asked about nodes.
pub(super) struct Asked<'a> {
    pub(super) call: &'a Call<'a>,
    pub(super) now: Timestamp,
    /// The random number of the request.
    pub(super) random: u64,
    /// Whether it is for the first attempt.
    pub(super) is_first: bool,
    /// Whether it is for none.
    pub(super) is_rehearsal: bool,
}

impl<T> Entry<T> {
    /// What was sent there and has not ended.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Whether that is the time of another node that had the number.
    #[inline]
    fn is_before(&self, time: Timestamp) -> bool {
        self.is_second.load(Ordering::Relaxed)
            && time.nanos_since(Timestamp::from_nanos(self.joined.load(Ordering::Relaxed))) < 0
    }

    fn join(&self, is_second: bool, now: Timestamp) {
        self.joined.store(now.nanos(), Ordering::Relaxed);
        self.is_second.store(is_second, Ordering::Relaxed);
        self.in_flight.store(0, Ordering::Relaxed);
    }

    /// Ends one, and returns how many there were.
    #[inline]
    fn end(&self) -> u32 {
        let ended = self
            .in_flight
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                count.checked_sub(1)
            });
        ended.unwrap_or_else(|none| none)
    }
}

impl<R: Ranking> Board<R> {
    pub(super) fn new(ranking: R, choices: usize, spans: Spans, seed: u64) -> Self {
        Self {
            ranking,
            choices,
            spans,
            dice: Dice::new(seed),
            entries: Table::new(),
            register: Mutex::default(),
        }
    }

    #[inline]
    pub(super) fn begin(&self, node: NodeIndex, now: Timestamp) {
        if let Some(entry) = self.entries.get(node) {
            let in_flight = entry.in_flight.fetch_add(1, Ordering::Relaxed);
            self.ranking.begun(&entry.record, in_flight, now);
        }
    }

    #[inline]
    pub(super) fn record(&self, attempt: &Attempt) {
        let Some(entry) = self.entries.get(attempt.node()) else {
            return;
        };
        let (begun, now) = (attempt.started_at(), attempt.ended_at());
        if entry.is_before(begun) {
            return;
        }
        let latency = attempt.latency_nanos();
        if attempt.is_probe() {
            if attempt.outcome() == Outcome::Success {
                self.ranking
                    .probed(&entry.record, latency, entry.in_flight(), now);
            }
            return;
        }
        let in_flight = if attempt.is_counted() {
            entry.end()
        } else {
            entry.in_flight()
        };
        match attempt.outcome() {
            Outcome::Success => {
                self.ranking
                    .answered(&entry.record, latency, in_flight, now);
                if !entry.phase.is_normal() {
                    entry
                        .phase
                        .update(|phase| phase.answered(begun, now, self.spans));
                }
            }
            Outcome::Failed | Outcome::TimedOut | Outcome::Disconnected | Outcome::Refused => {
                self.ranking.failed(&entry.record, latency, in_flight, now);
                entry
                    .phase
                    .update(|phase| phase.failed(begun, now, self.spans));
            }
            Outcome::Rejected | Outcome::Busy | Outcome::Cancelled => {
                if attempt.outcome() == Outcome::Cancelled {
                    self.ranking
                        .given_up(&entry.record, latency, in_flight, now);
                }
                if !entry.phase.is_normal() {
                    entry.phase.update(|phase| phase.untold(begun, now));
                }
            }
        }
    }

    /// What a request to that node would cost.
    #[inline]
    pub(super) fn cost(&self, node: NodeIndex, now: Timestamp) -> Cost {
        match self.entries.get(node) {
            Some(entry) => {
                let (record, burden) = (&entry.record, self.burden(entry, now));
                self.ranking
                    .burdened_cost(record, entry.in_flight(), burden, now)
            }
            None => Cost::UNTRIED,
        }
    }

    /// What is in flight there, and what failures stand for besides.
    pub(super) fn load(&self, entry: &Entry<R::Record>, now: Timestamp) -> u32 {
        entry.in_flight().saturating_add(self.burden(entry, now))
    }

    #[inline]
    fn burden(&self, entry: &Entry<R::Record>, now: Timestamp) -> u32 {
        if entry.phase.is_normal() {
            return 0;
        }
        entry.phase.load().burden(now, self.spans)
    }

    pub(super) fn is_slow(&self, node: NodeIndex, now: Timestamp) -> bool {
        self.entries
            .get(node)
            .is_some_and(|entry| self.ranking.is_slow(&entry.record, entry.in_flight(), now))
    }

    /// The candidate as its own records make it stand; one that its child holds back stays so.
    #[inline]
    pub(super) fn judged(&self, asked: &Asked<'_>, mut candidate: Candidate) -> Candidate {
        let Some(entry) = self.entries.get(candidate.node) else {
            return candidate;
        };
        if entry.phase.is_normal() || candidate.standing != Standing::Normal {
            return candidate;
        }
        candidate.standing = self.standing(entry, asked, candidate.node);
        candidate
    }

    #[cold]
    fn standing(&self, entry: &Entry<R::Record>, asked: &Asked<'_>, node: NodeIndex) -> Standing {
        let now = asked.now;
        let phase = entry.phase.load();
        let (holds, due) = match phase {
            Phase::Absent | Phase::Normal | Phase::Failing { .. } => return Standing::Normal,
            Phase::Joining { since } => {
                let is_novice = asked.call.candidates() > 2;
                return self.share(asked, node, since, is_novice);
            }
            Phase::Ramping { since, .. } => return self.share(asked, node, since, false),
            Phase::Held { holds, due } => (holds, now.nanos_since(due) >= 0),
            // A probe without an answer for so long is lost.
            Phase::Probing { holds, since } => (holds, now.nanos_since(since) >= self.spans.retry),
        };
        let may_probe = due && asked.is_first && asked.call.may_hold_key(node);
        if may_probe
            && entry
                .phase
                .change(phase, Phase::Probing { holds, since: now })
        {
            Standing::Probe
        } else {
            Standing::Penalised
        }
    }

    /// Whether this request is in the share of a node whose share began to rise at `since`.
    fn share(
        &self,
        asked: &Asked<'_>,
        node: NodeIndex,
        since: Timestamp,
        novice: bool,
    ) -> Standing {
        let elapsed = asked.now.nanos_since(since);
        let is_novice = novice && elapsed < R::NOVICE_NANOS;
        let is_rising = elapsed < self.spans.ramp;
        if !is_novice && !is_rising {
            return Standing::Normal;
        }
        if asked.is_rehearsal {
            return Standing::Ramping;
        }
        // Each node has a lot of its own, whatever lots the others have.
        let lot = dice::reroll(asked.random ^ node.get() as u64);
        let mut is_in = true;
        if is_rising {
            let ramp = self.spans.ramp.unsigned_abs();
            is_in = elapsed > 0 && dice::below(lot, ramp) < elapsed.unsigned_abs();
        }
        if is_novice {
            is_in &= dice::below(dice::reroll(lot), NOVICE_LOTS) == 0;
        }
        if is_in {
            Standing::Ramping
        } else {
            Standing::Waiting
        }
    }

    /// Which node should be probed, if the `nth` of a call may be.
    pub(super) fn probe(&self, call: &Call<'_>, nth: usize, now: Timestamp) -> Option<NodeIndex> {
        if nth >= self.ranking.probes() {
            return None;
        }
        let nodes = match call.known_replicas() {
            [] => call.topology().nodes(),
            replicas => replicas,
        };
        let begin = dice::below(self.dice.roll(), nodes.len() as u64);
        let (before, behind) = nodes.split_at(usize::try_from(begin).ok()?);
        behind.iter().chain(before).copied().find(|&node| {
            self.entries.get(node).is_some_and(|entry| {
                entry.phase.load() != Phase::Absent && self.ranking.wants_probe(&entry.record, now)
            })
        })
    }

    pub(super) fn tick(&self) {
        if R::TICKS {
            let register = self.register();
            let entries = register
                .iter()
                .filter_map(|member| self.entries.get(member.node));
            self.ranking.tick(entries.map(|entry| &entry.record));
        }
    }

    pub(super) fn topology_changed(&self, topology: &Topology, now: Timestamp) {
        let mut register = self.register();
        register.retain(|member| {
            let stays = topology.contains(member.node)
                && topology.incarnation(member.node) == member.incarnation;
            if !stays {
                let entry = self.entries.get_or_make(member.node);
                entry.phase.store(Phase::Absent);
            }
            stays
        });
        let mut settled = vec![false; topology.datacenters().len()];
        for member in register.iter() {
            let is_settled = now.nanos_since(member.joined) >= SETTLED_NANOS;
            if let Some(datacenter) = topology.datacenter_of(member.node) {
                settled[datacenter] |= is_settled;
            }
        }
        for &node in topology.nodes() {
            let entry = self.entries.get_or_make(node);
            if entry.phase.load() != Phase::Absent {
                continue;
            }
            entry.join(topology.incarnation(node) > 1, now);
            self.ranking.clear(&entry.record);
            let datacenter = topology.datacenter_of(node);
            let joins = datacenter.is_some_and(|datacenter| settled[datacenter]);
            entry.phase.store(if joins {
                Phase::Joining { since: now }
            } else {
                Phase::Normal
            });
            register.push(Member {
                node,
                incarnation: topology.incarnation(node),
                joined: now,
            });
        }
    }

    /// The nodes of the topology, by their index.
    pub(super) fn members(&self) -> Vec<NodeIndex> {
        let mut nodes: Vec<_> = self.register().iter().map(|member| member.node).collect();
        nodes.sort_unstable();
        nodes
    }

    /// A panic under the lock leaves a list that the next change of the topology puts right.
    fn register(&self) -> MutexGuard<'_, Vec<Member>> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
