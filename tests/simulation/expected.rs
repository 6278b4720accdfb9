//! What should follow from grades, reckoned another way than the path does: decisions in thousandths,
//! contexts by replaying what was found.

use countercheck::document::Passage;
use countercheck::pipeline::decision::{Decision, Rule};
use countercheck::pipeline::run::{Effect, Reply};
use countercheck::pipeline::strategy::Strategy;
use countercheck::pipeline::task::Task;
use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Scale, Verdict};

use crate::invariants::Case;
use crate::model::{Graded, Model};

fn thousandths(number: f64) -> i64 {
    (number * 1000.0).round() as i64
}

fn is_scored(strategy: &Strategy) -> bool {
    strategy.grading.is_some_and(|grading| grading.scale() == Scale::Graded)
}

/// The decision on the hits, where the rule goes by scores and there are any.
pub fn decision(model: &Model, strategy: &Strategy) -> Option<Decision> {
    let grading = strategy.grading.filter(|_| is_scored(strategy))?;
    let scores: Vec<i64> = model.graded_of(0).filter_map(|g| g.grade.score).map(thousandths).collect();
    if !model.retrieved || (scores.is_empty() && !model.hits.is_empty()) {
        return None;
    }
    let [upper, lower, keep] =
        [grading.thresholds.upper, grading.thresholds.lower, grading.thresholds.keep].map(thousandths);
    let above = |threshold: i64| match grading.rule {
        Rule::Max => scores.iter().max().is_some_and(|best| *best >= threshold),
        _ => scores.iter().sum::<i64>() > scores.iter().map(|_| threshold).sum(),
    };
    let relevant = scores.iter().filter(|score| **score > keep).count();
    Some(match (above(upper), above(lower)) {
        (true, _) if relevant >= grading.min_relevant => Decision::Correct,
        (_, true) => Decision::Ambiguous,
        _ => Decision::Incorrect,
    })
}

/// Whether the grades of the hits ask for the web.
pub fn needs_web(model: &Model, strategy: &Strategy) -> bool {
    let rejected = model.graded_of(0).any(|g| g.grade.verdict == Verdict::No);
    match (&strategy.grading, is_scored(strategy)) {
        (None, _) => false,
        (Some(_), false) => rejected || model.hits.is_empty(),
        (Some(_), true) => decision(model, strategy).is_some_and(|decision| decision != Decision::Correct),
    }
}

/// By scores, passages that begin with the same hundred characters are the same one.
fn same(a: &Passage, b: &Passage, strategy: &Strategy) -> bool {
    let beginning = |text: &str| text.chars().take(100).collect::<String>();
    if is_scored(strategy) { beginning(&a.text) == beginning(&b.text) } else { a.text == b.text }
}

/// What each request for a draft should have been given.
pub fn contexts<'a>(case: &Case<'a>) -> Vec<Vec<&'a Passage>> {
    let (model, strategy) = (case.model, &case.scenario.strategy);
    let with = |verdict, search| {
        let of = move |g: &&Graded<'a>| g.grade.verdict == verdict;
        model.graded_of(search).filter(of).map(|g| g.passage).collect::<Vec<_>>()
    };
    let decided = decision(model, strategy);
    let mut relevant = with(Verdict::Yes, 0);
    let mut context = with(Verdict::Unknown, 0);
    match (decided, &strategy.grading) {
        (_, None) => context = model.hits.iter().map(|hit| &hit.passage).collect(),
        // For the web to replace, if it has anything.
        (Some(Decision::Incorrect), _) => {}
        (Some(Decision::Ambiguous), Some(grading)) if relevant.is_empty() => {
            let half = |g: &&Graded| g.grade.score.is_some_and(|score| score >= grading.thresholds.lower);
            let halves: Vec<&Passage> = model.graded_of(0).filter(half).map(|g| g.passage).collect();
            context.splice(0..0, halves);
        }
        _ => drop(context.splice(0..0, relevant.drain(..))),
    }
    let (mut given, mut searches, mut asked) = (Vec::new(), 0, model.generate.iter());
    for one in &case.history.performed {
        match (&one.effect, &one.reply) {
            (Effect::SearchWeb { .. }, reply) => {
                searches += 1;
                let Reply::Web(results) = reply else { continue };
                let mut new: Vec<&Passage> = Vec::new();
                for result in results {
                    let graded = model.graded.iter().any(|g| g.search < searches && g.passage.id == result.id);
                    let known = context.iter().chain(&new).any(|p| same(p, result, strategy));
                    if !result.text.trim().is_empty() && !known && !graded {
                        new.push(result);
                    }
                }
                let asked = model.graded_of(searches).next().is_some();
                if strategy.web.graded && strategy.grading.is_some() && asked {
                    new = [with(Verdict::Yes, searches), with(Verdict::Unknown, searches)].concat();
                }
                if given.is_empty() && !new.is_empty() {
                    relevant.clear();
                }
                context.extend(new);
            }
            (Effect::Ask(Task::Generate(_)), _) => {
                if given.is_empty() {
                    context.splice(0..0, relevant.drain(..));
                    let all = std::mem::take(&mut context);
                    for passage in all {
                        if !is_scored(strategy) || !context.iter().any(|p| same(p, passage, strategy)) {
                            context.push(passage);
                        }
                    }
                }
                if asked.next().is_some_and(|asked| asked.again) {
                    context.truncate(context.len() / 2);
                }
                given.push(context.clone());
            }
            _ => {}
        }
    }
    given
}

/// Whether a search brought what was not rejected.
pub fn web_was_used(case: &Case) -> bool {
    let strategy = &case.scenario.strategy;
    let graded = strategy.web.graded && strategy.grading.is_some();
    let mut after_search = false;
    case.history.events.iter().any(|event| match event {
        Event::WebSearch { results, .. } => {
            after_search = true;
            !graded && *results > 0
        }
        Event::Grade { verdict, .. } => after_search && *verdict != Verdict::No,
        _ => false,
    })
}
