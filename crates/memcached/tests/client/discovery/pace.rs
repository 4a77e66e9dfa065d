//! When the list is asked for, for how long, and until when.

use std::time::Duration;

use steersman_memcached::{Backoff, Client, Dialer, Discovered, Discovery, DiscoveryError};
use tokio::time::Instant;

use super::{LONG, client_with, list, news, told};
use crate::network::{network, settle};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn the_list_is_asked_for_at_once_and_then_every_interval_less_some_jitter() {
    let (client, _attempts, mut questions, _) = client_with(|builder| builder);
    let mut last = Instant::now();
    questions.answer(&["a"]).await;
    assert_eq!(last.elapsed(), Duration::ZERO);
    let mut waits = Vec::new();
    for _ in 0..20 {
        questions.answer(&["a"]).await;
        waits.push(last.elapsed());
        last = Instant::now();
    }
    let bounds = 54 * SECOND..=60 * SECOND + Duration::from_millis(1);
    assert!(waits.iter().all(|wait| bounds.contains(wait)), "{waits:?}");
    waits.dedup();
    assert!(waits.len() > 10, "no jitter: {waits:?}");
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_holds_for_less_is_asked_for_sooner_but_not_all_the_time() {
    let (client, _attempts, mut questions, _) = client_with(|builder| builder);
    for (valid_for, longest) in [(10, 10), (0, 1), (1_000_000, 60)] {
        let valid_for = Duration::from_secs(valid_for);
        questions
            .answer_with(Ok(list(&["a"]).valid_for(valid_for)))
            .await;
        let answered = Instant::now();
        let question = questions.next().await;
        let waited = answered.elapsed();
        let longest = longest * SECOND;
        let bounds = longest * 9 / 10..=longest + Duration::from_millis(1);
        assert!(bounds.contains(&waited), "{waited:?} for {valid_for:?}");
        question.send(Ok(list(&["a"]))).unwrap();
    }
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn failures_are_backed_off_from_and_never_longer_than_the_interval() {
    let backoff = Backoff {
        jitter: 0.0,
        ..Backoff::default()
    };
    let (client, _attempts, mut questions, _) =
        client_with(|builder| builder.backoff(backoff).discovery_interval(5 * SECOND));
    let mut waits = Vec::new();
    for _ in 0..5 {
        let question = questions.next().await;
        let failed = Instant::now();
        question.send(Err("down".into())).unwrap();
        let next = questions.next().await;
        waits.push(failed.elapsed().as_secs());
        next.send(Err("down".into())).unwrap();
    }
    assert_eq!(waits, [1, 4, 5, 5, 5]);
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_hangs_is_given_up_and_the_last_list_stays() {
    let (client, _attempts, mut questions, mut events) = client_with(|builder| builder);
    questions.answer(&["a"]).await;
    assert_eq!(news(&mut events).await, Ok(1));
    let mut question = questions.next().await;
    let asked = Instant::now();
    question.closed().await;
    assert_eq!(asked.elapsed(), 5 * SECOND);
    assert_eq!(
        news(&mut events).await,
        Err("no list came within 5s".to_owned())
    );
    assert_eq!(client.nodes().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_panics_is_asked_again() {
    struct Panics(u32);

    impl Discovery for Panics {
        fn discover(
            &mut self,
            _: &Dialer,
        ) -> impl Future<Output = Result<Discovered, DiscoveryError>> {
            self.0 += 1;
            assert_ne!(self.0, 1, "before there is a future");
            let second = self.0 == 2;
            async move {
                assert!(!second, "in the future");
                Ok(list(&["a"]))
            }
        }

        fn source(&self) -> String {
            String::new()
        }
    }

    let (network, _attempts) = network();
    let builder = Client::builder().discovery(Panics(0));
    let client = builder.connector(network).build().unwrap();
    let mut events = client.events();
    assert_eq!(
        news(&mut events).await,
        Err("the discovery panicked".to_owned())
    );
    assert_eq!(news(&mut events).await, Ok(1));
}

#[tokio::test(start_paused = true)]
async fn it_ends_with_the_client() {
    for close in [true, false] {
        let (client, _attempts, mut questions, _) = client_with(|builder| builder);
        let question = questions.next().await;
        settle().await;
        if close {
            client.close().await;
        } else {
            drop(client);
        }
        tokio::time::timeout(LONG, async {
            assert!(questions.ended().await);
            assert!(question.is_closed());
        })
        .await
        .expect("no discovery without a client");
    }
}

#[test]
fn a_client_built_outside_of_a_runtime_discovers_on_the_first() {
    let (told, mut questions) = told();
    let (network, _attempts) = network();
    let client = Client::builder()
        .discovery(told)
        .connector(network)
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut events = client.events();
        let late = client.get("k").timeout(Duration::from_millis(1));
        late.await.unwrap_err();
        questions.answer(&["a"]).await;
        assert_eq!(news(&mut events).await, Ok(1));
    });
}
