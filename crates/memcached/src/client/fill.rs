//! Cache-aside reads.

use std::sync::Arc;
use std::time::Duration;

use super::Client;
use crate::call::Call;
use crate::expires::Expires;
use crate::fill::{GetOrFill, Invalidate};

/// Cache-aside reads.
impl Client {
    /// Reads a value, and loads it if it is not cached. Of all callers in all processes that miss a key
    /// at the same time one loads it; the others wait for that.
    ///
    /// ```
    /// use std::time::Duration;
    /// use steersman_memcached::{Client, Origin};
    /// use steersman_testkit::Server;
    ///
    /// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::start().await?;
    /// let client = Client::builder().node(server.node()).build()?;
    ///
    /// let read = || client.get_or_fill("user:7").expires_in(Duration::from_secs(300));
    /// let user = read().load(|| async { std::fs::read("/dev/null") }).await?;
    /// assert_eq!(user.origin, Origin::Loaded { stored: true });
    /// let user = read().load(|| async { std::fs::read("/dev/null") }).await?;
    /// assert_eq!(user.origin, Origin::Cached);
    /// # Ok(()) }
    /// ```
    ///
    /// What is promised, and what is not:
    ///
    /// - While the lease of a caller lasts, nobody else loads the key by `get_or_fill`. A caller that
    ///   fails, panics or is dropped gives its lease back; one whose process dies keeps it to its end.
    /// - A loaded value is stored only if the key was neither written, deleted nor
    ///   [invalidated](Self::invalidate) meanwhile: what was loaded before a change does not stay
    ///   behind it.
    /// - A value that is evicted or expires during a load may be loaded twice.
    /// - While a value is loaded for the first time, [`get`](Self::get) finds an empty value under the
    ///   key. Read it by `get_or_fill` only, or by [`meta_get`](Self::meta_get), which tells it by
    ///   [`Reply::recaching`](steersman_memcached_protocol::meta::Reply::recaching).
    /// - Values may be empty. While one without flags is refreshed, others wait instead of going on with
    ///   it, and if the refresh fails it is gone.
    ///
    /// It needs memcached 1.6.0, or it fails with
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported): the classic commands have no lease
    /// that a value could replace without a gap. Like the other meta commands it speaks to the key's
    /// owner alone.
    pub fn get_or_fill<K: AsRef<[u8]>>(&self, key: K) -> GetOrFill<K> {
        GetOrFill::new(Arc::clone(&self.shared), key)
    }

    /// Marks a value stale, so that the next [`get_or_fill`](Self::get_or_fill) loads it anew; gives
    /// whether the key exists.
    ///
    /// The old value is kept for `grace`, rounded up to whole seconds, for those who take a
    /// [stale one](GetOrFill::stale_while_revalidate). Whoever wants none [deletes](Self::delete) it.
    /// Others than `get_or_fill` do not see that it is stale. What is being loaded at the moment is not
    /// stored.
    pub fn invalidate<K: AsRef<[u8]>>(&self, key: K, grace: Duration) -> Call<Invalidate<K>> {
        self.call(Invalidate::new(key, Expires::In(grace)))
    }
}
