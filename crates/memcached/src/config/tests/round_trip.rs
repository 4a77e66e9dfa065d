//! Any config is read as it was written, and no text is too much.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use steersman_selection::Scheme;

use super::*;
use crate::address::Endpoint;

fn time() -> impl Strategy<Value = Duration> {
    (
        0..5_000_000_u64,
        prop_oneof![Just(1), Just(1_000), Just(1_000_000), Just(1_000_000_000)],
    )
        .prop_map(|(count, unit)| Duration::from_nanos((count + 1) * unit))
}

fn limit() -> impl Strategy<Value = Option<Duration>> {
    of(time())
}

fn share() -> impl Strategy<Value = f64> {
    (0..=1000_u16).prop_map(|share| f64::from(share) / 1000.0)
}

/// Whatever memcached or a file system takes, delimiters of URLs and of other formats too.
fn word() -> impl Strategy<Value = String> {
    "[ -~äß\"\\\\]{1,12}"
}

fn file() -> impl Strategy<Value = Option<PathBuf>> {
    of(word().prop_map(|word| PathBuf::from(format!("/{word}"))))
}

fn node() -> impl Strategy<Value = NodeConfig> {
    let host = prop_oneof![
        "[a-z][a-z0-9.-]{0,9}",
        Just("::1".to_owned()),
        Just("10.0.0.1".to_owned())
    ];
    let endpoint = prop_oneof![
        (host, 1..=u16::MAX).prop_map(|(host, port)| Endpoint::Tcp { host, port }),
        "/[a-z*=%/?#&0-9]{1,9}".prop_map(|path| Endpoint::Unix(path.into())),
    ];
    let name = of("[a-z%?#&+:ß][a-z%?#&+:*0-9]{0,9}");
    (endpoint, name, 1..9_u32).prop_map(|(endpoint, name, weight)| {
        let name = name.unwrap_or_else(|| endpoint.to_string());
        NodeConfig::new(name, endpoint).weighted(weight)
    })
}

fn source() -> impl Strategy<Value = DiscoverySource> {
    prop_oneof![
        "elasticache://[a-z]{1,9}:1[0-9]{0,3}",
        "dns://[a-z.]{1,9}",
        "dns\\+srv://_[a-z.]{1,9}",
        "file:///[a-z/,=*]{1,9}%25%3f",
    ]
    .prop_map(|text| text.parse().expect("a source"))
}

fn placement() -> impl Strategy<Value = Scheme> {
    prop_oneof![
        (8..=24_u8).prop_map(|slot_bits| Scheme::Rendezvous { slot_bits }),
        prop::sample::select(Scheme::all().collect::<Vec<_>>()),
    ]
}

fn hedge() -> impl Strategy<Value = Option<Hedge>> {
    of(prop_oneof![
        time().prop_map(Hedge::After),
        share().prop_map(Hedge::Percentile),
    ])
}

prop_compose! {
    fn limits()(
        discovery_interval in time(),
        discovery_timeout in limit(),
        resolve_interval in limit(),
        timeout in limit(),
        connection_timeout in limit(),
        purge_unused_connections_after in limit(),
        stalled_after in limit(),
        backoff_initial in time(),
        more in time(),
        backoff_jitter in share(),
        min_connections in 0..9_usize,
        more_connections in 0..9_usize,
        purge_unhealthy_nodes: bool,
    ) -> Config {
        Config {
            discovery_interval,
            discovery_timeout,
            resolve_interval,
            timeout,
            connection_timeout,
            purge_unused_connections_after,
            stalled_after,
            backoff_initial,
            backoff_max: backoff_initial + more,
            backoff_jitter,
            min_connections,
            max_connections: min_connections + more_connections,
            purge_unhealthy_nodes,
            ..Config::default()
        }
    }
}

prop_compose! {
    fn counts()(
        base in limits(),
        numbers in (0..9_usize, 0..9_usize, 0..9_usize, 0..9_usize, any::<u32>(), 0..u32::MAX as usize),
        autobatching: bool,
        placement in placement(),
        replicas in 0..20_usize,
        any in any::<bool>(),
        read_policy in prop::sample::select(ReadPolicy::ALL.to_vec()),
        attempt_timeout in limit(),
        hedge in hedge(),
        hedges_per_read in share(),
        hedge_burst: u32,
        next_on_miss: bool,
        repair in limit(),
    ) -> Config {
        Config {
            autobatching,
            autobatching_max_keys: numbers.0,
            max_in_flight: numbers.1,
            max_waiting: numbers.2,
            open_connection_above: numbers.3,
            unhealthy_after: numbers.4,
            max_value_size: numbers.5,
            placement,
            replicas,
            read_policy,
            write_success: if any { WriteSuccess::Any } else { WriteSuccess::All },
            attempt_timeout,
            hedge,
            hedges_per_read,
            hedge_burst,
            next_on_miss,
            repair,
            ..base
        }
    }
}

prop_compose! {
    fn configs()(
        base in counts(),
        nodes in vec(node(), 0..4),
        discovery in of(source()),
        user in of(word()),
        password in of(word()),
        password_file in file(),
        tls: bool,
        verify: bool,
        files in (file(), file(), file(), file()),
        tls_server_name in of(word()),
        key_prefix in of(word()),
        hash_long_keys: bool,
    ) -> Config {
        let when = |given: bool, file: Option<PathBuf>| file.filter(|_| given);
        let tls_cert = when(tls, files.2);
        Config {
            nodes,
            discovery,
            password_file: when(user.is_some() && password.is_none(), password_file),
            password: password.filter(|_| user.is_some()),
            user,
            tls,
            tls_verify: verify || !tls,
            tls_roots: when(tls && verify, files.0),
            tls_extra_ca: when(tls && verify, files.1),
            tls_key: when(tls_cert.is_some(), files.3),
            tls_cert,
            tls_server_name: tls_server_name.filter(|_| tls),
            key_prefix,
            hash_long_keys,
            ..base
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_url_is_read_as_it_was_written(config in configs()) {
        let url = match config.to_url() {
            Ok(url) => url,
            // A name that reads as an address and a weight, as `a*2`, cannot be written.
            Err(error) => {
                prop_assert_eq!(error.option(), Some("nodes"), "{:?}", config);
                return Ok(());
            }
        };
        prop_assert_eq!(&url.parse::<Config>().unwrap(), &config, "{}", url);
        prop_assert!(url.is_ascii());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn toml_and_json_are_read_as_they_were_written(config in configs()) {
        if config.settings().is_err() {
            return Ok(());
        }
        let text = toml::to_string(&config).unwrap();
        prop_assert_eq!(&toml::from_str::<Config>(&text).unwrap(), &config, "{}", text);
        let text = serde_json::to_string(&config).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Config>(&text).unwrap(), &config, "{}", text);
    }

    #[test]
    fn any_text_is_a_config_or_an_error(text in ".{0,200}") {
        let _ = text.parse::<Config>();
    }

    #[test]
    fn any_text_after_a_scheme_is_a_config_or_a_short_error(
        scheme in prop_oneof![
            Just("memcached"), Just("memcached+tls"), Just("unix"), Just("dns"), Just("file"),
        ],
        rest in "(//)?([a-z=*:%@,?&0-9/\\[\\]]{0,20}|[a-z_]{1,9}=[0-9a-z%]{0,5}&?|[?&]){0,6}",
        long in 0..2_000_usize,
    ) {
        let text = format!("{scheme}:{rest}{}", "x".repeat(long));
        match text.parse::<Config>() {
            Ok(config) => {
                // What was read can be written, and that is read as the same.
                let url = config.to_url().unwrap();
                prop_assert_eq!(url.parse::<Config>().unwrap(), config);
            }
            Err(error) => prop_assert!(error.to_string().len() < 4_000, "{}", error),
        }
    }
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let config = Config {
        backoff_jitter: f64::NAN,
        ..Config::default()
    };
    let error = config.to_url().unwrap_err();
    assert_eq!(error.option(), Some("backoff_jitter"));
    let endpoint = Endpoint::Tcp {
        host: "h".to_owned(),
        port: 1,
    };
    let config = Config {
        nodes: vec![NodeConfig::new("a,b", endpoint)],
        ..Config::default()
    };
    assert_eq!(config.to_url().unwrap_err().option(), Some("nodes"));
    #[cfg(feature = "serde")]
    assert!(toml::to_string(&config).is_err());
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        let path = std::ffi::OsString::from_vec(vec![b'/', 0xff]);
        let config = Config {
            user: Some("u".to_owned()),
            password_file: Some(path.into()),
            ..Config::default()
        };
        assert!(config.to_url().is_err());
    }
}

#[cfg(feature = "serde")]
#[test]
fn files_have_types_and_refuse_the_wrong_ones() {
    let text = "nodes = ['a', 'b=h:1*2']\ntimeout = '250ms'\nmax_connections = 4\ntls = false\nhedge = 0.9\nmax_value_size = 1024\nbackoff_jitter = 1";
    let config: Config = toml::from_str(text).unwrap();
    assert_eq!(config.nodes.len(), 2);
    assert_eq!(config.hedge, Some(Hedge::Percentile(0.9)));
    assert_eq!((config.max_connections, config.max_value_size), (4, 1024));
    let url: Config = serde_json::from_str("\"memcached://a?timeout=5s\"").unwrap();
    assert_eq!(url.timeout, Some(Duration::from_secs(5)));
    for (json, why) in [
        ("{\"timout\": \"1s\"}", "the nearest is `timeout`"),
        ("{\"timeout\": 1}", "\\\"1\\\" is not a duration"),
        ("{\"timeout\": null}", "invalid type: null"),
        ("{\"timeout\": [\"1s\"]}", "is not a duration"),
        ("{\"timeout\": {\"a\": 1}}", "invalid type: map"),
        ("{\"tls\": 1}", "on or off"),
        ("{\"max_waiting\": -1}", "a whole number"),
        ("{\"max_waiting\": 1.5}", "a whole number"),
        ("{\"user\": true}", "a text that is not empty"),
        ("{\"nodes\": [1]}", "invalid type: integer"),
        ("{\"nodes\": [[\"a\"]]}", "invalid type: sequence"),
        ("{\"nodes\": true}", "a list of nodes"),
        ("{\"timeout\": \"1s\", \"timeout\": \"1s\"}", "given twice"),
        ("{\"tls_roots\": \"/x\"}", "`tls` is off"),
        ("[]", "a map of the client's options, or a URL"),
    ] {
        let error = serde_json::from_str::<Config>(json)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(&why.replace("\\\"", "\"")),
            "{json}: {error}"
        );
    }
    let error = serde_json::from_str::<Config>("{\"user\": \"u\", \"password\": 12345}");
    assert!(!error.unwrap_err().to_string().contains("12345"));
}
