//! Results as JavaScript reads them: one text of JSON with the names of fields as they are there.
//!
//! With each value crossing by itself, an answer took longer to hand over than to find; and to rename the fields of
//! an object is to make it once more.

use std::io::{Result, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Writes names in `camelCase`; they are those of our own types.
struct CamelCase {
    in_name: bool,
}

impl Formatter for CamelCase {
    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        self.in_name = true;
        if first { Ok(()) } else { writer.write_all(b",") }
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, _: &mut W) -> Result<()> {
        self.in_name = false;
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> Result<()> {
        if !self.in_name {
            return writer.write_all(fragment.as_bytes());
        }
        // By bytes: most names are one word, and a search for a character takes longer than to write it.
        let mut words = fragment.as_bytes().split(|&byte| byte == b'_');
        writer.write_all(words.next().unwrap_or_default())?;
        for word in words {
            let [first, rest @ ..] = word else { continue };
            writer.write_all(&[first.to_ascii_uppercase()])?;
            writer.write_all(rest)?;
        }
        Ok(())
    }
}

/// A result as text.
pub(super) fn written<T: Serialize>(value: &T) -> serde_json::Result<String> {
    let mut json = Vec::with_capacity(4 << 10);
    value.serialize(&mut Serializer::with_formatter(&mut json, CamelCase { in_name: false }))?;
    // It is made of texts and of ASCII.
    Ok(String::from_utf8(json).unwrap_or_default())
}
