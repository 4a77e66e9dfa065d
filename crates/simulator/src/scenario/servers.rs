//! The servers, and what goes wrong with them.

use serde::Deserialize;

use super::load::share;
use super::{Service, Span};
use crate::Error;

/// Servers of one kind.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Servers {
    /// How many, 1 to 10,000; servers are numbered from 0 in the order in which they are written.
    pub count: u32,
    /// How long one works on a request.
    pub service: Service,
    /// On how many requests one works at a time, 1 to 65,536; on all by default. Others wait in the order
    /// in which they came.
    pub slots: Option<u32>,
    /// How many may wait, the others are refused; any number by default.
    pub queue: Option<u32>,
    /// In which datacenter they are.
    #[serde(default)]
    pub datacenter: Option<String>,
    /// How long a request takes on the way there, and the answer as long back; 0 by default.
    #[serde(default)]
    pub network: Span,
}

/// Something that goes wrong with servers for a time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Fault {
    /// Which servers it befalls.
    pub servers: Victims,
    /// What is wrong with them.
    pub effect: Effect,
    /// From when on; from the beginning by default.
    #[serde(default)]
    pub from: Span,
    /// Until when; to the end by default.
    pub until: Option<Span>,
    /// It comes and goes: each time so long after the last began, 1 ms at least.
    pub every: Option<Span>,
    /// How long it stays each time, with `every`; as long as that by default.
    pub lasting: Option<Span>,
    /// How likely each of the servers is befallen each time, above 0, up to 1; 1 by default.
    #[serde(default = "certainly")]
    pub probability: f64,
}

fn certainly() -> f64 {
    1.0
}

/// Whom a fault befalls.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    expecting = "write numbers of servers from 0 on, as in [0, 2], or \"all\" or \"random\""
)]
#[non_exhaustive]
pub enum Victims {
    /// The servers of these numbers.
    These(Vec<usize>),
    /// `"all"` of them, or `"random"`: one of them, each time another.
    Chosen(Choice),
}

/// A choice of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Choice {
    /// All of them.
    All,
    /// One, each time another.
    Random,
}

/// What is wrong with a server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Effect {
    /// It takes so many times as long, above 0, up to 10,000. Whoever begins then, ends so.
    Slower(f64),
    /// It takes so much more for each request.
    Later(Span),
    /// It takes as long as this says.
    Service(Service),
    /// It does nothing, as in a garbage collection: all that it works on waits.
    Stalled,
    /// It is gone: what it worked on is lost, connections are refused.
    Down,
    /// It answers nothing, and nobody refuses anything. Clients need a time-out.
    Silent,
    /// It fails requests instead of working on them.
    Failing {
        /// How many of them, 0 to 1.
        share: f64,
        /// After how long.
        after: Span,
    },
    /// It begins cold: so many times as long, 1 to 10,000, and evenly less until the fault is over.
    Cold(f64),
}

impl Servers {
    pub(super) fn validate(&self) -> Result<(), Error> {
        if !(1..=10_000).contains(&self.count) {
            return Err(Error::option(
                "servers.count",
                self.count,
                "choose 1 to 10000",
            ));
        }
        if let Some(slots) = self.slots
            && !(1..=1 << 16).contains(&slots)
        {
            return Err(Error::option("servers.slots", slots, "choose 1 to 65536"));
        }
        if self.queue.is_some() && self.slots.is_none() {
            let allowed = "give servers.slots as well: nobody waits without";
            return Err(Error::option("servers.queue", "some", allowed));
        }
        self.service.validate()
    }
}

impl Fault {
    pub(super) fn validate(&self, servers: usize) -> Result<(), Error> {
        if let Victims::These(numbers) = &self.servers
            && let Some(number) = numbers.iter().find(|number| **number >= servers)
        {
            let allowed = "servers are numbered from 0";
            return Err(Error::option("faults.servers", number, allowed));
        }
        if self.until.is_some_and(|until| until <= self.from) {
            return Err(Error::option(
                "faults.until",
                "that",
                "choose more than faults.from",
            ));
        }
        if let Some(every) = self.every {
            if every < Span::from_nanos(1_000_000) {
                return Err(Error::option("faults.every", every, "choose 1ms or more"));
            }
            if self
                .lasting
                .is_some_and(|lasting| lasting > every || lasting == Span::ZERO)
            {
                let allowed = "choose more than 0, up to faults.every";
                return Err(Error::option("faults.lasting", "that", allowed));
            }
        } else if self.lasting.is_some() {
            let allowed = "give faults.every as well, or faults.until instead";
            return Err(Error::option("faults.lasting", "that", allowed));
        }
        if !(self.probability > 0.0 && self.probability <= 1.0) {
            let allowed = "choose more than 0, up to 1";
            return Err(Error::option(
                "faults.probability",
                self.probability,
                allowed,
            ));
        }
        match &self.effect {
            Effect::Slower(factor) if !(*factor > 0.0 && *factor <= 10_000.0) => {
                let allowed = "choose more than 0, up to 10000";
                Err(Error::option("faults.effect.slower", factor, allowed))
            }
            Effect::Cold(factor) if !(1.0..=10_000.0).contains(factor) => Err(Error::option(
                "faults.effect.cold",
                factor,
                "choose 1 to 10000",
            )),
            Effect::Failing { share: part, .. } => share("faults.effect.failing.share", *part),
            Effect::Service(service) => service.validate(),
            _ => Ok(()),
        }
    }
}
