//! The prompts of one language, read from its files.
//!
//! A file has three parts between lines of `===`: the system message, the user message, and what is
//! added to the latter when a reply could not be read or drafts were rejected. Placeholders stand in
//! braces; what is filled in is never searched for placeholders again.

use crate::prompt::Language;

/// A prompt to send.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    /// The role, and the form of the reply.
    pub system: String,
    /// The material.
    pub user: String,
}

/// One template.
#[derive(Debug, Clone, Copy)]
pub(super) struct Template {
    system: &'static str,
    user: &'static str,
    more: &'static str,
}

/// The templates of a language.
pub(super) struct Pack {
    pub(super) decide: Template,
    pub(super) grade: Template,
    pub(super) grade_score: Template,
    pub(super) rewrite: Template,
    pub(super) direct: Template,
    pub(super) generate: Template,
    pub(super) generate_strict: Template,
    pub(super) grounding: Template,
    pub(super) support: Template,
    pub(super) usefulness: Template,
    pub(super) rate: Template,
}

macro_rules! pack {
    ($language:literal: $($name:ident),+) => {
        Pack { $($name: Template::parse(include_str!(concat!("templates/", $language, "/", stringify!($name), ".md")))),+ }
    };
    ($language:literal) => {
        pack!($language: decide, grade, grade_score, rewrite, direct, generate, generate_strict, grounding, support,
            usefulness, rate)
    };
}

/// The pack of a language; English where there is none. The answer is in the question's language all
/// the same, as the prompt asks for it.
pub(super) fn pack(language: Language) -> Pack {
    match language {
        Language::Fr => pack!("fr"),
        Language::En | Language::De | Language::Es => pack!("en"),
    }
}

impl Template {
    fn parse(file: &'static str) -> Self {
        let mut parts = file.split("\n===\n").map(str::trim_end);
        let mut part = || parts.next().unwrap_or_default();
        Self { system: part(), user: part(), more: part() }
    }

    /// The prompt with its values; `more` adds the third part.
    pub(super) fn fill(self, values: &[(&str, &str)], more: bool) -> Prompt {
        let mut user = filled(self.user, values);
        if more {
            user += "\n\n";
            user += &filled(self.more, values);
        }
        Prompt { system: self.system.to_owned(), user }
    }
}

fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open);
        text += before;
        let value = values.iter().find_map(|(name, value)| {
            let left = after.strip_prefix('{')?.strip_prefix(name)?.strip_prefix('}')?;
            Some((*value, left))
        });
        let Some((value, left)) = value else {
            text.push('{');
            rest = &after[1..];
            continue;
        };
        text += value;
        rest = left;
    }
    text + rest
}
