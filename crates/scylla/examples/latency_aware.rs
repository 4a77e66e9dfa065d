//! A latency-aware chain at work on a cluster of yours, Apache Cassandra or `ScyllaDB`.
//!
//! ```text
//! cargo run -p steersman-scylla --example latency_aware -- 127.0.0.1:9042
//! ```
//!
//! Creates the keyspace `steersman_example` with one small table, unless they are there, and reads its
//! rows at a modest rate for some seconds. Tells what the policies notice meanwhile, and at the end
//! what they know of each node. Slow a node down or stop it while it runs, to see what happens.

use std::collections::BTreeSet;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::Consistency;
use steersman_scylla::selection::Event;
use steersman_scylla::{DatacenterAware, LatencyAware, LoadBalancer, NodeStatus, TokenAware};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};

const ROWS: i32 = 1_000;
const READS_PER_SECOND: u64 = 300;
const SPAN: Duration = Duration::from_secs(15);

type Chain = LatencyAware<TokenAware<DatacenterAware>>;
type Balancer = LoadBalancer<Arc<Chain>>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let contact = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:9042".to_owned());
    let datacenter = prepare(&contact).await?;
    println!("reading {READS_PER_SECOND} rows a second for {SPAN:?}, datacenter {datacenter}");

    // A listener must not take long, so it only passes events on.
    let (sender, mut events) = mpsc::unbounded_channel();
    let chain: Arc<Chain> = Arc::new(
        LatencyAware::builder()
            .listener(move |event: &Event| {
                // At the end nobody receives them any more.
                let _ = sender.send(*event);
            })
            .build(TokenAware::new(DatacenterAware::new(datacenter)))?,
    );

    let balancer = Arc::new(LoadBalancer::new(Arc::clone(&chain)));
    let profile = ExecutionProfile::builder()
        .load_balancing_policy(balancer.clone())
        .consistency(Consistency::LocalOne)
        .request_timeout(Some(Duration::from_secs(1)))
        .build();
    let session = connect(&contact, profile).await?;

    let failed = read(session, &balancer, &mut events).await?;
    print_status(&balancer);
    let counters = chain.counters();
    println!(
        "{failed} reads failed; penalised {}, probes {}, recovering {}, back {}, silent {}",
        counters.penalised, counters.probes, counters.recovering, counters.back, counters.silent,
    );
    Ok(())
}

async fn connect(contact: &str, profile: ExecutionProfile) -> Result<Session, Box<dyn Error>> {
    let session = SessionBuilder::new()
        .known_node(contact)
        .default_execution_profile_handle(profile.into_handle())
        .build()
        .await;
    session.map_err(|error| format!("no cluster at {contact}: {error}").into())
}

/// Makes the table and its rows, by a session with the driver's own policy. Gives the datacenter to
/// prefer: the one whose name is first, if there are several.
async fn prepare(contact: &str) -> Result<String, Box<dyn Error>> {
    let session = connect(contact, ExecutionProfile::builder().build()).await?;
    let state = session.get_cluster_state();
    let nodes = state.get_nodes_info();
    let names: BTreeSet<_> = nodes
        .iter()
        .filter_map(|node| node.datacenter.clone())
        .collect();
    let datacenter = names
        .into_iter()
        .next()
        .ok_or("the nodes do not say which datacenter they are in")?;
    let nodes = nodes
        .iter()
        .filter(|node| node.datacenter.as_ref() == Some(&datacenter))
        .count();
    let copies = nodes.min(3);

    let replication = format!("{{'class': 'NetworkTopologyStrategy', '{datacenter}': {copies}}}");
    for change in [
        format!("CREATE KEYSPACE IF NOT EXISTS steersman_example WITH replication = {replication}"),
        "CREATE TABLE IF NOT EXISTS steersman_example.rows (k int PRIMARY KEY, v text)".to_owned(),
    ] {
        session.query_unpaged(change, ()).await?;
        session.await_schema_agreement().await?;
    }
    let insert = "INSERT INTO steersman_example.rows (k, v) VALUES (?, ?)";
    let insert = session.prepare(insert).await?;
    for key in 0..ROWS {
        session.execute_unpaged(&insert, (key, "value")).await?;
    }
    Ok(datacenter)
}

/// Reads rows at a fixed rate, whether or not earlier reads have been answered, and prints events as
/// they come. Gives the number of reads that failed.
async fn read(
    session: Session,
    balancer: &Balancer,
    events: &mut mpsc::UnboundedReceiver<Event>,
) -> Result<u64, Box<dyn Error>> {
    // Prepared, so that the driver knows the key and with it the replicas.
    let mut select = session
        .prepare("SELECT v FROM steersman_example.rows WHERE k = ?")
        .await?;
    // A read may be sent to another node when the first one has failed.
    select.set_is_idempotent(true);
    let reader = Arc::new((session, select, AtomicU64::new(0)));

    let begin = Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_micros(1_000_000 / READS_PER_SECOND));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut key = 0;
    while begin.elapsed() < SPAN {
        tokio::select! {
            _ = ticks.tick() => {
                key = (key + 1) % ROWS;
                let reader = Arc::clone(&reader);
                tokio::spawn(async move {
                    let (session, select, failed) = &*reader;
                    if session.execute_unpaged(select, (key,)).await.is_err() {
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            Some(event) = events.recv() => {
                let status = balancer.status();
                let name = status.iter().find(|node| is_about(node, &event));
                let name = name.map(|node| node.address.to_string()).unwrap_or_default();
                println!("{:>5.1?} {name}: {event}", begin.elapsed());
            }
        }
    }
    Ok(reader.2.load(Ordering::Relaxed))
}

/// An event has the number of its node in the chain, and so has the report of a node's status.
fn is_about(node: &NodeStatus, event: &Event) -> bool {
    node.report.is_some_and(|report| report.node == event.node)
}

fn print_status(balancer: &Balancer) {
    println!(
        "{:22} {:12} {:6} {:>7} {:>10}  KNOWN",
        "NODE", "DATACENTER", "UP", "PICKS", "UNANSWERED"
    );
    let mut nodes = balancer.status();
    nodes.sort_by_key(|node| node.address);
    for node in nodes {
        println!(
            "{:22} {:12} {:6} {:>7} {:>10}  {}",
            node.address.to_string(),
            node.datacenter.as_deref().unwrap_or("-"),
            if node.is_connected { "yes" } else { "no" },
            node.picks,
            node.unanswered,
            node.report
                .map_or_else(|| "nothing".to_owned(), |report| report.to_string()),
        );
    }
}
