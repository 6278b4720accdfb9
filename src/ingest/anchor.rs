//! Heading anchors by GitHub's rule.
//!
//! The rule as the npm package `github-slugger` 2 has it, which Docusaurus, Starlight and Nextra
//! use: lower-case; drop everything that is not alphabetic, a mark, a decimal or letter number, a
//! connector such as `_`, a hyphen or a space; every space becomes a hyphen; a slug that was given
//! before gets `-1`, `-2`, …. Other generators differ (`VitePress`, mdBook, `MkDocs`).

use std::collections::BTreeMap;

use crate::characters::{Class, class, lower_case};

/// Gives the headings of one document their anchors, in document order.
#[derive(Default)]
pub(super) struct Slugger {
    /// For each slug given, how often it was asked for again.
    given: BTreeMap<String, usize>,
}

impl Slugger {
    /// The anchor of the next heading, given its text without markup.
    pub(super) fn slug(&mut self, heading: &str) -> String {
        let base = slug(heading);
        let mut result = base.clone();
        while self.given.contains_key(&result) {
            let repeats = self.given.entry(base.clone()).or_default();
            *repeats += 1;
            result = format!("{base}-{repeats}");
        }
        self.given.insert(result.clone(), 0);
        result
    }
}

fn slug(heading: &str) -> String {
    let lower = lower_case(heading);
    let kept = lower.chars().filter(|&c| c == '-' || c == ' ' || is_kept(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn is_kept(c: char) -> bool {
    match class(c) {
        Class::Mark | Class::WideMark | Class::Connector => true,
        Class::OtherNumber => false,
        _ => c.is_alphanumeric(),
    }
}
