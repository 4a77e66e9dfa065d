//! Futures that are dropped after so many polls, for every such number until they are done: what is
//! asked next is answered right, nothing stays behind, and the counts balance.

mod acts;

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use steersman_e2e::authority::Authority;
use steersman_e2e::memcached::RealMemcached;
use steersman_memcached::{Builder, Client, Credentials, Hedge, Replication, Tls};

use self::acts::{ACTS, fills};
use super::{LONG, memcached, quick};

/// More polls than any of these takes.
const MANY: usize = 10_000;

/// Polls a future when it is woken, so often at most; says whether it has ended by then.
async fn polled(polls: usize, future: impl Future<Output = ()>) -> bool {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        match future.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending if left == 0 => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// All is well with the client, and nothing of what was dropped is left.
async fn check(client: &Client, round: &str) {
    client.set("round", round.to_owned()).await.unwrap();
    let found = client.get("round").await.unwrap().unwrap();
    assert_eq!(found.data, round);
    let filled = tokio::time::timeout(LONG, fills(client)).await;
    assert_eq!(filled.expect("no lease was lost"), "loaded");
    let at_rest = async {
        let is_busy = |client: &Client| {
            let mut pools = client.connection_pool_metrics().into_values();
            pools.any(|pool| pool.in_flight + pool.waiting > 0)
        };
        while is_busy(client) {
            tokio::task::yield_now().await;
        }
    };
    let at_rest = tokio::time::timeout(LONG, at_rest).await;
    at_rest.expect("every place is given back");
    for (node, pool) in client.connection_pool_metrics() {
        let live = pool.cur_connections as u64;
        assert_eq!(
            pool.connections_created,
            pool.connections_closed + live,
            "{node}: {pool:?}"
        );
        assert_eq!(pool.operations_executed_with_error, 0, "{node}: {pool:?}");
        assert_eq!(pool.connections_closed, 0, "no connection broke: {pool:?}");
    }
}

/// Drops each act after each number of polls.
async fn drop_everywhere(client: Client) {
    client.set("kept", "as it was").await.unwrap();
    for (name, act) in ACTS {
        for polls in 0..MANY {
            let ended = polled(polls, act(client.clone())).await;
            check(&client, &format!("{name} {polls}")).await;
            if ended {
                break;
            }
            assert!(polls + 1 < MANY, "{name} does not end");
        }
    }
    client.close().await;
}

/// Ends clients after each number of turns of their tasks, in both ways.
async fn end_everywhere(build: impl Fn() -> Builder) {
    let mut connected = false;
    for turns in 0..MANY {
        let client = build().build().unwrap();
        let read = tokio::spawn(client.get("kept").into_future());
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        connected |= client.ready(Duration::ZERO).await.is_ok();
        if turns % 3 == 2 {
            // Whoever waited for it to close leaves; it closes all the same.
            polled(turns / 3, client.close_within(LONG)).await;
        } else if turns % 3 == 1 {
            let closed = tokio::time::timeout(LONG, client.close()).await;
            closed.expect("it closes");
            for (node, pool) in client.connection_pool_metrics() {
                assert_eq!(pool.cur_connections, 0, "{node}");
                assert_eq!(pool.connections_created, pool.connections_closed);
            }
        }
        drop(client);
        let ended = tokio::time::timeout(LONG, read).await;
        // Whether it has come in time or not, it ends.
        let _ = ended.expect("no call hangs").unwrap();
        if connected && turns > 50 {
            return;
        }
    }
    panic!("it never connects");
}

#[tokio::test]
async fn a_plain_client_forgets_what_was_dropped() {
    let servers = [memcached(), memcached()];
    let build = || quick(servers.iter().map(RealMemcached::node)).max_in_flight(8);
    drop_everywhere(build().build().unwrap()).await;
    end_everywhere(build).await;
}

#[tokio::test]
async fn so_does_one_with_replicas() {
    let servers = [memcached(), memcached(), memcached()];
    let nodes = servers.iter().map(RealMemcached::node);
    // Every read is hedged at once, so that both attempts are dropped.
    let replication = Replication::new(2)
        .hedge(Hedge::After(Duration::ZERO))
        .hedge_budget(1.0, 1_000);
    drop_everywhere(quick(nodes).replicas(replication).build().unwrap()).await;
}

#[tokio::test]
async fn so_does_one_with_tls_and_credentials() {
    let authority = Authority::new("ours").unwrap();
    let identity = authority.issue(&["127.0.0.1"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let chain = write("chain.pem", &identity.chain);
    let key = write("key.pem", &identity.key);
    let users = write("users", "app:secret\n");
    let options = format!("ssl_chain_cert={chain},ssl_key={key}");
    let server = RealMemcached::start_guarded(&["-Z", "-o", &options, "-Y", &users]).unwrap();
    let build = || {
        quick([server.node()])
            .tls(Tls::new().roots(authority.pem()))
            .auth(Credentials::new("app", "secret"))
    };
    drop_everywhere(build().build().unwrap()).await;
    end_everywhere(build).await;
}
