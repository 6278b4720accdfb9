//! The invariants, each with its name: what must hold of any history, and of any answer.

use countercheck::pipeline::answer::{Answer, Outcome, PassageVerdict, Reason, RunError};
use countercheck::pipeline::budget::{Call, Limits, Tokens};
use countercheck::pipeline::run::{Effect, Reply};
use countercheck::pipeline::strategy::OnExhaustion;
use countercheck::pipeline::task::{Failure, Task};
use countercheck::pipeline::verdict::{Check, Retrieval, Scale, Verdict};

use crate::driver::{End, History, Performed};
use crate::expected;
use crate::model::{Asked, Model};
use crate::spending::{call, calls_are_estimated, kept, spent};
use crate::world::{QUESTION, Scenario};

/// A history with what it means.
pub struct Case<'a> {
    pub scenario: &'a Scenario,
    pub history: &'a History,
    pub model: &'a Model<'a>,
}

type HistoryCheck = fn(&Case) -> Result<(), String>;
type AnswerCheck = fn(&Case, &Answer) -> Result<(), String>;

/// What holds of every history, cancelled or not.
pub const OF_HISTORIES: &[(&str, HistoryCheck)] = &[
    ("calls never exceed max_calls", calls_are_bounded),
    ("no run makes more calls than its estimate", calls_are_estimated),
    ("each order gets a call, and its retries of what is free", retries_are_what_is_free),
    ("nothing begins at or after the deadline", nothing_begins_late),
    ("each task is put in its place", tasks_are_in_place),
    ("drafts never exceed max_retries + 1", drafts_are_bounded),
    ("no two tasks to generate are equal", generate_never_repeats),
    ("the generator gets what was found and not rejected", generate_gets_what_was_found),
    ("a request that is too long is made again", too_long_is_asked_again),
    ("each task is in the words of its scale", tasks_are_of_their_scale),
    ("nothing is retrieved that needs no documents", no_retrieval_without_need),
    ("a draft is as strict and free as the strategy says", retries_are_strict),
    ("no query is searched twice", no_query_twice),
    ("an outage of the grader buys no search", outage_buys_no_search),
    ("a search has a reason", searches_have_a_reason),
    ("no search after the last attempt", no_search_after_the_last_attempt),
    ("a closed web is left alone", closed_web_is_left_alone),
    ("a passed deadline is a spent budget", deadline_is_budget),
    ("an error only before any draft", errors_only_without_draft),
];

/// What holds of every answer.
pub const OF_ANSWERS: &[(&str, AnswerCheck)] = &[
    ("the ledger is what the driver saw", ledger_is_exact),
    ("flags belong to the returned draft", flags_belong_to_the_draft),
    ("the best attempt is returned", best_is_returned),
    ("outcome, reason and flags agree", outcome_agrees),
    ("a draft that passed everything is answered", passed_is_answered),
    ("the reason is what happened", reason_is_what_happened),
    ("a citation quotes what was given", citations_quote_what_was_given),
    ("a context that was cut is told", cut_is_told),
    ("a search by words alone is told", search_by_words_is_told),
    ("nothing unparsed becomes a verdict", verdicts_were_said),
    ("the answer's trace is the stream", trace_is_the_stream),
];

/// An error that says how it does not hold.
pub fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn calls_are_bounded(case: &Case) -> Result<(), String> {
    let max = case.scenario.limits.max_calls;
    let above = case.history.performed.iter().position(|p| p.calls_at_most > max);
    ensure(above.is_none(), || format!("with order {above:?} there are more than {max}"))
}

fn retries_are_what_is_free(case: &Case) -> Result<(), String> {
    let Limits { max_calls, retries, .. } = case.scenario.limits;
    let (mut made, mut drafts) = (0, 0);
    for batch in case.history.performed.chunk_by(|a, b| a.step == b.step) {
        // A search of the index goes on without the query's vector.
        let kind = call(&batch[0].effect);
        let needs = u32::from(kind != Call::Embed);
        let kept = kept(&case.scenario.strategy, kind, drafts);
        let needed = made + needs * batch.len() as u32 + kept;
        ensure(needed <= max_calls || needs == 0, || format!("{needed} calls are needed for {kind:?}"))?;
        let mut spare = max_calls.saturating_sub(needed);
        for order in batch {
            let due = (1 - needs + retries).min(spare);
            spare -= due;
            ensure(order.may_call == needs + due, || {
                format!("{} calls, not {needs} + {due}: {:?}", order.may_call, order.effect)
            })?;
            ensure(order.called <= order.may_call, || format!("the driver calls {} times", order.called))?;
            made += order.called;
            drafts += if kind == Call::Generate { order.called } else { 0 };
        }
    }
    Ok(())
}

fn nothing_begins_late(case: &Case) -> Result<(), String> {
    let History { deadline, clock, performed, .. } = case.history;
    ensure(*deadline == case.scenario.start.saturating_add(case.scenario.limits.deadline), || {
        format!("the deadline is {deadline}")
    })?;
    let late = performed.iter().position(|p| p.ordered_at >= *deadline);
    ensure(late.is_none(), || format!("order {late:?} of {clock} at the deadline {deadline}"))
}

fn tasks_are_in_place(case: &Case) -> Result<(), String> {
    ensure(case.model.misplaced.is_empty(), || case.model.misplaced.join("; "))
}

fn drafts_are_bounded(case: &Case) -> Result<(), String> {
    let drafts = case.model.generate.iter().filter(|asked| !asked.again).count();
    let most = case.scenario.strategy.max_retries as usize + 1;
    ensure(drafts <= most, || format!("{drafts} drafts, at most {most}"))
}

fn generate_never_repeats(case: &Case) -> Result<(), String> {
    let asked = &case.model.generate;
    for (i, Asked { task, drafts, .. }) in asked.iter().enumerate() {
        ensure(asked[..i].iter().all(|a| a.task != *task), || format!("request {} of {}", i + 1, asked.len()))?;
        ensure(task.question == QUESTION, || format!("it asks {:?}", task.question))?;
        let told: Vec<&str> = task.rejected.iter().map(|r| r.text.as_str()).collect();
        let before: Vec<&str> = case.model.written[..*drafts].iter().map(|w| w.draft.text.as_str()).collect();
        ensure(told == before, || format!("request {} is told {told:?}, not {before:?}", i + 1))?;
    }
    Ok(())
}

/// What was kept, then what is new of each search; of a request too long the first half.
fn generate_gets_what_was_found(case: &Case) -> Result<(), String> {
    let Model { retrieval, generate, .. } = case.model;
    if *retrieval == Some(Retrieval::No) {
        return ensure(generate.iter().all(|asked| asked.task.passages.is_empty()), || {
            "passages from nowhere".to_owned()
        });
    }
    let contexts = expected::contexts(case);
    for (asked, context) in generate.iter().zip(&contexts) {
        let same = !context.is_empty() && asked.task.passages.iter().eq(context.iter().copied());
        let ids = |passages: Vec<&str>| passages.join(" ");
        let given = asked.task.passages.iter().map(|p| p.id.as_str()).collect();
        ensure(same, || format!("given {}, not {}", ids(given), ids(context.iter().map(|p| p.id.as_str()).collect())))?;
    }
    Ok(())
}

fn tasks_are_of_their_scale(case: &Case) -> Result<(), String> {
    let strategy = &case.scenario.strategy;
    for one in &case.history.performed {
        let scales = match &one.effect {
            Effect::Ask(Task::GradePassages(task)) => (task.scale, strategy.grading.map(|grading| grading.scale())),
            Effect::Ask(Task::CheckGrounding(task)) => (task.scale, Some(strategy.checks.scale)),
            Effect::Ask(Task::CheckUsefulness(task)) => (task.scale, Some(strategy.checks.scale)),
            _ => continue,
        };
        ensure(Some(scales.0) == scales.1, || format!("{scales:?} of {:?}", one.effect))?;
    }
    Ok(())
}

/// Nor are there grades, searches and checks then; and where it may be needed, it is retrieved.
fn no_retrieval_without_need(case: &Case) -> Result<(), String> {
    let decided = case.model.retrieval;
    let strategy = &case.scenario.strategy;
    ensure(decided.is_none() || strategy.decides_retrieval, || "nobody asked".to_owned())?;
    let first = case.history.performed.first().map(|one| &one.effect);
    let asked = matches!(first, Some(Effect::Ask(Task::DecideRetrieval(_))));
    let can_ask = case.scenario.limits.max_calls > kept(strategy, Call::Decide, 0);
    let asks = strategy.decides_retrieval && can_ask;
    ensure(first.is_none() || asked == asks, || format!("it begins with {first:?}"))?;
    let from_documents =
        |one: &Performed| !matches!(one.effect, Effect::Ask(Task::DecideRetrieval(_) | Task::Generate(_)));
    let retrieved = case.history.performed.iter().any(from_documents);
    ensure(decided != Some(Retrieval::No) || !retrieved, || "it retrieves all the same".to_owned())
}

fn retries_are_strict(case: &Case) -> Result<(), String> {
    for (i, asked) in case.model.generate.iter().enumerate() {
        let due = case.scenario.strategy.checks.strict_retry && !asked.task.rejected.is_empty();
        let temperature = case.scenario.strategy.temperature.to_bits();
        let same = asked.task.strict == due && asked.task.temperature.to_bits() == temperature;
        ensure(same, || format!("request {} is {} at {}", i + 1, asked.task.strict, asked.task.temperature))?;
    }
    Ok(())
}

/// A request that is too long is made again with less, unless the run may do nothing more.
fn too_long_is_asked_again(case: &Case) -> Result<(), String> {
    let End::Done(result) = &case.history.end else { return Ok(()) };
    let stopped = result.as_ref().is_ok_and(|answer| answer.warnings.iter().any(|w| w.code == "budget"));
    ensure(case.model.too_long.is_none() || stopped, || "the draft was given up at once".to_owned())
}

fn no_query_twice(case: &Case) -> Result<(), String> {
    let queries: Vec<&str> = case.model.searches.iter().map(|(query, _)| query.trim()).collect();
    ensure(queries.first().is_none_or(|first| *first == QUESTION), || format!("{queries:?}"))?;
    let twice = queries.iter().enumerate().any(|(i, query)| query.is_empty() || queries[..i].contains(query));
    ensure(!twice, || format!("{queries:?}"))
}

fn outage_buys_no_search(case: &Case) -> Result<(), String> {
    let hits = case.model.hits.len();
    let undecided = case.model.graded_of(0).filter(|g| g.grade.verdict == Verdict::Unknown).count();
    let outage = hits > 0 && undecided == hits;
    let first = case.history.performed.iter().find_map(|p| match &p.effect {
        Effect::SearchWeb { .. } => Some(true),
        Effect::Ask(Task::Generate(_)) => Some(false),
        _ => None,
    });
    let grades = case.scenario.strategy.grading.is_some();
    ensure(!(grades && outage && first == Some(true)), || "no grade, yet a search before any draft".to_owned())
}

/// Searches and rewrites, each with what had happened until then.
fn on_searches(case: &Case, holds: impl Fn(&Model) -> bool, otherwise: &str) -> Result<(), String> {
    for (n, one) in case.history.performed.iter().enumerate() {
        if matches!(one.effect, Effect::SearchWeb { .. } | Effect::Ask(Task::RewriteQuery(_))) {
            let before = Model::of(&case.history.performed[..n], case.scenario);
            ensure(holds(&before), || format!("order {n}: {otherwise}"))?;
        }
    }
    Ok(())
}

fn searches_have_a_reason(case: &Case) -> Result<(), String> {
    let strategy = &case.scenario.strategy;
    let holds = |before: &Model| {
        let first = before.generate.is_empty() && expected::needs_web(before, strategy);
        let useless = !before.generate.is_empty() && before.last_failed() == Some(Check::Usefulness);
        strategy.web.results > 0 && (first || (useless && !strategy.checks.strict_retry))
    };
    on_searches(case, holds, "the passages are enough and no draft is useless")
}

fn no_search_after_the_last_attempt(case: &Case) -> Result<(), String> {
    let last = case.scenario.strategy.max_retries as usize + 1;
    on_searches(case, |before| before.written.len() < last, "no draft may follow")
}

fn closed_web_is_left_alone(case: &Case) -> Result<(), String> {
    on_searches(case, |before| before.searches.iter().all(|s| s.1.is_some()), "the web has failed before")
}

fn deadline_is_budget(case: &Case) -> Result<(), String> {
    let given_up = case.history.performed.iter().any(|p| p.delivered && p.reply == Reply::Failed(Failure::Deadline));
    let End::Done(result) = &case.history.end else { return Ok(()) };
    let budget = result.as_ref().is_ok_and(|a| a.reason == Some(Reason::Budget));
    ensure(!given_up || budget, || match result {
        Ok(answer) => format!("{:?}, {:?}", answer.outcome, answer.reason),
        Err(error) => error.to_string(),
    })
}

fn errors_only_without_draft(case: &Case) -> Result<(), String> {
    let End::Done(Err(RunError::Failed(failure))) = &case.history.end else { return Ok(()) };
    ensure(case.model.written.is_empty(), || format!("{} drafts are lost", case.model.written.len()))?;
    let failed = case.model.retrieval_failed.or(case.model.generate_failed.as_ref());
    ensure(failed == Some(failure), || format!("{failure}, what failed is {failed:?}"))
}

fn ledger_is_exact(case: &Case, answer: &Answer) -> Result<(), String> {
    let seen = spent(&case.history.performed, |one| one.called);
    let took = case.history.performed.iter().try_fold(Tokens::default(), |sum, one| {
        let Tokens { input, output } = one.tokens?;
        Some(Tokens { input: sum.input.saturating_add(input), output: sum.output.saturating_add(output) })
    });
    ensure(answer.tokens == took, || format!("{:?}, not {took:?}", answer.tokens))?;
    ensure(answer.calls == seen, || format!("{:?}, not {seen:?}", answer.calls))?;
    ensure(seen.charged() <= case.scenario.limits.max_calls, || format!("{} calls", seen.charged()))
}

fn flags_belong_to_the_draft(case: &Case, answer: &Answer) -> Result<(), String> {
    let flags = [(Check::Grounding, answer.grounded), (Check::Usefulness, answer.useful)];
    if answer.outcome == Outcome::Abstained {
        return ensure(flags.iter().all(|f| f.1.is_none()), || format!("an abstention with {flags:?}"));
    }
    let Some(own) = case.model.written.iter().find(|w| w.draft.text == answer.text) else {
        return Err(format!("{:?} is no draft", answer.text));
    };
    for (check, flag) in flags {
        let said = own.verdict(check).flag();
        ensure(flag == said, || format!("{check:?} is {flag:?}, of this draft was said {said:?}"))?;
    }
    if let Some(reflection) = &answer.reflection {
        let by_degrees = case.scenario.strategy.checks.scale == Scale::Graded;
        let said = (own.grounding.support.filter(|_| by_degrees), own.usefulness.rating);
        let shown = (reflection.support, reflection.usefulness);
        ensure(shown == said, || format!("the reflection is {shown:?}, of this draft was said {said:?}"))?;
        ensure(Some(reflection.retrieve) == case.model.retrieval, || format!("{:?}", reflection.retrieve))?;
        ensure(reflection.relevance == answer.verdicts, || "relevance is not what the verdicts are".to_owned())?;
    }
    ensure(!own.draft.truncated || flags.iter().all(|f| f.1.is_none()), || "a truncated draft has flags".to_owned())
}

fn best_is_returned(case: &Case, answer: &Answer) -> Result<(), String> {
    let drafts = case.model.written.len();
    ensure(answer.attempts as usize == drafts, || format!("{} attempts, not {drafts}", answer.attempts))?;
    let on_exhaustion = case.scenario.strategy.on_exhaustion;
    if answer.outcome == Outcome::Abstained {
        let may = case.model.written.is_empty() || on_exhaustion == OnExhaustion::Abstain;
        return ensure(may, || "there are drafts, and the best was asked for".to_owned());
    }
    let best = returned(case).map(|w| w.draft.text.as_str());
    ensure(best == Some(&answer.text), || format!("{:?}, the best is {best:?}", answer.text))
}

/// The draft that an answer is to be made of.
fn returned<'a>(case: &'a Case) -> Option<&'a crate::model::Written<'a>> {
    let last = case.scenario.strategy.on_exhaustion == OnExhaustion::Last;
    if last { case.model.written.last() } else { case.model.best() }
}

fn outcome_agrees(case: &Case, answer: &Answer) -> Result<(), String> {
    let Answer { outcome, reason, .. } = answer;
    let flag = |check: &Check| if *check == Check::Grounding { answer.grounded } else { answer.useful };
    let passed = case.scenario.strategy.checks.order.iter().all(|check| flag(check) == Some(true));
    let bare = answer.text.is_empty() && answer.citations.is_empty() && answer.sources.is_empty();
    let holds = match outcome {
        Outcome::Answered => reason.is_none() && passed && !answer.text.trim().is_empty(),
        Outcome::Partial => {
            let said = !answer.text.trim().is_empty() && case.scenario.strategy.on_exhaustion != OnExhaustion::Abstain;
            reason.is_some() && said && (!passed || *reason == Some(Reason::Truncated))
        }
        Outcome::Abstained => reason.is_some() && bare && answer.grounded.is_none() && answer.useful.is_none(),
    };
    ensure(holds, || format!("{outcome:?}, {reason:?}, {:?}, {:?}, {:?}", answer.grounded, answer.useful, answer.text))
}

fn passed_is_answered(case: &Case, answer: &Answer) -> Result<(), String> {
    let checks = case.scenario.strategy.checks.order;
    let passed =
        |w: &&crate::model::Written| !w.draft.truncated && checks.iter().all(|c| w.verdict(*c) == Verdict::Yes);
    let any = case.model.written.iter().find(passed).map(|w| &w.draft.text);
    ensure(any.is_none() || answer.outcome == Outcome::Answered, || format!("{any:?} is {:?}", answer.outcome))
}

fn reason_is_what_happened(case: &Case, answer: &Answer) -> Result<(), String> {
    let Some(reason) = answer.reason else { return Ok(()) };
    let model = case.model;
    let best = returned(case);
    let says = |check, verdict| best.is_some_and(|w| w.verdict(check) == verdict);
    let warned = |code: &str| answer.warnings.iter().any(|w| w.code == code);
    let web_failed = warned("web_failed") && model.searches.iter().any(|s| s.1.is_none());
    let holds = match reason {
        Reason::NoDocuments => model.hits.is_empty() && model.generate.is_empty(),
        Reason::Irrelevant => best.is_none() && (!model.generate.is_empty() || (!model.hits.is_empty() && !web_failed)),
        Reason::WebFailed => web_failed && model.generate.is_empty(),
        Reason::Ungrounded => says(Check::Grounding, Verdict::No),
        Reason::NotUseful => says(Check::Usefulness, Verdict::No),
        Reason::Unchecked => case.scenario.strategy.checks.order.iter().any(|c| says(*c, Verdict::Unknown)),
        Reason::NoProgress => model.repeated,
        Reason::ProviderFailed => model.generate_failed.is_some() && best.is_some(),
        Reason::Truncated => best.is_some_and(|w| w.draft.truncated),
        Reason::Budget => {
            let found = model.searches.iter().filter_map(|search| search.1).map(<[_]>::len);
            let kept = kept(&case.scenario.strategy, Call::Rewrite, 0);
            let need = found.chain([1, model.hits.len()]).max().unwrap_or(1) as u32 + kept;
            let spent = answer.calls.charged() + need > case.scenario.limits.max_calls;
            warned("budget") && (spent || case.history.clock >= case.history.deadline)
        }
    };
    ensure(holds, || format!("{reason:?}, with {} drafts", model.written.len()))
}

fn citations_quote_what_was_given(case: &Case, answer: &Answer) -> Result<(), String> {
    let Some(own) = case.model.written.iter().find(|w| w.draft.text == answer.text) else {
        return ensure(answer.citations.is_empty(), || "citations of no draft".to_owned());
    };
    let given: Vec<&str> = own.task.passages.iter().map(|p| p.id.as_str()).collect();
    let sources: Vec<&str> = answer.sources.iter().map(|s| s.passage_id.as_str()).collect();
    ensure(given == sources, || format!("sources {sources:?}, given {given:?}"))?;
    let (citations, quotes) = (&answer.citations, &own.draft.quotes);
    ensure(citations.len() == quotes.len(), || format!("{} citations of {}", citations.len(), quotes.len()))?;
    for (i, (citation, quote)) in citations.iter().zip(quotes).enumerate() {
        let passage = own.task.passages.iter().find(|p| p.id == citation.passage_id);
        let text = passage.and_then(|p| {
            let within = citation.start.checked_sub(p.span.start)?..citation.end.checked_sub(p.span.start)?;
            p.text.get(within)
        });
        let meant = own.task.passages.get(quote.passage).map(|p| &p.id) == Some(&citation.passage_id);
        let holds =
            text == Some(&citation.quote) && meant && citation.n as usize == i + 1 && !citation.quote.is_empty();
        ensure(holds, || format!("{citation:?} of {quote:?}"))?;
    }
    Ok(())
}

fn cut_is_told(case: &Case, answer: &Answer) -> Result<(), String> {
    let given_up = Reply::Failed(Failure::Deadline);
    let cut = case.model.generate.iter().filter(|asked| asked.again && *asked.reply != given_up).count();
    let told = answer.warnings.iter().filter(|warning| warning.code == "context_trimmed").count();
    ensure(told == cut, || format!("{cut} times, told {told} times"))
}

fn search_by_words_is_told(case: &Case, answer: &Answer) -> Result<(), String> {
    let by_words = |p: &&Performed| matches!(p.reply, Reply::ByWords(..));
    let searches = case.history.performed.iter().filter(by_words).count();
    let told = answer.warnings.iter().filter(|warning| warning.code == "embedding_failed").count();
    ensure(told == searches, || format!("{searches} times, told {told} times"))
}

fn verdicts_were_said(case: &Case, answer: &Answer) -> Result<(), String> {
    // Results of the web for whose grades there was no call.
    let searched = |id: &str| case.model.graded.iter().any(|g| g.passage.id == id);
    let asked = |v: &&PassageVerdict| v.verdict != Verdict::Unknown || v.score.is_some() || searched(&v.passage_id);
    let shown = answer.verdicts.iter().filter(asked);
    let shown: Vec<_> = shown.map(|v| (v.passage_id.as_str(), v.verdict, v.score)).collect();
    let mut said: Vec<_> =
        case.model.graded.iter().map(|g| (g.passage.id.as_str(), g.grade.verdict, g.grade.score)).collect();
    // A round of grading that was cut off leaves no verdicts.
    if shown.len() < said.len() && answer.warnings.iter().any(|w| w.code == "budget") {
        said.truncate(shown.len());
    }
    ensure(shown == said, || format!("{shown:?}, said was {said:?}"))?;
    let graded = shown.len() >= case.model.hits.len();
    let decided = expected::decision(case.model, &case.scenario.strategy).filter(|_| graded);
    ensure(answer.decision == decided, || format!("{:?}, not {decided:?}", answer.decision))
}

fn trace_is_the_stream(case: &Case, answer: &Answer) -> Result<(), String> {
    ensure(answer.trace == case.history.events, || format!("{:?} and {:?}", answer.trace, case.history.events))?;
    ensure(answer.web_search_used == expected::web_was_used(case), || {
        format!("web_search_used is {}", answer.web_search_used)
    })?;
    let replied = case.history.performed.iter().all(|p| p.delivered || matches!(p.reply, Reply::Failed(_)));
    ensure(replied, || "an answer before its replies".to_owned())
}
