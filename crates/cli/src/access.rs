//! What the options mean that say how nodes are connected to.

mod given;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Once;

use steersman_memcached::{Builder, Config, Credentials, Tls};

pub(crate) use self::given::{Given, Way};
use crate::answer::Failure;
use crate::args;
use crate::config::Origin;
use crate::errors::reason;

/// The environment's variable with the password of `--user`.
pub(crate) const PASSWORD_VARIABLE: &str = "STEERSMAN_PASSWORD";

/// How nodes are connected to. Nothing is read before there is a client to be made.
pub(crate) struct Access {
    args: args::Access,
    password: Option<OsString>,
    /// A command may make several clients and warns once.
    warned: Once,
}

impl Access {
    /// `password` is the value of [`PASSWORD_VARIABLE`].
    pub(crate) fn new(args: &args::Access, password: Option<OsString>) -> Self {
        Self {
            args: args.clone(),
            password,
            warned: Once::new(),
        }
    }

    /// How nodes are connected to by these options and a config from `origin`.
    pub(crate) fn given(&self, config: &Config, origin: Option<Origin>) -> Given {
        Given::new(&self.args, config, origin)
    }

    /// The first option that only a node outside of this process can heed.
    pub(crate) fn asked_for(&self) -> Option<&'static str> {
        match &self.args {
            args if args.tls => Some("--tls"),
            args if args.user.is_some() => Some("--user"),
            _ => None,
        }
    }

    /// Leaves out of a config what these options replace, and gives a user without a password the
    /// environment's.
    pub(crate) fn adapt(&self, config: &mut Config) -> Result<(), Failure> {
        if self.args.user.is_some() {
            config.user = None;
            config.password = None;
            config.password_file = None;
        }
        if config.user.is_some() && config.password.is_none() && config.password_file.is_none() {
            config.password = self.password_of_environment()?;
        }
        if self.args.tls {
            config.tls = false;
            config.tls_roots = None;
            config.tls_extra_ca = None;
            config.tls_cert = None;
            config.tls_key = None;
            config.tls_server_name = None;
            config.tls_verify = true;
        }
        Ok(())
    }

    /// Whether it is these options that say what the client's option of that name is.
    pub(crate) fn has(&self, option: &str) -> bool {
        match option {
            "auth" => self.args.user.is_some(),
            "tls" => self.args.tls,
            _ => false,
        }
    }

    /// Checks the options and gives them to a client's builder.
    pub(crate) fn apply(&self, builder: Builder) -> Result<Builder, Failure> {
        let builder = match self.credentials()? {
            Some(credentials) => builder.auth(credentials),
            None => builder,
        };
        Ok(match self.tls()? {
            Some(tls) => builder.tls(tls),
            None => builder,
        })
    }

    fn credentials(&self) -> Result<Option<Credentials>, Failure> {
        let file = self.args.password_file.as_deref();
        let Some(user) = &self.args.user else {
            return match file {
                Some(_) => Err(Failure::told("--password-file: give --user too")),
                None => Ok(None),
            };
        };
        if let Some(file) = file {
            let credentials = Credentials::with_password_file(user, file);
            return credentials
                .map(Some)
                .map_err(|error| Failure::told(format!("--password-file: {}", reason(&error))));
        }
        let password = self.password_of_environment()?.ok_or_else(|| {
            Failure::told(format!(
                "--user: give the password by --password-file or by the environment's {PASSWORD_VARIABLE}"
            ))
        })?;
        Ok(Some(Credentials::new(user, password)))
    }

    fn password_of_environment(&self) -> Result<Option<String>, Failure> {
        let password = self.password.as_ref().map(|password| {
            let text = password.to_str();
            text.ok_or_else(|| Failure::told(format!("{PASSWORD_VARIABLE} is not UTF-8")))
        });
        Ok(password.transpose()?.map(str::to_owned))
    }

    fn tls(&self) -> Result<Option<Tls>, Failure> {
        let args = &self.args;
        if !args.tls {
            return match args.only_with_tls() {
                Some(option) => Err(Failure::told(format!(
                    "{option} has no effect without --tls"
                ))),
                None => Ok(None),
            };
        }
        let mut tls = Tls::new();
        if let Some(file) = &args.ca {
            tls = tls.roots(read("--ca", file)?);
        }
        match (&args.cert, &args.key) {
            (None, None) => {}
            (None, Some(_)) => return Err(Failure::told("--key: give --cert too")),
            (Some(cert), key) => {
                let chain = read("--cert", cert)?;
                let key = match key {
                    Some(key) => read("--key", key)?,
                    None => chain.clone(),
                };
                tls = tls.client_certificate(chain, key);
            }
        }
        if let Some(name) = &args.server_name {
            tls = tls.server_name(name);
        }
        if args.insecure {
            self.warned.call_once(|| {
                eprintln!(
                    "warning: --insecure: certificates are not verified, so any server is taken for \
                     the right one"
                );
            });
            tls = tls.dangerously_without_verification();
        }
        Ok(Some(tls))
    }
}

/// Passwords are not shown.
impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access")
            .field("args", &self.args)
            .finish_non_exhaustive()
    }
}

/// The longest file of certificates or of a key that is read.
const MAX_PEM: u64 = 1024 * 1024;

fn read(option: &str, file: &Path) -> Result<Vec<u8>, Failure> {
    let mut pem = Vec::new();
    let read = File::open(file).and_then(|file| file.take(MAX_PEM + 1).read_to_end(&mut pem));
    let why = match read {
        Ok(length) if length as u64 <= MAX_PEM => return Ok(pem),
        Ok(_) => format!("it is longer than {MAX_PEM} bytes"),
        Err(error) => error.to_string(),
    };
    let name = OsStr::new(file).display();
    Err(Failure::told(format!(
        "{option}: cannot read {name}: {why}"
    )))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use steersman_memcached::Client;

    use super::*;
    use crate::args::Cli;

    fn access(args: &[&str], password: Option<&str>) -> Access {
        let args = ["steersman", "get", "k"].iter().chain(args);
        let cli = Cli::read(args).unwrap();
        Access::new(&cli.globals.access, password.map(OsString::from))
    }

    fn why(args: &[&str], password: Option<&str>) -> String {
        let built = access(args, password).apply(Client::builder());
        match built.err() {
            Some(Failure::Told(why)) => why.concat(),
            other => panic!("{args:?}: {other:?}"),
        }
    }

    #[test]
    fn options_that_need_others_say_so() {
        for (args, reason) in [
            (&["--user", "u"][..], "STEERSMAN_PASSWORD"),
            (&["--password-file", "f"], "give --user too"),
            (&["--ca", "f"], "--ca has no effect without --tls"),
            (&["--cert", "f"], "--cert has no effect without --tls"),
            (&["--key", "f"], "--key has no effect without --tls"),
            (
                &["--server-name", "n"],
                "--server-name has no effect without --tls",
            ),
            (&["--insecure"], "--insecure has no effect without --tls"),
            (&["--tls", "--key", "f"], "--key: give --cert too"),
            (&["--tls", "--ca", "/no/file"], "--ca: cannot read /no/file"),
            (
                &["--tls", "--ca", "/dev/zero"],
                "--ca: cannot read /dev/zero: it is longer than 1048576 bytes",
            ),
            (
                &["--tls", "--cert", "/no/file"],
                "--cert: cannot read /no/file",
            ),
            (
                &["--user", "u", "--password-file", "/no/file"],
                "--password-file: cannot read /no/file",
            ),
        ] {
            let said = why(args, None);
            assert!(said.contains(reason), "{args:?}: {said}");
        }
    }

    #[test]
    fn a_password_comes_from_its_file_else_the_environment() {
        let credentials = |args: &[&str]| {
            let access = access(args, Some("of-the-environment"));
            assert!(!format!("{access:?}").contains("of-the-environment"));
            access.credentials().unwrap()
        };
        assert_eq!(credentials(&[]), None);
        let environment = credentials(&["--user", "u"]);
        assert_eq!(
            environment,
            Some(Credentials::new("u", "of-the-environment"))
        );
        for text in ["of a file", "of a file\n", "of a file\r\n"] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let path = file.path().to_str().unwrap();
            let from_file = credentials(&["--user", "u", "--password-file", path]);
            assert_eq!(from_file, Some(Credentials::new("u", "of a file")));
        }
    }
}
