//! Arguments from JavaScript into the types of [`crate::wire`], where a field that nobody knows is an
//! error and not silence. `serde_wasm_bindgen` looks up the fields it expects and ignores the rest,
//! `deny_unknown_fields` or not, so the keys are compared here with the names that the type derives.

use js_sys::{Array, Object};
use serde::de::value::Error as NoValue;
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;
use wasm_bindgen::{JsCast, JsValue};

use crate::problem::Problem;

/// Reads an object as a `T`.
pub(super) fn read<T: DeserializeOwned>(value: &JsValue) -> Result<T, Problem> {
    only_known::<T>(value)?;
    serde_wasm_bindgen::from_value(value.clone()).map_err(|e| Problem::new("invalid_request", 400, e.to_string()))
}

/// Refuses an object with a field that a `T` does not have. What is no object is left to [`read`].
pub(super) fn only_known<T: DeserializeOwned>(value: &JsValue) -> Result<(), Problem> {
    let Some(object) = value.dyn_ref::<Object>() else { return Ok(()) };
    let known = fields::<T>();
    let given: Array = Object::keys(object);
    match given.iter().filter_map(|key| key.as_string()).find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let message = format!("unknown field `{key}`: the fields are {}", known.join(", "));
            Err(Problem::new("unknown_field", 400, message))
        }
    }
}

/// The names under which a struct's fields are read, from its own derived code.
fn fields<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // It ends in an error always: there is no value, and none is wanted.
    let _ = T::deserialize(Names(&mut names));
    names
}

/// A deserializer that has no value and only writes down which fields it was asked for.
struct Names<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = NoValue;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NoValue> {
        Err(NoValue::custom("no value"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, NoValue> {
        *self.0 = fields;
        Err(NoValue::custom("no value"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
