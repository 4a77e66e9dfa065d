//! What a run prints and writes: tables, JSON, plots, and the section of the front page.

mod closed;
mod goals;
mod plot;
mod readme;
mod single;
mod table;

use std::fmt::Write;
use std::fs;
use std::io;

use crate::plan::{CONNECTION_TASKS, Mode};
use crate::results::Results;

/// Where results are written.
const FOLDER: &str = "results";

/// Prints the tables and writes all files.
pub(crate) fn publish(results: &Results) -> io::Result<()> {
    let tables = tables(results);
    for table in &tables {
        print!("{}", table.text());
    }
    for remark in remarks(results) {
        println!("{remark}");
    }
    let mode = results.mode.name();
    fs::create_dir_all(FOLDER)?;
    let json = serde_json::to_string_pretty(results)? + "\n";
    fs::write(format!("{FOLDER}/{mode}.json"), json)?;
    let page = page(results, &tables);
    fs::write(format!("{FOLDER}/{mode}.md"), page)?;
    for tasks in CONNECTION_TASKS {
        if let Some(plot) = plot::connections(results, tasks) {
            fs::write(format!("{FOLDER}/{}", plot::name(results, tasks)), plot)?;
        }
    }
    readme::update(results, &tables)
}

/// Where a flame graph of that mode is kept.
pub(crate) fn flame_graph(mode: Mode) -> String {
    format!("{FOLDER}/{}-flame.svg", mode.name())
}

fn tables(results: &Results) -> Vec<table::Table> {
    let mut tables = vec![closed::reads(results)];
    tables.extend(closed::connections(results));
    tables.extend([
        closed::writes(results),
        closed::encrypted(results),
        closed::alone(results),
        single::alone(&results.single),
        single::crowds(&results.single),
        single::due(&results.single),
        single::growth(&results.single),
        single::memory(&results.single),
        closed::sizes(results),
        single::instructions(results),
        goals::table(results),
    ]);
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// What has to be known beside the tables: who is missing, and who failed.
fn remarks(results: &Results) -> Vec<String> {
    let missing = results.unavailable.iter();
    let missing = missing.map(|(id, reason)| format!("Not measured: {id}: {reason}."));
    let failed = results.errors().into_iter().map(|(measured, subject)| {
        let case = &measured.case;
        format!(
            "Failed while it was measured: {} of {} {}s of {}, {} tasks over {} connections.",
            measured.errors(),
            measured.errors()
                + measured
                    .samples
                    .iter()
                    .map(|sample| sample.operations)
                    .sum::<u64>(),
            case.operation.name(),
            subject.id,
            case.tasks,
            case.connections,
        )
    });
    let single = results.single.failures.iter();
    let single = single.map(|reason| format!("Not measured: {reason}"));
    missing.chain(failed).chain(single).collect()
}

fn page(results: &Results, tables: &[table::Table]) -> String {
    let mut page = format!(
        "# Results of a {} run\n\n{}.\n",
        results.mode.name(),
        results.machine.sentence()
    );
    for table in tables {
        let _ = write!(page, "\n## {}\n\n{}", table.title, table.markdown(""));
    }
    for remark in remarks(results) {
        let _ = write!(page, "\n{remark}\n");
    }
    page
}
