//! A score that threads share: readers never wait for a writer.
//!
//! The score's three words are kept twice. The version's second bit says which copy is current; a
//! writer fills the other one and then moves on the version. A reader reads the current copy and
//! starts again only if the version moved on meanwhile, that is if a writer has finished: one that
//! was interrupted half-way holds up nobody but other writers. (Linux calls this a latch, see
//! `seqcount_latch_t`; Boehm, "Can seqlocks get along with programming language memory models?",
//! MSPC 2012, explains the fences.)

use super::Score;
use crate::Timestamp;
use crate::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};
use crate::sync::spin_loop;

/// A score, or none yet. It has a cache line of its own, so that nodes do not slow each other down.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct ScoreCell {
    version: AtomicU64,
    copies: [Words; 2],
}

/// Set in the version while a writer is at work.
const LOCKED: u64 = 1;

/// Added to the version by each write; its lowest bit selects the copy.
const STEP: u64 = 2;

#[derive(Debug, Default)]
struct Words {
    updated: AtomicI64,
    average: AtomicI64,
    /// 0 if there is no score.
    samples: AtomicU64,
}

impl ScoreCell {
    /// The score as of now.
    #[inline]
    pub(crate) fn load(&self) -> Option<Score> {
        self.read().1
    }

    /// Replaces the score by what `change` makes of it, unless that is `None`, and returns the new
    /// one. `change` is called again if another thread was faster.
    #[inline]
    pub(crate) fn update(
        &self,
        mut change: impl FnMut(Option<Score>) -> Option<Score>,
    ) -> Option<Score> {
        loop {
            let (version, before) = self.read();
            if version & LOCKED != 0 {
                spin_loop();
                continue;
            }
            let after = change(before)?;
            if self.write(version, Some(after)) {
                return Some(after);
            }
        }
    }

    /// Takes the score away.
    pub(crate) fn clear(&self) {
        loop {
            let version = self.version.load(Ordering::Acquire) & !LOCKED;
            if self.write(version, None) {
                return;
            }
            spin_loop();
        }
    }

    #[inline]
    fn read(&self) -> (u64, Option<Score>) {
        let mut version = self.version.load(Ordering::Acquire);
        loop {
            let score = self.copy(version).load();
            // Orders the reads of the copy before the second look at the version.
            fence(Ordering::Acquire);
            let seen = self.version.load(Ordering::Relaxed);
            if seen / STEP == version / STEP {
                return (version, score);
            }
            version = self.version.load(Ordering::Acquire);
        }
    }

    /// Writes unless the version has moved on or is locked.
    #[inline]
    fn write(&self, version: u64, score: Option<Score>) -> bool {
        let locked = self.version.compare_exchange(
            version,
            version | LOCKED,
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        if locked.is_err() {
            return false;
        }
        // A reader that sees a word written below also sees that the version moved on before.
        fence(Ordering::Release);
        let next = version.wrapping_add(STEP);
        self.copy(next).store(score);
        self.version.store(next, Ordering::Release);
        true
    }

    #[inline]
    fn copy(&self, version: u64) -> &Words {
        &self.copies[usize::from(version & STEP != 0)]
    }
}

impl Words {
    #[inline]
    fn load(&self) -> Option<Score> {
        let score = Score {
            updated: Timestamp::from_nanos(self.updated.load(Ordering::Relaxed)),
            average_nanos: self.average.load(Ordering::Relaxed),
            samples: self.samples.load(Ordering::Relaxed),
        };
        (score.samples > 0).then_some(score)
    }

    #[inline]
    fn store(&self, score: Option<Score>) {
        let samples = score.map_or(0, |score| score.samples);
        self.samples.store(samples, Ordering::Relaxed);
        if let Some(score) = score {
            self.updated.store(score.updated.nanos(), Ordering::Relaxed);
            self.average.store(score.average_nanos, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    fn score(number: u64) -> Score {
        let number_nanos = i64::try_from(number).unwrap();
        Score {
            updated: Timestamp::from_nanos(number_nanos * 3),
            average_nanos: number_nanos * 5,
            samples: number,
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let cell = ScoreCell::default();
        assert_eq!(size_of_val(&cell), 64);
        assert_eq!(cell.load(), None);
        for number in 1..5 {
            let before = cell.load();
            let after = cell.update(|seen| {
                assert_eq!(seen, before);
                Some(score(number))
            });
            assert_eq!(
                (after, cell.load()),
                (Some(score(number)), Some(score(number)))
            );
        }
        assert_eq!(cell.update(|_| None), None);
        assert_eq!(cell.load(), Some(score(4)));
        cell.clear();
        assert_eq!(cell.load(), None);
    }

    #[test]
    fn no_thread_sees_half_a_score_and_no_update_is_lost() {
        const EACH: u64 = if cfg!(miri) { 30 } else { 20_000 };
        let cell = ScoreCell::default();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let writers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        for _ in 0..EACH {
                            cell.update(|before| {
                                Some(score(before.map_or(0, |score| score.samples) + 1))
                            });
                        }
                    })
                })
                .collect();
            let reader = scope.spawn(|| {
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    if let Some(seen) = cell.load() {
                        assert_eq!(seen, score(seen.samples));
                        assert!(seen.samples >= last);
                        last = seen.samples;
                    }
                }
            });
            for writer in writers {
                writer.join().unwrap();
            }
            done.store(true, Ordering::Relaxed);
            reader.join().unwrap();
        });
        assert_eq!(cell.load(), Some(score(2 * EACH)));
    }

    #[test]
    fn a_writer_that_is_interrupted_holds_up_no_reader() {
        let cell = ScoreCell::default();
        cell.update(|_| Some(score(1)));
        let version = cell.version.fetch_or(LOCKED, Ordering::Relaxed);
        cell.copy(version + STEP)
            .samples
            .store(9, Ordering::Relaxed);
        assert_eq!(cell.load(), Some(score(1)));
    }
}
