//! What a call takes at the most, reckoned from the texts that it shows to a model and the longest reply it asks
//! for: what a budget of tokens or money is held against before the call is made.

use crate::document::Passage;
use crate::pipeline::budget::Prices;
use crate::pipeline::cost::{
    LONGEST_CLAIM, LONGEST_DRAFT, LONGEST_FURTHER, LONGEST_PROMPT, LONGEST_QUERY, LONGEST_SEGMENT, LONGEST_VERDICT,
};
use crate::pipeline::run::Effect;
use crate::pipeline::segment::Evidence;
use crate::pipeline::task::{Rejected, Task};

/// What calls take, or can take at the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bill {
    /// How many there are.
    pub calls: u32,
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Searches of the web.
    pub searches: u32,
    /// Vectors of queries.
    pub vectors: u32,
}

impl Bill {
    /// One call of a model with a prompt around that many tokens.
    pub fn of_model(material: u64, output: u32) -> Self {
        let input = material.saturating_add(LONGEST_PROMPT.into());
        Self { calls: 1, input, output: output.into(), ..Self::default() }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(more.calls),
            input: self.input.saturating_add(more.input),
            output: self.output.saturating_add(more.output),
            searches: self.searches.saturating_add(more.searches),
            vectors: self.vectors.saturating_add(more.vectors),
        }
    }

    /// So many of it.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self {
            calls: self.calls.saturating_mul(times),
            input: self.input.saturating_mul(times.into()),
            output: self.output.saturating_mul(times.into()),
            searches: self.searches.saturating_mul(times),
            vectors: self.vectors.saturating_mul(times),
        }
    }

    /// In the currency of the prices. What has no price is beyond any means.
    pub fn cost(&self, prices: &Prices) -> f64 {
        let of = |count: u64, price: Option<f64>, per: f64| match price {
            _ if count == 0 => 0.0,
            Some(price) => count as f64 / per * price,
            None => f64::INFINITY,
        };
        of(self.input, prices.input, 1e6)
            + of(self.output, prices.output, 1e6)
            + of(self.searches.into(), prices.web_search, 1.0)
            + of(self.vectors.into(), prices.embedding, 1.0)
    }
}

/// The most tokens of a text. English has four bytes a token and code three; a character of another script is
/// one token or two.
pub fn tokens_of(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    (ascii.div_ceil(3) + 2 * others) as u64
}

/// The most that one call for an effect takes.
pub fn most(effect: &Effect) -> Bill {
    let task = match effect {
        Effect::Retrieve { .. } => return Bill { calls: 1, vectors: 1, ..Bill::default() },
        Effect::SearchWeb { .. } => return Bill { calls: 1, searches: 1, ..Bill::default() },
        Effect::Ask(task) => task,
    };
    let listed = |entries: usize, each: u32| (entries as u32).saturating_mul(each).saturating_add(LONGEST_VERDICT);
    let (material, output) = match task {
        Task::DecideRetrieval(task) => (tokens_of(&task.question), LONGEST_VERDICT),
        Task::GradePassages(task) => {
            (tokens_of(&task.question) + of_passages(&task.passages), listed(task.passages.len(), LONGEST_FURTHER))
        }
        Task::RewriteQuery(task) => {
            (tokens_of(&task.question) + of_all(&task.tried) + of_passages(&task.held), LONGEST_QUERY)
        }
        Task::Generate(task) => {
            let of_rejected = |rejected: &Rejected| tokens_of(&rejected.text) + of_all(&rejected.claims);
            let told: u64 = task.rejected.iter().map(of_rejected).sum();
            (tokens_of(&task.question) + of_passages(&task.passages) + told, LONGEST_DRAFT)
        }
        Task::CheckGrounding(task) => (tokens_of(&task.draft.text) + of_passages(&task.passages), LONGEST_VERDICT),
        Task::CheckUsefulness(task) => (tokens_of(&task.question) + tokens_of(&task.draft), LONGEST_VERDICT),
        Task::CheckClaims(task) => {
            let question = task.question.as_deref().map_or(0, tokens_of);
            let claims = tokens_of(&task.draft) + of_all(&task.claims);
            (question + claims + of_passages(&task.passages), listed(task.claims.len(), LONGEST_CLAIM))
        }
        Task::Repair(task) => {
            let claims = tokens_of(&task.draft) + of_all(&task.claims);
            let material = tokens_of(&task.question) + claims + of_passages(&task.passages);
            (material, listed(task.claims.len(), LONGEST_CLAIM))
        }
        Task::GenerateSegment(task) => {
            let evidence = if let Evidence::Passage(passage) = &task.evidence { of_passage(passage) } else { 0 };
            (tokens_of(&task.question) + tokens_of(&task.written) + evidence, LONGEST_SEGMENT)
        }
        Task::Reflect(task) => {
            let passage = task.passage.as_deref().map_or(0, of_passage);
            (tokens_of(&task.question) + tokens_of(&task.text) + passage, LONGEST_VERDICT)
        }
    };
    Bill::of_model(material, output)
}

/// Of one entry of a list its number and the marks around it are part of the material.
const ENTRY: u64 = 16;

fn of_all(texts: &[String]) -> u64 {
    texts.iter().map(|text| tokens_of(text) + ENTRY).sum()
}

fn of_passages(passages: &[Passage]) -> u64 {
    passages.iter().map(of_passage).sum()
}

fn of_passage(passage: &Passage) -> u64 {
    tokens_of(&passage.breadcrumb()) + tokens_of(&passage.text) + ENTRY
}
