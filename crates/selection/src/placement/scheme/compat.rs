//! The placements of other clients by name: families and their variants.

use std::fmt;

use crate::Error;

/// The placement of another client, to share a cache with it.
///
/// Each is reproduced as the client has it, oddities included, and is named
/// `FAMILY[:VARIANT]`; without a variant it is the client's default. A node's name is the address
/// as that client writes it, and what the client hashes of it is derived from that: `host:port`,
/// `host` (port 11211), IPv6 with or without brackets, or the path of a Unix socket. Where the
/// client has weights, a member's weight is its weight; elsewhere a weight is an error.
///
/// A member that is [not active](crate::Placement::deactivate) is one that its client has removed
/// from the list, or ejected.
///
/// # Examples
///
/// ```
/// use steersman_selection::{Compat, LibmemcachedHash, Member, Placement, Scheme};
///
/// // PHP's Memcached::OPT_LIBKETAMA_COMPATIBLE.
/// let scheme: Scheme = "libmemcached-ketama-weighted".parse()?;
/// let php = Compat::LibmemcachedKetamaWeighted(LibmemcachedHash::Md5);
/// assert_eq!(scheme, Scheme::Compat(php));
///
/// let members = [Member::new("cache-a:11211"), Member::new("cache-b:11211").weighted(3)];
/// let placement = Placement::new(scheme, members)?;
/// assert_eq!(placement.owner(b"user:1234").map(|node| node.get()), Some(1));
/// # Ok::<(), steersman_selection::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compat {
    /// `libmemcached-modula[:HASH]`: libmemcached's default, and so pylibmc's and PHP's. The hash
    /// modulo the number of nodes; weights have no effect.
    LibmemcachedModula(LibmemcachedHash),
    /// `libmemcached-ketama[:HASH]`: libmemcached's consistent distribution. Points and keys are
    /// hashed by the same function; with a weight above 1, points are those of
    /// `libmemcached-ketama-weighted`.
    LibmemcachedKetama(LibmemcachedHash),
    /// `libmemcached-ketama-spy[:HASH]`: the same, with the names of nodes as spymemcached
    /// has them where it knows no host name: `/host:port`.
    LibmemcachedKetamaSpy(LibmemcachedHash),
    /// `libmemcached-ketama-weighted[:HASH]`: `MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED`, PHP's
    /// `OPT_LIBKETAMA_COMPATIBLE`. Points by MD5, as many as a node's weight says; keys by MD5
    /// unless another hash is set.
    LibmemcachedKetamaWeighted(LibmemcachedHash),
    /// `libmemcached-ketama-weighted-spy[:HASH]`: the same with names as `libmemcached-ketama-spy`
    /// has them.
    LibmemcachedKetamaWeightedSpy(LibmemcachedHash),
    /// `twemproxy-ketama[:HASH]`: twemproxy's default distribution.
    TwemproxyKetama(TwemproxyHash),
    /// `twemproxy-modula[:HASH]`: the hash modulo the weights' sum, over nodes sorted by name.
    TwemproxyModula(TwemproxyHash),
    /// `spymemcached-ketama[:NAMES]`: spymemcached's `KetamaNodeLocator` with `KETAMA_HASH`.
    SpymemcachedKetama(SpymemcachedNames),
    /// `spymemcached-modula[:HASH]`: spymemcached's default, `ArrayModNodeLocator`.
    SpymemcachedModula(SpymemcachedHash),
    /// `pymemcache[:KEYS]`: pymemcache's `HashClient`, rendezvous hashing by murmur3.
    Pymemcache(PymemcacheKeys),
    /// `uhashring[:RING]`: Python's uhashring, which meta-memcache uses.
    Uhashring(UhashringRing),
    /// `dalli`: Ruby's dalli.
    Dalli,
    /// `gomemcache`: Go's gomemcache, CRC-32 modulo the number of nodes.
    Gomemcache,
    /// `mcrouter-ch3`: mcrouter's default, consistent hashing by place in the list.
    McrouterCh3,
    /// `mcrouter-crc32`: CRC-32 modulo the number of nodes.
    McrouterCrc32,
    /// `mcrouter-rendezvous[:WEIGHTS]`: rendezvous hashing of the pool's tags.
    McrouterRendezvous(McrouterWeights),
    /// `memcachio`: Python's memcachio, rendezvous hashing by MD5.
    Memcachio,
}

/// Declares an enumeration of variants, each with its name.
macro_rules! variants {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$inner])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name, as in a placement's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}

variants! {
    /// The hash functions of libmemcached, `MEMCACHED_HASH_...`. It cuts all to 32 bits.
    LibmemcachedHash {
        /// `one_at_a_time`, libmemcached's default. It and the FNV hashes widen bytes with their
        /// sign.
        OneAtATime = "one_at_a_time",
        /// `md5`: the first four bytes, little endian.
        Md5 = "md5",
        /// `crc`: 15 bits of CRC-32.
        Crc = "crc",
        /// `fnv1_64`.
        Fnv1_64 = "fnv1_64",
        /// `fnv1a_64`.
        Fnv1a64 = "fnv1a_64",
        /// `fnv1_32`.
        Fnv1_32 = "fnv1_32",
        /// `fnv1a_32`.
        Fnv1a32 = "fnv1a_32",
        /// `hsieh`; few builds of libmemcached have it, others refuse to set it.
        Hsieh = "hsieh",
        /// `murmur`: `MurmurHash2`, with a seed that depends on the length.
        Murmur = "murmur",
        /// `jenkins`: lookup3.
        Jenkins = "jenkins",
        /// `murmur3`: `MurmurHash3_x86_32`, with a seed that depends on the length.
        Murmur3 = "murmur3",
    }
}

variants! {
    /// The hash functions of twemproxy, by the names that its configuration has for them.
    TwemproxyHash {
        /// `one_at_a_time`. It and the FNV hashes widen bytes with their sign.
        OneAtATime = "one_at_a_time",
        /// `md5`: the first four bytes, little endian.
        Md5 = "md5",
        /// `crc16`: not cut to 16 bits.
        Crc16 = "crc16",
        /// `crc32`: 15 bits of CRC-32, as in libmemcached.
        Crc32 = "crc32",
        /// `crc32a`: CRC-32 itself.
        Crc32a = "crc32a",
        /// `fnv1_64`.
        Fnv1_64 = "fnv1_64",
        /// `fnv1a_64`, twemproxy's default.
        Fnv1a64 = "fnv1a_64",
        /// `fnv1_32`.
        Fnv1_32 = "fnv1_32",
        /// `fnv1a_32`.
        Fnv1a32 = "fnv1a_32",
        /// `hsieh`.
        Hsieh = "hsieh",
        /// `murmur`: `MurmurHash2`, with a seed that depends on the length.
        Murmur = "murmur",
        /// `jenkins`: lookup3.
        Jenkins = "jenkins",
    }
}

variants! {
    /// The hash functions of spymemcached, its `DefaultHashAlgorithm`.
    SpymemcachedHash {
        /// `native`, the default: Java's `String.hashCode`, as an unsigned number.
        Native = "native",
        /// `crc`: 15 bits of CRC-32.
        Crc = "crc",
        /// `fnv1_64`: over UTF-16 units, as all FNV hashes there.
        Fnv1_64 = "fnv1_64",
        /// `fnv1a_64`.
        Fnv1a64 = "fnv1a_64",
        /// `fnv1_32`.
        Fnv1_32 = "fnv1_32",
        /// `fnv1a_32`.
        Fnv1a32 = "fnv1a_32",
        /// `ketama`: the first four bytes of the MD5, little endian.
        Ketama = "ketama",
    }
}

variants! {
    /// How spymemcached's ketama names nodes, its `KetamaNodeKeyFormatter.Format`.
    SpymemcachedNames {
        /// `spymemcached`, the default: `ip:port` for a node given by its address, `host/ip:port`
        /// for one given by its host name. The address of a host is for the caller to know: such a
        /// node's name is `host/ip:port`.
        Spymemcached = "spymemcached",
        /// `libmemcached`: `host`, or `host:port` if the port is not 11211.
        Libmemcached = "libmemcached",
    }
}

variants! {
    /// What the keys of pymemcache's callers are; it hashes their representation.
    PymemcacheKeys {
        /// `str`, the default: the low byte of each character.
        Str = "str",
        /// `bytes`: the text that Python writes for them, `b'...'`.
        Bytes = "bytes",
    }
}

variants! {
    /// The rings of uhashring's `HashRing`.
    UhashringRing {
        /// `md5`, the default: whole MD5s.
        Md5 = "md5",
        /// `ketama`: `hash_fn="ketama"`.
        Ketama = "ketama",
    }
}

variants! {
    /// Whether mcrouter's rendezvous hashing has weights.
    McrouterWeights {
        /// `equal`, the default: `Rendezvous`, and `WeightedRendezvous` as soon as a weight is above
        /// 1.
        Equal = "equal",
        /// `weighted`: `WeightedRendezvous`, which with equal weights places keys elsewhere than
        /// `Rendezvous` does.
        Weighted = "weighted",
    }
}

impl Compat {
    /// Each family with its default variant.
    pub(super) const DEFAULTS: [Self; 17] = [
        Self::LibmemcachedModula(LibmemcachedHash::OneAtATime),
        Self::LibmemcachedKetama(LibmemcachedHash::OneAtATime),
        Self::LibmemcachedKetamaSpy(LibmemcachedHash::OneAtATime),
        Self::LibmemcachedKetamaWeighted(LibmemcachedHash::Md5),
        Self::LibmemcachedKetamaWeightedSpy(LibmemcachedHash::Md5),
        Self::TwemproxyKetama(TwemproxyHash::Fnv1a64),
        Self::TwemproxyModula(TwemproxyHash::Fnv1a64),
        Self::SpymemcachedKetama(SpymemcachedNames::Spymemcached),
        Self::SpymemcachedModula(SpymemcachedHash::Native),
        Self::Pymemcache(PymemcacheKeys::Str),
        Self::Uhashring(UhashringRing::Md5),
        Self::Dalli,
        Self::Gomemcache,
        Self::McrouterCh3,
        Self::McrouterCrc32,
        Self::McrouterRendezvous(McrouterWeights::Equal),
        Self::Memcachio,
    ];

    /// The family's name.
    pub const fn family(self) -> &'static str {
        match self {
            Self::LibmemcachedModula(_) => "libmemcached-modula",
            Self::LibmemcachedKetama(_) => "libmemcached-ketama",
            Self::LibmemcachedKetamaSpy(_) => "libmemcached-ketama-spy",
            Self::LibmemcachedKetamaWeighted(_) => "libmemcached-ketama-weighted",
            Self::LibmemcachedKetamaWeightedSpy(_) => "libmemcached-ketama-weighted-spy",
            Self::TwemproxyKetama(_) => "twemproxy-ketama",
            Self::TwemproxyModula(_) => "twemproxy-modula",
            Self::SpymemcachedKetama(_) => "spymemcached-ketama",
            Self::SpymemcachedModula(_) => "spymemcached-modula",
            Self::Pymemcache(_) => "pymemcache",
            Self::Uhashring(_) => "uhashring",
            Self::Dalli => "dalli",
            Self::Gomemcache => "gomemcache",
            Self::McrouterCh3 => "mcrouter-ch3",
            Self::McrouterCrc32 => "mcrouter-crc32",
            Self::McrouterRendezvous(_) => "mcrouter-rendezvous",
            Self::Memcachio => "memcachio",
        }
    }

    /// The variant's name; `None` if the family has no variants.
    pub const fn variant(self) -> Option<&'static str> {
        match self {
            Self::LibmemcachedModula(hash)
            | Self::LibmemcachedKetama(hash)
            | Self::LibmemcachedKetamaSpy(hash)
            | Self::LibmemcachedKetamaWeighted(hash)
            | Self::LibmemcachedKetamaWeightedSpy(hash) => Some(hash.name()),
            Self::TwemproxyKetama(hash) | Self::TwemproxyModula(hash) => Some(hash.name()),
            Self::SpymemcachedKetama(names) => Some(names.name()),
            Self::SpymemcachedModula(hash) => Some(hash.name()),
            Self::Pymemcache(keys) => Some(keys.name()),
            Self::Uhashring(ring) => Some(ring.name()),
            Self::McrouterRendezvous(weights) => Some(weights.name()),
            Self::Dalli
            | Self::Gomemcache
            | Self::McrouterCh3
            | Self::McrouterCrc32
            | Self::Memcachio => None,
        }
    }

    /// All variants of all families, the families in the order of [`Scheme::NAMES`].
    ///
    /// [`Scheme::NAMES`]: crate::Scheme::NAMES
    pub fn all() -> impl Iterator<Item = Self> {
        Self::DEFAULTS.into_iter().flat_map(Self::siblings)
    }

    /// The variants of a family.
    fn siblings(self) -> Vec<Self> {
        fn of<V: Copy>(variants: &[V], family: fn(V) -> Compat) -> Vec<Compat> {
            variants.iter().copied().map(family).collect()
        }
        match self {
            Self::LibmemcachedModula(_) => of(LibmemcachedHash::ALL, Self::LibmemcachedModula),
            Self::LibmemcachedKetama(_) => of(LibmemcachedHash::ALL, Self::LibmemcachedKetama),
            Self::LibmemcachedKetamaSpy(_) => {
                of(LibmemcachedHash::ALL, Self::LibmemcachedKetamaSpy)
            }
            Self::LibmemcachedKetamaWeighted(_) => {
                of(LibmemcachedHash::ALL, Self::LibmemcachedKetamaWeighted)
            }
            Self::LibmemcachedKetamaWeightedSpy(_) => {
                of(LibmemcachedHash::ALL, Self::LibmemcachedKetamaWeightedSpy)
            }
            Self::TwemproxyKetama(_) => of(TwemproxyHash::ALL, Self::TwemproxyKetama),
            Self::TwemproxyModula(_) => of(TwemproxyHash::ALL, Self::TwemproxyModula),
            Self::SpymemcachedKetama(_) => of(SpymemcachedNames::ALL, Self::SpymemcachedKetama),
            Self::SpymemcachedModula(_) => of(SpymemcachedHash::ALL, Self::SpymemcachedModula),
            Self::Pymemcache(_) => of(PymemcacheKeys::ALL, Self::Pymemcache),
            Self::Uhashring(_) => of(UhashringRing::ALL, Self::Uhashring),
            Self::McrouterRendezvous(_) => of(McrouterWeights::ALL, Self::McrouterRendezvous),
            Self::Dalli
            | Self::Gomemcache
            | Self::McrouterCh3
            | Self::McrouterCrc32
            | Self::Memcachio => vec![self],
        }
    }

    /// The placement of a name `FAMILY[:VARIANT]`; `None` if there is no such family.
    pub(super) fn named(name: &str) -> Option<Result<Self, Error>> {
        let (family, variant) = match name.split_once(':') {
            Some((family, variant)) => (family, Some(variant)),
            None => (name, None),
        };
        let default = Self::DEFAULTS
            .into_iter()
            .find(|default| default.family() == family)?;
        let siblings = default.siblings();
        let found = match variant {
            None => Some(default),
            // libmemcached's own name of it.
            Some("default") if default.variant() == Some("one_at_a_time") => Some(default),
            Some(_) => (siblings.iter().copied()).find(|sibling| sibling.variant() == variant),
        };
        Some(found.ok_or_else(|| {
            let full = |sibling: &Self| match sibling.variant() {
                Some(variant) => format!("{family}:{variant}"),
                None => family.to_owned(),
            };
            Error::unknown_scheme(name, &siblings.iter().map(full).collect::<Vec<_>>())
        }))
    }
}

impl fmt::Display for Compat {
    /// Writes `FAMILY:VARIANT`, or `FAMILY` if it is the default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.variant() {
            Some(variant) if !Self::DEFAULTS.contains(self) => {
                f.pad(&format!("{}:{variant}", self.family()))
            }
            _ => f.pad(self.family()),
        }
    }
}
