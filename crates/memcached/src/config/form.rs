//! How the values of options are written: a form for each type, both ways.

use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::Duration;

use steersman_selection::{Hedge, Scheme};

use super::discovery::DiscoverySource;
use super::setting::Setting;
use super::text;
use crate::address::{Endpoint, NodeConfig};
use crate::replication::{ReadPolicy, WriteSuccess};

/// The longest value that an error repeats, in characters.
const REPEATED: usize = 60;

/// How a value is written.
pub(super) trait Form {
    type Of;

    /// What is expected, in messages.
    const EXPECTED: &'static str;

    /// The value, or what is wrong with it.
    fn read(given: &Setting) -> Result<Self::Of, String>;

    /// The value as it is written; none for one that there is no word for.
    fn show(value: &Self::Of) -> Option<Setting>;
}

fn unfit<F: Form>(given: &Setting) -> String {
    let text: String = given.to_string().chars().take(REPEATED).collect();
    format!("{text:?} is not {}", F::EXPECTED)
}

/// The text, if it is one that is not empty.
fn word<F: Form>(given: &Setting) -> Result<&str, String> {
    match given {
        Setting::Text(text) if !text.is_empty() => Ok(text),
        given => Err(unfit::<F>(given)),
    }
}

/// A duration.
pub(super) struct Time;

impl Form for Time {
    type Of = Duration;
    const EXPECTED: &'static str = "a duration such as 250ms, 1s or 2m";

    fn read(given: &Setting) -> Result<Duration, String> {
        text::duration(word::<Self>(given)?).ok_or_else(|| unfit::<Self>(given))
    }

    fn show(value: &Duration) -> Option<Setting> {
        Some(Setting::Text(text::show_duration(*value)))
    }
}

/// A duration above zero, or `none`, which is without limit.
pub(super) struct Limit;

impl Form for Limit {
    type Of = Option<Duration>;
    const EXPECTED: &'static str = "a duration above zero such as 250ms, 1s or 2m, or none";

    fn read(given: &Setting) -> Result<Self::Of, String> {
        match word::<Self>(given)? {
            "none" => Ok(None),
            text => match text::duration(text) {
                None | Some(Duration::ZERO) => Err(unfit::<Self>(given)),
                duration => Ok(duration),
            },
        }
    }

    fn show(value: &Self::Of) -> Option<Setting> {
        let text = value.map_or_else(|| "none".to_owned(), text::show_duration);
        Some(Setting::Text(text))
    }
}

/// What may be left out, and has no word for that.
pub(super) struct Optional<F>(PhantomData<F>);

impl<F: Form> Form for Optional<F> {
    type Of = Option<F::Of>;
    const EXPECTED: &'static str = F::EXPECTED;

    fn read(given: &Setting) -> Result<Self::Of, String> {
        F::read(given).map(Some)
    }

    fn show(value: &Self::Of) -> Option<Setting> {
        value.as_ref().and_then(F::show)
    }
}

/// A whole number.
pub(super) struct Count<N>(PhantomData<N>);

impl<N: Copy + TryFrom<u64> + TryInto<u64>> Form for Count<N> {
    type Of = N;
    const EXPECTED: &'static str = "a whole number";

    fn read(given: &Setting) -> Result<N, String> {
        let number = match given {
            Setting::Number(number) => Some(*number),
            Setting::Text(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().ok()
            }
            _ => None,
        };
        let number = number.and_then(|number| N::try_from(number).ok());
        number.ok_or_else(|| unfit::<Self>(given))
    }

    fn show(value: &N) -> Option<Setting> {
        (*value).try_into().ok().map(Setting::Number)
    }
}

/// A number of bytes.
pub(super) struct Size;

impl Form for Size {
    type Of = usize;
    const EXPECTED: &'static str = "a number of bytes such as 1048576, 64KiB, 1MiB or 1GiB";

    fn read(given: &Setting) -> Result<usize, String> {
        let size = match given {
            Setting::Number(number) => usize::try_from(*number).ok(),
            Setting::Text(text) => text::size(text),
            _ => None,
        };
        size.ok_or_else(|| unfit::<Self>(given))
    }

    fn show(value: &usize) -> Option<Setting> {
        Some(Setting::Text(text::show_size(*value)))
    }
}

/// A share of a whole.
pub(super) struct Share;

impl Form for Share {
    type Of = f64;
    const EXPECTED: &'static str = "a number such as 0.5";

    fn read(given: &Setting) -> Result<f64, String> {
        let share = match given {
            Setting::Decimal(number) => Some(*number),
            Setting::Number(number) => u32::try_from(*number).ok().map(f64::from),
            Setting::Text(text) => text.parse().ok(),
            _ => None,
        };
        let share = share.filter(|share| share.is_finite());
        share.ok_or_else(|| unfit::<Self>(given))
    }

    fn show(value: &f64) -> Option<Setting> {
        Some(Setting::Decimal(*value))
    }
}

/// Yes or no.
pub(super) struct Switch;

impl Form for Switch {
    type Of = bool;
    const EXPECTED: &'static str = "on or off";

    fn read(given: &Setting) -> Result<bool, String> {
        match given {
            Setting::Switch(on) => Ok(*on),
            Setting::Text(text) if text == "on" || text == "true" => Ok(true),
            Setting::Text(text) if text == "off" || text == "false" => Ok(false),
            given => Err(unfit::<Self>(given)),
        }
    }

    fn show(value: &bool) -> Option<Setting> {
        Some(Setting::Switch(*value))
    }
}

/// A name of something else than an option.
pub(super) struct Name;

impl Form for Name {
    type Of = String;
    const EXPECTED: &'static str = "a text that is not empty";

    fn read(given: &Setting) -> Result<String, String> {
        word::<Self>(given).map(str::to_owned)
    }

    fn show(value: &String) -> Option<Setting> {
        Some(Setting::Text(value.clone()))
    }
}

/// What no message may repeat.
pub(super) struct Secret;

impl Form for Secret {
    type Of = String;
    const EXPECTED: &'static str = Name::EXPECTED;

    fn read(given: &Setting) -> Result<String, String> {
        Name::read(given).map_err(|_| format!("it is not {}", Self::EXPECTED))
    }

    fn show(value: &String) -> Option<Setting> {
        Name::show(value)
    }
}

/// A file.
pub(super) struct File;

impl Form for File {
    type Of = PathBuf;
    const EXPECTED: &'static str = "the path of a file";

    fn read(given: &Setting) -> Result<PathBuf, String> {
        word::<Self>(given).map(PathBuf::from)
    }

    fn show(value: &PathBuf) -> Option<Setting> {
        Some(Setting::Text(value.to_string_lossy().into_owned()))
    }
}

/// The name of a placement.
pub(super) struct SchemeName;

impl Form for SchemeName {
    type Of = Scheme;
    const EXPECTED: &'static str = "the name of a placement";

    fn read(given: &Setting) -> Result<Scheme, String> {
        let name = word::<Self>(given)?;
        name.parse::<Scheme>().map_err(|error| error.to_string())
    }

    fn show(value: &Scheme) -> Option<Setting> {
        Some(Setting::Text(value.to_string()))
    }
}

/// Where nodes are found.
pub(super) struct Source;

impl Form for Source {
    type Of = DiscoverySource;
    const EXPECTED: &'static str = "a source of nodes such as dns://NAME:PORT";

    fn read(given: &Setting) -> Result<DiscoverySource, String> {
        let source = word::<Self>(given)?.parse::<DiscoverySource>();
        source.map_err(|error| error.detail().to_string())
    }

    fn show(value: &DiscoverySource) -> Option<Setting> {
        Some(Setting::Text(value.to_string()))
    }
}

/// Nodes: in a text they are separated by commas.
pub(super) struct Nodes;

impl Form for Nodes {
    type Of = Vec<NodeConfig>;
    const EXPECTED: &'static str = "a list of nodes such as localhost:11211";

    fn read(given: &Setting) -> Result<Self::Of, String> {
        let read = |(at, text): (usize, &str)| {
            let node = NodeConfig::read(text.trim());
            // What was meant as something else may hold a password.
            node.map_err(|why| format!("node {} of the list is none: {why}", at + 1))
        };
        match given {
            Setting::List(texts) => {
                let texts = texts.iter().map(String::as_str);
                texts.enumerate().map(read).collect()
            }
            Setting::Text(text) => text.split(',').enumerate().map(read).collect(),
            given => Err(unfit::<Self>(given)),
        }
    }

    fn show(value: &Self::Of) -> Option<Setting> {
        let texts: Vec<String> = value.iter().map(written).collect();
        (!texts.is_empty()).then_some(Setting::List(texts))
    }
}

/// The shortest text that is read as this node, if there is any.
fn written(node: &NodeConfig) -> String {
    let (name, endpoint) = (node.name(), node.endpoint());
    // A name that stands for an address may not look like one.
    let address = match endpoint {
        Endpoint::Unix(path) => format!("unix:{}", path.display()),
        Endpoint::Tcp { .. } => endpoint.to_string(),
    };
    let weight = node.weight();
    let candidates = [
        name.to_owned(),
        format!("{name}*{weight}"),
        format!("{name}={address}"),
        format!("{name}={address}*{weight}"),
    ];
    let reads = |text: &String| NodeConfig::read(text).is_ok_and(|read| read == *node);
    let [.., last] = &candidates;
    candidates
        .iter()
        .find(|text| reads(text))
        .unwrap_or(last)
        .clone()
}

/// The name of a policy of reads.
pub(super) struct PolicyName;

impl Form for PolicyName {
    type Of = ReadPolicy;
    const EXPECTED: &'static str = "the name of a policy of reads, such as steady or latency-aware";

    fn read(given: &Setting) -> Result<ReadPolicy, String> {
        let name = word::<Self>(given)?;
        name.parse::<ReadPolicy>()
            .map_err(|error| format!("{}: {}", unfit::<Self>(given), error.detail()))
    }

    fn show(value: &ReadPolicy) -> Option<Setting> {
        Some(Setting::Text(value.to_string()))
    }
}

/// When a write to replicas has succeeded.
pub(super) struct Success;

impl Form for Success {
    type Of = WriteSuccess;
    const EXPECTED: &'static str = "all or any";

    fn read(given: &Setting) -> Result<WriteSuccess, String> {
        match word::<Self>(given)? {
            "all" => Ok(WriteSuccess::All),
            "any" => Ok(WriteSuccess::Any),
            _ => Err(unfit::<Self>(given)),
        }
    }

    fn show(value: &WriteSuccess) -> Option<Setting> {
        let word = match value {
            WriteSuccess::All => "all",
            WriteSuccess::Any => "any",
        };
        Some(Setting::Text(word.to_owned()))
    }
}

/// When a read is hedged: after a time, or after the time of a share of reads.
pub(super) struct Hedging;

impl Form for Hedging {
    type Of = Option<Hedge>;
    const EXPECTED: &'static str = "a duration such as 5ms, a share of reads such as 0.95, or none";

    fn read(given: &Setting) -> Result<Self::Of, String> {
        if let Setting::Text(text) = given {
            if text == "none" {
                return Ok(None);
            }
            if let Some(time) = text::duration(text) {
                return Ok(Some(Hedge::After(time)));
            }
        }
        let share = Share::read(given).map_err(|_| unfit::<Self>(given))?;
        Ok(Some(Hedge::Percentile(share)))
    }

    fn show(value: &Self::Of) -> Option<Setting> {
        match value {
            None => Some(Setting::Text("none".to_owned())),
            Some(Hedge::After(time)) => Time::show(time),
            Some(Hedge::Percentile(share)) => Share::show(share),
        }
    }
}
