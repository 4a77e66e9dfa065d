//! TLS to the servers: what is trusted, and whom the client says it is.
//!
//! It is agreed on over whatever the connector has made, so a tunnel or a simulated network is
//! secured like a socket.

mod failure;
mod trust;

use std::fmt;
use std::sync::Arc;

use tokio::io::BufReader;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tracing::warn;

pub use self::failure::TlsFailure;
pub(crate) use self::failure::diagnose;
use crate::address::Endpoint;
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::observe::targets;
use crate::transport::Transport;

/// So much is read from a socket at a time: the TLS library asks for a quarter of a record, which
/// would be a system call each.
const READ_AHEAD: usize = 16 * 1024;

/// TLS for the connections to all nodes, versions 1.2 and 1.3; for
/// [`Builder::tls`](crate::Builder::tls). Needs the crate's feature `tls`.
///
/// By default the system's root certificates are trusted, and a node's certificate must be for the
/// host name or address that the node is configured with. Certificates and keys are given as PEM.
///
/// ```no_run
/// use steersman_memcached::{Client, Tls};
///
/// let tls = Tls::new()
///     .extra_ca(std::fs::read("/etc/ssl/private-ca.pem")?)
///     .client_certificate(std::fs::read("app.pem")?, std::fs::read("app.key")?);
/// let client = Client::builder().node("cache-1.internal:11211").tls(tls).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
#[must_use = "it has to be given to a builder"]
pub struct Tls {
    roots: Option<Vec<u8>>,
    extra: Vec<Vec<u8>>,
    identity: Option<(Vec<u8>, Vec<u8>)>,
    server_name: Option<String>,
    unverified: bool,
}

impl Tls {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts the authorities whose certificates these are, one or more, instead of the system's.
    pub fn roots(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(pem.into());
        self
    }

    /// Trusts these authorities too, beside the system's or those that [`roots`](Self::roots) gives.
    pub fn extra_ca(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.extra.push(pem.into());
        self
    }

    /// Shows the servers that ask for it this certificate, followed by those that lead from it to its
    /// authority, if any. The key is PKCS#8, PKCS#1 or SEC1, without a passphrase.
    pub fn client_certificate(
        mut self,
        chain_pem: impl Into<Vec<u8>>,
        key_pem: impl Into<Vec<u8>>,
    ) -> Self {
        self.identity = Some((chain_pem.into(), key_pem.into()));
        self
    }

    /// The host name or IP address that the certificates of all nodes must be for, instead of the
    /// one in each node's address.
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// Takes any certificate, be it expired, of another host or signed by nobody.
    ///
    /// Whoever is on the way to the servers can then read and change everything. Building the
    /// client logs a warning.
    pub fn dangerously_without_verification(mut self) -> Self {
        self.unverified = true;
        self
    }

    /// Checks it all.
    pub(crate) fn layer(self) -> Result<TlsLayer> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| invalid(error.to_string()))?;
        let config = if self.unverified {
            warn!(target: targets::TLS, "TLS without verification: any server is taken for the right one");
            config
                .dangerous()
                .with_custom_certificate_verifier(trust::anybody(&provider))
        } else {
            config.with_root_certificates(trust::roots(self.roots.as_deref(), &self.extra)?)
        };
        let config = match self.identity {
            None => config.with_no_client_auth(),
            Some((chain, key)) => {
                let chain = certificates(&chain, "the client certificate")?;
                let key = PrivateKeyDer::from_pem_slice(&key).map_err(|_| {
                    invalid("the client's key is no private key in PEM without a passphrase")
                })?;
                config
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| invalid(format!("the client certificate: {error}")))?
            }
        };
        let name = self.server_name.as_deref().map(server_name).transpose()?;
        Ok(TlsLayer {
            connector: TlsConnector::from(Arc::new(config)),
            name,
        })
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("roots_given", &self.roots.is_some())
            .field("extra_cas", &self.extra.len())
            .field("client_certificate", &self.identity.is_some())
            .field("server_name", &self.server_name)
            .field("verified", &!self.unverified)
            .finish()
    }
}

/// What is agreed on TLS with.
pub(crate) struct TlsLayer {
    connector: TlsConnector,
    /// Whom every node has to be, if not the host that its address names.
    name: Option<ServerName<'static>>,
}

impl TlsLayer {
    /// Whether a node can be connected to in this way.
    pub(crate) fn check(&self, endpoint: &Endpoint) -> Result<()> {
        self.name_of(endpoint).map(drop)
    }

    /// Agrees with the server of that endpoint on TLS over a stream.
    pub(crate) async fn handshake(
        &self,
        transport: Box<dyn Transport>,
        endpoint: &Endpoint,
    ) -> Result<Box<dyn Transport>> {
        let name = self.name_of(endpoint)?;
        let buffered = BufReader::with_capacity(READ_AHEAD, transport);
        let agreed = self.connector.connect(name, buffered).await;
        let stream = agreed.map_err(|error| {
            diagnose(error).unwrap_or_else(|error| {
                Error::new(
                    ErrorKind::Unreachable,
                    Stage::Connecting,
                    format!(
                        "the connection ended during the TLS handshake: {error}; \
                         does the server speak TLS on this port?"
                    ),
                )
                .with_source(error)
            })
        })?;
        Ok(Box::new(stream))
    }

    fn name_of(&self, endpoint: &Endpoint) -> Result<ServerName<'static>> {
        match endpoint {
            Endpoint::Unix(path) => Err(invalid(format!(
                "unix:{} is on this machine, and Unix sockets have no TLS: leave the one or the \
                 other out",
                path.display()
            ))),
            Endpoint::Tcp { host, .. } => match &self.name {
                Some(name) => Ok(name.clone()),
                None => server_name(host),
            },
        }
    }
}

/// The certificates in a PEM text, at least one.
fn certificates(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>> {
    let read: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(certificates) if certificates.is_empty() => Err(invalid(format!(
            "{what}: there is no certificate in it; give PEM, which has lines with BEGIN CERTIFICATE"
        ))),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(invalid(format!("{what}: it is no PEM: {error:?}"))),
    }
}

fn server_name(name: &str) -> Result<ServerName<'static>> {
    ServerName::try_from(name.to_owned()).map_err(|_| {
        invalid(format!(
            "{name:?} is neither a host name nor an IP address, and a certificate is for one of them: \
             set the server name"
        ))
    })
}

fn invalid(why: impl Into<Arc<str>>) -> Error {
    Error::config("tls", why)
}

#[cfg(test)]
mod tests;
