//! Every input that is kept, through its target: what was recorded, and what was found.

use std::fs;
use std::path::{Path, PathBuf};

use steersman_fuzz_targets::TARGETS;

/// The folders that hold a folder for each target.
const KEPT: [&str; 2] = ["corpus", "regressions"];

fn folder(kept: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(kept)
}

/// What is in a folder; nothing if there is none.
fn entries(folder: &Path) -> Vec<PathBuf> {
    if !folder.exists() {
        return Vec::new();
    }
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_input_that_is_kept_passes() {
    for (name, run) in TARGETS {
        let mut count = 0;
        for kept in KEPT {
            for input in entries(&folder(kept).join(name)) {
                let bytes = fs::read(&input).unwrap();
                // Shown only if it fails.
                println!("{}", input.display());
                run(&bytes);
                // The beginning of an input is an input.
                for end in [bytes.len() / 2, bytes.len().saturating_sub(1)] {
                    run(&bytes[..end]);
                }
                count += 1;
            }
        }
        assert!(count > 0, "{name} has no inputs");
    }
}

#[test]
fn every_folder_is_that_of_a_target() {
    for kept in KEPT {
        for entry in entries(&folder(kept)) {
            let name = entry.file_name().unwrap().to_str().unwrap().to_owned();
            let is_target = TARGETS.iter().any(|(target, _)| *target == name);
            assert!(is_target, "{} is no target's", entry.display());
        }
    }
}
