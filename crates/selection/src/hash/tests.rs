//! The hashes of other clients against what those clients answered.

use serde_json::Value;

use super::murmur3_32::Murmur3;
use super::{crc, digest, fnv, hsieh, jenkins, murmur2, murmur3_32, one_at_a_time, text, widened};

fn signed(key: &[u8]) -> impl Iterator<Item = u32> {
    key.iter().copied().map(widened)
}

fn function(name: &str) -> Option<fn(&[u8]) -> u32> {
    Some(match name {
        "libmemcached:DEFAULT" => one_at_a_time::one_at_a_time,
        "libmemcached:MD5" | "spymemcached:KETAMA_HASH" => digest::md5_32,
        "libmemcached:CRC" | "spymemcached:CRC_HASH" => crc::crc32_15,
        "libmemcached:FNV1_64" => |key| fnv::fnv1_64(signed(key)),
        "libmemcached:FNV1A_64" => |key| fnv::fnv1a_64(signed(key)),
        "libmemcached:FNV1_32" => |key| fnv::fnv1_32(signed(key)),
        "libmemcached:FNV1A_32" => |key| fnv::fnv1a_32(signed(key)),
        // That build has no such hash and answers 1 to all; twemproxy's vectors pin it.
        "libmemcached:HSIEH" => return None,
        "libmemcached:MURMUR" => murmur2::murmur2_32,
        "libmemcached:JENKINS" => jenkins::jenkins,
        "libmemcached:MURMUR3" => murmur3_32::murmur3_32,
        "spymemcached:NATIVE_HASH" => text::java_hash_code,
        "spymemcached:FNV1_64_HASH" => |key| fnv::fnv1_64(text::utf16_units(key)),
        "spymemcached:FNV1A_64_HASH" => |key| fnv::fnv1a_64(text::utf16_units(key)),
        "spymemcached:FNV1_32_HASH" => |key| fnv::fnv1_32(text::utf16_units(key)),
        "spymemcached:FNV1A_32_HASH" => |key| fnv::fnv1a_32(text::utf16_units(key)),
        "pymemcache:murmur3_32 seed0 (str code points)" => |key| {
            let mut state = Murmur3::new(0);
            for point in text::code_points(key) {
                state.update(&point.to_le_bytes()[..1]);
            }
            state.finish()
        },
        _ => panic!("{name} is not known"),
    })
}

#[test]
fn every_hash_is_that_of_its_client() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/compat.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let hashes = file["hashes"].as_array().unwrap();
    assert_eq!(hashes.len(), 19);
    for list in hashes {
        let name = list["hash"].as_str().unwrap();
        let Some(hash) = function(name) else { continue };
        let keys = file["keys"].as_array().unwrap().iter();
        for (key, value) in keys.zip(list["values"].as_array().unwrap()) {
            let found = hash(key.as_str().unwrap().as_bytes());
            assert_eq!(u64::from(found), value.as_u64().unwrap(), "{name} {key}");
        }
    }
}

#[test]
fn no_bytes_at_all() {
    assert_eq!(one_at_a_time::one_at_a_time(b""), 0);
    assert_eq!(hsieh::hsieh(b""), 0);
    assert_eq!(jenkins::jenkins(b""), 0xdead_bef0 + 12);
    assert_eq!(digest::md5_32(b""), 0xd98c_1dd4);
}
