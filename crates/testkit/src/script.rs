//! Replies that the test writes instead of the server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::fault::Times;
use crate::lock;

/// Answers given in place of the server's own: error lines, garbage, anything.
///
/// An answer is sent as it is: a line needs its `\r\n`. The request it answers is read, with its
/// data block, but not executed. `quit` is never answered.
///
/// ```
/// use std::io::{Read, Write};
/// use steersman_testkit::{Server, Times};
///
/// # #[tokio::main] async fn main() -> std::io::Result<()> {
/// let server = Server::start().await?;
/// server.script().answer(Times::Next(1), "SERVER_ERROR out of memory\r\n");
///
/// let mut client = std::net::TcpStream::connect(server.addr())?;
/// client.write_all(b"get a\r\nget a\r\nquit\r\n")?;
/// let mut replies = String::new();
/// client.read_to_string(&mut replies)?;
/// assert_eq!(replies, "SERVER_ERROR out of memory\r\nEND\r\n");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Script {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    plan: Mutex<Plan>,
    is_active: AtomicBool,
}

#[derive(Debug, Default)]
struct Plan {
    answer: Option<(Times, Bytes)>,
    after_noreply: Option<(Times, Bytes)>,
}

impl Script {
    /// Answers the next requests that expect a reply with these bytes.
    ///
    /// ```
    /// # use steersman_testkit::{Server, Times};
    /// # fn example(server: &Server) {
    /// // Everything fails until further notice.
    /// server.script().answer(Times::Always, "SERVER_ERROR out of memory\r\n");
    /// // The next reply is no memcached protocol.
    /// server.script().answer(Times::Next(1), &b"\x16\x03\x01\x00\xff"[..]);
    /// # }
    /// ```
    pub fn answer(&self, times: Times, reply: impl Into<Bytes>) {
        let reply = reply.into();
        self.change(|plan| plan.answer = (times != Times::NEVER).then_some((times, reply)));
    }

    /// Sends these bytes after the next requests that said `noreply`, which are executed. The
    /// server may answer such a request with an error: nobody may take it for another's reply.
    ///
    /// ```
    /// # use steersman_testkit::{Server, Times};
    /// # fn example(server: &Server) {
    /// server.script().answer_noreply(Times::Next(1), "SERVER_ERROR out of memory\r\n");
    /// # }
    /// ```
    pub fn answer_noreply(&self, times: Times, reply: impl Into<Bytes>) {
        let reply = reply.into();
        self.change(|plan| plan.after_noreply = (times != Times::NEVER).then_some((times, reply)));
    }

    /// Lets the server answer for itself again.
    pub fn clear(&self) {
        self.change(|plan| *plan = Plan::default());
    }

    fn change(&self, change: impl FnOnce(&mut Plan)) {
        let mut plan = lock(&self.inner.plan);
        change(&mut plan);
        let is_active = plan.answer.is_some() || plan.after_noreply.is_some();
        self.inner.is_active.store(is_active, Ordering::Release);
    }

    /// What to answer the next request with, if not with its own reply.
    pub(crate) fn next_answer(&self) -> Option<Bytes> {
        self.take(|plan| &mut plan.answer)
    }

    /// What to send after a request that wanted no reply.
    pub(crate) fn next_after_noreply(&self) -> Option<Bytes> {
        self.take(|plan| &mut plan.after_noreply)
    }

    fn take(&self, which: impl FnOnce(&mut Plan) -> &mut Option<(Times, Bytes)>) -> Option<Bytes> {
        if !self.inner.is_active.load(Ordering::Acquire) {
            return None;
        }
        let mut plan = lock(&self.inner.plan);
        let (times, reply) = which(&mut plan).as_mut()?;
        times.take().then(|| reply.clone())
    }
}
