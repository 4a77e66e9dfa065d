//! The command line, as a program of its own.

use std::process::Command;

/// The binary that `STEERSMAN_BIN` names, else that of this workspace, built if need be. It knows no
/// nodes and no password but those that the test gives.
pub fn steersman() -> Command {
    let mut program = if let Some(binary) = std::env::var_os("STEERSMAN_BIN") {
        Command::new(binary)
    } else {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["run", "--quiet", "--package", "steersman"]);
        cargo.args(["--features", "cassandra", "--"]);
        cargo
    };
    for variable in ["STEERSMAN_NODES", "STEERSMAN_PASSWORD"] {
        program.env_remove(variable);
    }
    program
}
