//! Version of the scene format.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Version of the scene format that this program reads and writes.
///
/// It increases when scenes of the version before would be read differently or no longer. New keys do not increase it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FormatVersion;

impl FormatVersion {
    /// Number of the version.
    pub const NUMBER: i64 = 1;
}

impl Serialize for FormatVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(Self::NUMBER)
    }
}

impl<'de> Deserialize<'de> for FormatVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (found, known) = (i64::deserialize(deserializer)?, Self::NUMBER);
        if found > known {
            return Err(D::Error::custom(format!(
                "the scene is in version {found} of the format, but Pliant {} reads versions up to {known}; use a newer version of Pliant",
                env!("CARGO_PKG_VERSION")
            )));
        }
        if found < 1 {
            return Err(D::Error::custom(format!("there is no version {found} of the format, expected {known}")));
        }
        Ok(Self)
    }
}

impl JsonSchema for FormatVersion {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FormatVersion".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": Self::NUMBER })
    }
}
