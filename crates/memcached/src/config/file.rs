//! Files that options name: passwords, certificates, keys.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};

/// The longest file that is read.
const MAX_FILE: u64 = 1024 * 1024;

/// What the file of an option holds.
pub(crate) fn read(option: &'static str, path: &Path) -> Result<Vec<u8>> {
    let cannot = |why: &dyn std::fmt::Display| {
        Error::config(option, format!("cannot read {}: {why}", path.display()))
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| cannot(&error))?;
    let read = file.take(MAX_FILE + 1).read_to_end(&mut bytes);
    match read.map_err(|error| cannot(&error))? as u64 {
        ..=MAX_FILE => Ok(bytes),
        _ => Err(cannot(&format_args!("it is longer than {MAX_FILE} bytes"))),
    }
}
