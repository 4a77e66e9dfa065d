//! `stats settings`: what the server was started with; for what has no counterpart here,
//! memcached's defaults.

use crate::gate::Endpoint;
use crate::machine::Machine;
use crate::server::Shared;

use super::Report;

pub(super) fn report(machine: &Machine, shared: &Shared, mut report: Report<'_>) {
    let (port, interface, socket) = match shared.host.gate.endpoint() {
        Endpoint::Tcp(addr) => (addr.port(), addr.ip().to_string(), "NULL".to_owned()),
        Endpoint::Unix(path) => (0, "NULL".to_owned(), path.display().to_string()),
        Endpoint::Given => (0, "NULL".to_owned(), "NULL".to_owned()),
    };
    let detail = if machine.prefix_stats { "yes" } else { "no" };
    report.stat("maxbytes", machine.store.memory_limit());
    report.stat("maxconns", shared.settings.max_connections);
    report.stat("tcpport", port);
    report.stat("udpport", "0");
    report.stat("inter", interface);
    report.stat("verbosity", machine.verbosity);
    report.stat("oldest", 0);
    report.stat("evictions", "on");
    report.stat("domain_socket", socket);
    for (name, value) in [
        ("umask", "700"),
        ("shutdown_command", "no"),
        ("growth_factor", "1.25"),
        ("chunk_size", "48"),
    ] {
        report.stat(name, value);
    }
    report.stat("num_threads", 1);
    report.stat("num_threads_per_udp", "4");
    report.stat("stat_key_prefix", ":");
    report.stat("detail_enabled", detail);
    for (name, value) in [
        ("reqs_per_event", "20"),
        ("cas_enabled", "yes"),
        ("tcp_backlog", "1024"),
        ("binding_protocol", "ascii"),
        ("auth_enabled_sasl", "no"),
        ("auth_enabled_ascii", "no"),
    ] {
        report.stat(name, value);
    }
    report.stat("item_size_max", shared.settings.item_size_max);
    for (name, value) in [
        ("maxconns_fast", "yes"),
        ("hashpower_init", "0"),
        ("slab_reassign", "yes"),
        ("slab_automove", "1"),
        ("slab_automove_ratio", "0.80"),
        ("slab_automove_window", "30"),
        ("slab_chunk_max", "524288"),
        ("lru_crawler", "yes"),
        ("lru_crawler_sleep", "100"),
        ("lru_crawler_tocrawl", "0"),
        ("tail_repair_time", "0"),
        ("flush_enabled", "yes"),
        ("dump_enabled", "yes"),
        ("hash_algorithm", "murmur3"),
        ("lru_maintainer_thread", "yes"),
        ("lru_segmented", "yes"),
        ("hot_lru_pct", "20"),
        ("warm_lru_pct", "40"),
        ("hot_max_factor", "0.20"),
        ("warm_max_factor", "2.00"),
        ("temp_lru", "no"),
        ("temporary_ttl", "61"),
        ("idle_timeout", "0"),
        ("watcher_logbuf_size", "262144"),
        ("worker_logbuf_size", "65536"),
        ("read_buf_mem_limit", "0"),
        ("track_sizes", "no"),
        ("inline_ascii_response", "no"),
        ("ext_item_size", "512"),
        ("ext_item_age", "4294967295"),
        ("ext_low_ttl", "0"),
        ("ext_recache_rate", "2000"),
        ("ext_wbuf_size", "4194304"),
        ("ext_compact_under", "0"),
        ("ext_drop_under", "0"),
        ("ext_max_sleep", "1000000"),
        ("ext_max_frag", "0.80"),
        ("slab_automove_freeratio", "0.010"),
        ("ext_drop_unread", "no"),
        ("ssl_enabled", "no"),
        ("ssl_chain_cert", "(null)"),
        ("ssl_key", "(null)"),
        ("ssl_verify_mode", "0"),
        ("ssl_keyformat", "1"),
        ("ssl_ciphers", "NULL"),
        ("ssl_ca_cert", "NULL"),
        ("ssl_wbuf_size", "16384"),
        ("ssl_session_cache", "no"),
        ("ssl_kernel_tls", "no"),
        ("ssl_min_version", "tlsv1.2"),
        ("num_napi_ids", "(null)"),
        ("memory_file", "(null)"),
    ] {
        report.stat(name, value);
    }
    report.end();
}
