//! Reading a file: one scenario, or several variants of it.

use serde::Deserialize;
use toml::{Table, Value};

use super::Scenario;
use crate::{Error, ErrorKind};

/// Longer than anybody writes.
const MAX_LENGTH: usize = 1 << 24;

impl Scenario {
    /// Reads a scenario, or all variants of one.
    ///
    /// A file without `[[variants]]` is one scenario. With them it is as many: each variant has a `name`
    /// and any options of a scenario, which replace those of the file. Of the tables `load`, `clients` and
    /// `keys` only what the variant names is replaced, lists are replaced as a whole.
    pub fn parse(text: &str) -> Result<Vec<Self>, Error> {
        if text.len() > MAX_LENGTH {
            return Err(Error::option(
                "the length",
                text.len(),
                "write 16 MiB at most",
            ));
        }
        let mut table: Table = toml::from_str(text).map_err(|error| unreadable(text, &error))?;
        if table.is_empty() {
            let message = "nothing is in it; write a name, a title, a duration, a load and servers";
            return Err(Error::new(ErrorKind::InvalidScenario, message));
        }
        let Some(variants) = table.remove("variants") else {
            return Ok(vec![read(table)?]);
        };
        let name = table
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let variants = variants
            .try_into::<Vec<Table>>()
            .map_err(|error| malformed(&error))?;
        if variants.is_empty() {
            return Err(Error::option(
                "variants",
                "none",
                "write some, or leave it out",
            ));
        }
        variants
            .into_iter()
            .map(|mut variant| {
                let Some(Value::String(own)) = variant.remove("name") else {
                    return Err(Error::option("variants.name", "none", "give each a name"));
                };
                let mut whole = table.clone();
                merge(&mut whole, variant);
                whole.insert("name".to_owned(), Value::String(format!("{name}/{own}")));
                read(whole)
            })
            .collect()
    }
}

fn read(table: Table) -> Result<Scenario, Error> {
    let scenario = Scenario::deserialize(table).map_err(|error| malformed(&error))?;
    scenario.validate()?;
    Ok(scenario)
}

/// What is no TOML.
fn unreadable(text: &str, error: &toml::de::Error) -> Error {
    let before = text.get(..error.span().unwrap_or_default().start);
    let line = 1 + before.map_or(0, |before| before.matches('\n').count());
    let message = format!("line {line}: {}", error.message());
    Error::new(ErrorKind::InvalidScenario, message)
}

/// What is no scenario, though it is TOML.
fn malformed(error: &toml::de::Error) -> Error {
    let mut message = error.to_string().trim_end().replace('\n', " ");
    for (types, words) in PLAIN {
        message = message.replace(types, words);
    }
    Error::new(ErrorKind::InvalidScenario, message)
}

/// For the names of types, which the parser tells, what somebody who writes a scenario calls them.
const PLAIN: [(&str, &str); 6] = [
    ("expected f64", "expected a number"),
    (
        "expected u32",
        "expected a whole number from 0 to 4294967295",
    ),
    ("expected usize", "expected a whole number from 0 on"),
    ("expected u8", "expected a whole number from 0 to 255"),
    (
        "wanted exactly 1 element,",
        "choose exactly one of its kinds:",
    ),
    (
        "invalid type: unit variant, expected newtype variant",
        "it needs a value, as in { slower = 3 }",
    ),
];

/// Puts the options of `other` over those of `table`.
fn merge(table: &mut Table, other: Table) {
    for (key, value) in other {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => inner.extend(value),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = r#"
        name = "x"
        title = "t"
        duration = "1s"
        load = { rate = 10, arrivals = "regular" }
        servers = [{ count = 2, service = { fixed = "1ms" } }]
    "#;

    #[test]
    fn variants_are_laid_over_the_file() {
        let text = format!(
            "{BASE}\n[[variants]]\nname = 'a'\nload = {{ rate = 20 }}\n[[variants]]\nname = 'b'\ntitle = 'other'\n"
        );
        let [a, b] = Scenario::parse(&text).unwrap().try_into().unwrap();
        assert_eq!((a.name.as_str(), a.load.rate), ("x/a", Some(20.0)));
        assert_eq!(a.load.arrivals, super::super::Arrivals::Regular);
        assert_eq!((b.name.as_str(), b.title.as_str()), ("x/b", "other"));
        assert_eq!(b.load.rate, Some(10.0));
    }

    #[test]
    fn mistakes_are_named() {
        for (addition, named) in [
            ("speed = 1", "speed"),
            ("warm-up = '1s'", "warm-up"),
            ("clients = { count = 0 }", "clients.count"),
            ("clients = { busy = 0.2 }", "clients.busy"),
            ("clients = { timeout = '0s' }", "clients.timeout"),
            ("keys = { count = 5, replicas = 3 }", "keys.replicas"),
            ("keys = { count = 5, replicas = 1, zipf = -1 }", "keys.zipf"),
            (
                "faults = [{ servers = [2], effect = 'stalled' }]",
                "faults.servers",
            ),
            (
                "faults = [{ servers = 'all', effect = 'silent' }]",
                "clients.timeout",
            ),
            (
                "faults = [{ servers = 'all', effect = { slower = 0 } }]",
                "slower",
            ),
            (
                "faults = [{ servers = 'all', effect = 'down', every = '1us' }]",
                "faults.every",
            ),
            ("speed", "line 8: "),
            ("warm-up = 1", "a span of time in quotes"),
            ("warm-up = '1001h'", "up to \"1000h\""),
            ("clients = { count = -1 }", "a whole number"),
            ("clients = { retries = 300 }", "from 0 to 255"),
            (
                "faults = [{ servers = [-1], effect = 'down' }]",
                "write numbers of servers",
            ),
            (
                "faults = [{ servers = 'all', effect = 'slower' }]",
                "{ slower = 3 }",
            ),
            (
                "faults = [{ servers = 'all', effect = { slower = 2, cold = 2 } }]",
                "exactly one of its kinds",
            ),
            (
                "faults = [{ servers = 'all', effect = 'down', from = '1s' }]",
                "faults.from",
            ),
            ("variants = []", "variants"),
            ("variants = [{}]", "variants.name"),
            (
                "published = [{ policy = 'best', measure = 'p99', value = 1, margin = 1 }]",
                "best",
            ),
            (
                "published = [{ policy = 'steady', measure = 'p99', value = 0, margin = 1 }]",
                "published.value",
            ),
        ] {
            let error = Scenario::parse(&format!("{BASE}\n{addition}\n")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidScenario);
            assert!(error.to_string().contains(named), "{addition}: {error}");
        }
        assert!(Scenario::parse(BASE).is_ok());
    }
}
