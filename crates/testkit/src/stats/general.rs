//! `stats` without arguments.

use std::sync::atomic::Ordering;

use crate::counters::ClassCounter;
use crate::item::Seconds;
use crate::machine::{Machine, VERSION};
use crate::server::Shared;

use super::Report;

pub(super) fn report(machine: &Machine, shared: &Shared, now: Seconds, mut report: Report<'_>) {
    process(machine, shared, now, &mut report);
    commands(machine, &mut report);
    report.zeros(&["auth_cmds", "auth_errors"]);
    traffic(machine, shared, &mut report);
    items(machine, &mut report);
    report.end();
}

fn process(machine: &Machine, shared: &Shared, now: Seconds, report: &mut Report<'_>) {
    let (connections, accepted) = shared.host.connections.count();
    let turned_away = shared.turned_away.load(Ordering::Relaxed);

    report.stat("pid", std::process::id());
    report.stat("uptime", now.saturating_sub(machine.started));
    report.stat("time", now);
    report.stat("version", VERSION);
    report.stat("libevent", "none");
    report.stat("pointer_size", usize::BITS);
    report.stat("rusage_user", "0.000000");
    report.stat("rusage_system", "0.000000");
    report.stat("max_connections", shared.settings.max_connections);
    report.stat("curr_connections", connections);
    report.stat("total_connections", accepted);
    report.stat("rejected_connections", turned_away);
    report.stat("connection_structures", connections);
    report.zeros(&[
        "response_obj_oom",
        "response_obj_count",
        "response_obj_bytes",
        "read_buf_count",
        "read_buf_bytes",
        "read_buf_bytes_free",
        "read_buf_oom",
        "reserved_fds",
    ]);
}

fn commands(machine: &Machine, report: &mut Report<'_>) {
    let counters = machine.store.counters();
    report.stat("cmd_get", counters.gets);
    report.stat(
        "cmd_set",
        counters.total(ClassCounter::Sets) + counters.bad_blocks,
    );
    report.stat("cmd_flush", counters.flushes);
    report.stat("cmd_touch", counters.touches);
    report.stat("cmd_meta", counters.metas);
    report.stat("get_hits", counters.total(ClassCounter::GetHits));
    report.stat("get_misses", counters.get_misses);
    report.stat("get_expired", counters.expired);
    report.stat("get_flushed", counters.flushed);
    report.stat("delete_misses", counters.delete_misses);
    report.stat("delete_hits", counters.total(ClassCounter::DeleteHits));
    report.stat("incr_misses", counters.incr_misses);
    report.stat("incr_hits", counters.total(ClassCounter::IncrHits));
    report.stat("decr_misses", counters.decr_misses);
    report.stat("decr_hits", counters.total(ClassCounter::DecrHits));
    report.stat("cas_misses", counters.cas_misses);
    report.stat("cas_hits", counters.total(ClassCounter::CasHits));
    report.stat("cas_badval", counters.total(ClassCounter::CasBadval));
    report.stat("touch_hits", counters.total(ClassCounter::TouchHits));
    report.stat("touch_misses", counters.touch_misses);
    report.stat("store_too_large", counters.too_large);
    report.stat("store_no_memory", counters.no_memory);
}

fn traffic(machine: &Machine, shared: &Shared, report: &mut Report<'_>) {
    report.stat("bytes_read", shared.bytes_read.load(Ordering::Relaxed));
    report.stat(
        "bytes_written",
        shared.bytes_written.load(Ordering::Relaxed),
    );
    report.stat("limit_maxbytes", machine.store.memory_limit());
    report.stat("accepting_conns", 1);
    report.zeros(&["listen_disabled_num", "time_in_listen_disabled_us"]);
    report.stat("threads", 1);
    report.zeros(&[
        "conn_yields",
        "hash_power_level",
        "hash_bytes",
        "hash_is_expanding",
        "slab_reassign_rescues",
        "slab_reassign_chunk_rescues",
        "slab_reassign_evictions_nomem",
        "slab_reassign_inline_reclaim",
        "slab_reassign_busy_items",
        "slab_reassign_busy_deletes",
        "slab_reassign_running",
        "slabs_moved",
        "lru_crawler_running",
        "lru_crawler_starts",
        "lru_maintainer_juggles",
        "malloc_fails",
        "log_worker_dropped",
        "log_worker_written",
        "log_watcher_skipped",
        "log_watcher_sent",
        "log_watchers",
        "unexpected_napi_ids",
        "round_robin_fallback",
    ]);
}

fn items(machine: &Machine, report: &mut Report<'_>) {
    let store = &machine.store;
    let counters = store.counters();
    report.stat("bytes", store.memory_used());
    report.stat("curr_items", store.len());
    report.stat("total_items", counters.stored);
    report.stat("slab_global_page_pool", 0);
    report.stat("expired_unfetched", counters.expired_unfetched);
    report.stat("evicted_unfetched", counters.evicted_unfetched);
    report.stat("evicted_active", 0);
    report.stat("evictions", counters.evictions);
    report.stat("reclaimed", counters.expired);
    report.zeros(&[
        "crawler_reclaimed",
        "crawler_items_checked",
        "lrutail_reflocked",
        "moves_to_cold",
        "moves_to_warm",
        "moves_within_lru",
        "direct_reclaims",
        "lru_bumps_dropped",
    ]);
}
