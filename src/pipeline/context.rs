//! What a draft may be written from: the passages that retrieval found and grades left, and what the
//! web adds to them or puts in their place.

use crate::document::Passage;
use crate::evidence::refined;
use crate::pipeline::answer::first_draft;
use crate::pipeline::budget::Stop;
use crate::pipeline::decision::{Decision, Grading, Rule};
use crate::pipeline::record::{Ending, PassageVerdict, Record, WebSearch};
use crate::pipeline::run::{Guess, Path};
use crate::pipeline::strategy::{HAS_MODELS, Strategy};
use crate::pipeline::task::{Failure, Grade, GradePassages, MAX_BATCH, RewriteQuery};
use crate::pipeline::trace::Event;
use crate::pipeline::verdict::{Scale, Verdict};

/// Retrieves, grades, decides and searches the web, each as the strategy has it.
pub(crate) async fn gather(
    path: &Path,
    question: &str,
    strategy: &Strategy,
    record: &mut Record,
    guess: &mut Option<Guess>,
) -> Result<Vec<Passage>, Stop> {
    let retrieved = retrieve(path, question, strategy.k, record).await?;
    let (Some(grading), None) = (&strategy.grading, &record.ending) else { return Ok(retrieved) };
    if HAS_MODELS && strategy.speculates && !retrieved.is_empty() {
        let passages = if strategy.refines { refined(question, &retrieved) } else { retrieved.clone() };
        *guess = path.guess(first_draft(question, passages.into(), strategy));
    }
    let mut graded = grade(path, question, retrieved, grading, record).await?;
    let need_web = decide(path, &graded, strategy, grading, record);

    let mut relevant = taken(&mut graded, |grade| grade.verdict == Verdict::Yes);
    if need_web || graded.iter().any(|(_, grade)| grade.verdict == Verdict::No) {
        *guess = None;
    }
    if record.decision == Some(Decision::Ambiguous) && relevant.is_empty() {
        relevant = taken(&mut graded, |grade| grade.score.is_some_and(|score| score >= grading.thresholds.lower));
    }
    // What the web replaces comes back where the web has nothing: of four passages one may be perfect.
    let replaced =
        if record.decision == Some(Decision::Incorrect) { std::mem::take(&mut relevant) } else { Vec::new() };
    let mut context = relevant;
    context.append(&mut taken(&mut graded, |grade| grade.verdict == Verdict::Unknown));
    let extended = need_web
        && match extend_from_web(path, question, &mut context, strategy, record).await {
            // There is something to go on with.
            Err(stop) if stop.is_spent() && !(context.is_empty() && replaced.is_empty()) => {
                record.warn_once("budget", &format!("the web was not searched: {stop}"));
                false
            }
            extended => extended?,
        };
    if !extended {
        context.splice(0..0, replaced);
    }
    leave_out_repeats(&mut context, grading, record);
    if HAS_MODELS && strategy.refines {
        context = refined(question, &context);
    }
    let found = record.verdicts.iter().filter(|graded| graded.verdict == Verdict::Yes).count();
    if found < grading.min_relevant && record.decision.is_some() && !context.is_empty() {
        let few = format!("{found} relevant passages were found: {} are asked for", grading.min_relevant);
        record.warn("few_relevant", &few);
    }
    Ok(context)
}

/// Nothing where the search failed: the record then has the ending.
pub(crate) async fn retrieve(path: &Path, question: &str, k: usize, record: &mut Record) -> Result<Vec<Passage>, Stop> {
    let (hits, without_vector) = match path.retrieve(question, k).await? {
        Ok(found) => found,
        Err(failure) => {
            record.ending = Some(Ending::Failed(failure));
            return Ok(Vec::new());
        }
    };
    if let Some(failure) = without_vector {
        record.warn_once("embedding_failed", &format!("the index was searched by words alone: {failure}"));
    }
    path.emit(Event::Retrieve { query: question.to_owned(), passages: hits.len() });
    record.found_nothing = hits.is_empty();
    Ok(hits.into_iter().map(|hit| hit.passage).collect())
}

/// Grades passages, retrieved ones or those of the web: a task for each, or one for as many as it takes;
/// and once more, differently and each by itself, those without a verdict.
async fn grade(
    path: &Path,
    question: &str,
    passages: Vec<Passage>,
    grading: &Grading,
    record: &mut Record,
) -> Result<Vec<(Passage, Grade)>, Stop> {
    let mut grades = vec![Grade::default(); passages.len()];
    for again in [false, true] {
        let open: Vec<usize> = (0..grades.len()).filter(|&i| grades[i].verdict == Verdict::Unknown).collect();
        let task = |batch: &[usize]| GradePassages {
            question: question.to_owned(),
            passages: batch.iter().map(|&i| passages[i].clone()).collect(),
            scale: grading.scale(),
            again,
        };
        let mut size = if grading.batched && !again { MAX_BATCH } else { 1 };
        let mut replies = path.ask_all(open.chunks(size).map(task).collect()).await;
        if size == 1 && !again && open.len() > 1 && replies.as_ref().is_err_and(|stop| stop.is_spent()) {
            size = MAX_BATCH;
            replies = path.ask_all(open.chunks(size).map(task).collect()).await;
            record.warn_once("budget", "the passages were graded by one call in place of one each: raise the limits");
        }
        let replies = match replies {
            Err(stop) if stop.is_spent() => {
                let left = if again { "were not asked about once more" } else { "were not graded" };
                record.warn_once("budget", &format!("{} passages {left}: {stop}", open.len()));
                break;
            }
            replies => replies?,
        };
        for (batch, reply) in open.chunks(size).zip(replies) {
            // A reply with another number of grades is one to something else.
            let said = reply.ok().filter(|grades| grades.len() == batch.len());
            let said = said.unwrap_or_else(|| vec![Grade::default(); batch.len()]);
            batch.iter().zip(said).for_each(|(&i, grade)| grades[i] = grading.judge(grade));
        }
    }
    for (i, (passage, grade)) in passages.iter().zip(&grades).enumerate() {
        let (n, of, passage_id) = (i + 1, passages.len(), passage.id.clone());
        path.emit(Event::Grade { n, of, passage_id, verdict: grade.verdict, score: grade.score });
    }
    record.verdicts.extend(passages.iter().zip(&grades).map(|(p, g)| PassageVerdict::new(&p.id, *g)));
    // An outage must not buy searches: where nothing could be graded, the order of retrieval stands.
    if !grades.is_empty() && grades.iter().all(|grade| grade.verdict == Verdict::Unknown) {
        record.warn("ungraded", "no passage could be graded: the answer rests on the order of retrieval");
    }
    Ok(passages.into_iter().zip(grades).collect())
}

/// Takes the passages of these grades out of the list.
fn taken(graded: &mut Vec<(Passage, Grade)>, is_wanted: impl Fn(&Grade) -> bool) -> Vec<Passage> {
    graded.extract_if(.., |(_, grade)| is_wanted(grade)).map(|(passage, _)| passage).collect()
}

/// Decides by the rule, and says whether that asks for the web. Passages that nobody could grade count
/// for nothing.
fn decide(
    path: &Path,
    graded: &[(Passage, Grade)],
    strategy: &Strategy,
    grading: &Grading,
    record: &mut Record,
) -> bool {
    let count = |verdict| graded.iter().filter(|(_, grade)| grade.verdict == verdict).count();
    let (relevant, rejected, unknown) = (count(Verdict::Yes), count(Verdict::No), count(Verdict::Unknown));
    let ungraded = unknown > 0 && relevant + rejected == 0;
    if grading.scale() == Scale::Graded && !ungraded {
        let scores: Vec<f64> = graded.iter().filter_map(|(_, grade)| grade.score).collect();
        record.decision = Some(grading.decide(&scores));
    }
    let enough = match record.decision {
        Some(decision) => decision == Decision::Correct,
        // An outage must not buy searches.
        None if ungraded => true,
        None if grading.rule == Rule::TooFew => relevant >= grading.min_relevant,
        None => rejected == 0 && !graded.is_empty(),
    };
    let need_web = !enough && strategy.web.results > 0;
    path.emit(Event::Decide { relevant, rejected, unknown, need_web, decision: record.decision });
    need_web
}

/// Appends what the web has, graded where the strategy says so; says whether that is anything new.
pub(crate) async fn extend_from_web(
    path: &Path,
    question: &str,
    context: &mut Vec<Passage>,
    strategy: &Strategy,
    record: &mut Record,
) -> Result<bool, Stop> {
    let Some(query) = next_query(path, question, context, strategy, record).await? else { return Ok(false) };
    record.queries.push(query.clone());
    let results = match path.search_web(&query, strategy.web.results).await? {
        Ok(results) => results,
        Err(Failure::NotConfigured { .. }) => {
            record.web = WebSearch::NotConfigured;
            record.warn("web_not_configured", "no web search is configured: the answer rests on the index alone");
            return Ok(false);
        }
        Err(failure) => {
            record.web = WebSearch::Failed;
            record.warn("web_failed", &failure.to_string());
            return Ok(false);
        }
    };
    let mut new: Vec<Passage> = Vec::new();
    for result in results {
        let known = context.iter().chain(&new).any(|p| same(p, &result, strategy.grading.as_ref()))
            || record.verdicts.iter().any(|graded| graded.passage_id == result.id);
        if !known && !result.text.trim().is_empty() {
            new.push(result);
        }
    }
    path.emit(Event::WebSearch { query, results: new.len() });
    if let Some(grading) = strategy.grading.as_ref().filter(|_| strategy.web.graded) {
        let mut graded = grade(path, question, new, grading, record).await?;
        new = taken(&mut graded, |grade| grade.verdict == Verdict::Yes);
        new.append(&mut taken(&mut graded, |grade| grade.verdict == Verdict::Unknown));
    }
    let found = !new.is_empty();
    record.web_search_used |= found;
    if HAS_MODELS && strategy.refines {
        new = refined(question, &new);
    }
    context.append(&mut new);
    Ok(found)
}

/// The question itself, then rewrites of it; never the same query twice. A strategy that asks for what is
/// missing has it written from what there is, unless there is nothing: then all of it is missing.
async fn next_query(
    path: &Path,
    question: &str,
    context: &[Passage],
    strategy: &Strategy,
    record: &mut Record,
) -> Result<Option<String>, Stop> {
    if record.web != WebSearch::Open || strategy.web.results == 0 {
        return Ok(None);
    }
    let held = if strategy.web.for_the_gap { context.to_vec() } else { Vec::new() };
    if record.queries.is_empty() && held.is_empty() {
        return Ok(Some(question.to_owned()));
    }
    let task = RewriteQuery { question: question.to_owned(), tried: record.queries.clone(), held };
    let query = match path.ask(task).await? {
        Ok(query) => query.trim().to_owned(),
        Err(failure) => {
            record.warn("rewrite_failed", &failure.to_string());
            record.web = WebSearch::NoQuery;
            return Ok(None);
        }
    };
    if query.is_empty() || record.queries.contains(&query) {
        record.web = WebSearch::NoQuery;
        return Ok(None);
    }
    path.emit(Event::Rewrite { query: query.clone() });
    Ok(Some(query))
}

/// Of passages that begin alike the first is kept, where the rule goes by scores (seed G-06). That may
/// take what only shares a heading, so it is told.
fn leave_out_repeats(context: &mut Vec<Passage>, grading: &Grading, record: &mut Record) {
    let before = context.len();
    let mut distinct: Vec<Passage> = Vec::with_capacity(before);
    for passage in context.drain(..) {
        if grading.scale() == Scale::Binary || !distinct.iter().any(|p| same(p, &passage, Some(grading))) {
            distinct.push(passage);
        }
    }
    *context = distinct;
    if context.len() < before {
        let left_out = format!("{} passages begin like another one and were left out", before - context.len());
        record.warn("repeats", &left_out);
    }
}

/// How many characters tell passages apart where the rule goes by scores (seed G-06).
const BEGINNING: usize = 100;

fn same(a: &Passage, b: &Passage, grading: Option<&Grading>) -> bool {
    let compared = if grading.is_some_and(|g| g.scale() == Scale::Graded) { BEGINNING } else { usize::MAX };
    a.text.chars().take(compared).eq(b.text.chars().take(compared))
}
