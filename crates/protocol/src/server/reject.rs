//! Why a request is refused, in memcached's words.

/// Why a request was refused; [`Rejection::as_str`] is the line to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rejection {
    /// No such command, or a wrong number of words.
    Error,
    /// A key is too long or an argument is no number.
    BadFormat,
    /// The data block does not end where its length says.
    BadDataChunk,
    /// The expiry is no number.
    InvalidExptime,
    /// The amount to add or subtract is no number.
    InvalidDelta,
    /// The stored value is no number.
    NonNumeric,
    /// `delete` with more than a key.
    DeleteUsage,
    /// The item would exceed the largest size.
    TooLarge,
    /// There is no memory for the item, even after evicting all others.
    OutOfMemory,
    /// The request line never ends.
    RequestTooLong,
    /// `cache_memlimit` below 8 MiB.
    MemlimitTooSmall,
    /// `cache_memlimit` in bytes by mistake.
    MemlimitTooLarge,
    /// `stats` with too few arguments.
    BadStatsLine,
    /// `stats detail` without a mode.
    StatsDetailUsage,
    /// `stats cachedump` of a slab class that cannot exist.
    IllegalSlabId,
    /// A meta command has a flag that memcached does not know.
    InvalidFlag,
    /// A meta command has a flag twice, or one that is no ASCII.
    DuplicateFlag,
    /// The same of `md` and `ma`, which do not say what is wrong.
    InvalidOrDuplicateFlag,
    /// A flag of a meta command wants a number.
    BadToken,
    /// The key of a meta command is no base64.
    BadKeyEncoding,
    /// The flag `O` has more than 31 bytes behind it.
    OpaqueTooLong,
    /// `mg` has too many flags.
    TooManyGetFlags,
    /// Another meta command has too many flags.
    TooManyFlags,
    /// The flag `M` wants one letter.
    BadModeLength,
    /// The flag `M` of `ms` has another letter than the modes there are.
    InvalidSetMode,
    /// The flag `M` of `ma` has another letter than the modes there are.
    InvalidArithmeticMode,
    /// The flag `J` wants a number.
    InvalidInitial,
    /// The flag `D` wants a number.
    InvalidDeltaFlag,
    /// `shutdown` on a server that does not take it.
    ShutdownDisabled,
    /// The server has as many connections as it takes.
    TooManyConnections,
}

impl Rejection {
    /// The answer, without the end of line.
    pub fn as_str(self) -> &'static str {
        match self {
            Rejection::Error => "ERROR",
            Rejection::BadFormat => "CLIENT_ERROR bad command line format",
            Rejection::BadDataChunk => "CLIENT_ERROR bad data chunk",
            Rejection::InvalidExptime => "CLIENT_ERROR invalid exptime argument",
            Rejection::InvalidDelta => "CLIENT_ERROR invalid numeric delta argument",
            Rejection::NonNumeric => "CLIENT_ERROR cannot increment or decrement non-numeric value",
            Rejection::DeleteUsage => {
                "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]"
            }
            Rejection::TooLarge => "SERVER_ERROR object too large for cache",
            Rejection::OutOfMemory => "SERVER_ERROR out of memory storing object",
            Rejection::RequestTooLong => "SERVER_ERROR out of memory reading request",
            Rejection::MemlimitTooSmall => "MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m",
            Rejection::MemlimitTooLarge => {
                "MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes"
            }
            Rejection::BadStatsLine => "CLIENT_ERROR bad command line",
            Rejection::StatsDetailUsage => "CLIENT_ERROR usage: stats detail on|off|dump",
            Rejection::IllegalSlabId => "CLIENT_ERROR Illegal slab id",
            Rejection::InvalidFlag => "CLIENT_ERROR invalid flag",
            Rejection::DuplicateFlag => "CLIENT_ERROR duplicate flag",
            Rejection::InvalidOrDuplicateFlag => "CLIENT_ERROR invalid or duplicate flag",
            Rejection::BadToken => "CLIENT_ERROR bad token in command line format",
            Rejection::BadKeyEncoding => "CLIENT_ERROR error decoding key",
            Rejection::OpaqueTooLong => "CLIENT_ERROR opaque token too long",
            Rejection::TooManyGetFlags => "CLIENT_ERROR options flags are too long",
            Rejection::TooManyFlags => "CLIENT_ERROR options flags too long",
            Rejection::BadModeLength => "CLIENT_ERROR incorrect length for M token",
            Rejection::InvalidSetMode => "CLIENT_ERROR invalid mode for ms M token",
            Rejection::InvalidArithmeticMode => "CLIENT_ERROR invalid mode for ma M token",
            Rejection::InvalidInitial => "CLIENT_ERROR invalid numeric initial value",
            Rejection::InvalidDeltaFlag => "CLIENT_ERROR invalid numeric delta value",
            Rejection::ShutdownDisabled => "ERROR: shutdown not enabled",
            Rejection::TooManyConnections => "ERROR Too many open connections",
        }
    }
}
