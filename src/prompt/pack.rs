//! The prompts of one language, read from its files, and how a prompt is made of them.
//!
//! A file has three parts between lines of `===`: the system message, the user message, and what is
//! added to the latter when a reply could not be read or drafts were rejected. Placeholders stand in
//! braces: `{marker}` for the fence, every other for material that nobody here wrote. What is filled in
//! is never searched for placeholders again.

use std::fmt::Write;
use std::ops::Range;

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

/// One template: the three parts of its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Template {
    system: Part,
    user: Part,
    addition: Part,
}

/// A part of a file, and where the names of its placeholders stand.
#[derive(Debug, Clone, Copy)]
struct Part {
    text: &'static str,
    names: [(u16, u16); MOST_PLACEHOLDERS],
    count: usize,
}

/// A file that has more is not compiled.
const MOST_PLACEHOLDERS: usize = 8;

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
            $($name: crate::prompt::pack::Template::of(
                include_str!(concat!("templates/", $folder, "/", stringify!($name), ".md"))
            )),+
        }
    };
}
pub(super) use pack;

impl Template {
    /// Takes a file apart, before the program runs.
    pub(super) const fn of(file: &'static str) -> Self {
        let (system, rest) = parted(file);
        let (user, rest) = parted(rest);
        let (addition, _) = parted(rest);
        Self { system: Part::of(system), user: Part::of(user), addition: Part::of(addition) }
    }

    /// The prompt about a material; `more` adds the third part.
    pub(super) fn fill(self, material: impl IntoIterator<Item = (&'static str, Material)>, more: bool) -> Prompt {
        let (mut texts, mut places) = (Vec::new(), Vec::new());
        for (name, material) in material {
            let from = texts.len();
            let is_numbered = match material {
                Material::One(text) => {
                    texts.push(text);
                    false
                }
                Material::Many(mut all) => {
                    texts.append(&mut all);
                    true
                }
            };
            places.push(Place { name, texts: from..texts.len(), is_numbered });
        }
        let fence = Fence::around(&texts);
        let filling = Filling { texts: &texts, places: &places, fence: &fence };
        let mut user = String::with_capacity(self.user.text.len() + self.addition.text.len() + filling.len());
        filling.fill(&self.user, &mut user);
        if more {
            user += "\n\n";
            filling.fill(&self.addition, &mut user);
        }
        let mut system = String::with_capacity(self.system.text.len() + fence.marker().len());
        filling.fill(&self.system, &mut system);
        Prompt { system, user, shown: Shown { material: texts, fence } }
    }
}

impl Part {
    /// Finds the placeholders: a name of small letters in braces. JSON in braces has quotes.
    const fn of(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        assert!(bytes.len() <= u16::MAX as usize, "a part of a template is too long");
        let mut part = Self { text, names: [(0, 0); MOST_PLACEHOLDERS], count: 0 };
        let (mut at, mut start) = (0, None);
        while at < bytes.len() {
            start = match (bytes[at], start) {
                (b'{', _) => Some(at + 1),
                (b'}', Some(start)) => {
                    part.names[part.count] = (start as u16, at as u16);
                    part.count += 1;
                    None
                }
                (b'a'..=b'z', start) => start,
                _ => None,
            };
            at += 1;
        }
        part
    }
}

/// What stands before the next line of `===`, and what behind it.
const fn parted(text: &str) -> (&str, &str) {
    const LINE: &[u8] = b"\n===\n";
    let bytes = text.as_bytes();
    let (mut at, mut same) = (0, 0);
    while at < bytes.len() && same < LINE.len() {
        // No beginning of the line stands within it but its own first byte.
        same = if bytes[at] == LINE[same] {
            same + 1
        } else if bytes[at] == LINE[0] {
            1
        } else {
            0
        };
        at += 1;
    }
    if same < LINE.len() {
        return (text.trim_ascii_end(), "");
    }
    let (before, rest) = text.split_at(at);
    let (before, _) = before.split_at(at - LINE.len());
    (before.trim_ascii_end(), rest)
}

/// Which of the texts stand for a placeholder.
struct Place {
    name: &'static str,
    texts: Range<usize>,
    is_numbered: bool,
}

/// What goes into a prompt.
struct Filling<'a> {
    texts: &'a [String],
    places: &'a [Place],
    fence: &'a Fence,
}

impl Filling<'_> {
    /// How much room it takes at the most, but for long numbers.
    fn len(&self) -> usize {
        self.texts.iter().map(|text| text.len() + 2 * self.fence.marker().len() + "[10]\n\n\n\n\n".len()).sum()
    }

    /// Writes a part of a template, filled. What is no placeholder here stays as it is.
    fn fill(&self, part: &Part, into: &mut String) {
        let mut written = 0;
        for &(start, end) in &part.names[..part.count] {
            let (open, end) = (usize::from(start) - 1, usize::from(end));
            *into += &part.text[written..open];
            let is_put = self.put(&part.text[open + 1..end], into);
            written = if is_put { end + 1 } else { open };
        }
        *into += &part.text[written..];
    }

    /// Writes what stands for a placeholder, if it is one.
    fn put(&self, name: &str, into: &mut String) -> bool {
        if name == "marker" {
            *into += self.fence.marker();
            return true;
        }
        let place = self.places.iter().find(|place| place.name == name);
        place.inspect(|place| self.enclose(place, into)).is_some()
    }

    fn enclose(&self, place: &Place, into: &mut String) {
        for (text, n) in self.texts[place.texts.clone()].iter().zip(1_usize..) {
            if place.is_numbered {
                // Writing to a string cannot fail.
                _ = writeln!(into, "{}[{n}]", if n > 1 { "\n\n" } else { "" });
            }
            for piece in self.fence.around_text(text) {
                *into += piece;
            }
        }
    }
}

impl Shown {
    /// A reply without what it copied of the prompt's fences: a whole text of the material between its
    /// markers, with its label or number, or a marker. Small models begin their answers so.
    pub fn without_fences(&self, reply: &str) -> String {
        let mut reply = reply.to_owned();
        if !self.fence.is_in(&reply) {
            return reply;
        }
        for text in &self.material {
            let copy = self.fence.around_text(text).concat();
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
