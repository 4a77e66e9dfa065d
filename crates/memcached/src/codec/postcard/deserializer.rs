//! Values of types that serde describes, from postcard's bytes.

use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

use super::reader::{ReadError, Reader, Result};

/// How deep a value may be nested; as in JSON.
const MAX_DEPTH: u32 = 128;
/// How many elements may take no bytes: those that do are bounded by the value's size.
const MAX_EMPTY: u32 = 65_536;

/// Reads one value.
pub(super) struct Deserializer<'de> {
    reader: Reader<'de>,
    /// How much deeper it may go.
    depth: u32,
    /// How many more elements may take no bytes.
    empty: u32,
}

impl<'de> Deserializer<'de> {
    pub(super) fn new(bytes: &'de [u8]) -> Self {
        Self {
            reader: Reader::new(bytes),
            depth: MAX_DEPTH,
            empty: MAX_EMPTY,
        }
    }

    /// How many bytes were not read.
    pub(super) fn left_over(&self) -> usize {
        self.reader.left()
    }

    /// Reads what may contain the same again.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let Some(depth) = self.depth.checked_sub(1) else {
            return Err(ReadError::new("it is nested more than 128 deep"));
        };
        self.depth = depth;
        let read = read(self);
        self.depth += 1;
        read
    }

    /// An element was read, and so many bytes were left before.
    fn count(&mut self, left: usize) -> Result<()> {
        if self.reader.left() < left {
            return Ok(());
        }
        let why = "more than 65,536 of its elements take no bytes";
        self.empty = self.empty.checked_sub(1).ok_or(ReadError::new(why))?;
        Ok(())
    }
}

/// Half of the numbers are negative: 0, -1, 1, -2 and so on.
macro_rules! signed {
    ($($method:ident $visit:ident $read:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            let number = self.reader.$read()?;
            let sign = (number & 1).cast_signed().wrapping_neg();
            visitor.$visit((number >> 1).cast_signed() ^ sign)
        }
    )*};
}

/// What is read as it is given out.
macro_rules! plain {
    ($($method:ident $visit:ident |$reader:ident| $read:expr;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            let $reader = &mut self.reader;
            visitor.$visit($read)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for &mut Deserializer<'de> {
    type Error = ReadError;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(UNKNOWN)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(UNKNOWN)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(UNKNOWN)
    }

    plain! {
        deserialize_bool visit_bool |reader| reader.flag()?;
        deserialize_u8 visit_u8 |reader| reader.byte()?;
        deserialize_u16 visit_u16 |reader| reader.u16()?;
        deserialize_u32 visit_u32 |reader| reader.u32()?;
        deserialize_u64 visit_u64 |reader| reader.u64()?;
        deserialize_u128 visit_u128 |reader| reader.u128()?;
        deserialize_i8 visit_i8 |reader| reader.byte()?.cast_signed();
        deserialize_f32 visit_f32 |reader| f32::from_le_bytes(reader.array()?);
        deserialize_f64 visit_f64 |reader| f64::from_le_bytes(reader.array()?);
        deserialize_str visit_borrowed_str |reader| reader.str()?;
        deserialize_string visit_borrowed_str |reader| reader.str()?;
        deserialize_bytes visit_borrowed_bytes |reader| reader.bytes()?;
        deserialize_byte_buf visit_borrowed_bytes |reader| reader.bytes()?;
    }

    signed! {
        deserialize_i16 visit_i16 u16;
        deserialize_i32 visit_i32 u32;
        deserialize_i64 visit_i64 u64;
        deserialize_i128 visit_i128 u128;
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let mut text = self.reader.str()?.chars();
        match (text.next(), text.next()) {
            (Some(character), None) => visitor.visit_char(character),
            _ => Err(ReadError::new("a character is none, or more than one")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.reader.flag()? {
            self.nested(|inner| visitor.visit_some(inner))
        } else {
            visitor.visit_none()
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.nested(|inner| visitor.visit_newtype_struct(inner))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let left = self.reader.length()?;
        self.nested(|within| visitor.visit_seq(Elements { within, left }))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let left = self.reader.length()?;
        self.nested(|within| visitor.visit_map(Elements { within, left }))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value> {
        self.nested(|within| visitor.visit_seq(Fields { within, left }))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.nested(|inner| visitor.visit_enum(inner))
    }
}

const UNKNOWN: ReadError =
    ReadError::new("postcard does not say what it holds, and the type does not say it either");

/// What a list or a map holds, of which the value says how much that is.
struct Elements<'a, 'de> {
    within: &'a mut Deserializer<'de>,
    left: usize,
}

impl<'de> Elements<'_, 'de> {
    fn next<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        let before = self.within.reader.left();
        let element = seed.deserialize(&mut *self.within)?;
        self.within.count(before)?;
        Ok(Some(element))
    }

    /// Never more than the bytes that are left: whoever makes room for so many is not led astray.
    fn hint(&self) -> usize {
        self.left.min(self.within.reader.left())
    }
}

impl<'de> de::SeqAccess<'de> for Elements<'_, 'de> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        self.next(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.hint())
    }
}

impl<'de> de::MapAccess<'de> for Elements<'_, 'de> {
    type Error = ReadError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        self.next(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        seed.deserialize(&mut *self.within)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.hint())
    }
}

/// What a structure or a tuple holds, of which the type says how much that is.
struct Fields<'a, 'de> {
    within: &'a mut Deserializer<'de>,
    left: usize,
}

impl<'de> de::SeqAccess<'de> for Fields<'_, 'de> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        seed.deserialize(&mut *self.within).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> de::EnumAccess<'de> for &mut Deserializer<'de> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self)> {
        let variant = self.reader.u32()?;
        let variant =
            seed.deserialize(IntoDeserializer::<ReadError>::into_deserializer(variant))?;
        Ok((variant, self))
    }
}

impl<'de> de::VariantAccess<'de> for &mut Deserializer<'de> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<()> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        de::Deserializer::deserialize_tuple(self, len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        de::Deserializer::deserialize_tuple(self, fields.len(), visitor)
    }
}
