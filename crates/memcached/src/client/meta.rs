//! The meta commands, which do what the others do and more, told by flags.

use steersman_memcached_protocol::meta;

use super::Client;
use crate::call::{Call, Meta, MetaArithmetic, MetaDelete, MetaGet, MetaInspect, MetaSet};
use crate::value::IntoValue;

/// The meta commands.
///
/// Each takes a function that sets the command's flags, and gives a [`meta::Reply`] with what the
/// flags asked for. A negative answer, such as a miss, is a [status](meta::Status) and no error.
///
/// - Keys may be any bytes. What the classic commands do not take is sent in base64, up to 186 bytes,
///   and needs memcached 1.6.10.
/// - The server's version is asked before the first of them on a connection. A command or flag that
///   the server lacks is [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported), and nothing is
///   sent; but what a classic command can do as well is done by that.
/// - A key that is asked for in the reply is the caller's, whatever the client's
///   [prefix](crate::Builder::key_prefix) and whether or not it is sent as a digest.
/// - They speak to the key's owner alone: with [replicas](crate::Builder::replicas) the other copies
///   neither learn of a change nor are read. Use them on keys that the other commands do not touch.
impl Client {
    /// Reads an item (`mg`): what is asked for of it, and nothing by itself.
    ///
    /// ```no_run
    /// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
    /// use steersman_memcached::meta::Ttl;
    ///
    /// let reply = client.meta_get("user:7", |get| get.value().ttl().no_bump()).await?;
    /// if let (Some(value), Some(Ttl::Seconds(left))) = (reply.value, reply.ttl) {
    ///     println!("{} bytes, for another {left} s", value.len());
    /// }
    /// # Ok(()) }
    /// ```
    pub fn meta_get<K, F>(&self, key: K, flags: F) -> Call<Meta<K, MetaGet<F>>>
    where
        K: AsRef<[u8]>,
        F: Fn(meta::Get<'_>) -> meta::Get<'_>,
    {
        self.call(Meta::new(key, MetaGet::new(flags)))
    }

    /// Stores an item (`ms`), without client flags and for ever unless told otherwise.
    ///
    /// ```no_run
    /// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
    /// use std::time::Duration;
    /// use steersman_memcached::{Expires, meta::Status};
    ///
    /// let minute = Expires::In(Duration::from_secs(60));
    /// let reply = client.meta_set("user:7", "Ada", |set| set.if_cas(7).expires(minute)).await?;
    /// assert_ne!(reply.status, Status::Exists, "somebody has changed it");
    /// # Ok(()) }
    /// ```
    pub fn meta_set<K, F>(
        &self,
        key: K,
        value: impl IntoValue,
        flags: F,
    ) -> Call<Meta<K, MetaSet<F>>>
    where
        K: AsRef<[u8]>,
        F: Fn(meta::Set<'_>) -> meta::Set<'_>,
    {
        let data = value.into_value();
        self.call(Meta::new(key, MetaSet::new(data, flags)))
    }

    /// Removes an item or marks it stale (`md`).
    pub fn meta_delete<K, F>(&self, key: K, flags: F) -> Call<Meta<K, MetaDelete<F>>>
    where
        K: AsRef<[u8]>,
        F: Fn(meta::Delete<'_>) -> meta::Delete<'_>,
    {
        self.call(Meta::new(key, MetaDelete::new(flags)))
    }

    /// Adds to a number (`ma`), wrapping around at 2^64; it can be made if it is not there.
    ///
    /// ```no_run
    /// # async fn example(client: steersman_memcached::Client) -> steersman_memcached::Result<()> {
    /// use steersman_memcached::Expires;
    ///
    /// let count = client
    ///     .meta_increment("visits", 1, |add| add.initial(1, Expires::Never).return_value())
    ///     .await?;
    /// println!("visit {}", count.number().unwrap_or_default());
    /// # Ok(()) }
    /// ```
    pub fn meta_increment<K, F>(
        &self,
        key: K,
        delta: u64,
        flags: F,
    ) -> Call<Meta<K, MetaArithmetic<F>>>
    where
        K: AsRef<[u8]>,
        F: Fn(meta::Arithmetic<'_>) -> meta::Arithmetic<'_>,
    {
        let down = false;
        self.call(Meta::new(key, MetaArithmetic { delta, down, flags }))
    }

    /// Subtracts from a number (`ma` in mode `D`), stopping at 0; otherwise as
    /// [`meta_increment`](Self::meta_increment).
    pub fn meta_decrement<K, F>(
        &self,
        key: K,
        delta: u64,
        flags: F,
    ) -> Call<Meta<K, MetaArithmetic<F>>>
    where
        K: AsRef<[u8]>,
        F: Fn(meta::Arithmetic<'_>) -> meta::Arithmetic<'_>,
    {
        let down = true;
        self.call(Meta::new(key, MetaArithmetic { delta, down, flags }))
    }

    /// Asks what the server keeps about an item (`me`), for people to look at: it is in
    /// [`Reply::item`](meta::Reply::item).
    pub fn meta_inspect<K: AsRef<[u8]>>(&self, key: K) -> Call<Meta<K, MetaInspect>> {
        self.call(Meta::new(key, MetaInspect))
    }
}
