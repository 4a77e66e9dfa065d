//! URLs, variables of the environment, TOML and JSON.
//!
//! A config that is read is read again from what it writes; and the password shows nowhere but where it
//! is asked for.

use std::ffi::OsString;

use steersman_memcached::{Config, DiscoverySource};

/// The password in inputs that have one, as it stands in a URL.
const PASSWORD: &str = ":S3CR3T@";

/// Runs the target.
pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    // As each begins; a text that is taken for another form would only be refused by it.
    let first_line = text.lines().next().unwrap_or_default();
    if text.starts_with(['{', '"', '[']) {
        serde_json::from_str(text).iter().for_each(check);
    } else if first_line.contains(" = ") || first_line.starts_with(['#', '[']) {
        toml::from_str(text).iter().for_each(check);
    } else if text.contains('\n') {
        environment(text).iter().for_each(check);
    } else {
        url(text);
    }
}

fn url(text: &str) {
    match text.parse::<Config>() {
        Ok(config) => check(&config),
        Err(error) => {
            // What is shown does not depend on the password; the same letters may stand elsewhere, too.
            let other = text.replace(PASSWORD, ":an0th3r@").parse::<Config>();
            let shown = format!("{error} {error:?}");
            let other = other.map_err(|error| format!("{error} {error:?}"));
            assert_eq!(other.err().as_ref(), Some(&shown));
        }
    }
    if let Ok(source) = text.parse::<DiscoverySource>() {
        let written = source.to_string().parse().ok();
        assert_eq!(written.as_ref(), Some(&source));
    }
    if let Some(time) = Config::parse_duration(text) {
        let is_number = text.starts_with(|first: char| first.is_ascii_digit());
        assert!(is_number, "{text:?} is {time:?}");
    }
}

/// Three lines: the URL, the nodes, the password.
fn environment(text: &str) -> Option<Config> {
    let mut lines = text.splitn(3, '\n');
    let [url, nodes, password] = [(); 3].map(|()| lines.next().map(OsString::from));
    let config = Config::from_variables(|name| match name {
        "STEERSMAN_URL" => url.clone(),
        "STEERSMAN_NODES" => nodes.clone(),
        _ => password.clone(),
    });
    config.ok()
}

fn check(config: &Config) {
    // What was read from a text can be written, as every text that says it.
    let url = config
        .to_url()
        .unwrap_or_else(|error| panic!("{config:?}: {error}"));
    assert_eq!(url.parse::<Config>().ok().as_ref(), Some(config), "{url}");
    let json = serde_json::to_string(config).expect("what has a URL can be written");
    assert_eq!(
        serde_json::from_str::<Config>(&json).ok().as_ref(),
        Some(config),
        "{json}"
    );
    let toml = toml::to_string(config).expect("what has a URL can be written");
    assert_eq!(
        toml::from_str::<Config>(&toml).ok().as_ref(),
        Some(config),
        "{toml}"
    );

    if config.password.is_some() {
        // What is shown does not depend on the password.
        let mut other = config.clone();
        other.password = Some("another".to_owned());
        assert_eq!(config.to_string(), other.to_string());
        assert_eq!(format!("{config:?}"), format!("{other:?}"));
    }
}
