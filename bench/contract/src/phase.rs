//! When operations count.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a program runs before its operations are counted.
pub const WARM_UP: Duration = Duration::from_millis(200);

const WARMING: u8 = 0;
const COUNTING: u8 = 1;
const OVER: u8 = 2;

/// What all tasks of a program look at before each operation: whether it is counted, and whether
/// there is to be another one. Cheaper than the clock, and the same moment for all.
#[derive(Debug, Clone, Default)]
pub struct Phase(Arc<AtomicU8>);

impl Phase {
    /// Whether operations are not counted yet.
    pub fn is_warming(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WARMING
    }

    /// Whether operations are counted.
    pub fn is_counting(&self) -> bool {
        self.0.load(Ordering::Relaxed) == COUNTING
    }

    /// Takes the tasks through the phases from a thread of its own, and returns how many seconds
    /// were counted.
    pub fn conduct(&self, span: Duration) -> f64 {
        thread::sleep(WARM_UP);
        let began = Instant::now();
        self.0.store(COUNTING, Ordering::Relaxed);
        thread::sleep(span);
        self.0.store(OVER, Ordering::Relaxed);
        began.elapsed().as_secs_f64()
    }
}
