//! The JSON of `zarr.json`, as it is deserialized.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::{AtMost, MOST_DIMS};

pub(super) type Texts = AtMost<Option<String>, MOST_DIMS>;

pub(super) type Codecs = AtMost<NamedConfig, 16>;

/// The deserialized metadata.
#[derive(Default)]
pub(super) struct ArrayJson<'a> {
    pub(super) zarr_format: Option<u64>,
    pub(super) node_type: Option<String>,
    pub(super) shape: Option<AtMost<usize, MOST_DIMS>>,
    pub(super) data_type: Option<NamedConfig>,
    pub(super) chunk_grid: Option<NamedConfig>,
    pub(super) chunk_key_encoding: Option<NamedConfig>,
    pub(super) fill_value: Option<&'a RawValue>,
    pub(super) codecs: Option<Codecs>,
    pub(super) dimension_names: Option<Texts>,
    pub(super) attributes: Option<&'a RawValue>,
    /// A key that is unknown, and not marked as ignorable.
    pub(super) unknown: Option<String>,
}

impl<'de> Deserialize<'de> for ArrayJson<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ArrayJsonVisitor)
    }
}

struct ArrayJsonVisitor;

impl<'de> Visitor<'de> for ArrayJsonVisitor {
    type Value = ArrayJson<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object that describes an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ArrayJson<'de>, A::Error> {
        let mut all = ArrayJson::default();
        while let Some(key) = map.next_key::<String>()? {
            match &key[..] {
                "zarr_format" => all.zarr_format = map.next_value()?,
                "node_type" => all.node_type = map.next_value()?,
                "shape" => all.shape = map.next_value()?,
                "data_type" => all.data_type = map.next_value()?,
                "chunk_grid" => all.chunk_grid = map.next_value()?,
                "chunk_key_encoding" => all.chunk_key_encoding = map.next_value()?,
                "fill_value" => all.fill_value = Some(map.next_value()?),
                "codecs" => all.codecs = map.next_value()?,
                "dimension_names" => all.dimension_names = map.next_value()?,
                "attributes" => all.attributes = Some(map.next_value()?),
                _ => {
                    let more = map.next_value::<&RawValue>()?.get();
                    let passed = serde_json::from_str::<Extension>(more);
                    let passed = passed.is_ok_and(|more| !more.must_understand);
                    let none = key == "storage_transformers" && more.trim_ascii() == "[]";
                    if !passed && !none {
                        all.unknown = Some(key);
                    }
                }
            }
        }
        Ok(all)
    }
}

#[derive(Deserialize)]
struct Extension {
    must_understand: bool,
}

/// The name and the configuration of a codec, a grid or similar; written as a name alone or as an object.
pub(super) struct NamedConfig {
    pub(super) name: String,
    pub(super) configuration: Configuration,
}

/// The configuration fields of all of them.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Configuration {
    pub(super) chunk_shape: Option<AtMost<usize, MOST_DIMS>>,
    pub(super) separator: Option<String>,
    pub(super) endian: Option<String>,
    pub(super) order: Option<AtMost<usize, MOST_DIMS>>,
    pub(super) level: Option<i64>,
    pub(super) length_bytes: Option<usize>,
    pub(super) cname: Option<String>,
    pub(super) clevel: Option<i64>,
    pub(super) shuffle: Option<String>,
    pub(super) typesize: Option<usize>,
    pub(super) codecs: Option<Codecs>,
    pub(super) index_codecs: Option<Codecs>,
    pub(super) index_location: Option<String>,
}

impl Configuration {
    pub(super) fn sizes(&self) -> Option<Vec<usize>> {
        self.chunk_shape.as_ref().map(|sizes| sizes.0.clone())
    }
}

#[derive(Deserialize)]
struct WithConfiguration {
    name: String,
    #[serde(default)]
    configuration: Configuration,
}

impl<'de> Deserialize<'de> for NamedConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NamedConfigVisitor)
    }
}

struct NamedConfigVisitor;

impl<'de> Visitor<'de> for NamedConfigVisitor {
    type Value = NamedConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name, or an object with one")
    }

    fn visit_str<E>(self, name: &str) -> Result<NamedConfig, E> {
        Ok(NamedConfig {
            name: name.to_owned(),
            configuration: Configuration::default(),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<NamedConfig, A::Error> {
        let WithConfiguration {
            name,
            configuration,
        } = Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        Ok(NamedConfig {
            name,
            configuration,
        })
    }
}
