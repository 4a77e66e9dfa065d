//! Who is measured, and how each is started.

use std::path::Path;

/// One program that keeps the contract.
#[derive(Debug)]
pub(crate) struct Subject {
    /// Its name in results.
    pub(crate) id: &'static str,
    /// Its name in tables.
    pub(crate) label: &'static str,
    pub(crate) kind: Kind,
    program: Program,
}

/// What a subject is compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Steersman,
    /// The same over TLS.
    Encrypted,
    /// What the wire and the server allow.
    Raw,
    /// What Tokio allows: the least that a client on it can do.
    Sketch,
    /// A peer on Tokio, whose number of workers can be set.
    Rust,
    /// A peer in another language.
    Other,
}

#[derive(Debug)]
enum Program {
    /// A command of this program.
    Own(&'static [&'static str]),
    /// A program built beside this one.
    Beside(&'static str),
    /// A script and its options, in the virtual environment.
    Python(&'static [&'static str]),
    Go,
    Java,
}

use Program::{Beside, Go, Java, Own, Python};

const fn subject(id: &'static str, label: &'static str, kind: Kind, program: Program) -> Subject {
    Subject {
        id,
        label,
        kind,
        program,
    }
}

/// All of them, in the order of the tables.
pub(crate) const SUBJECTS: [Subject; 15] = [
    subject(
        "raw-lines",
        "raw: `get` lines of 32 keys",
        Kind::Raw,
        Own(&["raw", "lines"]),
    ),
    subject(
        "raw-quiet",
        "raw: quiet meta commands",
        Kind::Raw,
        Own(&["raw", "quiet"]),
    ),
    subject(
        "raw-pipelined",
        "raw: pipelined commands",
        Kind::Raw,
        Own(&["raw", "pipelined"]),
    ),
    subject(
        "sketch",
        "a sketch on Tokio",
        Kind::Sketch,
        Own(&["sketch"]),
    ),
    subject(
        "steersman",
        "**Steersman**",
        Kind::Steersman,
        Own(&["steersman"]),
    ),
    subject(
        "steersman-tls",
        "**Steersman**, TLS",
        Kind::Encrypted,
        Own(&["steersman-tls"]),
    ),
    subject(
        "async-memcached",
        "async-memcached 0.9",
        Kind::Rust,
        Beside("peer-async-memcached"),
    ),
    subject(
        "memcache",
        "memcache 0.21, async",
        Kind::Rust,
        Beside("peer-memcache"),
    ),
    subject(
        "mtop-client",
        "mtop-client 0.17",
        Kind::Rust,
        Beside("peer-mtop-client"),
    ),
    subject(
        "emcache-batching",
        "emcache 1.3.3, autobatching",
        Kind::Other,
        Python(&["emcache_peer.py", "--autobatching"]),
    ),
    subject(
        "emcache",
        "emcache 1.3.3",
        Kind::Other,
        Python(&["emcache_peer.py"]),
    ),
    subject(
        "pymemcache",
        "pymemcache 4.0",
        Kind::Other,
        Python(&["pymemcache_peer.py"]),
    ),
    subject(
        "libmc",
        "libmc 1.4",
        Kind::Other,
        Python(&["libmc_peer.py"]),
    ),
    subject("gomemcache", "gomemcache", Kind::Other, Go),
    subject("spymemcached", "spymemcached 2.12.3", Kind::Other, Java),
];

/// The one of that name.
pub(crate) fn named(id: &str) -> Option<&'static Subject> {
    SUBJECTS.iter().find(|subject| subject.id == id)
}

impl Subject {
    /// The program and its first arguments. Paths are relative to the folder `bench`.
    pub(crate) fn command(&self, own: &Path) -> Vec<String> {
        let beside = |name: &str| own.with_file_name(name).display().to_string();
        let words: Vec<String> = match self.program {
            Own(args) => [own.display().to_string()]
                .into_iter()
                .chain(args.iter().map(ToString::to_string))
                .collect(),
            Beside(name) => vec![beside(name)],
            Python(args) => vec![
                "target/venv/bin/python".into(),
                format!("peers/python/{}", args[0]),
            ]
            .into_iter()
            .chain(args[1..].iter().map(ToString::to_string))
            .collect(),
            Go => vec!["target/gomemcache".into()],
            Java => [
                "java",
                "-cp",
                "target/java/classes:target/java/lib/*",
                "SpymemcachedPeer",
            ]
            .map(String::from)
            .to_vec(),
        };
        words
    }
}
