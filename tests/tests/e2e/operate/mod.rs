//! `keys`, `detect`, `inspect`, `doctor` and `top` with real memcached servers, well and unwell.

mod detect;
mod doctor;
mod inspect;
mod keys;
mod listing;
mod top;

use std::process::{Command, Output};

use serde_json::Value;
use steersman_e2e::command_line::steersman;
use steersman_e2e::memcached::RealMemcached;

fn started(arguments: &[&str]) -> RealMemcached {
    RealMemcached::start_with(arguments).unwrap_or_else(|error| panic!("{error}"))
}

/// `steersman --node a=...,b=... ARGS`, the words of which are separated by white space.
fn command(servers: &[&RealMemcached], args: &str) -> Command {
    let names = ('a'..='z').zip(servers);
    let nodes = names.map(|(name, server)| format!("{name}={}", server.node()));
    let mut command = steersman();
    command.args(["--node", &nodes.collect::<Vec<_>>().join(",")]);
    // The machine may be busy.
    command.args(["--timeout", "10s"]);
    command.args(args.split_whitespace());
    command
}

/// What it printed and said, and how it exited.
#[derive(Debug)]
struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Outcome {
    fn json(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        let lines = lines.map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }
}

fn run(servers: &[&RealMemcached], args: &str) -> Outcome {
    command(servers, args).output().unwrap().into()
}

/// Runs what is to succeed.
#[track_caller]
fn ok(servers: &[&RealMemcached], args: &str) -> Outcome {
    let outcome = run(servers, args);
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""), "{args}");
    outcome
}

/// Says this to a server and gives its answer, as far as it comes at once.
fn say(server: &RealMemcached, line: &str) -> String {
    use std::io::{Read, Write};

    let mut stream = std::net::TcpStream::connect(server.addr()).unwrap();
    write!(stream, "{line}\r\nquit\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
