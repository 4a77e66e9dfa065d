//! Options as data: from a URL, the environment, or whatever serde reads.
//!
//! [`Config`] has a field for each option of the builder that can be written down. What the options
//! are called and how their values are written is in one table, [`option`], that all sources share:
//! [`url`], [`environment`] and, with the feature `serde`, [`serde`](mod@serde). A source only takes
//! its text apart into names and [`Setting`](setting::Setting)s; [`settings`] makes a config of
//! them, and [`apply`] gives it to a builder.

mod apply;
mod discovery;
mod environment;
pub(crate) mod file;
mod form;
mod near;
mod option;
mod percent;
#[cfg(feature = "serde")]
mod serde;
mod setting;
mod settings;
#[cfg(test)]
mod tests;
mod text;
mod url;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use steersman_selection::{Hedge, Scheme};

pub use self::discovery::DiscoverySource;
use crate::address::NodeConfig;
use crate::options::Options;
use crate::replication::{ReadPolicy, Replication, WriteSuccess};

/// The options of a client as data, for [`Builder::config`](crate::Builder::config).
///
/// Each field is called as the option is in a URL, in a file and in the builder, and has the same
/// default. What takes code (event handlers, connectors, policies, credentials that are fetched) is
/// set on the builder alone.
///
/// # From a URL
///
/// ```
/// use std::time::Duration;
/// use steersman_memcached::{Builder, Config};
///
/// let url = "memcached://app:secret@cache-1,cache-2:11212*2?timeout=250ms&placement=rendezvous-exact";
/// let config: Config = url.parse()?;
/// assert_eq!(config.timeout, Some(Duration::from_millis(250)));
/// assert_eq!(config.nodes.len(), 2);
///
/// let client = Builder::from_url(url)?.max_connections(4).build()?;
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
///
/// | URL | is |
/// | --- | --- |
/// | `memcached://NODE[,NODE...]` | nodes, written as [`NodeConfig`] describes |
/// | `memcached+tls://NODE[,NODE...]` | the same over TLS |
/// | `memcached+unix:///PATH`, `unix:/PATH` | a node on a Unix socket |
/// | `elasticache://HOST[:PORT]`, `dns://NAME[:PORT]`, `dns+srv://NAME`, `file:///PATH` | nodes that are [discovered](DiscoverySource) |
///
/// `USER:PASSWORD@` may stand before the nodes, and options follow: `?NAME=VALUE&NAME=VALUE`.
/// Whatever is not meant as a delimiter is percent-encoded, such as `%40` for `@` in a password and
/// `%2F` for `/` in the path of a socket that is one of several nodes. Unknown names, names that are
/// given twice and options that contradict each other are errors.
///
/// # From the environment
///
/// [`from_env`](Self::from_env) reads `STEERSMAN_URL`, `STEERSMAN_NODES` and `STEERSMAN_PASSWORD`.
///
/// # By serde
///
/// With the crate's feature `serde` it is read from and written to any format that describes itself,
/// as TOML and JSON: a map from names to values, or a URL. Durations are texts such as `"250ms"`, as
/// are sizes such as `"1MiB"` (or a number of bytes); nodes are a list of texts.
///
/// # Secrets
///
/// The password shows in no `Debug`, `Display` or error; `Display` is a URL with `***` in its place.
/// [`to_url`](Self::to_url) and serde write it.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// [`Builder::nodes`](crate::Builder::nodes); none by default.
    pub nodes: Vec<NodeConfig>,
    /// [`Builder::discovery`](crate::Builder::discovery); none by default.
    pub discovery: Option<DiscoverySource>,
    /// [`Builder::discovery_interval`](crate::Builder::discovery_interval); 60 s by default.
    pub discovery_interval: Duration,
    /// [`Builder::discovery_timeout`](crate::Builder::discovery_timeout); 5 s by default.
    pub discovery_timeout: Option<Duration>,
    /// [`Builder::resolve_interval`](crate::Builder::resolve_interval); 60 s by default.
    pub resolve_interval: Option<Duration>,
    /// [`Builder::placement`](crate::Builder::placement). Its name is the option `placement`, its
    /// slot bits the option `slot_bits`; `rendezvous` and 16 by default.
    pub placement: Scheme,
    /// [`Builder::timeout`](crate::Builder::timeout); 1 s by default.
    pub timeout: Option<Duration>,
    /// [`Builder::max_connections`](crate::Builder::max_connections); 2 by default.
    pub max_connections: usize,
    /// [`Builder::min_connections`](crate::Builder::min_connections); 1 by default.
    pub min_connections: usize,
    /// [`Builder::purge_unused_connections_after`](crate::Builder::purge_unused_connections_after);
    /// 60 s by default.
    pub purge_unused_connections_after: Option<Duration>,
    /// [`Builder::connection_timeout`](crate::Builder::connection_timeout); 5 s by default.
    pub connection_timeout: Option<Duration>,
    /// [`Builder::purge_unhealthy_nodes`](crate::Builder::purge_unhealthy_nodes); off by default.
    pub purge_unhealthy_nodes: bool,
    /// [`Builder::autobatching`](crate::Builder::autobatching); on by default.
    pub autobatching: bool,
    /// [`Builder::autobatching_max_keys`](crate::Builder::autobatching_max_keys); 32 by default.
    pub autobatching_max_keys: usize,
    /// [`Builder::max_in_flight`](crate::Builder::max_in_flight); 1,024 by default.
    pub max_in_flight: usize,
    /// [`Builder::max_waiting`](crate::Builder::max_waiting); 16,384 by default.
    pub max_waiting: usize,
    /// [`Builder::open_connection_above`](crate::Builder::open_connection_above); 32 by default.
    pub open_connection_above: usize,
    /// [`Builder::stalled_after`](crate::Builder::stalled_after); 3 s by default.
    pub stalled_after: Option<Duration>,
    /// [`Builder::unhealthy_after`](crate::Builder::unhealthy_after); 3 by default.
    pub unhealthy_after: u32,
    /// [`Backoff::initial`](crate::Backoff::initial); 1 s by default.
    pub backoff_initial: Duration,
    /// [`Backoff::max`](crate::Backoff::max); 60 s by default.
    pub backoff_max: Duration,
    /// [`Backoff::jitter`](crate::Backoff::jitter); 0.5 by default.
    pub backoff_jitter: f64,
    /// [`Builder::max_value_size`](crate::Builder::max_value_size), in bytes; 128 MiB by default.
    pub max_value_size: usize,
    /// [`Builder::key_prefix`](crate::Builder::key_prefix), where that is text; none by default.
    pub key_prefix: Option<String>,
    /// `Builder::hash_long_keys`, for which the crate's feature `long-keys` is needed; off by default.
    pub hash_long_keys: bool,
    /// The name of [`Credentials`](crate::Credentials); none by default.
    pub user: Option<String>,
    /// The password of `user`.
    pub password: Option<String>,
    /// A file with the password of `user` and at most a newline behind it. It is read once, when the
    /// config is given to a builder.
    pub password_file: Option<PathBuf>,
    /// Whether connections are secured (`Builder::tls`); off by default. Needs the crate's feature
    /// `tls`, as do the options from here to `tls_verify`. Their files are read when the config is
    /// given to a builder.
    pub tls: bool,
    /// The file of `Tls::roots`; by default the system's authorities are trusted.
    pub tls_roots: Option<PathBuf>,
    /// The file of `Tls::extra_ca`; none by default.
    pub tls_extra_ca: Option<PathBuf>,
    /// The file of the chain of `Tls::client_certificate`; none by default.
    pub tls_cert: Option<PathBuf>,
    /// The file of the key of `Tls::client_certificate`; by default it is in that of the chain.
    pub tls_key: Option<PathBuf>,
    /// `Tls::server_name`; by default the host in each node's address.
    pub tls_server_name: Option<String>,
    /// Whether the servers' certificates are verified; on by default. Off is
    /// `Tls::dangerously_without_verification`.
    pub tls_verify: bool,
    /// [`Builder::replicas`](crate::Builder::replicas); 1 by default. The options that follow are
    /// those of [`Replication`].
    pub replicas: usize,
    /// [`Replication::read_policy`]; `steady` by default.
    pub read_policy: ReadPolicy,
    /// [`Replication::write_success`]; `all` by default.
    pub write_success: WriteSuccess,
    /// [`Replication::attempt_timeout`]; by default the time-out divided by the number of replicas.
    pub attempt_timeout: Option<Duration>,
    /// [`Replication::hedge`]: a time, or a share of reads such as 0.95, which is the default.
    pub hedge: Option<Hedge>,
    /// How many hedges a read of [`Replication::hedge_budget`]; 0.05 by default.
    pub hedges_per_read: f64,
    /// The burst of [`Replication::hedge_budget`]; 10 by default.
    pub hedge_burst: u32,
    /// [`Replication::next_on_miss`]; off by default.
    pub next_on_miss: bool,
    /// [`Replication::repair`] with this expiry; off by default.
    pub repair: Option<Duration>,
}

impl Default for Config {
    /// The builder's defaults.
    fn default() -> Self {
        let options = Options::default();
        let replication = Replication::new(1);
        Self {
            nodes: Vec::new(),
            discovery: None,
            discovery_interval: options.discovery_interval,
            discovery_timeout: options.discovery_timeout,
            resolve_interval: options.resolve_interval,
            placement: Scheme::default(),
            timeout: options.timeout,
            max_connections: options.max_connections,
            min_connections: options.min_connections,
            purge_unused_connections_after: options.purge_unused_connections_after,
            connection_timeout: options.connection_timeout,
            purge_unhealthy_nodes: options.purge_unhealthy_nodes,
            autobatching: options.limits.autobatch,
            autobatching_max_keys: options.limits.max_batch_keys,
            max_in_flight: options.max_in_flight,
            max_waiting: options.max_waiting,
            open_connection_above: options.open_connection_above,
            stalled_after: options.stalled_after,
            unhealthy_after: options.unhealthy_after,
            backoff_initial: options.backoff.initial,
            backoff_max: options.backoff.max,
            backoff_jitter: options.backoff.jitter,
            max_value_size: options.limits.max_value_size,
            key_prefix: None,
            hash_long_keys: false,
            user: None,
            password: None,
            password_file: None,
            tls: false,
            tls_roots: None,
            tls_extra_ca: None,
            tls_cert: None,
            tls_key: None,
            tls_server_name: None,
            tls_verify: true,
            replicas: replication.replicas,
            read_policy: ReadPolicy::default(),
            write_success: replication.write_success,
            attempt_timeout: replication.attempt_timeout,
            hedge: replication.hedge,
            hedges_per_read: replication.hedges_per_read,
            hedge_burst: replication.hedge_burst,
            next_on_miss: replication.next_on_miss,
            repair: None,
        }
    }
}

impl Config {
    /// Reads a duration as options have it: a whole number and one of the units `ns`, `us`, `ms`, `s`,
    /// `m`, `h` and `d`. `None` if it is none.
    ///
    /// ```
    /// use std::time::Duration;
    /// use steersman_memcached::Config;
    ///
    /// assert_eq!(Config::parse_duration("250ms"), Some(Duration::from_millis(250)));
    /// assert_eq!(Config::parse_duration("250"), None);
    /// ```
    pub fn parse_duration(text: &str) -> Option<Duration> {
        text::duration(text)
    }
}

/// Every option as it is written, but for the password.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Config");
        for option in option::OPTIONS {
            let value = match (option.get)(self) {
                None => continue,
                Some(_) if option.is_secret() => format_args!("***").to_string(),
                Some(value) => value.to_string(),
            };
            shown.field(option.name, &format_args!("{value}"));
        }
        shown.finish()
    }
}
