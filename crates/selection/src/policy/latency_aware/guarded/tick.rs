//! The tick: minima and limits of the datacenters, and who is penalised.
//!
//! Only so many nodes of a datacenter may be penalised at once, and only ticks give these places
//! away. A node keeps its place until its ramp is over, as others bear its load until then. So a
//! ramp that fails always finds a place, and recorders need not know how many there are.

use crate::latency::{Score, times};
use crate::policy::latency_aware::event::{Change, Event};
use crate::policy::latency_aware::phase::{PROBES, Phase, Series};
use crate::policy::latency_aware::scoreboard::{Member, Register, Scoreboard};
use crate::{NodeIndex, Timestamp};

/// An average falls if it has lost more than this part, an eighth, since the tick before. With the
/// default scale, one that returns to half its value or less loses more than that.
const FALLING: i64 = 8;

/// A node is silent if it was not heard of for longer than the retry period by this part, a tenth.
const SLACK: i64 = 10;

/// A node that this tick may penalise, or let off.
struct Suspect {
    node: NodeIndex,
    average: i64,
}

/// What a tick finds in one datacenter.
#[derive(Default)]
struct Findings {
    nodes: usize,
    minimum: Option<i64>,
    limit: Option<i64>,
    /// Penalised, without a good answer since.
    penalised: Vec<Suspect>,
    /// Penalised, but with good answers to probes, or on the ramp: not yet known to be fast.
    on_trial: Vec<Suspect>,
    /// In the normal phase, and slow at enough ticks.
    confirmed: Vec<Suspect>,
}

pub(in crate::policy::latency_aware) fn tick(
    board: &Scoreboard,
    register: &mut Register,
    now: Timestamp,
) -> Vec<Event> {
    let mut findings: Vec<Findings> = Vec::new();
    findings.resize_with(register.datacenters, Findings::default);
    for member in &register.members {
        let Some(found) = findings.get_mut(member.datacenter) else {
            continue;
        };
        found.nodes += 1;
        let average = board
            .score(member.node)
            .filter(|score| board.is_measured(score, now) && score.average_nanos >= 0)
            .map(|score| score.average_nanos);
        found.minimum = match (found.minimum, average) {
            (Some(minimum), Some(average)) => Some(minimum.min(average)),
            (minimum, average) => minimum.or(average),
        };
    }
    for found in &mut findings {
        found.limit = found.minimum.map(|minimum| limit(board, minimum));
    }

    let mut events = Vec::new();
    for member in &mut register.members {
        if let Some(found) = findings.get_mut(member.datacenter) {
            events.extend(visit(board, member, found, now));
        }
    }
    for found in &mut findings {
        assign_places(board, found, now, &mut events);
    }
    events
}

/// The average up to which a node is not penalised.
fn limit(board: &Scoreboard, minimum: i64) -> i64 {
    let relative = times(board.parameters.threshold(), minimum);
    relative.max(minimum.saturating_add(board.parameters.difference_nanos()))
}

/// Brings one node up to date, and puts it down for penalising if it is confirmed to be slow.
fn visit(
    board: &Scoreboard,
    member: &mut Member,
    found: &mut Findings,
    now: Timestamp,
) -> Option<Event> {
    let entry = board.entries.get(member.node)?;
    let verdict = &entry.verdict;
    verdict.minimum.set(found.minimum);
    verdict.limit.set(found.limit);
    let score = entry.score.load()?;
    let heard = score.samples.saturating_sub(member.samples);
    member.samples = score.samples;
    // A node that made a pause is over the limit for some ticks after it, but its average falls.
    let before = std::mem::replace(&mut member.average_nanos, score.average_nanos);
    let falling = score.average_nanos < before - before / FALLING;
    let over = board.is_measured(&score, now)
        && found.limit.is_some_and(|limit| score.average_nanos > limit);

    let phase = verdict.phase.load();
    let is_penalised = matches!(phase, Phase::Penalised { .. } | Phase::Probing { .. });
    let was_penalised = std::mem::replace(&mut member.excluded, is_penalised);
    let is_judged = matches!(phase, Phase::Normal | Phase::Ramping { .. });
    if !is_judged || !over {
        member.streak = 0;
    } else if heard > 0 && !falling {
        member.streak = member.streak.saturating_add(1);
    }
    let suspect = Suspect {
        node: member.node,
        average: score.average_nanos,
    };
    let event = |change| board.event(now, member.node, change, score.average_nanos);
    match phase {
        Phase::Normal => {
            member.silent = false;
            if member.streak >= board.parameters.ticks_to_confirm() {
                found.confirmed.push(suspect);
            }
            None
        }
        Phase::Joining { since } => {
            if now.nanos_since(since) >= board.ramp_nanos {
                verdict.phase.change(phase, Phase::Normal);
            }
            None
        }
        Phase::Ramping { since } => {
            let penalised = Phase::penalised_for(board.first_probe_nanos, Series::FIRST, now);
            if member.streak > 0 && verdict.phase.change(phase, penalised) {
                found.penalised.push(suspect);
                return Some(event(Change::Penalised));
            }
            let over_now = now.nanos_since(since) >= board.ramp_nanos
                && verdict.phase.change(phase, Phase::Normal);
            if !over_now {
                found.on_trial.push(suspect);
            }
            over_now.then(|| event(Change::Back))
        }
        Phase::Untracked => None,
        Phase::Penalised { series, .. } | Phase::Probing { series, .. } => {
            let unprobed = matches!(phase, Phase::Penalised { .. }) && !series.has_answers();
            // What was heard before it was penalised tells nothing of it now.
            let came_back =
                unprobed && was_penalised && has_come_back(board, &score, found, heard, now);
            let ramping = Phase::Ramping { since: now };
            if came_back && verdict.phase.change(phase, ramping) {
                found.on_trial.push(suspect);
                return Some(event(Change::Recovering));
            }
            if series.good > 0 {
                found.on_trial.push(suspect);
            } else {
                found.penalised.push(suspect);
            }
            // A probe that goes when it is due takes some time to be answered.
            let patience = board.retry_nanos.saturating_add(board.retry_nanos / SLACK);
            let silent = now.nanos_since(score.updated) > patience;
            (silent && !std::mem::replace(&mut member.silent, true)).then(|| event(Change::Silent))
        }
    }
}

/// Whether a penalised node that is used all the same, for want of others, has become fast. It has
/// more answers then than a series of probes.
fn has_come_back(
    board: &Scoreboard,
    score: &Score,
    found: &Findings,
    heard: u64,
    now: Timestamp,
) -> bool {
    heard >= 2 * u64::from(PROBES)
        && board.is_measured(score, now)
        && found
            .limit
            .is_some_and(|limit| score.average_nanos <= limit)
}

/// Penalises those that are confirmed to be slow, the slowest first, as far as the share goes; lets
/// off the fastest if nodes have left and too many of the rest have a place, or if one that is
/// slower by the threshold needs it.
fn assign_places(
    board: &Scoreboard,
    found: &mut Findings,
    now: Timestamp,
    events: &mut Vec<Event>,
) {
    let allowed = most_penalised(found.nodes, board.parameters.penalised_share());
    let taken = found.on_trial.len() + found.penalised.len();
    let (room, excess) = (allowed.saturating_sub(taken), taken.saturating_sub(allowed));
    found.on_trial.sort_by_key(|suspect| suspect.average);
    found.penalised.sort_by_key(|suspect| suspect.average);
    found
        .confirmed
        .sort_by_key(|suspect| std::cmp::Reverse(suspect.average));

    for suspect in found.on_trial.iter().chain(&found.penalised).take(excess) {
        events.extend(let_off(board, suspect, now));
    }
    let (penalised, waiting) = found.confirmed.split_at(room.min(found.confirmed.len()));
    for suspect in penalised {
        events.extend(penalise(board, suspect, now));
    }
    // One that is far slower takes the place of one that is not: what came first may be noise. Who
    // is on trial is left alone: its few good answers are no reason to give it its full share.
    let kept = excess.saturating_sub(found.on_trial.len());
    for (suspect, held) in waiting.iter().zip(&found.penalised[kept..]) {
        if suspect.average > times(board.parameters.threshold(), held.average)
            && let Some(event) = let_off(board, held, now)
        {
            events.push(event);
            events.extend(penalise(board, suspect, now));
        }
    }
}

/// Penalises a node that is in the normal phase.
fn penalise(board: &Scoreboard, suspect: &Suspect, now: Timestamp) -> Option<Event> {
    let phase = &board.entries.get(suspect.node)?.verdict.phase;
    let penalised = Phase::penalised_for(board.first_probe_nanos, Series::FIRST, now);
    phase
        .change(Phase::Normal, penalised)
        .then(|| board.event(now, suspect.node, Change::Penalised, suspect.average))
}

/// Takes a node's place and gives it its full share; `None` if an answer just changed its phase. It
/// is let off for want of places, not for being fast: a ramp would fail at its first answers.
fn let_off(board: &Scoreboard, suspect: &Suspect, now: Timestamp) -> Option<Event> {
    let phase = &board.entries.get(suspect.node)?.verdict.phase;
    phase
        .change(phase.load(), Phase::Normal)
        .then(|| board.event(now, suspect.node, Change::Back, suspect.average))
}

/// How many of so many nodes may be penalised at once.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "there are at most 65,535 nodes, and a share is from 0 to 1"
)]
fn most_penalised(nodes: usize, share: f64) -> usize {
    let most = (nodes as f64 * share) as usize;
    most.max(usize::from(nodes >= 2))
}
