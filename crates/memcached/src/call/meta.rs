//! The meta commands, which are configured by the flags of the protocol's builders.

use bytes::Bytes;
use steersman_memcached_protocol::meta::{self, BinaryKey, Command, MetaKey};
use steersman_memcached_protocol::{Key, KeyError, Reply, Request};

use super::sealed;
use crate::error::{Error, ErrorKind, Result, Stage};
use crate::keys::invalid_key;

/// A meta command of one key.
#[derive(Debug, Clone)]
pub struct Meta<K, B> {
    key: K,
    build: B,
    /// The server has no meta commands: the classic command of the same effect is sent, if there is
    /// one.
    classic: bool,
}

/// How a meta command is made once its key is known. Implemented by this crate's types only.
pub trait MetaBuild: build::Build {}

impl<B: build::Build> MetaBuild for B {}

pub(crate) mod build {
    use super::{Command, MetaKey};

    pub trait Build {
        /// The name of the client's method.
        fn name(&self) -> &'static str;

        fn build<'a>(&'a self, key: MetaKey<'a>) -> Command<'a>;
    }
}

impl<K, B> Meta<K, B> {
    pub(crate) fn new(key: K, build: B) -> Self {
        Self {
            key,
            build,
            classic: false,
        }
    }
}

impl<K: AsRef<[u8]>, B: build::Build> Meta<K, B> {
    fn command<'a>(&'a self, sent: &'a [u8]) -> Result<Command<'a>> {
        let key = meta_key(sent)?;
        let command = self.build.build(key);
        // The owner of the one key is asked, and another may own the other.
        if command.key() != Some(key) {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                Stage::Validation,
                "the command was made for another key: return the builder that was handed over",
            ));
        }
        Ok(command)
    }
}

/// The key as it is, if the classic commands take it, and in base64 otherwise: the server keeps the
/// same bytes either way.
fn meta_key(bytes: &[u8]) -> Result<MetaKey<'_>> {
    let key = match Key::new(bytes) {
        Ok(key) => Ok(key.into()),
        Err(error @ (KeyError::Empty | KeyError::TooLong { .. })) => Err(error),
        Err(_) => BinaryKey::new(bytes).map(MetaKey::from),
    };
    key.map_err(invalid_key)
}

impl<K: AsRef<[u8]>, B: build::Build> sealed::Operation for Meta<K, B> {
    type Output = meta::Reply;

    fn name(&self) -> &'static str {
        self.build.name()
    }

    fn key(&self) -> Option<&[u8]> {
        Some(self.key.as_ref())
    }

    fn request<'a>(&'a self, key: &'a [u8]) -> Result<Request<'a>> {
        let command = self.command(key)?;
        let classic = command.classic().filter(|_| self.classic);
        Ok(classic.unwrap_or(Request::Meta(command)))
    }

    /// Whether there is a classic command depends on the key that is sent: without one the meta
    /// command is made, and refused, once more.
    fn fall_back(&mut self) -> bool {
        !std::mem::replace(&mut self.classic, true)
    }

    fn read(reply: Reply) -> std::result::Result<meta::Reply, Reply> {
        match reply {
            Reply::Meta(reply) => Ok(*reply),
            classic => meta::Reply::from_classic(classic),
        }
    }

    /// The key in a reply is the one that was sent: under the client's prefix, or a digest.
    fn in_own_words(&self, mut reply: meta::Reply) -> meta::Reply {
        let own = self.key.as_ref();
        if reply.key.as_ref().is_some_and(|sent| sent != own) {
            reply.key = Some(Bytes::copy_from_slice(own));
        }
        reply
    }
}

/// Reads an item with the flags that a function sets.
#[derive(Debug, Clone)]
pub struct MetaGet<F>(F);

impl<F: Fn(meta::Get<'_>) -> meta::Get<'_>> MetaGet<F> {
    pub(crate) fn new(flags: F) -> Self {
        Self(flags)
    }
}

impl<F: Fn(meta::Get<'_>) -> meta::Get<'_>> build::Build for MetaGet<F> {
    fn name(&self) -> &'static str {
        "meta_get"
    }

    fn build<'a>(&'a self, key: MetaKey<'a>) -> Command<'a> {
        // Whose a value is shows by nothing else in the reply.
        (self.0)(meta::Get::new(key)).attributed().into()
    }
}

/// Stores an item with the flags that a function sets.
#[derive(Debug, Clone)]
pub struct MetaSet<F> {
    data: Bytes,
    flags: F,
}

impl<F: Fn(meta::Set<'_>) -> meta::Set<'_>> MetaSet<F> {
    pub(crate) fn new(data: Bytes, flags: F) -> Self {
        Self { data, flags }
    }
}

impl<F: Fn(meta::Set<'_>) -> meta::Set<'_>> build::Build for MetaSet<F> {
    fn name(&self) -> &'static str {
        "meta_set"
    }

    fn build<'a>(&'a self, key: MetaKey<'a>) -> Command<'a> {
        (self.flags)(meta::Set::new(key, &self.data)).into()
    }
}

/// Removes an item, or marks it stale, with the flags that a function sets.
#[derive(Debug, Clone)]
pub struct MetaDelete<F>(F);

impl<F: Fn(meta::Delete<'_>) -> meta::Delete<'_>> MetaDelete<F> {
    pub(crate) fn new(flags: F) -> Self {
        Self(flags)
    }
}

impl<F: Fn(meta::Delete<'_>) -> meta::Delete<'_>> build::Build for MetaDelete<F> {
    fn name(&self) -> &'static str {
        "meta_delete"
    }

    fn build<'a>(&'a self, key: MetaKey<'a>) -> Command<'a> {
        (self.0)(meta::Delete::new(key)).into()
    }
}

/// Counts up or down with the flags that a function sets.
#[derive(Debug, Clone)]
pub struct MetaArithmetic<F> {
    pub(crate) delta: u64,
    pub(crate) down: bool,
    pub(crate) flags: F,
}

impl<F: Fn(meta::Arithmetic<'_>) -> meta::Arithmetic<'_>> build::Build for MetaArithmetic<F> {
    fn name(&self) -> &'static str {
        if self.down {
            "meta_decrement"
        } else {
            "meta_increment"
        }
    }

    fn build<'a>(&'a self, key: MetaKey<'a>) -> Command<'a> {
        let change = if self.down {
            meta::Arithmetic::decrement(key, self.delta)
        } else {
            meta::Arithmetic::increment(key, self.delta)
        };
        (self.flags)(change).into()
    }
}

/// Asks what the server keeps about an item.
#[derive(Debug, Clone, Copy)]
pub struct MetaInspect;

impl build::Build for MetaInspect {
    fn name(&self) -> &'static str {
        "meta_inspect"
    }

    fn build<'a>(&'a self, key: MetaKey<'a>) -> Command<'a> {
        Command::Inspect(key)
    }
}

/// Does nothing at a node, and is answered.
#[derive(Debug, Clone, Copy, Default)]
pub struct MetaNoop {
    classic: bool,
}

impl sealed::Operation for MetaNoop {
    type Output = ();

    fn name(&self) -> &'static str {
        "meta_noop"
    }

    fn key(&self) -> Option<&[u8]> {
        None
    }

    fn request<'a>(&'a self, _: &'a [u8]) -> Result<Request<'a>> {
        let noop = Command::Noop;
        let classic = noop.classic().filter(|_| self.classic);
        Ok(classic.unwrap_or(Request::Meta(noop)))
    }

    fn fall_back(&mut self) -> bool {
        !std::mem::replace(&mut self.classic, true)
    }

    fn read(reply: Reply) -> std::result::Result<(), Reply> {
        match reply {
            Reply::Meta(_) | Reply::Version(_) => Ok(()),
            other => Err(other),
        }
    }
}
