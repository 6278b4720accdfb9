//! What a run will cost, counted from the options of its strategy alone: before it begins.
//!
//! [`Estimate::path`] is the count of the Self-RAG tutorials (seed R-16): each passage is graded once, and
//! every draft, retries included, goes through all its checks: n + 3 (1 + retries). What a failed
//! usefulness check makes of it, a search of the web and from the second one on a new query, depends on
//! what is found and is not in it.
//!
//! [`Estimate::upper`] is the most that a run can come to: each verdict asked for twice, by itself the second
//! time, each draft from half its passages as well, each search with its query and its results, all segments
//! of a beam, and each call repeated as often as [`Setting::retries`] allows. No run makes more calls; it is the default of `max_calls`.
//!
//! Whole numbers only: money is the caller's, and no host prints a fraction here.

use serde::Serialize;

use crate::pipeline::budget::Calls;
use crate::pipeline::self_rag::SelfRag;
use crate::pipeline::strategy::{ByClaim, Strategy};
use crate::pipeline::task::MAX_BATCH;
use crate::pipeline::verdict::Check;

/// What a run depends on besides its strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// A model elsewhere makes the vector of the query.
    pub embeds: bool,
    /// There is a web search.
    pub web: bool,
    /// Passages are graded by a scorer, which takes no tokens.
    pub scorer: bool,
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
    /// Segments.
    pub segment: Step,
    /// Questions on segments.
    pub reflect: Step,
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
/// Of a claim's verdict with its quotation; a draft has some five.
pub const CLAIM: u32 = 40;
const CLAIMS: u32 = 5;

/// The most tokens of a verdict, with some reasoning before it.
pub const LONGEST_VERDICT: u32 = 256;
/// Of a query.
pub const LONGEST_QUERY: u32 = 64;
/// Of a draft.
pub const LONGEST_DRAFT: u32 = 1024;
/// Of a segment of `self-rag`.
pub const LONGEST_SEGMENT: u32 = 300;
/// What each verdict of a batch adds to the first.
pub const LONGEST_FURTHER: u32 = 32;
/// What each claim adds: a verdict with a quotation, or other words in its place.
pub const LONGEST_CLAIM: u32 = 96;
/// How many claims a draft is taken to have at the most.
pub const MOST_CLAIMS: u32 = 12;
/// Of the longest prompt without its material, in the language that takes most.
pub const LONGEST_PROMPT: u32 = 900;

/// Counts what a run of a strategy costs.
pub fn estimate(strategy: &Strategy, setting: Setting) -> Estimate {
    let checks = strategy.checks.order;
    let has = |check| u32::from(checks.contains(&check));
    // Without a check no draft fails.
    let retries = if checks.is_empty() { 0 } else { strategy.max_retries };
    let drafts = retries.saturating_add(1);
    let (k, results) = (strategy.k as u32, strategy.web.results as u32);
    let graded = |passages: u32| match strategy.grading {
        None => 0,
        Some(grading) if grading.batched => passages.div_ceil(MAX_BATCH as u32),
        Some(_) => passages,
    };
    // The second time each is asked about by itself.
    let regraded = |passages: u32| if strategy.grading.is_some() { passages } else { 0 };
    // Passages that were rejected ask for one, and each draft that was not useful but the last.
    let not_useful = if strategy.checks.strict_retry { 0 } else { retries * has(Check::Usefulness) };
    let searches = if setting.web && results > 0 { u32::from(strategy.grading.is_some()) + not_useful } else { 0 };
    let of_results = |calls: u32| if strategy.web.graded { searches.saturating_mul(calls) } else { 0 };
    let shown = regraded(k).saturating_add(of_results(regraded(results)));

    // The call that checks the claims judges usefulness besides; a repair is a draft, and what is trimmed is
    // judged once more.
    let is_fused = strategy.checks.by_claim == Some(ByClaim::Fused);
    let path = Calls {
        embed: u32::from(setting.embeds),
        decide: u32::from(strategy.decides_retrieval),
        grade: graded(k),
        generate: drafts,
        grounding: drafts * has(Check::Grounding),
        usefulness: if is_fused { 0 } else { drafts * has(Check::Usefulness) },
        ..Calls::default()
    };
    let most = Calls {
        grade: path.grade.saturating_add(of_results(graded(results))).saturating_add(shown),
        rewrite: if strategy.web.for_the_gap { searches } else { searches.saturating_sub(1) },
        web: searches,
        generate: path.generate.saturating_mul(2).saturating_add(strategy.speculates.into()),
        grounding: path.grounding.saturating_mul(2),
        usefulness: (drafts * has(Check::Usefulness) + u32::from(strategy.checks.by_claim.is_some())).saturating_mul(2),
        ..path
    };
    let (path, most) = match &strategy.self_rag {
        Some(options) => of_segments(options, strategy.k, setting),
        None => (path, most),
    };
    // Each of the claims has its verdict and is quoted.
    let of_claims = |verdict: u32, claims: u32| if strategy.checks.by_claim.is_some() { claims } else { verdict };
    let usual = Sizes {
        context: k,
        graded: shown,
        rejected: retries / 2,
        verdict: VERDICT,
        checked: of_claims(VERDICT, CLAIMS * CLAIM),
        query: VERDICT,
        draft: DRAFT,
    };
    let longest = Sizes {
        context: k.saturating_add(searches.saturating_mul(results)),
        graded: shown.saturating_mul(2),
        rejected: retries,
        verdict: LONGEST_VERDICT,
        checked: of_claims(LONGEST_VERDICT, LONGEST_VERDICT + MOST_CLAIMS * LONGEST_CLAIM),
        query: LONGEST_QUERY,
        draft: LONGEST_DRAFT,
    };
    Estimate {
        path: steps(&path, 1, &Sizes { graded: regraded(k), ..usual }, setting.scorer),
        upper: steps(&most, setting.retries.saturating_add(1), &longest, setting.scorer),
    }
}

/// The calls of the paper's inference: on the path a decision and a candidate from each passage, at the most
/// those of the whole beam, which may search again for each branch, and every question on them.
fn of_segments(options: &SelfRag, k: usize, setting: Setting) -> (Calls, Calls) {
    let most = options.most_calls(k);
    let embed = |searches: usize| if setting.embeds { searches as u32 } else { 0 };
    let path = Calls { embed: embed(1), segment: k as u32 + 1, ..Calls::default() };
    let most = Calls {
        embed: embed(most.searches),
        segment: most.segments as u32,
        reflect: most.reflections_of_a_chat_model as u32,
        ..Calls::default()
    };
    (path, most)
}

/// Of what size requests and replies are.
#[derive(Clone, Copy)]
struct Sizes {
    /// Passages that a draft is written from.
    context: u32,
    /// Passages that graders are shown, as often as they are.
    graded: u32,
    /// Drafts that the generator is told of.
    rejected: u32,
    /// Tokens of each reply.
    verdict: u32,
    checked: u32,
    query: u32,
    draft: u32,
}

/// The cost where each call is made so often. What a scorer grades takes no tokens.
fn steps(calls: &Calls, times: u32, sizes: &Sizes, scored: bool) -> Steps {
    let mut total = Step::default();
    let mut step = |count: u32, [input, output]: [u32; 2]| {
        let step = Step {
            calls: count.saturating_mul(times),
            input: input.saturating_mul(times),
            output: output.saturating_mul(times),
        };
        total = Step {
            calls: total.calls.saturating_add(step.calls),
            input: total.input.saturating_add(step.input),
            output: total.output.saturating_add(step.output),
        };
        step
    };
    let each = |count: u32, material: u32, reply: u32| {
        [count.saturating_mul(PROMPT.saturating_add(material)), count.saturating_mul(reply)]
    };
    let Sizes { context, graded, rejected, verdict, checked, query, draft } = *sizes;
    let passages = context.saturating_mul(PASSAGE);
    let told = QUESTION.saturating_add(passages).saturating_add(rejected.saturating_mul(draft));
    // Of a batch each call has the instructions and the question, each passage its text and its verdict.
    let [asked, _] = each(calls.grade, QUESTION, 0);
    let of_grades = [asked.saturating_add(graded.saturating_mul(PASSAGE)), graded.saturating_mul(verdict)];
    let judged = QUESTION + PASSAGE + DRAFT;
    Steps {
        embed: step(calls.embed, [0, 0]),
        decide: step(calls.decide, each(calls.decide, QUESTION, verdict)),
        grade: step(calls.grade, if scored { [0, 0] } else { of_grades }),
        rewrite: step(calls.rewrite, each(calls.rewrite, 2 * QUESTION, query)),
        web: step(calls.web, [0, 0]),
        generate: step(calls.generate, each(calls.generate, told, draft)),
        grounding: step(calls.grounding, each(calls.grounding, passages.saturating_add(draft), checked)),
        usefulness: step(calls.usefulness, each(calls.usefulness, QUESTION + draft, verdict)),
        segment: step(calls.segment, each(calls.segment, judged, DRAFT)),
        reflect: step(calls.reflect, each(calls.reflect, judged, verdict)),
        total,
    }
}
