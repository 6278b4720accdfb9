//! The inference of the paper "Self-RAG" (Asai et al., 2023): decide whether to retrieve, have one
//! candidate written from each passage, score them, continue the best, and retrieve again where they
//! ask for it.
//!
//! A model with reflection tokens says all of that while it writes. Of any other each group's question
//! is asked apart ([`judging`]), and the answer is labelled as approximated. What neither tells stays
//! unknown: then passages are retrieved, segments have no score, and the answer is unchecked.

mod choosing;
mod judging;
mod options;

pub use options::{MAX_BEAM_WIDTH, MAX_DEPTH, Mode, MostCalls, SelfRag, SelfRagOptions, SelfRagWeights, When};

use std::rc::Rc;

use crate::document::Passage;
use crate::pipeline::answer::{Answer, RunError};
use crate::pipeline::attempt::Attempt;
use crate::pipeline::beam::{Beam, Node, Segment, compose};
use crate::pipeline::budget::Stop;
use crate::pipeline::context::retrieve;
use crate::pipeline::record::{Ending, Record};
use crate::pipeline::reflection::Critique;
use crate::pipeline::run::Path;
use crate::pipeline::segment::{Candidate, Evidence, Form, GenerateSegment, cut, plain_text};
use crate::pipeline::strategy::Strategy;
use crate::pipeline::task::{Draft, Failure};
use crate::pipeline::trace::Event;
use crate::pipeline::verdict::{Check, Retrieval};

/// Walks the path; whatever ends it early, the best answer until then is what there is.
pub(crate) async fn answer(
    path: &Path,
    question: &str,
    strategy: &Strategy,
    options: &SelfRag,
) -> Result<Answer, RunError> {
    let mut walk = Walk {
        path,
        question,
        k: strategy.k,
        options,
        beam: Beam::new(options.beam_width, options.combine),
        passages: Vec::new(),
        found: Vec::new(),
        relevance: Vec::new(),
        record: Record::default(),
    };
    if let Err(stop) = walk.walk().await {
        walk.record.warn("budget", &stop.to_string());
        walk.record.ending = Some(Ending::Stopped);
    }
    walk.conclude(strategy)
}

struct Walk<'a> {
    path: &'a Path,
    question: &'a str,
    k: usize,
    options: &'a SelfRag,
    beam: Beam,
    /// Every passage that something was written from; segments have their indices.
    passages: Vec<Passage>,
    /// What was sought, and the passages found: two answers may say the same.
    found: Vec<(String, Vec<usize>)>,
    /// What a model without reflection tokens said of passages, by their indices.
    relevance: Vec<(usize, Option<Vec<f64>>)>,
    record: Record,
}

/// Where a candidate begins: what it continues, and from which passage.
#[derive(Clone, Copy)]
struct Start {
    parent: Option<usize>,
    passage: usize,
}

/// A score as it is shown: the digits beyond are noise.
fn rounded(score: f64) -> f64 {
    (score * 1e6).round() / 1e6
}

/// A candidate as it was read, and whether it may be kept.
struct Judged {
    node: Node,
    eligible: bool,
}

impl Walk<'_> {
    async fn walk(&mut self) -> Result<(), Stop> {
        let retrieve = self.decide().await?;
        self.path.emit(Event::DecideRetrieval { retrieve });
        self.record.retrieval = Some(retrieve);
        if retrieve == Retrieval::No {
            return self.write_without_passages().await;
        }
        let mut parents = vec![None];
        for level in 1..=self.options.depth() {
            let mut starts = Vec::new();
            for parent in parents {
                starts.extend(self.find(parent).await?.into_iter().map(|passage| Start { parent, passage }));
            }
            let judged = self.candidates(&starts).await?;
            self.grow(level, judged);
            if level < self.options.depth() {
                self.continue_where_asked().await?;
            }
            parents = self.beam.open().into_iter().map(Some).collect();
            if parents.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// The passages for what comes next: by the question, then by what the answer said last besides.
    async fn find(&mut self, parent: Option<usize>) -> Result<Vec<usize>, Stop> {
        let query = match parent.and_then(|node| self.beam.path(node).last().map(|last| last.text.clone())) {
            Some(last) => [self.question, &last].join(" "),
            None => self.question.to_owned(),
        };
        if let Some((_, found)) = self.found.iter().find(|(sought, _)| *sought == query) {
            return Ok(found.clone());
        }
        let found = retrieve(self.path, &query, self.k, &mut self.record).await?;
        let index = |passage: Passage| {
            self.passages.iter().position(|known| known.id == passage.id).unwrap_or_else(|| {
                self.passages.push(passage);
                self.passages.len() - 1
            })
        };
        let found: Vec<usize> = found.into_iter().map(index).collect();
        self.found.push((query, found.clone()));
        Ok(found)
    }

    /// Has a candidate written from each start, all at once, and judges what came of it (seed N-05).
    async fn candidates(&mut self, starts: &[Start]) -> Result<Vec<Judged>, Stop> {
        let task = |start: &Start| {
            self.task(self.written(start.parent), Evidence::Passage(Box::new(self.passages[start.passage].clone())))
        };
        let replies = self.path.ask_all(starts.iter().map(task).collect()).await?;
        let mut written: Vec<(Start, Candidate)> = Vec::new();
        let mut failed = None;
        for (start, reply) in starts.iter().zip(replies) {
            match reply {
                Ok(candidate) => written.push((*start, candidate)),
                Err(failure) => failed = failed.or(Some(failure)),
            }
        }
        if let Some(failure) = failed {
            self.fail(failure, written.is_empty());
        }
        let nodes: Vec<(Node, bool)> = written.into_iter().filter_map(|(start, c)| self.read(start, &c)).collect();
        if nodes.is_empty() && self.beam.is_empty() && !starts.is_empty() && self.record.ending.is_none() {
            self.record.ending = Some(Ending::Silent);
        }
        self.judge(nodes).await
    }

    fn fail(&mut self, failure: Failure, for_good: bool) {
        self.record.warn_once("provider_failed", &failure.to_string());
        if for_good {
            self.record.ending = Some(Ending::Failed(failure));
        }
    }

    fn task(&self, written: String, evidence: Evidence) -> GenerateSegment {
        GenerateSegment { question: self.question.to_owned(), form: self.options.form(), written, evidence }
    }

    /// An answer so far, as the model wrote it: its own segments, and nothing of other candidates.
    fn written(&self, node: Option<usize>) -> String {
        node.map(|node| self.beam.path(node).iter().map(|s| s.raw.as_str()).collect()).unwrap_or_default()
    }

    /// A candidate as a node without a score, and whether its model is one without reflection tokens.
    /// `None` when it says nothing, or what its answer has said before.
    fn read(&self, start: Start, candidate: &Candidate) -> Option<(Node, bool)> {
        let passage = &self.passages[start.passage];
        let quote =
            candidate.quote.filter(|span| passage.text.get(span.start..span.end).is_some_and(|t| !t.is_empty()));
        let (raw, critique, wants_more) = if candidate.plain {
            // Its text is no place for reflection tokens: there they are a passage's words.
            let mean_logprob = Critique::of(&candidate.tokens).mean_logprob;
            (plain_text(&candidate.text) + " ", Critique { mean_logprob, ..Critique::default() }, false)
        } else if self.options.form() == Form::Segment {
            let cut = cut(candidate, self.options.threshold());
            (cut.raw.to_owned(), Critique::of(cut.tokens), cut.wants_more)
        } else {
            (candidate.text.clone(), Critique::of(&candidate.tokens), false)
        };
        let text = plain_text(&raw);
        let said = start.parent.map(|node| self.beam.path(node)).unwrap_or_default();
        if text.is_empty() || said.iter().any(|before| before.text == text) {
            return None;
        }
        let truncated = candidate.truncated && !wants_more;
        let segment = Segment { raw, text, passage: start.passage, quote, critique, truncated };
        Some((Node { parent: start.parent, score: None, wants_more, segment }, candidate.plain))
    }

    /// Adds a level: of a closed set the answer that is chosen, else the best of what may be kept.
    fn grow(&mut self, level: u32, judged: Vec<Judged>) {
        if level == 1 && !judged.is_empty() {
            self.path.emit(Event::DraftStart { attempt: 1 });
        }
        let none_of = |judged: &[Judged]| !judged.is_empty() && !judged.iter().any(|judged| judged.eligible);
        let unsupported = none_of(&judged);
        let judged = choosing::chosen(judged, &self.options.choices);
        if self.beam.is_empty() && none_of(&judged) {
            self.record.ending = Some(if unsupported { Ending::Unsupported } else { Ending::Silent });
        }
        let mut next = self.beam.len();
        self.beam.grow(judged.iter().filter(|judged| judged.eligible).map(|judged| judged.node.clone()).collect());
        for Judged { node, eligible } in judged {
            let kept = eligible && self.beam.level().contains(&next);
            next += usize::from(eligible);
            let passage_id = self.passages[node.segment.passage].id.clone();
            self.path.emit(Event::Segment { level, passage_id, score: node.score.map(rounded), kept });
        }
    }

    /// An answer without passages: retrieval was decided against.
    async fn write_without_passages(&mut self) -> Result<(), Stop> {
        self.path.emit(Event::DraftStart { attempt: 1 });
        self.record.warn_of_no_retrieval();
        let candidate = match self.path.ask(self.task(String::new(), Evidence::None)).await? {
            Ok(candidate) => candidate,
            Err(failure) => {
                self.fail(failure, true);
                return Ok(());
            }
        };
        self.record.approximated |= candidate.plain;
        let text = plain_text(&candidate.text);
        let text = match &self.options.choices {
            none if none.is_empty() => Some(text),
            choices => choosing::choice(&text, choices).map(|choice| choices[choice].clone()),
        };
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            self.record.ending = Some(Ending::Silent);
            return Ok(());
        };
        let draft = Draft { text, quotes: Vec::new(), truncated: candidate.truncated };
        let mut attempt = Attempt::new(draft, Rc::default());
        if !candidate.plain {
            attempt.usefulness = judging::usefulness(&Critique::of(&candidate.tokens));
        }
        self.record.attempts.push(attempt);
        Ok(())
    }

    /// The best answer with the flags of its own segments.
    fn conclude(mut self, strategy: &Strategy) -> Result<Answer, RunError> {
        if self.record.approximated {
            let asked = "the model has no reflection tokens: the scores are its replies to their questions";
            self.record.warn("approximated", asked);
        }
        if let Some(best) = self.beam.best() {
            let segments = self.beam.path(best);
            let mut attempt = Attempt::new(compose(&segments, &self.passages), self.passages.as_slice().into());
            attempt.grounding = judging::support(&segments);
            attempt.usefulness = judging::usefulness_of(&segments);
            for check in [Check::Grounding, Check::Usefulness] {
                let verdict = attempt.verdict(check, &strategy.checks);
                let support = attempt.support(&strategy.checks).filter(|_| check == Check::Grounding);
                let rating = attempt.rating().filter(|_| check == Check::Usefulness);
                self.path.emit(Event::Check { check, verdict, support, rating });
            }
            if self.beam.total(best).is_none() {
                let order = "the model does not tell its probabilities: the segments stand in the order of retrieval";
                self.record.warn("no_scores", order);
            }
            let is_deepest = self.beam.path(best).len() == self.options.depth() as usize;
            if is_deepest && self.beam.wants_more(best) {
                self.record.warn("max_depth", "the answer asked to go on: raise max_depth");
            }
            self.record.attempts.push(attempt);
        }
        self.record.conclude(self.path.spent(), self.path.trace(), strategy)
    }
}
