//! Measurements that only Steersman takes part in.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde::{Deserialize, Serialize};

use super::process::{Programs, answer};
use crate::load::{Alone, Crowd, Due, Growth};
use crate::machine::pinned;
use crate::plan::{Mode, VALUE};
use crate::server::Server;

/// Tasks at once.
const CROWDS: [usize; 3] = [100, 1_000, 10_000];

/// Shares of the highest rate.
const SHARES: [f64; 3] = [0.25, 0.5, 0.75];

/// Nodes of a cluster.
const NODES: [usize; 4] = [1, 10, 100, 1_000];

/// What only Steersman is measured for.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Single {
    /// One entry a round.
    pub(crate) alone: Vec<Alone>,
    pub(crate) crowds: Vec<Crowd>,
    /// Reads that are due at shares of the highest rate.
    pub(crate) due: Vec<(f64, Due)>,
    pub(crate) growth: Vec<Growth>,
    pub(crate) memory: Option<Memory>,
    /// What could not be measured, and why.
    pub(crate) failures: Vec<String>,
}

/// Bytes of the heap.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// For each idle connection.
    pub(crate) connection_bytes: f64,
    /// For each request that waits for its reply.
    pub(crate) request_bytes: f64,
    /// So many nodes were connected.
    pub(crate) nodes: usize,
    /// For each of them, with one connection.
    pub(crate) node_bytes: f64,
}

/// Measures all that the mode asks for. The highest rate is that of reads by 512 tasks.
pub(crate) fn measure(mode: Mode, programs: &Programs, highest: f64) -> io::Result<Single> {
    let mut single = Single::default();
    let server = Server::start(VALUE)?;
    let (rounds, seconds) = match mode {
        Mode::Quick => (2, 0.6),
        Mode::Full => (5, 1.0),
    };
    eprintln!("One caller alone, crowds");
    for _ in 0..rounds {
        let args = [server.addr(), seconds.to_string()];
        single.keep(programs.own("alone", &args), |single| &mut single.alone);
    }
    for tasks in CROWDS {
        let args = [
            server.addr(),
            tasks.to_string(),
            (seconds * 1.5).to_string(),
        ];
        single.keep(programs.own("crowd", &args), |single| &mut single.crowds);
    }
    if mode == Mode::Full {
        eprintln!("Latency at given rates, growth, memory");
        for share in SHARES {
            let args = [server.addr(), (share * highest).to_string(), "5".to_owned()];
            let due = programs.own("due", &args).map(|due| (share, due));
            single.keep(due, |single| &mut single.due);
        }
        drop(server);
        grow(programs, &mut single)?;
    }
    Ok(single)
}

impl Single {
    fn keep<T>(&mut self, outcome: Result<T, String>, place: impl Fn(&mut Self) -> &mut Vec<T>) {
        match outcome {
            Ok(outcome) => place(self).push(outcome),
            Err(reason) => {
                eprintln!("{reason}");
                self.failures.push(reason);
            }
        }
    }
}

/// Reads from more and more nodes, and what the most of them take in memory.
fn grow(programs: &Programs, single: &mut Single) -> io::Result<()> {
    for count in NODES {
        let nodes = Nodes::start(programs, count)?;
        let args = [nodes.addresses.clone(), "2".to_owned()];
        single.keep(programs.own("growth", &args), |single| &mut single.growth);
        if Some(&count) == NODES.last() {
            let words = [
                programs.beside("steersman-bench-memory"),
                nodes.addresses.clone(),
            ];
            match answer(&words) {
                Ok(memory) => single.memory = Some(memory),
                Err(reason) => single.failures.push(reason),
            }
        }
    }
    Ok(())
}

/// Embedded nodes in a process of their own, which ends when this is dropped.
struct Nodes {
    process: Child,
    addresses: String,
}

impl Nodes {
    fn start(programs: &Programs, count: usize) -> io::Result<Self> {
        let mut command: Command = pinned(&programs.beside("steersman-bench"));
        let mut process = command
            .args(["nodes", &count.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut addresses = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut addresses)?;
        }
        let addresses = addresses.trim().to_owned();
        Ok(Self { process, addresses })
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        // Its input ends, and so does it. Whether it works or not, nothing else is to be done.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
