//! What a URL means, and which ones are refused.

use std::ffi::OsString;

use steersman_selection::Scheme;

use super::{refused_with, *};
use crate::address::Endpoint;
use crate::builder::Builder;

fn config(url: &str) -> Config {
    url.parse().expect(url)
}

fn names(config: &Config) -> Vec<&str> {
    config.nodes.iter().map(NodeConfig::name).collect()
}

#[test]
fn hosts_are_nodes() {
    let config = config(
        "memcached://cache-1,b=[::1]:5*3,[fe80::1],s=unix:%2Frun%2Fm.sock*2,gr%C3%B6%C3%9Fe/",
    );
    assert_eq!(names(&config), ["cache-1", "b", "[fe80::1]", "s", "größe"]);
    assert_eq!(config.nodes[1].weight(), 3);
    assert_eq!(
        config.nodes[3].endpoint(),
        &Endpoint::Unix("/run/m.sock".into())
    );
    let plain = Config {
        nodes: config.nodes.clone(),
        ..Config::default()
    };
    assert_eq!(config, plain);
}

#[test]
fn emcache_s_names_of_ipv6_addresses_can_be_written() {
    let config = config("memcached://::1:11211=[::1]:11211?placement=emcache");
    assert_eq!(names(&config), ["::1:11211"]);
    assert_eq!(config.placement, Scheme::Emcache);
}

#[test]
fn sockets_have_urls_of_their_own() {
    for url in [
        "unix:/run/m.sock",
        "unix:///run/m.sock",
        "memcached+unix:///run/m.sock",
        "unix:///run/m%2Esock",
    ] {
        assert_eq!(names(&config(url)), ["unix:/run/m.sock"], "{url}");
    }
    let config = config("unix://app:pw@/run/m.sock?timeout=1m");
    assert_eq!(config.user.as_deref(), Some("app"));
    assert_eq!(config.timeout, Some(Duration::from_secs(60)));
    refused_with("unix://run/m.sock", "url", "three slashes");
    refused_with("unix:", "nodes", "path of the Unix socket is empty");
}

#[test]
fn sources_of_nodes_are_urls_too() {
    for (url, written) in [
        ("elasticache://h:1?timeout=2s", "elasticache://h:1"),
        ("dns://name/", "dns://name"),
        (
            "dns+srv://_memcache._tcp.name",
            "dns+srv://_memcache._tcp.name",
        ),
        ("file:///a%20b?nodes=c,d", "file:///a%20b"),
        ("memcached://c,d?discovery=file:///a%2520b", "file:///a%20b"),
        ("dns://u:p@name?tls=on", "dns://name"),
    ] {
        let source = config(url).discovery.expect(url);
        assert_eq!(source.to_string(), written, "{url}");
    }
    assert_eq!(names(&config("file:///n?nodes=c,d")), ["c", "d"]);
    for url in [
        "dns://",
        "dns://h:0",
        "elasticache://",
        "dns+srv://",
        "dns+srv://a:1",
        "file://h/p",
        "dns://h/p",
    ] {
        refused_with(url, "discovery", "");
    }
    refused_with("dns://a?discovery=dns://b", "discovery", "given twice");
}

#[test]
fn options_follow_by_their_names() {
    let config = config(
        "memcached+tls://u%3A@h?timeout=none&slot_bits=20&autobatching=off&max_value_size=64KiB\
         &hedge=5ms&write_success=any&tls_server_name=n&repair=5m&password_file=/p+w&tls_verify=true&key_prefix=app%3A",
    );
    assert_eq!(config.timeout, None);
    assert_eq!(config.placement, Scheme::Rendezvous { slot_bits: 20 });
    assert!(!config.autobatching && config.tls && config.tls_verify);
    assert_eq!(config.max_value_size, 65_536);
    assert_eq!(config.hedge, Some(Hedge::After(Duration::from_millis(5))));
    assert_eq!(config.write_success, WriteSuccess::Any);
    assert_eq!(config.repair, Some(Duration::from_secs(300)));
    assert_eq!(config.password_file, Some("/p+w".into()));
    assert_eq!(config.user.as_deref(), Some("u:"));
    assert_eq!(config.key_prefix.as_deref(), Some("app:"));
    assert_eq!(
        "memcached://?".parse::<Config>().unwrap(),
        Config::default()
    );
}

#[test]
fn what_is_not_understood_is_refused_with_a_hint() {
    for (url, option, why) in [
        ("", "url", "it is no URL: write memcached://"),
        ("localhost", "url", "no URL"),
        ("localhost:11211", "url", "scheme is unknown"),
        ("redis://h", "url", "scheme is unknown: write memcached://"),
        ("memcached:h", "url", "it has a path"),
        ("memcached://h/0", "url", "it has a path"),
        ("memcached://unix:/run/m", "url", "%2F"),
        ("memcached://h#", "url", "%23"),
        ("memcached://h?timeout", "url", "OPTION=VALUE"),
        ("memcached://h?timeout=1s&", "url", "OPTION=VALUE"),
        ("memcached://h%zz", "url", "%25"),
        (
            "memcached://h,",
            "nodes",
            "node 2 of the list is none: the host is empty",
        ),
        ("memcached://::1", "nodes", "in brackets"),
        (
            "memcached://h?timout=1s",
            "config",
            "\"timout\"; the nearest is `timeout`",
        ),
        ("memcached://h?tls-roots=/x", "config", "`tls_roots`"),
        ("memcached://h?=1", "config", "no option \"\""),
        (
            "memcached://h?timeout=1s&timeout=1s",
            "timeout",
            "given twice",
        ),
        ("memcached+tls://h?tls=off", "tls", "given twice"),
        ("memcached://u@h?user=v", "user", "given twice"),
        ("memcached://a?nodes=b", "nodes", "given twice"),
        ("memcached://:p@h", "user", "not empty"),
        (
            "memcached://u:@h",
            "password",
            "not a text that is not empty",
        ),
        (
            "memcached://h?timeout=1",
            "timeout",
            "\"1\" is not a duration above zero such as 250ms",
        ),
        ("memcached://h?timeout=0s", "timeout", "or none"),
        (
            "memcached://h?backoff_max=none",
            "backoff_max",
            "a duration",
        ),
        (
            "memcached://h?max_connections=-1",
            "max_connections",
            "a whole number",
        ),
        (
            "memcached://h?max_connections=",
            "max_connections",
            "a whole number",
        ),
        (
            "memcached://h?unhealthy_after=4294967296",
            "unhealthy_after",
            "a whole number",
        ),
        (
            "memcached://h?hedges_per_read=NaN",
            "hedges_per_read",
            "a number",
        ),
        ("memcached://h?autobatching=1", "autobatching", "on or off"),
        (
            "memcached://h?placement=ketama",
            "placement",
            "rendezvous-exact",
        ),
        ("memcached://h?slot_bits=25", "slot_bits", "8"),
        (
            "memcached://h?slot_bits=9&placement=emcache",
            "slot_bits",
            "`placement` is emcache",
        ),
        (
            "memcached://h?hedge=often",
            "hedge",
            "a share of reads such as 0.95",
        ),
        (
            "memcached://h?write_success=most",
            "write_success",
            "all or any",
        ),
        (
            "memcached://h?discovery=http://x",
            "discovery",
            "write elasticache://",
        ),
    ] {
        refused_with(url, option, why);
    }
}

#[test]
fn options_that_contradict_each_other_are_both_named() {
    for (url, option, other) in [
        ("memcached://h?tls_roots=/x", "tls_roots", "`tls` is off"),
        ("memcached://h?tls_verify=off", "tls_verify", "`tls` is off"),
        (
            "memcached://h?tls=off&tls_cert=/x",
            "tls_cert",
            "`tls` is off",
        ),
        ("memcached+tls://h?tls_key=/x", "tls_key", "`tls_cert`"),
        (
            "memcached+tls://h?tls_verify=off&tls_roots=/x",
            "tls_roots",
            "`tls_verify` is off",
        ),
        (
            "memcached://u:p@h?password_file=/x",
            "password_file",
            "`password`",
        ),
        ("memcached://h?password_file=/x", "password_file", "`user`"),
        (
            "memcached://h?min_connections=3",
            "min_connections",
            "`max_connections`, which is 2",
        ),
        (
            "memcached://h?backoff_max=500ms",
            "backoff_max",
            "`backoff_initial`, which is 1s",
        ),
    ] {
        refused_with(url, option, other);
    }
}

#[test]
fn no_connections_at_all_is_the_fault_of_the_maximum() {
    let built = Builder::from_url("memcached://h?max_connections=0").and_then(Builder::build);
    assert_eq!(built.unwrap_err().option(), Some("max_connections"));
}

#[test]
fn the_environment_has_a_url_nodes_and_a_password() {
    let read = |url: &str, nodes: &str, password: &str| {
        Config::from_variables(|name| {
            let value = match name {
                "STEERSMAN_URL" => url,
                "STEERSMAN_NODES" => nodes,
                "STEERSMAN_PASSWORD" => password,
                _ => return None,
            };
            Some(OsString::from(value))
        })
    };
    assert_eq!(read("", "", "unused").unwrap(), Config::default());
    assert_eq!(names(&read("", "a=h:1, b", "").unwrap()), ["a", "b"]);
    let both = read("memcached://?timeout=5s", "a", "").unwrap();
    assert_eq!(both.timeout, Some(Duration::from_secs(5)));
    assert_eq!(names(&both), ["a"]);
    let password = |url| read(url, "", "of-the-environment").unwrap().password;
    assert_eq!(
        password("memcached://u@h").as_deref(),
        Some("of-the-environment")
    );
    assert_eq!(password("memcached://u:own@h").as_deref(), Some("own"));
    assert_eq!(password("memcached://u@h?password_file=/x"), None);
    for (url, nodes, why) in [
        (
            "memcached://a",
            "b",
            "`STEERSMAN_NODES`: STEERSMAN_URL says which nodes",
        ),
        (
            "dns://a",
            "b",
            "`STEERSMAN_NODES`: STEERSMAN_URL says which nodes",
        ),
        ("memcached://a?x=y", "", "STEERSMAN_URL: there is no option"),
        ("", "a,,b", "STEERSMAN_NODES: node 2 of the list"),
    ] {
        let error = read(url, nodes, "").unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_builder_takes_a_config_and_what_is_set_later_wins() {
    let builder = Builder::from_url("memcached://a?timeout=5s&max_connections=7&max_waiting=3");
    let builder = builder.unwrap().max_connections(9).node("b");
    let client = builder.build().unwrap();
    assert_eq!(client.nodes().len(), 2);
    for (url, option) in [
        ("memcached://", "node"),
        ("memcached://a,a", "node"),
        ("memcached://a?max_in_flight=0", "max_in_flight"),
        ("memcached://a?replicas=17", "replicas"),
        ("memcached://a?replicas=2&hedge=1.5", "hedge"),
        ("memcached://a?backoff_jitter=2", "backoff"),
        ("memcached://u@a", "user"),
        ("memcached://u@a?password_file=/no/file", "password_file"),
        #[cfg(feature = "tls")]
        ("memcached+tls://a?tls_roots=/no/file", "tls_roots"),
        #[cfg(not(feature = "tls"))]
        ("memcached+tls://a", "tls"),
        #[cfg(not(feature = "dns"))]
        ("dns+srv://a", "discovery"),
    ] {
        let error = Builder::from_url(url).unwrap().build().unwrap_err();
        assert_eq!(error.option(), Some(option), "{url}: {error}");
    }
}

#[test]
fn keys_are_sent_as_the_config_says() {
    fn build(url: &str) -> Result<crate::Client, Error> {
        let config: Config = url.parse()?;
        crate::builder::Builder::default().config(&config).build()
    }
    let nodes = "memcached://a,b,c,d";
    for key in ["k", "l", "m", "n", "o", "p"] {
        let prefixed = build(&format!("{nodes}?key_prefix=app%3A")).unwrap();
        let bare = build(nodes).unwrap();
        assert_eq!(
            prefixed.node_for_key(key).unwrap(),
            bare.node_for_key(format!("app:{key}")).unwrap()
        );
    }
    let long = "p".repeat(250);
    for (prefix, why) in [("a%20b", "key"), ("", "not empty"), (&long, "250 bytes")] {
        let error = build(&format!("{nodes}?key_prefix={prefix}")).unwrap_err();
        assert_eq!(error.option(), Some("key_prefix"), "{prefix}");
        assert!(error.to_string().contains(why), "{error}");
    }
}
