//! Credentials on new connections: when they are told, refusals, silence and what is never repeated,
//! in virtual time.

use std::convert::Infallible;
use std::sync::Mutex;
use std::time::Duration;

use steersman_memcached::{
    Backoff, Builder, Client, Credentials, CredentialsProvider, Error, ErrorKind, Event, Stage,
};
use tokio::time::Instant;

use crate::network::{client, hit, settle};

const TOLD: &str = "set auth 0 0 10\r\njoe secret\r\n";

fn as_joe(builder: Builder) -> Builder {
    let backoff = Backoff {
        jitter: 0.0,
        ..Backoff::default()
    };
    builder
        .auth(Credentials::new("joe", "secret"))
        .backoff(backoff)
        .timeout(None)
}

fn assert_secret(error: &Error) {
    let mut shown = vec![format!("{error} {error:?}")];
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        shown.push(format!("{inner} {inner:?}"));
        source = inner.source();
    }
    let shows = |text: &String| text.contains("secret");
    assert!(!shown.iter().any(shows), "{shown:?}");
}

#[tokio::test(start_paused = true)]
async fn each_connection_begins_with_the_credentials_and_waits_for_the_answer() {
    let (client, mut attempts) = client(as_joe);
    for _ in 0..3 {
        let read = tokio::spawn(client.get("k").into_future());
        let mut peer = attempts.next().await.accept();
        peer.expect(TOLD).await;
        settle().await;
        assert!(peer.is_silent());
        peer.reply("STORED\r\n").await;
        peer.exchange("get k\r\n", &hit("k", "v")).await;
        assert_eq!(read.await.unwrap().unwrap().unwrap().data, "v");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_makes_the_node_unhealthy_at_once_and_is_tried_again() {
    let (client, mut attempts) = client(as_joe);
    let mut events = client.events();
    let start = Instant::now();
    let read = tokio::spawn(client.get("k").into_future());
    let mut peer = attempts.next().await.accept();
    peer.exchange(TOLD, "CLIENT_ERROR authentication failure\r\n")
        .await;
    let error = read.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert_eq!(error.stage(), Stage::Connecting);
    assert!(!error.is_retryable() && !error.maybe_executed());
    assert_secret(&error);
    let Some(Event::NodeUnhealthy { reason, .. }) = events.recv().await else {
        panic!("the node is healthy");
    };
    assert!(
        reason.contains("refused the user \"joe\"") && reason.contains("authentication failure"),
        "{reason}"
    );
    assert_eq!(start.elapsed(), Duration::ZERO);
    // Until the next attempt, calls fail for the same reason.
    let error = client.get("k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Authentication);

    for seconds in [1, 3] {
        let mut peer = attempts.next().await.accept();
        assert_eq!(start.elapsed(), Duration::from_secs(seconds));
        peer.exchange(TOLD, "CLIENT_ERROR authentication failure\r\n")
            .await;
    }
    let mut peer = attempts.next().await.accept();
    peer.exchange(TOLD, "STORED\r\n").await;
    assert!(matches!(
        events.recv().await,
        Some(Event::NodeHealthy { .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn silence_is_a_failure_after_the_connection_time_out() {
    let (client, mut attempts) = client(as_joe);
    let start = Instant::now();
    let read = tokio::spawn(client.get("k").into_future());
    let mut peer = attempts.next().await.accept();
    peer.expect(TOLD).await;
    let error = read.await.unwrap().unwrap_err();
    assert_eq!(start.elapsed(), Duration::from_secs(5));
    assert_eq!(error.kind(), ErrorKind::NoNodeReachable);
    let said = error.to_string();
    assert!(
        said.contains("no answer to the credentials from host:1 within 5s"),
        "{said}"
    );
    assert_eq!(client.unhealthy_nodes(), [], "one failure is not enough");
}

#[tokio::test(start_paused = true)]
async fn what_a_server_repeats_is_not_repeated() {
    for said in [
        "CLIENT_ERROR joe secret is wrong\r\n",
        "joe secret\r\n",
        TOLD,
        "NOT_STORED\r\n",
    ] {
        let (client, mut attempts) = client(as_joe);
        let read = tokio::spawn(client.get("k").into_future());
        let mut peer = attempts.next().await.accept();
        peer.exchange(TOLD, said).await;
        let error = read.await.unwrap().unwrap_err();
        assert_secret(&error);
        let kinds = [ErrorKind::Authentication, ErrorKind::NoNodeReachable];
        assert!(kinds.contains(&error.kind()), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_is_asked_for_each_connection() {
    struct Rotation(Mutex<u32>);
    impl CredentialsProvider for Rotation {
        type Error = Infallible;

        async fn credentials(&self, node: &str) -> Result<Credentials, Infallible> {
            let mut number = self.0.lock().unwrap();
            *number += 1;
            Ok(Credentials::new(node, format!("password-{number}")))
        }
    }
    let (client, mut attempts) =
        client(|builder| as_joe(builder).auth_with(Rotation(Mutex::new(0))));
    for number in 1..4 {
        let mut peer = attempts.next().await.accept();
        let told = format!("set auth 0 0 12\r\nn password-{number}\r\n");
        peer.exchange(&told, "STORED\r\n").await;
        let read = tokio::spawn(client.get("k").into_future());
        peer.exchange("get k\r\n", "END\r\n").await;
        assert_eq!(read.await.unwrap().unwrap(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_fails_or_gives_nonsense_says_so() {
    struct Broken(Result<Credentials, std::io::ErrorKind>);
    impl CredentialsProvider for Broken {
        type Error = std::io::Error;

        async fn credentials(&self, _: &str) -> std::io::Result<Credentials> {
            self.0.clone().map_err(Into::into)
        }
    }
    for (given, why) in [
        (Err(std::io::ErrorKind::NotFound), "provider failed"),
        (Ok(Credentials::new("joe", "secret\n")), "newline"),
    ] {
        let (client, mut attempts) = client(|builder| as_joe(builder).auth_with(Broken(given)));
        let read = tokio::spawn(client.get("k").into_future());
        attempts.next().await.accept().closed().await;
        let error = read.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Authentication);
        assert!(error.to_string().contains(why), "{error}");
        assert_secret(&error);
    }
}

/// What a provider has not now it may have soon: such a failure counts as others.
#[tokio::test(start_paused = true)]
async fn a_provider_that_recovers_makes_no_node_unhealthy() {
    struct Late(Mutex<bool>);
    impl CredentialsProvider for Late {
        type Error = std::io::Error;

        async fn credentials(&self, _: &str) -> std::io::Result<Credentials> {
            if std::mem::replace(&mut *self.0.lock().unwrap(), true) {
                Ok(Credentials::new("joe", "secret"))
            } else {
                Err(std::io::ErrorKind::NotFound.into())
            }
        }
    }
    let provider = Late(Mutex::new(false));
    let (client, mut attempts) = client(|builder| as_joe(builder).auth_with(provider));
    let mut events = client.events();
    let ready = tokio::spawn({
        let client = client.clone();
        async move { client.ready(Duration::from_secs(60)).await }
    });
    attempts.next().await.accept().closed().await;
    settle().await;
    let error = client.get("k").await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    let mut peer = attempts.next().await.accept();
    peer.exchange(TOLD, "STORED\r\n").await;
    ready.await.unwrap().unwrap();
    client.close().await;
    assert_eq!(events.recv().await, None, "it was healthy all the time");
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_hangs_is_what_the_error_is_about() {
    struct Hangs;
    impl CredentialsProvider for Hangs {
        type Error = Infallible;

        async fn credentials(&self, _: &str) -> Result<Credentials, Infallible> {
            std::future::pending().await
        }
    }
    let (client, mut attempts) = client(|builder| as_joe(builder).auth_with(Hangs));
    let read = tokio::spawn(client.get("k").into_future());
    attempts.next().await.accept().closed().await;
    let said = read.await.unwrap().unwrap_err().to_string();
    assert!(
        said.contains("no credentials from their provider for"),
        "{said}"
    );
    assert!(
        said.contains("within 5s") && !said.contains("firewall"),
        "{said}"
    );
}

#[tokio::test(start_paused = true)]
async fn ready_does_not_wait_for_who_refuses() {
    let refusal = "CLIENT_ERROR authentication failure\r\n";
    for any in [false, true] {
        let (client, mut attempts) = client(|builder| as_joe(builder).node("m=host:2"));
        let ready = tokio::spawn({
            let client = client.clone();
            let patience = Duration::from_secs(60);
            async move {
                if any {
                    client.ready_any(patience).await
                } else {
                    client.ready(patience).await
                }
            }
        });
        let start = Instant::now();
        attempts.next().await.accept().exchange(TOLD, refusal).await;
        settle().await;
        let mut other = attempts.next().await.accept();
        if any {
            assert!(!ready.is_finished(), "the other one may do");
            other.exchange(TOLD, refusal).await;
        }
        let error = ready.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Authentication);
        assert!(error.node().is_some());
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_wants_credentials_says_so_in_every_error() {
    let (client, mut attempts) = client(|builder| builder);
    let read = tokio::spawn(client.get("k").into_future());
    let mut peer = attempts.next().await.accept();
    peer.exchange("get k\r\n", "CLIENT_ERROR unauthenticated\r\n")
        .await;
    let error = read.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert!(error.to_string().contains("give credentials"), "{error}");
}

#[test]
fn credentials_that_no_server_takes_are_refused_when_the_client_is_built() {
    let credentials = Credentials::new("joe", "");
    let built = Client::builder().node("n").auth(credentials).build();
    let error = built.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(error.option(), Some("auth"));
}
