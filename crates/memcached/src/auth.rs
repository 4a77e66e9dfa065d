//! Who the client is for servers that ask: a name and a password, fixed or fetched anew for each
//! connection.

use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;

use crate::config::file::read;
use crate::error::{Error, ErrorKind, Result, Stage};

/// A user's name and password, for a memcached that was started with an authentication file
/// (`memcached -Y FILE`).
///
/// They are sent in clear over a connection without TLS. The password shows in no `Debug`, log or
/// error.
///
/// ```
/// use steersman_memcached::{Client, Credentials};
///
/// let client = Client::builder()
///     .node("localhost:11211")
///     .auth(Credentials::new("app", "correct-horse"))
///     .build()?;
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    user: String,
    password: String,
}

impl Credentials {
    /// The two of them, neither of which may be empty or hold a control character; nor may the
    /// user's name hold a space or a colon. That is found out by
    /// [`build`](crate::Builder::build), or when a provider gives them.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            password: password.into(),
        }
    }

    /// The user with the password that a file holds, without the newline at its end. The file is
    /// read now; for a password that changes see [`CredentialsProvider`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`] if the file cannot be read, is longer than 1 MiB or is not UTF-8.
    pub fn with_password_file(user: impl Into<String>, file: impl AsRef<Path>) -> Result<Self> {
        const OPTION: &str = "password_file";
        let text = String::from_utf8(read(OPTION, file.as_ref())?)
            .map_err(|_| Error::config(OPTION, "the file is not UTF-8"))?;
        let line = text.strip_suffix('\n').unwrap_or(&text);
        Ok(Self::new(user, line.strip_suffix('\r').unwrap_or(line)))
    }

    /// The user's name.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// What is wrong with them.
    pub(crate) fn check(&self) -> std::result::Result<(), &'static str> {
        let breaks_a_line = |text: &str| text.chars().any(char::is_control);
        if self.user.is_empty() || self.password.is_empty() {
            return Err("the user's name or the password is empty: give both, or no credentials");
        }
        if self.user.contains([' ', ':']) || breaks_a_line(&self.user) {
            return Err("the user's name holds a space, a colon or a control character");
        }
        if breaks_a_line(&self.password) {
            return Err(
                "the password holds a control character, such as the newline at a file's end",
            );
        }
        Ok(())
    }

    /// What the server compares with the lines of its file.
    pub(crate) fn token(&self) -> Bytes {
        format!("{} {}", self.user, self.password).into()
    }

    /// Whether a text gives the password away.
    pub(crate) fn are_shown_by(&self, text: &str) -> bool {
        text.contains(&self.password)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// Gives the credentials for each new connection, so that they can change while the client is in
/// use.
///
/// The answer is waited for within the connection time-out. A connection that is open stays so when
/// credentials change.
///
/// ```
/// use std::io;
/// use steersman_memcached::{Client, Credentials, CredentialsProvider};
///
/// struct PasswordFile(std::path::PathBuf);
///
/// impl CredentialsProvider for PasswordFile {
///     type Error = io::Error;
///
///     async fn credentials(&self, _node: &str) -> io::Result<Credentials> {
///         let password = std::fs::read_to_string(&self.0)?;
///         Ok(Credentials::new("app", password.trim_end()))
///     }
/// }
///
/// let client = Client::builder()
///     .node("localhost:11211")
///     .auth_with(PasswordFile("/run/secrets/memcached".into()))
///     .build()?;
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
pub trait CredentialsProvider: Send + Sync + 'static {
    /// Why there are none. Its text becomes part of the client's errors and logs.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The credentials for a new connection to the node of this name.
    ///
    /// # Errors
    ///
    /// Whatever keeps them away: the attempt to connect fails, as one that finds no server does, and
    /// is made again after a while.
    fn credentials(
        &self,
        node: &str,
    ) -> impl Future<Output = std::result::Result<Credentials, Self::Error>> + Send;
}

type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Credentials>> + Send + 'a>>;

/// A provider of any type.
pub(crate) trait AnyProvider: Send + Sync {
    fn fetch<'a>(&'a self, node: &'a str) -> Fetching<'a>;
}

impl<P: CredentialsProvider> AnyProvider for P {
    fn fetch<'a>(&'a self, node: &'a str) -> Fetching<'a> {
        Box::pin(async move {
            let fetched = self.credentials(node).await;
            fetched.map_err(|error| {
                failed(format!("the credentials provider failed: {error}"))
                    .with_source(error)
                    .passing()
            })
        })
    }
}

/// Where the credentials of new connections come from.
pub(crate) enum Auth {
    Fixed(Credentials),
    Provider(Arc<dyn AnyProvider>),
}

impl Auth {
    pub(crate) fn with(provider: impl CredentialsProvider) -> Self {
        Self::Provider(Arc::new(provider))
    }

    pub(crate) fn validate(&self) -> Result<()> {
        match self {
            Self::Fixed(credentials) => credentials
                .check()
                .map_err(|why| Error::config("auth", why)),
            Self::Provider(_) => Ok(()),
        }
    }

    /// The credentials for a connection to a node.
    pub(crate) async fn credentials(&self, node: &str) -> Result<Credentials> {
        match self {
            Self::Fixed(credentials) => Ok(credentials.clone()),
            Self::Provider(provider) => {
                let credentials = provider.fetch(node).await?;
                match credentials.check() {
                    Ok(()) => Ok(credentials),
                    Err(why) => Err(failed(format!("the credentials provider: {why}")).passing()),
                }
            }
        }
    }
}

/// Who the client is could not be settled.
pub(crate) fn failed(why: String) -> Error {
    Error::new(ErrorKind::Authentication, Stage::Connecting, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_server_could_compare_is_refused() {
        for (user, password, why) in [
            ("", "p", "empty"),
            ("u", "", "empty"),
            ("a b", "p", "space"),
            ("a:b", "p", "colon"),
            ("a\rb", "p", "control character"),
            ("u", "p\n", "newline"),
        ] {
            let said = Credentials::new(user, password).check().unwrap_err();
            assert!(said.contains(why), "{user:?} {password:?}: {said}");
        }
        assert_eq!(Credentials::new("ü", "p:w ß").check(), Ok(()));
    }

    #[test]
    fn the_password_is_not_shown() {
        let shown = format!("{:?}", Credentials::new("joe", "hush"));
        assert_eq!(shown, "Credentials { user: \"joe\", .. }");
    }
}
