//! A password is in no text but those that are for it.

use proptest::prelude::*;

use super::*;
use crate::builder::Builder;

const SECRET: &str = "hunter2";

fn assert_hidden(text: &str, url: &str) {
    assert!(!text.contains(SECRET), "{url}: {text}");
}

fn assert_kept(url: &str) {
    match url.parse::<Config>() {
        Ok(config) => {
            if config.password.is_some() {
                assert_hidden(&config.to_string(), url);
                assert_hidden(&format!("{config:?} {config:#?}"), url);
            }
            if let Err(error) = Builder::default().config(&config).build() {
                assert_hidden(&format!("{error} {error:?}"), url);
            }
        }
        Err(error) => assert_hidden(&format!("{error} {error:?}"), url),
    }
}

#[test]
fn a_config_does_not_show_it() {
    let config: Config = "memcached://u:hunter2@h?timeout=5s".parse().unwrap();
    assert_eq!(config.password.as_deref(), Some(SECRET));
    assert_eq!(config.to_string(), "memcached://u:***@h?timeout=5s");
    let shown = format!("{config:?}");
    assert!(
        shown.contains("password: ***") && shown.contains("user: u"),
        "{shown}"
    );
    assert_hidden(&shown, "");
    assert!(config.to_url().unwrap().contains(SECRET));
}

#[test]
fn an_error_does_not_show_it_wherever_the_url_is_cut() {
    for url in [
        "u:hunter2@h",
        "memcached:u:hunter2@h",
        "memcached//u:hunter2@h",
        "redis://u:hunter2@h",
        "memcached://u:hunter2",
        "memcached://u:hunter2,h",
        "memcached://u:hunter2@",
        "memcached://u:pa?hunter2@h",
        "memcached://u:pa?hunter2=1@h",
        "memcached://u:pa/hunter2@h",
        "memcached://u:pa#hunter2@h",
        "memcached://u:p@hunter2@h",
        "memcached://u:hunter2%@h",
        "memcached://u:hunter2%00@h",
        "memcached://u:hunter2@h?x=1",
        "memcached://u:hunter2@h:port",
        "memcached://h?password=hunter2",
        "memcached://h?password=a&hunter2",
        "memcached://h?password=a&hunter2=b",
        "memcached://h?hunter2=b&password=a",
        "memcached://:hunter2@h",
        "unix://u:hunter2@h/p",
        "dns://u:hunter2@h:0",
        "dns://h?discovery=dns://u:hunter2%40h",
        "memcached://h?nodes=memcached://u:hunter2%40h",
    ] {
        assert_kept(url);
    }
    let error = "redis://u:hunter2@h".parse::<NodeConfig>().unwrap_err();
    assert_hidden(&error.to_string(), "a node");
    let error = Config::from_variables(|name| {
        (name == "STEERSMAN_NODES").then(|| "memcached://u:hunter2@h".into())
    });
    assert_hidden(&error.unwrap_err().to_string(), "STEERSMAN_NODES");
}

proptest! {
    /// As it is when someone forgets to encode a password.
    #[test]
    fn no_password_that_is_not_encoded_is_shown(before in "[ -~]{0,6}", after in "[ -~]{0,6}") {
        for url in [
            format!("memcached://user:{before}{SECRET}{after}@host:11211?timeout=1s"),
            format!("dns://user:{before}{SECRET}{after}@host"),
            format!("unix://user:{before}{SECRET}{after}@/path?timeout=1"),
        ] {
            assert_kept(&url);
        }
    }
}
