//! The value of `--placement`.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use steersman_memcached::Scheme;

/// Reads a placement's name, with its variant or without. The names without variants are those that
/// the help lists and shells complete.
#[derive(Clone)]
pub(super) struct SchemeParser;

impl TypedValueParser for SchemeParser {
    type Value = Scheme;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Scheme, Error> {
        let parser = StringValueParser::new().try_map(|name| name.parse::<Scheme>());
        parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Scheme::NAMES.iter().map(PossibleValue::new)))
    }
}
