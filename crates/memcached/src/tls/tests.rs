//! What is no TLS configuration is refused, and nothing secret is shown.

use super::*;

fn why(tls: Tls) -> String {
    let shown = format!("{tls:?}");
    let Err(error) = tls.layer() else {
        panic!("{shown} was taken")
    };
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(error.option(), Some("tls"));
    error.to_string()
}

#[test]
fn what_is_no_certificate_is_refused() {
    let nothing = "there is no certificate in it";
    for (tls, why_not) in [
        (Tls::new().roots(""), nothing),
        (Tls::new().roots("words"), nothing),
        (Tls::new().roots("").extra_ca(""), "the roots"),
        (
            Tls::new().roots("-----BEGIN CERTIFICATE-----\n"),
            "it is no PEM",
        ),
        (
            Tls::new().roots("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            "the roots",
        ),
        (
            Tls::new()
                .dangerously_without_verification()
                .client_certificate("", ""),
            nothing,
        ),
        (
            Tls::new()
                .dangerously_without_verification()
                .server_name("a b"),
            "neither a host name",
        ),
    ] {
        let said = why(tls);
        assert!(said.contains(why_not), "{said}");
    }
}

#[test]
fn a_name_is_what_the_address_says_or_what_is_set() {
    let any = Tls::new().dangerously_without_verification();
    let tcp = |host: &str| Endpoint::Tcp {
        host: host.to_owned(),
        port: 1,
    };
    let layer = any.clone().layer().unwrap();
    for host in ["cache-1", "cache.internal.", "10.0.0.1", "::1"] {
        let name = layer.name_of(&tcp(host)).unwrap();
        assert_eq!(name, ServerName::try_from(host).unwrap());
    }
    let named = any.server_name("other").layer().unwrap();
    let other = ServerName::try_from("other").unwrap();
    for host in ["cache-1", "größe"] {
        assert_eq!(named.name_of(&tcp(host)).unwrap(), other);
    }
    assert!(layer.check(&tcp("größe")).is_err());
    assert!(named.check(&Endpoint::Unix("/m".into())).is_err());
}

#[test]
fn a_key_is_not_shown() {
    let tls = Tls::new().client_certificate("chain", "hush");
    let shown = format!("{tls:?}");
    assert!(
        !shown.contains("hush") && shown.contains("client_certificate: true"),
        "{shown}"
    );
}
