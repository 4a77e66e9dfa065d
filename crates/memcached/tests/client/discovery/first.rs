//! Calls before there are nodes: they wait for the first attempt to get a list, and no longer.

use std::time::Duration;

use steersman_memcached::{Client, Credentials, ElastiCache, ErrorKind, Stage};
use tokio::time::Instant;

use super::{client_with, news};
use crate::network::{hit, network, settle};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn calls_wait_for_the_first_list() {
    for replicas in [1, 2] {
        let (client, mut attempts, mut questions, _events) =
            client_with(|builder| builder.replicas(replicas).stalled_after(None));
        let read = tokio::spawn(client.get("k").into_future());
        let write = tokio::spawn(client.set("q", "v").noreply().into_future());
        let many = tokio::spawn(client.get_many(["k", "k2"]).into_future());
        let versions = tokio::spawn(client.version().into_future());
        settle().await;
        assert!(!read.is_finished() && !write.is_finished());

        questions.answer(&["a=a:1"]).await;
        let mut a = attempts.next().await.accept();
        write.await.unwrap().unwrap();
        let mut asked = String::new();
        while asked.matches("get ").count() < 2 || !asked.contains("version") {
            asked += &a.read_some().await;
        }
        assert!(asked.contains("set q 0 0 1"), "{asked}");
        for line in asked.lines() {
            match line.split(' ').next() {
                Some("get") => {
                    for key in line.split(' ').skip(1) {
                        let value = hit(key, "v");
                        a.reply(value.strip_suffix("END\r\n").unwrap()).await;
                    }
                    a.reply("END\r\n").await;
                }
                Some("version") => a.reply("VERSION 1.6.18\r\n").await,
                // With replicas the client reads the answer itself.
                Some("set") if !line.ends_with("noreply") => a.reply("STORED\r\n").await,
                _ => {}
            }
        }
        assert_eq!(read.await.unwrap().unwrap().unwrap().data, "v");
        assert_eq!(many.await.unwrap().found.len(), 2);
        assert_eq!(versions.await.unwrap().into_result().unwrap().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn they_wait_no_longer_than_they_may() {
    let (client, _attempts, mut questions, _) = client_with(|builder| builder);
    let question = questions.next().await;
    let begun = Instant::now();
    let error = client.get("k").await.unwrap_err();
    assert_eq!(begun.elapsed(), Duration::from_secs(1));
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(error.stage(), Stage::Routing);
    assert!(!error.maybe_executed());
    assert_eq!(
        error.to_string(),
        "get: no list of nodes has come from the test within 1s"
    );
    let many = client.get_many(["k"]).await;
    assert_eq!(many.failed[0].1.kind(), ErrorKind::Timeout);
    let dropped = client.get("k").into_future();
    assert!(
        tokio::time::timeout(Duration::from_millis(1), dropped)
            .await
            .is_err()
    );
    drop(question);
}

#[tokio::test(start_paused = true)]
async fn what_is_left_of_the_time_is_what_the_node_gets() {
    let (client, mut attempts, mut questions, _) = client_with(|builder| builder);
    let question = questions.next().await;
    let begun = Instant::now();
    let read = tokio::spawn(client.get("k").into_future());
    tokio::time::sleep(Duration::from_millis(900)).await;
    question.send(Ok(super::list(&["a=a:1"]))).unwrap();
    let _silent = attempts.next().await.accept();
    let error = read.await.unwrap().unwrap_err();
    assert_eq!(
        (error.kind(), error.stage()),
        (ErrorKind::Timeout, Stage::Exchange)
    );
    assert_eq!(begun.elapsed().as_millis(), 1000);
}

#[tokio::test(start_paused = true)]
async fn after_the_first_failure_they_say_at_once_why_there_are_no_nodes() {
    let (client, _attempts, mut questions, mut events) = client_with(|builder| builder);
    let waits = tokio::spawn(client.get("k").timeout(None).into_future());
    settle().await;
    questions.answer_with(Err("the source is dry".into())).await;
    assert_eq!(news(&mut events).await, Err("the source is dry".to_owned()));
    let begun = Instant::now();
    let why = "no list of nodes has come from the test yet: the source is dry";
    for error in [
        waits.await.unwrap().unwrap_err(),
        client.get("k").await.unwrap_err(),
        client.get_many(["k"]).await.into_result().unwrap_err(),
        client.flush_all().await.into_result().unwrap_err(),
        client.node_for_key("k").unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::NoNodeReachable);
        assert!(error.to_string().contains(why), "{error}");
    }
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn closing_ends_the_wait() {
    let (client, _attempts, mut questions, _) = client_with(|builder| builder.timeout(None));
    let _question = questions.next().await;
    let waits = tokio::spawn(client.get("k").into_future());
    settle().await;
    client.close().await;
    assert_eq!(waits.await.unwrap().unwrap_err().kind(), ErrorKind::Closed);
}

/// A caller on a runtime of its own hears of the end of the client's.
#[test]
fn the_end_of_the_runtime_ends_the_wait() {
    let (told, _questions) = super::told();
    let home = tokio::runtime::Runtime::new().unwrap();
    let builder = Client::builder().discovery(told).timeout(None);
    let client = builder.runtime(home.handle().clone()).build().unwrap();
    let elsewhere = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    elsewhere.block_on(async {
        let mut waits = std::pin::pin!(client.get("k").into_future());
        let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(waits.as_mut().poll(cx)));
        assert!(polled.await.is_pending());
        home.shutdown_background();
        waits.await.unwrap_err();
    });
}

#[tokio::test(start_paused = true)]
async fn ready_waits_for_a_source_that_fails_but_not_for_one_that_refuses_the_client() {
    let (client, _attempts, mut questions, mut events) = client_with(|builder| builder);
    let begun = Instant::now();
    let ready = tokio::spawn({
        let client = client.clone();
        async move { client.ready(MINUTE).await }
    });
    questions.answer_with(Err("down".into())).await;
    assert_eq!(news(&mut events).await, Err("down".to_owned()));
    ready.await.unwrap().unwrap_err();
    assert_eq!(begun.elapsed(), MINUTE);

    let (network, mut attempts) = network();
    let client = Client::builder()
        .discovery(ElastiCache::new("endpoint:1").unwrap())
        .auth(Credentials::new("joe", "secret"))
        .connector(network)
        .build()
        .unwrap();
    let begun = Instant::now();
    let ready = tokio::spawn(async move { client.ready(MINUTE).await });
    let told = "set auth 0 0 10\r\njoe secret\r\n";
    let mut endpoint = attempts.next().await.accept();
    endpoint
        .exchange(told, "CLIENT_ERROR authentication failure\r\n")
        .await;
    let error = ready.await.unwrap().unwrap_err();
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert!(
        error.to_string().contains("endpoint:1")
            && error.to_string().contains("refused the user \"joe\""),
        "{error}"
    );
}
