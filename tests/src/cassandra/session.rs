//! Sessions, and the one statement that the tests send.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use scylla::client::execution_profile::{ExecutionProfile, ExecutionProfileBuilder};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::cluster::Node;
use scylla::errors::{ExecutionError, PrepareError};
use scylla::observability::history::HistoryListener;
use scylla::policies::host_filter::{AllowListHostFilter, HostFilter};
use scylla::policies::load_balancing::LoadBalancingPolicy;
use scylla::policies::speculative_execution::SimpleSpeculativeExecutionPolicy;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;
use steersman_testkit::FaultProxy;
use tokio::time::Instant;

/// How many rows the table has.
const ROWS: i32 = 1_000;
/// How long the nodes may take until all of them take writes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes sessions.
pub struct Connector {
    profile: ExecutionProfileBuilder,
    translated: HashMap<SocketAddr, SocketAddr>,
    only: Option<Arc<dyn HostFilter>>,
}

impl Connector {
    /// For sessions under that policy, at consistency level one.
    pub fn new(policy: Arc<dyn LoadBalancingPolicy>) -> Self {
        let profile = ExecutionProfile::builder()
            .load_balancing_policy(policy)
            .consistency(Consistency::One);
        // The driver wants a translation for each node.
        let translated = (1..=9).map(|node| (address(node), address(node))).collect();
        Self {
            profile,
            translated,
            only: None,
        }
    }

    /// A node is reached by way of a proxy.
    pub fn through(mut self, node: u8, proxy: &FaultProxy) -> Self {
        self.translated.insert(address(node), proxy.addr());
        self
    }

    /// Other nodes than these are never asked.
    pub fn only(mut self, nodes: &[u8]) -> Self {
        let addresses = nodes.iter().map(|&node| address(node));
        let filter = AllowListHostFilter::new(addresses);
        self.only = Some(Arc::new(filter.expect("these are addresses")));
        self
    }

    /// Requests fail when they take so long.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.profile = self.profile.request_timeout(Some(timeout));
        self
    }

    /// A request is sent to a second node if the first one takes so long.
    pub fn speculate(mut self, after: Duration) -> Self {
        let policy = SimpleSpeculativeExecutionPolicy {
            max_retry_count: 1,
            retry_interval: after,
        };
        self.profile = self
            .profile
            .speculative_execution_policy(Some(Arc::new(policy)));
        self
    }

    /// A session, once it is connected to all nodes that it knows of.
    pub async fn connect(self) -> Session {
        let mut builder = SessionBuilder::new()
            .known_node_addr(address(1))
            .address_translator(Arc::new(self.translated))
            .default_execution_profile_handle(self.profile.build().into_handle());
        if let Some(filter) = self.only {
            builder = builder.host_filter(filter);
        }
        builder.build().await.expect("node 1 runs")
    }
}

/// Where a node is.
fn address(node: u8) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::new(127, 0, 0, node), 9042))
}

/// Which node it is, as the script counts them.
pub(crate) fn number(node: &Node) -> u8 {
    match node.address.ip() {
        IpAddr::V4(ip) => ip.octets()[3],
        IpAddr::V6(_) => 0,
    }
}

/// A session that reads rows by their key.
#[derive(Debug)]
pub struct Reads {
    session: Session,
    keyspace: &'static str,
    select: PreparedStatement,
}

impl Reads {
    /// Makes the keyspace with its table and rows, unless they are there.
    pub async fn prepare_data(session: &Session, keyspace: &str, replication: &str) {
        let keyspaces =
            format!("CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = {replication}");
        let table = format!("CREATE TABLE IF NOT EXISTS {keyspace}.t (k int PRIMARY KEY, v text)");
        for statement in [keyspaces, table] {
            change_schema(session, &statement).await;
        }
        let insert = format!("INSERT INTO {keyspace}.t (k, v) VALUES (?, ?)");
        let mut insert = session.prepare(insert).await.expect("the table is there");
        insert.set_consistency(Consistency::All);
        insert.set_is_idempotent(true);
        let rows =
            stream::iter(0..ROWS).for_each_concurrent(32, |key| write(session, &insert, key));
        rows.await;
    }

    /// Reads of that keyspace's table.
    pub async fn new(session: Session, keyspace: &'static str) -> Result<Arc<Self>, PrepareError> {
        Ok(Arc::new(Self::prepare(session, keyspace).await?))
    }

    /// The same, listened to.
    pub async fn listened_to(
        session: Session,
        keyspace: &'static str,
        listener: Arc<dyn HistoryListener>,
    ) -> Result<Arc<Self>, PrepareError> {
        let mut reads = Self::prepare(session, keyspace).await?;
        reads.select.set_history_listener(listener);
        Ok(Arc::new(reads))
    }

    async fn prepare(session: Session, keyspace: &'static str) -> Result<Self, PrepareError> {
        let select = format!("SELECT v FROM {keyspace}.t WHERE k = ?");
        let mut select = session.prepare(select).await?;
        select.set_is_idempotent(true);
        Ok(Self {
            session,
            keyspace,
            select,
        })
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Reads a row, and says which node has answered.
    pub async fn read(&self, number: u64) -> Result<u8, ExecutionError> {
        let row = (key(number),);
        let result = self.session.execute_unpaged(&self.select, row).await?;
        Ok(self::number(result.request_coordinator().node()))
    }

    /// The nodes that hold the row of the read of that number.
    pub fn replicas(&self, number: u64) -> Vec<u8> {
        let state = self.session.get_cluster_state();
        let replicas = state.get_endpoints(self.keyspace, "t", &(key(number),));
        let replicas = replicas.expect("the table is there");
        replicas
            .iter()
            .map(|(node, _)| self::number(node))
            .collect()
    }
}

/// Changes the schema and waits until all nodes know, again and again: on a busy machine they take
/// longer than the driver waits. The change may have been made by then: it must say `IF NOT EXISTS`.
async fn change_schema(session: &Session, statement: &str) {
    let deadline = Instant::now() + 3 * PATIENCE;
    loop {
        let changed = session.query_unpaged(statement, ()).await;
        let why = match changed {
            Err(error) => error.to_string(),
            Ok(_) => match session.await_schema_agreement().await {
                Ok(_) => return,
                Err(error) => error.to_string(),
            },
        };
        let late = Instant::now() > deadline;
        assert!(!late, "the nodes do not agree on {statement}: {why}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Writes a row to all its replicas, again and again: nodes that have just started do not see each
/// other as up at once, and are slow.
async fn write(session: &Session, insert: &PreparedStatement, key: i32) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let Err(error) = session.execute_unpaged(insert, (key, "value")).await else {
            return;
        };
        let late = Instant::now() > deadline;
        assert!(!late, "row {key} is not on all its nodes: {error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn key(number: u64) -> i32 {
    i32::try_from(number % u64::from(ROWS.unsigned_abs())).unwrap_or_default()
}
