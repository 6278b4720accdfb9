//! The prompts of one language, read from its files, and how a prompt is made of them.
//!
//! A file has three parts between lines of `===`: the system message, the user message, and what is
//! added to the latter when a reply could not be read or drafts were rejected. Placeholders stand in
//! braces: `{marker}` for the fence, every other for material that nobody here wrote. What is filled in
//! is never searched for placeholders again.

use crate::prompt::fence::Fence;

/// A prompt to send.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    /// The role, and the form of the reply.
    pub system: String,
    /// The material.
    pub user: String,
    /// The material, to be told from what a model says.
    pub shown: Shown,
}

/// What a prompt shows a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shown {
    /// The texts of the material.
    pub material: Vec<String>,
    fence: Fence,
}

/// The material that stands for a placeholder.
pub(super) enum Material {
    /// One text.
    One(String),
    /// Texts numbered from 1.
    Many(Vec<String>),
}

/// One template, as its file has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Template(pub(super) &'static str);

/// The templates of a language.
pub(super) struct Pack {
    pub(super) decide: Template,
    pub(super) grade: Template,
    pub(super) grade_batch: Template,
    pub(super) grade_score: Template,
    pub(super) grade_score_batch: Template,
    pub(super) rewrite: Template,
    pub(super) rewrite_gap: Template,
    pub(super) direct: Template,
    pub(super) generate: Template,
    pub(super) generate_strict: Template,
    pub(super) grounding: Template,
    pub(super) support: Template,
    pub(super) usefulness: Template,
    pub(super) rate: Template,
    pub(super) segment: Template,
    pub(super) proceed: Template,
    pub(super) choose: Template,
    pub(super) claims: Template,
    pub(super) claims_useful: Template,
    pub(super) repair: Template,
}

/// The pack in a folder of `templates/`.
macro_rules! pack {
    ($folder:literal) => {
        pack!($folder: decide, grade, grade_batch, grade_score, grade_score_batch, rewrite, rewrite_gap, direct, generate,
            generate_strict, grounding, support, usefulness, rate, segment, proceed, choose, claims, claims_useful, repair)
    };
    ($folder:literal: $($name:ident),+) => {
        Pack {
            $($name: crate::prompt::pack::Template(
                include_str!(concat!("templates/", $folder, "/", stringify!($name), ".md"))
            )),+
        }
    };
}
pub(super) use pack;

impl Template {
    /// The prompt about a material; `more` adds the third part.
    pub(super) fn fill(self, material: &[(&'static str, Material)], more: bool) -> Prompt {
        let mut parts = self.0.split("\n===\n").map(str::trim_end);
        let [system, question, addition] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        let texts = material.iter().flat_map(|(_, material)| material.texts()).cloned().collect::<Vec<_>>();
        let fence = Fence::around(&texts);
        let mut values = vec![("marker", fence.marker())];
        values.extend(material.iter().map(|(name, material)| (*name, material.enclosed(&fence))));
        let mut user = filled(question, &values);
        if more {
            user += "\n\n";
            user += &filled(addition, &values);
        }
        Prompt { system: filled(system, &values), user, shown: Shown { material: texts, fence } }
    }
}

impl Material {
    fn texts(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
        }
    }

    fn enclosed(&self, fence: &Fence) -> String {
        match self {
            Self::One(text) => fence.enclose(text),
            Self::Many(texts) => {
                let numbered = |(text, n): (&String, usize)| format!("[{n}]\n{}", fence.enclose(text));
                texts.iter().zip(1..).map(numbered).collect::<Vec<_>>().join("\n\n")
            }
        }
    }
}

impl Shown {
    /// A reply without what it copied of the prompt's fences: a whole text of the material between its
    /// markers, with its label or number, or a marker. Small models begin their answers so.
    pub fn without_fences(&self, reply: &str) -> String {
        let mut reply = reply.to_owned();
        for text in &self.material {
            let copy = self.fence.enclose(text);
            while let Some(at) = reply.find(&copy) {
                let before = reply[..at].trim_end_matches('\n');
                let line = before.rfind('\n').map_or(0, |newline| newline + 1);
                let is_label = before.ends_with(':') || (before[line..].starts_with('[') && before.ends_with(']'));
                reply.replace_range(if is_label { line } else { at }..at + copy.len(), "");
            }
        }
        self.fence.strip(&reply)
    }
}

fn filled(template: &str, values: &[(&str, String)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open);
        text += before;
        let value = values.iter().find_map(|(name, value)| {
            let left = after.strip_prefix('{')?.strip_prefix(name)?.strip_prefix('}')?;
            Some((value, left))
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
