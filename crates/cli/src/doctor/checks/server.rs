//! What a node says of itself: version, access, memory, connections, clock.

use steersman_memcached_protocol::ServerVersion;

use super::super::examination::Answered;
use super::super::finding::{Finding, Severity};
use super::super::stats::Stats;
use crate::access::{Given, Way};
use crate::words::{grouped, percent};

/// What is there from which version on.
const FEATURES: [(ServerVersion, &str); 5] = [
    (META, "the meta commands"),
    (ServerVersion::new(1, 6, 10), "binary keys"),
    (
        ServerVersion::new(1, 6, 27),
        "cas numbers drawn by the client",
    ),
    (HANGS_NOT, "TLS that takes any amount of writes at a time"),
    (
        ServerVersion::new(1, 6, 40),
        "values left out if the client has them",
    ),
];
const META: ServerVersion = ServerVersion::new(1, 6, 0);
const HANGS_NOT: ServerVersion = ServerVersion::new(1, 6, 39);

/// A clock that is further off than this makes values expire at another time than meant.
const MAX_SKEW: u64 = 2;

/// What to do about connections that run out.
pub(super) const RAISE: &str = "raise its limit (-c), or let clients have fewer connections";

/// What a server of this version has not.
pub(in super::super) fn lacks(version: &str) -> Vec<&'static str> {
    let Some(version) = ServerVersion::parse(version) else {
        return Vec::new();
    };
    let features = FEATURES.iter().filter(|(since, _)| version < *since);
    features.map(|(_, feature)| *feature).collect()
}

pub(super) fn check(name: &str, node: &Answered, given: Given, findings: &mut Vec<Finding>) {
    let mut found = |severity, what: String, advice: &str| {
        findings.push(Finding::new(severity, name, what, advice));
    };
    version(&node.version, given.tls.is_some(), &mut found);
    who_may(&node.settings, given, &mut found);
    memory(&node.stats, &mut found);
    connections(&node.stats, &node.settings, &mut found);
    if let Some(skew) = node.skew.filter(|skew| skew.unsigned_abs() > MAX_SKEW) {
        let (way, when) = match skew {
            ..0 => ("behind", "late"),
            _ => ("ahead of", "early"),
        };
        let seconds = grouped(skew.unsigned_abs());
        found(
            Severity::Warning,
            format!(
                "its clock is {seconds} s {way} ours: values that are to expire at a date, or in more than \
                 30 days, do so {when}"
            ),
            "set the clocks of its host and of this one (NTP), then restart memcached, which looks at the \
             clock only when it starts",
        );
    }
}

type Found<'a> = dyn FnMut(Severity, String, &str) + 'a;

fn version(text: &str, over_tls: bool, found: &mut Found<'_>) {
    let update = "update memcached";
    let Some(version) = ServerVersion::parse(text) else {
        let what = format!("its version is {text:?}: what it can do is not known");
        return found(
            Severity::Note,
            what,
            "see that it is a memcached, not a proxy",
        );
    };
    if version < META {
        let what = format!("it is {text}, which has no meta commands");
        return found(Severity::Warning, what, update);
    }
    if over_tls && version < HANGS_NOT {
        let what = format!(
            "it is {text}, which hangs when it is sent more than 16 KiB at a time over TLS: this client \
             does not, others may"
        );
        found(Severity::Warning, what, "update memcached to 1.6.39");
    }
    let lacks = lacks(text);
    if !lacks.is_empty() {
        let what = format!("it is {text}, which lacks {}", lacks.join(", "));
        found(Severity::Note, what, update);
    }
}

fn who_may(settings: &Stats, given: Given, found: &mut Found<'_>) {
    if let Some(user) = given.user {
        if settings.text("auth_enabled_ascii") == Some("no") {
            let user = user.option("--user", "user");
            found(
                Severity::Warning,
                "it takes any credentials, as it asks for none: everybody may use it".to_owned(),
                &format!("start it with an authentication file (-Y), or leave {user} off"),
            );
        }
        if given.tls.is_none() {
            let tls = user.option("--tls", "tls");
            found(
                Severity::Note,
                "the password goes to it unencrypted".to_owned(),
                &format!("start it with -Z and give {tls}, unless the network is yours alone"),
            );
        }
    }
    if given.unverified {
        let tls = given.tls.unwrap_or(Way::Arguments);
        let (roots, insecure) = (
            tls.option("--ca", "tls_roots"),
            tls.option("--insecure", "tls_verify"),
        );
        found(
            Severity::Warning,
            "its certificate is not verified: it may be anybody's".to_owned(),
            &format!("give {roots} instead of {insecure}"),
        );
    }
}

fn memory(stats: &Stats, found: &mut Found<'_>) {
    let number = |name| stats.number(name).unwrap_or(0);
    let (evictions, stored) = (number("evictions"), number("total_items"));
    if evictions > 0 {
        let what = format!(
            "it had to forget {} values that were still valid, {} of them never read, of {} stored",
            grouped(evictions),
            grouped(number("evicted_unfetched")),
            grouped(stored)
        );
        // A cache may well forget a little; here it forgets one in twenty.
        let severity = if evictions.saturating_mul(20) >= stored {
            Severity::Warning
        } else {
            Severity::Note
        };
        let advice = "give it more memory (-m), add nodes, or let values live shorter";
        found(severity, what, advice);
    }
    let refused = number("store_no_memory");
    if refused > 0 {
        found(
            Severity::Warning,
            format!("it refused {} values for want of memory", grouped(refused)),
            "give it more memory (-m), and let it evict (no -M)",
        );
    }
    let large = number("store_too_large");
    if large > 0 {
        found(
            Severity::Note,
            format!("it refused {} values that were too large", grouped(large)),
            "store less, or raise its largest item (-I)",
        );
    }
}

fn connections(stats: &Stats, settings: &Stats, found: &mut Found<'_>) {
    let limit = stats
        .number("max_connections")
        .or_else(|| settings.number("maxconns"));
    // Some are for the server's own files.
    let reserved = stats.number("reserved_fds").unwrap_or(0);
    if let (Some(now), Some(limit)) = (stats.number("curr_connections"), limit)
        && now.saturating_mul(10) >= limit.saturating_sub(reserved).saturating_mul(8)
    {
        let what = format!(
            "{} of {} connections are taken, {} of which clients cannot have",
            grouped(now),
            grouped(limit),
            grouped(reserved)
        );
        found(Severity::Warning, what, RAISE);
    }
    let number = |name| stats.number(name).unwrap_or(0);
    let refused = number("rejected_connections").max(number("listen_disabled_num"));
    if refused > 0 {
        let what = format!(
            "since it started, it has had no place for a connection {} times",
            grouped(refused)
        );
        found(Severity::Warning, what, RAISE);
    }
}

/// A part of a whole in percent, for memory.
pub(in super::super) fn share(part: u64, whole: u64) -> String {
    let narrow = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    percent(narrow(part), narrow(whole.max(1)))
}

#[cfg(test)]
mod tests;
