//! Values that know where they stand in the file.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use toml::Spanned;

/// A value and its place.
#[derive(Debug, Clone)]
pub struct At<T>(Spanned<T>);

impl<T> At<T> {
    /// Its bytes in the file.
    pub fn span(&self) -> Range<usize> {
        self.0.span()
    }

    /// The value.
    pub fn get(&self) -> &T {
        self.0.get_ref()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<T: Serialize> Serialize for At<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// One number, or a list of them: how many are right depends on the scene and the joint.
#[derive(Debug, Clone, PartialEq)]
pub enum NumberOrList {
    /// `1.0`
    Number(f64),
    /// `[1.0, 2.0]`
    List(Vec<f64>),
}

impl NumberOrList {
    /// The numbers, whether in a list or not.
    pub fn as_slice(&self) -> &[f64] {
        match self {
            Self::Number(x) => std::slice::from_ref(x),
            Self::List(xs) => xs,
        }
    }
}

/// Numbers with their place.
pub type Numbers = At<NumberOrList>;

impl<'de> Deserialize<'de> for NumberOrList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = NumberOrList;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }
            fn visit_f64<E>(self, x: f64) -> Result<NumberOrList, E> {
                Ok(NumberOrList::Number(x))
            }
            fn visit_i64<E>(self, x: i64) -> Result<NumberOrList, E> {
                Ok(NumberOrList::Number(x as f64))
            }
            fn visit_u64<E>(self, x: u64) -> Result<NumberOrList, E> {
                Ok(NumberOrList::Number(x as f64))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<NumberOrList, A::Error> {
                let mut numbers = Vec::new();
                while let Some(x) = list.next_element()? {
                    numbers.push(x);
                }
                Ok(NumberOrList::List(numbers))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Serialize for NumberOrList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(x) => x.serialize(serializer),
            Self::List(xs) => xs.serialize(serializer),
        }
    }
}

impl JsonSchema for NumberOrList {
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
