//! The placements by name.

#[cfg(feature = "compat")]
mod compat;

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "compat")]
pub use self::compat::{
    Compat, LibmemcachedHash, McrouterWeights, PymemcacheKeys, SpymemcachedHash, SpymemcachedNames,
    TwemproxyHash, UhashringRing,
};

use crate::Error;

/// How keys are placed on nodes.
///
/// The scheme is part of a cluster's identity, like its nodes' names: clients that should find each
/// other's values need the same scheme with the same parameters. Changing it moves nearly all keys.
///
/// A scheme has a name, for configuration files and command lines:
///
/// ```
/// use steersman_selection::Scheme;
///
/// let scheme: Scheme = "rendezvous".parse()?;
/// assert_eq!(scheme, Scheme::default());
/// assert_eq!(scheme.with_slot_bits(20)?, Scheme::Rendezvous { slot_bits: 20 });
/// assert_eq!(Scheme::Emcache.to_string(), "emcache");
/// # Ok::<(), steersman_selection::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// `rendezvous`, the default with 16 slot bits: keys fall into 2^`slot_bits` slots and each
    /// slot goes to the node that scores highest for it. A lookup is one load from a table,
    /// whatever the number of nodes.
    ///
    /// The table takes 2 bytes a slot and replica: 128 KiB at 16 bits, 2 MiB at 20. Slots are
    /// shared out at random, so shares of nodes vary by about sqrt(nodes / slots) of their mean:
    /// 1 % for 10 nodes at 16 bits, but 39 % for 10,000. Take 18 bits for about 1,000 nodes and 20
    /// for about 10,000. [`Scheme::MIN_SLOT_BITS`] to [`Scheme::MAX_SLOT_BITS`]; other bits place
    /// nearly all keys elsewhere.
    Rendezvous {
        /// The binary logarithm of the number of slots.
        slot_bits: u8,
    },
    /// `rendezvous-exact`: every node is scored for every key. The shares are as even as those of
    /// random choice can be, and there is no table; a lookup takes time in proportion to the
    /// number of nodes.
    RendezvousExact,
    /// `emcache`: the placement of the Python client emcache 1.3.3 where C's `char` is signed:
    /// x86-64, and macOS.
    Emcache,
    /// `emcache-aarch64`: the same where C's `char` is unsigned: Linux on aarch64. emcache's hash
    /// depends on it, so that its clients on the two kinds of machines disagree.
    EmcacheAarch64,
    /// The placement of another client; with the crate's feature `compat`.
    #[cfg(feature = "compat")]
    Compat(Compat),
}

impl Scheme {
    /// The names of all schemes, without their parameters. Where one has variants, it is the default
    /// variant's name, and `NAME:VARIANT` that of another; [`Scheme::all`] goes over all of them.
    pub const NAMES: &'static [&'static str] = &[
        "rendezvous",
        "rendezvous-exact",
        "emcache",
        "emcache-aarch64",
        #[cfg(feature = "compat")]
        "libmemcached-modula",
        #[cfg(feature = "compat")]
        "libmemcached-ketama",
        #[cfg(feature = "compat")]
        "libmemcached-ketama-spy",
        #[cfg(feature = "compat")]
        "libmemcached-ketama-weighted",
        #[cfg(feature = "compat")]
        "libmemcached-ketama-weighted-spy",
        #[cfg(feature = "compat")]
        "twemproxy-ketama",
        #[cfg(feature = "compat")]
        "twemproxy-modula",
        #[cfg(feature = "compat")]
        "spymemcached-ketama",
        #[cfg(feature = "compat")]
        "spymemcached-modula",
        #[cfg(feature = "compat")]
        "pymemcache",
        #[cfg(feature = "compat")]
        "uhashring",
        #[cfg(feature = "compat")]
        "dalli",
        #[cfg(feature = "compat")]
        "gomemcache",
        #[cfg(feature = "compat")]
        "mcrouter-ch3",
        #[cfg(feature = "compat")]
        "mcrouter-crc32",
        #[cfg(feature = "compat")]
        "mcrouter-rendezvous",
        #[cfg(feature = "compat")]
        "memcachio",
    ];

    /// The slot bits of the default scheme: 16.
    pub const DEFAULT_SLOT_BITS: u8 = 16;

    /// The fewest slot bits: 8, or 256 slots.
    pub const MIN_SLOT_BITS: u8 = 8;

    /// The most slot bits: 24, or 16,777,216 slots.
    pub const MAX_SLOT_BITS: u8 = 24;

    /// The scheme's name, one of [`Scheme::NAMES`], without parameters and variant. With its variant
    /// it is written by `Display`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rendezvous { .. } => Self::NAMES[0],
            Self::RendezvousExact => Self::NAMES[1],
            Self::Emcache => Self::NAMES[2],
            Self::EmcacheAarch64 => Self::NAMES[3],
            #[cfg(feature = "compat")]
            Self::Compat(compat) => compat.family(),
        }
    }

    /// Every scheme with default parameters, and every variant of those that have some.
    pub fn all() -> impl Iterator<Item = Self> {
        let schemes = Self::WITHOUT_VARIANTS.into_iter();
        #[cfg(feature = "compat")]
        let schemes = schemes.chain(Compat::all().map(Self::Compat));
        schemes
    }

    const WITHOUT_VARIANTS: [Self; 4] = [
        Self::Rendezvous {
            slot_bits: Self::DEFAULT_SLOT_BITS,
        },
        Self::RendezvousExact,
        Self::Emcache,
        Self::EmcacheAarch64,
    ];

    /// Whether the names of nodes are read as addresses: `host:port`, `host`, `[v6]:port`, IPv6
    /// without brackets, or the path of a Unix socket. Otherwise they are any text.
    pub const fn reads_addresses(self) -> bool {
        !matches!(self, Self::Rendezvous { .. } | Self::RendezvousExact)
    }

    /// The scheme with another number of slots.
    ///
    /// Fails with [`ErrorKind::InvalidSlotBits`](crate::ErrorKind::InvalidSlotBits) if the scheme
    /// has no slot table, or the bits are not within [`Scheme::MIN_SLOT_BITS`] and
    /// [`Scheme::MAX_SLOT_BITS`].
    pub fn with_slot_bits(self, slot_bits: u8) -> Result<Self, Error> {
        match self {
            Self::Rendezvous { .. } => Self::Rendezvous { slot_bits }.validated(),
            other => Err(Error::no_slots(other.name())),
        }
    }

    /// The scheme, if its parameters are within their ranges.
    pub(crate) fn validated(self) -> Result<Self, Error> {
        match self {
            Self::Rendezvous { slot_bits }
                if !(Self::MIN_SLOT_BITS..=Self::MAX_SLOT_BITS).contains(&slot_bits) =>
            {
                Err(Error::slot_bits_out_of_range(
                    slot_bits,
                    Self::MIN_SLOT_BITS,
                    Self::MAX_SLOT_BITS,
                ))
            }
            valid => Ok(valid),
        }
    }
}

impl Default for Scheme {
    /// `rendezvous` with [`Scheme::DEFAULT_SLOT_BITS`].
    fn default() -> Self {
        Self::Rendezvous {
            slot_bits: Self::DEFAULT_SLOT_BITS,
        }
    }
}

impl fmt::Display for Scheme {
    /// Writes the scheme's [name](Scheme::name), and its variant if that is not the default:
    /// what [`Scheme::from_str`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "compat")]
            Self::Compat(compat) => compat.fmt(f),
            scheme => f.pad(scheme.name()),
        }
    }
}

impl FromStr for Scheme {
    type Err = Error;

    /// The scheme of that name, with default parameters. Fails with
    /// [`ErrorKind::UnknownScheme`](crate::ErrorKind::UnknownScheme); the message lists the names,
    /// or the variants if only the variant is unknown.
    fn from_str(name: &str) -> Result<Self, Error> {
        #[cfg(feature = "compat")]
        if let Some(compat) = Compat::named(name) {
            return compat.map(Self::Compat);
        }
        Self::WITHOUT_VARIANTS
            .into_iter()
            .find(|scheme| scheme.name() == name)
            .ok_or_else(|| Error::unknown_scheme(name, Self::NAMES))
    }
}

#[cfg(test)]
mod tests {
    use super::Scheme;
    use crate::ErrorKind;

    #[test]
    fn names_round_trip() {
        for name in Scheme::NAMES {
            let scheme: Scheme = name.parse().unwrap();
            assert_eq!(scheme.to_string(), *name);
        }
        let mut named = Vec::new();
        for scheme in Scheme::all() {
            assert_eq!(scheme.to_string().parse(), Ok(scheme));
            assert!(Scheme::NAMES.contains(&scheme.name()), "{scheme}");
            named.push(scheme);
        }
        for name in Scheme::NAMES {
            assert!(named.contains(&name.parse().unwrap()), "{name}");
        }
    }

    #[cfg(feature = "compat")]
    #[test]
    fn unknown_variants_are_answered_with_the_known_ones() {
        use super::{Compat, LibmemcachedHash};

        let scheme = |hash| Ok(Scheme::Compat(Compat::LibmemcachedModula(hash)));
        let default = scheme(LibmemcachedHash::OneAtATime);
        for variant in ["", ":default", ":one_at_a_time"] {
            assert_eq!(format!("libmemcached-modula{variant}").parse(), default);
        }
        assert_eq!(
            "libmemcached-modula:crc".parse(),
            scheme(LibmemcachedHash::Crc)
        );
        for (name, known) in [
            ("libmemcached-modula:", "libmemcached-modula:murmur3"),
            ("libmemcached-modula:CRC", "libmemcached-modula:crc"),
            (
                "libmemcached-ketama-weighted:default",
                "libmemcached-ketama-weighted:md5",
            ),
            ("dalli:sha1", "dalli"),
            ("pymemcache:text", "pymemcache:str, pymemcache:bytes"),
        ] {
            let error = name.parse::<Scheme>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnknownScheme);
            assert!(error.to_string().contains(known), "{error}");
        }
    }

    #[test]
    fn unknown_names_are_answered_with_the_known_ones() {
        let error = "Rendezvous".parse::<Scheme>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownScheme);
        for name in Scheme::NAMES {
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn slot_bits_have_a_range_and_need_a_table() {
        for bits in 0..=u8::MAX {
            let result = Scheme::default().with_slot_bits(bits);
            if (8..=24).contains(&bits) {
                assert_eq!(result, Ok(Scheme::Rendezvous { slot_bits: bits }));
            } else {
                assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidSlotBits);
            }
        }
        for name in &Scheme::NAMES[1..] {
            let error = name
                .parse::<Scheme>()
                .unwrap()
                .with_slot_bits(16)
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidSlotBits);
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
