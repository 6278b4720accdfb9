//! What of a passage can be found by words, and how much an occurrence in each of its fields weighs.
//!
//! BM25F in its first form (Robertson, Zaragoza & Taylor, "Simple BM25 Extension to Multiple Weighted
//! Fields", 2004): an occurrence counts as often as its field weighs, in the frequency and in the length,
//! before either is saturated. So one number is kept for a term in a passage, whatever its fields.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::postings::Key;
use super::words::{Stemming, words_in};
use crate::document::Passage;

/// One occurrence in a field of weight 1, in frequencies and lengths.
pub(super) const OCCURRENCE: u32 = 4;

/// How texts become terms, the same for all passages of an index and for its queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Analysis {
    /// Whose word endings are cut.
    pub stemming: Stemming,
    /// What each field weighs.
    pub weights: FieldWeights,
}

/// What an occurrence in each field weighs, in quarters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldWeights {
    /// The document's title.
    pub title: u8,
    /// The headings above the passage. Its own stand in its text as well.
    pub headings: u8,
    /// The text, but for its code blocks.
    pub text: u8,
    /// Fenced code blocks.
    pub code: u8,
}

impl Default for FieldWeights {
    /// Headings twice, all else once. Of twelve choices on the tuning half of `tests/questions` none differed
    /// from another by more than one question of 34 in the first five passages; what is asked for by its
    /// heading comes first more often.
    fn default() -> Self {
        Self { title: 4, headings: 8, text: 4, code: 4 }
    }
}

impl Analysis {
    /// The terms of a query in their order, as often as they occur.
    pub(super) fn query(self, text: &str) -> Counts {
        counted(self.weighed(text, 1).collect())
    }

    /// The terms of a passage in their order, with their weighted frequencies.
    pub(super) fn passage(self, passage: &Passage) -> Counts {
        let FieldWeights { title, headings, text, code } = self.weights;
        let mut terms: Counts = self.weighed(&passage.title, title).collect();
        // The title is not counted again as the first heading.
        let skip = usize::from(passage.headings.first() == Some(&passage.title));
        passage.headings.iter().skip(skip).for_each(|heading| terms.extend(self.weighed(heading, headings)));
        if text == code {
            terms.extend(self.weighed(&passage.text, text));
        } else {
            let (prose, blocks) = apart(&passage.text);
            terms.extend(self.weighed(&prose, text).chain(self.weighed(&blocks, code)));
        }
        counted(terms)
    }

    fn weighed(self, text: &str, weight: u8) -> impl Iterator<Item = (String, u32)> + use<> {
        let words = if weight > 0 { words_in(text, self.stemming) } else { Vec::new() };
        words.into_iter().map(move |term| (term, u32::from(weight)))
    }
}

/// Terms in their order, each once, with how much they count.
pub(super) type Counts = Vec<(String, u32)>;

/// By a tree, which is there already: a sort would be more code than all of this file.
fn counted(terms: Counts) -> Counts {
    let mut counts: BTreeMap<Key, u32> = BTreeMap::new();
    for (term, count) in terms {
        *counts.entry(Key::of(term)).or_insert(0) += count;
    }
    counts.into_iter().map(|(key, count)| (key.into_term(), count)).collect()
}

/// The lines outside and inside of fences, which need not be closed.
fn apart(text: &str) -> (String, String) {
    let (mut prose, mut code, mut open) = (String::new(), String::new(), None);
    for line in text.split_inclusive('\n') {
        let start = line.trim_start_matches([' ', '\t', '>']);
        let fence = ["```", "~~~"].into_iter().find(|fence| start.starts_with(fence));
        match (open, fence) {
            (None, Some(fence)) => open = Some(fence),
            (Some(opened), Some(fence)) if opened == fence => open = None,
            (None, None) => prose.push_str(line),
            (Some(_), _) => code.push_str(line),
        }
    }
    (prose, code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Origin, Span};

    #[test]
    fn each_field_weighs_what_it_is_given() {
        let text = "A word.\n```js\ncoded(word)\n```\nprose".to_owned();
        let span = Span { start: 0, end: text.len() };
        let (id, document, title) = ("a#0".to_owned(), "a".to_owned(), "Guide".to_owned());
        let headings = vec!["Guide".to_owned(), "Limits".to_owned()];
        let passage = Passage {
            id,
            document,
            url: String::new(),
            title,
            headings,
            also: Vec::new(),
            span,
            text,
            origin: Origin::Local,
        };
        let weights = FieldWeights { title: 1, headings: 10, text: 4, code: 2 };
        let counts = Analysis { weights, stemming: Stemming::En }.passage(&passage);
        let counts: Vec<(&str, u32)> = counts.iter().map(|(term, count)| (term.as_str(), *count)).collect();
        assert_eq!(counts, [("code", 2), ("guid", 1), ("limit", 10), ("prose", 4), ("word", 6)]);
        let without = FieldWeights { code: 0, ..weights };
        let counts = Analysis { weights: without, stemming: Stemming::En }.passage(&passage);
        let count = |of: &str| counts.iter().find(|(term, _)| term == of).map(|(_, count)| *count);
        assert_eq!((count("code"), count("word")), (None, Some(4)));
    }
}
