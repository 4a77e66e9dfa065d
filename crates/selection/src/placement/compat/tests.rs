//! What is hashed of names, and what the members of a placement have to be.

use super::text;
use crate::{
    Compat, ErrorKind, LibmemcachedHash, McrouterWeights, Member, Placement, PymemcacheKeys,
    Scheme, SpymemcachedNames, TwemproxyHash, UhashringRing,
};

const KETAMA: Compat = Compat::LibmemcachedKetama(LibmemcachedHash::OneAtATime);
const SPY: Compat = Compat::LibmemcachedKetamaSpy(LibmemcachedHash::Md5);
const TWEMPROXY: Compat = Compat::TwemproxyKetama(TwemproxyHash::Fnv1a64);
const PYMEMCACHE: Compat = Compat::Pymemcache(PymemcacheKeys::Str);
const UHASHRING: Compat = Compat::Uhashring(UhashringRing::Md5);
const MCROUTER: Compat = Compat::McrouterRendezvous(McrouterWeights::Equal);
const JAVA: Compat = Compat::SpymemcachedKetama(SpymemcachedNames::Spymemcached);
const JAVA_AS_C: Compat = Compat::SpymemcachedKetama(SpymemcachedNames::Libmemcached);

#[test]
fn names_are_hashed_as_each_client_has_them() {
    for (name, texts) in [
        (
            "h:11211",
            ["h", "/h:11211", "h", "h:11211", "h:11211", "h:11211"],
        ),
        ("h", ["h", "/h:11211", "h", "h:11211", "h:11211", "h:11211"]),
        ("h:1", ["h:1", "/h:1", "h:1", "h:1", "h:1", "h:1"]),
        (
            "[::1]:11211",
            [
                "::1",
                "/::1:11211",
                "::1",
                "::1:11211",
                "[::1]:11211",
                "[::1]:11211",
            ],
        ),
        (
            "::1",
            [
                "::1",
                "/::1:11211",
                "::1",
                "::1:11211",
                "::1:11211",
                "::1:11211",
            ],
        ),
        (
            "[::1]",
            [
                "::1",
                "/::1:11211",
                "::1",
                "::1:11211",
                "[::1]:11211",
                "[::1]:11211",
            ],
        ),
        (
            "11211",
            [
                "11211",
                "/11211:11211",
                "11211",
                "11211:11211",
                "11211:11211",
                "11211:11211",
            ],
        ),
        ("unix:/m", ["/m:0", "//m:0", "/m:", "/m", "/m", "/m"]),
    ] {
        let schemes = [KETAMA, SPY, TWEMPROXY, PYMEMCACHE, UHASHRING, MCROUTER];
        for (scheme, expected) in schemes.into_iter().zip(texts) {
            assert_eq!(text(scheme, name).unwrap(), expected, "{scheme} {name}");
        }
    }
    let memcachio = |name| text(Compat::Memcachio, name).unwrap();
    assert_eq!(memcachio("h"), "TCPEndpoint(host='h', port=11211):");
    assert_eq!(memcachio("/m"), "/m:");
}

#[test]
fn spymemcached_hashes_addresses() {
    for (name, java, c) in [
        ("10.0.0.1", "10.0.0.1:11211", "10.0.0.1"),
        ("10.0.0.1:1", "10.0.0.1:1", "10.0.0.1:1"),
        ("h/10.0.0.1", "h/10.0.0.1:11211", "h"),
        ("h/10.0.0.1:1", "h/10.0.0.1:1", "h:1"),
    ] {
        assert_eq!(text(JAVA, name).unwrap(), java);
        assert_eq!(text(JAVA_AS_C, name).unwrap(), c);
    }
    assert_eq!(text(JAVA_AS_C, "h:11211").unwrap(), "h");
    for name in [
        "h",
        "h:11211",
        "h/i:11211",
        "h/",
        "/10.0.0.1:11211",
        "h/10.0.0.1/1",
    ] {
        let error = text(JAVA, name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidName, "{name}");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn no_scheme_takes_what_is_no_address() {
    for scheme in Compat::all() {
        for name in [
            ":11211",
            "10.0.0.1:",
            "10.0.0.1:0",
            "10.0.0.1:65536",
            "[::1",
            "a:b:11211",
        ] {
            let error = Placement::new(Scheme::Compat(scheme), [Member::new(name)]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidName, "{scheme} {name}");
        }
    }
}

#[test]
fn weights_are_taken_where_the_client_has_some() {
    let with = |scheme, weight| {
        let members = [
            Member::new("10.0.0.1"),
            Member::new("10.0.0.2").weighted(weight),
        ];
        Placement::new(Scheme::Compat(scheme), members)
    };
    for scheme in Compat::all() {
        let knows_none = matches!(
            scheme,
            Compat::SpymemcachedModula(_)
                | Compat::Pymemcache(_)
                | Compat::Gomemcache
                | Compat::McrouterCh3
                | Compat::McrouterCrc32
                | Compat::Memcachio
        );
        match with(scheme, 2) {
            Ok(_) => assert!(!knows_none, "{scheme}"),
            Err(error) => {
                assert!(knows_none, "{scheme}");
                assert_eq!(error.kind(), ErrorKind::InvalidWeight);
                assert!(error.to_string().contains(&scheme.to_string()), "{error}");
            }
        }
    }
    let error = with(UHASHRING, 65_535).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidWeight);
    // libmemcached's modula ignores them.
    let modula = Compat::LibmemcachedModula(LibmemcachedHash::Md5);
    let (equal, weighted) = (with(modula, 1).unwrap(), with(modula, 9).unwrap());
    for key in 0..100_u32 {
        let key = key.to_le_bytes();
        assert_eq!(equal.owner(&key), weighted.owner(&key));
    }
}

/// Members whose weights are far apart get as little as the clients' arithmetic says: nothing.
#[test]
fn a_node_may_have_no_point_at_all() {
    let weighted = Compat::LibmemcachedKetamaWeighted(LibmemcachedHash::Md5);
    for scheme in [
        weighted,
        TWEMPROXY,
        Compat::Dalli,
        Compat::Uhashring(UhashringRing::Ketama),
    ] {
        let members = [
            Member::new("10.0.0.1"),
            Member::new("10.0.0.2").weighted(1 << 13),
        ];
        let mut placement = Placement::new(Scheme::Compat(scheme), members).unwrap();
        let mut nodes = [crate::NodeIndex::default(); 3];
        for key in 0..100_u32 {
            let key = key.to_le_bytes();
            assert_eq!(
                placement.owner(&key).map(crate::NodeIndex::get),
                Some(1),
                "{scheme}"
            );
            assert_eq!(placement.replicas(&key, &mut nodes), 2);
            assert_eq!([nodes[0].get(), nodes[1].get()], [1, 0]);
        }
        placement.deactivate(nodes[0]);
        assert_eq!(placement.owner(b"key"), Some(nodes[1]));
    }
}
