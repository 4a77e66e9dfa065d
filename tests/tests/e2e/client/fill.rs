//! Cache-aside reads from the real memcached, by several processes.

use std::convert::Infallible;
use std::future::pending;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use steersman_memcached::meta::Status;
use steersman_memcached::{Client, Expires, FillError, Filled, GetOrFill, Origin};

use super::{client, memcached};

const LOADED: Origin = Origin::Loaded { stored: true };

/// A process that reads one key, ended when this is dropped.
struct Reader {
    process: Child,
    says: BufReader<ChildStdout>,
}

impl Reader {
    fn start(node: &str, key: &str, tasks: usize, value: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_fill"))
            .args([node, key, &tasks.to_string(), value])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let says = BufReader::new(process.stdout.take().unwrap());
        let mut reader = Self { process, says };
        assert_eq!(reader.word(), "ready");
        reader
    }

    fn begin(&mut self) {
        writeln!(self.process.stdin.take().unwrap()).unwrap();
    }

    /// The next that it says; empty if it has ended.
    fn word(&mut self) -> String {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn read(fill: GetOrFill<&str>, value: &'static str) -> Filled {
    fill.load(|| async move { Ok::<_, Infallible>(value) })
        .await
        .unwrap()
}

#[test]
fn a_hundred_tasks_in_two_processes_load_once() {
    let server = memcached();
    let node = server.node();
    let mut readers = [(); 2].map(|()| Reader::start(&node, "k", 50, "value"));
    readers.iter_mut().for_each(Reader::begin);
    let mut loads = 0;
    for reader in &mut readers {
        loop {
            match &*reader.word() {
                "load" => loads += 1,
                "done" => break,
                other => panic!("it says {other:?}"),
            }
        }
    }
    assert_eq!(loads, 1);
}

#[tokio::test]
async fn the_lease_of_a_process_that_was_killed_ends() {
    let server = memcached();
    let mut reader = Reader::start(&server.node(), "k", 1, "hang");
    reader.begin();
    assert_eq!(reader.word(), "load");
    let client = client(&server);
    let lease = Duration::from_secs(1);
    // The lease is that of the placeholder, which was made for longer.
    let reply = client
        .meta_get("k", |get| get.value().touch(Expires::In(lease)))
        .await
        .unwrap();
    assert!(reply.recaching && !reply.won);
    reader.kill();
    let filled = read(client.get_or_fill("k").lease(lease), "value").await;
    assert_eq!((&filled.data[..], filled.origin), (&b"value"[..], LOADED));
}

#[tokio::test]
async fn loads_that_fail_panic_or_are_dropped_leave_nothing_behind() {
    let server = memcached();
    let client = client(&server);
    let is_gone = async |client: &Client| {
        let reply = client
            .meta_get("k", |get| get.no_bump().cas())
            .await
            .unwrap();
        assert_eq!(reply.status, Status::Miss);
    };
    let failed = client
        .get_or_fill("k")
        .load(|| async { Err::<&str, _>("no") })
        .await;
    assert!(matches!(failed, Err(FillError::Load("no"))));
    is_gone(&client).await;

    let fill = client.get_or_fill("k");
    let load = |text: &'static str| text.parse::<u8>().expect("the test wants it").to_string();
    let panics = fill.load(move || async move { Ok::<_, Infallible>(load("no number")) });
    assert!(tokio::spawn(panics).await.unwrap_err().is_panic());
    is_gone(&client).await;

    let (began, begin) = tokio::sync::oneshot::channel();
    let fill = client.get_or_fill("k");
    let hangs = tokio::spawn(fill.load(|| async move {
        began.send(()).unwrap();
        Ok::<&str, Infallible>(pending().await)
    }));
    begin.await.unwrap();
    hangs.abort();
    hangs.await.unwrap_err();
    is_gone(&client).await;
    assert_eq!(read(client.get_or_fill("k"), "value").await.origin, LOADED);
}

#[tokio::test]
async fn stale_values_and_values_that_are_refreshed_ahead() {
    let server = memcached();
    let client = client(&server);
    let hasty = || client.get_or_fill("k").stale_while_revalidate();
    assert_eq!(read(hasty(), "old").await.origin, LOADED);
    assert!(
        client
            .invalidate("k", Duration::from_secs(60))
            .await
            .unwrap()
    );
    let mut inner = None;
    let load = async || {
        // While this one loads, the others take the old value.
        inner = Some(read(hasty(), "unused").await);
        Ok::<_, Infallible>("new")
    };
    assert_eq!(hasty().load(load).await.unwrap().origin, LOADED);
    let inner = inner.unwrap();
    assert_eq!(
        (&inner.data[..], inner.origin),
        (&b"old"[..], Origin::Stale)
    );
    assert_eq!(read(hasty(), "unused").await.data, "new");

    // A failed load gives the lease of a stale value back.
    client
        .invalidate("k", Duration::from_secs(60))
        .await
        .unwrap();
    for _ in 0..2 {
        let failed = hasty().load(|| async { Err::<&str, _>("no") }).await;
        assert!(matches!(failed, Err(FillError::Load("no"))));
    }

    let ahead = || {
        let fill = client
            .get_or_fill("ahead")
            .expires_in(Duration::from_secs(50));
        fill.refresh_ahead(Duration::from_secs(100))
    };
    assert_eq!(read(ahead(), "old").await.origin, LOADED);
    let mut inner = None;
    let load = async || {
        inner = Some(read(ahead(), "unused").await);
        Ok::<_, Infallible>("new")
    };
    assert_eq!(ahead().load(load).await.unwrap().origin, LOADED);
    let inner = inner.unwrap();
    assert_eq!(
        (&inner.data[..], inner.origin),
        (&b"old"[..], Origin::Cached)
    );
}

#[tokio::test]
async fn values_of_any_size_and_life() {
    let server = memcached();
    let client = client(&server);
    for _ in 0..2 {
        assert_eq!(read(client.get_or_fill("empty"), "").await.data, "");
    }
    assert_eq!(
        read(client.get_or_fill("empty"), "x").await.origin,
        Origin::Cached
    );
    for (size, stored) in [(1_000_000, true), (2_000_000, false)] {
        let load = || async move { Ok::<_, Infallible>(vec![b'x'; size]) };
        let filled = client.get_or_fill("large").load(load).await.unwrap();
        assert_eq!(filled.data.len(), size);
        assert_eq!(filled.origin, Origin::Loaded { stored });
        client.delete("large").await.unwrap();
    }
    for _ in 0..2 {
        let gone = client.get_or_fill("gone").expires_in(Duration::ZERO);
        assert_eq!(read(gone, "x").await.origin, LOADED);
    }
    // Keys of any bytes.
    let key = b"\x00 \r\n";
    let load = || async { Ok::<_, Infallible>("x") };
    assert_eq!(
        client.get_or_fill(key).load(load).await.unwrap().origin,
        LOADED
    );
    let reply = client.meta_inspect(key).await.unwrap();
    assert_eq!(reply.status, Status::Item);
}
