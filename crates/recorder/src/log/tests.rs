use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use proptest::prelude::*;
use steersman_selection::{NodeIndex, Outcome, Timestamp};
use steersman_simulator::Recording;

use super::*;

/// Keeps what is written where a test can read it.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes nothing before it is told to.
struct Gate(Receiver<()>);

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn attempt(micros: u64, outcome: Outcome) -> Attempt {
    let took = Duration::from_micros(micros);
    Attempt::new(NodeIndex::default(), Timestamp::default(), took, outcome)
}

#[test]
fn each_outcome_that_tells_of_the_node_is_a_line() {
    let kept = Kept::default();
    let log = AttemptLog::to(kept.clone()).unwrap();
    let node = Arc::from("cache \"1\"\n");
    for outcome in [
        Outcome::Success,
        Outcome::Failed,
        Outcome::TimedOut,
        Outcome::Disconnected,
        Outcome::Refused,
        Outcome::Cancelled,
        Outcome::Rejected,
        Outcome::Busy,
    ] {
        log.record(&node, &attempt(3, outcome));
    }
    log.record(&node, &attempt(3, Outcome::Success).of_probe());
    log.close().unwrap();
    assert_eq!((log.written(), log.dropped()), (6, 0));
    let recording = Recording::read(&*kept.bytes()).unwrap();
    assert_eq!(recording.nodes(), ["cache \"1\"\n"]);
    assert_eq!(recording.len(), 6);
    assert_eq!(recording.report().succeeded(), 1);

    // The end is the end.
    log.record(&node, &attempt(3, Outcome::Success));
    assert_eq!((log.written(), log.dropped()), (6, 1));
    log.close().unwrap();
}

#[test]
fn a_request_never_waits_for_the_log() {
    let (open, gate) = channel();
    let log = AttemptLog::with_queue(Gate(gate), 8).unwrap();
    let node = Arc::from("a");
    // More than the queue and the buffer of the writer hold, however fast it takes them out.
    for _ in 0..10_000 {
        log.record(&node, &attempt(3, Outcome::Success));
    }
    assert!(log.dropped() > 0);
    drop(open);
    log.close().unwrap();
    assert_eq!(log.written() + log.dropped(), 10_000);
}

#[test]
fn what_cannot_be_written_is_counted_and_told_at_the_end() {
    let log = AttemptLog::to(Full).unwrap();
    log.record(&Arc::from("a"), &attempt(3, Outcome::Success));
    let error = log.close().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Write);
    assert!(!error.is_retryable());
}

#[test]
fn a_log_that_nobody_has_any_more_is_written_to_its_end() {
    let kept = Kept::default();
    let log = AttemptLog::to(kept.clone()).unwrap();
    let writer = log.shared.writer.lock().unwrap().take().unwrap();
    log.clone()
        .record(&Arc::from("a"), &attempt(3, Outcome::Success));
    drop(log);
    writer.join().unwrap().unwrap();
    assert_eq!(Recording::read(&*kept.bytes()).unwrap().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Whatever nodes are called and however long attempts take, a replay reads it.
    #[test]
    fn what_is_written_can_be_read(
        attempts in prop::collection::vec((".{0,20}", 0..1_000_000_000_u64), 1..50),
    ) {
        let kept = Kept::default();
        let log = AttemptLog::to(kept.clone()).unwrap();
        for (node, micros) in &attempts {
            log.record(&Arc::from(node.as_str()), &attempt(*micros, Outcome::Success));
        }
        log.close().unwrap();
        let recording = Recording::read(&*kept.bytes()).unwrap();
        prop_assert_eq!(recording.len(), attempts.len());
        for (node, _) in &attempts {
            prop_assert!(recording.nodes().contains(node));
        }
    }
}
