//! The names of hosts, as a name server would know them.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use steersman_memcached::{Resolved, Resolving};

use crate::lock;

/// How the name server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Temper {
    /// At once and well.
    #[default]
    Well,
    /// With an error.
    Failing,
    /// Not at all.
    Silent,
    /// With no address.
    Empty,
}

/// What names stand for.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    addresses: BTreeMap<String, Vec<SocketAddr>>,
    temper: Temper,
    valid_for: Option<Duration>,
}

impl Names {
    /// No names; answers say that they are valid for so long, or nothing of it.
    pub(crate) fn new(valid_for: Option<Duration>) -> Self {
        Self(Mutex::new(State {
            valid_for,
            ..State::default()
        }))
    }

    pub(crate) fn set(&self, name: String, addresses: Vec<SocketAddr>) {
        lock(&self.0).addresses.insert(name, addresses);
    }

    pub(crate) fn set_temper(&self, temper: Temper) {
        lock(&self.0).temper = temper;
    }

    pub(super) fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            // As long as a name server that is near takes.
            tokio::time::sleep(Duration::from_millis(1)).await;
            let answer = {
                let state = lock(&self.0);
                let resolved = |addresses: &[SocketAddr]| {
                    let resolved = Resolved::new(addresses.iter().copied());
                    match state.valid_for {
                        Some(time) => resolved.valid_for(time),
                        None => resolved,
                    }
                };
                match (state.temper, state.addresses.get(name)) {
                    (Temper::Well, Some(addresses)) => Some(Ok(resolved(addresses))),
                    (Temper::Empty, _) => Some(Ok(resolved(&[]))),
                    (Temper::Silent, _) => None,
                    (Temper::Well, None) | (Temper::Failing, _) => {
                        Some(Err(io::ErrorKind::NotFound.into()))
                    }
                }
            };
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}
