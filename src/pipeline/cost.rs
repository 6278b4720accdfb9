//! What a run will cost, counted from the options of its strategy alone: before it begins.
//!
//! [`Estimate::path`] is the count of the Self-RAG tutorials (seed R-16): each passage is graded once, and
//! every draft, retries included, goes through all its checks: n + 3 (1 + retries). What a failed
//! usefulness check makes of it, a search of the web and from the second one on a new query, depends on
//! what is found and is not in it.
//!
//! [`Estimate::upper`] is the most that a run can come to: each verdict asked for twice, each draft from
//! half its passages as well, each search with its query and its results, and each call repeated as often as
//! [`Setting::retries`] allows. No run makes more calls; it is the default of `max_calls`.
//!
//! Whole numbers only: money is the caller's, and no host prints a fraction here.

use serde::Serialize;

use crate::pipeline::budget::Calls;
use crate::pipeline::strategy::Strategy;
use crate::pipeline::verdict::Check;

/// What a run depends on besides its strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// A model elsewhere makes the vector of the query.
    pub embeds: bool,
    /// There is a web search.
    pub web: bool,
    /// How often one call that failed may be repeated.
    pub retries: u32,
}

/// What a run will cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Estimate {
    /// Of a run without faults whose drafts, but for the last, all fail their last check.
    pub path: Steps,
    /// Of no run more than that.
    pub upper: Steps,
}

/// A cost by the kinds of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Steps {
    /// Calls for the vector of the query.
    pub embed: Step,
    /// Decisions whether to retrieve.
    pub decide: Step,
    /// Grades of passages.
    pub grade: Step,
    /// Query rewrites.
    pub rewrite: Step,
    /// Web searches.
    pub web: Step,
    /// Drafts.
    pub generate: Step,
    /// Grounding checks.
    pub grounding: Step,
    /// Usefulness checks.
    pub usefulness: Step,
    /// All of them.
    pub total: Step,
}

/// Calls of one kind, and the tokens that chat models take for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Step {
    /// How often it is called.
    pub calls: u32,
    /// Tokens read.
    pub input: u32,
    /// Tokens written.
    pub output: u32,
}

/// The tokens of a passage: 1,200 bytes, the splitter's most, at four bytes a token.
pub const PASSAGE: u32 = 300;
/// Of a prompt without its material: instructions, fences, and the schema of its reply. With a passage and
/// a question that makes some 500 tokens a grade, as seed G-22 has it.
pub const PROMPT: u32 = 170;
/// Of a question.
pub const QUESTION: u32 = 30;
/// Of a draft of some paragraphs.
pub const DRAFT: u32 = 300;
/// Of a verdict or a query as it is asked for.
pub const VERDICT: u32 = 10;

/// The most tokens of a verdict, with some reasoning before it.
pub const LONGEST_VERDICT: u32 = 256;
/// Of a query.
pub const LONGEST_QUERY: u32 = 64;
/// Of a draft.
pub const LONGEST_DRAFT: u32 = 1024;

/// Counts what a run of a strategy costs.
pub fn estimate(strategy: &Strategy, setting: Setting) -> Estimate {
    let checks = strategy.checks.order;
    let has = |check| u32::from(checks.contains(&check));
    // Without a check no draft fails.
    let retries = if checks.is_empty() { 0 } else { strategy.max_retries };
    let drafts = retries.saturating_add(1);
    let (k, results) = (strategy.k as u32, strategy.web.results as u32);
    let batched = strategy.grading.is_some_and(|grading| grading.batched);
    let graded = |passages: u32| match strategy.grading {
        None => 0,
        Some(_) if batched => passages.min(1),
        Some(_) => passages,
    };
    // Passages that were rejected ask for one, and each draft that was not useful but the last.
    let not_useful = if strategy.checks.strict_retry { 0 } else { retries * has(Check::Usefulness) };
    let searches = if setting.web && results > 0 { u32::from(strategy.grading.is_some()) + not_useful } else { 0 };
    let results_graded = if strategy.web.graded { searches.saturating_mul(graded(results)) } else { 0 };

    let path = Calls {
        embed: u32::from(setting.embeds),
        decide: u32::from(strategy.decides_retrieval),
        grade: graded(k),
        generate: drafts,
        grounding: drafts * has(Check::Grounding),
        usefulness: drafts * has(Check::Usefulness),
        ..Calls::default()
    };
    let most = Calls {
        grade: path.grade.saturating_add(results_graded).saturating_mul(2),
        rewrite: searches.saturating_sub(1),
        web: searches,
        generate: path.generate.saturating_mul(2),
        grounding: path.grounding.saturating_mul(2),
        usefulness: path.usefulness.saturating_mul(2),
        ..path
    };
    let usual = Sizes { context: k, rejected: retries / 2, verdict: VERDICT, query: VERDICT, draft: DRAFT };
    let longest = Sizes {
        context: k.saturating_add(searches.saturating_mul(results)),
        rejected: retries,
        verdict: LONGEST_VERDICT,
        query: LONGEST_QUERY,
        draft: LONGEST_DRAFT,
    };
    Estimate {
        path: steps(&path, 1, &usual, batched),
        upper: steps(&most, setting.retries.saturating_add(1), &longest, batched),
    }
}

/// Of what size requests and replies are.
struct Sizes {
    /// Passages that a draft is written from.
    context: u32,
    /// Drafts that the generator is told of.
    rejected: u32,
    /// Tokens of each reply.
    verdict: u32,
    query: u32,
    draft: u32,
}

/// The cost where each call is made so often. A scorer that takes all passages at once counts no tokens.
fn steps(calls: &Calls, times: u32, sizes: &Sizes, scored: bool) -> Steps {
    let mut total = Step::default();
    let mut step = |count: u32, material: Option<u32>, reply: u32| {
        let calls = count.saturating_mul(times);
        let input = material.map_or(0, |material| calls.saturating_mul(PROMPT.saturating_add(material)));
        let output = material.map_or(0, |_| calls.saturating_mul(reply));
        total = Step {
            calls: total.calls.saturating_add(calls),
            input: total.input.saturating_add(input),
            output: total.output.saturating_add(output),
        };
        Step { calls, input, output }
    };
    let Sizes { context, rejected, verdict, query, draft } = *sizes;
    let passages = context.saturating_mul(PASSAGE);
    let told = QUESTION.saturating_add(passages).saturating_add(rejected.saturating_mul(draft));
    Steps {
        embed: step(calls.embed, None, 0),
        decide: step(calls.decide, Some(QUESTION), verdict),
        grade: step(calls.grade, (!scored).then_some(QUESTION + PASSAGE), verdict),
        rewrite: step(calls.rewrite, Some(2 * QUESTION), query),
        web: step(calls.web, None, 0),
        generate: step(calls.generate, Some(told), draft),
        grounding: step(calls.grounding, Some(passages.saturating_add(draft)), verdict),
        usefulness: step(calls.usefulness, Some(QUESTION + draft), verdict),
        total,
    }
}
