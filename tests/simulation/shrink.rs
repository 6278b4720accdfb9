//! From a failing seed to the shortest trace found: smaller worlds and the seeds beside it.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use countercheck::pipeline::budget::Limits;
use countercheck::pipeline::run::{Effect, Reply};
use countercheck::pipeline::task::{Task, TaskReply};

use crate::driver::{Delivery, End, Performed, drive};
use crate::world::{KINDS, Scenario, Slot, kind};
use crate::{Failed, examine};

const NEIGHBOURS: u64 = 300;
const MOST_TRIES: usize = 4_000;

/// How much there is to read: orders, those that were not healthy, options out of the ordinary.
fn size(scenario: &Scenario) -> (usize, usize, usize) {
    let slots = slots(scenario);
    let wild = slots.iter().filter(|slot| !scenario.tame.contains(slot)).count();
    let odd = usize::from(scenario.limits.deadline != Limits::default().deadline)
        + usize::from(scenario.start != 0)
        + usize::from(scenario.limits.max_calls < 200)
        + usize::from(scenario.limits.retries > 0)
        + usize::from(scenario.takes < usize::MAX)
        + usize::from(scenario.cancelled_at.is_some())
        + usize::from(scenario.latency > 0);
    (slots.len(), wild, odd + scenario.hits + scenario.strategy.k + scenario.strategy.max_retries as usize)
}

/// The slots that a run of the scenario fills; none when it ends in a panic.
fn slots(scenario: &Scenario) -> Vec<Slot> {
    let run = || drive(scenario, Delivery::Arrival).performed;
    let performed = catch_unwind(AssertUnwindSafe(run)).unwrap_or_default();
    let mut counts = [0; KINDS];
    let slot = |one: &Performed| {
        let kind = kind(&one.effect);
        counts[usize::from(kind)] += 1;
        (kind, counts[usize::from(kind)] - 1)
    };
    performed.iter().map(slot).collect()
}

/// The smallest scenario found that breaks the same invariant.
pub fn shortest(failed: &Failed) -> Failed {
    let same = |scenario: &Scenario| examine(scenario).err().filter(|f| f.invariant == failed.invariant);
    let mut best = failed.clone();
    let mut least = size(&best.scenario);
    for seed in best.scenario.seed.saturating_sub(NEIGHBOURS)..=best.scenario.seed.saturating_add(NEIGHBOURS) {
        if let Some(found) = same(&Scenario::new(seed))
            && size(&found.scenario) < least
        {
            least = size(&found.scenario);
            best = found;
        }
    }
    let mut tries = 0;
    'smaller: while tries < MOST_TRIES {
        for candidate in smaller(&best.scenario) {
            tries += 1;
            if let Some(found) = same(&candidate)
                && size(&found.scenario) < least
            {
                least = size(&found.scenario);
                best = found;
                continue 'smaller;
            }
        }
        break;
    }
    best
}

fn smaller(scenario: &Scenario) -> Vec<Scenario> {
    let mut found = Vec::new();
    let mut with = |change: &dyn Fn(&mut Scenario)| {
        let mut candidate = scenario.clone();
        change(&mut candidate);
        found.push(candidate);
    };
    with(&|s| s.cancelled_at = None);
    with(&|s| s.start = 0);
    with(&|s| s.latency = 0);
    with(&|s| s.limits.deadline = Limits::default().deadline);
    with(&|s| s.limits.max_calls = 200);
    with(&|s| s.limits.retries = 0);
    with(&|s| s.takes = usize::MAX);
    for hits in 0..scenario.hits {
        with(&|s| s.hits = hits);
    }
    for k in 1..scenario.strategy.k {
        with(&|s| {
            s.strategy.k = k;
            s.hits = s.hits.min(k);
        });
    }
    for retries in 0..scenario.strategy.max_retries {
        with(&|s| s.strategy.max_retries = retries);
    }
    for calls in 0..scenario.limits.max_calls.min(26) {
        with(&|s| s.limits.max_calls = calls);
    }
    for slot in slots(scenario).into_iter().filter(|slot| !scenario.tame.contains(slot)) {
        with(&|s| s.tame.extend([slot]));
    }
    found
}

/// What to show of a failure: the trace, and how to see it again.
pub fn describe(first: &Failed, least: &Failed) -> String {
    let mut text = format!("seed {}: {}: {}\n", first.scenario.seed, first.invariant, first.detail);
    let _ = writeln!(text, "rerun: npm run sim -- --seeds 1 --from {}", first.scenario.seed);
    let _ = writeln!(text, "shortest trace found: {}\n{:?}", least.detail, least.scenario);
    let Ok(history) = catch_unwind(AssertUnwindSafe(|| drive(&least.scenario, Delivery::Arrival))) else { return text };
    for (n, one) in history.performed.iter().enumerate() {
        let (ask, reply) = (effect(&one.effect), reply(&one.reply));
        let (from, to, called, may_call) = (one.ordered_at, one.arrives_at, one.called, one.may_call);
        let _ = writeln!(text, "  {n:>3}  {from}…{to}  {ask} = {reply} ({called} of {may_call} calls)");
    }
    let events: Vec<String> = history.events.iter().map(|event| format!("{event:?}")).collect();
    let _ = writeln!(text, "events: {}", events.join(", "));
    let _ = match &history.end {
        End::Done(Ok(answer)) => writeln!(
            text,
            "answer: {:?} {:?} {:?} grounded {:?} useful {:?} attempts {} {:?}",
            answer.outcome, answer.reason, answer.text, answer.grounded, answer.useful, answer.attempts, answer.calls
        ),
        end => writeln!(text, "end: {end:?}"),
    };
    text
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Retrieve { k, .. } => format!("retrieve {k}"),
        Effect::SearchWeb { query, .. } => format!("search {query:?}"),
        Effect::Ask(Task::GradePassages(task)) => {
            let ids: Vec<&str> = task.passages.iter().map(|p| p.id.as_str()).collect();
            format!("grade {} again {}", ids.join(" "), task.again)
        }
        Effect::Ask(Task::DecideRetrieval(_)) => "retrieve?".to_owned(),
        Effect::Ask(Task::RewriteQuery(task)) => format!("rewrite {:?}", task.tried),
        Effect::Ask(Task::Generate(task)) => {
            let ids: Vec<&str> = task.passages.iter().map(|p| p.id.as_str()).collect();
            format!("generate from {} without {:?} strict {}", ids.join(" "), task.rejected, task.strict)
        }
        Effect::Ask(Task::CheckGrounding(task)) => format!("grounded {:?} again {}", task.draft.text, task.again),
        Effect::Ask(Task::CheckUsefulness(task)) => format!("useful {:?} again {}", task.draft, task.again),
        Effect::Ask(Task::GenerateSegment(_) | Task::Reflect(_) | Task::CheckClaims(_) | Task::Repair(_)) => {
            "of another strategy".to_owned()
        }
    }
}

fn reply(reply: &Reply) -> String {
    let ids = |ids: Vec<&str>| ids.join(" ");
    match reply {
        Reply::Hits(hits) => format!("hits {}", ids(hits.iter().map(|h| h.passage.id.as_str()).collect())),
        Reply::ByWords(hits, failure) => format!("{} hits by words, {failure}", hits.len()),
        Reply::Web(pages) => format!("pages {}", ids(pages.iter().map(|p| p.id.as_str()).collect())),
        Reply::Task(TaskReply::Draft(draft)) => format!("{draft:?}"),
        Reply::Task(reply) => format!("{reply:?}"),
        Reply::Failed(failure) => format!("failed: {failure}"),
    }
}
