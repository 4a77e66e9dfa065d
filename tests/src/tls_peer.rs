//! The server's end of one TLS connection, played by a test: for what depends on the version that a
//! server says it has.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

use crate::authority::Identity;

/// A connection that was accepted, and whose version was asked for and told.
#[derive(Debug)]
pub struct TlsPeer(TlsStream<TcpStream>);

impl TlsPeer {
    /// Accepts a connection, agrees on TLS, and answers the first request, which has to be for the
    /// version.
    pub async fn accept(
        listener: &TcpListener,
        identity: &Identity,
        version: &str,
    ) -> io::Result<Self> {
        let chain = CertificateDer::from_pem_slice(identity.chain.as_bytes());
        let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(
                vec![chain.map_err(io::Error::other)?],
                key.map_err(io::Error::other)?,
            )
            .map_err(io::Error::other)?;
        let (stream, _) = listener.accept().await?;
        let stream = TlsAcceptor::from(Arc::new(config)).accept(stream).await?;
        let mut peer = Self(stream);
        if peer.read(9).await? != b"version\r\n" {
            return Err(io::ErrorKind::InvalidData.into());
        }
        peer.write(&format!("VERSION {version}\r\n")).await?;
        Ok(peer)
    }

    /// Reads so many bytes.
    pub async fn read(&mut self, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.0.read_exact(&mut bytes).await?;
        Ok(bytes)
    }

    /// Reads what comes in one TLS record.
    pub async fn read_record(&mut self) -> io::Result<usize> {
        let mut bytes = vec![0; 32 * 1024];
        self.0.read(&mut bytes).await
    }

    /// Answers.
    pub async fn write(&mut self, reply: &str) -> io::Result<()> {
        self.0.write_all(reply.as_bytes()).await?;
        self.0.flush().await
    }
}
