//! Starting, stopping, being full.

use std::io;

use steersman_testkit::Server;

use crate::client::{Client, connect_error};

#[tokio::test]
async fn a_stopped_server_refuses_and_a_restarted_one_is_empty() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    client.ask("set k 0 0 1\r\nx\r\n", "STORED\r\n").await;

    server.stop().await;
    assert_eq!(server.stats().connections, 0);
    assert_eq!(
        connect_error(server.addr()).await,
        io::ErrorKind::ConnectionRefused
    );
    assert_eq!(client.read_to_end().await.unwrap(), "");

    server.restart().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    client.ask("get k\r\n", "END\r\n").await;
    assert_eq!(server.stats().accepted, 2);
}

#[tokio::test]
async fn restarting_a_running_server_ends_its_connections() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    client.ask("mn\r\n", "MN\r\n").await;
    server.restart().await.unwrap();
    assert_eq!(client.read_to_end().await.unwrap(), "");
    Client::connect(server.addr())
        .await
        .ask("mn\r\n", "MN\r\n")
        .await;
}

#[tokio::test]
async fn stopping_does_not_wait_for_faults() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    server.faults().set_stalled(true);
    client.send("version\r\n").await;
    server.wait_for(|stats| stats.commands.total() == 1).await;
    server.stop().await;
    assert_eq!(client.read_to_reset().await.0, "");
}

#[tokio::test]
async fn a_dropped_server_is_gone() {
    let server = Server::start().await.unwrap();
    let addr = server.addr();
    let mut client = Client::connect(addr).await;
    client.ask("mn\r\n", "MN\r\n").await;
    drop(server);
    assert_eq!(connect_error(addr).await, io::ErrorKind::ConnectionRefused);
    assert_eq!(client.read_to_end().await.unwrap(), "");
}

#[tokio::test]
async fn the_port_of_a_stopped_server_stays_reserved() {
    let server = Server::start().await.unwrap();
    server.stop().await;
    if cfg!(target_os = "linux") {
        let taken = std::net::TcpListener::bind(server.addr()).map(drop);
        let others: Vec<_> = (0..64)
            .map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap())
            .collect();
        assert!(
            others
                .iter()
                .all(|other| other.local_addr().unwrap() != server.addr())
        );
        drop(taken);
    }
    server.restart().await.unwrap();
    Client::connect(server.addr())
        .await
        .ask("mn\r\n", "MN\r\n")
        .await;
}

#[tokio::test]
async fn one_client_too_many_is_told_so() {
    let server = Server::builder().max_connections(2).start().await.unwrap();
    let mut first = Client::connect(server.addr()).await;
    first.ask("mn\r\n", "MN\r\n").await;
    let mut second = Client::connect(server.addr()).await;
    second.ask("mn\r\n", "MN\r\n").await;

    let mut third = Client::connect(server.addr()).await;
    let answer = third.read_to_end().await.unwrap();
    assert_eq!(answer, "ERROR Too many open connections\r\n");
    assert_eq!(
        server
            .wait_for(|stats| stats.connections == 2)
            .await
            .turned_away,
        1
    );

    drop(first);
    server.wait_for(|stats| stats.connections == 1).await;
    Client::connect(server.addr())
        .await
        .ask("mn\r\n", "MN\r\n")
        .await;
    second.ask("mn\r\n", "MN\r\n").await;
}
