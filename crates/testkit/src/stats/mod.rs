//! The `stats` command: memcached's reports, under memcached's names.

mod general;
mod settings;

use std::fmt::{Display, Write};

use bytes::{Bytes, BytesMut};
use steersman_memcached_protocol::server::{Rejection, Reply, parse_u32};

use crate::counters::ClassCounter;
use crate::item::Seconds;
use crate::machine::Machine;
use crate::server::Shared;
use crate::slab::{CLASS_LIMIT, Class, PAGE};

/// A report under construction.
struct Report<'a> {
    out: &'a mut BytesMut,
    value: String,
}

impl<'a> Report<'a> {
    fn new(out: &'a mut BytesMut) -> Self {
        Self {
            out,
            value: String::new(),
        }
    }

    fn stat(&mut self, name: &str, value: impl Display) {
        self.value.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.value, "{value}");
        Reply::Stat {
            name,
            value: &self.value,
        }
        .encode(self.out);
    }

    fn zeros(&mut self, names: &[&str]) {
        for name in names {
            self.stat(name, 0);
        }
    }

    fn end(self) {
        Reply::End.encode(self.out);
    }
}

/// Answers `stats` with these arguments.
pub(crate) fn report(
    args: &[Bytes],
    machine: &mut Machine,
    shared: &Shared,
    now: Seconds,
    out: &mut BytesMut,
) {
    let Some(what) = args.first() else {
        return general::report(machine, shared, now, Report::new(out));
    };
    match &what[..] {
        b"reset" => {
            machine.store.reset_counters();
            Reply::Reset.encode(out);
        }
        b"settings" => settings::report(machine, shared, Report::new(out)),
        b"items" => items(machine, now, Report::new(out)),
        b"slabs" => slabs(machine, Report::new(out)),
        b"sizes" => {
            let mut report = Report::new(out);
            report.stat("sizes_status", "disabled");
            report.end();
        }
        b"extstore" => Report::new(out).end(),
        b"detail" => detail(args.get(1), machine, out),
        b"cachedump" => cachedump(&args[1..], machine, out),
        _ => Reply::Rejected(Rejection::Error).encode(out),
    }
}

/// The sums over the items of each class that has any: `(class, items, bytes, oldest)`.
fn per_class(machine: &Machine) -> Vec<(Class, u64, usize, Seconds)> {
    let store = &machine.store;
    let mut sums: Vec<(Class, u64, usize, Seconds)> = store
        .classes()
        .iter()
        .map(|class| (class, 0, 0, Seconds::MAX))
        .collect();
    for item in store.items() {
        let id = store.class_of(item).id;
        if let Some((_, items, bytes, oldest)) = sums.iter_mut().find(|(class, ..)| class.id == id)
        {
            *items += 1;
            *bytes += item.size();
            *oldest = (*oldest).min(item.stored);
        }
    }
    sums
}

fn items(machine: &Machine, now: Seconds, mut report: Report<'_>) {
    for (class, items, bytes, oldest) in per_class(machine) {
        if items == 0 {
            continue;
        }
        let mut stat = |name: &str, value: u64| {
            report.stat(&format!("items:{}:{name}", class.id), value);
        };
        stat("number", items);
        stat("number_hot", 0);
        stat("number_warm", 0);
        stat("number_cold", items);
        stat("age_hot", 0);
        stat("age_warm", 0);
        stat("age", now.saturating_sub(oldest).unsigned_abs());
        stat("mem_requested", bytes as u64);
        for name in [
            "evicted",
            "evicted_nonzero",
            "evicted_time",
            "outofmemory",
            "tailrepairs",
            "reclaimed",
            "expired_unfetched",
            "evicted_unfetched",
            "evicted_active",
            "crawler_reclaimed",
            "crawler_items_checked",
            "lrutail_reflocked",
            "moves_to_cold",
            "moves_to_warm",
            "moves_within_lru",
            "direct_reclaims",
            "hits_to_hot",
            "hits_to_warm",
        ] {
            stat(name, 0);
        }
        stat(
            "hits_to_cold",
            machine
                .store
                .counters()
                .of_class(class, ClassCounter::GetHits),
        );
        stat("hits_to_temp", 0);
    }
    report.end();
}

fn slabs(machine: &Machine, mut report: Report<'_>) {
    let (mut active, mut total) = (0, 0);
    for (class, items, ..) in per_class(machine) {
        let chunks_per_page = class.chunks_per_page() as u64;
        let pages = items.div_ceil(chunks_per_page);
        if pages == 0 {
            continue;
        }
        active += 1;
        total += pages * PAGE as u64;
        let chunks = pages * chunks_per_page;
        let mut stat = |name: &str, value: u64| {
            report.stat(&format!("{}:{name}", class.id), value);
        };
        stat("chunk_size", class.chunk_size as u64);
        stat("chunks_per_page", chunks_per_page);
        stat("total_pages", pages);
        stat("total_chunks", chunks);
        stat("used_chunks", items);
        stat("free_chunks", chunks - items);
        stat("free_chunks_end", 0);
        for (counter, name) in ClassCounter::NAMED {
            stat(name, machine.store.counters().of_class(class, counter));
        }
    }
    report.stat("active_slabs", active);
    report.stat("total_malloced", total);
    report.end();
}

/// `stats detail on|off|dump`: statistics by key prefix. None are kept, so a dump is empty.
fn detail(mode: Option<&Bytes>, machine: &mut Machine, out: &mut BytesMut) {
    let reply = match mode.map(|mode| &mode[..]) {
        Some(b"on") => {
            machine.prefix_stats = true;
            Reply::Ok
        }
        Some(b"off") => {
            machine.prefix_stats = false;
            Reply::Ok
        }
        Some(b"dump") => Reply::End,
        _ => Reply::Rejected(Rejection::StatsDetailUsage),
    };
    reply.encode(out);
}

/// `stats cachedump <class> <limit>`: the items of a class, at most so many unless that is 0.
fn cachedump(args: &[Bytes], machine: &Machine, out: &mut BytesMut) {
    /// memcached's report has room for this many bytes.
    const ROOM: usize = 2 * 1024 * 1024;

    let reject = |reason, out: &mut BytesMut| Reply::Rejected(reason).encode(out);
    let [class, limit, ..] = args else {
        return reject(Rejection::BadStatsLine, out);
    };
    let (Some(class), Some(limit)) = (parse_u32(class), parse_u32(limit)) else {
        return reject(Rejection::BadFormat, out);
    };
    if class >= CLASS_LIMIT {
        return reject(Rejection::IllegalSlabId, out);
    }
    let limit = if limit == 0 {
        usize::MAX
    } else {
        limit as usize
    };
    let store = &machine.store;
    let room_ends = out.len() + ROOM;
    let mut line = BytesMut::new();
    for item in store
        .items()
        .filter(|item| store.class_of(item).id == class)
        .take(limit)
    {
        line.clear();
        line.extend_from_slice(b"ITEM ");
        line.extend_from_slice(&item.key);
        let bytes = item.value.len();
        let expires = item.expires.unwrap_or(0);
        line.extend_from_slice(format!(" [{bytes} b; {expires} s]\r\n").as_bytes());
        if out.len() + line.len() > room_ends {
            break;
        }
        out.extend_from_slice(&line);
    }
    Reply::End.encode(out);
}
