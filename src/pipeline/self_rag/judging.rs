//! What is known of segments: read off the tokens that were written, or asked of a model that has none.
//! And whether to retrieve, at the beginning and between segments.

use super::{Judged, Walk, When, rounded};
use crate::pipeline::beam::{Node, Segment};
use crate::pipeline::budget::Stop;
use crate::pipeline::record::PassageVerdict;
use crate::pipeline::reflection::{Critique, Group, Rule, likeliest, retrieval, retrieval_within};
use crate::pipeline::segment::{Candidate, Evidence, Form, Reflect, wants_passages, wants_passages_soon};
use crate::pipeline::task::Grade;
use crate::pipeline::trace::Event;
use crate::pipeline::verdict::{Retrieval, Support, Usefulness};

impl Walk<'_> {
    /// Whether the question needs passages (seed N-11): by the model's first tokens, or by its reply to
    /// the question. What nobody can tell is unknown, and is answered from passages.
    pub(super) async fn decide(&mut self) -> Result<Retrieval, Stop> {
        match self.options.retrieval {
            When::Always => return Ok(Retrieval::Yes),
            When::Never => return Ok(Retrieval::No),
            When::Threshold | When::Token => {}
        }
        let Ok(opening) = self.path.ask(self.task(String::new(), Evidence::Undecided)).await? else {
            return Ok(Retrieval::Unknown);
        };
        let threshold = self.options.threshold();
        if !opening.plain {
            return Ok(said(&opening, threshold, self.options.form() == Form::Segment));
        }
        self.record.approximated = true;
        let odds = self.odds(vec![self.reflect(Group::Retrieve, None, String::new())]).await?.pop().flatten();
        let Some(odds) = odds else { return Ok(Retrieval::Unknown) };
        Ok(match (retrieval(&odds), threshold) {
            (Some(share), Some(delta)) if share > delta => Retrieval::Yes,
            (Some(share), None) if share >= 0.5 => Retrieval::Yes,
            (Some(_), _) => Retrieval::No,
            (None, _) => Retrieval::Unknown,
        })
    }

    /// Scores candidates. Of a model without reflection tokens each group's question is asked first, all at
    /// once, the relevance of a passage once in a run.
    pub(super) async fn judge(&mut self, nodes: Vec<(Node, bool)>) -> Result<Vec<Judged>, Stop> {
        let mut asked: Vec<(usize, Group)> = Vec::new();
        let mut seen: Vec<usize> = self.relevance.iter().map(|(passage, _)| *passage).collect();
        for (i, (node, _)) in nodes.iter().enumerate().filter(|(_, (_, plain))| *plain) {
            if !seen.contains(&node.segment.passage) {
                seen.push(node.segment.passage);
                asked.push((i, Group::Relevance));
            }
            asked.extend([(i, Group::Support), (i, Group::Usefulness)]);
        }
        self.record.approximated |= nodes.iter().any(|(_, plain)| *plain);
        let task = |(i, group): &(usize, Group)| {
            let Node { parent, segment, .. } = &nodes[*i].0;
            let text = match group {
                Group::Usefulness => self.written(*parent) + &segment.text,
                _ => segment.text.clone(),
            };
            self.reflect(*group, Some(segment.passage).filter(|_| *group != Group::Usefulness), text)
        };
        let odds = self.odds(asked.iter().map(task).collect()).await?;
        let (mut nodes, plain): (Vec<Node>, Vec<bool>) = nodes.into_iter().unzip();
        for ((i, group), odds) in asked.into_iter().zip(odds) {
            match group {
                Group::Support => nodes[i].segment.critique.support = odds,
                Group::Usefulness => nodes[i].segment.critique.usefulness = odds,
                Group::Relevance | Group::Retrieve => self.relevance.push((nodes[i].segment.passage, odds)),
            }
        }
        for Segment { passage, critique, .. } in
            nodes.iter_mut().zip(plain).filter(|(_, plain)| *plain).map(|(node, _)| &mut node.segment)
        {
            let known = self.relevance.iter().find(|(known, _)| known == passage);
            critique.relevance = known.and_then(|(_, odds)| odds.clone());
        }
        self.tell_relevance(&nodes);
        Ok(nodes.into_iter().map(|node| self.judged(node)).collect())
    }

    /// The score of a node, and whether the hard constraint leaves it.
    fn judged(&self, mut node: Node) -> Judged {
        let critique = &node.segment.critique;
        let eligible = !(self.options.hard_constraint && critique.is_unsupported());
        node.score = critique.score(self.options.rule, &self.options.weights);
        Judged { node, eligible }
    }

    /// Tells of each passage, once, how relevant it is.
    fn tell_relevance(&mut self, nodes: &[Node]) {
        let mut new: Vec<PassageVerdict> = Vec::new();
        for Segment { passage, critique, .. } in nodes.iter().map(|node| &node.segment) {
            let id = &self.passages[*passage].id;
            if self.record.verdicts.iter().chain(&new).any(|graded| graded.passage_id == *id) {
                continue;
            }
            let share = critique.relevance.as_deref().and_then(|odds| Group::Relevance.score(Rule::Ideal, odds));
            new.push(PassageVerdict::new(id, Grade::scored(share.map(rounded))));
        }
        let of = new.len();
        for (i, graded) in new.iter().enumerate() {
            let PassageVerdict { passage_id, verdict, score } = graded.clone();
            self.path.emit(Event::Grade { n: i + 1, of, passage_id, verdict, score });
        }
        self.record.verdicts.extend(new);
    }

    /// Has those kept of the last level continued that ask for it. A model with reflection tokens has
    /// said so already.
    pub(super) async fn continue_where_asked(&mut self) -> Result<(), Stop> {
        if !self.record.approximated {
            return Ok(());
        }
        let kept = self.beam.level().to_vec();
        let task = |&node: &usize| self.reflect(Group::Retrieve, None, self.written(Some(node)));
        let odds = self.odds(kept.iter().map(task).collect()).await?;
        for (node, odds) in kept.into_iter().zip(odds) {
            let share = odds.as_deref().and_then(retrieval_within);
            let wants_more = match self.options.threshold() {
                Some(delta) => share.is_some_and(|share| share > delta),
                None => odds.as_deref().and_then(likeliest).is_some_and(|token| token != 1),
            };
            if wants_more {
                self.beam.reopen(node);
            }
        }
        Ok(())
    }

    fn reflect(&self, group: Group, passage: Option<usize>, text: String) -> Reflect {
        let passage = passage.map(|passage| Box::new(self.passages[passage].clone()));
        Reflect { group, question: self.question.to_owned(), passage, text }
    }

    /// What a model without reflection tokens says; `None` where it says nothing that can be reckoned with.
    async fn odds(&self, tasks: Vec<Reflect>) -> Result<Vec<Option<Vec<f64>>>, Stop> {
        let groups: Vec<Group> = tasks.iter().map(|task| task.group).collect();
        let replies = self.path.ask_all(tasks).await?;
        let sound = |(group, reply): (Group, Result<Option<Vec<f64>>, _>)| {
            let odds = reply.ok().flatten()?;
            let is_sound = odds.len() == group.tokens().len() && odds.iter().all(|p| (0.0..=1.000_001).contains(p));
            (is_sound && odds.iter().any(|p| *p > 0.0)).then_some(odds)
        };
        Ok(groups.into_iter().zip(replies).map(sound).collect())
    }
}

/// What the beginning of an answer says on retrieval. Without probabilities its words count, if they are
/// there: that there are none is no reason not to retrieve.
fn said(opening: &Candidate, threshold: Option<f64>, long: bool) -> Retrieval {
    let [yes, no] = [0, 1].map(|token| opening.text.contains(Group::Retrieve.tokens()[token]));
    let wants = if opening.tokens.iter().any(|token| token.logprob.is_some()) {
        if long { wants_passages_soon(opening, threshold) } else { wants_passages(opening, threshold) }
    } else if yes || no {
        yes
    } else {
        return Retrieval::Unknown;
    };
    if wants { Retrieval::Yes } else { Retrieval::No }
}

/// How far the passages of an answer support it: entirely where each supports its segment, not at all
/// where none does, and unknown where nobody said it of one.
pub(super) fn support(segments: &[&Segment]) -> Support {
    let of = |segment: &&Segment| match segment.critique.support.as_deref().and_then(likeliest) {
        Some(0) => Support::Fully,
        Some(1) => Support::Partially,
        Some(_) => Support::None,
        None => Support::Unknown,
    };
    let each: Vec<Support> = segments.iter().map(of).collect();
    match each.first() {
        _ if each.contains(&Support::Unknown) => Support::Unknown,
        Some(first) if each.iter().all(|support| support == first) => *first,
        _ => Support::Partially,
    }
}

/// How useful an answer is: by the last of its segments that says so, since it is said at the end.
pub(super) fn usefulness_of(segments: &[&Segment]) -> Usefulness {
    segments.last().map(|last| usefulness(&last.critique)).unwrap_or_default()
}

/// The likeliest rating, 1 to 5.
pub(super) fn usefulness(critique: &Critique) -> Usefulness {
    let rating = |token: usize| Usefulness::from(5 - token.min(4) as u8);
    critique.usefulness.as_deref().and_then(likeliest).map(rating).unwrap_or_default()
}
