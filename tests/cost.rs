//! The estimate of a run against runs: its path is what the good path makes, its upper bound is what none
//! exceeds and some reach. That no seeded world exceeds it is an invariant of the simulation.
#![allow(clippy::panic)] // a preset without its estimate must end the test

mod support;

use countercheck::document::{Hit, Origin, Passage};
use countercheck::pipeline::answer::Question;
use countercheck::pipeline::budget::{Calls, Limits};
use countercheck::pipeline::cost::{DRAFT, Estimate, PASSAGE, PROMPT, QUESTION, Setting, Steps, estimate};
use countercheck::pipeline::run::{Effect, Outcome, Reply, Run, Step};
use countercheck::pipeline::strategy::{MAX_RETRIES, NAMES, Options, Strategy};
use countercheck::pipeline::task::{
    CheckClaims, CheckGrounding, CheckUsefulness, ClaimSaid, ClaimsSaid, Draft, Failure, Grade, GradePassages, Task,
    TaskReply,
};
use countercheck::pipeline::verdict::{Retrieval, Scale, Support, Verdict};
use countercheck::prompt::Language;
use countercheck::solver::llm;
use countercheck::wire::cost::EstimateRequest;
use support::{Script, passage, run_logged};

const SETTING: Setting = Setting { embeds: false, web: true, scorer: false, retries: 2 };

/// `self-rag` has a beam in place of drafts, and `countercheck` mends drafts: their calls are counted apart.
fn presets() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().filter(|name| !["self-rag", "countercheck"].contains(name))
}

fn strategy(name: &str, k: usize, max_retries: u32) -> Strategy {
    let options = Options { k: Some(k), max_retries: Some(max_retries), ..Options::default() };
    Strategy::named(name).and_then(|preset| preset.with(options)).expect("a preset")
}

fn by_kind(steps: &Steps) -> [u32; 8] {
    let Steps { embed, decide, grade, rewrite, web, generate, grounding, usefulness, .. } = *steps;
    [embed, decide, grade, rewrite, web, generate, grounding, usefulness].map(|step| step.calls)
}

fn made(calls: &Calls) -> [u32; 8] {
    let Calls { embed, decide, grade, rewrite, web, generate, grounding, usefulness, .. } = *calls;
    [embed, decide, grade, rewrite, web, generate, grounding, usefulness]
}

#[test]
fn r_16_the_path_is_n_plus_3_for_each_draft_in_total_and_by_step() {
    for (k, retries, total) in [(4, 1, 10), (4, 0, 7), (4, 2, 13), (8, 1, 14), (1, 4, 16)] {
        let path = estimate(&strategy("self-reflective", k, retries), SETTING).path;
        assert_eq!(path.total.calls, total, "k = {k}, {retries} retries");
        let drafts = 1 + retries;
        assert_eq!(by_kind(&path), [0, 0, k as u32, 0, 0, drafts, drafts, drafts]);
    }
    // Plain RAG takes two: the query's vector and the draft.
    let plain = estimate(&Strategy::naive(), Setting { embeds: true, ..SETTING }).path;
    assert_eq!((plain.total.calls, plain.embed.calls, plain.generate.calls), (2, 1, 1));
}

#[test]
fn c_22_four_passages_cost_four_grades_before_the_draft() {
    let path = estimate(&strategy("corrective", 4, 0), SETTING).path;
    assert_eq!((path.grade.calls, path.total.calls), (4, 5));
    // A scorer grades all of them at once, and so may a model.
    let batched = strategy("corrective-scored", 4, 0).in_batches();
    let scored = estimate(&batched, Setting { scorer: true, ..SETTING }).path;
    assert_eq!((scored.grade.calls, scored.grade.input, scored.grade.output), (1, 0, 0));
    let path = estimate(&batched, SETTING).path;
    assert_eq!((path.grade.calls, path.grade.input), (1, PROMPT + QUESTION + 4 * PASSAGE));
    let many = strategy("corrective-scored", 50, 0).in_batches();
    assert_eq!(estimate(&many, SETTING).path.grade.calls, 3, "20 at a time");
}

/// The sizes that the tokens are reckoned with, against prompts as they are sent, at four bytes a token.
#[test]
fn g_22_a_grade_reads_some_500_tokens() {
    let path = estimate(&Strategy::self_reflective(), SETTING).path;
    assert_eq!(path.grade.input, 4 * (PROMPT + QUESTION + PASSAGE));
    let question = "q".repeat(4 * QUESTION as usize);
    let full = |i| {
        let mut passage = passage(i, Origin::Local);
        passage.text = "t".repeat(4 * PASSAGE as usize);
        passage
    };
    let task = GradePassages { question, passages: vec![full(0)], scale: Scale::Binary, again: false };
    for &language in Language::ALL {
        let sent = llm::request(&task.clone().into(), language);
        let tokens = sent.messages.iter().map(|message| message.content.len()).sum::<usize>() as u32 / 4;
        let estimated = path.grade.input / 4;
        assert!(tokens.abs_diff(estimated) < 75 && tokens.abs_diff(500) < 75, "{tokens} tokens in {language:?}");
    }
    let context = 4 * PASSAGE;
    assert_eq!(
        path.generate.input,
        3 * (PROMPT + QUESTION + context + DRAFT),
        "two retries are told of one draft each, on average"
    );
    assert_eq!(path.total.input, path.grade.input + path.generate.input + path.grounding.input + path.usefulness.input);
}

/// Drafts that fail their last check. What the web takes for them comes besides.
#[test]
fn r_16_the_good_path_with_failed_drafts_makes_exactly_the_path() {
    for name in presets() {
        for (k, grades) in [(1, "R"), (4, "RRRR"), (8, "RRRRRRRR")] {
            for retries in 0..=MAX_RETRIES {
                let strategy = strategy(name, k, retries);
                let scores: &'static [Option<f64>] =
                    if name == "corrective-scored" { &[Some(0.9); 8][..k] } else { &[] };
                let fails = match (retries, strategy.checks.scale) {
                    (0, _) => "y",
                    (_, Scale::Binary) => &"nnnny"[4 - retries as usize..],
                    (_, Scale::Graded) => &"11115"[4 - retries as usize..],
                };
                let script = Script { grades, scores, useful: fails, ..Script::default() };
                let (answer, _) = run_logged(&script, strategy.clone(), Limits::of(&strategy));
                let path = estimate(&strategy, SETTING).path;
                let calls = answer.expect("an answer").calls;
                let besides = Calls { rewrite: 0, web: 0, ..calls };
                assert_eq!(made(&besides), by_kind(&path), "{name}, k = {k}, {retries} retries");
                assert_eq!(besides.charged(), path.total.calls);
                let searched = calls.web + calls.rewrite > 0;
                assert_eq!(searched, name == "self-reflective" && retries > 0);
            }
        }
    }
}

/// The longest run there is for a strategy: each verdict is unknown at first, each draft's passages are too
/// many at first and the draft not useful, and each call takes all its repetitions.
fn longest(strategy: &Strategy) -> Calls {
    let limits = Limits { max_calls: u32::MAX, ..Limits::of(strategy) };
    let question = Question::new("What are the steps of RAG?").expect("a question");
    let mut run = Run::new(question, strategy.clone(), limits, 0);
    let mut worst = Worst::default();
    loop {
        match run.next_step() {
            Step::Done(result) => return result.expect("an answer").calls,
            Step::Wait => panic!("it waits for nothing"),
            Step::Perform(orders) => {
                for order in orders {
                    let outcome = Outcome::without_tokens(worst.reply(&order.effect, strategy), order.may_call);
                    run.resolve(order.id, outcome, 0).expect("an open order");
                }
            }
        }
    }
}

#[derive(Default)]
struct Worst {
    searches: usize,
    drafts: usize,
    was_too_long: bool,
}

impl Worst {
    /// Nothing at first; then that all of it holds and nothing on its use, which is asked apart.
    fn claims(task: &CheckClaims) -> ClaimsSaid {
        let quote = task.passages[0].text.clone();
        let said = ClaimSaid { support: Support::Fully, passage: Some(0), quote };
        let said = if task.again { said } else { ClaimSaid::default() };
        ClaimsSaid { claims: vec![said; task.claims.len()], useful: Verdict::Unknown }
    }

    fn reply(&mut self, effect: &Effect, strategy: &Strategy) -> Reply {
        let task = match effect {
            Effect::Retrieve { k, .. } => {
                let hit = |i| Hit {
                    passage: passage(i, Origin::Local),
                    score: 1.0,
                    lexical: 1.0,
                    dense: None,
                    explanation: None,
                };
                return Reply::Hits((0..*k).map(hit).collect());
            }
            Effect::SearchWeb { limit, .. } => {
                self.searches += 1;
                return Reply::Web((0..*limit).map(|i| passage(1000 * self.searches + i, Origin::Web)).collect());
            }
            Effect::Ask(task) => task,
        };
        let unknown = TaskReply::Verdict(Verdict::Unknown);
        Reply::Task(match task {
            Task::DecideRetrieval(_) => TaskReply::Retrieval(Retrieval::Unknown),
            Task::GradePassages(task) => {
                TaskReply::Grades(task.passages.iter().map(|p| grade(p, task.again, strategy)).collect())
            }
            Task::RewriteQuery(task) => TaskReply::Query(format!("query {}", task.tried.len())),
            Task::Generate(task) => {
                self.was_too_long = !self.was_too_long && task.passages.len() > 1;
                if self.was_too_long {
                    return Reply::Failed(Failure::TooLong { service: "model" });
                }
                self.drafts += 1;
                TaskReply::Draft(Draft { text: "It works. ".repeat(self.drafts), ..Draft::default() })
            }
            Task::CheckGrounding(CheckGrounding { again: false, .. })
            | Task::CheckUsefulness(CheckUsefulness { again: false, .. }) => unknown,
            Task::CheckGrounding(_) => TaskReply::Verdict(Verdict::Yes),
            Task::CheckUsefulness(_) if strategy.checks.scale == Scale::Graded => TaskReply::Rating(1),
            Task::CheckUsefulness(_) => TaskReply::Verdict(Verdict::No),
            Task::CheckClaims(task) => TaskReply::Claims(Self::claims(task)),
            Task::Repair(_) => TaskReply::Repairs(Vec::new()),
            Task::GenerateSegment(_) | Task::Reflect(_) => unreachable!("no preset here writes segments"),
        })
    }
}

/// One passage is relevant, and what the web brings; without the web all are.
fn grade(passage: &Passage, again: bool, strategy: &Strategy) -> Grade {
    let relevant = passage.id == "doc#0" || passage.origin == Origin::Web || strategy.web.results == 0;
    match (again, relevant) {
        (false, _) => Grade::default(),
        (true, true) => Grade { verdict: Verdict::Yes, score: Some(0.6) },
        (true, false) => Grade { verdict: Verdict::No, score: Some(0.1) },
    }
}

#[test]
fn r_17_the_upper_bound_is_reached_and_is_the_default_of_max_calls() {
    for name in presets() {
        for (k, retries) in [(4, 0), (4, 2), (6, 1), (50, 4)] {
            for strategy in [strategy(name, k, retries), strategy(name, k, retries).in_batches()] {
                let upper = estimate(&strategy, Setting { embeds: true, ..SETTING }).upper;
                assert_eq!(Limits::of(&strategy).max_calls, upper.total.calls);
                let (mut calls, mut most) = (made(&longest(&strategy)), by_kind(&upper));
                assert_eq!(calls[0], 3, "the query's vector");
                // Passages may be too many as long as there are two, and half of them is left each time.
                if strategy.web.results == 0 && k >> (1 + retries) == 0 {
                    assert!(calls[5] < most[5]);
                    (calls[5], most[5]) = (0, 0);
                }
                assert_eq!(calls, most, "{name}, k = {k}, {retries} retries");
            }
        }
    }
}

#[test]
fn r_17_mended_drafts_take_no_more_than_is_estimated() {
    let path = estimate(&strategy("countercheck", 4, 0), SETTING).path;
    assert_eq!(by_kind(&path), [0, 0, 1, 0, 0, 1, 1, 0], "three calls: grades, draft, claims with usefulness");
    let (answer, _) = run_logged(&Script::default(), Strategy::countercheck(), Limits::default());
    assert_eq!(answer.expect("an answer").calls.charged(), path.total.calls);
    for (k, retries) in [(4, 0), (4, 1), (30, 4)] {
        let strategy = strategy("countercheck", k, retries);
        let upper = by_kind(&estimate(&strategy, Setting { embeds: true, ..SETTING }).upper);
        let calls = made(&longest(&strategy));
        assert!(calls.iter().zip(&upper).all(|(calls, most)| calls <= most), "{calls:?} of {upper:?}");
    }
}

#[test]
fn r_17_the_calls_of_a_beam_are_estimated_too() {
    let of = |setting| estimate(&Strategy::self_rag().expect("a preset"), setting);
    let Estimate { path, upper } = of(Setting { embeds: true, retries: 0, ..SETTING });
    assert_eq!((path.embed.calls, path.segment.calls, path.total.calls), (1, 4, 5), "a decision and three candidates");
    let most = [upper.embed, upper.segment, upper.reflect].map(|step| step.calls);
    assert_eq!((most, upper.total.calls), ([3, 10, 30], 43));
    assert_eq!(of(SETTING).upper.segment.calls, 30, "each with two repetitions");
    assert_eq!(path.segment.input, 4 * (PROMPT + QUESTION + PASSAGE + DRAFT));
}

#[test]
fn r_17_an_estimate_is_asked_for_by_the_options_of_a_question() {
    let request = EstimateRequest { max_retries: Some(1), ..EstimateRequest::default() };
    let asked = request.check().expect("an estimate");
    assert_eq!(asked, estimate(&strategy("countercheck", 4, 1), SETTING));
    let without = EstimateRequest { web: Some(false), max_retries: Some(1), ..EstimateRequest::default() };
    assert_eq!(without.check().expect("an estimate").upper.web.calls, 0);
    for (request, says) in [
        (EstimateRequest { k: Some(51), ..EstimateRequest::default() }, "k is 51"),
        (EstimateRequest { max_retries: Some(5), ..EstimateRequest::default() }, "max_retries is 5"),
        (EstimateRequest { strategy: Some("best".to_owned()), ..EstimateRequest::default() }, "no strategy \"best\""),
    ] {
        let problem = request.check().expect_err("not an estimate");
        assert!(problem.message.contains(says), "{}", problem.message);
    }
}
