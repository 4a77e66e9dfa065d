//! The lines of meta commands: a key, a length for `ms`, and flags.

use bytes::Bytes;

use super::{Arguments, Line, StoreHeader, Storing, declared_len, request};
use crate::server::tokens::words;
use crate::server::{Command, Rejection, Verb, meta};

/// A meta command has a key and at most 17 words more.
const MAX_META_WORDS: usize = 18;

impl Arguments<'_> {
    /// A meta command, which never says `noreply`.
    pub(super) fn meta(&self, verb: Verb) -> Result<Line, Rejection> {
        if self.words.is_empty() {
            return Err(match verb {
                Verb::MetaDebug => Rejection::BadFormat,
                _ => Rejection::Error,
            });
        }
        let key = self.key()?;
        let before_flags = match verb {
            Verb::MetaDebug => return self.meta_debug(key),
            Verb::MetaSet if self.words.len() < 2 => return Err(Rejection::BadFormat),
            Verb::MetaSet => 2,
            _ => 1,
        };
        if self.words.len() > MAX_META_WORDS {
            return Err(match verb {
                Verb::MetaGet => Rejection::TooManyGetFlags,
                _ => Rejection::TooManyFlags,
            });
        }
        let mut rest = words(self.text);
        let before = rest.by_ref().take(before_flags).last().unwrap_or_default();
        let flags = self.line.slice_ref(rest.rest());
        let parsed = || meta::parse(verb, key, flags).map(Box::new);
        let command = match verb {
            Verb::MetaSet => {
                let value_len = declared_len(before)?;
                return Ok(match parsed() {
                    Ok(request) => Line::Store(StoreHeader {
                        storing: Storing::Meta(request),
                        value_len,
                        noreply: false,
                    }),
                    Err(reason) => Line::Skip { reason, value_len },
                });
            }
            Verb::MetaDelete => Command::MetaDelete(parsed()?),
            Verb::MetaArithmetic => Command::MetaArithmetic(parsed()?),
            _ => Command::MetaGet(parsed()?),
        };
        Ok(request(command, false))
    }

    /// `me <key> [b]`; whatever else follows is not looked at.
    fn meta_debug(&self, key: Bytes) -> Result<Line, Rejection> {
        let key = match self.words.get(1) {
            Some(flag) if *flag == b"b" => meta::decode(&key).ok_or(Rejection::BadFormat)?,
            _ => key,
        };
        Ok(request(Command::MetaDebug { key }, false))
    }
}
