//! Why a value could not be encoded or decoded.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Why a value could not be encoded or decoded; from [`Error::codec_error`](crate::Error::codec_error),
/// and what codecs of one's own give.
#[derive(Debug, Clone)]
pub struct CodecError {
    kind: CodecErrorKind,
    message: Cow<'static, str>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// What is wrong with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CodecErrorKind {
    /// It could not be encoded.
    Encode,
    /// Its flags are none of the layout that it was read with: something else wrote it.
    UnknownFlags,
    /// What it is in is known, and cannot be read here: the serialisation of another language, or a
    /// compression whose feature is off.
    Unsupported,
    /// It is of another format or type than the one that was asked for.
    WrongType,
    /// It is longer than allowed, or would be when decompressed.
    TooLarge,
    /// Its bytes are not what its flags say.
    Corrupt,
}

impl CodecError {
    /// What is wrong, in words that go on from "the value (3 bytes, flags 0x00000001)".
    pub fn new(kind: CodecErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// Adds the reason of a serialisation library. Its message is shown too.
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// What is wrong.
    pub fn kind(&self) -> CodecErrorKind {
        self.kind
    }

    pub(super) fn corrupt(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(CodecErrorKind::Corrupt, message)
    }

    pub(super) fn too_large(size: impl fmt::Display, max_size: usize) -> Self {
        let message = format!("has {size} bytes, above the {max_size} that are allowed");
        Self::new(CodecErrorKind::TooLarge, message)
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CodecError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn std::error::Error + 'static))
    }
}

impl From<std::convert::Infallible> for CodecError {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}
