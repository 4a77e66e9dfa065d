//! Cache-aside reads: one caller loads, the others wait or go on with what there is.

mod ends;
mod interleavings;
mod stale;

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use steersman_memcached::{Client, Fill, FillError, Filled, GetOrFill, Origin};
use steersman_testkit::{ManualClock, Server};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

const LOADED: Origin = Origin::Loaded { stored: true };

/// A server whose time stands still, and a client of it.
pub(crate) struct Cache {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) server: Server,
    pub(crate) client: Client,
}

impl Cache {
    pub(crate) async fn start() -> Self {
        let clock = Arc::new(ManualClock::new(Duration::from_secs(1_800_000_000)));
        let server = Server::builder()
            .clock(clock.clone())
            .start()
            .await
            .unwrap();
        let client = Client::builder()
            .node(server.node())
            .timeout(Duration::from_secs(20))
            .build()
            .unwrap();
        Self {
            clock,
            server,
            client,
        }
    }

    /// A second process, as far as the server can tell.
    pub(crate) fn another(&self) -> Client {
        let node = self.server.node();
        Client::builder()
            .node(node)
            .timeout(Duration::from_secs(20))
            .build()
            .unwrap()
    }
}

/// Reads a key by a load that gives the value.
pub(crate) async fn read(fill: GetOrFill<&str>, value: &'static str) -> Filled {
    fill.load(|| async move { Ok::<_, Infallible>(value) })
        .await
        .unwrap()
}

/// A load that has begun, and ends when the test says so.
pub(crate) struct Held {
    pub(crate) finish: oneshot::Sender<Result<&'static str, &'static str>>,
    pub(crate) task: JoinHandle<Result<Filled, FillError<&'static str>>>,
}

/// Starts a read that wins, and waits until its load runs.
pub(crate) async fn hold(fill: GetOrFill<&'static str>) -> Held {
    let (finish, finished) = oneshot::channel();
    let began = Arc::new(Notify::new());
    let begin = Arc::clone(&began);
    let task = tokio::spawn(fill.load(|| async move {
        begin.notify_one();
        finished.await.expect("the test wants the load to go on")
    }));
    began.notified().await;
    Held { finish, task }
}

/// Starts a read that waits for another one's load, and waits until it has looked for a while.
pub(crate) async fn wait_behind(
    cache: &Cache,
    fill: GetOrFill<&'static str>,
    value: &'static str,
) -> JoinHandle<Filled> {
    let before = cache.server.stats().commands.keys_read();
    let task = tokio::spawn(read(fill, value));
    let looked = |stats: &steersman_testkit::Stats| stats.commands.keys_read() > before;
    cache.server.wait_for(looked).await;
    task
}

#[tokio::test]
async fn one_of_many_loads_and_all_get_it() {
    let cache = Cache::start().await;
    let clients = [cache.client.clone(), cache.another()];
    let loads = AtomicUsize::new(0);
    let reads = (0..100).map(|n: usize| {
        let fill = clients[n % 2]
            .get_or_fill("k")
            .flags(7)
            .expires_in(Duration::from_secs(60));
        let load = || async {
            tokio::task::yield_now().await;
            loads.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>("value")
        };
        fill.load(load)
    });
    let all = join_all(reads).await;
    let mut loaded = 0;
    for filled in all {
        let filled = filled.unwrap();
        assert_eq!((&filled.data[..], filled.flags), (&b"value"[..], 7));
        loaded += usize::from(filled.origin == LOADED);
    }
    assert_eq!((loaded, loads.into_inner()), (1, 1));
    let value = cache.client.get("k").await.unwrap().unwrap();
    assert_eq!((&value.data[..], value.flags), (&b"value"[..], 7));
    cache.clock.advance(Duration::from_secs(61));
    assert_eq!(
        read(cache.client.get_or_fill("k"), "new").await.origin,
        LOADED
    );
}

#[tokio::test]
async fn a_load_may_say_how_its_value_is_kept() {
    let cache = Cache::start().await;
    let nobody = cache
        .client
        .get_or_fill("k")
        .flags(1)
        .expires_in(Duration::from_secs(60));
    let fill =
        || async { Ok::<_, Infallible>(Fill::new("").flags(2).expires_in(Duration::from_secs(5))) };
    let filled = nobody.clone().load(fill).await.unwrap();
    assert_eq!((filled.flags, filled.origin), (2, LOADED));
    assert_eq!(read(nobody.clone(), "").await.flags, 2);
    cache.clock.advance(Duration::from_secs(6));
    assert_eq!(read(nobody, "x").await.flags, 1);
}

#[tokio::test]
async fn values_of_any_size_and_life() {
    let cache = Cache::start().await;
    // Empty, without flags: a value all the same.
    let empty = || cache.client.get_or_fill("empty");
    assert_eq!(read(empty(), "").await.origin, LOADED);
    let filled = read(empty(), "other").await;
    assert_eq!(
        (&filled.data[..], filled.origin),
        (&b""[..], Origin::Cached)
    );

    let large = vec![b'x'; 1_000_000];
    let load = || async { Ok::<_, Infallible>(large.clone()) };
    assert_eq!(
        cache
            .client
            .get_or_fill("large")
            .load(load)
            .await
            .unwrap()
            .origin,
        LOADED
    );
    let again = read(cache.client.get_or_fill("large"), "other").await;
    assert_eq!(again.data, large);

    // What the cache cannot take is given to its caller, and the next one may load.
    let uncached = Origin::Loaded { stored: false };
    for _ in 0..2 {
        let load = || async { Ok::<_, Infallible>(vec![b'x'; 2_000_000]) };
        let filled = cache.client.get_or_fill("huge").load(load).await.unwrap();
        assert_eq!((filled.data.len(), filled.origin), (2_000_000, uncached));
    }
    for value in ["a", "b"] {
        let gone = cache.client.get_or_fill("gone").expires_in(Duration::ZERO);
        let filled = read(gone, value).await;
        assert_eq!(
            (&filled.data[..], filled.origin),
            (value.as_bytes(), LOADED)
        );
    }
}

#[tokio::test]
async fn what_cannot_be_done_is_an_error_and_loads_nothing() {
    let cache = Cache::start().await;
    let never = || async { Ok::<&str, Infallible>(pending().await) };
    for lease in [
        Duration::from_millis(999),
        Duration::from_secs(60 * 60 * 24 * 31),
    ] {
        let fill = cache.client.get_or_fill("k").lease(lease);
        let error = fill.load(never).await.unwrap_err();
        assert!(error.to_string().contains("1 s to 30 days"), "{error}");
    }
    cache.client.get("k").await.unwrap();
    cache.server.stop().await;
    let error = cache.client.get_or_fill("k").load(never).await.unwrap_err();
    let FillError::Cache(error) = error;
    assert_eq!(error.operation(), Some("get_or_fill"));
    assert!(error.is_retryable());
}
