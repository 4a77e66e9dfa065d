//! How large a scenario may be, so that a run takes memory and time that a machine has.

use super::{Effect, Load, Scenario};
use crate::Error;

/// A minute or two of computing for each policy and seed.
const MOST_ATTEMPTS: f64 = 1e8;
/// Each is kept in a few bytes.
const MOST_SLOTS: u64 = 1 << 24;
/// What policies keep, each client of each server, is some hundred bytes.
const MOST_PAIRS: u64 = 1 << 20;

impl Scenario {
    /// Fails if a run would take too much.
    pub(super) fn validate_size(&self) -> Result<(), Error> {
        let servers = self.servers.iter();
        let slots = servers.map(|kind| u64::from(kind.count) * u64::from(kind.slots.unwrap_or(0)));
        let slots: u64 = slots.sum();
        if slots > MOST_SLOTS {
            let allowed = "choose fewer: 16777216 at most for all servers together";
            return Err(Error::option("servers.slots", slots, allowed));
        }
        let pairs = u64::from(self.clients.count) * self.server_count() as u64;
        if pairs > MOST_PAIRS {
            let allowed = "choose fewer clients or servers: 1048576 at most, one times the other";
            return Err(Error::option("clients.count", self.clients.count, allowed));
        }
        let attempts = self.requests() * f64::from(1 + self.clients.retries);
        if attempts > MOST_ATTEMPTS {
            let allowed = "choose a lower rate, fewer workers, more load.think or a shorter duration: \
                           100 million at most in a run, retries included";
            let about = format!("about {attempts:.1e} requests");
            return Err(Error::option("load", about, allowed));
        }
        Ok(())
    }

    /// About how many requests are made, at most.
    fn requests(&self) -> f64 {
        match (self.load.rate, self.load.workers) {
            (None, Some(workers)) => f64::from(workers) * self.duration.seconds() / self.round(),
            (rate, _) => self
                .load
                .arrivals_until(self.duration.seconds(), rate.unwrap_or(0.0)),
        }
    }

    /// How long a worker takes at least for a request, on average, in seconds.
    fn round(&self) -> f64 {
        let faults = || self.faults.iter().map(|fault| &fault.effect);
        let others = faults().filter_map(|effect| match effect {
            Effect::Service(service) => Some(service.mean()),
            _ => None,
        });
        let services = self.servers.iter().map(|kind| kind.service.mean());
        let least = services.chain(others).fold(f64::INFINITY, f64::min);
        let faster: f64 = faults()
            .filter_map(|effect| match effect {
                Effect::Slower(factor) if *factor < 1.0 => Some(*factor),
                _ => None,
            })
            .product();
        let ways = self.servers.iter().map(|kind| 2.0 * kind.network.seconds());
        self.load.think.seconds() + ways.fold(f64::INFINITY, f64::min) + least * faster / 1e9
    }
}

impl Load {
    /// How many requests come in an open loop until then, in seconds, if it begins with a rate.
    fn arrivals_until(&self, end: f64, mut rate: f64) -> f64 {
        let (mut count, mut from) = (0.0, 0.0);
        for step in &self.steps {
            let at = step.at.seconds().min(end);
            count += (at - from) * rate;
            (from, rate) = (at, step.rate);
        }
        count + (end - from) * rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused_before_it_begins() {
        let few = "servers = [{ count = 2, service = { fixed = '1ms' } }]";
        let free = "servers = [{ count = 2, service = { fixed = '0s' } }]";
        let many = "servers = [{ count = 10000, slots = 65536, service = { fixed = '1ms' } }]";
        for (size, servers, told) in [
            (
                "duration = '1000h'\nload = { rate = 1000 }",
                few,
                "3.6e9 requests",
            ),
            (
                "duration = '50s'\nload = { rate = 1e6 }\nclients = { retries = 2 }",
                few,
                "1.5e8 requests",
            ),
            (
                "duration = '20s'\nload = { rate = 1, steps = [{ at = '1s', rate = 1e8 }] }",
                few,
                "1.9e9 requests",
            ),
            (
                "duration = '1h'\nload = { workers = 100000 }",
                few,
                "fewer workers",
            ),
            // They would ask for ever at the same time.
            (
                "duration = '1s'\nload = { workers = 1 }",
                free,
                "more load.think",
            ),
            (
                "duration = '1s'\nload = { rate = 1 }",
                many,
                "servers.slots of 655360000",
            ),
            (
                "duration = '1s'\nload = { rate = 1 }\nclients = { count = 65536 }",
                &many.replace("slots = 65536, ", ""),
                "clients.count of 65536",
            ),
            // As much as may be.
            ("duration = '1s'\nload = { rate = 1e8 }", few, ""),
            ("duration = '10s'\nload = { workers = 10000 }", few, ""),
            (
                "duration = '10s'\nload = { workers = 10, think = '1ms' }",
                free,
                "",
            ),
        ] {
            let text = format!("name = 'x'\ntitle = 't'\n{size}\n{servers}");
            let error = Scenario::parse(&text).err();
            let error = error.map_or_else(String::new, |error| error.to_string());
            assert_eq!(error.is_empty(), told.is_empty(), "{text}: {error}");
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
