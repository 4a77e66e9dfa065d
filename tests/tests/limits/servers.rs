//! Hostile servers: the client neither panics, nor waits beyond its time-out, nor holds more than what
//! its options allow.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use steersman_memcached::{Backoff, Builder, Client, Credentials, Error, ErrorKind};

use super::{KIB, MIB, held_by, linger, read_some, send, serve};

/// A patience that only a hang exhausts.
const LONG: Duration = Duration::from_secs(30);
/// The longest value that the clients here take.
const VALUE: usize = 1024 * 1024;
const PLACES: usize = 8;
/// What a client takes that holds next to nothing: itself, its tasks, its buffers.
const REST: u64 = 512 * KIB;

fn options(server: SocketAddr) -> Builder {
    let backoff = Backoff {
        initial: Duration::from_millis(1),
        max: Duration::from_millis(10),
        jitter: 0.5,
    };
    Client::builder()
        .node(server.to_string())
        .backoff(backoff)
        .timeout(Duration::from_millis(100))
        .connection_timeout(Duration::from_millis(100))
        .stalled_after(Duration::from_millis(300))
        .max_connections(1)
        .max_in_flight(PLACES)
        .max_waiting(PLACES)
        .max_value_size(VALUE)
}

/// The outcome of a call, which has to come.
async fn outcome<T>(call: impl IntoFuture<Output = Result<T, Error>>) -> Result<T, Error> {
    let ended = tokio::time::timeout(LONG, call).await;
    ended.expect("the call ends by its own time-out")
}

/// What a client holds at most that reads from a server which does this when it is asked. An error of
/// this kind is told, if one is given.
fn reading(
    kind: Option<ErrorKind>,
    attack: impl Fn(&mut TcpStream) + Clone + Send + 'static,
) -> u64 {
    let server = serve(move |mut stream| {
        if read_some(&mut stream) {
            attack(&mut stream);
            linger(&mut stream);
        }
    });
    held_by(async move {
        let client = options(server).build().unwrap();
        let mut is_told = kind.is_none();
        let mut reads = 0;
        // On a busy machine time-outs come first.
        while reads < 20 || !is_told {
            if let Err(error) = outcome(client.get("k")).await {
                is_told |= Some(error.kind()) == kind;
            }
            reads += 1;
            assert!(reads < 1_000, "{kind:?} is never told");
        }
        client.close().await;
    })
}

#[test]
fn an_endless_line() {
    let line = vec![b'x'; 64 * 1024];
    let held = reading(Some(ErrorKind::Protocol), move |stream| {
        send(stream, &line, 1_000);
    });
    assert!(held < REST, "{held}");
}

#[test]
fn a_value_that_is_declared_too_large() {
    for length in ["1048577", "4294967296", "18446744073709551615", "1e9"] {
        let line = format!("VALUE k 0 {length}\r\n");
        let held = reading(Some(ErrorKind::Protocol), move |stream| {
            send(stream, line.as_bytes(), 1);
        });
        assert!(held < REST, "{length}: {held}");
    }
}

#[test]
fn a_value_that_is_declared_and_never_comes() {
    let line = format!("VALUE k 0 {VALUE}\r\n");
    let held = reading(None, move |stream| {
        send(stream, line.as_bytes(), 1);
    });
    // Room is made for one value and what may follow it.
    assert!(held < VALUE as u64 + REST, "{held}");
}

#[test]
fn a_million_replies_to_one_request() {
    for reply in ["END\r\n", "VALUE k 0 1\r\nx\r\n", "ERROR\r\n", "STORED\r\n"] {
        let replies = reply.repeat(1_000);
        let held = reading(None, move |stream| {
            send(stream, replies.as_bytes(), 1_000);
        });
        assert!(held < REST, "{reply:?}: {held}");
    }
}

#[test]
fn endless_statistics() {
    let lines = "STAT name value\r\n".repeat(1_000);
    let server = serve(move |mut stream| {
        if read_some(&mut stream) {
            send(&mut stream, lines.as_bytes(), 10_000);
        }
    });
    let held = held_by(async move {
        let client = options(server).timeout(LONG).build().unwrap();
        for outcome in client.stats("").await {
            assert_eq!(outcome.1.unwrap_err().kind(), ErrorKind::Protocol);
        }
        client.close().await;
    });
    // 65,536 lines at most, names and values with what it takes to tell them apart.
    assert!(held < 24 * MIB, "{held}");
}

#[test]
fn an_endless_listing_is_held_line_by_line() {
    const LINES: usize = 100_000;
    let line = "key=k exp=-1 la=1 cas=1 fetch=no cls=1 size=60\n";
    let lines = line.repeat(1_000);
    let server = serve(move |mut stream| {
        if !read_some(&mut stream) {
            return;
        }
        // The statistics are asked first.
        send(&mut stream, b"STAT lru_crawler_running 0\r\nEND\r\n", 1);
        if read_some(&mut stream) {
            send(&mut stream, lines.as_bytes(), usize::MAX);
        }
    });
    let held = held_by(async move {
        let client = options(server)
            .min_connections(0)
            .timeout(LONG)
            .build()
            .unwrap();
        let node = client.node(&server.to_string()).unwrap();
        let mut listing = outcome(node.keys()).await.unwrap();
        for _ in 0..LINES {
            assert!(outcome(listing.next()).await.unwrap().is_some());
        }
        drop(listing);
        client.close().await;
    });
    assert!(held < REST, "{held}");
}

#[test]
fn replies_that_nobody_asked_for() {
    let server = serve(|mut stream| {
        send(&mut stream, &b"END\r\n".repeat(1_000), 1_000);
    });
    let held = held_by(async move {
        let client = options(server).build().unwrap();
        for _ in 0..20 {
            // One that comes after the request is a miss, as far as anybody can know; none is a value.
            match outcome(client.get("k")).await {
                Ok(found) => assert_eq!(found, None),
                Err(error) => assert!(error.is_retryable(), "{error}"),
            }
        }
        client.close().await;
    });
    assert!(held < REST, "{held}");
}

#[test]
fn a_slow_drip() {
    // Each byte is a sign of life, and no reply ever comes of them.
    let server = serve(|mut stream| {
        if !read_some(&mut stream) {
            return;
        }
        send(&mut stream, b"VALUE k 0 1000000\r\n", 1);
        while std::io::Write::write_all(&mut stream, b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let held = held_by(async move {
        let client = options(server).build().unwrap();
        // Far more than there are places: they come free again.
        for _ in 0..4 * PLACES {
            let error = outcome(client.get("k")).await.unwrap_err();
            assert!(error.is_retryable(), "{error}");
        }
        client.close_within(Duration::from_millis(100)).await;
    });
    assert!(held < VALUE as u64 + REST, "{held}");
}

#[test]
fn a_server_that_never_reads() {
    const SIZE: usize = 500_000;
    let server = serve(|stream| {
        loop {
            std::thread::park();
            let _ = &stream;
        }
    });
    let held = held_by(async move {
        let client = options(server).build().unwrap();
        for _ in 0..10 {
            let writes = (0..4 * PLACES).map(|_| {
                let client = client.clone();
                async move {
                    let error = outcome(client.set("k", vec![b'x'; SIZE]))
                        .await
                        .unwrap_err();
                    assert!(error.is_retryable(), "{error}");
                }
            });
            futures_util::future::join_all(writes).await;
        }
        client.close_within(Duration::from_millis(100)).await;
    });
    // What is on the connection and in the queue, and what is being refused.
    let places = 2 * PLACES + 4 * PLACES;
    assert!(held < (places * SIZE) as u64 + REST, "{held}");
}

#[test]
fn endless_lines_in_the_handshake() {
    let line = vec![b'x'; 64 * 1024];
    let server = serve(move |mut stream| send(&mut stream, &line, 1_000));
    let held = held_by(async move {
        let credentials = Credentials::new("user", "secret");
        let client = options(server).auth(credentials).build().unwrap();
        for _ in 0..20 {
            outcome(client.get("k")).await.unwrap_err();
        }
        client.close().await;
    });
    assert!(held < REST, "{held}");
}
