//! Sources of nodes as they are written.

use std::fmt;
use std::str::FromStr;

use super::percent;
use crate::builder::Builder;
use crate::discovery::{AddressRecords, ElastiCache, NodesFile};
use crate::error::{Error, Result};

const FORMS: &str = "write elasticache://HOST[:PORT], dns://NAME[:PORT], dns+srv://NAME, or file:// and a whole PATH";

/// Where nodes are found, written as a URL.
///
/// | URL | is |
/// | --- | --- |
/// | `elasticache://HOST[:PORT]` | [`ElastiCache`]: the configuration endpoint of a cluster |
/// | `dns://NAME[:PORT]` | [`AddressRecords`]: the addresses of a name |
/// | `dns+srv://NAME` | `SrvRecords`: the SRV records of a name; needs the crate's feature `dns` |
/// | `file:///PATH` | [`NodesFile`]: the lines of a file |
///
/// ```
/// use steersman_memcached::DiscoverySource;
///
/// let source: DiscoverySource = "dns://memcached.default.svc:11211".parse()?;
/// assert_eq!(source.to_string(), "dns://memcached.default.svc:11211");
/// assert!("http://somewhere".parse::<DiscoverySource>().is_err());
/// # Ok::<(), steersman_memcached::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoverySource {
    scheme: Scheme,
    place: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    ElastiCache,
    Addresses,
    Services,
    File,
}

impl Scheme {
    const ALL: [Self; 4] = [
        Self::ElastiCache,
        Self::Addresses,
        Self::Services,
        Self::File,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::ElastiCache => "elasticache",
            Self::Addresses => "dns",
            Self::Services => "dns+srv",
            Self::File => "file",
        }
    }
}

impl DiscoverySource {
    /// Whether URLs with this scheme are of sources.
    pub(super) fn has_scheme(name: &str) -> bool {
        Scheme::ALL.iter().any(|scheme| scheme.name() == name)
    }

    pub(super) fn add_to(&self, builder: Builder) -> Result<Builder> {
        let place = &*self.place;
        Ok(match self.scheme {
            Scheme::ElastiCache => builder.discovery(ElastiCache::new(place)?),
            Scheme::Addresses => builder.discovery(AddressRecords::new(place)?),
            #[cfg(feature = "dns")]
            Scheme::Services => builder.discovery(crate::discovery::SrvRecords::new(place)?),
            #[cfg(not(feature = "dns"))]
            Scheme::Services => {
                return Err(invalid(
                    "dns+srv needs the feature `dns`, which this was built without",
                ));
            }
            Scheme::File => builder.discovery(NodesFile::new(place)),
        })
    }
}

impl FromStr for DiscoverySource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.contains(['@', '?', '#']) {
            return Err(invalid(format!(
                "it holds a `@`, `?` or `#`: {FORMS}, with those percent-encoded"
            )));
        }
        let unknown = || invalid(format!("{text:?} is no source of nodes: {FORMS}"));
        let (name, place) = text.split_once("://").ok_or_else(unknown)?;
        let place = percent::decode(place)
            .ok_or_else(|| invalid("a `%` in it is not followed by the two digits of a character"))?
            .into_owned();
        if place.is_empty() {
            return Err(invalid(format!("{text:?} lacks the place: {FORMS}")));
        }
        let mut schemes = Scheme::ALL.into_iter();
        let scheme = schemes
            .find(|scheme| scheme.name() == name)
            .ok_or_else(unknown)?;
        match scheme {
            Scheme::ElastiCache => drop(ElastiCache::new(&place)?),
            Scheme::Addresses => drop(AddressRecords::new(&place)?),
            Scheme::Services => {
                let odd = |c: char| c.is_control() || c.is_whitespace() || "/:,".contains(c);
                if place.contains(odd) {
                    return Err(unknown());
                }
            }
            Scheme::File if !place.starts_with('/') => return Err(unknown()),
            Scheme::File => {}
        }
        Ok(Self { scheme, place })
    }
}

/// As it is written.
impl fmt::Display for DiscoverySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("{}://", self.scheme.name());
        percent::encode(&self.place, "/:[]*=", &mut text);
        f.write_str(&text)
    }
}

fn invalid(why: impl Into<std::sync::Arc<str>>) -> Error {
    Error::config("discovery", why)
}
