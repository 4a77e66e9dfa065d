//! Values as the other clients wrote them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use proptest::prelude::*;

use super::*;

const MAX: usize = 1 << 16;

fn stored(flags: u32, hexadecimal: &str) -> Encoded {
    let digits = hexadecimal.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    Encoded {
        data: digits.map(byte).collect(),
        flags,
    }
}

fn read<C: Decode<T>, T>(codec: &C, flags: u32, hexadecimal: &str) -> T {
    let decoded = codec.decode(stored(flags, hexadecimal), MAX);
    decoded.unwrap_or_else(|error| panic!("{flags} {hexadecimal}: {error}"))
}

fn refusal<C: Decode<Scalar>>(
    codec: &C,
    flags: u32,
    hexadecimal: &str,
) -> (CodecErrorKind, String) {
    let error = codec.decode(stored(flags, hexadecimal), MAX).unwrap_err();
    (error.kind(), error.to_string())
}

fn assert_corrupt<C: Decode<Scalar>>(codec: &C, values: &[(u32, &str)]) {
    for (flags, data) in values {
        let (kind, _) = refusal(codec, *flags, data);
        assert_eq!(kind, CodecErrorKind::Corrupt, "{flags} {data}");
    }
}

fn text(text: &str) -> Scalar {
    Scalar::Text(text.to_owned())
}

/// Written by `PickleSerde` of pymemcache 4.0.0.
#[test]
fn pymemcache_values() {
    let read = |flags, data| read::<_, Scalar>(&Pymemcache, flags, data);
    assert_eq!(read(0, "72617700"), Scalar::Bytes(b"raw\0"[..].into()));
    assert_eq!(read(16, "68c3a96c6c6f"), text("héllo"));
    assert_eq!(read(2, "3730303030"), Scalar::Integer(70_000));
    assert_eq!(read(2, "2d35"), Scalar::Integer(-5));
    // A long of Python 2, and a number that memcached has counted down from 10.
    assert_eq!(read(4, "3730303030"), Scalar::Integer(70_000));
    assert_eq!(read(2, "3920"), Scalar::Integer(9));
}

#[test]
fn pymemcache_values_that_are_not_read() {
    let refusal = |flags, data| refusal(&Pymemcache, flags, data);
    // True, and a list.
    for pickled in ["8005882e", "80059508000000000000005d948c016194612e"] {
        let (kind, says) = refusal(1, pickled);
        assert_eq!(kind, CodecErrorKind::Unsupported);
        assert!(says.contains("Python's pickle"), "{says}");
    }
    assert_eq!(refusal(32, "78").0, CodecErrorKind::UnknownFlags);
    assert_eq!(refusal(18, "31").0, CodecErrorKind::UnknownFlags);
    assert_eq!(refusal(2, "78").0, CodecErrorKind::Corrupt);
    assert_eq!(refusal(2, "").0, CodecErrorKind::Corrupt);
    assert_eq!(refusal(2, "2b35").0, CodecErrorKind::Corrupt);
    assert_eq!(refusal(16, "ff").0, CodecErrorKind::Corrupt);
    // 2 ** 70
    let (kind, says) = refusal(2, "31313830353931363230373137343131333033343234");
    assert_eq!(kind, CodecErrorKind::WrongType);
    assert!(says.contains("64 bits"), "{says}");
}

/// Written by `CompressedSerde(min_compress_len=40)` of pymemcache 4.0.0.
#[cfg(feature = "zlib")]
#[test]
fn pymemcache_values_that_are_compressed() {
    let read = |flags, data| read::<_, Scalar>(&Pymemcache, flags, data);
    let letters = read(24, "789c4b4c4a4e494d4b1c522400bb8645f7");
    assert_eq!(letters, text(&"abcdef".repeat(30)));
    let zeros = read(8, "789c6360181e000000c80001");
    assert_eq!(zeros, Scalar::Bytes([0; 200][..].to_vec().into()));
}

/// Written by pylibmc 1.6.3.
#[test]
fn pylibmc_values() {
    let read = |flags, data| read::<_, Scalar>(&Pylibmc, flags, data);
    assert_eq!(read(0, "72617700"), Scalar::Bytes(b"raw\0"[..].into()));
    assert_eq!(read(16, "68c3a96c6c6f"), text("héllo"));
    assert_eq!(read(16, ""), text(""));
    assert_eq!(read(4, "3730303030"), Scalar::Integer(70_000));
    assert_eq!(read(4, "2d35"), Scalar::Integer(-5));
    assert_eq!(read(2, "31"), Scalar::Boolean(true));
    assert_eq!(read(2, "30"), Scalar::Boolean(false));
}

#[test]
fn pylibmc_values_that_are_not_read() {
    let refusal = |flags, data| refusal(&Pylibmc, flags, data);
    // 1.5, and a list that was compressed.
    let (float, list) = ("8005950a00000000000000473ff80000000000002e", "789c6b60");
    for (flags, pickled) in [(1, float), (9, list)] {
        let (kind, says) = refusal(flags, pickled);
        assert_eq!(kind, CodecErrorKind::Unsupported);
        assert!(says.contains("Python's pickle"), "{says}");
    }
    for flags in [6, 18, 32] {
        assert_eq!(refusal(flags, "31").0, CodecErrorKind::UnknownFlags);
    }
    assert_corrupt(&Pylibmc, &[(2, "32"), (2, ""), (4, "78"), (16, "ff")]);
}

/// Written by pylibmc 1.6.3 with `min_compress_len` of 40.
#[cfg(feature = "zlib")]
#[test]
fn pylibmc_values_that_are_compressed() {
    let read = |flags, data| read::<_, Scalar>(&Pylibmc, flags, data);
    let letters = "789c4b4c4a4e494d4b1c522400bb8645f7";
    assert_eq!(read(24, letters), text(&"abcdef".repeat(30)));
    let zeros = "789c6360181e000000c80001";
    assert_eq!(read(8, zeros), Scalar::Bytes(vec![0; 200].into()));
}

/// Written by `SerializingTranscoder` of spymemcached 2.12.3.
#[test]
fn spymemcached_values() {
    let read = |flags, data| read::<_, Scalar>(&Spymemcached, flags, data);
    assert_eq!(read(0, "68c3a96c6c6f"), text("héllo"));
    assert_eq!(read(0, ""), text(""));
    assert_eq!(read(256, "31"), Scalar::Boolean(true));
    assert_eq!(read(256, "30"), Scalar::Boolean(false));
    assert_eq!(read(512, "011170"), Scalar::Integer(70_000));
    assert_eq!(read(512, "ffffffff"), Scalar::Integer(-1));
    assert_eq!(read(512, ""), Scalar::Integer(0));
    assert_eq!(
        read(768, "011f71fb04cb"),
        Scalar::Integer(1_234_567_890_123)
    );
    assert_eq!(read(768, "fffffffffffffffe"), Scalar::Integer(-2));
    assert_eq!(read(768, ""), Scalar::Integer(0));
    let date = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    assert_eq!(read(1024, "018bcfe56800"), Scalar::Time(date));
    assert_eq!(read(1280, "fd"), Scalar::Integer(-3));
    assert_eq!(read(1280, "00"), Scalar::Integer(0));
    assert_eq!(read(1536, "3fc00000"), Scalar::Float(1.5));
    assert_eq!(read(1536, ""), Scalar::Float(0.0));
    assert_eq!(read(1792, "c002000000000000"), Scalar::Float(-2.25));
    assert_eq!(
        read(2048, "0001ff"),
        Scalar::Bytes(b"\0\x01\xff"[..].into())
    );
    // A date before 1970.
    let day_before = UNIX_EPOCH - Duration::from_secs(86_400);
    assert_eq!(read(1024, "fffffffffad9a400"), Scalar::Time(day_before));
}

#[test]
fn spymemcached_values_that_are_not_read() {
    let refusal = |flags, data| refusal(&Spymemcached, flags, data);
    let (kind, says) = refusal(1, "aced0005737200136a6176612e7574696c2e41727261794c697374");
    assert_eq!(kind, CodecErrorKind::Unsupported);
    assert!(says.contains("Java"), "{says}");
    for flags in [4, 9 << 8, 257, 1 << 16] {
        assert_eq!(refusal(flags, "31").0, CodecErrorKind::UnknownFlags);
    }
    let corrupt = [
        (256, "32"),
        (256, ""),
        (512, "0102030405"),
        (1280, "0102"),
        (0, "ff"),
    ];
    assert_corrupt(&Spymemcached, &corrupt);
}

/// Written by spymemcached 2.12.3 with a compression threshold of 64 bytes.
#[cfg(feature = "zlib")]
#[test]
fn spymemcached_values_that_are_compressed() {
    let read = |flags, data| read::<_, Scalar>(&Spymemcached, flags, data);
    let letters = "1f8b08000000000000ff4b4c4a4e494d4b1c522400e23d9273b4000000";
    assert_eq!(read(2, letters), text(&"abcdef".repeat(30)));
    let zeros = "1f8b08000000000000ff6360181e000076a871c9c8000000";
    assert_eq!(read(2050, zeros), Scalar::Bytes(vec![0; 200].into()));
}

#[test]
fn dalli_values() {
    let read = |flags, data| read::<_, Scalar>(&Dalli, flags, data);
    assert_eq!(read(0, "3432"), Scalar::Bytes("42".into()));
    assert_eq!(read(4, "68c3a96c6c6f"), text("héllo"));
    let refusal = |flags, data| refusal(&Dalli, flags, data);
    // Marshal.dump(nil)
    let (kind, says) = refusal(1, "040830");
    assert_eq!(kind, CodecErrorKind::Unsupported);
    assert!(says.contains("Marshal"), "{says}");
    assert_eq!(refusal(8, "31").0, CodecErrorKind::UnknownFlags);
    assert_eq!(refusal(4, "ff").0, CodecErrorKind::Corrupt);
}

#[cfg(feature = "zlib")]
#[test]
fn dalli_values_that_are_compressed() {
    let read = |flags, data| read::<_, String>(&Dalli, flags, data);
    // By zlib, and by gzip.
    assert_eq!(
        read(6, "789c4b4c4a4e494d4b1c522400bb8645f7"),
        "abcdef".repeat(30)
    );
    let gzip = "1f8b08000000000000ff4b4c4a4e494d4b1c522400e23d9273b4000000";
    assert_eq!(read(2, gzip), "abcdef".repeat(30));
    // A text that has the bit of compressed ones by the mistake of versions before 5.0.4.
    assert_eq!(refusal(&Dalli, 2, "416461").0, CodecErrorKind::Corrupt);
}

#[cfg(feature = "zlib")]
#[test]
fn what_is_decompressed_is_bounded() {
    let zeros = stored(8, "789c6360181e000000c80001");
    let decode = |max| Decode::<Bytes>::decode(&Pymemcache, zeros.clone(), max);
    assert_eq!(decode(200).unwrap().len(), 200);
    assert_eq!(decode(199).unwrap_err().kind(), CodecErrorKind::TooLarge);
}

#[test]
fn a_scalar_is_read_as_the_type_that_is_expected_or_refused() {
    assert_eq!(read::<_, u8>(&Pymemcache, 2, "323535"), 255);
    assert_eq!(read::<_, String>(&Pymemcache, 0, "416461"), "Ada");
    assert_eq!(read::<_, Vec<u8>>(&Pymemcache, 16, "416461"), b"Ada");
    assert!(read::<_, bool>(&Spymemcached, 256, "31"));
    assert_eq!(read::<_, SystemTime>(&Spymemcached, 1024, ""), UNIX_EPOCH);
    let refused = |error: CodecError| (error.kind(), error.to_string());
    let wide = Decode::<u8>::decode(&Pymemcache, stored(2, "323536"), MAX);
    let (kind, says) = refused(wide.unwrap_err());
    assert_eq!(kind, CodecErrorKind::WrongType);
    assert_eq!(says, "is 256, which is out of the range of u8");
    let number = Decode::<i64>::decode(&Pymemcache, stored(16, "35"), MAX);
    let (kind, says) = refused(number.unwrap_err());
    assert_eq!(kind, CodecErrorKind::WrongType);
    assert_eq!(says, "is text, and was to be read as an integer");
}

proptest! {
    #[test]
    fn arbitrary_values_are_read_within_the_bound_or_refused(
        data in proptest::collection::vec(any::<u8>(), 0..300),
        flags in prop_oneof![0..32_u32, (0..10_u32).prop_map(|kind| kind << 8), any::<u32>()],
    ) {
        let value = Encoded { data: data.into(), flags };
        for read in [
            Dalli.decode(value.clone(), 100),
            Pylibmc.decode(value.clone(), 100),
            Pymemcache.decode(value.clone(), 100),
            Spymemcached.decode(value, 100),
        ] {
            match read {
                Ok(Scalar::Bytes(bytes)) => prop_assert!(bytes.len() <= 100),
                Ok(Scalar::Text(text)) => prop_assert!(text.len() <= 100),
                Ok(_) | Err(_) => {}
            }
        }
    }

    #[test]
    fn numbers_of_spymemcached_are_what_was_packed(number: i64) {
        let bytes = number.to_be_bytes();
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        let value = Encoded { data: Bytes::copy_from_slice(&bytes[zeros..]), flags: 768 };
        let read: i64 = Spymemcached.decode(value, 100).unwrap();
        prop_assert_eq!(read, number);
    }
}
