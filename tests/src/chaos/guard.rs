//! What nodes with TLS and credentials ask for: certificates, and passwords that change.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use steersman_memcached::{Credentials, CredentialsProvider};
use tempfile::TempDir;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::authority::Authority;

/// Who may use the servers, if they know the password.
pub const USER: &str = "chaos";

/// The certificates, and the folder in which the servers find theirs.
#[derive(Debug)]
pub struct Guard {
    authority: Authority,
    folder: TempDir,
    tls: Arc<ClientConfig>,
    /// What clients take for the passwords.
    pub keyring: Keyring,
}

impl Guard {
    /// Makes certificates for servers of this machine.
    pub fn new() -> io::Result<Self> {
        let authority = Authority::new("chaos")?;
        let identity = authority.issue(&["127.0.0.1"])?;
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("chain.pem"), &identity.chain)?;
        std::fs::write(folder.path().join("key.pem"), &identity.key)?;
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(authority.pem().as_bytes());
        let root = root.map_err(io::Error::other)?;
        roots.add(root).map_err(io::Error::other)?;
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            authority,
            folder,
            tls: Arc::new(tls),
            keyring: Keyring::default(),
        })
    }

    /// The authority that clients have to trust.
    pub fn authority(&self) -> &str {
        self.authority.pem()
    }

    /// A lock for the server of this number.
    pub fn lock(&self, home: usize) -> io::Result<Lock> {
        let mut lock = Lock {
            tls: Arc::clone(&self.tls),
            users: self.folder.path().join(format!("users-{home}")),
            password: String::new(),
        };
        lock.change(0)?;
        Ok(lock)
    }

    /// The arguments by which a server has this lock.
    pub fn arguments(&self, lock: &Lock) -> Vec<String> {
        let file = |name| self.folder.path().join(name).display().to_string();
        let (chain, key) = (file("chain.pem"), file("key.pem"));
        vec![
            "-Z".to_owned(),
            "-o".to_owned(),
            format!("ssl_chain_cert={chain},ssl_key={key}"),
            "-Y".to_owned(),
            lock.users.display().to_string(),
        ]
    }
}

/// What one server asks for.
#[derive(Debug, Clone)]
pub struct Lock {
    /// How TLS is spoken to it.
    pub tls: Arc<ClientConfig>,
    /// The password, which the server knows when it starts the next time.
    pub password: String,
    users: PathBuf,
}

impl Lock {
    /// Changes the password.
    pub fn change(&mut self, random: u64) -> io::Result<()> {
        self.password = format!("password-{random:x}");
        std::fs::write(&self.users, format!("{USER}:{}\n", self.password))
    }
}

/// What the clients take for the passwords: each node's by the node's name.
#[derive(Debug, Clone, Default)]
pub struct Keyring {
    passwords: Arc<Mutex<HashMap<String, String>>>,
}

impl Keyring {
    /// From now on this is taken for the password of a node.
    pub fn tell(&self, node: &str, password: &str) {
        let mut passwords = self
            .passwords
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        passwords.insert(node.to_owned(), password.to_owned());
    }
}

impl CredentialsProvider for Keyring {
    type Error = Infallible;

    async fn credentials(&self, node: &str) -> Result<Credentials, Infallible> {
        let passwords = self
            .passwords
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let password = passwords.get(node).map_or("unknown", String::as_str);
        Ok(Credentials::new(USER, password))
    }
}
