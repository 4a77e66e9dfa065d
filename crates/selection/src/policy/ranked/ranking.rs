//! Rankings: what a policy that ranks nodes keeps of each, and what a request would cost there.

use crate::policy::Condition;
use crate::{Error, Score, Timestamp};

/// What nodes are ranked by: the part in which the [`Ranked`](crate::Ranked) policies differ.
///
/// Only this crate has rankings.
pub trait Ranking: sealed::Ranking {}

impl<R: sealed::Ranking> Ranking for R {}

/// What it costs to send a request to a node now; the lower the better.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Cost {
    group: u8,
    value: f64,
}

impl Cost {
    /// Nothing is known of the node and nothing is on its way to find out: one request should.
    pub(super) const UNTRIED: Self = Self {
        group: 0,
        value: 0.0,
    };

    /// So much.
    #[inline]
    pub(super) fn of(value: f64) -> Self {
        Self { group: 1, value }
    }

    /// More than that of any node of [`Cost::of`]; among each other by what is in flight.
    #[inline]
    pub(super) fn beyond(in_flight: u32) -> Self {
        Self {
            group: 2,
            value: f64::from(in_flight),
        }
    }

    /// Whether it is below `share` of the other, which is at most 1.
    #[inline]
    pub(super) fn is_below(self, share: f64, other: Self) -> bool {
        self.group < other.group || self.group == other.group && self.value < share * other.value
    }

    /// Of a node of which nothing is known.
    #[inline]
    pub(super) fn unknown(in_flight: u32) -> Self {
        if in_flight == 0 {
            Self::UNTRIED
        } else {
            Self::beyond(in_flight)
        }
    }
}

pub(super) mod sealed {
    use super::{Condition, Cost, Error, Score, Timestamp};

    /// What a ranking has to answer. `in_flight` is what was sent to the node and has not ended, and
    /// what failures stand for besides.
    pub trait Ranking: Default + Send + Sync + 'static {
        /// What is kept of a node.
        type Record: Default + Send + Sync;

        /// Its policy's name.
        const NAME: &'static str;

        /// How many nodes of a tier are compared, unless it is said otherwise.
        const CHOICES: usize;

        /// For how long a node that came in among others gets one in four of its requests.
        const NOVICE_NANOS: i64 = 0;

        /// For how long failures stand for requests in flight at most, be there no answer. A ranking by which
        /// a node is asked only while it is the cheapest would not get one.
        const BURDEN_NANOS: i64 = i64::MAX;

        /// Whether [`Ranking::is_slow`] is ever so.
        const JUDGES_SPEED: bool = false;

        /// Whether [`Ranking::tick`] is to be called.
        const TICKS: bool = false;

        /// Refuses parameters that are out of range.
        fn validate(&self) -> Result<(), Error> {
            Ok(())
        }

        /// For how long what was measured is to be believed. Called once.
        fn retry_after(&mut self, _nanos: i64) {}

        /// What a request would cost.
        fn cost(&self, record: &Self::Record, in_flight: u32, now: Timestamp) -> Cost;

        /// What a request would cost at a node whose failures stand for more than is in flight.
        #[inline]
        fn burdened_cost(
            &self,
            record: &Self::Record,
            in_flight: u32,
            burden: u32,
            now: Timestamp,
        ) -> Cost {
            self.cost(record, in_flight.saturating_add(burden), now)
        }

        /// Of which share of another cost one has to be below, to be told from it.
        #[inline]
        fn distinction(&self) -> f64 {
            1.0
        }

        /// A request was sent while so many were in flight.
        #[inline]
        fn begun(&self, _record: &Self::Record, _in_flight: u32, _now: Timestamp) {}

        /// A request was answered, one of so many in flight.
        fn answered(&self, record: &Self::Record, latency: i64, in_flight: u32, now: Timestamp);

        /// A request has failed, one of so many in flight.
        fn failed(&self, record: &Self::Record, latency: i64, in_flight: u32, now: Timestamp);

        /// A request, one of so many in flight, was not answered within that time, and is not waited for
        /// any longer.
        fn given_up(
            &self,
            _record: &Self::Record,
            _latency: i64,
            _in_flight: u32,
            _now: Timestamp,
        ) {
        }

        /// A probe was answered while so many requests were in flight.
        fn probed(&self, _record: &Self::Record, _latency: i64, _in_flight: u32, _now: Timestamp) {}

        /// How many probes may go with a request.
        fn probes(&self) -> usize {
            0
        }

        /// Whether a probe should go there. One that was asked for counts as sent.
        fn wants_probe(&self, _record: &Self::Record, _now: Timestamp) -> bool {
            false
        }

        /// Whether the node should be put behind the others as long as those are the majority.
        fn is_slow(&self, _record: &Self::Record, _in_flight: u32, _now: Timestamp) -> bool {
            false
        }

        /// What is to be done regularly with the records of all nodes.
        fn tick<'a>(&self, _records: impl Iterator<Item = &'a Self::Record>) {}

        /// Another node has come in under the same number.
        fn clear(&self, record: &Self::Record);

        /// What was measured.
        fn score(&self, _record: &Self::Record) -> Option<Score> {
            None
        }

        /// How a node that takes its share is regarded.
        fn condition(&self, record: &Self::Record, in_flight: u32, now: Timestamp) -> Condition;
    }
}
