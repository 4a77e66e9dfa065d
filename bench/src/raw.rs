//! What the wire and the server allow: reads of many keys a line by threads that look at nothing in
//! the replies, and only count their bytes. No client can do better that looks at them.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::server::{VALUE, key};

/// Keys a line.
const LINE: usize = 32;

/// How many different lines each connection sends in turn.
const LINES: usize = 512;

/// Keys a second with so many outstanding over all connections.
pub(crate) fn multi_key(
    addr: SocketAddr,
    connections: usize,
    outstanding: usize,
    span: Duration,
) -> f64 {
    let lines = (outstanding / connections / LINE).max(1);
    let began = Instant::now();
    let threads: Vec<_> = (0..connections)
        .map(|number| thread::spawn(move || connection(addr, number, lines, span)))
        .collect();
    let keys: usize = threads
        .into_iter()
        .map(|thread| thread.join().expect("no panic").expect("the server runs"))
        .sum();
    keys as f64 / began.elapsed().as_secs_f64()
}

fn connection(addr: SocketAddr, number: usize, window: usize, span: Duration) -> io::Result<usize> {
    let line = |start: usize| {
        let keys: Vec<_> = (0..LINE)
            .map(|index| key(start * 7919 + index * 31))
            .collect();
        format!("get {}\r\n", keys.join(" "))
    };
    let lines: Vec<_> = (0..LINES)
        .map(|index| line(number * LINES + index))
        .collect();
    let value = format!("VALUE {} 0 {VALUE}\r\n", key(0)).len() + VALUE + "\r\n".len();
    let reply = LINE * value + "END\r\n".len();

    let mut stream = TcpStream::connect(addr)?;
    stream.set_nodelay(true)?;
    let (mut input, mut output) = (vec![0; 256 * 1024], Vec::new());
    let (mut sent, mut received) = (0, 0);
    let began = Instant::now();
    loop {
        let answered = received / reply;
        if began.elapsed() >= span {
            return Ok(answered * LINE);
        }
        output.clear();
        while sent < answered + window {
            output.extend_from_slice(lines[sent % LINES].as_bytes());
            sent += 1;
        }
        stream.write_all(&output)?;
        match stream.read(&mut input)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => received += count,
        }
    }
}
