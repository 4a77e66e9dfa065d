//! The version of the server behind each connection, by which it is known what it can do.
//!
//! It is asked on the connection itself, once, and only of nodes that have been asked for something
//! that not every server has. Until it is known such a request waits in the queue.

use steersman_memcached_protocol::meta::Requirement;
use steersman_memcached_protocol::{Reply, Request, ServerVersion};

use super::lane::Lane;
use super::state::State;
use super::token::Token;
use crate::call::{server_error, unfit_reply};
use crate::error::{Error, ErrorKind, Stage};

/// What is known of a connection's server.
#[derive(Debug, Clone)]
pub(super) enum Version {
    Unasked,
    Asked,
    Known(ServerVersion),
    /// It was asked, and what it can do is still not known, for this reason.
    Unclear(Error),
}

/// Whether a request can go on a connection now.
pub(super) enum Admission {
    Granted,
    /// Once the server has said its version.
    Later,
}

impl Version {
    /// What follows from the answer.
    pub(super) fn answered(reply: Reply) -> Self {
        match reply {
            Reply::Version(text) => Self::read(&text),
            Reply::Error(line) => Self::Unclear(server_error(line)),
            other => Self::Unclear(unfit_reply(&other)),
        }
    }

    /// What follows from what the server calls its version.
    pub(super) fn read(text: &str) -> Self {
        match ServerVersion::parse(text) {
            Some(version) => Self::Known(version),
            None => Self::Unclear(unsupported(format!(
                "the server calls its version {text:?}, by which it is not known whether it has the \
                 meta commands: do without them, or ask a memcached"
            ))),
        }
    }

    fn check(&self, needed: &Requirement) -> Result<Admission, Error> {
        match self {
            Self::Unasked | Self::Asked => Ok(Admission::Later),
            Self::Known(found) => match needed.check(*found) {
                Ok(()) => Ok(Admission::Granted),
                Err(error) => Err(unsupported(error.to_string()).with_source(error)),
            },
            Self::Unclear(error) => Err(error.clone()),
        }
    }
}

fn unsupported(what: String) -> Error {
    Error::new(ErrorKind::Unsupported, Stage::Validation, what)
}

impl Lane {
    /// Asks the server for its version, unless that was done; says whether it takes a place.
    fn ask_version(&mut self) -> bool {
        let ask = matches!(self.version, Version::Unasked);
        if ask {
            self.version = Version::Asked;
            self.outbox
                .submit(&Request::Version, Token::Version)
                .expect("a request without arguments can be sent");
        }
        ask
    }
}

impl State {
    /// Whether a request that needs so much can go on that connection, which has a free place. If it
    /// is not known yet the server is asked, and the connection's driver has to be woken.
    pub(super) fn admit(&mut self, lane: usize, needed: &Requirement) -> Result<Admission, Error> {
        self.asks_versions = true;
        self.ask_version(lane);
        self.lanes[lane].version.check(needed)
    }

    /// A connection is new: its server is asked at once if it is going to be asked anyway.
    pub(super) fn greet(&mut self, lane: usize) {
        if self.asks_versions {
            self.ask_version(lane);
        }
    }

    fn ask_version(&mut self, lane: usize) {
        if self.lanes[lane].ask_version() {
            self.take_place(lane, false);
        }
    }
}
