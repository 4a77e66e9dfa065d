//! Steersman beside its peers and beside what the wire and the server allow.

mod load;
mod raw;

use std::process::ExitCode;

use load::Steersman;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("steersman") => steersman_bench_contract::run::<Steersman>(args),
        Some("raw") => raw::run(args),
        _ => ExitCode::from(2),
    }
}
