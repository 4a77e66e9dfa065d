//! A config in any format that describes itself: a map from names to values, or a URL.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{self, Serialize, SerializeMap, Serializer};

use super::Config;
use super::setting::Setting;
use super::settings::Settings;

impl Serialize for Config {
    /// Writes a map with what is not as by default, **the password too**.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let settings = self.settings().map_err(ser::Error::custom)?;
        let mut map = serializer.serialize_map(Some(settings.len()))?;
        for (option, setting) in &settings {
            map.serialize_entry(option.name, setting)?;
        }
        map.end()
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
            Self::Decimal(number) => number.serialize(serializer),
            Self::Switch(on) => on.serialize(serializer),
            Self::List(texts) => texts.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Config {
    /// Reads a map from names to values, or the text of a URL. What is not there is as by default.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ConfigVisitor)
    }
}

struct ConfigVisitor;

impl<'de> Visitor<'de> for ConfigVisitor {
    type Value = Config;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of the client's options, or a URL")
    }

    fn visit_str<E: de::Error>(self, url: &str) -> Result<Config, E> {
        url.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Config, A::Error> {
        let mut settings = Settings::new();
        while let Some(name) = map.next_key::<String>()? {
            let setting = map.next_value()?;
            settings.put(&name, setting).map_err(de::Error::custom)?;
        }
        settings.config().map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SettingVisitor)
    }
}

struct SettingVisitor;

impl<'de> Visitor<'de> for SettingVisitor {
    type Value = Setting;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, true or false, or a list of texts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Setting, E> {
        Ok(Setting::Text(text.to_owned()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Setting, E> {
        Ok(Setting::Number(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Setting, E> {
        // No option takes a negative one, and the form of the option says so.
        Ok(u64::try_from(number)
            .map_or_else(|_| Setting::Text(number.to_string()), Setting::Number))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Setting, E> {
        Ok(Setting::Decimal(number))
    }

    fn visit_bool<E: de::Error>(self, on: bool) -> Result<Setting, E> {
        Ok(Setting::Switch(on))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Setting, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = list.next_element()? {
            texts.push(text);
        }
        Ok(Setting::List(texts))
    }
}
