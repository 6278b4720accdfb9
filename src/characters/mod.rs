//! What Unicode says of a character that this crate needs to know: its class, and what it folds to.
//!
//! Both tables are generated from the Unicode data by the test below, which also compares every
//! code point with it. They say in 6 kB what the embedder's tokenizer, the index's words and the
//! anchors of headings need of the general categories and canonical decompositions; the tables of
//! the crates for either would add 80 kB to what a page downloads, compressed.
//!
//! Hangul syllables and compatibility ideographs are not decomposed, nor are marks that stay
//! reordered: nothing here compares them.

use std::sync::LazyLock;

/// Runs of characters of one class from U+0000 on, each a varint of `length << 4 | class`.
static CLASSES: &[u8] = include_bytes!("classes.bin");

/// Characters and what they are folded to, in order of both; each pair two varints: how far the
/// character is from the last pair's (0: it is the same one, folded to several), and how far the
/// folded one is from the last folded one, zigzag.
static FOLDS: &[u8] = include_bytes!("folds.bin");

/// What a character is, as far as anything here asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A letter, a digit or a symbol outside ASCII.
    Letter,
    /// A control, format, private or unassigned character.
    Dropped,
    /// A combining mark without width (`Mn`).
    Mark,
    /// `P…` but for connectors, and all of ASCII that is neither letter nor digit nor `_`.
    Punctuation,
    /// White space.
    Space,
    /// A CJK ideograph.
    Ideograph,
    /// A connector such as `_` (`Pc`).
    Connector,
    /// A combining mark with width (`Mc`, `Me`).
    WideMark,
    /// A number that is neither digit nor letter (`No`), such as `²` and `½`.
    OtherNumber,
}

impl Class {
    const ALL: [Class; 9] = [
        Class::Letter,
        Class::Dropped,
        Class::Mark,
        Class::Punctuation,
        Class::Space,
        Class::Ideograph,
        Class::Connector,
        Class::WideMark,
        Class::OtherNumber,
    ];

    /// The class of an ASCII character, without a table.
    fn ascii(c: char) -> Class {
        match c {
            '\t' | '\n' | '\r' | ' ' => Class::Space,
            '_' => Class::Connector,
            _ if c.is_ascii_punctuation() => Class::Punctuation,
            _ if c.is_ascii_control() => Class::Dropped,
            _ => Class::Letter,
        }
    }
}

/// The class of a character.
pub(crate) fn class(c: char) -> Class {
    if c.is_ascii() { Class::ascii(c) } else { TABLES.class(c) }
}

/// A text in lower case, each character by itself: without the final sigma of `str::to_lowercase`, whose
/// tables weigh 2 kB.
pub(crate) fn lower_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Decomposed, without marks, lower-case, one character at a time: `Ǘ` gives `u`.
pub(crate) fn folded(c: char) -> impl Iterator<Item = char> {
    TABLES.folded(c)
}

/// Plain data, decoded in a few microseconds when it is first asked for.
static TABLES: LazyLock<Characters> = LazyLock::new(Characters::decode);

/// The decoded tables.
struct Characters {
    /// The first character of each run, and the run's class, ascending.
    runs: Vec<(u32, Class)>,
    /// A character and one that it is folded to, ascending by the first.
    folds: Vec<(u32, char)>,
}

impl Characters {
    fn decode() -> Characters {
        let mut start = 0;
        let runs = varints(CLASSES).map(|run| {
            let first = start;
            start += run >> 4;
            (first, Class::ALL[(run & 15) as usize])
        });
        let runs = runs.collect();
        let (mut from, mut to) = (0, 0_u32);
        let mut numbers = varints(FOLDS);
        let folds = std::iter::from_fn(|| {
            from += numbers.next()?;
            let zigzag = numbers.next()?;
            to = to.wrapping_add((zigzag >> 1) ^ (zigzag & 1).wrapping_neg());
            Some((from, char::from_u32(to)?))
        });
        let folds = folds.collect();
        Characters { runs, folds }
    }

    fn class(&self, c: char) -> Class {
        let after = self.runs.partition_point(|run| run.0 <= u32::from(c));
        self.runs[after - 1].1
    }

    fn folded(&self, c: char) -> impl Iterator<Item = char> {
        let code = u32::from(c);
        let first = self.folds.partition_point(|fold| fold.0 < code);
        let folds = self.folds[first..].iter().take_while(move |fold| fold.0 == code);
        let known = folds.clone().next().is_some();
        let lower = (!known).then(|| c.to_lowercase()).into_iter().flatten();
        folds.map(|fold| fold.1).chain(lower)
    }
}

/// Little-endian base 128, the highest bit for "more follows".
fn varints(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let mut bytes = bytes.iter();
    std::iter::from_fn(move || {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = u32::from(*bytes.next()?);
            value |= (byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
            shift += 7;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, Class, FOLDS, TABLES};
    use unicode_normalization::char::decompose_canonical;
    use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

    fn is_ideograph(c: char) -> bool {
        matches!(c,
            '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{20000}'..='\u{2A6DF}'
            | '\u{2A700}'..='\u{2CEAF}' | '\u{F900}'..='\u{FAFF}' | '\u{2F800}'..='\u{2FA1F}')
    }

    fn is_mark(c: char) -> bool {
        c.general_category() == GeneralCategory::NonspacingMark
    }

    fn class(c: char) -> Class {
        let group = c.general_category_group();
        match c {
            '\t' | '\n' | '\r' => Class::Space,
            '\u{FFFD}' => Class::Dropped,
            _ if group == GeneralCategoryGroup::Other => Class::Dropped,
            _ if c.is_whitespace() => Class::Space,
            _ if is_ideograph(c) => Class::Ideograph,
            _ if is_mark(c) => Class::Mark,
            _ if group == GeneralCategoryGroup::Mark => Class::WideMark,
            _ if c.general_category() == GeneralCategory::ConnectorPunctuation => Class::Connector,
            _ if c.general_category() == GeneralCategory::OtherNumber => Class::OtherNumber,
            _ if c.is_ascii_punctuation() => Class::Punctuation,
            _ if group == GeneralCategoryGroup::Punctuation => Class::Punctuation,
            _ => Class::Letter,
        }
    }

    fn decomposed(c: char) -> String {
        let mut all = String::new();
        if is_ideograph(c) || ('\u{AC00}'..='\u{D7A3}').contains(&c) {
            all.push(c);
        } else {
            decompose_canonical(c, |part| all.extend((!is_mark(part)).then_some(part)));
        }
        all
    }

    fn folded(c: char) -> String {
        decomposed(c).chars().flat_map(char::to_lowercase).collect()
    }

    fn push_varint(out: &mut Vec<u8>, mut value: u32) {
        while value >= 128 {
            out.push(value as u8 | 128);
            value >>= 7;
        }
        out.push(value as u8);
    }

    fn encoded_classes() -> Vec<u8> {
        let mut runs: Vec<(Class, u32)> = Vec::new();
        for code in 0..=u32::from(char::MAX) {
            let class = char::from_u32(code).map_or(Class::Dropped, class);
            match runs.last_mut() {
                Some(run) if run.0 == class => run.1 += 1,
                _ => runs.push((class, 1)),
            }
        }
        let mut out = Vec::new();
        for (class, length) in runs {
            push_varint(&mut out, length << 4 | class as u32);
        }
        out
    }

    fn encoded_folds() -> Vec<u8> {
        let (mut out, mut last, mut last_to) = (Vec::new(), 0, 0);
        for c in ('\0'..=char::MAX).filter(|&c| !is_mark(c)) {
            if decomposed(c).chars().eq([c]) {
                continue;
            }
            for to in folded(c).chars().map(u32::from) {
                push_varint(&mut out, u32::from(c) - last);
                let step = to.cast_signed() - last_to;
                push_varint(&mut out, (step << 1 ^ step >> 31).cast_unsigned());
                (last, last_to) = (u32::from(c), to.cast_signed());
            }
        }
        out
    }

    /// `UPDATE_TABLES=1 cargo test` writes the tables anew, for instance for a new Unicode version.
    #[test]
    fn the_tables_are_those_of_the_unicode_data() {
        for (name, kept, fresh) in [("classes.bin", CLASSES, encoded_classes()), ("folds.bin", FOLDS, encoded_folds())]
        {
            if std::env::var_os("UPDATE_TABLES").is_some() {
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/characters/");
                std::fs::write(format!("{folder}{name}"), &fresh).unwrap();
            } else {
                assert!(kept == fresh, "{name} is stale: UPDATE_TABLES=1 cargo test");
            }
        }
    }

    #[test]
    fn every_code_point_has_its_class_and_fold() {
        for c in '\0'..=char::MAX {
            assert_eq!(super::class(c), class(c), "class of {c:?}");
            assert_eq!(TABLES.class(c), class(c), "class of {c:?} by the table");
            let found: String = super::folded(c).collect();
            match class(c) {
                Class::Mark => assert_eq!(decomposed(c), "", "{c:?} is no mark throughout"),
                _ => assert_eq!(found, folded(c), "{c:?}"),
            }
        }
    }
}
