//! The cluster of `scripts/cassandra/cluster`.

use std::path::Path;
use std::process::Command;

/// The cluster, ended when this is dropped. There is one at a time on a machine.
///
/// The functions block until what they say is so, which takes up to a minute. They panic if it
/// cannot be done, with what the script says.
#[derive(Debug)]
pub struct Cluster {
    /// Whether it ends when this is dropped.
    is_ending: bool,
}

impl Cluster {
    /// A fresh cluster with a node in each of these datacenters, from node 1 on.
    pub fn start(datacenters: &[&str]) -> Self {
        let cluster = Self::running();
        run("start", datacenters);
        cluster
    }

    /// The cluster that runs already.
    pub fn running() -> Self {
        Self { is_ending: true }
    }

    /// Lets it run on, for [`running`](Self::running).
    pub fn leave_running(mut self) {
        self.is_ending = false;
    }

    /// A new node joins.
    pub fn join(&self, node: u8, datacenter: &str) {
        run("join", &[&node.to_string(), datacenter]);
    }

    /// A node hands over its data and leaves for good, even if replicas become too few by that.
    pub fn leave(&self, node: u8) {
        run("nodetool", &[&node.to_string(), "decommission", "--force"]);
        self.kill(node);
    }

    /// A node's process is ended at once.
    pub fn kill(&self, node: u8) {
        run("kill", &[&node.to_string()]);
    }

    /// A node that was killed comes back.
    pub fn restart(&self, node: u8) {
        run("restart", &[&node.to_string()]);
    }

    /// A node's process is stopped: its connections stay, and nothing is answered.
    pub fn pause(&self, node: u8) {
        run("pause", &[&node.to_string()]);
    }

    /// A node that was paused goes on.
    pub fn resume(&self, node: u8) {
        run("resume", &[&node.to_string()]);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.is_ending {
            // Whether it works or not, there is nothing else to be done.
            let _ = script().arg("stop").status();
        }
    }
}

fn script() -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    Command::new(root.join("scripts/cassandra/cluster"))
}

fn run(command: &str, arguments: &[&str]) {
    let output = script().arg(command).args(arguments).output();
    let output = output.expect("scripts/cassandra/cluster can be run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command} {arguments:?}: {}",
        said.trim()
    );
}
