//! A cluster of embedded servers and the binary that talks to it.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use steersman_testkit::{ManualClock, Server};
use tokio::runtime::Runtime;

/// Servers named `a`, `b`, `c` ... whose clock stands still.
pub(crate) struct Cluster {
    runtime: Runtime,
    pub(crate) servers: Vec<Server>,
    pub(crate) clock: Arc<ManualClock>,
}

impl Cluster {
    pub(crate) fn of(count: usize) -> Self {
        Self::start(count, true)
    }

    /// Servers whose clock is that of the system.
    pub(crate) fn with_the_system_s_clock(count: usize) -> Self {
        Self::start(count, false)
    }

    fn start(count: usize, stands_still: bool) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let clock = Arc::new(ManualClock::new(now));
        let start = async || {
            let builder = Server::builder().keep_requests(100);
            let builder = if stands_still {
                builder.clock(clock.clone())
            } else {
                builder
            };
            builder.start().await.unwrap()
        };
        let servers = (0..count).map(|_| runtime.block_on(start())).collect();
        Self {
            runtime,
            servers,
            clock,
        }
    }

    /// As `--node` takes it.
    pub(crate) fn nodes(&self) -> String {
        let names = ('a'..='z').zip(&self.servers);
        let nodes = names.map(|(name, server)| format!("{name}={}", server.node()));
        nodes.collect::<Vec<_>>().join(",")
    }

    pub(crate) fn stop(&self, server: usize) {
        self.runtime.block_on(self.servers[server].stop());
    }

    /// Waits until a server has been asked for so many more keys than by now.
    pub(crate) fn wait_for_reads(&self, server: usize, more: u64) {
        let server = &self.servers[server];
        let enough = server.stats().commands.keys_read() + more;
        let enough = server.wait_for(|stats| stats.commands.keys_read() >= enough);
        self.runtime.block_on(enough);
    }

    /// `steersman --node ... ARGS`
    pub(crate) fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = steersman(args);
        command.env("STEERSMAN_NODES", self.nodes());
        command
    }

    /// Runs a command without input; its words are separated by white space.
    pub(crate) fn run(&self, args: &str) -> Outcome {
        run(&mut self.command(args.split_whitespace()))
    }

    /// Runs a command that is to succeed.
    pub(crate) fn ok(&self, args: &str) -> String {
        let outcome = self.run(args);
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{args}");
        outcome.text()
    }
}

/// The binary with these arguments.
pub(crate) fn steersman<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_steersman"));
    command.args(args);
    for variable in ["STEERSMAN_URL", "STEERSMAN_NODES", "STEERSMAN_PASSWORD"] {
        command.env_remove(variable);
    }
    command
}

/// What a run of the binary printed and how it exited.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Outcome {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    /// Each line of stdout as JSON.
    pub(crate) fn json(&self) -> Vec<Value> {
        let text = self.text();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }

    /// It failed: exit code 2, and these lines that say why.
    #[track_caller]
    pub(crate) fn failed_with_lines(&self, lines: &[&str]) {
        assert_eq!(self.code, 2, "{self:?}");
        let expected: Vec<String> = lines.iter().map(|line| format!("error: {line}")).collect();
        let seen: Vec<&str> = self.stderr.lines().collect();
        assert_eq!(seen, expected, "{self:?}");
    }

    /// It failed: exit code 2, and one line that says why.
    #[track_caller]
    pub(crate) fn failed_with(&self, why: &str) {
        assert_eq!(self.code, 2, "{self:?}");
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        assert_eq!(self.stderr.matches('\n').count(), 1, "{self:?}");
        assert!(self.stderr.ends_with('\n'), "{self:?}");
        assert!(self.stderr.contains(why), "{why:?} is not in {self:?}");
    }
}

/// Runs without input.
pub(crate) fn run(command: &mut Command) -> Outcome {
    run_with(command, b"")
}

/// Runs with this on stdin.
pub(crate) fn run_with(command: &mut Command, input: &[u8]) -> Outcome {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A command that does not read its input is free not to.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Outcome {
        code: output.status.code().unwrap(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs `steersman ARGS` without a cluster; its words are separated by white space.
pub(crate) fn plain(args: &str) -> Outcome {
    run(&mut steersman(args.split_whitespace()))
}

/// Seconds, for a clock.
pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
