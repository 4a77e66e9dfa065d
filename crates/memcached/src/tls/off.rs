//! What stands in for TLS without the feature `tls`: nothing, of a type that has no values.

use std::future::Ready;
use std::io;

use crate::address::Endpoint;
use crate::error::{Error, Result};
use crate::transport::Transport;

/// Cannot be made.
pub(crate) enum TlsLayer {}

impl TlsLayer {
    pub(crate) fn check(&self, _: &Endpoint) -> Result<()> {
        match *self {}
    }

    pub(crate) fn handshake(
        &self,
        _: Box<dyn Transport>,
        _: &Endpoint,
    ) -> Ready<Result<Box<dyn Transport>>> {
        match *self {}
    }
}

/// No error is one of TLS.
pub(crate) fn diagnose(error: io::Error) -> std::result::Result<Error, io::Error> {
    Err(error)
}
