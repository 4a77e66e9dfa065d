//! What a call allocates, counted on the one thread that the caller and the connection's driver share.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::runtime;

use super::{client, memcached};

const CALLS: u64 = 2_000;

#[test]
fn a_get_that_hits_allocates_its_value_and_nothing_else() {
    let server = memcached();
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let client = runtime.block_on(async {
        let client = client(&server);
        client.ready(Duration::from_secs(20)).await.unwrap();
        client.set("hit", "value").await.unwrap();
        client
    });
    let reads = |key: &'static str| {
        runtime.block_on(async {
            for _ in 0..CALLS {
                client.get(key).await.unwrap();
            }
        });
    };
    // Buffers grow, and slots are made.
    reads("hit");
    reads("miss");
    // Some are made all the same: a timer that is set anew, for instance.
    let few = CALLS / 50;
    let hits = allocation_counter::measure(|| reads("hit")).count_total;
    assert!(
        (CALLS..=CALLS + few).contains(&hits),
        "{hits} for {CALLS} hits"
    );
    let misses = allocation_counter::measure(|| reads("miss")).count_total;
    assert!(misses <= few, "{misses} for {CALLS} misses");

    let together = || {
        runtime.block_on(async {
            for values in [(); 20].map(|()| (0..100).map(|_| client.get("hit"))) {
                let values = values.map(IntoFuture::into_future);
                assert!(join_all(values).await.iter().all(Result::is_ok));
            }
        });
    };
    together();
    let hits = allocation_counter::measure(together).count_total;
    // The joined futures themselves are allocated, too, one by one.
    assert!(
        hits <= 2 * CALLS + 20 * few,
        "{hits} for {CALLS} hits at a time"
    );
}
