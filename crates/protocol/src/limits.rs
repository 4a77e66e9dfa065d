//! The bounds and batching settings of a connection.

/// What a connection accepts from its server, and how it groups reads.
///
/// A server is not trusted: whatever it declares is checked against these limits before any
/// memory is set aside for it. The fields are public; start from the defaults:
///
/// ```
/// use steersman_memcached_protocol::Limits;
///
/// let limits = Limits { max_value_size: 1024 * 1024, autobatch: false, ..Limits::default() };
/// assert_eq!(limits.max_batch_keys, 32);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest value in bytes, in both directions (default: 128 MiB). A longer one is not
    /// sent, and a server that declares a longer one breaks the protocol. More than 2,147,483,645
    /// counts as that: memcached cannot read a greater length, and takes the value for commands.
    pub max_value_size: usize,

    /// The longest reply line in bytes, its line end included (default: 8 KiB).
    pub max_line: usize,

    /// The most lines in one reply to `stats` (default: 65,536).
    pub max_stats_items: usize,

    /// The most bytes of names and values in one reply to `stats` (default: 4 MiB).
    pub max_stats_bytes: usize,

    /// Whether single-key reads submitted one after the other share a command line until it is
    /// written (default: true). Replies are the same either way; off, every read is a command
    /// of its own.
    pub autobatch: bool,

    /// The most distinct keys in one command line (default: 32; 0 counts as 1).
    pub max_batch_keys: usize,

    /// Values shorter than this many bytes are copied out of the read buffer, longer ones share
    /// its memory (default: 4 KiB). A small value that shared it would keep a large buffer alive.
    pub copy_below: usize,
}

impl Limits {
    /// The maximum value size that holds.
    pub(crate) fn value_size(&self) -> usize {
        self.max_value_size.min(i32::MAX as usize - 2)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_value_size: 128 * 1024 * 1024,
            max_line: 8 * 1024,
            max_stats_items: 65_536,
            max_stats_bytes: 4 * 1024 * 1024,
            autobatch: true,
            max_batch_keys: 32,
            copy_below: 4 * 1024,
        }
    }
}
