//! Scenarios: what is simulated, as data.
//!
//! A scenario is a TOML file. Those that come with the crate are in `scenarios/` and are good examples;
//! [`Scenario`] lists the options. One file may hold several variants of a scenario, each with other
//! values for some options.

mod builtin;
mod family;
mod load;
mod published;
mod servers;
mod service;
mod size;
mod span;

use serde::Deserialize;

pub use self::load::{Arrivals, Clients, Hedge, Keys, Load, Step};
pub use self::published::Published;
pub use self::servers::{Choice, Effect, Fault, Servers, Victims};
pub use self::service::Service;
pub use self::span::Span;

use crate::{Error, ErrorKind};

/// What is simulated: servers, clients, load, and what goes wrong when.
///
/// # Examples
///
/// ```
/// use steersman_simulator::{PolicyKind, Scenario, Simulation};
///
/// let scenarios = Scenario::parse(
///     r#"
///     name = "one-slow"
///     title = "One of three servers is slow from the second second on"
///     duration = "4s"
///     [load]
///     rate = 500
///     [[servers]]
///     count = 3
///     service = { exponential = "2ms" }
///     slots = 8
///     [[faults]]
///     servers = [1]
///     from = "2s"
///     effect = { slower = 10 }
///     "#,
/// )?;
/// let report = Simulation::new(&scenarios[0])?.run_policy(PolicyKind::RoundRobin, 1);
/// assert_eq!(report.succeeded(), report.requests());
/// # Ok::<(), steersman_simulator::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Scenario {
    /// Its name, with `/` and that of its variant if it is one.
    pub name: String,
    /// What it shows, in a sentence.
    pub title: String,
    /// Whose experiment it reproduces, if it does.
    pub source: Option<String>,
    /// How long requests are made.
    pub duration: Span,
    /// Requests that are made before this are not counted; 0 by default.
    #[serde(default)]
    pub warm_up: Span,
    /// The load.
    pub load: Load,
    /// The clients; one by default.
    #[serde(default)]
    pub clients: Clients,
    /// The keys; without them any server can answer any request.
    pub keys: Option<Keys>,
    /// The servers, kind by kind.
    pub servers: Vec<Servers>,
    /// What goes wrong.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// What others published of it.
    #[serde(default)]
    pub published: Vec<Published>,
}

impl Scenario {
    /// The names of the scenarios that come with the crate.
    pub fn names() -> impl Iterator<Item = &'static str> {
        builtin::FILES.iter().map(|(name, _)| *name)
    }

    /// All variants of a scenario that comes with the crate, or one of them by `NAME/VARIANT`.
    pub fn builtin(name: &str) -> Result<Vec<Self>, Error> {
        let (file, variant) = match name.split_once('/') {
            Some((file, variant)) => (file, Some(variant)),
            None => (name, None),
        };
        let text = builtin::FILES.iter().find(|(known, _)| *known == file);
        let (_, text) = text.ok_or_else(|| {
            let known: Vec<_> = Self::names().collect();
            let known = known.join(", ");
            let message = format!(
                "there is no scenario {name:?}; choose one of {known}, or a path that ends in .toml"
            );
            Error::new(ErrorKind::UnknownScenario, message)
        })?;
        let mut scenarios = Self::parse(text)?;
        if variant.is_some() {
            let known: Vec<_> = scenarios
                .iter()
                .map(|scenario| scenario.name.clone())
                .collect();
            scenarios.retain(|scenario| scenario.name == name);
            if scenarios.is_empty() {
                let known = known.join(", ");
                let message = format!("there is no variant {name:?}; choose one of {known}");
                return Err(Error::new(ErrorKind::UnknownScenario, message));
            }
        }
        Ok(scenarios)
    }

    /// A scenario whose requests and answers are those of a recording.
    pub(crate) fn of_recording(duration: Span, servers: usize, requests: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "at most 20 million")]
        let rate = requests as f64 / duration.seconds();
        Self {
            name: "recording".to_owned(),
            title: "What was measured".to_owned(),
            source: None,
            duration,
            warm_up: Span::ZERO,
            load: Load::of_recording(rate.min(1e8)),
            clients: Clients::default(),
            keys: None,
            servers: vec![Servers {
                count: u32::try_from(servers).unwrap_or(u32::MAX),
                service: Service::Fixed(Span::ZERO),
                slots: None,
                queue: None,
                datacenter: None,
                network: Span::ZERO,
            }],
            faults: Vec::new(),
            published: Vec::new(),
        }
    }

    /// How many servers there are.
    pub fn server_count(&self) -> usize {
        self.servers
            .iter()
            .map(|servers| servers.count as usize)
            .sum()
    }

    /// Fails if it says what cannot be; the message names the option.
    pub fn validate(&self) -> Result<(), Error> {
        self.validate_options()
            .map_err(|error| error.of(&self.name))
    }

    fn validate_options(&self) -> Result<(), Error> {
        if self.duration == Span::ZERO {
            return Err(Error::option("duration", "0", "choose more"));
        }
        if self.warm_up >= self.duration {
            return Err(Error::option(
                "warm-up",
                self.warm_up,
                "choose less than the duration",
            ));
        }
        self.load.validate()?;
        self.clients.validate()?;
        let count = self.server_count();
        if !(1..=10_000).contains(&count) {
            return Err(Error::option("servers", count, "choose 1 to 10000"));
        }
        for servers in &self.servers {
            servers.validate()?;
            if self
                .clients
                .timeout
                .is_some_and(|timeout| timeout.nanos() <= 2 * servers.network.nanos())
            {
                let allowed = "choose less than half of clients.timeout";
                return Err(Error::option("servers.network", servers.network, allowed));
            }
        }
        if let Some(keys) = &self.keys {
            keys.validate(count)?;
        }
        let mut occurrences = 0.0;
        for fault in &self.faults {
            fault.validate(count)?;
            if fault.from >= self.duration {
                let allowed = "choose less than the duration: it would never come";
                return Err(Error::option("faults.from", fault.from, allowed));
            }
            if fault.effect == Effect::Silent && self.clients.timeout.is_none() {
                let allowed = "give clients.timeout as well";
                return Err(Error::option("faults.effect", "silent", allowed));
            }
            occurrences += fault
                .every
                .map_or(1.0, |every| self.duration.seconds() / every.seconds());
        }
        // Each is laid out beforehand for each server.
        #[expect(clippy::cast_precision_loss, reason = "at most 10,000")]
        let laid_out = occurrences * count as f64;
        if laid_out > 1e7 {
            let allowed = "let them come less often";
            return Err(Error::option("faults.every", "that", allowed));
        }
        self.validate_size()?;
        self.published.iter().try_for_each(Published::validate)
    }
}
