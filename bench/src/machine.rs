//! The machine: what a report says of it, and the cores on which everything runs.

use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// Server and client share so many cores.
const CORES: usize = 2;

/// What a report says of the machine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    processor: String,
    /// The cores that server and client share.
    pub(crate) cores: usize,
    kernel: String,
    pub(crate) memcached: String,
    rustc: String,
}

impl Machine {
    pub(crate) fn look() -> Self {
        let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = model.lines().find(|line| line.starts_with("model name"));
        let model = model.and_then(|line| line.split(": ").nth(1));
        Self {
            processor: model.unwrap_or("unknown").to_owned(),
            cores: cores().len(),
            kernel: version(&output("uname", &["-sr"])),
            memcached: version(&output("memcached", &["-V"])),
            rustc: version(&output("rustc", &["-V"])),
        }
    }

    /// In one sentence.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "{} with one thread, {} cores of an {} shared by server and client, {}, {}",
            self.memcached, self.cores, self.processor, self.kernel, self.rustc
        )
    }
}

fn output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    output.map_or_else(
        |_| format!("{program}: unknown"),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// The name and the version, without what was built in.
fn version(line: &str) -> String {
    let words: Vec<_> = line.split_whitespace().take(2).collect();
    let line = words.join(" ");
    line.split('-').next().unwrap_or_default().to_owned()
}

/// The cores on which servers and clients run: the first ones that this process may use.
pub(crate) fn cores() -> Vec<usize> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap_or("0-1");
    let ranges = list.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse::<usize>().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().take(CORES).collect()
}

/// A command that runs there, and ends with this program, however that ends.
pub(crate) fn pinned(program: &str) -> Command {
    let cores: Vec<_> = cores().iter().map(usize::to_string).collect();
    let mut command = Command::new("taskset");
    command.args(["-c", &cores.join(",")]);
    command.args(["setpriv", "--pdeathsig", "KILL", program]);
    command
}
