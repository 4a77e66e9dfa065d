//! Somebody who is told what a server executes, to compare it with what its clients believe.

use std::fmt;

use steersman_memcached_protocol::server::Request;

/// Is told what a [`Server`](crate::Server) executes, in the order in which it does: what is really stored
/// and read, whatever becomes of the replies on their way.
///
/// Given to [`Builder::witness`](crate::Builder::witness). It is called under the server's lock, so nothing
/// in it may use the server. A request that a [`Script`](crate::Script) answers is not executed.
pub trait Witness: fmt::Debug + Send + Sync + 'static {
    /// A key of a `get`, `gets`, `gat` or `gats` was looked up; `value` is what was found.
    fn read(&self, key: &[u8], value: Option<&[u8]>);

    /// Another request was executed, with this reply, which is not sent if nobody wants one.
    fn executed(&self, request: &Request, reply: &[u8]);
}
