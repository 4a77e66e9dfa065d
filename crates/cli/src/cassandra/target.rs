//! The cluster and what is read there: checked first, so that what is measured works.

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::cluster::ClusterState;
use scylla::errors::NewSessionError;
use scylla::policies::load_balancing::{DefaultPolicy, LoadBalancingPolicy};
use scylla::policies::speculative_execution::{
    SimpleSpeculativeExecutionPolicy, SpeculativeExecutionPolicy,
};
use scylla::response::PagingState;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;
use scylla::value::CqlValue;

use super::failures;
use super::keys::TypedKeys;
use super::slow::Detour;
use crate::answer::Failure;
use crate::args::cassandra as args;
use crate::context::Settings;
use crate::duration::within;

/// The environment's variable with the password of `--user`.
pub(super) const PASSWORD_VARIABLE: &str = "STEERSMAN_CASSANDRA_PASSWORD";

/// The port of CQL.
const PORT: u16 = 9042;

/// What to know of the results if the query's keys are not known to the driver.
const KEYLESS: &str =
    "no `?` of the query is its partition key: token awareness has no part in what follows";

/// A session takes some requests to each node, so it may take so many times as long as one of them.
const HANDSHAKE: u32 = 10;

/// Reads `HOST:PORT`, `HOST` or `[v6]:PORT`, and gives the former.
pub(crate) fn contact(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip, PORT).to_string());
    }
    if text.parse::<SocketAddr>().is_ok() {
        return Ok(text.to_owned());
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().unwrap_or_default()),
        None => (text, PORT),
    };
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    if host.is_empty() || !host.chars().all(is_name) || port == 0 {
        return Err("write HOST:PORT, HOST or [v6]:PORT, as in 10.0.0.1:9042");
    }
    Ok(format!("{host}:{port}"))
}

/// Reads a consistency level for reads.
pub(crate) fn consistency(text: &str) -> Result<Consistency, &'static str> {
    Ok(match &*text.to_lowercase().replace('-', "_") {
        "one" => Consistency::One,
        "two" => Consistency::Two,
        "three" => Consistency::Three,
        "quorum" => Consistency::Quorum,
        "all" => Consistency::All,
        "local_one" => Consistency::LocalOne,
        "local_quorum" => Consistency::LocalQuorum,
        "serial" => Consistency::Serial,
        "local_serial" => Consistency::LocalSerial,
        _ => {
            return Err(
                "choose one, two, three, quorum, all, local_one, local_quorum, serial or local_serial",
            );
        }
    })
}

/// A cluster that answers, and a query that it takes.
pub(super) struct Target<'a> {
    args: &'a args::Target,
    timeout: Option<Duration>,
    password: String,
    detour: Option<Detour>,
}

impl<'a> Target<'a> {
    /// Connects once, and checks all that was given.
    pub(super) async fn find(args: &'a args::Target, settings: &Settings) -> Result<Self, Failure> {
        if let Some(slow) = &args.slow {
            slow.check(settings.timeout)?;
        }
        let mut target = Self {
            args,
            timeout: settings.timeout,
            password: password(args, std::env::var_os(PASSWORD_VARIABLE))?,
            detour: None,
        };
        let session = target
            .session(DefaultPolicy::builder().build(), None)
            .await?;
        let state = session.get_cluster_state();
        let nodes = addresses(&state);
        target.check_datacenter(&state)?;
        target.check_keyspace(&state)?;
        let reads = target.reads(session).await?;
        if let Some(slow) = &args.slow {
            target.detour = Some(slow.start(nodes).await?);
        }
        if !reads.prepared.is_token_aware() {
            // Beside the output, which may be for a script.
            let _ = writeln!(io::stderr(), "note: {KEYLESS}");
        }
        Ok(target)
    }

    pub(super) fn datacenter(&self) -> Option<&'a str> {
        self.args.datacenter.as_deref()
    }

    /// A session under that policy. A read that takes as long as `speculation` is sent to a second
    /// node.
    async fn session(
        &self,
        policy: Arc<dyn LoadBalancingPolicy>,
        speculation: Option<Duration>,
    ) -> Result<Session, Failure> {
        let speculation = speculation.map(|after| -> Arc<dyn SpeculativeExecutionPolicy> {
            Arc::new(SimpleSpeculativeExecutionPolicy {
                max_retry_count: 1,
                retry_interval: after,
            })
        });
        let profile = ExecutionProfile::builder()
            .load_balancing_policy(policy)
            .consistency(self.args.consistency)
            .request_timeout(self.timeout)
            .speculative_execution_policy(speculation)
            .build();
        let mut builder = SessionBuilder::new()
            .known_nodes(&self.args.contacts)
            .hostname_resolution_timeout(self.timeout)
            .default_execution_profile_handle(profile.into_handle());
        if let Some(timeout) = self.timeout {
            builder = builder.connection_timeout(timeout);
        }
        if let Some(user) = &self.args.user {
            builder = builder.user(user, &self.password);
        }
        if let Some(detour) = &self.detour {
            builder = builder.address_translator(Arc::new(detour.translations()));
        }
        let patience = self.timeout.map(|timeout| timeout * HANDSHAKE);
        match within(patience, builder.build()).await {
            Ok(Ok(session)) => Ok(session),
            Ok(Err(error)) => Err(self.no_session(&error).await),
            Err(patience) => Err(failures::silence(&self.args.contacts, patience)),
        }
    }

    async fn no_session(&self, error: &NewSessionError) -> Failure {
        failures::no_session(&self.args.contacts, error, self.timeout).await
    }

    fn check_datacenter(&self, state: &ClusterState) -> Result<(), Failure> {
        let Some(wanted) = self.datacenter() else {
            return Ok(());
        };
        let nodes = state.get_nodes_info().iter();
        let mut names: Vec<&str> = nodes
            .filter_map(|node| node.datacenter.as_deref())
            .collect();
        names.sort_unstable();
        names.dedup();
        if names.contains(&wanted) {
            return Ok(());
        }
        Err(Failure::told(format!(
            "--datacenter: no node is in {wanted:?}; the cluster has {}",
            names.join(", ")
        )))
    }

    fn check_keyspace(&self, state: &ClusterState) -> Result<(), Failure> {
        let Some(wanted) = &self.args.keyspace else {
            return Ok(());
        };
        if state.get_keyspace(wanted).is_some() {
            return Ok(());
        }
        let names = state.keyspaces_iter().map(|(name, _)| name);
        let mut names: Vec<&str> = names.filter(|name| !name.starts_with("system")).collect();
        names.sort_unstable();
        let names = match names.as_slice() {
            [] => "no keyspace besides its own".to_owned(),
            names => names.join(", "),
        };
        Err(Failure::told(format!(
            "--keyspace: there is no {wanted:?}; the cluster has {names}"
        )))
    }

    /// Reads under that policy, by a session of their own.
    pub(super) async fn connect(
        &self,
        policy: Arc<dyn LoadBalancingPolicy>,
        speculation: Option<Duration>,
    ) -> Result<Reads, Failure> {
        let session = self.session(policy, speculation).await?;
        self.reads(session).await
    }

    async fn reads(&self, session: Session) -> Result<Reads, Failure> {
        let query = self.args.query.trim();
        if !query
            .get(..6)
            .is_some_and(|word| word.eq_ignore_ascii_case("select"))
        {
            return Err(Failure::told(format!(
                "--query: {query:?} is no SELECT, and it would be done thousands of times"
            )));
        }
        if let Some(keyspace) = &self.args.keyspace {
            let used = session.use_keyspace(keyspace, true).await;
            used.map_err(|error| Failure::told(format!("--keyspace: {error}")))?;
        }
        let prepared = session.prepare(query).await;
        let mut prepared = prepared.map_err(|error| failures::not_prepared(&error))?;
        // So that the driver may repeat a read elsewhere.
        prepared.set_is_idempotent(true);
        let markers = prepared.get_variable_col_specs();
        let keys = match (markers.as_slice(), &self.args.keys) {
            ([], None) => None,
            ([marker], Some(keys)) => {
                let typed = TypedKeys::new(keys.clone(), marker.typ());
                Some(typed.map_err(|reason| Failure::told(format!("--keys: {reason}")))?)
            }
            ([], Some(_)) => {
                return Err(Failure::told("--keys has no effect: the query has no `?`"));
            }
            ([marker], None) => {
                return Err(Failure::told(format!(
                    "--query: --keys must say what stands for the `?` ({})",
                    marker.name()
                )));
            }
            (markers, _) => {
                return Err(Failure::told(format!(
                    "--query: it has {} of `?`, and one is supported; write the others out",
                    markers.len()
                )));
            }
        };
        Ok(Reads {
            session,
            prepared,
            keys,
        })
    }
}

fn password(args: &args::Target, variable: Option<OsString>) -> Result<String, Failure> {
    if args.user.is_none() {
        return Ok(String::new());
    }
    let password = variable.ok_or_else(|| {
        Failure::told(format!(
            "--user: the password must be in the environment's {PASSWORD_VARIABLE}"
        ))
    })?;
    password
        .into_string()
        .map_err(|_| Failure::told(format!("{PASSWORD_VARIABLE} is not UTF-8")))
}

fn addresses(state: &ClusterState) -> Vec<SocketAddr> {
    let nodes = state.get_nodes_info().iter();
    let mut addresses: Vec<_> = nodes
        .map(|node| SocketAddr::new(node.address.ip(), node.address.port()))
        .collect();
    addresses.sort_unstable();
    addresses
}

/// The query, with a session to send it by.
pub(super) struct Reads {
    session: Session,
    prepared: PreparedStatement,
    keys: Option<TypedKeys>,
}

impl Reads {
    /// What one read asks for.
    pub(super) fn draw(&self, random: &mut Rng) -> Vec<CqlValue> {
        let keys = self.keys.iter();
        keys.map(|keys| keys.draw(random)).collect()
    }

    /// Reads, a page at most, and tells who answered or what went wrong.
    pub(super) async fn read(&self, values: Vec<CqlValue>) -> Result<SocketAddr, String> {
        let page = self
            .session
            .execute_single_page(&self.prepared, values, PagingState::start())
            .await;
        let (result, _) = page.map_err(|error| failures::reason(&error))?;
        let node = &result.request_coordinator().node().address;
        Ok(SocketAddr::new(node.ip(), node.port()))
    }

    /// The addresses of the cluster's nodes.
    pub(super) fn nodes(&self) -> Vec<SocketAddr> {
        addresses(&self.session.get_cluster_state())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contact_points_have_a_port() {
        for (text, expected) in [
            ("10.0.0.1", "10.0.0.1:9042"),
            ("10.0.0.1:9043", "10.0.0.1:9043"),
            ("db-1", "db-1:9042"),
            (" db_1.example:19042 ", "db_1.example:19042"),
            ("::1", "[::1]:9042"),
            ("[::1]:1", "[::1]:1"),
        ] {
            assert_eq!(contact(text).as_deref(), Ok(expected));
        }
        for text in [
            "",
            ":9042",
            "db:",
            "db:0",
            "db:99999",
            "http://db",
            "a b",
            "db:port",
        ] {
            assert!(contact(text).is_err(), "{text}");
        }
    }

    #[test]
    fn consistency_levels_are_read_as_they_are_usually_written() {
        assert_eq!(consistency("LOCAL_QUORUM"), Ok(Consistency::LocalQuorum));
        assert_eq!(consistency("local-one"), Ok(Consistency::LocalOne));
        for level in ["any", "each_quorum", "", "onne"] {
            assert!(consistency(level).is_err(), "{level}");
        }
    }
}
