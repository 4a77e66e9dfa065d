//! Hostile clients: the embedded server goes on serving others, and holds no more than its options allow.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread;

use steersman_testkit::Server;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{KIB, MIB, held_by, read_some, send};

/// What the server takes besides what it is made to hold.
const REST: u64 = 512 * KIB;

/// Connects so many clients from another thread, which treat their connection like that and stay. Ready
/// when all have done it.
async fn attacked(
    server: SocketAddr,
    clients: usize,
    attack: impl Fn(&mut TcpStream) + Send + 'static,
) {
    let (done, all_done) = tokio::sync::oneshot::channel();
    let (hold, held) = mpsc::channel::<()>();
    thread::spawn(move || {
        let streams: Vec<_> = (0..clients)
            .map(|_| {
                let mut stream = TcpStream::connect(server).unwrap();
                attack(&mut stream);
                stream
            })
            .collect();
        let _ = done.send(hold);
        let _ = held.recv();
        drop(streams);
    });
    let hold = all_done.await.unwrap();
    // Somebody else is served meanwhile.
    let mut other = tokio::net::TcpStream::connect(server).await.unwrap();
    other.write_all(b"get none\r\n").await.unwrap();
    let mut reply = [0; 5];
    other.read_exact(&mut reply).await.unwrap();
    assert_eq!(&reply, b"END\r\n");
    drop(hold);
}

#[test]
fn slow_clients_and_endless_lines() {
    const CLIENTS: usize = 200;
    let held = held_by(async {
        let server = Server::start().await.unwrap();
        // A command that goes on for ever, of which one byte in two is sent.
        attacked(server.addr(), CLIENTS, |stream| send(stream, b"set ", 1)).await;
        attacked(server.addr(), CLIENTS, |stream| {
            send(stream, &vec![b'x'; 100_000], 1);
        })
        .await;
    });
    // A buffer for reading each, whatever it sends.
    assert!(held < CLIENTS as u64 * 64 * KIB + REST, "{held}");
}

#[test]
fn reads_of_keys_without_end() {
    const CLIENTS: usize = 4;
    let held = held_by(async {
        let server = Server::start().await.unwrap();
        attacked(server.addr(), CLIENTS, |stream| {
            send(stream, b"get", 1);
            send(stream, &b" key".repeat(10_000), 500);
            // It is told and hung up on.
            read_some(stream);
        })
        .await;
    });
    // A line of 4 MiB each; the buffer that it grew in is up to twice as large.
    assert!(held < CLIENTS as u64 * 10 * MIB + REST, "{held}");
}

#[test]
fn values_that_come_by_halves() {
    const CLIENTS: usize = 20;
    let held = held_by(async {
        let server = Server::start().await.unwrap();
        attacked(server.addr(), CLIENTS, |stream| {
            send(stream, b"set k 0 0 1000000\r\n", 1);
            send(stream, &vec![b'x'; 500_000], 1);
        })
        .await;
    });
    // An item of 1 MiB each; the buffer that it grew in is up to twice as large.
    assert!(held < CLIENTS as u64 * 2 * MIB + REST, "{held}");
}

#[test]
fn small_items_that_come_with_much_else() {
    const ITEMS: usize = 200;
    let held = held_by(async {
        let server = Server::start().await.unwrap();
        attacked(server.addr(), 1, |stream| {
            // A key of a meta command, of each way to make an item, and before it 16 KiB of others.
            let keys = " k".repeat(8_000);
            for number in 0..ITEMS {
                let lines = format!("get{keys}\r\nmg a{number} N0\r\nma b{number} N0\r\n");
                send(stream, lines.as_bytes(), 1);
                let lines = format!("get{keys}\r\nms a{number} 0 I C1\r\n\r\n");
                send(stream, lines.as_bytes(), 1);
            }
        })
        .await;
    });
    // What waits to be sent, and the items.
    assert!(held < MIB + ITEMS as u64 * KIB + REST, "{held}");
}

#[test]
fn a_huge_read_whose_values_nobody_takes() {
    const CLIENTS: usize = 4;
    let held = held_by(async {
        let server = Server::start().await.unwrap();
        attacked(server.addr(), CLIENTS, |stream| {
            let value = vec![b'x'; 1_000_000];
            send(stream, b"set k 0 0 1000000 noreply\r\n", 1);
            send(stream, &value, 1);
            send(stream, b"\r\n", 1);
            // Fifty gigabytes of replies.
            send(stream, b"get", 1);
            send(stream, &b" k".repeat(50_000), 1);
            send(stream, b"\r\n", 1);
        })
        .await;
    });
    // The item, and for each client its line and what waits to be sent: 1 MiB and one value more.
    assert!(held < CLIENTS as u64 * 4 * MIB + 3 * MIB + REST, "{held}");
}

#[test]
fn ten_thousand_connections() {
    const MOST: usize = 100;
    const CLIENTS: usize = 10_000;
    let held = held_by(async {
        let server = Server::builder()
            .max_connections(MOST)
            .start()
            .await
            .unwrap();
        let addr = server.addr();
        let (done, all_done) = tokio::sync::oneshot::channel();
        thread::spawn(move || {
            let mut held = Vec::new();
            for number in 0..CLIENTS {
                let mut stream = TcpStream::connect(addr).unwrap();
                if number < MOST {
                    held.push(stream);
                    continue;
                }
                // It is told why, unless the end overtakes the words.
                let _ = stream.read_to_end(&mut Vec::new());
            }
            let _ = done.send(held);
        });
        let connections = all_done.await.unwrap();
        assert_eq!(connections.len(), MOST);
        let stats = server.stats();
        assert_eq!(stats.connections, MOST);
        assert_eq!(stats.turned_away, (CLIENTS - MOST) as u64);
    });
    assert!(held < MOST as u64 * 64 * KIB + REST, "{held}");
}
