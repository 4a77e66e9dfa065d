//! Loads that do not end well: somebody else takes over.

use std::time::Duration;

use steersman_memcached::meta::Status;
use steersman_memcached::{Expires, FillError, Origin};

use super::{Cache, LOADED, hold, read, wait_behind};

#[tokio::test]
async fn a_failure_is_for_its_caller_and_the_next_one_loads() {
    let cache = Cache::start().await;
    for client in [cache.client.clone(), cache.another()] {
        let held = hold(cache.client.get_or_fill("k")).await;
        let next = wait_behind(&cache, client.get_or_fill("k"), "value").await;
        held.finish.send(Err("no database")).unwrap();
        let error = held.task.await.unwrap().unwrap_err();
        assert!(matches!(error, FillError::Load("no database")));
        assert_eq!(
            error.to_string(),
            "the value could not be loaded: no database"
        );
        let filled = next.await.unwrap();
        assert_eq!((&filled.data[..], filled.origin), (&b"value"[..], LOADED));
        client.delete("k").await.unwrap();
    }
}

#[tokio::test]
async fn a_caller_that_is_dropped_or_panics_leaves_nothing_behind() {
    let cache = Cache::start().await;
    for panics in [false, true] {
        let held = hold(cache.client.get_or_fill("k")).await;
        let here = wait_behind(&cache, cache.client.get_or_fill("k"), "value").await;
        let elsewhere = cache.another();
        let there = wait_behind(&cache, elsewhere.get_or_fill("k"), "value").await;
        if panics {
            drop(held.finish);
        } else {
            held.task.abort();
        }
        assert_eq!(held.task.await.unwrap_err().is_panic(), panics);
        let origins = [here.await.unwrap().origin, there.await.unwrap().origin];
        assert!(origins.contains(&LOADED), "{origins:?}");
        assert_ne!(origins[0], origins[1]);
        cache.client.delete("k").await.unwrap();

        // Nor does one that nobody waits for.
        let held = hold(cache.client.get_or_fill("k")).await;
        held.task.abort();
        held.task.await.unwrap_err();
        let reply = cache
            .client
            .meta_get("k", |get| get.no_bump().cas())
            .await
            .unwrap();
        assert_eq!(reply.status, Status::Miss);
    }
}

#[tokio::test]
async fn the_lease_of_a_process_that_is_gone_ends() {
    let cache = Cache::start().await;
    let lease = Expires::In(Duration::from_secs(10));
    let gone = cache.client.meta_get("k", |get| get.vivify(lease)).await;
    assert!(gone.unwrap().won);
    let waiting = wait_behind(&cache, cache.client.get_or_fill("k"), "value").await;
    let plain = cache.client.get("k").await.unwrap().unwrap();
    assert_eq!(plain.data, "", "what a plain get sees of a placeholder");
    assert!(!waiting.is_finished());
    cache.clock.advance(Duration::from_secs(11));
    assert_eq!(waiting.await.unwrap().origin, LOADED);
}

#[tokio::test]
async fn a_load_that_outlives_its_lease_is_not_stored_over_a_newer_one() {
    let cache = Cache::start().await;
    let late = hold(cache.client.get_or_fill("k")).await;
    cache.clock.advance(Duration::from_secs(11));
    let other = cache.another();
    assert_eq!(read(other.get_or_fill("k"), "newer").await.origin, LOADED);
    late.finish.send(Ok("older")).unwrap();
    let filled = late.task.await.unwrap().unwrap();
    assert_eq!(filled.data, "older");
    assert_eq!(filled.origin, Origin::Loaded { stored: false });
    assert_eq!(read(other.get_or_fill("k"), "x").await.data, "newer");
}

#[tokio::test]
async fn what_was_loaded_before_a_change_does_not_stay_behind_it() {
    let cache = Cache::start().await;
    let grace = Duration::from_secs(60);
    for way in 0..3 {
        let held = hold(cache.client.get_or_fill("k")).await;
        let waiting = wait_behind(&cache, cache.client.get_or_fill("k"), "newer").await;
        match way {
            0 => assert!(cache.client.invalidate("k", grace).await.unwrap()),
            1 => assert!(cache.client.delete("k").await.unwrap()),
            _ => cache.client.set("k", "newer").await.unwrap(),
        }
        held.finish.send(Ok("older")).unwrap();
        let filled = held.task.await.unwrap().unwrap();
        assert_eq!(filled.origin, Origin::Loaded { stored: false }, "{way}");
        assert_eq!(waiting.await.unwrap().data, "newer");
        let plain = cache.client.get("k").await.unwrap().unwrap();
        assert_eq!(plain.data, "newer");
        cache.client.delete("k").await.unwrap();
    }
    assert!(!cache.client.invalidate("k", grace).await.unwrap());
}
