//! A config given to a builder: what its files hold, and one call for each option.

use super::Config;
#[cfg(feature = "tls")]
use super::file::read;
use crate::auth::Credentials;
use crate::backoff::Backoff;
use crate::builder::Builder;
use crate::error::{Error, Result};
use crate::replication::Replication;

impl Builder {
    /// The builder that a URL describes, such as `memcached://cache-1,cache-2?timeout=250ms`; see
    /// [`Config`].
    ///
    /// ```
    /// use steersman_memcached::Builder;
    ///
    /// let client = Builder::from_url("memcached://cache-1,cache-2?timeout=250ms")?.build()?;
    /// # Ok::<(), steersman_memcached::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if it is none. The error never shows the URL.
    pub fn from_url(url: &str) -> Result<Self> {
        Ok(Self::default().config(&url.parse()?))
    }

    /// The builder that the environment describes: `STEERSMAN_URL`, `STEERSMAN_NODES` and
    /// `STEERSMAN_PASSWORD`, as [`Config::from_variables`] says.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](crate::ErrorKind::Config); it names the variable or the option.
    pub fn from_env() -> Result<Self> {
        Ok(Self::default().config(&Config::from_env()?))
    }

    /// Sets every option to what the config has, be it the default; so it comes first, and what is
    /// set later wins.
    ///
    /// Nodes are added to those that are there. Discovery, TLS and credentials stay if the config has
    /// none. [`replicas`](Self::replicas) sets all options of replication: to add code to those of a
    /// config, give it what [`Config::replication`] makes of them.
    ///
    /// Files that the config names are read here; [`build`](Self::build) tells what is wrong.
    pub fn config(self, config: &Config) -> Self {
        let builder = self
            .nodes(&config.nodes)
            .discovery_interval(config.discovery_interval)
            .discovery_timeout(config.discovery_timeout)
            .resolve_interval(config.resolve_interval)
            .placement(config.placement)
            .replicas(config.replication())
            .timeout(config.timeout)
            .max_connections(config.max_connections)
            .min_connections(config.min_connections)
            .purge_unused_connections_after(config.purge_unused_connections_after)
            .connection_timeout(config.connection_timeout)
            .purge_unhealthy_nodes(config.purge_unhealthy_nodes)
            .autobatching(config.autobatching)
            .autobatching_max_keys(config.autobatching_max_keys)
            .max_in_flight(config.max_in_flight)
            .max_waiting(config.max_waiting)
            .open_connection_above(config.open_connection_above)
            .stalled_after(config.stalled_after)
            .unhealthy_after(config.unhealthy_after)
            .backoff(Backoff {
                initial: config.backoff_initial,
                max: config.backoff_max,
                jitter: config.backoff_jitter,
            })
            .max_value_size(config.max_value_size);
        config.complete(builder).unwrap_or_else(Self::failed)
    }
}

impl Config {
    /// The options of replication.
    ///
    /// ```
    /// use steersman_memcached::selection::Replicas;
    /// use steersman_memcached::{Builder, Config};
    ///
    /// let config: Config = "memcached://cache-1,cache-2,cache-3?replicas=2&hedge=5ms".parse()?;
    /// let owner_first = config.replication().policy(Replicas::in_order());
    /// let client = Builder::default().config(&config).replicas(owner_first).build()?;
    /// # Ok::<(), steersman_memcached::Error>(())
    /// ```
    pub fn replication(&self) -> Replication {
        let mut replication = Replication::new(self.replicas)
            .read_policy(self.read_policy)
            .write_success(self.write_success)
            .hedge(self.hedge)
            .hedge_budget(self.hedges_per_read, self.hedge_burst)
            .next_on_miss(self.next_on_miss);
        if let Some(timeout) = self.attempt_timeout {
            replication = replication.attempt_timeout(timeout);
        }
        match self.repair {
            Some(expires) => replication.repair(expires),
            None => replication,
        }
    }

    /// The builder with what may fail.
    fn complete(&self, mut builder: Builder) -> Result<Builder> {
        self.check()?;
        if let Some(credentials) = self.credentials()? {
            builder = builder.auth(credentials);
        }
        if let Some(source) = &self.discovery {
            builder = source.add_to(builder)?;
        }
        if let Some(prefix) = &self.key_prefix {
            builder = builder.key_prefix(prefix);
        }
        self.secure(self.shorten(builder)?)
    }

    #[cfg(feature = "long-keys")]
    #[expect(clippy::unnecessary_wraps, reason = "without the feature it fails")]
    fn shorten(&self, builder: Builder) -> Result<Builder> {
        Ok(if self.hash_long_keys {
            builder.hash_long_keys(true)
        } else {
            builder
        })
    }

    #[cfg(not(feature = "long-keys"))]
    fn shorten(&self, builder: Builder) -> Result<Builder> {
        if self.hash_long_keys {
            return Err(Error::config(
                "hash_long_keys",
                "it needs the feature `long-keys`, which this was built without",
            ));
        }
        Ok(builder)
    }

    fn credentials(&self) -> Result<Option<Credentials>> {
        let Some(user) = &self.user else {
            return Ok(None);
        };
        match (&self.password, &self.password_file) {
            (Some(password), _) => Ok(Some(Credentials::new(user, password))),
            (None, Some(file)) => Credentials::with_password_file(user, file).map(Some),
            (None, None) => Err(Error::config(
                "user",
                "give the password too, by `password` or `password_file`",
            )),
        }
    }

    #[cfg(feature = "tls")]
    fn secure(&self, builder: Builder) -> Result<Builder> {
        if !self.tls {
            return Ok(builder);
        }
        let mut tls = crate::tls::Tls::new();
        if let Some(file) = &self.tls_roots {
            tls = tls.roots(read("tls_roots", file)?);
        }
        if let Some(file) = &self.tls_extra_ca {
            tls = tls.extra_ca(read("tls_extra_ca", file)?);
        }
        if let Some(cert) = &self.tls_cert {
            let chain = read("tls_cert", cert)?;
            let key = match &self.tls_key {
                Some(file) => read("tls_key", file)?,
                None => chain.clone(),
            };
            tls = tls.client_certificate(chain, key);
        }
        if let Some(name) = &self.tls_server_name {
            tls = tls.server_name(name);
        }
        if !self.tls_verify {
            tls = tls.dangerously_without_verification();
        }
        Ok(builder.tls(tls))
    }

    #[cfg(not(feature = "tls"))]
    fn secure(&self, builder: Builder) -> Result<Builder> {
        if self.tls {
            return Err(Error::config(
                "tls",
                "it needs the feature `tls`, which this was built without",
            ));
        }
        Ok(builder)
    }
}
