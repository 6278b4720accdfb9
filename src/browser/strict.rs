//! Arguments from JavaScript into the types of [`crate::wire`], where a field that nobody knows is an
//! error and not silence.
//!
//! `serde_wasm_bindgen` would read the fields it expects and ignore the rest, `deny_unknown_fields` or
//! not, and its messages speak of Rust. This reader knows what arguments are made of: objects, texts,
//! numbers, flags and names; where models are also lists.

use std::fmt::{self, Display};

use js_sys::{Array, JsString, Object};
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, Expected, MapAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use wasm_bindgen::{JsCast, JsValue};

use crate::problem::Problem;

/// Reads an object as a `T`.
pub(super) fn read<T: DeserializeOwned>(value: &JsValue) -> Result<T, Problem> {
    T::deserialize(Argument(value.clone())).map_err(|invalid| Problem::new(invalid.code, 400, invalid.message))
}

/// Why an argument cannot be read.
#[derive(Debug)]
struct Invalid {
    code: &'static str,
    message: String,
}

impl Invalid {
    /// Names the field that it is about.
    fn of(mut self, field: &str) -> Self {
        if self.code == "invalid_request" {
            self.message = ["`", field, "`: ", &self.message].concat();
        }
        self
    }
}

impl Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Invalid {}

/// What was given is not repeated: the caller has it, and printing numbers of every kind takes much code.
impl Error for Invalid {
    fn custom<T: Display>(message: T) -> Self {
        Self { code: "invalid_request", message: message.to_string() }
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match expected.to_string().as_str() {
            "usize" | "u32" | "u64" => Self::custom("expected a whole number"),
            "f64" => Self::custom("expected a number"),
            expected => Self::custom(format_args!("expected {expected}")),
        }
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        let message = format!("unknown field `{field}`: the fields are {}", known.join(", "));
        Self { code: "unknown_field", message }
    }

    fn unknown_variant(_: &str, known: &'static [&'static str]) -> Self {
        Self::custom(format_args!("expected one of {}", known.join(", ")))
    }
}

/// The members of an object.
struct Members {
    rest: std::vec::IntoIter<(String, Argument)>,
    current: Option<(String, Argument)>,
}

impl<'de> MapAccess<'de> for Members {
    type Error = Invalid;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Invalid> {
        self.current = self.rest.next();
        self.current.as_ref().map(|(name, _)| seed.deserialize(StrDeserializer::new(name))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Invalid> {
        let Some((name, value)) = self.current.take() else { return Err(Invalid::custom("a name without a value")) };
        seed.deserialize(value).map_err(|invalid| invalid.of(&name))
    }
}

/// A value from JavaScript.
struct Argument(JsValue);

impl Argument {
    fn is_absent(&self) -> bool {
        self.0.is_undefined() || self.0.is_null()
    }

    /// A whole number that a double holds exactly.
    fn whole(&self) -> Option<u64> {
        let number = self.0.as_f64().filter(|number| *number >= 0.0)?;
        js_sys::Number::is_safe_integer(&self.0).then_some(number as u64)
    }
}

#[cfg(feature = "models")]
impl serde::de::IntoDeserializer<'_, Invalid> for Argument {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Argument {
    type Error = Invalid;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        if let Some(text) = self.0.as_string() {
            return visitor.visit_string(text);
        }
        if let Some(flag) = self.0.as_bool() {
            return visitor.visit_bool(flag);
        }
        if let Some(number) = self.whole() {
            return visitor.visit_u64(number);
        }
        if let Some(number) = self.0.as_f64() {
            return visitor.visit_f64(number);
        }
        #[cfg(feature = "models")]
        if Array::is_array(&self.0) {
            let items = Array::from(&self.0).iter().map(Argument).collect::<Vec<_>>();
            return visitor.visit_seq(serde::de::value::SeqDeserializer::new(items.into_iter()));
        }
        Err(Invalid::invalid_type(Unexpected::Unit, &visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        if self.is_absent() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    /// Fields that are `undefined` are absent, as JavaScript has it.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        let Some(object) = self.0.dyn_ref::<Object>().filter(|_| !Array::is_array(&self.0)) else {
            return Err(Invalid::custom("expected an object"));
        };
        let member = |entry: JsValue| {
            let entry = entry.unchecked_into::<Array>();
            let value = Some(entry.get(1)).filter(|value| !value.is_undefined())?;
            Some((String::from(entry.get(0).unchecked_into::<JsString>()), Argument(value)))
        };
        let members: Vec<_> = Object::entries(object).iter().filter_map(member).collect();
        visitor.visit_map(Members { rest: members.into_iter(), current: None })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        match self.0.as_string() {
            Some(name) => visitor.visit_enum(StrDeserializer::<Invalid>::new(&name)),
            None => Err(Invalid::unknown_variant("", variants)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}
