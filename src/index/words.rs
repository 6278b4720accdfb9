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
//! 4. Terms are lower case. A term of letters alone is reduced to its English Snowball stem
//!    (Porter's second stemmer, snowballstem.org), wholes too. [`STOP_WORDS`] and words in `n't`
//!    are dropped, the endings `'s 're 've 'll 'd 'm` are cut.
//! 5. Scripts written without spaces (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese) give
//!    overlapping pairs of characters; a character that stands alone gives itself.
//! 6. A term has at most [`MAX_TERM_BYTES`] bytes: longer words are cut, longer wholes left out.
//!
//! Snapshots store terms, so a change to these rules raises the snapshot's format version.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

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

/// The terms of a text in reading order, as often as they occur.
pub fn words(text: &str) -> Vec<String> {
    let text = normalised(text);
    let mut terms = Terms { stemmer: Stemmer::create(Algorithm::English), found: Vec::new() };
    let (mut start, mut end) = (0, 0);
    for (at, word) in text.unicode_word_indices() {
        if start == end || !joins(&text[start..end], &text[end..at], word) {
            terms.compound(&text, start, end);
            start = at;
        }
        end = at + word.len();
    }
    terms.compound(&text, start, end);
    terms.found
}

fn normalised(text: &str) -> Cow<'_, str> {
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
            _ if class(c) == Class::Mark => {}
            _ => plain.extend(folded(c)),
        }
    }
    Cow::Owned(plain)
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
    stemmer: Stemmer,
    found: Vec<String>,
}

impl Terms {
    /// Adds the terms of the compound `text[start..end]`, which the characters around it may change.
    fn compound(&mut self, text: &str, start: usize, end: usize) {
        let compound = &text[start..end];
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
        let Some(run) = without_contraction(run) else { return };
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
        let word = number(word).unwrap_or_else(|| lower_case(word));
        if STOP_WORDS.binary_search(&word.as_str()).is_ok() {
            return;
        }
        if word.len() <= MAX_TERM_BYTES && word.chars().all(char::is_alphabetic) {
            self.found.push(self.stemmer.stem(&word).into_owned());
        } else {
            self.found.push(clipped(word));
        }
    }
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_gives_its_terms_by_the_documented_rules() {
        let cases: &[(&str, &str)] = &[
            ("", ""),
            (" \n\t!? -- … 🎉", ""),
            ("How do I limit the size of a request body?", "limit size request bodi"),
            ("limits limited limiting", "limit limit limit"),
            ("not the same", "not same"),
            ("doesn't can't user's you're", "user"),
            ("doesn’t user’s", "user"),
            ("bodyLimit", "bodi limit bodylimit"),
            ("body_limit", "bodi limit bodylimit"),
            ("body-limit", "bodi limit bodylimit"),
            ("HTTPServer URLs iOS", "http server httpserver url os io"),
            ("utf8Decode sha256 E0382", "utf8 decod utf8decode sha256 e0382"),
            ("__init__ x_axis", "init axi xaxi"),
            ("Content-Type: text/html", "content type contenttyp text html"),
            ("HTTP/2 HTTP/1.1 and/or 24/7", "http 2 http2 http 1.1 http1.1 24 7"),
            ("v1.2.3 1.2.3 v5 V5", "1.2.3 1.2.3 5 5"),
            ("1,048,576 1_000 10.5", "1048576 1000 10.5"),
            ("npm run --watch `-p` --body-limit=5", "npm run watch --watch p -p bodi limit bodylimit --bodylimit 5"),
            ("well-known a -- b x-y", "well known wellknown b xy"),
            ("req.body Node.js", "req bodi reqbodi node js nodej"),
            ("C++ C# F# A# c++11 C", "c++ c# f# c 11 c"),
            ("日本語 茶 API文档", "日本 本語 茶 api 文档"),
            ("カタカナ 한국어", "カタ タカ カナ 한국 국어"),
            ("Größe naïve Ｆｕｌｌ", "große naiv full"),
            ("हिन्दी", "हिन्दी"),
        ];
        for (text, terms) in cases {
            assert_eq!(words(text).join(" "), *terms, "of {text:?}");
        }
    }

    #[test]
    fn composed_and_decomposed_letters_give_the_same_term() {
        assert_eq!(words("caf\u{e9}"), words("cafe\u{301}"));
    }

    #[test]
    fn stop_words_are_sorted_for_binary_search() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_line_of_base64_is_cut_and_a_long_compound_has_no_whole() {
        let line = "q1".repeat(50);
        assert_eq!(words(&line), [&line[..MAX_TERM_BYTES]]);
        let compound = ["seven"; 20].join("-");
        assert_eq!(words(&compound), ["seven"; 20]);
    }

    proptest! {
        #[test]
        fn terms_are_never_empty_nor_longer_than_the_limit(text in "(\\PC|[-_.'/A-Za-z0-9é日]){0,80}") {
            for term in words(&text) {
                prop_assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES, "{:?} of {:?}", term, text);
            }
        }

        #[test]
        fn lines_give_their_terms_one_after_the_other(a in "\\PC{0,40}", b in "\\PC{0,40}") {
            let apart = [words(&a), words(&b)].concat();
            prop_assert_eq!(words(&format!("{a}\n{b}")), apart);
        }

        #[test]
        fn case_does_not_matter_to_a_plain_word(word in "[a-z]{2,12}") {
            prop_assert_eq!(words(&word), words(&word.to_uppercase()));
        }
    }
}
