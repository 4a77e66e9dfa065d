//! What a client asks, owned: read from the bytes of requests by the server's parser, and submitted as
//! the client's requests.
//!
//! So a recorded session is an input as it stands, and what the client writes can be read again and
//! compared.

mod meta;

use bytes::{Bytes, BytesMut};
use steersman_memcached_protocol::server::{Command, Event, Limits, Parser, StoreMode};
use steersman_memcached_protocol::{
    Expiry, Key, Outbox, Request, RequestError, StatsArgs, StoreVerb,
};

use self::meta::MetaAsked;

/// One request of a client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) what: What,
    /// Nobody waits for the reply.
    pub(crate) quiet: bool,
}

/// What it asks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    Get {
        key: Bytes,
        cas: bool,
    },
    GetAndTouch {
        key: Bytes,
        cas: bool,
        expiry: Expiry,
    },
    Store {
        verb: StoreVerb,
        key: Bytes,
        flags: u32,
        expiry: Expiry,
        data: Bytes,
    },
    Cas {
        key: Bytes,
        flags: u32,
        expiry: Expiry,
        cas: u64,
        data: Bytes,
    },
    Increment {
        key: Bytes,
        delta: u64,
    },
    Decrement {
        key: Bytes,
        delta: u64,
    },
    Touch {
        key: Bytes,
        expiry: Expiry,
    },
    Delete {
        key: Bytes,
    },
    FlushAll {
        delay: Option<u32>,
    },
    Version,
    Stats {
        args: Bytes,
    },
    Verbosity {
        level: u32,
    },
    CacheMemlimit {
        megabytes: u64,
    },
    ClusterConfig,
    Meta(MetaAsked),
}

impl Asked {
    /// Reads what the bytes ask, as far as a client can ask it.
    pub(crate) fn read(bytes: &[u8]) -> Vec<Self> {
        let mut parser = Parser::new(Limits::default());
        let mut input = BytesMut::from(bytes);
        let mut asked = Vec::new();
        while let Some(event) = parser.next(&mut input) {
            match event {
                Event::Request(request) => {
                    What::of(request.command, &mut |what| {
                        let one = Self {
                            what,
                            quiet: request.noreply,
                        };
                        if one.can_be_sent() {
                            asked.push(one);
                        }
                    });
                }
                Event::Close => break,
                Event::Rejected { .. } | Event::TooLarge { .. } => {}
            }
        }
        asked
    }

    fn can_be_sent(&self) -> bool {
        let mut outbox = Outbox::new(steersman_memcached_protocol::Limits::default());
        self.submit(&mut outbox, ())
            .is_some_and(|sent| sent.is_ok())
    }

    /// Submits it to an outbox; `None` if it has a key that no client may send.
    pub(crate) fn submit<T>(
        &self,
        outbox: &mut Outbox<T>,
        token: T,
    ) -> Option<Result<(), RequestError>> {
        self.with_request(|request| {
            if self.quiet {
                outbox.submit_quiet(request)
            } else {
                outbox.submit(request, token)
            }
        })
    }

    /// The request; `None` if it has a key, or arguments, that no client may send.
    pub(crate) fn with_request<R>(&self, then: impl FnOnce(&Request<'_>) -> R) -> Option<R> {
        let plain = |key| Key::new(key).ok();
        let request = match &self.what {
            What::Get { key, cas } => Request::Get {
                key: plain(key)?,
                cas: *cas,
            },
            What::GetAndTouch { key, cas, expiry } => Request::GetAndTouch {
                key: plain(key)?,
                expiry: *expiry,
                cas: *cas,
            },
            What::Store {
                verb,
                key,
                flags,
                expiry,
                data,
            } => Request::Store {
                verb: *verb,
                key: plain(key)?,
                flags: *flags,
                expiry: *expiry,
                data,
            },
            What::Cas {
                key,
                flags,
                expiry,
                cas,
                data,
            } => Request::Cas {
                key: plain(key)?,
                flags: *flags,
                expiry: *expiry,
                cas: *cas,
                data,
            },
            What::Increment { key, delta } => Request::Increment {
                key: plain(key)?,
                delta: *delta,
            },
            What::Decrement { key, delta } => Request::Decrement {
                key: plain(key)?,
                delta: *delta,
            },
            What::Touch { key, expiry } => Request::Touch {
                key: plain(key)?,
                expiry: *expiry,
            },
            What::Delete { key } => Request::Delete { key: plain(key)? },
            What::FlushAll { delay } => Request::FlushAll { delay: *delay },
            What::Version => Request::Version,
            What::Stats { args } if args.is_empty() => Request::Stats { args: None },
            What::Stats { args } => Request::Stats {
                args: Some(StatsArgs::new(args).ok()?),
            },
            What::Verbosity { level } => Request::Verbosity { level: *level },
            What::CacheMemlimit { megabytes } => Request::CacheMemlimit {
                megabytes: *megabytes,
            },
            What::ClusterConfig => Request::ClusterConfig,
            What::Meta(meta) => return meta.with_command(|command| then(&Request::Meta(command))),
        };
        Some(then(&request))
    }

    /// The key of a classic read.
    pub(crate) fn read_key(&self) -> Option<&Bytes> {
        match &self.what {
            What::Get { key, .. } | What::GetAndTouch { key, .. } => Some(key),
            _ => None,
        }
    }
}

impl What {
    /// What a command asks: a read of many keys is so many requests.
    fn of(command: Command, each: &mut impl FnMut(Self)) {
        match command {
            Command::Get { keys, with_cas } => {
                keys.for_each(|key| each(Self::Get { key, cas: with_cas }));
            }
            Command::GetAndTouch {
                exptime,
                keys,
                with_cas,
            } => keys.for_each(|key| {
                each(Self::GetAndTouch {
                    key,
                    cas: with_cas,
                    expiry: expiry(exptime),
                });
            }),
            Command::Store {
                mode,
                key,
                flags,
                exptime,
                value: data,
            } => each(Self::store(mode, key, flags, expiry(exptime), data)),
            Command::Increment { key, delta } => each(Self::Increment { key, delta }),
            Command::Decrement { key, delta } => each(Self::Decrement { key, delta }),
            Command::Touch { key, exptime } => each(Self::Touch {
                key,
                expiry: expiry(exptime),
            }),
            Command::Delete { key } => each(Self::Delete { key }),
            Command::FlushAll { delay } => each(Self::FlushAll {
                delay: u32::try_from(delay).ok().filter(|&delay| delay > 0),
            }),
            Command::Version => each(Self::Version),
            Command::Stats { args } => each(Self::Stats {
                args: args.join(&b' ').into(),
            }),
            Command::Verbosity { level } => each(Self::Verbosity { level }),
            Command::CacheMemlimit { megabytes } => each(Self::CacheMemlimit {
                megabytes: megabytes.into(),
            }),
            Command::ConfigGet { name } if name == "cluster" => each(Self::ClusterConfig),
            Command::ConfigGet { .. } | Command::Quit => {}
            command => {
                if let Some(meta) = MetaAsked::of(command) {
                    each(Self::Meta(meta));
                }
            }
        }
    }

    fn store(mode: StoreMode, key: Bytes, flags: u32, expiry: Expiry, data: Bytes) -> Self {
        let verb = match mode {
            StoreMode::Set => StoreVerb::Set,
            StoreMode::Add => StoreVerb::Add,
            StoreMode::Replace => StoreVerb::Replace,
            StoreMode::Append => StoreVerb::Append,
            StoreMode::Prepend => StoreVerb::Prepend,
            StoreMode::Cas(cas) => {
                return Self::Cas {
                    key,
                    flags,
                    expiry,
                    cas,
                    data,
                };
            }
        };
        Self::Store {
            verb,
            key,
            flags,
            expiry,
            data,
        }
    }
}

/// The expiry that is written as this number, or as -1 for those below.
fn expiry(exptime: i32) -> Expiry {
    const MONTH: u64 = 30 * 24 * 60 * 60;
    match u64::try_from(exptime) {
        Err(_) => Expiry::IMMEDIATE,
        Ok(0) => Expiry::NEVER,
        Ok(seconds @ ..=MONTH) => Expiry::after(std::time::Duration::from_secs(seconds), 0),
        Ok(date) => Expiry::at(date),
    }
}
