//! A draft with what its checks said, and what of it an answer shows.

use std::rc::Rc;

use crate::document::{Passage, Span};
use crate::pipeline::claims::{CheckedClaim, cited};
use crate::pipeline::record::{Citation, Claim, Source};
use crate::pipeline::strategy::Checks;
use crate::pipeline::task::{Draft, Quote};
use crate::pipeline::verdict::{Check, Scale, Support, Usefulness, Verdict};

/// A draft and what its checks said.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) draft: Draft,
    pub(crate) context: Rc<[Passage]>,
    pub(crate) grounding: Support,
    pub(crate) usefulness: Usefulness,
    /// Its claims, where each is checked by itself.
    pub(crate) claims: Vec<CheckedClaim>,
    /// It is what was left of the attempt before: nobody wrote it.
    pub(crate) is_trimmed: bool,
}

impl Attempt {
    pub(crate) fn new(draft: Draft, context: Rc<[Passage]>) -> Self {
        let (grounding, usefulness) = (Support::default(), Usefulness::default());
        Self { draft, context, grounding, usefulness, claims: Vec::new(), is_trimmed: false }
    }

    /// The flag of a check: what is supported in part is not grounded.
    pub(crate) fn verdict(&self, check: Check, checks: &Checks) -> Verdict {
        match check {
            Check::Grounding => self.grounding.verdict(),
            Check::Usefulness => self.usefulness.verdict(checks.usefulness_floor),
        }
    }

    /// How far it is supported, if that was asked by degrees and said.
    pub(crate) fn support(&self, checks: &Checks) -> Option<Support> {
        let by_degrees = checks.scale == Scale::Graded || checks.by_claim.is_some();
        Some(self.grounding).filter(|&support| by_degrees && support != Support::Unknown)
    }

    /// Its rating, if it has one.
    pub(crate) fn rating(&self) -> Option<u8> {
        if let Usefulness::Rated(rating) = self.usefulness { Some(rating) } else { None }
    }

    /// The texts of the claims that failed.
    pub(crate) fn failing(&self) -> Vec<String> {
        self.claims.iter().filter(|claim| claim.fails()).map(|claim| claim.text.clone()).collect()
    }

    /// Grounding counts twice as much as usefulness, as the Self-RAG paper weighs support against
    /// utility (1.0 and 0.5).
    pub(crate) fn worth(&self) -> f32 {
        self.grounding.worth() + 0.5 * self.usefulness.worth()
    }

    /// The text with its citations: as written, or with the quotations that were verified.
    pub(crate) fn shown(&self) -> (String, Vec<Citation>, Vec<Claim>) {
        let (draft, marks) = match &self.claims[..] {
            [] => (self.draft.clone(), Vec::new()),
            claims => cited(&self.draft, claims, &self.context),
        };
        let claim = |(claim, citation): (&CheckedClaim, &Option<u32>)| Claim {
            text: claim.text.clone(),
            support: claim.support,
            citation: *citation,
        };
        let claims = self.claims.iter().zip(&marks).map(claim).collect();
        let citations = draft.quotes.iter().zip(1..).filter_map(|(quote, n)| self.citation(n, *quote)).collect();
        (draft.text, citations, claims)
    }

    fn citation(&self, n: u32, quote: Quote) -> Option<Citation> {
        let passage = self.context.get(quote.passage)?;
        let text = passage.text.get(quote.span.start..quote.span.end)?;
        let span = Span { start: passage.span.start + quote.span.start, end: passage.span.start + quote.span.end };
        Some(Citation {
            n,
            passage_id: passage.id.clone(),
            url: passage.url.clone(),
            title: passage.title.clone(),
            headings: passage.headings.clone(),
            also: passage.also.clone(),
            quote: text.to_owned(),
            start: span.start,
            end: span.end,
            origin: passage.origin,
        })
    }

    /// The passages it was written from, each once however many strips of it there are.
    pub(crate) fn sources(&self) -> Vec<Source> {
        let mut sources: Vec<Source> = Vec::with_capacity(self.context.len());
        for passage in self.context.iter() {
            if !sources.iter().any(|known| known.passage_id == passage.id) {
                sources.push(Source {
                    passage_id: passage.id.clone(),
                    url: passage.url.clone(),
                    title: passage.title.clone(),
                    also: passage.also.clone(),
                    origin: passage.origin,
                });
            }
        }
        sources
    }
}
