//! The real memcached that other tests rely on.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::{io, time::Duration};

use steersman_e2e::memcached::RealMemcached;

fn ask(mut stream: impl Read + Write, request: &str, reply: &str) -> io::Result<()> {
    stream.write_all(request.as_bytes())?;
    let mut bytes = vec![0; reply.len()];
    stream.read_exact(&mut bytes)?;
    assert_eq!(String::from_utf8_lossy(&bytes), reply);
    Ok(())
}

#[test]
fn is_killed_and_starts_again_at_the_same_address() -> io::Result<()> {
    let mut memcached = RealMemcached::start()?;
    let addr = memcached.addr();
    ask(
        TcpStream::connect(addr)?,
        "set k 0 0 1\r\nx\r\n",
        "STORED\r\n",
    )?;
    memcached.kill()?;
    let refused = TcpStream::connect(addr).expect_err("nobody listens").kind();
    assert_eq!(refused, io::ErrorKind::ConnectionRefused);
    assert!(memcached.pause().is_err());
    memcached.restart()?;
    assert_eq!(memcached.addr(), addr);
    ask(TcpStream::connect(addr)?, "get k\r\n", "END\r\n")
}

#[test]
fn stands_still_while_paused() -> io::Result<()> {
    let memcached = RealMemcached::start()?;
    memcached.pause()?;
    // The kernel accepts; nobody answers.
    let mut stream = TcpStream::connect(memcached.addr())?;
    stream.write_all(b"mn\r\n")?;
    // A running memcached answers within a millisecond.
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let silence = stream
        .read(&mut [0])
        .expect_err("nothing is answered")
        .kind();
    assert_eq!(silence, io::ErrorKind::WouldBlock);
    memcached.resume()?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    ask(stream, "", "MN\r\n")
}

#[test]
fn listens_on_a_unix_socket() -> io::Result<()> {
    let memcached = RealMemcached::start_on_unix_socket()?;
    let node = memcached.node();
    let path = node.strip_prefix("unix:").expect("a Unix socket's address");
    ask(UnixStream::connect(path)?, "mn\r\n", "MN\r\n")
}

#[test]
fn takes_more_arguments_and_reports_bad_ones() -> io::Result<()> {
    let memcached = RealMemcached::start_with(&["-I", "2m"])?;
    let request = format!("set k 0 0 1500000\r\n{}\r\n", "x".repeat(1_500_000));
    ask(
        TcpStream::connect(memcached.addr())?,
        &request,
        "STORED\r\n",
    )?;
    let error = RealMemcached::start_with(&["-m", "nonsense"]).expect_err("no number");
    assert!(error.to_string().contains("memcached"), "{error}");
    Ok(())
}
