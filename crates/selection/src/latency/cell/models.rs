//! Every order in which threads can meet at a score, by loom.
//!
//! (Loom forgets that one thread has read once another has read the same, so who writes runs first
//! here, and who only reads is a thread of its own.)

use loom::sync::Arc;
use loom::thread;

use super::*;

fn score(number: u64) -> Score {
    let nanos = i64::try_from(number).unwrap();
    Score {
        updated: Timestamp::from_nanos(nanos * 3),
        average_nanos: nanos * 5,
        samples: number,
    }
}

/// Adds one to the number of the score.
fn count(cell: &ScoreCell) {
    cell.update(|before| Some(score(before.map_or(0, |score| score.samples) + 1)));
}

/// So many scores follow upon a first one while another thread reads.
fn read_meanwhile(writes: u64, reads: usize) {
    loom::model(move || {
        let cell = Arc::new(ScoreCell::default());
        count(&cell);
        let reader = {
            let cell = Arc::clone(&cell);
            thread::spawn(move || {
                let mut last = 1;
                for _ in 0..reads {
                    let seen = cell.load().unwrap();
                    assert_eq!(seen, score(seen.samples));
                    assert!(seen.samples >= last);
                    last = seen.samples;
                }
            })
        };
        for _ in 0..writes {
            count(&cell);
        }
        reader.join().unwrap();
        assert_eq!(cell.load(), Some(score(1 + writes)));
    });
}

#[test]
fn a_reader_sees_whole_scores() {
    // The first of them goes to the copy that nobody reads, the second to the other one.
    read_meanwhile(2, 1);
}

#[test]
fn a_reader_never_sees_an_older_score_than_before() {
    read_meanwhile(1, 2);
}

#[test]
fn no_update_is_lost() {
    loom::model(|| {
        let cell = Arc::new(ScoreCell::default());
        let other = {
            let cell = Arc::clone(&cell);
            thread::spawn(move || count(&cell))
        };
        count(&cell);
        other.join().unwrap();
        assert_eq!(cell.load(), Some(score(2)));
    });
}

#[test]
fn what_is_cleared_stays_cleared_unless_it_is_written_again() {
    loom::model(|| {
        let cell = Arc::new(ScoreCell::default());
        count(&cell);
        let writer = {
            let cell = Arc::clone(&cell);
            thread::spawn(move || count(&cell))
        };
        cell.clear();
        writer.join().unwrap();
        // Cleared after the update, or between: then the update began anew.
        let left = cell.load();
        assert!(left.is_none() || left == Some(score(1)), "{left:?}");
    });
}
