//! One measurement is one process.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde::de::DeserializeOwned;
use steersman_bench_contract::Outcome;

use crate::machine::cores;
use crate::plan::Case;
use crate::server::Server;
use crate::subject::{self, Kind, Subject};

/// Where `bench/run` says why it could not build a peer: a file of that peer's name.
const REASONS: &str = "target/not-built";

/// A program that takes longer than this is ended.
const PATIENCE: &str = "60";

/// The programs of the subjects.
pub(crate) struct Programs {
    own: PathBuf,
}

impl Programs {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            own: std::env::current_exe()?,
        })
    }

    /// Runs a case.
    pub(crate) fn run(
        &self,
        case: &Case,
        server: &Server,
        seconds: f64,
    ) -> Result<Outcome, String> {
        let subject = subject::named(&case.subject).ok_or("no such subject")?;
        let mut words = subject.command(&self.own);
        if let Some(workers) = case.workers {
            words.extend(["--workers".into(), workers.to_string()]);
        }
        let addr = match subject.kind {
            Kind::Encrypted => server.encrypted().ok_or("the server has no TLS")?,
            _ => server.addr(),
        };
        words.extend([
            addr,
            case.connections.to_string(),
            case.tasks.to_string(),
            seconds.to_string(),
            case.operation.name().into(),
            case.value_size.to_string(),
        ]);
        answer(&words)
    }

    /// Runs a command of this program, and reads what it prints.
    pub(super) fn own<T: DeserializeOwned>(
        &self,
        name: &str,
        args: &[String],
    ) -> Result<T, String> {
        let mut words = vec![self.own.display().to_string(), name.to_owned()];
        words.extend_from_slice(args);
        answer(&words)
    }

    /// A program that was built together with this one.
    pub(super) fn beside(&self, name: &str) -> String {
        self.own.with_file_name(name).display().to_string()
    }
}

/// Why there is no program for that subject.
pub(super) fn not_built(subject: &Subject) -> Option<String> {
    let reason = fs::read_to_string(format!("{REASONS}/{}", subject.id)).ok()?;
    Some(reason.trim().to_owned())
}

/// Runs a command on the cores of the run, and reads the line of JSON that it prints.
pub(super) fn answer<T: DeserializeOwned>(words: &[String]) -> Result<T, String> {
    let cores: Vec<_> = cores().iter().map(usize::to_string).collect();
    let output = Command::new("timeout")
        .args([
            "--kill-after=5",
            PATIENCE,
            "taskset",
            "-c",
            &cores.join(","),
        ])
        .args(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("timeout: {error}"))?;
    let line = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(failure(words, &output));
    }
    serde_json::from_str(line.trim())
        .map_err(|error| format!("{}: printed {line:?}: {error}", words.join(" ")))
}

fn failure(words: &[String], output: &Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr);
    let last = message
        .trim()
        .lines()
        .last()
        .unwrap_or("it printed nothing");
    format!("{}: {}: {last}", words.join(" "), output.status)
}
