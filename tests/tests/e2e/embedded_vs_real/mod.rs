//! The embedded server against the real memcached: the same bytes, and the same bytes back.
//!
//! Replies are compared byte for byte, CAS numbers included. The exceptions:
//!
//! - The values of most statistics differ: `stats` is compared by the names it reports, and by the
//!   values of those counters that a session determines.
//! - Every step ends with its reply. In a pipeline memcached drops replies that are due when a
//!   later `get` has a key that is too long, and does not pad a counter whose old value is on its
//!   way; the embedded server does neither.
//! - To count from a value of nothing but white space memcached reads on behind it, and may find a
//!   number there; here it is no number.
//! - `gat` with a key that is too long has touched the keys before it in memcached.
//! - What the embedded server does not have: the binary protocol,
//!   `bget`, `watch`, `lru`, `lru_crawler`, `slabs`, `refresh_certs`, `extstore`, `stats conns`,
//!   `stats sizes_enable`, and statistics by key prefix.
//! - Eviction, whose order depends on memcached's slab classes.

use std::io;

use steersman_e2e::memcached::RealMemcached;
use steersman_testkit::Server;

mod meta;
mod random;
mod script;
mod session;
mod statistics;

use session::Session;

/// Both servers, fresh.
///
/// memcached's maintenance of the LRU is off: from another thread it holds items for a while, and
/// a counter is not padded while somebody holds its item.
async fn servers() -> io::Result<(RealMemcached, Server)> {
    let real = RealMemcached::start_with(&["-o", "no_lru_maintainer,no_lru_crawler"])?;
    Ok((real, Server::start().await?))
}

/// Plays the steps to both servers and compares the replies.
async fn compare(
    real: &RealMemcached,
    embedded: &Server,
    steps: impl IntoIterator<Item = Vec<u8>>,
) -> io::Result<usize> {
    let mut real = Session::connect(real.addr()).await?;
    let mut embedded = Session::connect(embedded.addr()).await?;
    let mut played = 0;
    let mut differences = Vec::new();
    for step in steps {
        let (expected, found) = (real.play(&step).await?, embedded.play(&step).await?);
        if expected != found {
            differences.push(format!(
                "{}\n   memcached: {expected}\n    embedded: {found}",
                session::show(&step)
            ));
        }
        played += 1;
    }
    let count = differences.len();
    differences.truncate(10);
    assert!(
        count == 0,
        "{count} of {played} replies differ:\n{}",
        differences.join("\n")
    );
    Ok(played)
}

#[tokio::test]
async fn scripted_sessions_get_the_same_replies() -> io::Result<()> {
    let (real, embedded) = servers().await?;
    let played = compare(&real, &embedded, script::steps()).await?;
    assert!(played > 300, "only {played} steps were played");
    Ok(())
}

#[tokio::test]
async fn random_sessions_get_the_same_replies() -> io::Result<()> {
    for seed in 0..8 {
        let (real, embedded) = servers().await?;
        println!("seed {seed}");
        compare(&real, &embedded, random::steps(seed).take(1500)).await?;
    }
    Ok(())
}

#[tokio::test]
async fn endless_lines_are_hung_up_on_alike() -> io::Result<()> {
    let (real, embedded) = servers().await?;
    for bytes in script::endless() {
        let expected = Session::connect(real.addr())
            .await?
            .play_to_the_end(&bytes)
            .await?;
        let found = Session::connect(embedded.addr())
            .await?
            .play_to_the_end(&bytes)
            .await?;
        assert_eq!(
            found.to_string(),
            expected.to_string(),
            "{}",
            session::show(&bytes)
        );
    }
    Ok(())
}
