//! What this process holds: memory, open files, tasks.

use std::fs;
use std::io;

use tokio::runtime::Handle;

/// What the process holds at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vitals {
    /// Resident memory, in bytes.
    pub memory: u64,
    /// Open file descriptors, sockets among them.
    pub files: usize,
    /// Tasks on the current runtime that have not ended.
    pub tasks: usize,
}

impl Vitals {
    /// Those of now.
    ///
    /// Fails where there is no `/proc` as on Linux.
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    pub fn now() -> io::Result<Self> {
        Ok(Self {
            memory: memory()?,
            files: fs::read_dir("/proc/self/fd")?.count(),
            tasks: Handle::current().metrics().num_alive_tasks(),
        })
    }
}

fn memory() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    let bytes = kilobytes.map(|kilobytes| kilobytes * 1024);
    bytes.ok_or_else(|| io::Error::other("/proc/self/status does not tell the resident memory"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_opened_started_and_kept_is_seen() {
        let before = Vitals::now().unwrap();
        let files: Vec<_> = (0..100)
            .map(|_| fs::File::open("/dev/null").unwrap())
            .collect();
        let tasks: Vec<_> = (0..100)
            .map(|_| tokio::spawn(std::future::pending::<()>()))
            .collect();
        let kept = vec![1_u8; 64 << 20];
        let during = Vitals::now().unwrap();
        // Other tests of this process open files, too, but not as many.
        assert!(during.files > before.files + 50, "{during:?}");
        assert_eq!(during.tasks, before.tasks + 100);
        assert!(during.memory > before.memory + (32 << 20), "{during:?}");
        drop((files, kept));
        tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}
