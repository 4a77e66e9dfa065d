//! Where scenarios and recordings come from.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use steersman_simulator::{Recording, Scenario};

use crate::answer::Failure;

/// Longer than any scenario; the crate refuses less.
const LONGEST: u64 = 1 << 25;

/// The scenarios of these names and paths, all variants of each.
pub(super) fn scenarios(names: &[String]) -> Result<Vec<Scenario>, Failure> {
    let mut scenarios = Vec::new();
    for name in names {
        let is_path = Path::new(name)
            .extension()
            .is_some_and(|extension| extension == "toml");
        if !is_path {
            scenarios.extend(Scenario::builtin(name)?);
            continue;
        }
        let mut text = String::new();
        File::open(name)
            .and_then(|file| file.take(LONGEST).read_to_string(&mut text))
            .map_err(|error| Failure::told(format!("cannot read {name}: {error}")))?;
        let read = Scenario::parse(&text);
        scenarios.extend(read.map_err(|error| Failure::told(format!("{name}: {error}")))?);
    }
    Ok(scenarios)
}

/// What is recorded in these files, taken together.
pub(super) fn recording(paths: &[PathBuf]) -> Result<Recording, Failure> {
    let mut logs = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let file = File::open(path)
            .map_err(|error| Failure::told(format!("--record: cannot read {name}: {error}")))?;
        logs.push((name, BufReader::new(file)));
    }
    Ok(Recording::read_all(logs)?)
}
