//! `stats`: the same names, and the same values where a session determines them.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;

use steersman_e2e::memcached::RealMemcached;
use steersman_testkit::Server;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufStream};
use tokio::net::TcpStream;

use super::{compare, random, servers};

/// Counters that follow from what was asked.
const DETERMINED: &[&str] = &[
    "version",
    "pointer_size",
    "max_connections",
    "rejected_connections",
    "cmd_get",
    "cmd_set",
    "cmd_flush",
    "cmd_touch",
    "cmd_meta",
    "get_hits",
    "get_misses",
    "delete_misses",
    "delete_hits",
    "incr_misses",
    "incr_hits",
    "decr_misses",
    "decr_hits",
    "cas_misses",
    "cas_hits",
    "cas_badval",
    "touch_hits",
    "touch_misses",
    "store_too_large",
    "store_no_memory",
    "limit_maxbytes",
    "accepting_conns",
    "bytes",
    "curr_items",
    "total_items",
    "evictions",
];

async fn stats(
    addr: SocketAddr,
    what: &str,
) -> io::Result<(Vec<String>, BTreeMap<String, String>)> {
    let mut stream = BufStream::new(TcpStream::connect(addr).await?);
    stream
        .write_all(format!("stats {what}\r\n").as_bytes())
        .await?;
    stream.flush().await?;
    let (mut names, mut values) = (Vec::new(), BTreeMap::new());
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let line = line.strip_suffix("\r\n").expect("a line ends");
        if line == "END" {
            return Ok((names, values));
        }
        let stat = line.strip_prefix("STAT ").expect("a statistic");
        let (name, value) = stat.split_once(' ').expect("a name and a value");
        names.push(name.to_owned());
        values.insert(name.to_owned(), value.to_owned());
    }
}

#[tokio::test]
async fn the_same_names_in_the_same_order_are_reported() -> io::Result<()> {
    let (real, embedded) = (RealMemcached::start()?, Server::start().await?);
    let setup = [
        "set a 0 0 1\r\nx\r\n",
        "set b 0 0 100\r\n",
        "set c 7 0 5000\r\n",
    ]
    .map(|line| {
        let len = line
            .split_whitespace()
            .nth(4)
            .and_then(|len| len.parse().ok())
            .unwrap_or(0);
        if len == 1 {
            line.to_owned()
        } else {
            format!("{line}{}\r\n", "x".repeat(len))
        }
    });
    compare(&real, &embedded, setup.map(String::into_bytes)).await?;
    for what in ["", "settings", "items", "slabs"] {
        let (expected, _) = stats(real.addr(), what).await?;
        let (found, _) = stats(embedded.addr(), what).await?;
        assert_eq!(found, expected, "stats {what}");
    }
    Ok(())
}

#[tokio::test]
async fn what_a_session_determines_is_counted_the_same() -> io::Result<()> {
    let (real, embedded) = servers().await?;
    compare(&real, &embedded, random::steps(100).take(2000)).await?;
    let (_, expected) = stats(real.addr(), "").await?;
    let (_, found) = stats(embedded.addr(), "").await?;
    for name in DETERMINED {
        assert_eq!(found.get(*name), expected.get(*name), "{name}");
    }
    Ok(())
}
