//! Clients that mean no good.

use steersman_testkit::{Server, Verb};

use crate::client::Client;

#[tokio::test]
async fn a_client_that_does_not_read_holds_up_nobody_else() {
    const REQUESTS: u64 = 10_000;
    let server = Server::start().await.unwrap();
    let mut greedy = Client::connect(server.addr()).await;
    let value = "x".repeat(1_000_000);
    greedy
        .ask(&format!("set big 0 0 1000000\r\n{value}\r\n"), "STORED\r\n")
        .await;
    // Ten gigabytes of replies, none of which it will read.
    greedy
        .send("get big\r\n".repeat(REQUESTS.try_into().unwrap()))
        .await;
    server
        .wait_for(|stats| stats.bytes_written > 1_000_000)
        .await;

    let mut other = Client::connect(server.addr()).await;
    for _ in 0..100 {
        other.ask("get small\r\n", "END\r\n").await;
    }
    let served = server.stats().commands.of(Verb::Get) - 100;
    assert!(
        served < REQUESTS / 10,
        "{served} replies are held for a client that reads none"
    );
}

#[tokio::test]
async fn a_request_for_many_large_values_is_answered_piece_by_piece() {
    const KEYS: usize = 200;
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    let value = "x".repeat(100_000);
    client
        .ask(&format!("set k 0 0 100000\r\n{value}\r\n"), "STORED\r\n")
        .await;
    client.send(format!("get{}\r\n", " k".repeat(KEYS))).await;
    let expected = KEYS * format!("VALUE k 0 100000\r\n{value}\r\n").len();
    let mut received = Vec::new();
    while received.len() < expected + 5 {
        received.extend(client.read_some().await.unwrap());
    }
    assert_eq!(received.len(), expected + 5);
    assert!(received.ends_with(b"x\r\nEND\r\n"));
}

#[tokio::test]
async fn a_line_without_end_closes_the_connection() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    client.send("x".repeat(3000)).await;
    assert_eq!(client.read_to_reset().await.0, "");

    let mut client = Client::connect(server.addr()).await;
    client
        .send("get ".to_owned() + &"k ".repeat(3 * 1024 * 1024))
        .await;
    let (answer, _) = client.read_to_reset().await;
    assert_eq!(answer, "SERVER_ERROR out of memory reading request\r\n");
    server.wait_for(|stats| stats.connections == 0).await;
}

#[tokio::test]
async fn a_value_that_is_declared_huge_takes_no_room() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    client.send("set k 0 0 2000000000\r\n").await;
    client.send("x".repeat(1_000_000)).await;
    server.wait_for(|stats| stats.bytes_read > 1_000_000).await;
    drop(client);
    server.wait_for(|stats| stats.connections == 0).await;
    assert_eq!(server.stats().commands.total(), 0);
}

#[tokio::test]
async fn foreign_protocols_are_hung_up_on() {
    let server = Server::start().await.unwrap();
    for hello in [
        &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
        b"\x80\x0b\0\0\0\0\0\0",
    ] {
        let mut client = Client::connect(server.addr()).await;
        client.send(hello).await;
        assert_eq!(client.read_to_reset().await.0, "");
    }
}
