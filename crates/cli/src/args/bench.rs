//! `bench`, with its arguments.

use std::fmt;

use clap::{Args, ValueEnum};

pub(crate) const EXAMPLES: &str = "\
Examples:
  steersman bench
  steersman --node cache-1,cache-2 bench --tasks 256 --ratio 1:1 --value-size 1000
  steersman --node cache-1,cache-2 bench --rate 50000 --seconds 60 --json";

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// How many connections to each node
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) connections: u16,
    /// How many tasks ask, each of which waits for its answer
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) tasks: u16,
    /// How long the load lasts
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) seconds: u32,
    /// The bytes of each value
    #[arg(long, value_name = "B", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) value_size: u32,
    /// How many gets there are to how many sets, drawn at random
    #[arg(long, value_name = "GET:SET", default_value = "9:1", value_parser = ratio)]
    pub(crate) ratio: Ratio,
    /// Whether concurrent gets of one node share a request
    #[arg(long, value_name = "ON/OFF", default_value = "on")]
    pub(crate) batching: Switch,
    /// How many threads the tasks run on [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// How many keys there are, all equally likely
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) keys: u32,
    /// Operations a second, begun when they are due as long as a task is free; latency counts from
    /// when they were due [default: as many as the tasks can do]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) rate: Option<u32>,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::On => "on",
            Self::Off => "off",
        })
    }
}

/// So many gets to so many sets; not both are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ratio {
    pub(crate) gets: u16,
    pub(crate) sets: u16,
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.gets, self.sets)
    }
}

fn ratio(text: &str) -> Result<Ratio, &'static str> {
    let number = |digits: &str| {
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| is_number)
    };
    let ratio = text.split_once(':').and_then(|(gets, sets)| {
        let (gets, sets) = (number(gets)?, number(sets)?);
        Some(Ratio { gets, sets })
    });
    match ratio {
        Some(Ratio { gets: 0, sets: 0 }) => Err("give at least one get or one set"),
        Some(ratio) => Ok(ratio),
        None => Err("write two whole numbers up to 65535 with a colon between, as in 9:1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_two_numbers_of_which_one_may_be_zero() {
        for (text, gets, sets) in [
            ("9:1", 9, 1),
            ("1:0", 1, 0),
            ("0:1", 0, 1),
            ("65535:65535", 65535, 65535),
        ] {
            assert_eq!(ratio(text), Ok(Ratio { gets, sets }));
            assert_eq!(Ratio { gets, sets }.to_string(), text);
        }
        for text in [
            "", ":", "1", "1:", ":1", "0:0", "1:1:1", "-1:2", "+1:2", " 1:2", "65536:1", "a:b",
        ] {
            assert!(ratio(text).is_err(), "{text}");
        }
    }
}
