//! Which keys are read: a range of numbers, in the type that the query's bind marker has.

use std::str::FromStr;

use fastrand::Rng;
use scylla::frame::response::result::{ColumnType, NativeType};
use scylla::value::CqlValue;

/// `A..B` or `PREFIXA..B`: numbers from A to B, both included, perhaps as the end of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keys {
    prefix: String,
    first: i64,
    last: i64,
}

impl FromStr for Keys {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "write the first and the last key, as in 1..1000 or user:1..1000";
        let (left, right) = text.rsplit_once("..").ok_or(wrong)?;
        // What is a number as a whole may have a sign.
        let prefix = match left.parse::<i64>() {
            Ok(_) => "",
            Err(_) => left.trim_end_matches(|c: char| c.is_ascii_digit()),
        };
        let first: i64 = left[prefix.len()..].parse().map_err(|_| wrong)?;
        let last: i64 = right.parse().map_err(|_| wrong)?;
        if left != format!("{prefix}{first}") || right != last.to_string() {
            return Err("write numbers in plain digits, without leading zeros");
        }
        if first > last {
            return Err("the first key is greater than the last");
        }
        let prefix = prefix.to_owned();
        Ok(Self {
            prefix,
            first,
            last,
        })
    }
}

/// Keys in the type of a column, one at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TypedKeys {
    keys: Keys,
    native: NativeType,
}

impl TypedKeys {
    /// Fails, with the reason, if such keys cannot be in a column of that type.
    pub(super) fn new(keys: Keys, column: &ColumnType<'_>) -> Result<Self, String> {
        let supported = "tinyint, smallint, int, bigint, text or ascii";
        let ColumnType::Native(native) = column else {
            return Err(format!(
                "keys can be of type {supported}, but the query's ? is a collection or the like"
            ));
        };
        let name = match native {
            NativeType::TinyInt => "tinyint",
            NativeType::SmallInt => "smallint",
            NativeType::Int => "int",
            NativeType::BigInt => "bigint",
            NativeType::Text => "text",
            NativeType::Ascii => "ascii",
            other => {
                let other = format!("{other:?}").to_lowercase();
                return Err(format!(
                    "keys can be of type {supported}, but the query's ? is of type {other}"
                ));
            }
        };
        let is_text = matches!(native, NativeType::Text | NativeType::Ascii);
        if !keys.prefix.is_empty() && !is_text {
            return Err(format!(
                "the query's ? is of type {name}, so keys are numbers without a text before them"
            ));
        }
        let typed = Self {
            keys,
            native: native.clone(),
        };
        for end in [typed.keys.first, typed.keys.last] {
            if typed.key(end).is_none() {
                return Err(format!("{end} does not fit into the query's ?, a {name}"));
            }
        }
        Ok(typed)
    }

    /// One of the keys at random.
    pub(super) fn draw(&self, random: &mut Rng) -> CqlValue {
        let number = random.i64(self.keys.first..=self.keys.last);
        self.key(number)
            .expect("both ends of the range fit, and so does what is between them")
    }

    fn key(&self, number: i64) -> Option<CqlValue> {
        let text = || format!("{}{number}", self.keys.prefix);
        match self.native {
            NativeType::TinyInt => number.try_into().ok().map(CqlValue::TinyInt),
            NativeType::SmallInt => number.try_into().ok().map(CqlValue::SmallInt),
            NativeType::Int => number.try_into().ok().map(CqlValue::Int),
            NativeType::BigInt => Some(CqlValue::BigInt(number)),
            NativeType::Ascii => self.keys.prefix.is_ascii().then(|| CqlValue::Ascii(text())),
            _ => Some(CqlValue::Text(text())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(prefix: &str, first: i64, last: i64) -> Keys {
        let prefix = prefix.to_owned();
        Keys {
            prefix,
            first,
            last,
        }
    }

    #[test]
    fn ranges_are_read() {
        for (text, expected) in [
            ("0..999", keys("", 0, 999)),
            ("7..7", keys("", 7, 7)),
            ("-5..-1", keys("", -5, -1)),
            ("user:1..1000", keys("user:", 1, 1000)),
            ("a..b9..10", keys("a..b", 9, 10)),
            ("v2-0..3", keys("v2-", 0, 3)),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "",
            "..",
            "1",
            "1..",
            "..1",
            "1..x",
            "x..1",
            "5..4",
            "1...3",
            "01..9",
            "k01..99",
            "1..+3",
            "1..99999999999999999999",
        ] {
            assert!(text.parse::<Keys>().is_err(), "{text}");
        }
    }

    #[test]
    fn keys_have_the_type_of_the_column() {
        let mut random = Rng::with_seed(1);
        let mut draw = |keys, native| {
            let typed = TypedKeys::new(keys, &ColumnType::Native(native)).unwrap();
            typed.draw(&mut random)
        };
        let one = || keys("", 1, 1);
        assert_eq!(draw(one(), NativeType::TinyInt), CqlValue::TinyInt(1));
        assert_eq!(draw(one(), NativeType::SmallInt), CqlValue::SmallInt(1));
        assert_eq!(draw(one(), NativeType::Int), CqlValue::Int(1));
        assert_eq!(draw(one(), NativeType::BigInt), CqlValue::BigInt(1));
        let text = |text: &str| text.to_owned();
        assert_eq!(draw(one(), NativeType::Ascii), CqlValue::Ascii(text("1")));
        let user = keys("user:", 7, 7);
        assert_eq!(draw(user, NativeType::Text), CqlValue::Text(text("user:7")));
    }

    #[test]
    fn keys_that_a_column_cannot_hold_are_refused() {
        for (keys, native, why) in [
            (keys("", 0, 128), NativeType::TinyInt, "128 does not fit"),
            (keys("", -1 << 40, 0), NativeType::Int, "does not fit"),
            (keys("k", 1, 2), NativeType::Int, "without a text"),
            (keys("", 1, 2), NativeType::Uuid, "of type uuid"),
            (keys("é", 1, 2), NativeType::Ascii, "a ascii"),
        ] {
            let error = TypedKeys::new(keys, &ColumnType::Native(native)).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        let tuple = ColumnType::Tuple(Vec::new());
        assert!(TypedKeys::new(keys("", 1, 2), &tuple).is_err());
    }

    #[test]
    fn draws_cover_the_range_and_repeat_with_the_seed() {
        let typed = TypedKeys::new(keys("", -1, 1), &ColumnType::Native(NativeType::BigInt));
        let typed = typed.unwrap();
        let draws = |seed| {
            let mut random = Rng::with_seed(seed);
            (0..100)
                .map(|_| typed.draw(&mut random))
                .collect::<Vec<_>>()
        };
        assert_eq!(draws(1), draws(1));
        for number in -1..=1 {
            assert!(draws(1).contains(&CqlValue::BigInt(number)));
        }
    }
}
