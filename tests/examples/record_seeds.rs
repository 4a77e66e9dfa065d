//! Records sessions with a real memcached, for the fuzzer to begin with.
//!
//! ```sh
//! cargo run -p steersman-e2e --example record_seeds
//! ```
//!
//! It writes the folders `requests`, `replies`, `metadump` and `values` of `fuzz/corpus`, as their targets
//! want the input: what was asked, what was asked and answered, a list of keys, a value behind its flags.

use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use steersman_e2e::memcached::RealMemcached;
use steersman_memcached::Client;
use steersman_memcached::codec::{Compression, Json, Postcard, Raw, Utf8};
use steersman_memcached_protocol::Metadump;

/// What is asked, each line with its data block, by the name of its seed.
const SESSIONS: [(&str, &[&str]); 12] = [
    ("miss", &["get a", "gets a b c"]),
    (
        "read",
        &[
            "set a 7 0 5\r\ngreen",
            "set b 4294967295 60 0\r\n",
            "get a",
            "get a none b a",
            "gets b a",
            "gat 60 a none",
            "gats -1 b",
            "get b",
        ],
    ),
    (
        "looks-like-an-end",
        &[
            "set a 0 0 28\r\nEND\r\nVALUE b 0 3\r\nabc\r\nEND\r\n",
            "set b 0 0 3\r\nabc",
            "get a b",
        ],
    ),
    (
        "store",
        &[
            "add a 0 0 1\r\n1",
            "add a 0 0 1\r\n2",
            "replace a 1 0 1\r\n3",
            "replace none 0 0 0\r\n",
            "append a 0 0 2\r\n45",
            "prepend a 0 0 1\r\n2",
            "append none 0 0 1\r\nx",
            "cas a 0 0 1 1\r\nx",
            "cas none 0 0 1 1\r\nx",
            "gets a",
            "set a 0 0 1 noreply\r\n1",
            "get a",
        ],
    ),
    (
        "counters",
        &[
            "set n 0 0 2\r\n10",
            "decr n 1",
            "get n",
            "incr n 18446744073709551615",
            "incr none 1",
            "set t 0 0 4\r\ntext",
            "incr t 1",
            "decr n 100 noreply",
            "get n",
        ],
    ),
    (
        "change",
        &[
            "set a 0 0 1\r\nx",
            "touch a 60",
            "touch none 0",
            "delete a",
            "delete a",
            "delete a noreply",
            "flush_all",
            "flush_all 60 noreply",
            "flush_all 0",
        ],
    ),
    (
        "administer",
        &[
            "version",
            "verbosity 0",
            "cache_memlimit 64",
            "cache_memlimit 1",
            "stats nonsense",
            "stats reset",
            "set a 0 0 1\r\nx",
            "stats items",
            "stats slabs",
            "stats sizes",
            "stats cachedump 1 10",
            "config get cluster",
        ],
    ),
    ("statistics", &["stats", "stats settings"]),
    (
        "meta",
        &[
            "ms a 5 F7 T60 c k O1\r\ngreen",
            "mg a v f c t s h l k O2",
            "mg a",
            "mg none v k O3",
            "ms a 1 ME\r\nx",
            "ms a 1 MA\r\nx",
            "ms a 1 C1 O4\r\nx",
            "md none O5 k",
            "md a C1",
            "me a",
            "me none",
            "ma n N60 J5 v c t",
            "ma n D3 MD v O6",
            "ma a",
            "md a k",
            "mn",
        ],
    ),
    (
        "lease",
        &[
            "mg a v c N30 O1",
            "mg a v c N30 O2",
            "ms a 1 c O3\r\nx",
            "md a I T30",
            "mg a v c t N30 R30",
            "mg a v c N30",
            "ms a 2 C1 I\r\nyy",
        ],
    ),
    (
        "binary-keys",
        &[
            "ms Zm9v 3 b k\r\nbar",
            "mg Zm9v b v O7",
            "get foo",
            "me Zm9v b",
            "md AAEC b k",
            "ma Zm9v b v N0 J1",
        ],
    ),
    (
        "refused",
        &[
            "gett a",
            "get",
            "set a 0 0 x",
            "set a 0 0 1\r\nlong",
            "incr a x",
            "touch a x",
            "mg a v v",
            "mg a Z",
            "GET / HTTP/1.1",
        ],
    ),
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let folder = |target: &str| corpus.join(target);
    for (name, lines) in SESSIONS {
        let asked = lines.join("\r\n") + "\r\n";
        let memcached = RealMemcached::start()?;
        let answered = play(&memcached, asked.as_bytes())?;
        write(&folder("requests"), name, &[asked.as_bytes()])?;
        write(
            &folder("replies"),
            name,
            &[asked.as_bytes(), b"\0", &answered],
        )?;
    }
    listings(&folder("metadump"))?;
    values(&folder("values")).await
}

/// Sends everything, and gives what is answered up to the end.
fn play(memcached: &RealMemcached, asked: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut stream = TcpStream::connect(memcached.addr())?;
    stream.write_all(&[asked, b"quit\r\n"].concat())?;
    let mut answered = Vec::new();
    stream.read_to_end(&mut answered)?;
    Ok(answered)
}

fn listings(folder: &Path) -> Result<(), Box<dyn Error>> {
    let memcached = RealMemcached::start()?;
    write(folder, "empty", &[&listing(&memcached)?])?;
    let items = "set a 0 0 1\r\nx\r\nset 50%:\u{e4} 0 60 0\r\n\r\nms AAEC 1 b\r\nx\r\nget a\r\n";
    play(&memcached, items.as_bytes())?;
    write(folder, "items", &[&listing(&memcached)?])
}

/// A listing has a connection to itself, so nothing may be sent behind it.
fn listing(memcached: &RealMemcached) -> Result<Vec<u8>, Box<dyn Error>> {
    loop {
        let mut stream = TcpStream::connect(memcached.addr())?;
        stream.write_all(Metadump::REQUEST)?;
        let mut listed = Vec::new();
        // Every other line of a listing ends in a line feed alone.
        while !listed.ends_with(b"\r\n") {
            let mut bytes = [0; 512];
            let count = stream.read(&mut bytes)?;
            listed.extend_from_slice(&bytes[..count]);
            if count == 0 {
                return Err("the listing has no end".into());
            }
        }
        // A server that has just started looks through its items of its own accord.
        if !listed.starts_with(b"BUSY") {
            return Ok(listed);
        }
    }
}

/// Values as the client stores them.
async fn values(folder: &Path) -> Result<(), Box<dyn Error>> {
    let memcached = RealMemcached::start()?;
    let client = Client::builder().node(memcached.node()).build()?;
    let text = "a text that is worth compressing, is worth compressing, is worth compressing";
    client.typed(Raw).set("raw", text).await?;
    client.typed(Utf8).set("utf8", "größer").await?;
    client
        .typed(Json)
        .set("json", &serde_json::json!({"a": [1, 2.5, null, true, "b"]}))
        .await?;
    client
        .typed(Postcard)
        .set("postcard", &(7_u8, "seven", Some(-1_i64)))
        .await?;
    let compressions = [("zstd", Compression::zstd()), ("lz4", Compression::lz4())];
    for (name, compression) in compressions {
        client
            .typed(Utf8)
            .compress(compression.above(0))
            .set(name, text)
            .await?;
    }
    for name in ["raw", "utf8", "json", "postcard", "zstd", "lz4"] {
        let stored = client.get(name).await?.ok_or("it was evicted")?;
        write(folder, name, &[&stored.flags.to_le_bytes(), &stored.data])?;
    }
    client.close().await;
    Ok(())
}

fn write(folder: &Path, name: &str, parts: &[&[u8]]) -> Result<(), Box<dyn Error>> {
    let path: PathBuf = folder.join(name);
    println!("{}", path.display());
    Ok(fs::write(path, parts.concat())?)
}
