//! The page that describes the options has those that there are.

use super::*;
use crate::config::option::OPTIONS;

const PAGE: &str = include_str!("../../../../../docs/configuration.md");

/// Name, value, default and range of each row.
fn rows() -> Vec<[&'static str; 4]> {
    let (_, rest) = PAGE
        .split_once("<!-- options -->")
        .expect("the table begins");
    let (table, _) = rest
        .split_once("<!-- /options -->")
        .expect("the table ends");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let mut cells = line.trim_matches('|').split(" | ").map(str::trim);
        std::array::from_fn(|_| cells.next().expect(line))
    })
    .collect()
}

#[test]
fn the_table_has_each_option_with_its_default() {
    let default = Config::default();
    let expected: Vec<(String, String)> = OPTIONS
        .iter()
        .map(|option| {
            let value = (option.get)(&default).map_or("-".to_owned(), |value| format!("`{value}`"));
            (format!("`{}`", option.name), value)
        })
        .collect();
    let documented: Vec<(String, String)> = rows()
        .into_iter()
        .map(|[name, _, default, _]| (name.to_owned(), default.to_owned()))
        .collect();
    assert_eq!(documented, expected);
}

/// Values at the ends of the ranges, and just beyond them.
#[test]
fn the_table_has_the_ranges() {
    let ranged: Vec<(&str, f64, &str, &str)> = rows()
        .into_iter()
        .filter_map(|[name, _, _, range]| {
            let (least, most) = match range.strip_suffix(" or more") {
                Some(least) => (least, ""),
                None => range.split_once(" to ")?,
            };
            Some((name.trim_matches('`'), least.parse().ok()?, least, most))
        })
        .collect();
    assert!(ranged.len() > 10, "{ranged:?}");
    let builds = |name: &str, value: f64| {
        let context = match name {
            "max_connections" => "&min_connections=0",
            "min_connections" => "&max_connections=9",
            _ => "",
        };
        let url = format!("memcached://h?{name}={value}{context}");
        let config = url.parse::<Config>();
        config.is_ok_and(|config| {
            crate::builder::Builder::default()
                .config(&config)
                .build()
                .is_ok()
        })
    };
    for (name, least, written, most) in ranged {
        let step = if written.contains('.') { 0.01 } else { 1.0 };
        assert!(builds(name, least), "{name}={least}");
        assert!(!builds(name, least - step), "{name} below {least}");
        if let Ok(most) = most.parse::<f64>() {
            assert!(builds(name, most), "{name}={most}");
            assert!(!builds(name, most + step), "{name} above {most}");
        }
    }
}

#[test]
fn the_defaults_are_the_builder_s() {
    let options = Options::default();
    let (config, replication) = (Config::default(), Replication::new(1));
    assert_eq!(config.placement, Scheme::default());
    assert_eq!(config.timeout, options.timeout);
    assert_eq!(config.max_value_size, options.limits.max_value_size);
    assert_eq!(config.hedge, replication.hedge);
    assert_eq!("memcached://".parse::<Config>().unwrap(), config);
}
