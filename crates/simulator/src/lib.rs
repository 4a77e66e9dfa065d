//! Which selection policy is best for which cluster: policies in virtual time.
//!
//! A [`Scenario`] says what servers, clients and load there are and what goes wrong when; a [`Simulation`]
//! runs it with any [`Policy`](steersman_selection::Policy), the very code that clients use, and gives a
//! [`Report`]. The same seed gives the same report, and different policies meet the same requests and
//! faults under the same seed.
//!
//! ```
//! use steersman_simulator::{Measure, PolicyKind, Scenario, Simulation};
//!
//! let scenario = Scenario::builtin("s9")?.remove(0);
//! let simulation = Simulation::new(&scenario)?;
//! for policy in [PolicyKind::RoundRobin, PolicyKind::LatencyAware] {
//!     let report = simulation.run_policy(policy, 1);
//!     println!("{policy}: p99 {:?} s", report.measure(Measure::P99));
//! }
//! # Ok::<(), steersman_simulator::Error>(())
//! ```
//!
//! # The model
//!
//! - A **server** works on as many requests at a time as it has slots, first come first served; others wait,
//!   or are refused by a full queue. It goes on with requests whose clients have given up.
//! - What goes wrong is known beforehand. A server that slows down does so for what it begins from then on; a
//!   stall holds up everything; one that dies loses what it has.
//! - A **client** has a policy of its own. Each attempt goes to the next node of a plan; one that fails is
//!   followed by others as far as retries go. A server that is down stays in the topology: noticing is the
//!   policy's matter.
//! - The **network** takes the same time for each message to one server, whoever sends it, and loses none.
//! - **Latency** is from the request to its answer, retries included. A request that failed counts with the
//!   time-out at least.
//!
//! What it leaves out: what a client's own threads cost, connections, values of different sizes unless they
//! are part of the service times, and caches that grow cold by being avoided.

mod catalogue;
mod compare;
mod engine;
mod error;
mod measure;
mod plot;
mod random;
mod recording;
mod scenario;

pub use crate::catalogue::PolicyKind;
pub use crate::compare::{Checked, Comparison, Row};
pub use crate::engine::{Seat, Simulation};
pub use crate::error::{Error, ErrorKind};
pub use crate::measure::{Bucket, Estimate, Histogram, Measure, Report, Unit};
pub use crate::plot::plot;
pub use crate::recording::Recording;
pub use crate::scenario::{
    Arrivals, Choice, Clients, Effect, Fault, Hedge, Keys, Load, Published, Scenario, Servers,
    Service, Span, Step, Victims,
};
