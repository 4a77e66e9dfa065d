//! A config as a URL, both ways.

use std::fmt;
use std::str::FromStr;

use super::Config;
use super::discovery::DiscoverySource;
use super::percent::{decode, encode};
use super::setting::Setting;
use super::settings::Settings;
use crate::error::{Error, Result};

const FORMS: &str = "write memcached://HOST[:PORT][,...][?OPTION=VALUE&...], memcached+tls://..., \
                     unix:/PATH, or a source of nodes such as dns://NAME[:PORT]";

/// A URL taken apart, before percent-decoding.
struct Parts<'a> {
    scheme: &'a str,
    /// What stands before `@`.
    user: Option<&'a str>,
    hosts: &'a str,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Parts<'a> {
    /// No error repeats any of the text: what is delimited wrongly may hold a password.
    fn of(text: &'a str) -> Result<Self> {
        if text.contains('#') {
            return Err(invalid("it holds a `#`; percent-encode it, as %23"));
        }
        let (scheme, rest) = text
            .split_once(':')
            .ok_or_else(|| invalid(format!("it is no URL: {FORMS}")))?;
        let (before, query) = match rest.split_once('?') {
            Some((before, query)) => (before, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = match before.strip_prefix("//") {
            None => ("", before),
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        };
        let (user, hosts) = match authority.split_once('@') {
            Some((user, hosts)) => (Some(user), hosts),
            None => (None, authority),
        };
        // Otherwise part of a password could be taken for something that may be shown.
        let elsewhere = [hosts, path, query.unwrap_or_default(), scheme];
        if elsewhere.iter().any(|part| part.contains('@')) {
            return Err(invalid(
                "an `@` may only stand between the password and the nodes; percent-encode others as \
                 %40, and in a user or password also `/` as %2F, `?` as %3F and `#` as %23",
            ));
        }
        Ok(Self {
            scheme,
            user,
            hosts,
            path,
            query,
        })
    }

    /// What the scheme, the hosts and the path say.
    fn place(&self, settings: &mut Settings) -> Result<()> {
        let Self {
            scheme,
            hosts,
            path,
            ..
        } = *self;
        match scheme {
            "memcached" | "memcached+tls" => {
                if !matches!(path, "" | "/") {
                    return Err(invalid(
                        "it has a path; in that of a socket, as in unix:/PATH among other nodes, \
                         percent-encode `/` as %2F",
                    ));
                }
                if scheme == "memcached+tls" {
                    settings.put("tls", Setting::Switch(true))?;
                }
                if hosts.is_empty() {
                    return Ok(());
                }
                let nodes = hosts.split(',').map(decoded);
                settings.put("nodes", Setting::List(nodes.collect::<Result<_>>()?))
            }
            "unix" | "memcached+unix" if hosts.is_empty() => {
                let node = format!("unix:{}", decoded(path)?);
                settings.put("nodes", Setting::List(vec![node]))
            }
            "unix" | "memcached+unix" => Err(invalid(
                "a socket has no host: write three slashes, as in unix:///PATH",
            )),
            scheme if DiscoverySource::has_scheme(scheme) => {
                let place = match path {
                    "/" => "",
                    path => path,
                };
                let source = format!("{scheme}://{hosts}{place}");
                settings.put("discovery", Setting::Text(source))
            }
            _ => Err(invalid(format!("its scheme is unknown: {FORMS}"))),
        }
    }

    /// What stands before `@`.
    fn credentials(&self, settings: &mut Settings) -> Result<()> {
        let Some(text) = self.user else {
            return Ok(());
        };
        let (user, password) = match text.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (text, None),
        };
        settings.put("user", Setting::Text(decoded(user)?))?;
        match password {
            Some(password) => settings.put("password", Setting::Text(decoded(password)?)),
            None => Ok(()),
        }
    }

    fn options(&self, settings: &mut Settings) -> Result<()> {
        let query = self.query.filter(|query| !query.is_empty());
        let options = query.into_iter().flat_map(|query| query.split('&'));
        let mut named = Vec::new();
        for option in options {
            let (name, value) = option
                .split_once('=')
                .ok_or_else(|| invalid("what follows `?` is not of the form OPTION=VALUE&..."))?;
            named.push((decoded(name)?, value));
        }
        // First of all: what follows an `&` in it would be taken for the name of an option.
        if named.iter().any(|(name, _)| name == "password") {
            return Err(Error::config(
                "password",
                "in a URL it stands before the nodes, as in memcached://USER:PASSWORD@HOST",
            ));
        }
        for (name, value) in named {
            settings.put(&name, Setting::Text(decoded(value)?))?;
        }
        Ok(())
    }
}

impl FromStr for Config {
    type Err = Error;

    /// Reads a URL.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](crate::ErrorKind::Config); [`Error::option`] names the option, if it is
    /// about one. It never shows the URL.
    fn from_str(text: &str) -> Result<Self> {
        let parts = Parts::of(text)?;
        let mut settings = Settings::new();
        parts.place(&mut settings)?;
        parts.credentials(&mut settings)?;
        parts.options(&mut settings)?;
        settings.config()
    }
}

/// The URL of this config with `***` for the password.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url(self.password.as_ref().map(|_| "***")))
    }
}

impl Config {
    /// The URL that this config is read from: what is as by default is left out. **It has the
    /// password in it**; `Display` has not.
    ///
    /// ```
    /// use steersman_memcached::Config;
    ///
    /// let config: Config = "memcached://app:s%40fe@cache-1?timeout=none".parse()?;
    /// assert_eq!(config.to_url()?, "memcached://app:s%40fe@cache-1?timeout=none");
    /// assert_eq!(config.to_string(), "memcached://app:***@cache-1?timeout=none");
    /// # Ok::<(), steersman_memcached::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if options contradict each other, or have a
    /// value that a URL cannot have, as a path that is not UTF-8.
    pub fn to_url(&self) -> Result<String> {
        self.check()?;
        let mut password = String::new();
        if let Some(plain) = &self.password {
            encode(plain, "", &mut password);
        }
        let url = self.url(self.password.as_ref().map(|_| &*password));
        self.check_written(&url.parse()?)?;
        Ok(url)
    }

    fn url(&self, password: Option<&str>) -> String {
        let mut credentials = String::new();
        if let Some(user) = &self.user {
            encode(user, "", &mut credentials);
            if let Some(password) = password {
                credentials.push(':');
                credentials.push_str(password);
            }
            credentials.push('@');
        }
        let source = self.discovery.as_ref().map(ToString::to_string);
        let (scheme, place) = match &source {
            Some(source) => source.split_once("://").unwrap_or_default(),
            None if self.tls => ("memcached+tls", ""),
            None => ("memcached", ""),
        };
        let mut url = format!("{scheme}://{credentials}{place}");
        let mut separator = '?';
        for (option, setting) in self.changed() {
            match (option.name, &setting) {
                ("nodes", Setting::List(nodes)) if source.is_none() => {
                    for (at, node) in nodes.iter().enumerate() {
                        if at > 0 {
                            url.push(',');
                        }
                        encode(node, "=*:[]", &mut url);
                    }
                }
                ("tls", _) if source.is_none() => {}
                ("discovery" | "user" | "password", _) => {}
                (name, setting) => {
                    url.push(separator);
                    separator = '&';
                    url.push_str(name);
                    url.push('=');
                    encode(&setting.to_string(), "=*:[],/", &mut url);
                }
            }
        }
        url
    }
}

fn decoded(text: &str) -> Result<String> {
    let decoded = decode(text).ok_or_else(|| {
        invalid("a `%` is not followed by the two digits of a character; percent-encode it, as %25")
    })?;
    Ok(decoded.into_owned())
}

fn invalid(why: impl Into<std::sync::Arc<str>>) -> Error {
    Error::config("url", why)
}
