//! What a client asks by a meta command.

use bytes::Bytes;
use steersman_memcached_protocol::server::{Command, MetaRequest};
use steersman_memcached_protocol::{Expiry, Key, meta};

use super::expiry;

/// A meta command, its flags as the server reads them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MetaAsked {
    name: Name,
    pub(crate) key: Bytes,
    is_binary: bool,
    data: Bytes,
    /// The letters of the flags that ask for something in the reply, sorted.
    returns: Vec<u8>,
    pub(crate) opaque: Option<u32>,
    no_bump: bool,
    invalidate: bool,
    vivify: Option<Expiry>,
    touch: Option<Expiry>,
    recache: Option<u32>,
    cas: Option<u64>,
    client_flags: u32,
    delta: u64,
    initial: u64,
    mode: u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Name {
    Get,
    Set,
    Delete,
    Arithmetic,
    Inspect,
    Noop,
}

impl MetaAsked {
    /// What a command asks; `None` if it is none, or has flags that the client does not send with it.
    pub(super) fn of(command: Command) -> Option<Self> {
        let (name, request, data) = match command {
            Command::MetaGet(request) => (Name::Get, *request, Bytes::new()),
            Command::MetaSet { request, value } => (Name::Set, *request, value),
            Command::MetaDelete(request) => (Name::Delete, *request, Bytes::new()),
            Command::MetaArithmetic(request) => (Name::Arithmetic, *request, Bytes::new()),
            Command::MetaDebug { key } => return Some(Self::bare(Name::Inspect, key)),
            Command::MetaNoop => return Some(Self::bare(Name::Noop, Bytes::new())),
            _ => return None,
        };
        let (known, returned): (&[u8], &[u8]) = match name {
            Name::Get => (b"bNRvfctshlkuOCT", b"vfctshlk"),
            Name::Set => (b"bckOCFINTM", b"ck"),
            Name::Delete => (b"bkOCIT", b"k"),
            _ => (b"bvctkOCJNTDM", b"vctk"),
        };
        let mut letters = request.flags().map(|(letter, _)| letter);
        letters
            .all(|letter| known.contains(&letter))
            .then_some(())?;
        Self::with_flags(name, &request, data, returned)
    }

    fn bare(name: Name, key: Bytes) -> Self {
        Self {
            name,
            // In base64 they are told from others on the wire alone.
            is_binary: name == Name::Inspect && Key::new(&key).is_err(),
            key,
            data: Bytes::new(),
            returns: Vec::new(),
            opaque: None,
            no_bump: false,
            invalidate: false,
            vivify: None,
            touch: None,
            recache: None,
            cas: None,
            client_flags: 0,
            delta: 1,
            initial: 0,
            mode: 0,
        }
    }

    fn with_flags(name: Name, request: &MetaRequest, data: Bytes, returned: &[u8]) -> Option<Self> {
        let mut returns = Vec::new();
        let mut opaque = None;
        for (letter, word) in request.flags() {
            if letter == b'O' {
                let digits = str::from_utf8(&word[1..]).ok()?;
                opaque = Some(digits.parse().ok()?);
            }
            // The client does not ask for a binary key back where the server may send it bare.
            let is_sent = letter != b'k' || name != Name::Get || !request.is_binary;
            if returned.contains(&letter) && is_sent {
                returns.push(letter);
            }
        }
        returns.sort_unstable();
        let recache = request.recache.map(u32::try_from).transpose().ok()?;
        let mode = match (name, request.mode) {
            (Name::Set, Some(b'S') | None) => b'S',
            (Name::Arithmetic, Some(b'I' | b'+') | None) => b'I',
            (Name::Arithmetic, _) => b'D',
            (Name::Set, Some(mode)) => mode,
            _ => 0,
        };
        Some(Self {
            name,
            key: request.key.clone(),
            is_binary: request.is_binary,
            data,
            returns,
            opaque,
            no_bump: request.no_bump,
            invalidate: request.invalidate,
            vivify: request.vivify.map(expiry),
            touch: request.exptime.map(expiry),
            recache,
            cas: request.cas,
            client_flags: request.client_flags,
            delta: request.delta,
            initial: request.initial,
            mode,
        })
    }

    /// Whether the other one, read from what the client wrote for this one, asks the same. What the client
    /// leaves out because it changes nothing does not count.
    pub(crate) fn means(&self, other: &Self) -> bool {
        let told = |asked: &Self| {
            let flags = if asked.name == Name::Set {
                asked.client_flags
            } else {
                0
            };
            (asked.name, asked.opaque, asked.cas, asked.mode, flags)
        };
        told(self) == told(other)
            && self.key == other.key
            && self.data == other.data
            && self.returns == other.returns
    }

    /// The client's command; `None` if no client may send the key.
    pub(super) fn with_command<R>(&self, then: impl FnOnce(meta::Command<'_>) -> R) -> Option<R> {
        if self.name == Name::Noop {
            return Some(then(meta::Command::Noop));
        }
        let key: meta::MetaKey<'_> = if self.is_binary {
            meta::BinaryKey::new(&self.key).ok()?.into()
        } else {
            Key::new(&self.key).ok()?.into()
        };
        let command = match self.name {
            Name::Get => self.get(key).into(),
            Name::Set => self.set(key)?.into(),
            Name::Delete => self.delete(key).into(),
            Name::Arithmetic => self.arithmetic(key).into(),
            Name::Inspect | Name::Noop => meta::Command::Inspect(key),
        };
        Some(then(command))
    }

    fn get<'a>(&self, key: meta::MetaKey<'a>) -> meta::Get<'a> {
        let mut get = meta::Get::new(key);
        for letter in &self.returns {
            get = match letter {
                b'v' => get.value(),
                b'f' => get.client_flags(),
                b'c' => get.cas(),
                b't' => get.ttl(),
                b's' => get.size(),
                b'h' => get.hit_before(),
                b'l' => get.last_access(),
                _ => get.return_key(),
            };
        }
        if self.no_bump {
            get = get.no_bump();
        }
        get = self.vivify.into_iter().fold(get, meta::Get::vivify);
        get = self.touch.into_iter().fold(get, meta::Get::touch);
        get = self.recache.into_iter().fold(get, meta::Get::recache_below);
        get = self.cas.into_iter().fold(get, meta::Get::unless_cas);
        self.opaque.into_iter().fold(get, meta::Get::opaque)
    }

    fn set<'a>(&'a self, key: meta::MetaKey<'a>) -> Option<meta::Set<'a>> {
        let mode = match self.mode {
            b'S' => meta::SetMode::Set,
            b'E' => meta::SetMode::Add,
            b'R' => meta::SetMode::Replace,
            b'A' => meta::SetMode::Append,
            b'P' => meta::SetMode::Prepend,
            _ => return None,
        };
        let mut set = meta::Set::new(key, &self.data)
            .mode(mode)
            .client_flags(self.client_flags);
        for letter in &self.returns {
            set = match letter {
                b'c' => set.return_cas(),
                _ => set.return_key(),
            };
        }
        if self.invalidate {
            set = set.invalidate();
        }
        set = self.vivify.into_iter().fold(set, meta::Set::vivify);
        set = self.touch.into_iter().fold(set, meta::Set::expires);
        set = self.cas.into_iter().fold(set, meta::Set::if_cas);
        Some(self.opaque.into_iter().fold(set, meta::Set::opaque))
    }

    fn delete<'a>(&self, key: meta::MetaKey<'a>) -> meta::Delete<'a> {
        let mut delete = meta::Delete::new(key);
        if self.returns.contains(&b'k') {
            delete = delete.return_key();
        }
        if self.invalidate {
            delete = delete.invalidate(self.touch);
        }
        delete = self.cas.into_iter().fold(delete, meta::Delete::if_cas);
        self.opaque.into_iter().fold(delete, meta::Delete::opaque)
    }

    fn arithmetic<'a>(&self, key: meta::MetaKey<'a>) -> meta::Arithmetic<'a> {
        let mut sum = if self.mode == b'D' {
            meta::Arithmetic::decrement(key, self.delta)
        } else {
            meta::Arithmetic::increment(key, self.delta)
        };
        for letter in &self.returns {
            sum = match letter {
                b'v' => sum.return_value(),
                b'c' => sum.return_cas(),
                b't' => sum.return_ttl(),
                _ => sum.return_key(),
            };
        }
        if let Some(expiry) = self.vivify {
            sum = sum.initial(self.initial, expiry);
        }
        sum = self.touch.into_iter().fold(sum, meta::Arithmetic::touch);
        sum = self.cas.into_iter().fold(sum, meta::Arithmetic::if_cas);
        self.opaque.into_iter().fold(sum, meta::Arithmetic::opaque)
    }
}
