use proptest::prelude::*;

use super::*;

fn prefixed(prefix: &[u8]) -> KeyRules {
    KeyRules {
        prefix: prefix.into(),
        #[cfg(feature = "long-keys")]
        hash_long: false,
    }
}

fn message(result: Result<SentKey>) -> String {
    let error = result.err().expect("the key cannot be sent");
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
    error.to_string()
}

#[test]
fn a_prefix_stands_in_front_of_the_key() {
    assert_eq!(&*prefixed(b"app:").sent(b"k").unwrap(), b"app:k");
    assert_eq!(&*prefixed(b"").sent(b"k").unwrap(), b"k");
    let longest = vec![b'k'; 246];
    assert_eq!(prefixed(b"app:").sent(&longest).unwrap().len(), 250);
}

#[test]
fn a_key_that_cannot_be_sent_is_refused_in_the_callers_terms() {
    let rules = prefixed(b"app:");
    assert!(message(rules.sent(b"")).contains("empty"));
    let too_long = message(rules.sent(&[b'k'; 247]));
    assert!(
        too_long.contains("251 bytes") && too_long.contains("prefix has 4 of them"),
        "{too_long}"
    );
    let without = message(prefixed(b"").sent(&[b'k'; 251]));
    assert!(!without.contains("prefix"), "{without}");
}

#[test]
fn a_prefix_that_leaves_no_room_or_is_no_part_of_a_key_is_a_configuration_error() {
    assert!(prefixed(&[b'p'; 249]).validate().is_ok());
    for (prefix, says) in [(&[b'p'; 250][..], "at most 249"), (b"my app:", "0x20")] {
        let error = prefixed(prefix).validate().unwrap_err();
        assert_eq!(error.option(), Some("key_prefix"));
        assert!(error.to_string().contains(says), "{error}");
    }
}

proptest! {
    #[test]
    fn bytes_make_a_key_with_a_prefix_if_they_make_one_without_and_there_is_room(
        key in proptest::collection::vec(any::<u8>(), 0..300),
        prefix in proptest::collection::vec(33_u8..127, 0..250),
    ) {
        let fits = prefix.len() + key.len() <= 250;
        let sent = prefixed(&prefix).sent(&key);
        prop_assert_eq!(sent.is_ok(), !key.is_empty() && fits);
        if let Ok(sent) = sent {
            prop_assert_eq!(Key::new(&sent).is_ok(), Key::new(&key).is_ok());
            prop_assert_eq!(&*sent, [prefix, key].concat());
        }
    }
}

#[cfg(feature = "long-keys")]
mod long {
    use super::*;

    fn hashing(prefix: &[u8]) -> KeyRules {
        KeyRules {
            prefix: prefix.into(),
            hash_long: true,
        }
    }

    /// As `printf %s KEY | sha256sum` has it.
    #[test]
    fn the_form_of_a_long_key_never_changes() {
        let key = format!("https://example.com/{}end", "a/".repeat(140));
        let sent = hashing(b"app:").sent(key.as_bytes()).unwrap();
        let expected = format!(
            "app:https://example.com/{}:sha256:f398b0bd83398614818131aff1d2f7c219cb2befd5f8635f2a642dafb65ed7f2",
            "a/".repeat(77)
        );
        assert_eq!(std::str::from_utf8(&sent), Ok(&*expected));
    }

    #[test]
    fn it_begins_at_250_bytes_so_that_no_other_key_can_have_that_form() {
        let rules = hashing(b"app:");
        let plain = [b'k'; 245];
        assert_eq!(
            &*rules.sent(&plain).unwrap(),
            [&b"app:"[..], &plain].concat()
        );
        let digest = b":sha256:22258fa3a48e19b037dce0121fb6cf4aa6a29040d0b5b0feab0a65fd9a04eb96";
        let sent = rules.sent(&[b'k'; 246]).unwrap();
        assert!(sent.ends_with(digest));
        assert_eq!(sent.len(), 250);
        // The form itself, given as a key without the prefix's client, is another key.
        let again = hashing(b"").sent(&sent).unwrap();
        assert_ne!(*again, *sent);
    }

    #[test]
    fn a_forbidden_byte_is_found_in_the_part_that_is_not_sent_too() {
        let mut key = vec![b'k'; 1000];
        key[777] = b'\n';
        assert!(message(hashing(b"").sent(&key)).contains("position 777"));
    }

    #[test]
    fn the_digest_takes_room_from_the_prefix() {
        assert!(hashing(&[b'p'; 178]).validate().is_ok());
        assert_eq!(hashing(&[b'p'; 178]).sent(&[b'k'; 300]).unwrap().len(), 250);
        let error = hashing(&[b'p'; 179]).validate().unwrap_err();
        assert!(error.to_string().contains("at most 178"), "{error}");
    }

    proptest! {
        #[test]
        fn long_keys_that_differ_are_sent_as_keys_that_differ(
            one in proptest::collection::vec(33_u8..127, 1..600),
            at in any::<proptest::sample::Index>(),
            prefix in proptest::collection::vec(33_u8..127, 0..=178),
        ) {
            let rules = hashing(&prefix);
            let mut other = one.clone();
            let at = at.index(other.len());
            other[at] ^= 0x80;
            let (sent, of_other) = (rules.sent(&one).unwrap(), rules.sent(&other).unwrap());
            prop_assert!(Key::new(&sent).is_ok());
            prop_assert_ne!(&*sent, &*of_other);
        }
    }
}
