//! Sessions over TCP and Unix sockets.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use steersman_testkit::{Clock, ClusterConfiguration, ManualClock, Server, Verb};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::client::Client;

#[tokio::test]
async fn stores_reads_and_removes() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    client.ask("set a 5 0 3\r\nabc\r\n", "STORED\r\n").await;
    client
        .ask("get a b\r\n", "VALUE a 5 3\r\nabc\r\nEND\r\n")
        .await;
    client
        .ask("gets a\r\n", "VALUE a 5 3 1\r\nabc\r\nEND\r\n")
        .await;
    client
        .ask("gat 10 a\r\n", "VALUE a 5 3\r\nabc\r\nEND\r\n")
        .await;
    client.ask("append a 0 0 1\r\nd\r\n", "STORED\r\n").await;
    client.ask("cas a 0 0 1 1\r\nx\r\n", "EXISTS\r\n").await;
    client.ask("cas a 0 0 1 2\r\n7\r\n", "STORED\r\n").await;
    client.ask("incr a 3\r\n", "10\r\n").await;
    client.ask("decr a 11\r\n", "0\r\n").await;
    client
        .ask("get a\r\n", "VALUE a 0 2\r\n0 \r\nEND\r\n")
        .await;
    client.ask("touch a 1\r\n", "TOUCHED\r\n").await;
    client.ask("delete a\r\n", "DELETED\r\n").await;
    client.ask("delete a\r\n", "NOT_FOUND\r\n").await;
    client.ask("mn\r\n", "MN\r\n").await;
    client.send("quit\r\n").await;
    assert_eq!(client.read_to_end().await.unwrap(), "");
}

#[tokio::test]
async fn noreply_answers_nothing_and_order_is_kept() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    client
        .ask(
            "set n 0 0 1 noreply\r\n1\r\nincr n 1 noreply\r\ntouch n 0 noreply\r\nget n\r\n\
             delete n noreply\r\nset n 0 0 x noreply\r\nflush_all noreply\r\nget n\r\nversion\r\n",
            "VALUE n 0 1\r\n2\r\nEND\r\nEND\r\nVERSION 1.6.18\r\n",
        )
        .await;
}

#[tokio::test]
async fn a_request_in_single_bytes_is_the_same_request() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    for byte in b"set k 0 0 5\r\n\r\n\r\n!\r\nget k\r\n" {
        client.send([*byte]).await;
    }
    client
        .expect("STORED\r\nVALUE k 0 5\r\n\r\n\r\n!\r\nEND\r\n")
        .await;
}

#[tokio::test]
async fn requests_sent_before_the_client_stops_sending_are_answered() {
    let server = Server::start().await.unwrap();
    let mut stream = tokio::net::TcpStream::connect(server.addr()).await.unwrap();
    stream.write_all(b"version\r\n").await.unwrap();
    stream.shutdown().await.unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.unwrap();
    assert_eq!(reply, "VERSION 1.6.18\r\n");
}

#[tokio::test]
async fn listens_on_a_unix_socket_and_removes_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let server = Server::builder().listen_unix(&path).start().await.unwrap();
    assert_eq!(server.node(), format!("unix:{}", path.display()));

    let mut stream = UnixStream::connect(&path).await.unwrap();
    stream.write_all(b"version\r\nquit\r\n").await.unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.unwrap();
    assert_eq!(reply, "VERSION 1.6.18\r\n");

    server.stop().await;
    assert!(UnixStream::connect(&path).await.is_err());
    server.restart().await.unwrap();
    assert!(UnixStream::connect(&path).await.is_ok());

    drop(server);
    assert!(!path.exists());
}

#[tokio::test]
async fn listens_on_ipv6_where_the_machine_has_it() {
    let server = Server::builder().listen_tcp("[::1]:0").start().await;
    if let Err(error) = TcpListener::bind("[::1]:0") {
        assert_eq!(server.unwrap_err().kind(), error.kind());
        return;
    }
    let server = server.unwrap();
    assert!(server.node().starts_with("[::1]:"));
    Client::connect(server.addr())
        .await
        .ask("mn\r\n", "MN\r\n")
        .await;
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_with_advice() {
    let error = Server::builder()
        .listen_tcp("localhost")
        .start()
        .await
        .unwrap_err();
    assert!(error.to_string().contains("127.0.0.1:0"), "{error}");
}

#[tokio::test]
async fn items_expire_by_the_clock_given() {
    let clock = Arc::new(ManualClock::new(Duration::from_secs(1_800_000_000)));
    let server = Server::builder()
        .clock(clock.clone())
        .start()
        .await
        .unwrap();
    let mut client = Client::connect(server.addr()).await;
    client
        .ask("set relative 0 10 1\r\nx\r\n", "STORED\r\n")
        .await;
    client
        .ask("set absolute 0 1800000020 1\r\nx\r\n", "STORED\r\n")
        .await;
    client.ask("set gone 0 -1 1\r\nx\r\n", "STORED\r\n").await;
    client.ask("get gone\r\n", "END\r\n").await;
    clock.advance(Duration::from_secs(10));
    client.ask("get relative\r\n", "END\r\n").await;
    client
        .ask("get absolute\r\n", "VALUE absolute 0 1\r\nx\r\nEND\r\n")
        .await;
    clock.advance(Duration::from_secs(10));
    client.ask("get absolute\r\n", "END\r\n").await;
    assert_eq!(clock.now(), Duration::from_secs(1_800_000_020));
}

#[tokio::test(start_paused = true)]
async fn the_default_clock_follows_paused_time() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    client.ask("set k 0 60 1\r\nx\r\n", "STORED\r\n").await;
    tokio::time::advance(Duration::from_secs(58)).await;
    client.ask("get k\r\n", "VALUE k 0 1\r\nx\r\nEND\r\n").await;
    tokio::time::advance(Duration::from_secs(2)).await;
    client.ask("get k\r\n", "END\r\n").await;
}

#[tokio::test]
async fn counts_what_was_asked() {
    let server = Server::builder().keep_requests(2).start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    client.ask("get a b c\r\n", "END\r\n").await;
    client.ask("gat 0 a\r\n", "END\r\n").await;
    client.ask("nonsense\r\n", "ERROR\r\n").await;
    client.ask("delete a\r\n", "NOT_FOUND\r\n").await;

    let stats = server.stats();
    assert_eq!((stats.connections, stats.accepted), (1, 1));
    assert_eq!(stats.commands.of(Verb::Get), 1);
    assert_eq!(stats.commands.of(Verb::Gat), 1);
    assert_eq!(stats.commands.keys_read(), 4);
    assert_eq!(stats.commands.rejected(), 1);
    assert_eq!(stats.commands.total(), 4);

    let verbs: Vec<Verb> = server.requests().iter().map(|r| r.command.verb()).collect();
    assert_eq!(verbs, [Verb::Gat, Verb::Delete]);

    drop(client);
    let stats = server.wait_for(|stats| stats.connections == 0).await;
    assert_eq!(stats.accepted, 1);
}

#[tokio::test]
async fn a_configuration_endpoint_knows_its_cluster_by_command_or_by_key() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    client.ask("config get cluster\r\n", "ERROR\r\n").await;
    server.configure(ClusterConfiguration::new(3, ["h:1", "[::1]:2"]));
    let reply = "CONFIG cluster 0 17\r\n3\nh||1 ::1|::1|2\n\r\nEND\r\n";
    client.ask("config get cluster\r\n", reply).await;
    client.ask("config get other\r\n", "ERROR\r\n").await;

    server.configure(ClusterConfiguration::text("x").legacy());
    server.restart().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    client.ask("config get cluster\r\n", "ERROR\r\n").await;
    client
        .ask(
            "get AmazonElastiCache:cluster\r\n",
            "VALUE AmazonElastiCache:cluster 0 1\r\nx\r\nEND\r\n",
        )
        .await;
}
