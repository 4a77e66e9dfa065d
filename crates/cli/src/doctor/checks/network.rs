//! Names, addresses, connections, TLS and credentials.

use steersman_memcached::{Error, ErrorKind};

use super::super::examination::Examination;
use super::super::finding::{Finding, Severity};
use super::server::RAISE;
use crate::access::{Given, Way};
use crate::context::Context;
use crate::errors::reason;

pub(super) fn check(node: &Examination, context: &Context, findings: &mut Vec<Finding>) {
    if let Err(error) = &node.answer {
        let what = format!("{}{}", reason(error), context.hint(error));
        findings.push(Finding::new(
            Severity::Problem,
            &node.name,
            what,
            advice(node, error, context.given()),
        ));
        return;
    }
    let Ok(addresses) = &node.addresses else {
        return;
    };
    for address in addresses {
        let Err(why) = &address.connected else {
            continue;
        };
        findings.push(Finding::new(
            Severity::Warning,
            &node.name,
            format!(
                "its address {} takes no connections: {why}",
                address.address
            ),
            "every new connection may try it first: start memcached there too, or take the address \
             off the name",
        ));
    }
    let slowest = addresses
        .iter()
        .filter_map(|address| address.connected.as_ref().ok())
        .max();
    if let (Some(slowest), Some(limit)) = (slowest, context.settings.timeout)
        && *slowest > limit / 2
    {
        findings.push(Finding::new(
            Severity::Warning,
            &node.name,
            format!("connecting takes {slowest:?}, more than half of the time-out of {limit:?}"),
            "look at the network on the way; --timeout sets how long to wait",
        ));
    }
}

/// Whether the server turned us away because it has too many connections.
fn has_no_place(error: &Error) -> bool {
    error
        .server_error()
        .is_some_and(|line| line.message() == "Too many open connections")
}

/// What to do about a node that cannot be used.
fn advice(node: &Examination, error: &Error, given: Given) -> String {
    let connects = node
        .addresses
        .as_ref()
        .is_ok_and(|addresses| addresses.iter().any(|address| address.connected.is_ok()));
    let advice = match error.kind() {
        _ if has_no_place(error) => RAISE,
        _ if node.addresses.is_err() => "correct the name, or make it known to the DNS",
        ErrorKind::Tls => {
            let options = given.tls.unwrap_or(Way::Arguments).options([
                ("--tls", "tls"),
                ("--ca", "tls_roots"),
                ("--cert", "tls_cert"),
                ("--server-name", "tls_server_name"),
            ]);
            return format!("compare {options} with how the node was started (-Z, -o ssl_...)");
        }
        ErrorKind::Authentication => {
            let user = given.user_option();
            return format!(
                "compare {user} and its password with the node's authentication file (-Y)"
            );
        }
        _ if !connects => {
            "start memcached there and let it listen on that address (-l, -p); see that no firewall is between"
        }
        ErrorKind::Timeout => {
            "it takes connections and does not answer: see on its host whether the process is stopped or \
             overloaded"
        }
        _ => "see what listens there: it is no memcached with these options",
    };
    advice.to_owned()
}
