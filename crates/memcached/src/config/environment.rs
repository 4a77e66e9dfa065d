//! A config from variables of the environment.

use std::ffi::OsString;

use super::Config;
use super::setting::Setting;
use super::settings::Settings;
use crate::error::{Error, Result};

/// A URL, as [`Config`] describes it.
const URL: &str = "STEERSMAN_URL";

/// Nodes, separated by commas.
const NODES: &str = "STEERSMAN_NODES";

/// The password of the user that the URL names.
const PASSWORD: &str = "STEERSMAN_PASSWORD";

impl Config {
    /// The config that the environment of this process describes, as
    /// [`from_variables`](Self::from_variables) says.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](crate::ErrorKind::Config); it names the variable or the option.
    pub fn from_env() -> Result<Self> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// The config that some variables describe, by a function from their names to their values.
    ///
    /// | variable | is |
    /// | --- | --- |
    /// | `STEERSMAN_URL` | a URL, as [`Config`] describes |
    /// | `STEERSMAN_NODES` | the nodes, separated by commas, if the URL names none |
    /// | `STEERSMAN_PASSWORD` | the password, if the URL has a user without one |
    ///
    /// One that is empty counts as not there. The defaults hold if none of them is.
    ///
    /// ```
    /// use steersman_memcached::Config;
    ///
    /// let config = Config::from_variables(|name| match name {
    ///     "STEERSMAN_URL" => Some("memcached+tls://app@?timeout=2s".into()),
    ///     "STEERSMAN_NODES" => Some("cache-1,cache-2".into()),
    ///     "STEERSMAN_PASSWORD" => Some("secret".into()),
    ///     _ => None,
    /// })?;
    /// assert_eq!(config.to_string(), "memcached+tls://app:***@cache-1,cache-2?timeout=2s");
    /// # Ok::<(), steersman_memcached::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if one of them cannot be read, or if both the
    /// URL and `STEERSMAN_NODES` say which nodes there are.
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let text = |name: &'static str| {
            let value = variable(name).filter(|value| !value.is_empty());
            value
                .map(OsString::into_string)
                .transpose()
                .map_err(|_| Error::config(name, "it is not UTF-8"))
        };
        let mut config = match text(URL)? {
            Some(url) => url.parse().map_err(|error: Error| error.because(URL))?,
            None => Self::default(),
        };
        if let Some(nodes) = text(NODES)? {
            if !config.nodes.is_empty() || config.discovery.is_some() {
                return Err(Error::config(
                    NODES,
                    format!("{URL} says which nodes there are too: unset one of them"),
                ));
            }
            let mut settings = Settings::new();
            settings.put("nodes", Setting::Text(nodes))?;
            let given = settings.config().map_err(|error| error.because(NODES))?;
            config.nodes = given.nodes;
        }
        if config.user.is_some() && config.password_file.is_none() && config.password.is_none() {
            config.password = text(PASSWORD)?;
        }
        Ok(config)
    }
}
