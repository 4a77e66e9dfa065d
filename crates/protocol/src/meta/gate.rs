//! Which version a server needs for a command and each of its flags.

use std::fmt;

use super::{Argument, Command};
use crate::ServerVersion;
use crate::error::{Problem, RequestError};

/// The first version with the meta commands in their present form.
const META: ServerVersion = ServerVersion::new(1, 6, 0);
/// `ma`, and keys in base64.
const BASE64: ServerVersion = ServerVersion::new(1, 6, 10);
/// Appending and prepending to what is not there, and the size of what was stored.
const VIVIFY: ServerVersion = ServerVersion::new(1, 6, 20);
/// Cas numbers drawn by the client, and removing the value alone.
const NEW_CAS: ServerVersion = ServerVersion::new(1, 6, 27);
/// Values that are left out if the client has them.
const CONDITIONAL: ServerVersion = ServerVersion::new(1, 6, 40);

/// What a server has to be for a command: the version, and what it is needed for.
///
/// It outlives the command, so that a request can be checked when its connection is known.
///
/// ```
/// use steersman_memcached_protocol::{Key, ServerVersion, meta};
///
/// let get = meta::Command::from(meta::Get::new(Key::new(b"k")?).new_cas(7));
/// let requirement = get.requirement();
/// assert_eq!(requirement.version(), ServerVersion::new(1, 6, 27));
/// assert_eq!(requirement.to_string(), "the flag E of mg");
/// assert!(requirement.check(ServerVersion::new(1, 6, 18)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    command: &'static str,
    /// The flag that needs the version; `None` if it is the command itself.
    flag: Option<char>,
    version: ServerVersion,
}

impl Requirement {
    /// The first version that has all of it.
    pub const fn version(&self) -> ServerVersion {
        self.version
    }

    /// Whether a server of this version has it.
    ///
    /// # Errors
    /// [`RequestErrorKind::Unsupported`](crate::RequestErrorKind::Unsupported) names what needs
    /// the version, and the version.
    pub fn check(&self, found: ServerVersion) -> Result<(), RequestError> {
        if found >= self.version {
            return Ok(());
        }
        Err(Problem::Unsupported {
            requirement: *self,
            found,
        }
        .into())
    }
}

/// The flag or the command that needs the version.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.flag {
            Some(flag) => write!(f, "the flag {flag} of {}", self.command),
            None => write!(f, "the command {}", self.command),
        }
    }
}

impl Command<'_> {
    /// Whether a server of this version understands the command with its flags. memcached refuses
    /// some flags that it does not know and ignores others, so ask before sending.
    ///
    /// ```
    /// use steersman_memcached_protocol::{Key, RequestErrorKind, ServerVersion, meta};
    ///
    /// let delete = meta::Command::from(meta::Delete::new(Key::new(b"k")?).remove_value());
    /// let error = delete.check_version(ServerVersion::new(1, 6, 18)).unwrap_err();
    /// assert_eq!(error.kind(), RequestErrorKind::Unsupported);
    /// assert!(error.to_string().contains("flag x of md needs memcached 1.6.27"));
    /// assert!(delete.check_version(ServerVersion::new(1, 6, 27)).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RequestErrorKind::Unsupported`](crate::RequestErrorKind::Unsupported) names the flag, or
    /// the command, that needs the latest version, and that version.
    pub fn check_version(&self, found: ServerVersion) -> Result<(), RequestError> {
        self.requirement().check(found)
    }

    /// What the command with its flags needs.
    pub fn requirement(&self) -> Requirement {
        let mut flag = None;
        let mut version = self.needed();
        self.for_each_flag(&mut |letter: u8, _: Argument| {
            let needed = self.needed_for(letter);
            if needed > version {
                (flag, version) = (Some(char::from(letter)), needed);
            }
        });
        Requirement {
            command: self.name(),
            flag,
            version,
        }
    }

    /// What the command itself needs.
    fn needed(&self) -> ServerVersion {
        match self {
            Self::Arithmetic(_) => BASE64,
            _ => META,
        }
    }

    fn needed_for(&self, flag: u8) -> ServerVersion {
        match (self, flag) {
            (_, b'b') => BASE64,
            (Self::Set(_), b'N' | b's') => VIVIFY,
            (_, b'E') | (Self::Delete(_), b'x') => NEW_CAS,
            (Self::Get(_), b'C') => CONDITIONAL,
            _ => META,
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::{Arithmetic, BinaryKey, Delete, Get, Set, SetMode};
    use super::*;
    use crate::{Expiry, Key};

    #[test]
    fn each_flag_is_there_from_its_version_on() {
        let key = Key::new(b"k").unwrap();
        let binary = BinaryKey::new(b"\0").unwrap();
        let data = Bytes::new();
        let append = Set::new(key, &data).mode(SetMode::Append);
        let cases: [(Command<'_>, [u32; 3], &str); 12] = [
            (Command::Noop, [1, 6, 0], "the command mn"),
            (Get::new(key).value().into(), [1, 6, 0], "the command mg"),
            (Get::new(binary).value().into(), [1, 6, 10], "flag b of mg"),
            (Command::Inspect(binary.into()), [1, 6, 10], "flag b of me"),
            (
                Arithmetic::increment(key, 1).into(),
                [1, 6, 10],
                "the command ma",
            ),
            (append.into(), [1, 6, 0], "the command ms"),
            (
                append.vivify(Expiry::NEVER).into(),
                [1, 6, 20],
                "flag N of ms",
            ),
            (append.return_size().into(), [1, 6, 20], "flag s of ms"),
            (
                Get::new(key).vivify(Expiry::NEVER).into(),
                [1, 6, 0],
                "the command mg",
            ),
            (Get::new(key).new_cas(1).into(), [1, 6, 27], "flag E of mg"),
            (
                Delete::new(binary).remove_value().into(),
                [1, 6, 27],
                "flag x of md",
            ),
            (
                Get::new(key).new_cas(1).unless_cas(1).into(),
                [1, 6, 40],
                "flag C of mg",
            ),
        ];
        for (command, [major, minor, patch], named) in cases {
            let needed = ServerVersion::new(major, minor, patch);
            assert!(command.check_version(needed).is_ok(), "{command:?}");
            let older = match patch {
                0 => ServerVersion::new(1, 5, 22),
                _ => ServerVersion::new(major, minor, patch - 1),
            };
            let error = command.check_version(older).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
            assert!(error.contains(&needed.to_string()), "{error}");
        }
    }
}
