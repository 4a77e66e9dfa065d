//! Metrics for Prometheus: a client of two nodes in this process, a page to be scraped, one scrape.
//!
//! ```sh
//! cargo run -p steersman-memcached --features metrics --example prometheus
//! ```
//!
//! With an address, as in `-- 127.0.0.1:9898`, the page is served there until the program is ended, and each
//! scrape is followed by more calls: for a look at it with Prometheus and Grafana.

use std::error::Error;
use std::io;

use metrics_exporter_prometheus::{
    Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};
use steersman_memcached::{Client, FixedNodes, Metrics, Replication};
use steersman_testkit::Server;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Bounds of the buckets of durations, in seconds: a cache answers in well under a millisecond.
const SECONDS: [f64; 14] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0,
    5.0,
];

/// Bounds of the buckets of counts.
const COUNTS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 256.0, 1024.0];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let recorder = recorder()?;
    let handle = recorder.handle();
    // Before any client is built.
    metrics::set_global_recorder(recorder)?;
    match std::env::args().nth(1) {
        None => println!("{}", load_and_scrape(handle).await?),
        Some(address) => serve_on(&address, handle).await?,
    }
    Ok(())
}

/// What turns metrics into a page for Prometheus.
pub(crate) fn recorder() -> Result<PrometheusRecorder, Box<dyn Error>> {
    let builder = PrometheusBuilder::new()
        .with_recommended_naming(true)
        .set_buckets_for_metric(Matcher::Suffix("duration".to_owned()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("create_time".to_owned()), &SECONDS)?
        .set_buckets_for_metric(
            Matcher::Prefix("steersman_memcached_batch".to_owned()),
            &COUNTS,
        )?;
    Ok(builder.build_recorder())
}

/// Uses a cache, then does what Prometheus does.
pub(crate) async fn load_and_scrape(handle: PrometheusHandle) -> Result<String, Box<dyn Error>> {
    let servers = [Server::start().await?, Server::start().await?];
    let clients = clients(&servers).await?;
    let page = TcpListener::bind("127.0.0.1:0").await?;
    let address = page.local_addr()?;
    let server = tokio::spawn(async move { serve(&page, &handle, &clients).await });
    let scraped = scrape(&address.to_string()).await?;
    server.await??;
    Ok(scraped)
}

/// Uses a cache, and lets whoever likes do what Prometheus does.
async fn serve_on(address: &str, handle: PrometheusHandle) -> Result<(), Box<dyn Error>> {
    let servers = [Server::start().await?, Server::start().await?];
    let clients = clients(&servers).await?;
    let page = TcpListener::bind(address).await?;
    println!("http://{}/metrics", page.local_addr()?);
    loop {
        if let Err(error) = serve(&page, &handle, &clients).await {
            eprintln!("a scrape failed: {error}");
        }
        load(&clients).await?;
    }
}

/// Two clients that have done something.
async fn clients(servers: &[Server]) -> Result<[Client; 2], Box<dyn Error>> {
    let nodes: Vec<String> = servers.iter().map(Server::node).collect();
    // One value on one node, another client's on both: what is exported differs.
    let plain = Client::builder()
        .nodes(&nodes)
        .metrics(Metrics::new().durations(true).label("cache", "pages"))
        .build()?;
    let replicated = Client::builder()
        .discovery(FixedNodes::new(&nodes)?)
        .replicas(Replication::new(2))
        .metrics(Metrics::new().durations(true).label("cache", "sessions"))
        .build()?;
    let clients = [plain, replicated];
    for client in &clients {
        client.ready(std::time::Duration::from_secs(5)).await?;
    }
    load(&clients).await?;
    Ok(clients)
}

/// Calls of several kinds.
async fn load(clients: &[Client]) -> Result<(), Box<dyn Error>> {
    for client in clients {
        for n in 0..100 {
            client.set(format!("user:{n}"), "Ada").await?;
        }
        let keys: Vec<String> = (0..200).map(|n| format!("user:{n}")).collect();
        let found = client.get_many(&keys).await.found.len();
        assert_eq!(found, 100, "half of them were stored");
        client.get("user:1").await?;
    }
    Ok(())
}

/// Answers one request. A service has a server for HTTP; what matters is that clients export what they
/// have counted first.
async fn serve(
    page: &TcpListener,
    handle: &PrometheusHandle,
    clients: &[Client],
) -> io::Result<()> {
    let (mut stream, _) = page.accept().await?;
    let mut request = [0; 1024];
    let _ = stream.read(&mut request).await?;
    clients.iter().for_each(Client::export_metrics);
    let body = handle.render();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4\r\nconnection: close";
    let length = body.len();
    let answer = format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).await
}

async fn scrape(address: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
    Ok(body.unwrap_or_default().to_owned())
}
