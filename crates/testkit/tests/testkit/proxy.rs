//! The proxy in front of a server.

use std::io;
use std::time::Duration;

use steersman_testkit::{Ending, FaultProxy, Server, Times, Verb};
use tokio::time::{Instant, timeout};

use crate::client::{Client, connect_error};

const FOR_EVER: Duration = Duration::from_secs(24 * 60 * 60);

async fn server_and_proxy() -> (Server, FaultProxy) {
    let server = Server::start().await.unwrap();
    let proxy = FaultProxy::start(server.node()).await.unwrap();
    (server, proxy)
}

#[tokio::test]
async fn passes_everything_on_both_ways() {
    let (_server, proxy) = server_and_proxy().await;
    let mut client = Client::connect(proxy.addr()).await;
    let value = "v".repeat(1_000_000);
    client
        .ask(&format!("set k 0 0 1000000\r\n{value}\r\n"), "STORED\r\n")
        .await;
    client
        .ask(
            "get k\r\n",
            &format!("VALUE k 0 1000000\r\n{value}\r\nEND\r\n"),
        )
        .await;
    client.send("quit\r\n").await;
    assert_eq!(client.read_to_end().await.unwrap(), "");
    let stats = proxy.wait_for(|stats| stats.connections == 0).await;
    assert_eq!(stats.accepted, 1);
    assert!(
        stats.bytes_up > 1_000_000 && stats.bytes_down > 1_000_000,
        "{stats:?}"
    );
}

#[tokio::test]
async fn an_upstream_that_is_away_resets_its_clients() {
    let (server, proxy) = server_and_proxy().await;
    let mut client = Client::connect(proxy.addr()).await;
    client.ask("mn\r\n", "MN\r\n").await;
    server.stop().await;
    assert_eq!(client.read_to_reset().await.0, "");
    let mut client = Client::connect(proxy.addr()).await;
    assert_eq!(client.read_to_reset().await, (String::new(), true));
}

#[tokio::test]
async fn a_client_that_leaves_is_left_by_the_proxy() {
    let (server, proxy) = server_and_proxy().await;
    let mut client = Client::connect(proxy.addr()).await;
    client.ask("mn\r\n", "MN\r\n").await;
    drop(client);
    server.wait_for(|stats| stats.connections == 0).await;
    proxy.wait_for(|stats| stats.connections == 0).await;
}

#[tokio::test(start_paused = true)]
async fn replies_take_longer() {
    let (_server, proxy) = server_and_proxy().await;
    let latency = Duration::from_millis(100);
    proxy.faults().set_latency(latency);
    let mut client = Client::connect(proxy.addr()).await;
    let start = Instant::now();
    client.ask("mn\r\n", "MN\r\n").await;
    let took = start.elapsed();
    assert!(took >= latency && took < 2 * latency, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn stalls_freezes_and_swallows() {
    let (server, proxy) = server_and_proxy().await;
    let mut client = Client::connect(proxy.addr()).await;
    proxy.faults().set_stalled(true);
    client.send("get k\r\n").await;
    server
        .wait_for(|stats| stats.commands.of(Verb::Get) == 1)
        .await;
    assert!(timeout(FOR_EVER, client.read_some()).await.is_err());
    proxy.faults().set_stalled(false);
    client.expect("END\r\n").await;

    proxy.faults().set_frozen(true);
    client.send("get k\r\n").await;
    assert!(timeout(FOR_EVER, client.read_some()).await.is_err());
    assert_eq!(server.stats().commands.of(Verb::Get), 1);
    proxy.faults().set_frozen(false);
    client.expect("END\r\n").await;

    proxy.faults().set_black_hole(true);
    client.send("get k\r\n").await;
    assert!(timeout(FOR_EVER, client.read_some()).await.is_err());
    proxy.faults().set_black_hole(false);
    assert!(timeout(FOR_EVER, client.read_some()).await.is_err());
    assert_eq!(server.stats().commands.of(Verb::Get), 2);
}

#[tokio::test]
async fn cuts_resets_and_refuses() {
    let (_server, proxy) = server_and_proxy().await;
    let mut client = Client::connect(proxy.addr()).await;
    proxy.faults().cut_replies(Times::Next(1), 4, Ending::Close);
    client.send("version\r\n").await;
    assert_eq!(client.read_to_end().await.unwrap(), "VERS");

    let mut client = Client::connect(proxy.addr()).await;
    client.ask("mn\r\n", "MN\r\n").await;
    proxy.faults().reset_connections();
    assert_eq!(client.read_to_reset().await, (String::new(), true));

    proxy.faults().set_refusing(true);
    assert_eq!(
        connect_error(proxy.addr()).await,
        io::ErrorKind::ConnectionRefused
    );
    proxy.faults().clear();
    proxy.stop().await;
    assert_eq!(
        connect_error(proxy.addr()).await,
        io::ErrorKind::ConnectionRefused
    );
    proxy.restart().await.unwrap();
    Client::connect(proxy.addr())
        .await
        .ask("mn\r\n", "MN\r\n")
        .await;
}
