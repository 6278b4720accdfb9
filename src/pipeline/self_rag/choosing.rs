//! A closed set: which of the possible answers a candidate gives, and which of them is chosen.

use super::Judged;
use crate::pipeline::beam::elect;

/// Leaves of the candidates of an open question what they are; of a closed set one that gives the answer
/// with most on its side. What gives none of the answers counts for none.
pub(super) fn chosen(mut judged: Vec<Judged>, choices: &[String]) -> Vec<Judged> {
    if choices.is_empty() {
        return judged;
    }
    for Judged { node, eligible } in &mut judged {
        match choice(&node.segment.text, choices) {
            Some(given) => node.segment.text.clone_from(&choices[given]),
            None => *eligible = false,
        }
    }
    let votes: Vec<(&str, Option<f64>)> =
        judged.iter().filter(|j| j.eligible).map(|j| (j.node.segment.text.as_str(), j.node.score)).collect();
    let Some(elected) = elect(&votes).map(|vote| votes[vote].0.to_owned()) else { return judged };
    // Of those that give it the best is cited.
    let votes_for = |judged: &Judged| judged.eligible && judged.node.segment.text == elected;
    let worth = |judged: &Judged| judged.node.score.unwrap_or(f64::NEG_INFINITY);
    let better = |best: usize, i: usize| if worth(&judged[i]) > worth(&judged[best]) { i } else { best };
    let best = (0..judged.len()).filter(|&i| votes_for(&judged[i])).reduce(better);
    for (i, judged) in judged.iter_mut().enumerate() {
        judged.eligible &= Some(i) == best;
    }
    judged
}

/// The index of the answer that a text gives: by its letter, as `B`, `B.` or `B: …`, or by its words.
pub(super) fn choice(text: &str, choices: &[String]) -> Option<usize> {
    let text = text.trim().trim_matches(['"', '\'', '*', '`']).trim_end_matches(['.', '!']).to_lowercase();
    let is = |choice: &String| choice.trim_end_matches(['.', '!']).to_lowercase();
    if let Some(at) = choices.iter().position(|choice| is(choice) == text) {
        return Some(at);
    }
    let begins = |choice: &String| {
        let rest = text.strip_prefix(&is(choice));
        rest.is_some_and(|rest| rest.starts_with(|c: char| !c.is_alphanumeric()))
    };
    // Of answers that begin alike the longest is meant.
    let by_words = (0..choices.len()).filter(|&i| begins(&choices[i])).max_by_key(|&i| choices[i].len());
    by_words.or_else(|| {
        let letter = text.strip_prefix('(').unwrap_or(&text);
        let at = usize::from(letter.bytes().next()?.checked_sub(b'a')?);
        let rest = letter.get(1..)?;
        (at < choices.len() && (rest.is_empty() || rest.starts_with([':', '.', ')']))).then_some(at)
    })
}
