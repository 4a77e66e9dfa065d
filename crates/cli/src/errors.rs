//! The client's errors in the words of the command line: its commands and options instead of the
//! client's methods, the keys that are meant, and what to do.

use std::collections::HashMap;

use steersman_memcached::{Error, ErrorKind};

use crate::answer::Failure;

/// How many of the keys that share a failure are named.
const NAMED: usize = 3;

/// The most characters shown of a key: any key that memcached takes is shown whole.
const MAX_KEY: usize = 250;

/// The failure of `command`, whose requests for these keys failed: a line for each node that is
/// in trouble, and one for each other reason. `hint` adds what the client cannot know.
pub(crate) fn of_keys<'a>(
    command: &str,
    failed: impl IntoIterator<Item = (&'a [u8], &'a Error)>,
    hint: impl Fn(&Error) -> String,
) -> Failure {
    let failed = failed.into_iter().map(|(key, error)| (Some(key), error));
    told(command, failed, hint)
}

/// The failure of `command`, whose requests to nodes themselves failed.
pub(crate) fn of_nodes<'a>(
    command: &str,
    failed: impl IntoIterator<Item = &'a Error>,
    hint: impl Fn(&Error) -> String,
) -> Failure {
    let failed = failed.into_iter().map(|error| (None, error));
    told(command, failed, hint)
}

/// What failed for one reason.
struct Group<'a> {
    error: &'a Error,
    keys: Vec<&'a [u8]>,
}

fn told<'a>(
    command: &str,
    failed: impl Iterator<Item = (Option<&'a [u8]>, &'a Error)>,
    hint: impl Fn(&Error) -> String,
) -> Failure {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known = HashMap::new();
    for (key, error) in failed {
        // A node in trouble fails each request in words of its own; one of them will do.
        let own_reason = (!is_about_the_node(error.kind())).then(|| reason(error));
        let at = *known.entry((error.node(), own_reason)).or_insert_with(|| {
            let keys = Vec::new();
            groups.push(Group { error, keys });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.keys.extend(key);
        // The one that asks for most care.
        if error.maybe_executed() && !group.error.maybe_executed() {
            group.error = error;
        }
    }
    let line = |group: Group<'_>| {
        let what = described(command, &group.keys, group.error);
        format!("{what}{}", hint(group.error))
    };
    Failure::Told(groups.into_iter().map(line).collect())
}

/// `COMMAND KEYS at NODE: REASON`
pub(crate) fn described(command: &str, keys: &[&[u8]], error: &Error) -> String {
    let reason = reason(error);
    let keys = match keys {
        [] => String::new(),
        keys => format!(" {}", listed(keys)),
    };
    match error.node() {
        Some(node) => format!("{command}{keys} at {node}: {reason}"),
        None => format!("{command}{keys}: {reason}"),
    }
}

/// An error of the client that is not about what a command asked for.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let reason = reason(&error);
        Self::told(match error.node() {
            Some(node) => format!("{node}: {reason}"),
            None => reason,
        })
    }
}

/// Whether it is the node that failed, and not what was asked of it.
fn is_about_the_node(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Timeout
            | ErrorKind::Overloaded
            | ErrorKind::Unreachable
            | ErrorKind::NoNodeReachable
            | ErrorKind::Tls
            | ErrorKind::Authentication
            | ErrorKind::ConnectionLost
            | ErrorKind::Stalled
            | ErrorKind::Protocol
    )
}

/// What went wrong, without the names that the client has for what was asked.
pub(crate) fn reason(error: &Error) -> String {
    let text = error.to_string();
    let asked = match (error.operation(), error.node()) {
        (Some(asked), Some(node)) => format!("{asked} at {node}: "),
        (Some(text), None) | (None, Some(text)) => format!("{text}: "),
        (None, None) => String::new(),
    };
    let text = text.strip_prefix(&asked).unwrap_or(&text);
    let option = error.option().map(|option| format!("option `{option}`: "));
    let text = option
        .and_then(|option| text.strip_prefix(&option))
        .unwrap_or(text);
    match error.kind() {
        ErrorKind::Protocol => format!("{text}; is this memcached?"),
        _ => text.to_owned(),
    }
}

/// The first of these keys and how many more there are.
fn listed(keys: &[&[u8]]) -> String {
    let named: Vec<String> = keys.iter().take(NAMED).map(|key| shown(key)).collect();
    let named = named.join(", ");
    match keys.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// The key as it is, or in quotes where it could be misread.
fn shown(key: &[u8]) -> String {
    let text = String::from_utf8_lossy(key);
    let cut = text.char_indices().nth(MAX_KEY).map(|(at, _)| at);
    let (text, dots) = cut.map_or((&*text, ""), |at| (&text[..at], "..."));
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && c != ',' && c != '"';
    if !text.is_empty() && text.chars().all(is_plain) {
        format!("{text}{dots}")
    } else {
        format!("{text:?}{dots}")
    }
}

#[cfg(test)]
mod tests {
    use steersman_memcached::{Client, NodeConfig};

    use super::*;

    #[test]
    fn the_client_s_options_are_not_the_command_line_s() {
        let error = "a b".parse::<NodeConfig>().unwrap_err();
        assert!(error.to_string().starts_with("option `node`: "), "{error}");
        assert!(reason(&error).starts_with("\"a b\" is no node: "));
    }

    #[tokio::test]
    async fn the_command_and_its_keys_stand_for_the_client_s_method() {
        let client = Client::builder().node("h").min_connections(0);
        let client = client.build().unwrap();
        let error = client.increment("", 1).await.unwrap_err();
        assert!(error.to_string().starts_with("increment: "), "{error}");
        let said = described("incr", &[b""], &error);
        assert_eq!(said, format!("incr \"\": {}", reason(&error)));
        assert!(!said.contains("increment"), "{said}");
    }

    #[test]
    fn the_first_keys_are_named_and_the_others_counted() {
        let keys: Vec<Vec<u8>> = (1..=1003).map(|n| format!("k{n}").into_bytes()).collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        for (count, text) in [
            (1, "k1"),
            (3, "k1, k2, k3"),
            (4, "k1, k2, k3 and 1 more"),
            (1003, "k1, k2, k3 and 1000 more"),
        ] {
            assert_eq!(listed(&keys[..count]), text);
        }
    }

    #[test]
    fn a_key_that_could_be_misread_is_quoted_and_an_endless_one_cut() {
        let longest = "k".repeat(250);
        for (key, text) in [
            (&b"user:1"[..], "user:1"),
            ("größe".as_bytes(), "größe"),
            (b"", "\"\""),
            (b"a b", "\"a b\""),
            (b"a,b", "\"a,b\""),
            (b"a\x1b[2J", "\"a\\u{1b}[2J\""),
            (b"\xff", "\u{fffd}"),
            (longest.as_bytes(), &longest),
            ("k".repeat(100_000).as_bytes(), &format!("{longest}...")),
        ] {
            assert_eq!(shown(key), text);
        }
    }
}
