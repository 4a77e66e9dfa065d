//! Which faults come when. Each has an end, and at the end of the run all of them have ended.

use std::time::Duration;

use super::{Addressing, Fault, HostTrouble, Plan, WayTrouble};
use crate::chance::Chance;
use crate::network::{Direction, Pace, Temper};

/// From one fault to the next.
const PAUSE_MS: (u64, u64) = (10, 700);

/// How long a fault lasts: most are short, some outlast every time-out.
const SHORT_MS: (u64, u64) = (1, 150);
const LONG_MS: (u64, u64) = (150, 2_500);

/// The faults of a plan, in the order of their time.
pub(super) fn draw(plan: &Plan, chance: &mut Chance) -> Vec<(Duration, Fault)> {
    let mut faults = Vec::new();
    // Some runs are calm: there nothing may fail at all but by its time-out.
    if chance.one_in(12) {
        return faults;
    }
    let mut at = Duration::ZERO;
    loop {
        at += chance.millis(PAUSE_MS.0..=PAUSE_MS.1);
        if at >= plan.length {
            break;
        }
        let (shortest, longest) = if chance.one_in(2) { SHORT_MS } else { LONG_MS };
        let until = (at + chance.millis(shortest..=longest)).min(plan.length);
        let (begin, end) = one(plan, chance);
        faults.push((at, begin));
        faults.extend(end.map(|end| (until, end)));
    }
    // What comes at the same time stays in the order in which it was drawn.
    faults.sort_by_key(|(at, _)| *at);
    faults
}

/// A fault and its end, if it does not end by itself.
fn one(plan: &Plan, chance: &mut Chance) -> (Fault, Option<Fault>) {
    let host = chance.size(0..=plan.hosts - 1);
    let of_host = |trouble| Fault::Host { host, trouble };
    let by_name = plan.addressing != Addressing::Addresses;
    match chance.number(0..=17) {
        0..=7 => {
            let (begin, end) = trouble(chance);
            (of_host(begin), end.map(of_host))
        }
        8 => {
            let by = chance.millis(1..=3_000);
            (Fault::Leap { by }, None)
        }
        9 | 10 if by_name && chance.one_in(2) => {
            let rename = Fault::Rename {
                member: chance.size(0..=plan.members - 1),
                host,
                vacant: chance.size(0..=2),
            };
            (rename, None)
        }
        9 | 10 if plan.discovers => {
            let hosts = some_hosts(plan, chance);
            (Fault::Members { hosts }, None)
        }
        11 if by_name || plan.discovers => {
            let of_temper = |temper| {
                if by_name {
                    Fault::Names { temper }
                } else {
                    Fault::Source { temper }
                }
            };
            let temper = *chance.pick(&[Temper::Failing, Temper::Silent, Temper::Empty]);
            (of_temper(temper), Some(of_temper(Temper::Well)))
        }
        _ => way(plan, chance, host),
    }
}

/// Something that goes wrong on the network.
fn way(plan: &Plan, chance: &mut Chance, host: usize) -> (Fault, Option<Fault>) {
    let anyone = chance.size(0..=plan.clients.len() - 1);
    let client = chance.one_in(2).then_some(anyone);
    let direction = *chance.pick(&Direction::BOTH);
    let of_way = |trouble| Fault::Way {
        client,
        host,
        trouble,
    };
    match chance.number(0..=5) {
        0 | 1 => {
            let resets = chance.one_in(3);
            let mend = of_way(WayTrouble::Mend { resets });
            (of_way(WayTrouble::Cut(direction)), Some(mend))
        }
        2..=4 => {
            let pace = of_way(WayTrouble::Pace(direction, pace(chance)));
            let swift = of_way(WayTrouble::Pace(direction, Pace::SWIFT));
            (pace, Some(swift))
        }
        _ => (of_way(WayTrouble::Reset), None),
    }
}

/// Something that happens to a host.
fn trouble(chance: &mut Chance) -> (HostTrouble, Option<HostTrouble>) {
    let times = u32::try_from(chance.number(1..=5)).unwrap_or(1);
    match chance.number(0..=8) {
        0 | 1 => (HostTrouble::Kill, Some(HostTrouble::Start)),
        2 | 3 => (HostTrouble::PowerOff, Some(HostTrouble::PowerOn)),
        4 => (HostTrouble::Freeze(true), Some(HostTrouble::Freeze(false))),
        5 => (HostTrouble::Stall(true), Some(HostTrouble::Stall(false))),
        6 => (HostTrouble::ErrorLines { times }, None),
        7 => {
            let after = chance.size(0..=300);
            let resets = chance.one_in(2);
            let cut = HostTrouble::CutReplies {
                times,
                after,
                resets,
            };
            (cut, None)
        }
        _ => {
            let seconds = i64::try_from(chance.number(0..=200)).unwrap_or(0) - 100;
            (HostTrouble::SetClock { seconds }, None)
        }
    }
}

fn pace(chance: &mut Chance) -> Pace {
    let least = chance.number(0..=20);
    Pace {
        delay: (least, least + chance.number(0..=200)),
        lost_one_in: *chance.pick(&[0, 0, 3, 20]),
        bytes_per_ms: *chance.pick(&[0, 0, 1, 20]),
        window: *chance.pick(&[64 * 1024, 4 * 1024, 100, 1]),
    }
}

/// At least one host, none twice.
fn some_hosts(plan: &Plan, chance: &mut Chance) -> Vec<usize> {
    let sure = chance.size(0..=plan.hosts - 1);
    let hosts = (0..plan.hosts).filter(|host| *host == sure || chance.one_in(2));
    hosts.collect()
}
