//! What the driver was seen to spend, for the invariants that compare it with the ledger, the limits and the
//! estimate.

use countercheck::pipeline::budget::{Call, Calls};
use countercheck::pipeline::cost::{Setting, Steps, estimate};
use countercheck::pipeline::run::Effect;
use countercheck::pipeline::strategy::Strategy;

use crate::driver::Performed;
use crate::invariants::{Case, ensure};

/// The line of the budget that an effect is booked on.
pub fn call(effect: &Effect) -> Call {
    match effect {
        Effect::Retrieve { .. } => Call::Embed,
        Effect::SearchWeb { .. } => Call::Web,
        Effect::Ask(task) => task.call(),
    }
}

/// The calls that are kept when an effect of that kind begins, after so many calls for drafts: for the first
/// draft and each of its checks; for the checks of a later one; and of a query for its search.
pub fn kept(strategy: &Strategy, call: Call, drafts: u32) -> u32 {
    let checks = strategy.checks.order.len() as u32;
    match call {
        Call::Embed | Call::Decide | Call::Grade | Call::Web => 1 + checks,
        Call::Rewrite => 2 + checks,
        Call::Generate if drafts > 0 => checks,
        _ => 0,
    }
}

/// The calls that effects took, or may take, by kind.
pub fn spent(performed: &[Performed], calls: impl Fn(&Performed) -> u32) -> Calls {
    let mut seen = Calls::default();
    for one in performed {
        seen.retrieve += u32::from(matches!(one.effect, Effect::Retrieve { .. }));
        *match call(&one.effect) {
            Call::Embed => &mut seen.embed,
            Call::Decide => &mut seen.decide,
            Call::Grade => &mut seen.grade,
            Call::Rewrite => &mut seen.rewrite,
            Call::Web => &mut seen.web,
            Call::Generate => &mut seen.generate,
            Call::Grounding => &mut seen.grounding,
            Call::Usefulness => &mut seen.usefulness,
            Call::Segment => &mut seen.segment,
            Call::Reflect => &mut seen.reflect,
        } += calls(one);
    }
    seen
}

/// No kind of call is made more often than the estimate says, even if each took all its repetitions
/// (seeds ).
pub fn calls_are_estimated(case: &Case) -> Result<(), String> {
    let setting = Setting { embeds: true, web: true, scorer: false, retries: case.scenario.limits.retries };
    let upper = estimate(&case.scenario.strategy, setting).upper;
    let calls = spent(&case.history.performed, |one| one.may_call);
    let Steps { embed, decide, grade, rewrite, web, generate, grounding, usefulness, total, .. } = upper;
    let within = [
        calls.embed <= embed.calls,
        calls.decide <= decide.calls,
        calls.grade <= grade.calls,
        calls.rewrite <= rewrite.calls,
        calls.web <= web.calls,
        calls.generate <= generate.calls,
        calls.grounding <= grounding.calls,
        calls.usefulness <= usefulness.calls,
        calls.charged() <= total.calls,
    ];
    ensure(within.iter().all(|&within| within), || format!("{calls:?}, estimated {upper:?}"))
}
