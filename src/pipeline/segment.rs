//! A piece of an answer written from one passage, with the probabilities of its tokens, and where in it
//! the model asks for other passages.

use crate::document::{Passage, Span};
use crate::pipeline::reflection::{Group, retrieval, retrieval_within};

/// The next segment of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerateSegment {
    /// The question as asked.
    pub question: String,
    /// In which form.
    pub form: Form,
    /// The answer so far, as the model wrote it.
    pub written: String,
    /// What the segment is written from.
    pub evidence: Evidence,
}

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Form {
    /// A piece of an answer.
    #[default]
    Segment,
    /// All of an answer.
    Whole,
    /// One of these answers.
    Choice(Vec<String>),
}

/// What a segment is written from.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    /// Nothing yet: the beginning of an answer, to see whether the model asks for passages.
    Undecided,
    /// Nothing: retrieval was decided against.
    None,
    /// One passage.
    Passage(Box<Passage>),
}

/// Asks one group's question of a model that has no token for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reflect {
    /// Which question.
    pub group: Group,
    /// The question as asked.
    pub question: String,
    /// The passage, where the group looks at one.
    pub passage: Option<Box<Passage>>,
    /// The text that is judged; of [`Group::Retrieve`] the answer so far.
    pub text: String,
}

/// A segment as a model wrote it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Candidate {
    /// All of it, reflection tokens included.
    pub text: String,
    /// Its tokens, where the model tells their probabilities.
    pub tokens: Vec<Token>,
    /// Cut off before its end.
    pub truncated: bool,
    /// The model has no reflection tokens: their questions must be asked of it.
    pub plain: bool,
    /// The place in the passage that the segment is nearest to.
    pub quote: Option<Span>,
}

/// A token that was written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Token {
    /// Its text.
    pub text: String,
    /// Its log probability, where it is known.
    pub logprob: Option<f64>,
    /// What else might have stood there, itself perhaps among it.
    pub top: Vec<Alternative>,
}

/// A token that might have been written.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// Its text.
    pub text: String,
    /// Its log probability.
    pub logprob: f64,
}

const MARKUP: [&str; 6] = ["<paragraph>", "</paragraph>", "<s>", "</s>", "[PAD]", "<unk>"];
const GROUPS: [Group; 4] = [Group::Retrieve, Group::Relevance, Group::Support, Group::Usefulness];

/// Everything that such a model writes or is shown and that is no text: reflection tokens and markup.
pub fn special_tokens() -> impl Iterator<Item = &'static str> {
    GROUPS.into_iter().flat_map(Group::tokens).copied().chain(MARKUP)
}

/// How many tokens of an answer are looked at for a wish to retrieve.
pub const OPENING_TOKENS: usize = 25;

/// Whether the beginning of an answer asks for passages, as a short answer has it: by its first token,
/// or by δ where there is one. What cannot be told is answered from passages.
pub fn wants_passages(opening: &Candidate, delta: Option<f64>) -> bool {
    let first = opening.tokens.first();
    match first.and_then(|token| Group::Retrieve.read(token)).and_then(|p| retrieval(&p)).zip(delta) {
        Some((share, delta)) => share > delta,
        None => !opening.text.trim_start().starts_with(NO_RETRIEVAL),
    }
}

/// The same for a long answer: one of its first tokens asks for passages, or with δ decides on them and
/// asks firmly enough. (The published code also wants the token itself to be the one that asks, so that a
/// lower δ never retrieves more.)
pub fn wants_passages_soon(opening: &Candidate, delta: Option<f64>) -> bool {
    let mut soon = opening.tokens.iter().take(OPENING_TOKENS);
    let Some(delta) = delta else {
        return soon.any(|token| token.text.trim() == RETRIEVAL) || opening.text.contains(RETRIEVAL);
    };
    let share = |token| retrieval(&Group::Retrieve.read(token)?);
    let decides = |token: &&Token| [RETRIEVAL, NO_RETRIEVAL].contains(&token.text.trim());
    soon.filter(decides).filter_map(share).any(|share| share > delta)
}

const RETRIEVAL: &str = Group::Retrieve.tokens()[0];
const NO_RETRIEVAL: &str = Group::Retrieve.tokens()[1];

/// A candidate up to where it asks for other passages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut<'a> {
    /// As the model wrote it.
    pub raw: &'a str,
    /// Its tokens.
    pub tokens: &'a [Token],
    /// Whether it asks for other passages.
    pub wants_more: bool,
}

/// Cuts a candidate at the first token that asks for passages, or that does not but nearly did: where
/// the share of those who do is above δ.
pub fn cut(candidate: &Candidate, delta: Option<f64>) -> Cut<'_> {
    let nearly = |token: &Token| {
        let share = Group::Retrieve.read(token).and_then(|p| retrieval_within(&p));
        share.zip(delta).is_some_and(|(share, delta)| share > delta)
    };
    let asks = |token: &Token| match token.text.trim() {
        RETRIEVAL => true,
        NO_RETRIEVAL => nearly(token),
        _ => false,
    };
    let at = candidate.tokens.iter().position(asks).unwrap_or(candidate.tokens.len());
    let (before, after) = candidate.tokens.split_at(at);
    let refused = before.iter().filter(|token| token.text.trim() == NO_RETRIEVAL).count();
    let ask = candidate.text.find(RETRIEVAL);
    let near_ask = (!after.is_empty()).then(|| candidate.text.match_indices(NO_RETRIEVAL).nth(refused)).flatten();
    let end = ask.into_iter().chain(near_ask.map(|(at, _)| at)).min();
    Cut { raw: &candidate.text[..end.unwrap_or(candidate.text.len())], tokens: before, wants_more: end.is_some() }
}

/// What a reader sees of it: no reflection tokens, no markup, and no words grown together where one
/// of them stood.
pub fn plain_text(raw: &str) -> String {
    let without = |text: String, token: &str| {
        text.split(token).fold(String::new(), |joined, part| {
            let spaced = joined.is_empty() || joined.ends_with(char::is_whitespace);
            let part = if spaced { part.trim_start_matches(' ') } else { part };
            let closes = part.is_empty() || part.starts_with(|c: char| c.is_whitespace() || ".,;:!?".contains(c));
            joined + if spaced || closes { "" } else { " " } + part
        })
    };
    let mut text = raw.to_owned();
    // Taking one out may join the halves of another.
    while special_tokens().any(|token| text.contains(token)) {
        text = special_tokens().fold(text, without);
    }
    text.trim().to_owned()
}
