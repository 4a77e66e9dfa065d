//! Credentials against a real memcached with an authentication file.

use std::convert::Infallible;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use steersman_e2e::memcached::RealMemcached;
use steersman_memcached::{Client, Credentials, CredentialsProvider, ErrorKind, Event};
use tempfile::NamedTempFile;
use tracing::field::{Field, Visit};
use tracing::{Metadata, Subscriber, span};

use super::quick;

const PASSWORD: &str = "correct-horse";

/// A server that takes joe, and the file that says so.
fn guarded() -> (RealMemcached, NamedTempFile) {
    let mut file = NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, format!("joe:{PASSWORD}\n").as_bytes()).unwrap();
    let path = file.path().to_str().unwrap();
    let server = RealMemcached::start_guarded(&["-Y", path]);
    (server.unwrap_or_else(|error| panic!("{error}")), file)
}

fn client(server: &RealMemcached, user: &str, password: &str) -> Client {
    let credentials = Credentials::new(user, password);
    quick([server.node()]).auth(credentials).build().unwrap()
}

#[tokio::test]
async fn who_is_known_is_served() {
    let (mut server, _file) = guarded();
    let client = client(&server, "joe", PASSWORD);
    client.set("k", "v").await.unwrap();
    assert_eq!(client.get("k").await.unwrap().unwrap().data, "v");
    server.restart().unwrap();
    // A new connection is introduced as well.
    client.ready(super::LONG).await.unwrap();
    while client.set("k", "w").await.is_err() {}
    assert_eq!(client.get("k").await.unwrap().unwrap().data, "w");
}

#[tokio::test]
async fn who_is_not_is_told_and_nothing_secret_is_shown() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let (server, _file) = guarded();
    let client = client(&server, "joe", "battery-staple");
    let mut events = client.events();
    let error = client.get("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Authentication);
    let Some(Event::NodeUnhealthy { reason, .. }) = events.recv().await else {
        panic!("the node is healthy");
    };
    client.close().await;
    let log = log.0.lock().unwrap();
    assert!(log.contains("node cannot be used"), "{log}");
    for shown in [
        &*log,
        &*reason,
        &format!("{error} {error:?} {client:?} {events:?}"),
    ] {
        assert!(!shown.contains("battery-staple"), "{shown}");
    }
}

#[tokio::test]
async fn a_server_that_wants_credentials_is_no_miss() {
    let (server, _file) = guarded();
    let client = quick([server.node()]).build().unwrap();
    for error in [
        client.get("k").await.unwrap_err(),
        client.set("k", "v").await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Authentication);
        assert!(error.to_string().contains("give credentials"), "{error}");
    }
}

#[tokio::test]
async fn new_credentials_bring_a_node_back() {
    /// Wrong twice.
    struct Rotation(AtomicU64);
    impl CredentialsProvider for Rotation {
        type Error = Infallible;

        async fn credentials(&self, _: &str) -> Result<Credentials, Infallible> {
            let wrong = self.0.fetch_add(1, Ordering::Relaxed) < 2;
            let password = if wrong { "old" } else { PASSWORD };
            Ok(Credentials::new("joe", password))
        }
    }
    let (server, _file) = guarded();
    let client = quick([server.node()])
        .auth_with(Rotation(AtomicU64::new(0)))
        .build()
        .unwrap();
    let mut events = client.events();
    assert!(matches!(
        events.recv().await,
        Some(Event::NodeUnhealthy { .. })
    ));
    assert!(matches!(
        events.recv().await,
        Some(Event::NodeHealthy { .. })
    ));
    client.set("k", "v").await.unwrap();
    let metrics = client.connection_pool_metrics();
    assert_eq!(metrics[&server.node()].connections_created_with_error, 2);
}

/// Keeps every event that is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut log = self.0.lock().unwrap();
        event.record(&mut Fields(&mut log));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        writeln!(self.0, "{field}={value:?}").unwrap();
    }
}
