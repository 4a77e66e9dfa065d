//! Values that were marked stale, or that are refreshed before they expire.

use std::convert::Infallible;
use std::time::Duration;

use steersman_memcached::{Client, GetOrFill, Origin};

use super::{Cache, LOADED, hold, read, wait_behind};

const GRACE: Duration = Duration::from_secs(60);

fn patient(client: &Client) -> GetOrFill<&'static str> {
    client.get_or_fill("k")
}

fn hasty(client: &Client) -> GetOrFill<&'static str> {
    client.get_or_fill("k").stale_while_revalidate()
}

#[tokio::test]
async fn a_stale_value_is_for_those_who_take_it() {
    let cache = Cache::start().await;
    read(patient(&cache.client), "old").await;
    assert!(cache.client.invalidate("k", GRACE).await.unwrap());
    let held = hold(hasty(&cache.client)).await;
    let other = cache.another();
    for client in [&cache.client, &other] {
        let filled = read(hasty(client), "unused").await;
        assert_eq!(
            (&filled.data[..], filled.origin),
            (&b"old"[..], Origin::Stale)
        );
    }
    let waiting = wait_behind(&cache, patient(&other), "unused").await;
    held.finish.send(Ok("new")).unwrap();
    assert_eq!(held.task.await.unwrap().unwrap().origin, LOADED);
    let filled = waiting.await.unwrap();
    assert_eq!(
        (&filled.data[..], filled.origin),
        (&b"new"[..], Origin::Waited)
    );
    assert_eq!(read(hasty(&other), "unused").await.origin, Origin::Cached);
}

#[tokio::test]
async fn a_failed_refresh_of_a_stale_value_lets_the_next_one_try() {
    let cache = Cache::start().await;
    read(patient(&cache.client), "old").await;
    cache.client.invalidate("k", GRACE).await.unwrap();
    for taken in [false, true] {
        let fill = patient(&cache.client);
        let fill = if taken { fill.stale_if_error() } else { fill };
        let held = hold(fill).await;
        held.finish.send(Err("no")).unwrap();
        let ended = held.task.await.unwrap();
        assert_eq!(ended.is_ok_and(|old| old.data == "old"), taken);
    }
    assert_eq!(read(patient(&cache.client), "new").await.origin, LOADED);
}

#[tokio::test]
async fn a_value_is_refreshed_ahead_by_one_while_others_go_on_with_it() {
    let cache = Cache::start().await;
    let minute = Duration::from_secs(60);
    let ahead = |client: &Client| {
        patient(client)
            .expires_in(minute)
            .refresh_ahead(Duration::from_secs(20))
    };
    read(ahead(&cache.client), "old").await;
    cache.clock.advance(Duration::from_secs(30));
    assert_eq!(
        read(ahead(&cache.client), "unused").await.origin,
        Origin::Cached
    );

    cache.clock.advance(Duration::from_secs(15));
    let held = hold(ahead(&cache.client)).await;
    let filled = read(ahead(&cache.another()), "unused").await;
    assert_eq!(
        (&filled.data[..], filled.origin),
        (&b"old"[..], Origin::Cached)
    );
    held.finish.send(Ok("new")).unwrap();
    assert_eq!(held.task.await.unwrap().unwrap().origin, LOADED);
    let filled = read(ahead(&cache.another()), "unused").await;
    assert_eq!(
        (&filled.data[..], filled.origin),
        (&b"new"[..], Origin::Cached)
    );

    // A refresh that fails takes nothing away, and is not repeated.
    cache.clock.advance(Duration::from_secs(45));
    let held = hold(ahead(&cache.client)).await;
    held.finish.send(Err("no")).unwrap();
    held.task.await.unwrap().unwrap_err();
    let filled = read(ahead(&cache.client), "unused").await;
    assert_eq!(
        (&filled.data[..], filled.origin),
        (&b"new"[..], Origin::Cached)
    );
}

#[tokio::test]
async fn a_refresh_may_be_done_in_the_background() {
    let cache = Cache::start().await;
    let load = |value| move || async move { Ok::<_, Infallible>(value) };
    let filled = patient(&cache.client).load_in_background(load("old")).await;
    assert_eq!(
        filled.unwrap().origin,
        LOADED,
        "there is nothing to go on with"
    );
    cache.client.invalidate("k", GRACE).await.unwrap();
    let filled = hasty(&cache.client).load_in_background(load("new")).await;
    assert_eq!(filled.unwrap().origin, Origin::Stale);
    let filled = read(patient(&cache.client), "unused").await;
    assert_eq!(filled.data, "new");

    cache.client.invalidate("k", GRACE).await.unwrap();
    let filled = patient(&cache.client)
        .load_in_background(load("newer"))
        .await;
    assert_eq!(
        filled.unwrap().origin,
        LOADED,
        "a stale value is not wanted"
    );
}

/// Unlike a placeholder a stale value outlives the lease, so those who wait take it back.
#[tokio::test]
async fn the_lease_of_a_stale_value_is_taken_back_from_a_process_that_is_gone() {
    let cache = Cache::start().await;
    for key_is_new in [false, true] {
        let client = &cache.client;
        if key_is_new {
            // What is stale is a placeholder.
            client.delete("k").await.unwrap();
            client
                .meta_get("k", |get| {
                    get.vivify(steersman_memcached::Expires::In(GRACE))
                })
                .await
                .unwrap();
        } else {
            read(patient(client), "old").await;
        }
        client.invalidate("k", GRACE).await.unwrap();
        let gone = client.meta_get("k", |get| get.value().cas()).await.unwrap();
        assert!(gone.won && gone.stale);
        let short = Duration::from_secs(1);
        let filled = read(patient(client).lease(short), "new").await;
        assert_eq!((&filled.data[..], filled.origin), (&b"new"[..], LOADED));
    }
}
