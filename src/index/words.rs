//! Text in, terms out: the one pipeline behind the index, its queries and the lexical graders.
//!
//! It decides what counts as the same word. It strips no markup, ranks nothing and knows no corpus.
//!
//! 1. Letters of European scripts lose their accents (`É` and `E` with a combining accent both give
//!    `e`), full-width forms become ASCII. Words are those of Unicode's UAX #29.
//! 2. Words joined by a single `-`, or by `/` before a digit (`HTTP/2`), are one compound. It
//!    splits into parts at ASCII punctuation and camel-case humps, and gives each part and, when
//!    there are several, the whole without its separators: `bodyLimit`, `body_limit` and
//!    `body-limit` all give `body`, `limit` and `bodylimit`. A single letter is no part. Dots,
//!    commas and underscores between digits do not split; only dots are kept: `1.2.3`, `10000`.
//! 3. `v1.2.3` is `1.2.3`. `--flag` and `-f` are terms beside the bare word. `C++`, `C#` and `F#`
//!    are terms of their own.
//! 4. Terms are lower case. A term of letters alone is reduced to its Snowball stem (snowballstem.org) in
//!    the language of [`Stemming`], English if nobody says otherwise, wholes too; accents go after that.
//!    With English stems [`STOP_WORDS`] and words in `n't` are dropped, and the endings
//!    `'s 're 've 'll 'd 'm` are cut.
//! 5. Scripts written without spaces (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese) give
//!    overlapping pairs of characters; a character that stands alone gives itself.
//! 6. A term has at most [`MAX_TERM_BYTES`] bytes: longer words are cut, longer wholes left out.
//!
//! Snapshots store terms, so a change to these rules raises the snapshot's format version.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use serde::{Deserialize, Serialize};

use super::segment::word_indices;
use super::stems::known_or;
use crate::characters::{Class, class, folded, lower_case};

/// The longest term in bytes: enough for any identifier, too little for a line of base64.
pub const MAX_TERM_BYTES: usize = 64;

/// English function words, sorted. Negations are not among them: they carry meaning for graders.
pub const STOP_WORDS: [&str; 88] = [
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could",
    "did", "do", "does", "doing", "eg", "etc", "for", "from", "had", "has", "have", "having", "he", "her", "here",
    "him", "his", "how", "i", "ie", "if", "in", "into", "is", "it", "its", "me", "might", "must", "my", "of", "on",
    "or", "our", "shall", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "whether",
    "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "yours",
];

/// What a contraction adds to its word, without the apostrophe.
const CONTRACTED: [&str; 6] = ["s", "re", "ve", "ll", "d", "m"];

/// Whose word endings are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Stemming {
    /// English.
    #[default]
    En,
    /// French.
    Fr,
    /// German.
    De,
    /// Spanish.
    Es,
    /// None: words are compared as they are.
    None,
}

const LINKS_ALL: bool = cfg!(any(not(feature = "browser"), feature = "models"));

impl Stemming {
    /// Whether this build can cut these endings: a page's small module knows those of English alone.
    pub fn is_linked(self) -> bool {
        LINKS_ALL || matches!(self, Self::En | Self::None)
    }

    /// Each by itself a constant: the linker then leaves all other languages out.
    fn stemmer(self) -> Option<Stemmer> {
        match self {
            Self::En => Some(Stemmer::create(Algorithm::English)),
            _ if !LINKS_ALL => None,
            Self::Fr => Some(Stemmer::create(Algorithm::French)),
            Self::De => Some(Stemmer::create(Algorithm::German)),
            Self::Es => Some(Stemmer::create(Algorithm::Spanish)),
            Self::None => None,
        }
    }
}

/// The terms of an English text in reading order, as often as they occur.
pub fn words(text: &str) -> Vec<String> {
    words_in(text, Stemming::En)
}

/// The terms of a text with the stems of a language.
pub fn words_in(text: &str, stemming: Stemming) -> Vec<String> {
    let is_english = stemming == Stemming::En;
    let text = normalised(text, is_english);
    let mut terms = Terms { stemmer: stemming.stemmer(), stemming, is_english, found: Vec::new() };
    let (mut start, mut end) = (0, 0);
    for (at, word) in word_indices(&text) {
        if start == end || !joins(&text[start..end], &text[end..at], word) {
            terms.compound(&text, start, end);
            start = at;
        }
        end = at + word.len();
    }
    terms.compound(&text, start, end);
    terms.found
}

/// Accents are kept where stems depend on them; a combining one joins its letter then.
fn normalised(text: &str, folds: bool) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{2019}' => plain.push('\''),
            // Full-width forms stand in Unicode as ASCII does, in the same order.
            '\u{FF01}'..='\u{FF5E}' => plain.extend(char::from_u32(u32::from(c) - 0xFEE0)),
            _ if c.is_ascii() || !has_accents(c) => plain.push(c),
            _ if !folds => compose(&mut plain, c),
            _ if class(c) == Class::Mark => {}
            _ => plain.extend(folded(c)),
        }
    }
    Cow::Owned(plain)
}

/// Puts a letter, or the accent of the letter before it, as the stemmers of French, German and Spanish know it.
fn compose(plain: &mut String, c: char) {
    const COMPOSED: [(char, &str, &str); 5] = [
        ('\u{300}', "aeiou", "àèìòù"),
        ('\u{301}', "aeiou", "áéíóú"),
        ('\u{302}', "aeiou", "âêîôû"),
        ('\u{303}', "n", "ñ"),
        ('\u{308}', "aeiou", "äëïöü"),
    ];
    let accents = COMPOSED.iter().find(|(accent, ..)| *accent == c);
    let last = plain.chars().next_back();
    let at =
        accents.zip(last).and_then(|((_, bare, _), last)| bare.chars().position(|c| c == last.to_ascii_lowercase()));
    match accents.zip(at).and_then(|((_, _, composed), at)| composed.chars().nth(at)) {
        Some(composed) => {
            plain.pop();
            plain.push(composed);
        }
        None => plain.push(c),
    }
}

/// Latin, Greek, Cyrillic and Armenian, with their combining marks. In other scripts a mark makes
/// another letter: a voiced Kana, a Devanagari consonant without its vowel.
fn has_accents(c: char) -> bool {
    matches!(c, '\0'..='\u{058F}' | '\u{1E00}'..='\u{1FFF}')
}

/// Whether the next word belongs to the compound before it. UAX #29 cuts Han and Thai after every
/// character, so neighbours without a gap belong together.
fn joins(compound: &str, gap: &str, next: &str) -> bool {
    match gap {
        "" | "-" => true,
        "/" => compound.ends_with(|c: char| c.is_ascii_alphabetic()) && next.starts_with(|c: char| c.is_ascii_digit()),
        _ => false,
    }
}

struct Terms {
    stemmer: Option<Stemmer>,
    stemming: Stemming,
    is_english: bool,
    found: Vec<String>,
}

impl Terms {
    /// Adds the terms of the compound `text[start..end]`, which the characters around it may change.
    fn compound(&mut self, text: &str, start: usize, end: usize) {
        let compound = &text[start..end];
        // Most are a word with nothing about it.
        if is_plain(compound) && !text[..start].ends_with('-') {
            self.word(compound);
            return;
        }
        if let Some(suffix) = language_suffix(compound, &text[end..]) {
            self.found.push(compound.to_ascii_lowercase() + suffix);
            return;
        }
        for run in script_runs(compound) {
            if run.starts_with(is_unspaced) { self.pairs(run) } else { self.identifier(run) }
        }
        if let Some(dashes) = flag_dashes(&text[..start], compound) {
            let name: String = compound.chars().filter(|c| c.is_alphanumeric()).collect();
            self.found.push(clipped(dashes.to_owned() + &lower_case(&name)));
        }
    }

    fn pairs(&mut self, run: &str) {
        let mut previous = None;
        for (at, c) in run.char_indices() {
            if let Some(start) = previous.replace(at) {
                self.found.push(run[start..at + c.len_utf8()].to_owned());
            }
        }
        if previous == Some(0) {
            self.found.push(run.to_owned());
        }
    }

    fn identifier(&mut self, run: &str) {
        let Some(run) = (if self.is_english { without_contraction(run) } else { Some(run) }) else { return };
        let parts = parts(run);
        if let [word] = parts[..] {
            self.word(word);
            return;
        }
        for part in &parts {
            if part.chars().nth(1).is_some() || part.starts_with(|c: char| !c.is_ascii_alphabetic()) {
                self.word(part);
            }
        }
        let whole = parts.concat();
        if (1..=MAX_TERM_BYTES).contains(&whole.len()) {
            self.word(&whole);
        }
    }

    fn word(&mut self, word: &str) {
        // Most words are in lower case already, and no numbers then.
        let term = if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            self.known(word)
        } else {
            number(word).map_or_else(|| self.known(&lower_case(word)), |number| self.term(number))
        };
        self.found.extend(term);
    }

    /// The term of a word in lower case; few words are new.
    fn known(&self, word: &str) -> Option<String> {
        known_or(self.stemming, word, || self.term(word.to_owned()))
    }

    fn term(&self, word: String) -> Option<String> {
        if self.is_english && STOP_WORDS.binary_search(&word.as_str()).is_ok() {
            return None;
        }
        let is_plain = word.len() <= MAX_TERM_BYTES && word.chars().all(char::is_alphabetic);
        let term = match &self.stemmer {
            Some(stemmer) if is_plain => stemmer.stem(&word).into_owned(),
            _ => clipped(word),
        };
        Some(if self.is_english { term } else { without_accents(&term) })
    }
}

/// Two letters of ASCII or more, small but for the first.
fn is_plain(compound: &str) -> bool {
    matches!(compound.as_bytes(), [first, rest @ ..]
        if first.is_ascii_alphabetic() && !rest.is_empty() && rest.iter().all(u8::is_ascii_lowercase))
}

fn without_accents(term: &str) -> String {
    let bare = |c: char| if c.is_ascii() || !has_accents(c) { (Some(c), None) } else { (None, Some(folded(c))) };
    term.chars()
        .filter(|&c| class(c) != Class::Mark)
        .map(bare)
        .flat_map(|(c, fold)| c.into_iter().chain(fold.into_iter().flatten()))
        .collect()
}

/// `++` or `#` when it follows the name of a language it belongs to.
fn language_suffix(compound: &str, after: &str) -> Option<&'static str> {
    let suffix = ["++", "#"].into_iter().find(|suffix| after.starts_with(suffix))?;
    let ends = !after[suffix.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '#' || c == '+');
    let named = match suffix {
        "++" => matches!(compound, "C" | "c"),
        _ => matches!(compound, "C" | "c" | "F" | "f"),
    };
    (ends && named).then_some(suffix)
}

/// The one or two dashes that make a compound a command-line flag.
fn flag_dashes(before: &str, compound: &str) -> Option<&'static str> {
    let dashes = if before.ends_with("--") { "--" } else { "-" };
    let outside = before.strip_suffix(dashes)?;
    let opens = outside.chars().next_back().is_none_or(|c| c.is_whitespace() || "`'\"([{<|,/=".contains(c));
    (opens && compound.starts_with(|c: char| c.is_ascii_alphabetic())).then_some(dashes)
}

/// Cuts where a script written without spaces begins or ends.
fn script_runs(compound: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let mut start = 0;
    let mut previous = None;
    for (at, c) in compound.char_indices() {
        let unspaced = is_unspaced(c);
        // Marks and the like belong to the run that they follow.
        let belongs = unspaced || c.is_alphanumeric() || c.is_ascii();
        if belongs && previous.is_some_and(|before| before != unspaced) {
            runs.push(&compound[start..at]);
            start = at;
        }
        previous = if belongs { Some(unspaced) } else { previous };
    }
    if start < compound.len() {
        runs.push(&compound[start..]);
    }
    runs
}

/// Thai to Burmese and Khmer, Kana, Han with its extensions, Hangul (Unicode's block ranges).
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF | 0x3005..=0x3007
        | 0x3040..=0x30FF | 0x3130..=0x318F | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// The word without what a contraction adds; nothing when it is a negated auxiliary.
fn without_contraction(run: &str) -> Option<&str> {
    let Some((word, ending)) = run.rsplit_once('\'') else { return Some(run) };
    if ending.eq_ignore_ascii_case("t") && word.ends_with(['n', 'N']) {
        return None;
    }
    let cut = CONTRACTED.iter().any(|known| ending.eq_ignore_ascii_case(known));
    Some(if cut { word } else { run })
}

/// Cuts at ASCII punctuation outside numbers and at camel-case humps.
fn parts(run: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let bytes = run.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let splits = |at: usize, c: char| {
        c.is_ascii_punctuation() && !(matches!(c, '.' | ',' | '_') && at > 0 && digit(at - 1) && digit(at + 1))
    };
    let mut start = 0;
    for (at, c) in run.char_indices().filter(|&(at, c)| splits(at, c)) {
        humps(&run[start..at], &mut parts);
        start = at + c.len_utf8();
    }
    humps(&run[start..], &mut parts);
    parts
}

/// Cuts before a capital that follows a small letter or a digit after one (`bodyLimit`,
/// `utf8Decode`) and before the last capital of an acronym (`HTTPServer`), but not in `URLs`.
fn humps<'a>(piece: &'a str, parts: &mut Vec<&'a str>) {
    let mut start = 0;
    let mut small = false;
    let mut previous = ' ';
    for (at, c) in piece.char_indices() {
        let mut after = piece[at + c.len_utf8()..].chars();
        let next = after.next().unwrap_or(' ');
        let next_is_small = next.is_lowercase() && (next != 's' || after.next().is_some_and(char::is_lowercase));
        let hump = c.is_uppercase() && (small || (previous.is_uppercase() && next_is_small));
        if hump && at > start {
            parts.push(&piece[start..at]);
            start = at;
        }
        small = c.is_lowercase() || (small && c.is_numeric());
        previous = c;
    }
    if start < piece.len() {
        parts.push(&piece[start..]);
    }
}

/// A number or version in its one form: no `v` before it, no separators of thousands.
fn number(word: &str) -> Option<String> {
    let digits = word.strip_prefix(['v', 'V']).unwrap_or(word);
    let numeric = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'_'));
    numeric.then(|| digits.replace([',', '_'], ""))
}

fn clipped(mut term: String) -> String {
    term.truncate(term.floor_char_boundary(MAX_TERM_BYTES));
    term
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
