//! Peers that mean no good, and how much memory they can make this side hold: counted, in the thread that
//! is attacked. The attackers are plain sockets in threads of their own.

mod clients;
mod servers;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use tokio::runtime::Builder;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Runs on this thread alone; the most bytes that it held at a time.
fn held_by(attacked: impl Future<Output = ()>) -> u64 {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    allocation_counter::measure(|| runtime.block_on(attacked)).bytes_max
}

/// A server that treats each connection like that, in a thread for each; where it is.
fn serve(attack: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let attack = attack.clone();
            thread::spawn(move || attack(stream));
        }
    });
    addr
}

/// Waits until something has been asked.
fn read_some(stream: &mut TcpStream) -> bool {
    stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0)
}

/// Sends a piece so often, or until the peer has had enough.
fn send(stream: &mut TcpStream, piece: &[u8], times: usize) {
    for _ in 0..times {
        if stream.write_all(piece).is_err() {
            return;
        }
    }
}

/// Stays connected until the peer is gone, and reads nothing that is worth it.
fn linger(stream: &mut TcpStream) {
    while read_some(stream) {}
}
