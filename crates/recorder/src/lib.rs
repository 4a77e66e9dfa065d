//! A log of what attempts at nodes cost, for finding out which policy would have served better.
//!
//! An [`AttemptLog`] is a [`Recorder`](steersman_selection::Recorder) that writes a line of JSON for each
//! attempt. `steersman simulate --record attempts.jsonl` replays it under every policy.
//!
//! It is one line in the options of a client with replicas of `steersman-memcached`:
//! `Replication::new(3).record(log.clone())`; and of `steersman-scylla`:
//! `LoadBalancer::new(chain).record(log.clone())`. Other clients call it beside their policy:
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use steersman_recorder::AttemptLog;
//! use steersman_selection::{Attempt, NodeIndex, Outcome, Recorder, Timestamp};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("attempts.jsonl");
//! let log = AttemptLog::create(&path)?;
//! let name: Arc<str> = Arc::from("cache-1:11211");
//! let took = Duration::from_micros(812);
//! log.record(&name, &Attempt::new(NodeIndex::default(), Timestamp::default(), took, Outcome::Success));
//! log.close()?;
//! assert_eq!((log.written(), log.dropped()), (1, 0));
//! # assert!(std::fs::read_to_string(&path).unwrap().contains("\"latency_ns\":812000"));
//! # Ok::<(), steersman_recorder::Error>(())
//! ```

mod error;
mod line;
mod log;
mod writer;

pub use crate::error::{Error, ErrorKind};
pub use crate::log::AttemptLog;
