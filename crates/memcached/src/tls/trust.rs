//! Which servers are trusted: those with a certificate of some authority, or any.

use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    DigitallySignedStruct, Error as RustlsError, RootCertStore, SignatureScheme,
};

use super::{certificates, invalid};
use crate::error::Result;

/// The authorities that are given, or those of the system, and more.
pub(super) fn roots(given: Option<&[u8]>, extra: &[Vec<u8>]) -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    let mut add = |pem, what: &str| -> Result<()> {
        for certificate in certificates(pem, what)? {
            store
                .add(certificate)
                .map_err(|error| invalid(format!("{what}: {error}")))?;
        }
        Ok(())
    };
    if let Some(pem) = given {
        add(pem, "the roots")?;
    }
    for pem in extra {
        add(pem, "the extra CA")?;
    }
    if given.is_none() {
        let system = rustls_native_certs::load_native_certs();
        store.add_parsable_certificates(system.certs);
        if store.is_empty() {
            let errors: Vec<_> = system.errors.iter().map(ToString::to_string).collect();
            return Err(invalid(format!(
                "this system has no root certificates ({}): install ca-certificates, or give the roots",
                errors.join("; ")
            )));
        }
    }
    Ok(store)
}

/// Takes any server.
pub(super) fn anybody(provider: &CryptoProvider) -> Arc<dyn ServerCertVerifier> {
    Arc::new(Anybody(provider.signature_verification_algorithms))
}

#[derive(Debug)]
struct Anybody(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, RustlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, RustlsError> {
        verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, RustlsError> {
        verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
