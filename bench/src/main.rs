//! Single-key reads a second: what the wire and the server allow, and what the client makes of it.
//!
//! ```text
//! cargo run --release -- [SECONDS] [ROUNDS] [PART OF A ROW'S NAME]
//! ```
//!
//! Starts a memcached with one thread, on this machine. The rows take turns for so many rounds (5 by
//! default) of so many seconds (1), and the medians are printed with their ratio to the raw limit with
//! the same number of reads outstanding. Client and server share the machine's cores, so everything
//! else that runs there counts twice.

mod ours;
mod raw;
mod server;

use std::process::ExitCode;
use std::time::Duration;

use server::Server;

const CONNECTIONS: usize = 2;

/// One line of the table.
struct Row {
    name: String,
    outstanding: usize,
    /// None is the raw limit.
    workers: Option<usize>,
    rates: Vec<f64>,
}

impl Row {
    fn run(&self, server: &Server, span: Duration) -> f64 {
        match self.workers {
            None => raw::multi_key(server.addr(), CONNECTIONS, self.outstanding, span),
            Some(workers) => {
                ours::reads(server.addr(), CONNECTIONS, self.outstanding, workers, span)
            }
        }
    }

    fn median(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or_default()
    }
}

fn rows() -> Vec<Row> {
    let outstanding = [64, 512];
    let kinds = [None, Some(1), Some(2)];
    let pairs = outstanding
        .into_iter()
        .flat_map(|outstanding| kinds.map(|kind| (outstanding, kind)));
    let row = |(outstanding, workers)| Row {
        name: match workers {
            None => format!("raw, keys in lines of 32, {outstanding} outstanding"),
            Some(1) => format!("client, 1 worker, {outstanding} tasks"),
            Some(workers) => format!("client, {workers} workers, {outstanding} tasks"),
        },
        outstanding,
        workers,
        rates: Vec::new(),
    };
    pairs.map(row).collect()
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let number = |index: usize, default: f64| match arguments.get(index) {
        None => Some(default),
        Some(text) => text
            .parse()
            .ok()
            .filter(|&number: &f64| number > 0.0 && number < 1e6),
    };
    let (Some(seconds), Some(rounds)) = (number(0, 1.0), number(1, 5.0)) else {
        eprintln!("usage: [SECONDS] [ROUNDS] [PART OF A ROW'S NAME]");
        return ExitCode::from(2);
    };
    let part = arguments.get(2).map_or("", String::as_str);
    let mut rows: Vec<_> = rows()
        .into_iter()
        .filter(|row| row.name.contains(part))
        .collect();

    let server = Server::start();
    server.fill();
    for _ in 0..rounds as usize {
        for row in &mut rows {
            row.rates
                .push(row.run(&server, Duration::from_secs_f64(seconds)));
        }
    }
    for row in &rows {
        let raw = rows
            .iter()
            .find(|raw| raw.workers.is_none() && raw.outstanding == row.outstanding);
        let ratio = raw.map_or(f64::NAN, |raw| row.median() / raw.median());
        println!("{:<45} {:>9.0}/s  {ratio:.2}", row.name, row.median());
    }
    ExitCode::SUCCESS
}
