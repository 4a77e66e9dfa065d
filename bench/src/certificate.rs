//! The certificate of servers that speak TLS: made anew for each, and trusted by itself.

use std::fs;
use std::io;
use std::path::PathBuf;

use rcgen::{CertifiedKey, generate_simple_self_signed};

/// Where it is kept, below the folder `bench`.
const FOLDER: &str = "target/tls";

pub(crate) struct Certificate {
    chain: PathBuf,
    key: PathBuf,
}

impl Certificate {
    /// One for servers on the loopback, written where [`trusted`] finds it.
    pub(crate) fn new() -> io::Result<Self> {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["127.0.0.1".to_owned()]).map_err(io::Error::other)?;
        fs::create_dir_all(FOLDER)?;
        let files = Self {
            chain: path("chain.pem"),
            key: path("key.pem"),
        };
        fs::write(&files.chain, cert.pem())?;
        fs::write(&files.key, signing_key.serialize_pem())?;
        Ok(files)
    }

    /// The option of memcached that names its files.
    pub(crate) fn option(&self) -> String {
        let (chain, key) = (self.chain.display(), self.key.display());
        format!("ssl_chain_cert={chain},ssl_key={key}")
    }
}

/// The certificate that clients trust, as PEM.
pub(crate) fn trusted() -> io::Result<Vec<u8>> {
    fs::read(path("chain.pem"))
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(FOLDER).join(name)
}
