//! Lists of numbers whose length depends on the rest of a scene.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

/// One number, or a list of numbers whose length depends on the scene (planar or not) and the joint. A list
/// of one number and the number alone are the same.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize)]
#[serde(from = "OneOrMany", into = "OneOrMany")]
pub struct Numbers(pub Vec<f64>);

#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum OneOrMany {
    One(f64),
    Many(Vec<f64>),
}

impl From<OneOrMany> for Numbers {
    fn from(given: OneOrMany) -> Self {
        match given {
            OneOrMany::One(x) => Self(vec![x]),
            OneOrMany::Many(list) => Self(list),
        }
    }
}

impl From<Numbers> for OneOrMany {
    fn from(Numbers(list): Numbers) -> Self {
        if let [x] = list[..] { Self::One(x) } else { Self::Many(list) }
    }
}

impl From<f64> for Numbers {
    fn from(x: f64) -> Self {
        Self(vec![x])
    }
}

impl<const N: usize> From<[f64; N]> for Numbers {
    fn from(list: [f64; N]) -> Self {
        Self(list.to_vec())
    }
}

impl Deref for Numbers {
    type Target = Vec<f64>;
    fn deref(&self) -> &Vec<f64> {
        &self.0
    }
}

impl DerefMut for Numbers {
    fn deref_mut(&mut self) -> &mut Vec<f64> {
        &mut self.0
    }
}

impl JsonSchema for Numbers {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Numbers".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "array"], "items": { "type": "number" } })
    }
}
