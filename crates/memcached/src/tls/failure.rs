//! Why TLS could not be agreed on, told apart.

use std::fmt;
use std::io;

use tokio_rustls::rustls::{AlertDescription, CertificateError, Error as RustlsError};

use crate::error::{Error, ErrorKind, Stage};

/// Why TLS could not be agreed on; from [`Error::tls_failure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TlsFailure {
    /// The server's certificate has expired.
    Expired,
    /// The server's certificate is not valid yet. Are the clocks right?
    NotYetValid,
    /// The server's certificate is for other hosts than the one that was asked for.
    WrongHost,
    /// The server's certificate comes from none of the trusted authorities.
    UnknownAuthority,
    /// Something else is wrong with the server's certificate.
    InvalidCertificate,
    /// The server wants a client certificate, or another one.
    ClientCertificate,
    /// What the server sent is not TLS.
    NotTls,
    /// The two sides have no version or cipher in common, or one broke the protocol.
    Protocol,
}

impl TlsFailure {
    fn of(error: &RustlsError) -> Self {
        match error {
            RustlsError::InvalidCertificate(why) => match why {
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                    Self::Expired
                }
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                    Self::NotYetValid
                }
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => Self::WrongHost,
                // The latter is what an authority leads to that was made anew under its old name.
                CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                    Self::UnknownAuthority
                }
                _ => Self::InvalidCertificate,
            },
            RustlsError::AlertReceived(
                AlertDescription::CertificateRequired
                | AlertDescription::NoCertificate
                | AlertDescription::BadCertificate
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnknownCA
                | AlertDescription::AccessDenied,
            ) => Self::ClientCertificate,
            RustlsError::InvalidMessage(_) => Self::NotTls,
            _ => Self::Protocol,
        }
    }

    /// What it means, and what to do about it.
    fn explained(self) -> (&'static str, &'static str) {
        match self {
            Self::Expired => ("the server's certificate has expired", "renew it"),
            Self::NotYetValid => (
                "the server's certificate is not valid yet",
                "are the clocks right?",
            ),
            Self::WrongHost => (
                "the server's certificate is for another host",
                "is the address right? The name to expect can be set",
            ),
            Self::UnknownAuthority => (
                "the server's certificate comes from no trusted authority",
                "give the certificate of its authority (CA)",
            ),
            Self::InvalidCertificate => (
                "the server's certificate is not valid",
                "it needs one for servers, of X.509 version 3, that an authority (CA) has signed and \
                 that is none itself",
            ),
            Self::ClientCertificate => (
                "the server takes only clients with a certificate that it trusts",
                "give a client certificate of its authority (CA)",
            ),
            Self::NotTls => (
                "what the server sent is not TLS",
                "is it a plain memcached, or is this another port? Then leave TLS off",
            ),
            Self::Protocol => (
                "the server and the client cannot agree on TLS",
                "1.2 or 1.3 is needed; see the server's TLS options",
            ),
        }
    }
}

/// The source of an error of this kind.
#[derive(Debug)]
struct Refusal {
    failure: TlsFailure,
    error: RustlsError,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Refusal {}

/// What went wrong, if it was TLS; else the same error.
pub(crate) fn diagnose(error: io::Error) -> Result<Error, io::Error> {
    let Some(reason) = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<RustlsError>())
        .cloned()
    else {
        return Err(error);
    };
    let failure = TlsFailure::of(&reason);
    let (what, todo) = failure.explained();
    Ok(Error::new(
        ErrorKind::Tls,
        Stage::Connecting,
        format!("{what} ({reason}): {todo}"),
    )
    .with_source(Refusal {
        failure,
        error: reason,
    }))
}

impl Error {
    /// Why TLS could not be agreed on, for [`ErrorKind::Tls`]. Needs the crate's feature `tls`.
    pub fn tls_failure(&self) -> Option<TlsFailure> {
        let refusal: &Refusal = std::error::Error::source(self)?.downcast_ref()?;
        Some(refusal.failure)
    }
}
