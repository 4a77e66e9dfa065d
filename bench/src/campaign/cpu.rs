//! Where the processor's time goes: instructions of a read, counted by callgrind, and a flame graph
//! of samples that perf takes.

use std::fs;
use std::io::{self, Cursor};
use std::process::{Command, Stdio};

use inferno::collapse::Collapse;
use inferno::collapse::perf::Folder;
use inferno::flamegraph;
use serde::{Deserialize, Serialize};

use super::process::Programs;
use crate::machine::pinned;
use crate::plan::VALUE;
use crate::server::Server;

/// Tasks that read at once while instructions are counted.
const TASKS: [usize; 3] = [1, 64, 512];

/// Two runs differ by so many reads; what all runs do besides cancels out.
const FEW: usize = 10_240;
const MANY: usize = 40_960;

/// Reads while samples are taken.
const SAMPLED: usize = 2_000_000;

/// Instructions in user space, on one worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Instructions {
    pub(crate) tasks: usize,
    pub(crate) of_a_read: f64,
}

/// Counts instructions; on failure says why.
pub(crate) fn instructions(programs: &Programs) -> Result<Vec<Instructions>, String> {
    eprintln!("Instructions of a read");
    let server = Server::start(VALUE).map_err(|error| format!("memcached: {error}"))?;
    let mut all = Vec::new();
    for tasks in TASKS {
        let few = counted(programs, &server, tasks, FEW)?;
        let many = counted(programs, &server, tasks, MANY)?;
        let of_a_read = (many - few) / (MANY - FEW) as f64;
        all.push(Instructions { tasks, of_a_read });
    }
    Ok(all)
}

fn counted(
    programs: &Programs,
    server: &Server,
    tasks: usize,
    reads: usize,
) -> Result<f64, String> {
    let output = pinned("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(programs.beside("steersman-bench"))
        .args([
            "counted",
            &server.addr(),
            &tasks.to_string(),
            &reads.to_string(),
        ])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let collected = log
        .lines()
        .find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    collected
        .filter(|_| output.status.success())
        .ok_or_else(|| format!("valgrind: {}: {log}", output.status))
}

/// Draws where 512 tasks on one worker spend their time; on failure says why.
pub(crate) fn flame_graph(programs: &Programs) -> Result<String, String> {
    eprintln!("Flame graph");
    let server = Server::start(VALUE).map_err(|error| format!("memcached: {error}"))?;
    let samples = "target/perf.data";
    let program = programs.beside("steersman-bench");
    let reads = SAMPLED.to_string();
    let mut record = pinned("perf");
    record
        .args([
            "record",
            "-q",
            "-e",
            "cpu-clock",
            "-F",
            "499",
            "--call-graph",
            "dwarf,16384",
        ])
        .args([
            "-o",
            samples,
            &program,
            "counted",
            &server.addr(),
            "512",
            &reads,
        ]);
    output(record)?;
    let mut script = Command::new("perf");
    script.args(["script", "--no-inline", "-i", samples]);
    let stacks = output(script)?;
    let drawn = draw(&stacks).map_err(|error| format!("the flame graph: {error}"));
    // Large, and of no more use.
    let _ = fs::remove_file(samples);
    drawn
}

fn output(mut command: Command) -> Result<Vec<u8>, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("perf: {error}"))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        let log = String::from_utf8_lossy(&output.stderr);
        Err(format!("perf: {}: {}", output.status, log.trim()))
    }
}

fn draw(stacks: &[u8]) -> io::Result<String> {
    let mut folded = Vec::new();
    Folder::default().collapse(Cursor::new(stacks), &mut folded)?;
    let mut options = flamegraph::Options::default();
    options.title.clear();
    options
        .title
        .push_str("Reads by 512 tasks over 2 connections, one worker");
    let mut svg = Vec::new();
    flamegraph::from_reader(&mut options, Cursor::new(folded), &mut svg)
        .map_err(io::Error::other)?;
    String::from_utf8(svg).map_err(io::Error::other)
}
