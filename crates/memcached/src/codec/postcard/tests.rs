//! What is read is what the `postcard` crate reads, within bounds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::*;

const MAX: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f64),
    Line(i16, i32),
    Text { at: (u8, char), text: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Meters(f32);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Everything {
    flag: bool,
    signed: (i8, i16, i32, i64, i128),
    unsigned: (u8, u16, u32, u64, u128),
    shapes: Vec<Shape>,
    named: BTreeMap<String, Option<Meters>>,
    nothing: ((), [(); 3], Vec<()>),
}

#[derive(Debug, Serialize, Deserialize)]
enum Chain {
    End,
    Link(Box<Self>),
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    Postcard.decode(Postcard::mark(bytes.to_vec()), MAX)
}

fn shapes() -> impl Strategy<Value = Shape> {
    let point = (0..i64::MAX).prop_map(|_| Shape::Point);
    let text = (any::<(u8, char)>(), ".{0,5}").prop_map(|(at, text)| Shape::Text { at, text });
    prop_oneof![
        point,
        // One that equals itself.
        any::<i32>().prop_map(|radius| Shape::Circle(radius.into())),
        any::<(i16, i32)>().prop_map(|(x, y)| Shape::Line(x, y)),
        text,
    ]
}

fn everything() -> impl Strategy<Value = Everything> {
    (
        any::<bool>(),
        any::<(i8, i16, i32, i64, i128)>(),
        any::<(u8, u16, u32, u64, u128)>(),
        prop::collection::vec(shapes(), 0..5),
        prop::collection::btree_map(".{0,5}", any::<Option<i8>>(), 0..5),
        0..5_usize,
    )
        .prop_map(
            |(flag, signed, unsigned, shapes, named, nothing)| Everything {
                flag,
                signed,
                unsigned,
                shapes,
                named: named
                    .into_iter()
                    .map(|(name, length)| (name, length.map(|length| Meters(length.into()))))
                    .collect(),
                nothing: ((), [(); 3], vec![(); nothing]),
            },
        )
}

/// Of whatever bytes: what one takes for a value, the other takes for the same.
fn agree<T: DeserializeOwned + Debug>(bytes: &[u8]) -> Result<(), TestCaseError> {
    let theirs = match postcard::take_from_bytes::<T>(bytes) {
        Ok((value, [])) => Some(value),
        _ => None,
    };
    // As text, in which one NaN is like another.
    prop_assert_eq!(
        format!("{:?}", read::<T>(bytes).ok()),
        format!("{theirs:?}")
    );
    Ok(())
}

proptest! {
    #[test]
    fn what_is_written_is_read(value in everything()) {
        let encoded = Postcard.encode(&value).unwrap();
        let decoded: Everything = Postcard.decode(encoded.clone(), MAX).unwrap();
        prop_assert_eq!(&decoded, &value);
        for end in 0..encoded.data.len() {
            prop_assert!(read::<Everything>(&encoded.data[..end]).is_err());
        }
    }

    #[test]
    fn arbitrary_bytes_are_read_as_the_format_says(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0..4_u8, 0x7e..=0x82_u8], 0..24),
    ) {
        agree::<(u16, i16, bool)>(&bytes)?;
        agree::<(u32, i32)>(&bytes)?;
        agree::<(u64, i64)>(&bytes)?;
        agree::<u128>(&bytes)?;
        agree::<i128>(&bytes)?;
        agree::<(f32, Option<f64>)>(&bytes)?;
        agree::<(String, Vec<u8>)>(&bytes)?;
        agree::<Vec<Shape>>(&bytes)?;
        agree::<BTreeMap<u8, Vec<i8>>>(&bytes)?;
    }
}

#[test]
fn a_list_of_nothing_is_bounded() {
    // 2^64 - 1 elements, which would take centuries.
    let endless = [[0xff; 9].as_slice(), &[1]].concat();
    let why = "more than 65,536 of its elements take no bytes";
    for error in [
        read::<Vec<()>>(&endless).unwrap_err(),
        read::<BTreeSet<()>>(&endless).unwrap_err(),
        read::<Vec<[(); 2]>>(&endless).unwrap_err(),
    ] {
        assert_eq!(error.kind(), CodecErrorKind::Corrupt);
        assert!(error.to_string().contains(why), "{error}");
    }
    // The bound is that of the whole value, and what has content does not count.
    let lists = |lengths: &[usize]| {
        let lists: Vec<_> = lengths.iter().map(|length| vec![(); *length]).collect();
        read::<Vec<Vec<()>>>(&Postcard.encode(&lists).unwrap().data)
    };
    assert_eq!(lists(&[65_536]).unwrap()[0].len(), 65_536);
    assert!(lists(&[65_536, 1]).is_err());
    let bytes = vec![7_u8; 100_000];
    let encoded = Postcard.encode(&bytes).unwrap();
    assert_eq!(read::<Vec<u8>>(&encoded.data).unwrap(), bytes);
}

#[test]
fn a_list_that_says_more_than_there_is_reserves_nothing() {
    struct Reserving;
    impl<'de> Deserialize<'de> for Reserving {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Reserving;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("a list")
                }
                fn visit_seq<A: serde::de::SeqAccess<'de>>(
                    self,
                    list: A,
                ) -> Result<Reserving, A::Error> {
                    assert_eq!(list.size_hint(), Some(1));
                    Ok(Reserving)
                }
            }
            deserializer.deserialize_seq(Visitor)
        }
    }
    assert!(read::<Reserving>(&[0xff, 0xff, 0x03, 0]).is_err());
}

#[test]
fn a_value_that_contains_itself_is_bounded() {
    // So deep that the stack would end.
    let error = read::<Chain>(&vec![1; 1_000_000]).unwrap_err();
    assert!(error.to_string().contains("128 deep"), "{error}");
    let chain = |links| (0..links).fold(Chain::End, |chain, _| Chain::Link(Box::new(chain)));
    for (links, is_read) in [(127, true), (128, false)] {
        let encoded = Postcard.encode(&chain(links)).unwrap();
        assert_eq!(read::<Chain>(&encoded.data).is_ok(), is_read);
    }
}
