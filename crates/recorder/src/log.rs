//! The log: what requests hand in, without waiting for the disk.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime};

use steersman_selection::{Attempt, Recorder};

use crate::line::Entry;
use crate::writer::{self, Progress};
use crate::{Error, ErrorKind};

/// How many attempts may wait to be written: those of 50 ms at 1.3 million a second.
const QUEUE: usize = 1 << 16;

/// A log of attempts, one line of JSON each. Clones are the same log.
///
/// Recording an attempt reads the clock and puts 56 bytes in a queue; a thread of the log's own takes
/// them out twenty times a second and writes. If 65,536 wait, further ones are [dropped](Self::dropped) and
/// counted: a request never waits for the log. The queue takes 4 MiB.
///
/// | outcome | is written |
/// | --- | --- |
/// | success, failed, timed out, disconnected, refused | as such |
/// | cancelled: given up unanswered, after that time | as such |
/// | rejected, busy; probes | not at all: they tell nothing of how the node serves requests |
///
/// Times are those of the system's clock when the log was begun, and then of a monotonic one, so that logs of
/// several processes can be replayed as one. A log ends at 20 million lines, some 2 GB, as many as a replay reads;
/// what comes then counts as dropped.
#[derive(Clone)]
pub struct AttemptLog {
    shared: Arc<Shared>,
}

struct Shared {
    queue: SyncSender<Entry>,
    progress: Arc<Progress>,
    dropped: AtomicU64,
    /// The system's time at the origin, in nanoseconds since 1970.
    epoch: i64,
    origin: Instant,
    writer: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

impl AttemptLog {
    /// A log in a new file; one that is there is overwritten.
    ///
    /// Fails if the file cannot be made ([`ErrorKind::Open`]), or no thread be started
    /// ([`ErrorKind::Thread`]).
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let file = File::create(path).map_err(|error| {
            let message = format!("the log {} cannot be made", path.display());
            Error::new(ErrorKind::Open, message, error)
        })?;
        Self::to(file)
    }

    /// A log to anything that can be written to, in large pieces. It may block: only the log's own thread
    /// waits.
    ///
    /// Fails if no thread can be started ([`ErrorKind::Thread`]).
    pub fn to(destination: impl Write + Send + 'static) -> Result<Self, Error> {
        Self::with_queue(destination, QUEUE)
    }

    pub(crate) fn with_queue(
        destination: impl Write + Send + 'static,
        size: usize,
    ) -> Result<Self, Error> {
        let (queue, entries) = sync_channel(size);
        let progress = Arc::new(Progress::default());
        let writer =
            writer::start(destination, entries, Arc::clone(&progress)).map_err(|error| {
                let message = "the thread that writes the log cannot be started";
                Error::new(ErrorKind::Thread, message, error)
            })?;
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let epoch = since_1970.map_or(0, |since| since.as_nanos());
        Ok(Self {
            shared: Arc::new(Shared {
                queue,
                progress,
                dropped: AtomicU64::new(0),
                epoch: i64::try_from(epoch).unwrap_or(i64::MAX),
                origin: Instant::now(),
                writer: Mutex::new(Some(writer)),
            }),
        })
    }

    /// How many attempts have been written so far. They are at their destination once the log is
    /// [closed](Self::close), and 50 ms later in any case.
    pub fn written(&self) -> u64 {
        self.shared.progress.written()
    }

    /// How many attempts are missing in the log, because too many were waiting, it had its 20 million lines,
    /// writing failed or it was closed.
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed) + self.shared.progress.dropped()
    }

    /// Writes what waits, and ends the log; what is recorded later is dropped. Blocks until it is written.
    /// Closed again, it has nothing to say.
    ///
    /// A log whose last clone is dropped ends by itself, but nobody waits for that: a process that exits
    /// right then may lose its last 50 ms.
    ///
    /// Fails if something could not be written, now or before ([`ErrorKind::Write`]).
    pub fn close(&self) -> Result<(), Error> {
        let writer = &self.shared.writer;
        let writer = writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(writer) = writer else {
            return Ok(());
        };
        self.shared.progress.close();
        writer.thread().unpark();
        let written = writer
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("what it is written to has panicked")));
        written.map_err(|error| {
            let message = format!(
                "the log has {} lines; {} more could not be written",
                self.written(),
                self.dropped()
            );
            Error::new(ErrorKind::Write, message, error)
        })
    }
}

impl Recorder for AttemptLog {
    fn record(&self, node: &Arc<str>, attempt: &Attempt) {
        let shared = &*self.shared;
        let since = i64::try_from(shared.origin.elapsed().as_nanos()).unwrap_or(i64::MAX);
        let Some(entry) = Entry::of(node, attempt, shared.epoch.saturating_add(since)) else {
            return;
        };
        if shared.progress.is_closed() || shared.queue.try_send(entry).is_err() {
            shared.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for AttemptLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttemptLog")
            .field("written", &self.written())
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
