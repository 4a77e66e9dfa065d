//! `steersman`: a memcached cluster from the command line; with the feature `cassandra` also a look
//! at latency awareness on a Cassandra cluster.
//!
//! From the arguments (`args`) to checked settings (`context`) to one of the `commands`, which
//! writes to the given output and ends in an [`Answer`](answer::Answer) or a
//! [`Failure`]. Only here do these become an exit code and a line on stderr.

mod access;
mod answer;
mod args;
mod bench;
#[cfg(feature = "cassandra")]
mod cassandra;
mod commands;
mod config;
mod context;
mod demo;
mod discovery;
mod doctor;
mod duration;
mod errors;
mod histogram;
mod json;
mod keys;
mod nodes;
mod pace;
mod printable;
mod simulate;
mod source;
mod status_line;
mod table;
mod top;
mod words;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use crate::answer::Failure;
use crate::args::Cli;
use crate::printable::printable;

fn main() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            // Help that nobody reads is not an error.
            let _ = error.print();
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let answered = commands::run(cli, &mut out);
    // What was found before a failure is shown all the same.
    let flushed = out.flush().map_err(Failure::from);
    match answered.and_then(|answer| flushed.map(|()| answer)) {
        Ok(answer) => answer.exit_code(),
        Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Told(messages)) => {
            let mut stderr = io::stderr().lock();
            for message in messages {
                let _ = writeln!(stderr, "error: {}", printable(&message));
            }
            ExitCode::from(2)
        }
    }
}
