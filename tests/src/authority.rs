//! Certificates for one test, made while it runs.

use std::io;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    date_time_ymd,
};

/// Signs certificates: a root of its own.
///
/// ```
/// use steersman_e2e::authority::Authority;
///
/// let authority = Authority::new("ours")?;
/// let server = authority.issue(&["localhost", "127.0.0.1"])?;
/// assert!(server.chain.starts_with("-----BEGIN CERTIFICATE-----"));
/// assert!(server.key.starts_with("-----BEGIN PRIVATE KEY-----"));
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate with its key, both as PEM.
#[derive(Debug)]
pub struct Identity {
    /// The certificate.
    pub chain: String,
    /// Its private key.
    pub key: String,
}

impl Authority {
    /// An authority of this name, with a key of its own.
    pub fn new(name: &str) -> io::Result<Self> {
        let mut params = params(&[])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name = named(name);
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        Ok(Self {
            pem: certificate.pem(),
            issuer: Issuer::new(params, key),
        })
    }

    /// Its own certificate.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A certificate for these host names and addresses, valid for a long time.
    pub fn issue(&self, hosts: &[&str]) -> io::Result<Identity> {
        self.sign(&params(hosts)?)
    }

    /// A certificate that has expired in the year 2001.
    pub fn issue_expired(&self, hosts: &[&str]) -> io::Result<Identity> {
        let mut params = params(hosts)?;
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
        self.sign(&params)
    }

    /// A certificate that is valid from the year 3000 on.
    pub fn issue_early(&self, hosts: &[&str]) -> io::Result<Identity> {
        let mut params = params(hosts)?;
        params.not_before = date_time_ymd(3000, 1, 1);
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> io::Result<Identity> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params
            .signed_by(&key, &self.issuer)
            .map_err(io::Error::other)?;
        Ok(Identity {
            chain: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

fn params(hosts: &[&str]) -> io::Result<CertificateParams> {
    let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    let mut params = CertificateParams::new(hosts).map_err(io::Error::other)?;
    params.distinguished_name = named("test");
    Ok(params)
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}
