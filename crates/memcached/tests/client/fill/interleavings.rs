//! Whatever callers do and whenever they give up: no two load within a lease, and nobody hangs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use proptest::prelude::*;
use steersman_memcached::{Client, FillError};
use steersman_testkit::Server;
use tokio::time::{Instant, sleep, timeout};

const LEASE: Duration = Duration::from_secs(4);

/// What a caller does, in milliseconds.
#[derive(Debug, Clone)]
struct Caller {
    process: usize,
    starts: u64,
    load: u64,
    fails: bool,
    /// It is dropped so long after its start.
    patience: Option<u64>,
}

fn callers() -> impl Strategy<Value = Vec<Caller>> {
    let caller = (
        0..2_usize,
        0..3_000_u64,
        // Some loads outlive the lease.
        prop_oneof![3 => 0..500_u64, 1 => 3_000..9_000_u64],
        any::<bool>(),
        prop::option::of(0..6_000_u64),
    );
    let caller = caller.prop_map(|(process, starts, load, fails, patience)| Caller {
        process,
        starts,
        load,
        fails,
        patience,
    });
    prop::collection::vec(caller, 1..16)
}

/// The times at which loads began and ended.
type Loads = Arc<Mutex<Vec<(Instant, Instant)>>>;

/// A load that is under way, and notes its end even if it is dropped.
struct Under(Loads, Instant);

impl Drop for Under {
    fn drop(&mut self) {
        self.0.lock().unwrap().push((self.1, Instant::now()));
    }
}

async fn call(client: Client, caller: Caller, loads: Loads) {
    let ms = Duration::from_millis;
    sleep(ms(caller.starts)).await;
    let load = || async {
        let _under = Under(loads, Instant::now());
        sleep(ms(caller.load)).await;
        if caller.fails { Err(()) } else { Ok("value") }
    };
    let fill = client
        .get_or_fill("k")
        .lease(LEASE)
        .timeout(None)
        .load(load);
    let patience = caller.patience.map_or(Duration::from_secs(3_600), ms);
    match timeout(patience, fill).await {
        Ok(Ok(filled)) => assert_eq!(filled.data, "value"),
        Ok(Err(FillError::Load(()))) => assert!(caller.fails),
        Ok(Err(FillError::Cache(error))) => panic!("{error}"),
        Err(_) => assert!(caller.patience.is_some(), "it hangs"),
    }
}

async fn run(callers: Vec<Caller>) {
    let server = Server::start().await.unwrap();
    let clients = [(); 2].map(|()| {
        let builder = Client::builder().node(server.node());
        builder
            .timeout(None)
            .connection_timeout(None)
            .stalled_after(None)
            .build()
            .unwrap()
    });
    let loads = Loads::default();
    let calls = callers
        .into_iter()
        .map(|caller| call(clients[caller.process].clone(), caller, Arc::clone(&loads)));
    join_all(calls).await;
    let mut loads = loads.lock().unwrap().clone();
    loads.sort();
    for pair in loads.windows(2) {
        let ((began, ended), (next, _)) = (pair[0], pair[1]);
        // memcached counts in whole seconds: a lease may end up to a second early.
        let lease_over = next >= began + LEASE - Duration::from_secs(1);
        assert!(next >= ended || lease_over, "two load at a time: {loads:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nobody_hangs_and_no_two_load_within_a_lease(callers in callers()) {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap()
            .block_on(run(callers));
    }
}
