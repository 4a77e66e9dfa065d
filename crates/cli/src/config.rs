//! The client's options that a URL, a file or the environment gives.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use steersman_memcached::{Config, Error};

use crate::answer::Failure;
use crate::args::Globals;
use crate::errors::reason;

/// The environment's variable with a URL.
pub(crate) const URL_VARIABLE: &str = "STEERSMAN_URL";

/// The longest file that is read.
const MAX_FILE: u64 = 1024 * 1024;

/// Where the options come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Url,
    File,
    Variable,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Url => "--url",
            Self::File => "--config",
            Self::Variable => URL_VARIABLE,
        })
    }
}

impl Origin {
    /// What is wrong with what comes from here. It never shows a URL.
    pub(crate) fn failure(self, error: &Error) -> Failure {
        let reason = reason(error);
        Failure::told(match error.option() {
            None | Some("url" | "config") => format!("{self}: {reason}"),
            Some(option) => format!("{self}: option `{option}`: {reason}"),
        })
    }
}

/// The options of --url or --config, else of [`URL_VARIABLE`], which has the value `variable`; and
/// where they come from, if from anywhere.
pub(crate) fn read(
    globals: &Globals,
    variable: Option<OsString>,
) -> Result<(Config, Option<Origin>), Failure> {
    let parsed = |url: &str, from: Origin| match url.parse() {
        Ok(config) => Ok((config, Some(from))),
        Err(error) => Err(from.failure(&error)),
    };
    if let Some(url) = &globals.url {
        return parsed(&url.0, Origin::Url);
    }
    if let Some(path) = &globals.config {
        let config = of_file(path).map_err(|why| Failure::told(format!("--config: {why}")))?;
        return Ok((config, Some(Origin::File)));
    }
    match variable.filter(|url| !url.is_empty()) {
        None => Ok((Config::default(), None)),
        Some(url) => match url.to_str() {
            Some(url) => parsed(url, Origin::Variable),
            None => Err(Failure::told(format!("{URL_VARIABLE} is not UTF-8"))),
        },
    }
}

/// No error shows more of the file than the name of an option, since it may hold a password.
fn of_file(path: &Path) -> Result<Config, String> {
    let name = path.display();
    let ending = path.extension().and_then(|ending| ending.to_str());
    let json = match ending {
        Some("toml") => false,
        Some("json") => true,
        _ => return Err(format!("{name} ends neither in .toml nor in .json")),
    };
    let text = text(path).map_err(|error| format!("cannot read {name}: {error}"))?;
    if json {
        return serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"));
    }
    toml::from_str(&text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let place = before.map_or(String::new(), |before| {
            format!(" in line {}", before.matches('\n').count() + 1)
        });
        format!("{name}{place}: {}", error.message())
    })
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut file = File::open(path)?.take(MAX_FILE + 1);
    if file.read_to_string(&mut text)? as u64 > MAX_FILE {
        return Err(io::Error::other(format!(
            "it is longer than {MAX_FILE} bytes"
        )));
    }
    Ok(text)
}
