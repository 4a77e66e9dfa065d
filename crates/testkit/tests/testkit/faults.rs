//! Faults, in virtual time where they take time.

use std::io;
use std::time::Duration;

use steersman_testkit::{Ending, Server, Times, Verb};
use tokio::time::{Instant, timeout};

use crate::client::{Client, connect_error};

/// Longer than anything takes that is ever to end.
const FOR_EVER: Duration = Duration::from_secs(24 * 60 * 60);

async fn server_and_client() -> (Server, Client) {
    let server = Server::start().await.unwrap();
    let client = Client::connect(server.addr()).await;
    (server, client)
}

#[tokio::test(start_paused = true)]
async fn latency_delays_replies_but_not_each_by_the_other() {
    let (server, mut client) = server_and_client().await;
    let latency = Duration::from_millis(250);
    server.faults().set_latency(latency);
    let start = Instant::now();
    for _ in 0..10 {
        client.send("mn\r\n").await;
        tokio::task::yield_now().await;
    }
    client.expect(&"MN\r\n".repeat(10)).await;
    let took = start.elapsed();
    assert!(took >= latency && took < 2 * latency, "{took:?}");

    server.faults().clear();
    let start = Instant::now();
    client.ask("mn\r\n", "MN\r\n").await;
    assert!(start.elapsed() < latency);
}

#[tokio::test(start_paused = true)]
async fn jitter_varies_within_its_bound_and_repeats_with_its_seed() {
    let (server, mut client) = server_and_client().await;
    let mut runs = Vec::new();
    for _ in 0..2 {
        server.faults().set_jitter(Duration::from_millis(100), 7);
        let mut delays = Vec::new();
        for _ in 0..8 {
            let start = Instant::now();
            client.ask("mn\r\n", "MN\r\n").await;
            delays.push(start.elapsed().as_millis());
        }
        runs.push(delays);
    }
    assert_eq!(runs[0], runs[1]);
    // Timers have a resolution of a millisecond.
    assert!(runs[0].iter().all(|&delay| delay <= 101), "{:?}", runs[0]);
    assert!(
        runs[0].iter().any(|&delay| delay != runs[0][0]),
        "{:?}",
        runs[0]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stalled_server_reads_on_and_answers_later() {
    let (server, mut client) = server_and_client().await;
    server.faults().set_stalled(true);
    client.send("set k 0 0 1\r\nx\r\nget k\r\n").await;
    server
        .wait_for(|stats| stats.commands.of(Verb::Get) == 1)
        .await;
    assert!(timeout(FOR_EVER, client.read_some()).await.is_err());
    let mut other = Client::connect(server.addr()).await;
    other.send("mn\r\n").await;
    assert!(timeout(FOR_EVER, other.read_some()).await.is_err());

    server.faults().set_stalled(false);
    client.expect("STORED\r\nVALUE k 0 1\r\nx\r\nEND\r\n").await;
    other.expect("MN\r\n").await;
}

#[tokio::test(start_paused = true)]
async fn a_frozen_server_does_nothing_at_all() {
    let (server, mut client) = server_and_client().await;
    client.ask("mn\r\n", "MN\r\n").await;
    server.faults().set_frozen(true);
    client.send("get k\r\n").await;
    let mut other = Client::connect(server.addr()).await;
    other.send("get k\r\n").await;
    assert!(timeout(FOR_EVER, client.read_some()).await.is_err());
    assert!(timeout(FOR_EVER, other.read_some()).await.is_err());
    let stats = server.stats();
    assert_eq!((stats.commands.of(Verb::Get), stats.accepted), (0, 1));

    server.faults().set_frozen(false);
    client.expect("END\r\n").await;
    other.expect("END\r\n").await;
}

#[tokio::test(start_paused = true)]
async fn a_black_hole_swallows_for_good() {
    let (server, mut client) = server_and_client().await;
    let mut idle = Client::connect(server.addr()).await;
    idle.ask("mn\r\n", "MN\r\n").await;
    server.faults().set_black_hole(true);
    client.send("get k\r\n").await;
    server.wait_for(|stats| stats.bytes_read == 4 + 7).await;
    assert!(timeout(FOR_EVER, client.read_some()).await.is_err());

    server.faults().set_black_hole(false);
    client.send("get k\r\n").await;
    assert!(timeout(FOR_EVER, client.read_some()).await.is_err());
    assert_eq!(server.stats().commands.of(Verb::Get), 0);
    idle.ask("mn\r\n", "MN\r\n").await;
}

#[tokio::test]
async fn refusing_concerns_new_connections_only() {
    let (server, mut client) = server_and_client().await;
    client.ask("set k 0 0 1\r\nx\r\n", "STORED\r\n").await;
    server.faults().set_refusing(true);
    assert_eq!(
        connect_error(server.addr()).await,
        io::ErrorKind::ConnectionRefused
    );
    client.ask("mn\r\n", "MN\r\n").await;

    server.faults().set_refusing(false);
    let mut other = Client::connect(server.addr()).await;
    other.ask("get k\r\n", "VALUE k 0 1\r\nx\r\nEND\r\n").await;

    server.faults().set_refusing(true);
    server.faults().clear();
    Client::connect(server.addr())
        .await
        .ask("mn\r\n", "MN\r\n")
        .await;
}

#[tokio::test]
async fn a_stopped_server_stays_closed_when_refusing_ends() {
    let server = Server::start().await.unwrap();
    server.faults().set_refusing(true);
    server.stop().await;
    server.faults().set_refusing(false);
    assert_eq!(
        connect_error(server.addr()).await,
        io::ErrorKind::ConnectionRefused
    );
    server.restart().await.unwrap();
    Client::connect(server.addr())
        .await
        .ask("mn\r\n", "MN\r\n")
        .await;
}

#[tokio::test(start_paused = true)]
async fn accepting_takes_its_time() {
    let server = Server::start().await.unwrap();
    let delay = Duration::from_secs(3);
    server.faults().set_accept_delay(delay);
    let start = Instant::now();
    Client::connect(server.addr())
        .await
        .ask("mn\r\n", "MN\r\n")
        .await;
    assert!(start.elapsed() >= delay);
}

#[tokio::test]
async fn so_many_connections_are_reset_on_arrival() {
    let server = Server::start().await.unwrap();
    server.faults().reset_accepted(Times::Next(2));
    for _ in 0..2 {
        let mut client = Client::connect(server.addr()).await;
        assert_eq!(client.read_to_reset().await, (String::new(), true));
    }
    Client::connect(server.addr())
        .await
        .ask("mn\r\n", "MN\r\n")
        .await;
}

#[tokio::test]
async fn open_connections_are_reset_or_closed() {
    let (server, mut client) = server_and_client().await;
    client.ask("mn\r\n", "MN\r\n").await;
    server.faults().reset_connections();
    assert_eq!(client.read_to_reset().await, (String::new(), true));
    server.wait_for(|stats| stats.connections == 0).await;

    let mut client = Client::connect(server.addr()).await;
    client.ask("mn\r\n", "MN\r\n").await;
    server.faults().close_connections();
    assert_eq!(client.read_to_reset().await, (String::new(), false));
}

#[tokio::test]
async fn replies_break_off_where_they_are_cut() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    client
        .ask("set k 0 0 10\r\n0123456789\r\n", "STORED\r\n")
        .await;

    for (after, seen) in [
        (0, ""),
        (5, "VALUE"),
        (18, "VALUE k 0 10\r\n0123"),
        (29, "VALUE k 0 10\r\n0123456789\r\nEND"),
    ] {
        server
            .faults()
            .cut_replies(Times::Next(1), after, Ending::Close);
        let mut client = Client::connect(server.addr()).await;
        client.send("get k\r\n").await;
        assert_eq!(
            client.read_to_reset().await,
            (seen.to_owned(), false),
            "after {after}"
        );
    }

    server
        .faults()
        .cut_replies(Times::Next(1), 0, Ending::Reset);
    client.send("get k\r\n").await;
    assert_eq!(client.read_to_reset().await, (String::new(), true));
    Client::connect(server.addr())
        .await
        .ask("get none\r\n", "END\r\n")
        .await;
}

#[tokio::test]
async fn a_cut_counts_the_bytes_of_several_replies() {
    let (server, mut client) = server_and_client().await;
    server.faults().cut_replies(Times::Always, 6, Ending::Close);
    client.ask("mn\r\n", "MN\r\n").await;
    client.send("mn\r\n").await;
    assert_eq!(client.read_to_end().await.unwrap(), "MN");
}

#[tokio::test]
async fn a_cut_that_was_switched_off_does_not_come_back_with_other_faults() {
    let (server, mut client) = server_and_client().await;
    server.faults().cut_replies(Times::Always, 6, Ending::Close);
    client.ask("mn\r\n", "MN\r\n").await;
    server.faults().clear();
    server.faults().set_split(Some(3));
    client.ask("mn\r\n", "MN\r\n").await;
}

#[tokio::test]
async fn split_replies_come_in_pieces() {
    let (server, mut client) = server_and_client().await;
    client
        .ask("set k 0 0 10\r\n0123456789\r\n", "STORED\r\n")
        .await;
    server.faults().set_split(Some(3));
    client.send("get k\r\n").await;
    let (mut reply, mut pieces) = (Vec::new(), 0);
    while !reply.ends_with(b"END\r\n") {
        reply.extend(client.read_some().await.unwrap());
        pieces += 1;
    }
    assert_eq!(reply, b"VALUE k 0 10\r\n0123456789\r\nEND\r\n");
    assert!(pieces > 1);
}
