//! Who asks, how often and for what: load, clients and keys.

use serde::Deserialize;
use steersman_selection::{Hedge as Delay, Hedging};

use super::Span;
use crate::{Error, ErrorKind};

/// The load of all clients together: open with a `rate`, closed with `workers`, or both.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Load {
    /// Requests a second of all clients together, above 0, up to 100 million; as many in all, retries
    /// included. They come whether others are answered or not, unless there are `workers`.
    pub rate: Option<f64>,
    /// How requests follow each other; Poisson by default. Those of workers are regular.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// A closed loop: so many workers, 1 to 1,048,576, each with one request at a time. With a `rate` each
    /// of them keeps to its part of that, as long as it is answered in time.
    pub workers: Option<u32>,
    /// How long a worker waits after an answer before it asks again; 0 by default. After a failure it
    /// waits a millisecond at least.
    #[serde(default)]
    pub think: Span,
    /// Other rates from some time on, in order of time.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// The share of requests, 0 to 1, that take `scan-factor` times as long; 0 by default.
    #[serde(default)]
    pub scans: f64,
    /// How many times as long a scan takes, 1 to 10,000; 100 by default.
    #[serde(default = "hundred")]
    pub scan_factor: f64,
}

fn hundred() -> f64 {
    100.0
}

/// How requests follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Arrivals {
    /// Independently of each other.
    #[default]
    Poisson,
    /// At even distances.
    Regular,
}

/// Another rate from some time on.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Step {
    /// From when on.
    pub at: Span,
    /// Requests a second.
    pub rate: f64,
}

/// What the clients are like. Each has a policy of its own, and knows nothing of the others.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Clients {
    /// How many, 1 to 65,536; 1 by default.
    pub count: u32,
    /// The share of the clients that makes `demand` of the requests, 0 to 1; as much as others by default.
    pub busy: Option<f64>,
    /// The share of the requests that the busy clients make, 0 to 1.
    pub demand: Option<f64>,
    /// In which datacenter they are. Servers of others are remote to them.
    pub datacenter: Option<String>,
    /// To how many nodes of each other datacenter plans go on; 0 by default.
    pub remote_nodes: usize,
    /// How long an attempt may take; for ever by default.
    pub timeout: Option<Span>,
    /// How many further nodes are asked after an attempt that failed, 0 to 6; 0 by default.
    pub retries: u8,
    /// When a second node is asked as well.
    pub hedge: Option<Hedge>,
}

impl Default for Clients {
    fn default() -> Self {
        Self {
            count: 1,
            busy: None,
            demand: None,
            datacenter: None,
            remote_nodes: 0,
            timeout: None,
            retries: 0,
            hedge: None,
        }
    }
}

/// A second node is asked when the first has not answered for some time; the first answer counts and the
/// other attempt is cancelled, though its server goes on with it.
///
/// Each client decides by [`Hedging`], as it is; either `after` or `percentile` says when.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Hedge {
    /// After this time.
    pub after: Option<Span>,
    /// After the time within which the fastest of the nodes that may be asked answers this share of its
    /// requests, above 0 and below 1.
    pub percentile: Option<f64>,
    /// How many hedges there may be in proportion to requests, 0 to 1; 0.05 by default.
    #[serde(default = "five_percent")]
    pub budget: f64,
    /// How many of them a client may save up, and has to begin with; 10 by default.
    #[serde(default = "ten")]
    pub burst: u32,
}

fn five_percent() -> f64 {
    0.05
}

fn ten() -> u32 {
    10
}

impl Hedge {
    /// What decides for one client.
    pub(crate) fn hedging(&self) -> Result<Hedging, Error> {
        let when = match (self.after, self.percentile) {
            (Some(after), None) => Delay::After(after.into()),
            (None, Some(share)) => Delay::Percentile(share),
            _ => {
                let allowed = "give clients.hedge.after or clients.hedge.percentile";
                return Err(Error::option("clients.hedge", "that", allowed));
            }
        };
        Hedging::new(when)
            .and_then(|hedging| hedging.budget(self.budget, self.burst))
            .map_err(|error| {
                Error::new(
                    ErrorKind::InvalidScenario,
                    format!("clients.hedge: {error}"),
                )
            })
    }
}

/// The keys that are asked for, and on how many servers each lives. Without this any server can answer
/// any request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Keys {
    /// How many different keys, 1 to 1,048,576.
    pub count: u32,
    /// Zipf's exponent, 0 (all alike, the default) to 4.
    #[serde(default)]
    pub zipf: f64,
    /// On how many servers a key lives, 1 to 16.
    pub replicas: usize,
}

impl Load {
    /// Requests come when they came in the recording; the rate is their mean.
    pub(super) fn of_recording(rate: f64) -> Self {
        Self {
            rate: Some(rate),
            arrivals: Arrivals::Regular,
            workers: None,
            think: Span::ZERO,
            steps: Vec::new(),
            scans: 0.0,
            scan_factor: 1.0,
        }
    }

    pub(super) fn validate(&self) -> Result<(), Error> {
        let rates = self.steps.iter().map(|step| ("load.steps.rate", step.rate));
        for (option, rate) in self
            .rate
            .map(|rate| ("load.rate", rate))
            .into_iter()
            .chain(rates)
        {
            if !(rate > 0.0 && rate <= 1e8) {
                return Err(Error::option(
                    option,
                    rate,
                    "choose more than 0, up to 100000000",
                ));
            }
        }
        if self.rate.is_none() && !self.steps.is_empty() {
            let allowed = "give load.rate as well, for the time before them";
            return Err(Error::option("load.steps", self.steps.len(), allowed));
        }
        if !self.steps.is_sorted_by(|one, next| one.at < next.at) {
            return Err(Error::option(
                "load.steps.at",
                "some step",
                "write steps in order of time",
            ));
        }
        match self.workers {
            None if self.rate.is_none() => {
                let allowed = "give load.rate, load.workers or both";
                return Err(Error::option("load", "nothing", allowed));
            }
            Some(workers) if !(1..=1 << 20).contains(&workers) => {
                return Err(Error::option(
                    "load.workers",
                    workers,
                    "choose 1 to 1048576",
                ));
            }
            _ => {}
        }
        share("load.scans", self.scans)?;
        if !(1.0..=10_000.0).contains(&self.scan_factor) {
            return Err(Error::option(
                "load.scan-factor",
                self.scan_factor,
                "choose 1 to 10000",
            ));
        }
        Ok(())
    }
}

impl Clients {
    pub(super) fn validate(&self) -> Result<(), Error> {
        if !(1..=1 << 16).contains(&self.count) {
            return Err(Error::option(
                "clients.count",
                self.count,
                "choose 1 to 65536",
            ));
        }
        match (self.busy, self.demand) {
            (None, None) => {}
            (Some(busy), Some(demand)) => {
                share("clients.busy", busy)?;
                share("clients.demand", demand)?;
            }
            _ => {
                let allowed = "give clients.busy and clients.demand, or neither";
                return Err(Error::option("clients", "one of two", allowed));
            }
        }
        if self.timeout == Some(Span::ZERO) {
            return Err(Error::option(
                "clients.timeout",
                "0",
                "choose more, or leave it out",
            ));
        }
        if self.retries > 6 {
            return Err(Error::option(
                "clients.retries",
                self.retries,
                "choose 0 to 6",
            ));
        }
        self.hedge.map_or(Ok(()), |hedge| hedge.hedging().map(drop))
    }
}

impl Keys {
    pub(super) fn validate(&self, servers: usize) -> Result<(), Error> {
        if !(1..=1 << 20).contains(&self.count) {
            return Err(Error::option(
                "keys.count",
                self.count,
                "choose 1 to 1048576",
            ));
        }
        if !(0.0..=4.0).contains(&self.zipf) {
            return Err(Error::option("keys.zipf", self.zipf, "choose 0 to 4"));
        }
        if !(1..=servers.min(16)).contains(&self.replicas) {
            let allowed = "choose 1 to 16, and no more than there are servers";
            return Err(Error::option("keys.replicas", self.replicas, allowed));
        }
        Ok(())
    }
}

pub(super) fn share(option: &str, share: f64) -> Result<(), Error> {
    if (0.0..=1.0).contains(&share) {
        Ok(())
    } else {
        Err(Error::option(option, share, "choose 0 to 1"))
    }
}
