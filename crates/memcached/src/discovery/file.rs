//! A list of nodes in a file.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::{Dialer, Discovered, Discovery, DiscoveryError};
use crate::address::NodeConfig;

/// The longest file that is read.
const MAX_LEN: u64 = 1024 * 1024;

/// A [`Discovery`] that reads a file: one node a line, written as [`NodeConfig`] describes; empty
/// lines and what follows a `#` do not count.
///
/// The file is looked at every second, or as [`check_every`](Self::check_every) says, and read whole
/// each time, 1 MiB at most: that also notices what changes no time stamp, as the mounted files of
/// Kubernetes. Replace it by renaming another one over it, so that nobody reads a half of it. A file
/// that is missing, empty or malformed changes nothing; nor does what is no regular file.
///
/// ```
/// use steersman_memcached::{Client, NodesFile};
///
/// let client = Client::builder().discovery(NodesFile::new("/etc/cache/nodes")).build()?;
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodesFile {
    path: PathBuf,
    every: Duration,
    reading: Reading,
}

/// A look at the file that took too long, as on a file system that hangs: it holds a thread, so there
/// is none beside it. It is no part of what the file is.
#[derive(Debug, Default)]
struct Reading(Option<JoinHandle<io::Result<String>>>);

impl Clone for Reading {
    fn clone(&self) -> Self {
        Self(None)
    }
}

impl PartialEq for Reading {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Reading {}

impl NodesFile {
    /// The file at this path, which need not be there yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            every: Duration::from_secs(1),
            reading: Reading::default(),
        }
    }

    /// How often the file is read; 1 s by default, which is the least. At most the
    /// [`discovery_interval`](crate::Builder::discovery_interval).
    #[must_use]
    pub fn check_every(mut self, time: Duration) -> Self {
        self.every = time;
        self
    }
}

impl Discovery for NodesFile {
    async fn discover(&mut self, _: &Dialer) -> Result<Discovered, DiscoveryError> {
        let path = self.path.clone();
        let begin = || tokio::task::spawn_blocking(move || read(&path));
        let read = self.reading.0.get_or_insert_with(begin).await;
        self.reading.0 = None;
        let text = read??;
        Ok(Discovered::new(parse(&text)?).valid_for(self.every))
    }

    fn source(&self) -> String {
        self.path.display().to_string()
    }
}

fn read(path: &Path) -> io::Result<String> {
    // A pipe would be opened once somebody writes to it, which nobody may ever do.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    let mut file = File::open(path)?.take(MAX_LEN + 1);
    if file.read_to_string(&mut text)? as u64 > MAX_LEN {
        return Err(io::Error::other(format!(
            "the file is longer than {MAX_LEN} bytes"
        )));
    }
    Ok(text)
}

/// The nodes that the text of a file lists.
fn parse(text: &str) -> Result<Vec<NodeConfig>, DiscoveryError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().filter_map(|(at, line)| {
        let node = line.split('#').next().unwrap_or_default().trim();
        (!node.is_empty()).then_some((at + 1, node))
    });
    lines
        .map(|(number, node)| {
            node.parse()
                .map_err(|error| format!("line {number}: {error}").into())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_node_a_comment_or_empty() {
        let text = "# the cache\n\na=h1:1*2\r\n  h2  # the new one\n\tunix:/run/m\n";
        let nodes = parse(text).unwrap();
        let names: Vec<&str> = nodes.iter().map(NodeConfig::name).collect();
        assert_eq!(names, ["a", "h2", "unix:/run/m"]);
        assert_eq!(nodes[0].weight(), 2);
        assert_eq!(parse("").unwrap(), []);
        assert_eq!(parse("\u{feff}a\r\n").unwrap()[0].name(), "a");
        let error = parse("h1\n\nh2:0\n").unwrap_err().to_string();
        assert!(
            error.starts_with("line 3: ") && error.contains("1 to 65535"),
            "{error}"
        );
    }

    #[test]
    fn what_is_no_list_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nodes");
        assert_eq!(read(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        std::fs::write(&path, [0xff; 10]).unwrap();
        assert_eq!(read(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        let max = usize::try_from(MAX_LEN).unwrap();
        std::fs::write(&path, "#".repeat(max)).unwrap();
        assert_eq!(read(&path).unwrap().len(), max);
        std::fs::write(&path, "#".repeat(max + 1)).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("longer than"));
    }
}
