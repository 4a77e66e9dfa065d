//! What is asked, of few keys, so that requests meet.

use arbitrary::Arbitrary;
use bytes::Bytes;
use steersman_memcached_protocol::{Expiry, Key, ReadKind, Request, StoreVerb, meta};

/// One is the beginning of another, and one fills a line soon.
const KEYS: [&str; 6] = [
    "a",
    "ab",
    "b",
    "key:1",
    "key:12",
    "a-key-that-is-so-long-that-a-line-of-few-of-them-is-full:0123456789:0123456789:0123456789",
];

/// One request. A key is the number of one.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Ask {
    Read(Kind, u8),
    /// A value of about so many bytes.
    Set(u8, u16),
    Add(u8, u8),
    Append(u8, u8),
    Delete(u8),
    Increment(u8, u8),
    Touch(u8),
    Version,
    Flush,
    MetaGet(Flags, u8),
    MetaSet(Flags, u8, u8),
    MetaDelete(Flags, u8),
    MetaNoop,
}

/// How a key is read.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Get,
    Gets,
    Gat,
    Gats,
}

/// What a meta command asks back.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) struct Flags {
    pub(super) key: bool,
    pub(super) opaque: Option<u8>,
    pub(super) value: bool,
    pub(super) cas: bool,
}

impl Flags {
    /// Whether a reply that belongs to another key can't pass.
    pub(super) fn are_checked(self) -> bool {
        self.key
    }
}

impl Kind {
    pub(super) fn read_kind(self) -> ReadKind {
        match self {
            Self::Get => ReadKind::Get,
            Self::Gets => ReadKind::Gets,
            Self::Gat => ReadKind::GetAndTouch(Expiry::NEVER),
            Self::Gats => ReadKind::GetsAndTouch(Expiry::NEVER),
        }
    }
}

pub(super) fn key(number: u8) -> &'static str {
    KEYS[usize::from(number) % KEYS.len()]
}

impl Ask {
    /// The key that it is about.
    pub(super) fn key(self) -> Option<&'static str> {
        match self {
            Self::Read(_, number)
            | Self::Set(number, _)
            | Self::Add(number, _)
            | Self::Append(number, _)
            | Self::Delete(number)
            | Self::Increment(number, _)
            | Self::Touch(number)
            | Self::MetaGet(_, number)
            | Self::MetaSet(_, number, _)
            | Self::MetaDelete(_, number) => Some(key(number)),
            Self::Version | Self::Flush | Self::MetaNoop => None,
        }
    }

    /// What it stores: the key over and over, line ends and what looks like replies between.
    pub(super) fn data(self) -> Bytes {
        let length = match self {
            // From 8 KiB on values are shared; few are, since they take long.
            Self::Set(_, length) if length % 16 == 15 => 8_000 + length % 500,
            Self::Set(_, length) => length % 300,
            Self::Add(_, length) | Self::Append(_, length) | Self::MetaSet(_, _, length) => {
                length.into()
            }
            _ => 0,
        };
        data(self.key().unwrap_or_default(), length.into())
    }

    pub(super) fn with_request<R>(self, then: impl FnOnce(&Request<'_>) -> R) -> R {
        let data = self.data();
        let key = Key::new(self.key().unwrap_or("none").as_bytes()).expect("a valid key");
        let request = match self {
            Self::Read(kind @ (Kind::Get | Kind::Gets), _) => Request::Get {
                key,
                cas: kind == Kind::Gets,
            },
            Self::Read(kind, _) => Request::GetAndTouch {
                key,
                expiry: Expiry::NEVER,
                cas: kind == Kind::Gats,
            },
            Self::Set(..) => store(StoreVerb::Set, key, &data),
            Self::Add(..) => store(StoreVerb::Add, key, &data),
            Self::Append(..) => store(StoreVerb::Append, key, &data),
            Self::Delete(_) => Request::Delete { key },
            Self::Increment(_, delta) => Request::Increment {
                key,
                delta: delta.into(),
            },
            Self::Touch(_) => Request::Touch {
                key,
                expiry: Expiry::NEVER,
            },
            Self::Version => Request::Version,
            Self::Flush => Request::FlushAll { delay: None },
            Self::MetaGet(flags, _) => Request::Meta(meta_get(flags, key).into()),
            Self::MetaSet(flags, ..) => Request::Meta(meta_set(flags, key, &data).into()),
            Self::MetaDelete(flags, _) => Request::Meta(meta_delete(flags, key).into()),
            Self::MetaNoop => Request::Meta(meta::Command::Noop),
        };
        then(&request)
    }

    /// Whether its reply may go to nobody.
    pub(super) fn may_be_quiet(self) -> bool {
        !matches!(
            self,
            Self::Read(..) | Self::Version | Self::MetaGet(..) | Self::MetaNoop
        )
    }
}

/// What is stored under a key begins with it.
pub(super) fn data(key: &str, length: usize) -> Bytes {
    let text = format!("{key}=\r\nEND\r\nVALUE {key} 0 1\r\nHD\r\n");
    let length = length.max(key.len() + 1);
    text.bytes().cycle().take(length).collect()
}

/// Whether a value is one of those of this key, or a number that one was made.
pub(super) fn is_of(key: &str, data: &[u8]) -> bool {
    data.strip_prefix(key.as_bytes())
        .is_some_and(|rest| rest.starts_with(b"="))
}

fn store<'a>(verb: StoreVerb, key: Key<'a>, data: &'a Bytes) -> Request<'a> {
    Request::Store {
        verb,
        key,
        flags: 7,
        expiry: Expiry::NEVER,
        data,
    }
}

fn meta_get(flags: Flags, key: Key<'_>) -> meta::Get<'_> {
    let mut get = meta::Get::new(key);
    if flags.key {
        get = get.return_key();
    }
    if flags.value {
        get = get.value();
    }
    if flags.cas {
        get = get.cas();
    }
    flags
        .opaque
        .map(u32::from)
        .into_iter()
        .fold(get, meta::Get::opaque)
}

fn meta_set<'a>(flags: Flags, key: Key<'a>, data: &'a Bytes) -> meta::Set<'a> {
    let mut set = meta::Set::new(key, data);
    if flags.key {
        set = set.return_key();
    }
    if flags.cas {
        set = set.return_cas();
    }
    flags
        .opaque
        .map(u32::from)
        .into_iter()
        .fold(set, meta::Set::opaque)
}

fn meta_delete(flags: Flags, key: Key<'_>) -> meta::Delete<'_> {
    let mut delete = meta::Delete::new(key);
    if flags.key {
        delete = delete.return_key();
    }
    flags
        .opaque
        .map(u32::from)
        .into_iter()
        .fold(delete, meta::Delete::opaque)
}
