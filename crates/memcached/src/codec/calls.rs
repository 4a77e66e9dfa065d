//! The calls of a typed view: the client's own, with a value encoded before or decoded after.

use std::fmt;
use std::hash::Hash;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use steersman_memcached_protocol::{Reply, Request, Value};

use super::error::CodecError;
use super::typed::View;
use crate::call::{
    Call, CallFuture, Get, GetMany, GetManyFuture, HasItem, Item, Write, WriteExpiry, sealed,
};
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::outcome::{Many, PerNode};

/// A write of an encoded value. It fails before it is sent if the value could not be encoded.
#[derive(Debug, Clone)]
pub struct Encoding<O> {
    operation: O,
    failed: Option<Error>,
}

impl<O> Encoding<O> {
    pub(super) fn new(operation: O, failed: Option<CodecError>) -> Self {
        let failed = failed.map(|error| {
            let detail = format!("the value {error}");
            Error::new(ErrorKind::Codec, Stage::Validation, detail).with_source(error)
        });
        Self { operation, failed }
    }
}

impl<O: sealed::Operation> sealed::Operation for Encoding<O> {
    type Output = O::Output;

    fn name(&self) -> &'static str {
        self.operation.name()
    }

    fn key(&self) -> Option<&[u8]> {
        self.operation.key()
    }

    fn request<'a>(&'a self, key: &'a [u8]) -> Result<Request<'a>> {
        match &self.failed {
            None => self.operation.request(key),
            Some(error) => Err(error.clone()),
        }
    }

    fn read(reply: Reply) -> std::result::Result<O::Output, Reply> {
        O::read(reply)
    }

    fn read_replicated(
        reply: Reply,
        replicas: PerNode<()>,
    ) -> std::result::Result<O::Output, Reply> {
        O::read_replicated(reply, replicas)
    }
}

impl<O: Write> Write for Encoding<O> {}

impl<O: WriteExpiry> WriteExpiry for Encoding<O> {}

impl<O: HasItem> HasItem for Encoding<O> {
    type Key = O::Key;

    fn item(&mut self) -> &mut Item<O::Key> {
        self.operation.item()
    }
}

/// A value with the number that tells this version of it from others, for
/// [`Typed::cas`](super::Typed::cas).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Versioned<T> {
    /// The value.
    pub value: T,
    /// The number.
    pub cas: u64,
}

/// How a view decodes a value.
type Decoder<C, T> = fn(&View<C>, Value) -> Result<T, CodecError>;

/// What a call gives whose value has come and cannot be decoded.
fn undecodable(value: Shape, error: CodecError) -> Error {
    let Shape { len, flags } = value;
    let detail = format!("the value ({len} bytes, flags {flags:#010x}) {error}");
    Error::new(ErrorKind::Codec, Stage::Decoding, detail)
        .with_source(error)
        .executed(true)
}

/// What is said of a value that cannot be decoded.
#[derive(Clone, Copy)]
struct Shape {
    len: usize,
    flags: u32,
}

impl Shape {
    fn of(value: &Value) -> Self {
        Self {
            len: value.data.len(),
            flags: value.flags,
        }
    }
}

/// A read of one value; from [`Typed::get`](super::Typed::get) and its like. Awaiting it gives the
/// value, or `None` on a miss.
#[must_use = "a call does nothing until it is awaited"]
pub struct TypedRead<K, C, T> {
    call: Call<Get<K>>,
    view: View<C>,
    decode: Decoder<C, T>,
}

impl<K, C, T> TypedRead<K, C, T> {
    pub(super) fn new(call: Call<Get<K>>, view: View<C>, decode: Decoder<C, T>) -> Self {
        Self { call, view, decode }
    }

    /// Replaces the client's time-out for this call; `None` waits for ever.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.call = self.call.timeout(timeout);
        self
    }
}

impl<K: AsRef<[u8]>, C, T> fmt::Debug for TypedRead<K, C, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedRead").field(&self.call).finish()
    }
}

impl<K: AsRef<[u8]>, C, T> IntoFuture for TypedRead<K, C, T> {
    type Output = Result<Option<T>>;
    type IntoFuture = TypedReadFuture<K, C, T>;

    fn into_future(self) -> TypedReadFuture<K, C, T> {
        TypedReadFuture {
            call: self.call.into_future(),
            view: self.view,
            decode: self.decode,
        }
    }
}

/// The future of a [`TypedRead`].
#[must_use = "futures do nothing until they are awaited"]
pub struct TypedReadFuture<K: AsRef<[u8]>, C, T> {
    call: CallFuture<Get<K>>,
    view: View<C>,
    decode: Decoder<C, T>,
}

// Neither the codec nor the value is pinned: nothing points into them.
impl<K: AsRef<[u8]>, C, T> Unpin for TypedReadFuture<K, C, T> {}

impl<K: AsRef<[u8]>, C, T> Future for TypedReadFuture<K, C, T> {
    type Output = Result<Option<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let decoded = match ready!(self.call.poll_answer(cx)) {
            Ok(Some(value)) => {
                let shape = Shape::of(&value);
                let decoded = (self.decode)(&self.view, value).map(Some);
                decoded.map_err(|error| self.call.explain_answer(undecodable(shape, error)))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        self.call.end(decoded.as_ref().err());
        Poll::Ready(decoded)
    }
}

/// A read of many values; from [`Typed::get_many`](super::Typed::get_many). Awaiting it gives
/// [`Many`].
#[must_use = "a call does nothing until it is awaited"]
pub struct TypedMany<K, C, T> {
    call: GetMany<K>,
    view: View<C>,
    decode: Decoder<C, T>,
}

impl<K, C, T> TypedMany<K, C, T> {
    pub(super) fn new(call: GetMany<K>, view: View<C>, decode: Decoder<C, T>) -> Self {
        Self { call, view, decode }
    }

    /// Replaces the client's time-out for the whole call; `None` waits for ever. Keys that were
    /// answered in time are found all the same.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.call = self.call.timeout(timeout);
        self
    }
}

impl<K, C, T> fmt::Debug for TypedMany<K, C, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedMany").field(&self.call).finish()
    }
}

impl<K: AsRef<[u8]> + Eq + Hash, C, T> IntoFuture for TypedMany<K, C, T> {
    type Output = Many<K, T>;
    type IntoFuture = TypedManyFuture<K, C, T>;

    fn into_future(self) -> TypedManyFuture<K, C, T> {
        TypedManyFuture {
            call: self.call.into_future(),
            view: self.view,
            decode: self.decode,
        }
    }
}

/// The future of a [`TypedMany`].
#[must_use = "futures do nothing until they are awaited"]
pub struct TypedManyFuture<K, C, T> {
    call: GetManyFuture<K>,
    view: View<C>,
    decode: Decoder<C, T>,
}

// Neither the codec nor the values are pinned: nothing points into them.
impl<K, C, T> Unpin for TypedManyFuture<K, C, T> {}

impl<K: Eq + Hash, C, T> Future for TypedManyFuture<K, C, T> {
    type Output = Many<K, T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Many<K, T>> {
        let (answers, mut watch) = ready!(self.call.poll_answers(cx));
        let decoded: Vec<_> = answers
            .into_iter()
            .map(|(key, answer)| {
                let decoded = answer.and_then(|value| {
                    let Some(value) = value else {
                        return Ok(None);
                    };
                    let shape = Shape::of(&value);
                    let decoded = (self.decode)(&self.view, value).map(Some);
                    decoded.map_err(|error| undecodable(shape, error).asked("get_many"))
                });
                (key, decoded)
            })
            .collect();
        watch.end_many(decoded.iter().map(|(_, result)| result));
        Poll::Ready(Many::of(decoded))
    }
}
