//! The log probabilities of a reply's tokens, in the two shapes that servers have, and how probable each
//! of a few answers is.
//!
//! A reply without them has none: that says nothing, and is never read as a probability of zero.

use serde_json::Value;

/// A token of a reply.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Token {
    /// Its text.
    pub text: String,
    /// Its log probability.
    pub logprob: Option<f64>,
    /// The most probable tokens at its place, itself perhaps among them.
    pub top: Vec<(String, f64)>,
}

/// How many alternatives are asked for: the most that services take.
pub const TOP: u32 = 20;

/// The log probability of a token that is not among the alternatives: next to nothing.
const FLOOR: f64 = -100.0;

/// The tokens of a choice: `logprobs.content` of chat completions, which llama.cpp's server also has for
/// completions, or the three lists of the older completions.
pub(super) fn tokens(choice: &Value) -> Vec<Token> {
    let Some(logprobs) = choice.get("logprobs") else { return Vec::new() };
    match logprobs.get("content").and_then(Value::as_array) {
        Some(content) => content.iter().filter_map(listed).collect(),
        None => in_lists(logprobs),
    }
}

fn listed(entry: &Value) -> Option<Token> {
    let of = |entry: &Value| Some((entry.get("token")?.as_str()?.to_owned(), logprob(entry.get("logprob")?)?));
    let top = entry.get("top_logprobs").and_then(Value::as_array);
    Some(Token {
        text: entry.get("token")?.as_str()?.to_owned(),
        logprob: entry.get("logprob").and_then(logprob),
        top: top.into_iter().flatten().filter_map(of).collect(),
    })
}

fn in_lists(logprobs: &Value) -> Vec<Token> {
    let list = |name| logprobs.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let (texts, own, top) = (list("tokens"), list("token_logprobs"), list("top_logprobs"));
    let alternatives = |map: &Value| {
        let pairs = map.as_object().into_iter().flatten();
        pairs.filter_map(|(text, value)| Some((text.clone(), logprob(value)?))).collect()
    };
    let token = |(i, text): (usize, &Value)| Token {
        text: text.as_str().unwrap_or_default().to_owned(),
        logprob: own.get(i).and_then(logprob),
        top: top.get(i).map(alternatives).unwrap_or_default(),
    };
    texts.iter().enumerate().map(token).collect()
}

/// Rounding makes some servers say a little more than zero.
fn logprob(value: &Value) -> Option<f64> {
    value.as_f64().map(|logprob| logprob.min(0.0))
}

/// How an answer may be written: any of these words, in any case and with blanks and quotation marks
/// around it; a token may also be no more than the beginning of one.
pub type Answer<'a> = &'a [&'a str];

/// The probability of each answer where the first of them begins; `None` when the reply has none of
/// them or no probabilities. They are no distribution: what else might have stood there is left out.
pub fn of_answers(tokens: &[Token], answers: &[Answer<'_>]) -> Option<Vec<f64>> {
    let begins = |text: &str| answers.iter().position(|answer| is_of(text, answer));
    let token = after_reasoning(tokens)?.iter().find(|token| begins(&token.text).is_some())?;
    let own = std::iter::once((&token.text, token.logprob?));
    let others = token.top.iter().filter(|(text, _)| *text != token.text).map(|(text, logprob)| (text, *logprob));
    let mut shares = vec![0.0; answers.len()];
    for (text, logprob) in own.chain(others) {
        if let Some(answer) = begins(text) {
            shares[answer] += libm::exp(logprob);
        }
    }
    Some(shares.into_iter().map(|share| share + libm::exp(FLOOR)).collect())
}

/// The tokens after the reasoning that a reply begins with; `None` when that never ends.
pub fn after_reasoning(tokens: &[Token]) -> Option<&[Token]> {
    let text: String = tokens.iter().map(|token| token.text.as_str()).collect();
    if !text.trim_start().starts_with("<think>") {
        return Some(tokens);
    }
    let end = text.rfind("</think>")? + "</think>".len();
    let mut read = 0;
    let before = tokens.iter().take_while(|token| {
        let is_before = read < end;
        read += token.text.len();
        is_before
    });
    tokens.get(before.count()..)
}

fn is_of(token: &str, answer: Answer<'_>) -> bool {
    let token = token.trim_matches(|c: char| c.is_whitespace() || "\"'`*_:.".contains(c)).to_lowercase();
    !token.is_empty() && answer.iter().any(|word| word.starts_with(&token))
}
