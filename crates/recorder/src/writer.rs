//! The thread that writes a log.
//!
//! It looks into the queue by itself from time to time and is not woken by those who fill it: waking a
//! thread is a call to the system, and would cost a request more than all the rest.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::line::Entry;

/// How often it looks.
const EVERY: Duration = Duration::from_millis(50);

/// As many lines as a replay reads.
pub(crate) const MOST_LINES: u64 = 20_000_000;

/// What the thread and its log tell each other.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    is_closed: AtomicBool,
    written: AtomicU64,
    dropped: AtomicU64,
}

impl Progress {
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

pub(crate) fn start(
    destination: impl Write + Send + 'static,
    entries: Receiver<Entry>,
    progress: Arc<Progress>,
) -> io::Result<JoinHandle<io::Result<()>>> {
    thread::Builder::new()
        .name("attempt-log".to_owned())
        .spawn(move || write(BufWriter::new(destination), &entries, &progress))
}

/// Writes until the log is closed or nobody has it any more, or writing fails.
fn write(
    mut destination: BufWriter<impl Write>,
    entries: &Receiver<Entry>,
    progress: &Progress,
) -> io::Result<()> {
    loop {
        // Before the queue is looked into: whatever was recorded before the end is in it then.
        let mut is_over = progress.is_closed();
        loop {
            match entries.try_recv() {
                Ok(_) if progress.written() >= MOST_LINES => {
                    progress.dropped.fetch_add(1, Ordering::Relaxed);
                }
                Ok(entry) => {
                    if let Err(error) = entry.write(&mut destination) {
                        let lost = 1 + entries.try_iter().count() as u64;
                        progress.dropped.fetch_add(lost, Ordering::Relaxed);
                        return Err(error);
                    }
                    progress.written.fetch_add(1, Ordering::Relaxed);
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    is_over = true;
                    break;
                }
            }
        }
        destination.flush()?;
        if is_over {
            return Ok(());
        }
        thread::park_timeout(EVERY);
    }
}
