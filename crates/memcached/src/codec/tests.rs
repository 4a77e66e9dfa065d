use proptest::prelude::*;

use super::layout::Flags;
use super::*;

/// Longer than any value of these tests.
const MAX: usize = 1 << 20;

/// Every way in which a value may be stored.
fn stored_forms(encoded: Encoded) -> Vec<Encoded> {
    vec![
        #[cfg(feature = "zstd")]
        Compression::zstd()
            .level(-3)
            .above(0)
            .apply(encoded.clone()),
        #[cfg(feature = "zstd")]
        Compression::zstd()
            .level(19)
            .above(0)
            .apply(encoded.clone()),
        #[cfg(feature = "lz4")]
        Compression::lz4().above(0).apply(encoded.clone()),
        encoded,
    ]
}

fn kind<T: std::fmt::Debug>(result: Result<T, CodecError>) -> CodecErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn the_flags_say_mark_compression_and_format() {
    let flags = |encoded: Encoded| encoded.flags;
    assert_eq!(flags(Raw.encode(&b"x"[..]).unwrap()), 0x5354_0001);
    assert_eq!(flags(Utf8.encode("x").unwrap()), 0x5354_0002);
    #[cfg(feature = "json")]
    assert_eq!(flags(Json.encode(&1).unwrap()), 0x5354_0003);
    #[cfg(feature = "postcard")]
    assert_eq!(flags(Postcard.encode(&1).unwrap()), 0x5354_0004);
    let long = Raw.encode(&[0; 2000]).unwrap();
    #[cfg(feature = "zstd")]
    assert_eq!(flags(Compression::zstd().apply(long.clone())), 0x5354_0101);
    #[cfg(feature = "lz4")]
    assert_eq!(flags(Compression::lz4().apply(long.clone())), 0x5354_0201);
    assert_eq!(flags(long), 0x5354_0001);
}

#[test]
fn a_value_of_another_format_is_named() {
    let text = Utf8.encode("{}").unwrap();
    let error = Decode::<Bytes>::decode(&Raw, text, MAX).unwrap_err();
    assert_eq!(error.kind(), CodecErrorKind::WrongType);
    let says = "is in the format UTF-8, and was to be read as raw bytes";
    assert_eq!(error.to_string(), says);
    for (format, name) in [(9, "does not know"), (200, "one of an application")] {
        let flags = Flags::of(format).to_bits();
        let data = Bytes::new();
        let error = Decode::<String>::decode(&Utf8, Encoded { data, flags }, MAX).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_value_of_an_unknown_compression_is_an_error() {
    let value = Encoded {
        data: "text".into(),
        flags: 0x5354_0902,
    };
    let error = Decode::<String>::decode(&Utf8, value, MAX).unwrap_err();
    assert_eq!(error.kind(), CodecErrorKind::Unsupported);
    assert!(error.to_string().contains("number 9"), "{error}");
}

#[cfg(not(feature = "lz4"))]
#[test]
fn a_compression_that_was_left_out_names_its_feature() {
    let value = Encoded {
        data: "text".into(),
        flags: 0x5354_0202,
    };
    let error = Decode::<String>::decode(&Utf8, value, MAX).unwrap_err();
    assert_eq!(error.kind(), CodecErrorKind::Unsupported);
    assert!(error.to_string().contains("feature `lz4`"), "{error}");
}

#[test]
fn bytes_that_are_not_what_the_flags_say_are_an_error() {
    let bytes = |data: &[u8], format| Encoded {
        data: Bytes::copy_from_slice(data),
        flags: Flags::of(format).to_bits(),
    };
    let corrupt = CodecErrorKind::Corrupt;
    assert_eq!(kind::<String>(Utf8.decode(bytes(b"\xff", 2), MAX)), corrupt);
    #[cfg(feature = "json")]
    for broken in [&b"{"[..], b"1 2", b"\"text\"", b""] {
        assert_eq!(kind::<i32>(Json.decode(bytes(broken, 3), MAX)), corrupt);
    }
    #[cfg(feature = "postcard")]
    for broken in [&b""[..], b"\x80", b"\x01\x01"] {
        assert_eq!(kind::<u32>(Postcard.decode(bytes(broken, 4), MAX)), corrupt);
    }
}

#[cfg(feature = "json")]
#[test]
fn json_nested_without_end_is_an_error() {
    let value = Json::mark("[".repeat(500_000));
    assert_eq!(
        kind::<serde_json::Value>(Json.decode(value, MAX)),
        CodecErrorKind::Corrupt
    );
}

#[cfg(feature = "json")]
#[test]
fn what_has_no_form_is_an_error_when_it_is_stored() {
    let by_pairs = std::collections::HashMap::from([((1, 2), 3)]);
    assert_eq!(kind(Json.encode(&by_pairs)), CodecErrorKind::Encode);
}

#[test]
fn a_value_longer_than_allowed_is_an_error() {
    for stored in stored_forms(Raw.encode(&[7; 5000]).unwrap()) {
        let fits: Result<Bytes, _> = Raw.decode(stored.clone(), 5000);
        assert_eq!(fits.unwrap(), [7; 5000][..]);
        assert_eq!(
            kind::<Bytes>(Raw.decode(stored, 4999)),
            CodecErrorKind::TooLarge
        );
    }
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..2000),
        // What can be compressed.
        (any::<u8>(), 0..5000_usize).prop_map(|(byte, len)| vec![byte; len]),
    ]
}

proptest! {
    #[test]
    fn whatever_is_stored_is_read_back_however_it_was_compressed(
        bytes in any_bytes(),
        text: String,
        number in proptest::num::f64::NORMAL,
    ) {
        for stored in stored_forms(Raw.encode(&bytes).unwrap()) {
            prop_assert!(stored.data.len() <= bytes.len());
            let read: Vec<u8> = Raw.decode(stored, MAX).unwrap();
            prop_assert_eq!(&read, &bytes);
        }
        for stored in stored_forms(Utf8.encode(&text).unwrap()) {
            let read: String = Utf8.decode(stored, MAX).unwrap();
            prop_assert_eq!(&read, &text);
        }
        let record = (text, bytes, Some(7_i64), [1.5, number]);
        #[cfg(feature = "json")]
        for stored in stored_forms(Json.encode(&record).unwrap()) {
            let read: (String, Vec<u8>, Option<i64>, [f64; 2]) = Json.decode(stored, MAX).unwrap();
            prop_assert_eq!(&read, &record);
        }
        #[cfg(feature = "postcard")]
        for stored in stored_forms(Postcard.encode(&record).unwrap()) {
            let read: (String, Vec<u8>, Option<i64>, [f64; 2]) =
                Postcard.decode(stored, MAX).unwrap();
            prop_assert_eq!(&read, &record);
        }
        let _ = record;
    }

    /// Of any flags, and of those that would be read.
    #[test]
    fn arbitrary_values_are_read_within_the_bound_or_refused(
        bytes in any_bytes(),
        compression in 0..4_u8,
        flags: u32,
    ) {
        const BOUND: usize = 1000;
        for format in [1, 2, 3, 4] {
            for flags in [flags, Flags { compression, format }.to_bits()] {
                let value = Encoded { data: Bytes::copy_from_slice(&bytes), flags };
                let raw: Result<Bytes, _> = Raw.decode(value.clone(), BOUND);
                prop_assert!(raw.is_err() || format == 1);
                prop_assert!(raw.is_err() || raw.unwrap().len() <= BOUND);
                let text: Result<String, _> = Utf8.decode(value.clone(), BOUND);
                prop_assert!(text.is_err() || text.unwrap().len() <= BOUND);
                #[cfg(feature = "json")]
                let _ = Decode::<serde_json::Value>::decode(&Json, value.clone(), BOUND);
                #[cfg(feature = "postcard")]
                let _ = Decode::<(String, Vec<u64>)>::decode(&Postcard, value.clone(), BOUND);
            }
        }
    }

    #[test]
    fn flags_without_the_mark_are_never_read(bytes in any_bytes(), flags: u32) {
        prop_assume!(flags >> 16 != 0x5354);
        let value = Encoded { data: bytes.into(), flags };
        prop_assert_eq!(kind::<Bytes>(Raw.decode(value, MAX)), CodecErrorKind::UnknownFlags);
    }
}
