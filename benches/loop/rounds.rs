//! How long a question waits for its services, and for how many: every preset over a scripted solver on a
//! virtual clock. Prints a line of JSON for each run; nothing here sleeps.
//!
//! A round is a set of calls that are made at once. The `sequential` rows make one call after the other, as
//! the tutorials do (seeds R-16, C-22), over the path of `self-reflective`.
#![allow(clippy::panic, clippy::print_stdout)] // a run that does not end is a fault; the lines are the result

use countercheck::document::{Hit, Origin, Passage, Span};
use countercheck::pipeline::answer::{Answer, Question};
use countercheck::pipeline::budget::{Limits, Millis};
use countercheck::pipeline::run::{Effect, EffectId, Outcome, Reply, Run, Step};
use countercheck::pipeline::segment::{Candidate, Evidence, GenerateSegment, Token};
use countercheck::pipeline::strategy::{NAMES, Options, Strategy};
use countercheck::pipeline::task::{ClaimSaid, ClaimsSaid, Draft, Grade, Task, TaskReply};
use countercheck::pipeline::verdict::{Retrieval, Scale, Support, Verdict};
use serde_json::json;

/// What a run meets on its way.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// Every passage is relevant, the first draft passes.
    Good,
    /// The first draft is not grounded.
    OneRetry,
    /// No passage of the index is relevant; those of the web are.
    AllIrrelevant,
}

/// What is written first.
const FIRST: &str = "A first draft.";

/// How long a service takes.
fn latency(effect: &Effect) -> Millis {
    match effect {
        Effect::Retrieve { .. } => 0,
        Effect::SearchWeb { .. } => 2_000,
        Effect::Ask(Task::GradePassages(_) | Task::RewriteQuery(_)) => 400,
        Effect::Ask(
            Task::GenerateSegment(GenerateSegment { evidence: Evidence::None | Evidence::Passage(_), .. })
            | Task::Generate(_)
            | Task::Repair(_),
        ) => 1_500,
        Effect::Ask(
            Task::CheckGrounding(_)
            | Task::CheckUsefulness(_)
            | Task::CheckClaims(_)
            | Task::DecideRetrieval(_)
            | Task::GenerateSegment(_)
            | Task::Reflect(_),
        ) => 600,
    }
}

fn passage(n: usize, origin: Origin) -> Passage {
    let text = format!("Passage {n}.");
    let document = if origin == Origin::Local { "guide" } else { "web" };
    Passage {
        id: format!("{document}#{n}"),
        document: document.to_owned(),
        url: String::new(),
        title: String::new(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start: 0, end: text.len() },
        text,
        origin,
    }
}

fn reply(effect: &Effect, way: Way) -> Reply {
    let task = match effect {
        Effect::Retrieve { k, .. } => {
            let hit = |n| Hit {
                passage: passage(n, Origin::Local),
                score: 1.0,
                lexical: 1.0,
                dense: None,
                explanation: None,
            };
            return Reply::Hits((0..*k).map(hit).collect());
        }
        Effect::SearchWeb { limit, .. } => {
            return Reply::Web((100..100 + limit).map(|n| passage(n, Origin::Web)).collect());
        }
        Effect::Ask(task) => task,
    };
    Reply::Task(match task {
        Task::DecideRetrieval(_) => TaskReply::Retrieval(Retrieval::Yes),
        Task::GradePassages(task) => {
            let grade = |passage: &Passage| match (way, passage.origin) {
                (Way::AllIrrelevant, Origin::Local) => Grade { verdict: Verdict::No, score: Some(0.1) },
                _ => Grade { verdict: Verdict::Yes, score: Some(0.9) },
            };
            TaskReply::Grades(task.passages.iter().map(grade).collect())
        }
        Task::RewriteQuery(_) => TaskReply::Query("other words".to_owned()),
        Task::Generate(task) => {
            let text = if task.rejected.is_empty() { FIRST } else { "Another draft." };
            TaskReply::Draft(Draft { text: text.to_owned(), ..Draft::default() })
        }
        Task::CheckGrounding(task) => match (way == Way::OneRetry && task.draft.text == FIRST, task.scale) {
            (true, Scale::Binary) => TaskReply::Verdict(Verdict::No),
            (true, Scale::Graded) => TaskReply::Support(Support::None),
            (false, Scale::Binary) => TaskReply::Verdict(Verdict::Yes),
            (false, Scale::Graded) => TaskReply::Support(Support::Fully),
        },
        Task::CheckUsefulness(task) => match task.scale {
            Scale::Binary => TaskReply::Verdict(Verdict::Yes),
            Scale::Graded => TaskReply::Rating(5),
        },
        Task::GenerateSegment(task) => TaskReply::Candidate(candidate(&task.evidence, way)),
        Task::Reflect(_) => TaskReply::Odds(None),
        Task::CheckClaims(task) => {
            let said = |claim: &String| ClaimSaid {
                support: if way == Way::OneRetry && claim == FIRST { Support::None } else { Support::Fully },
                passage: Some(0),
                quote: task.passages[0].text.clone(),
            };
            let useful = if task.question.is_some() { Verdict::Yes } else { Verdict::Unknown };
            TaskReply::Claims(ClaimsSaid { claims: task.claims.iter().map(said).collect(), useful })
        }
        Task::Repair(task) => TaskReply::Repairs(vec!["It works.".to_owned(); task.claims.len()]),
    })
}

/// What a checkpoint with reflection tokens writes: one segment. It has no web and no second try, so in place
/// of a retry it meets a passage that does not support it.
fn candidate(evidence: &Evidence, way: Way) -> Candidate {
    let Evidence::Passage(passage) = evidence else {
        return written(&["[Retrieval]"]);
    };
    let relevant = if way == Way::AllIrrelevant { "[Irrelevant]" } else { "[Relevant]" };
    let unsupported = way == Way::OneRetry && passage.id == "guide#0";
    let supported = if unsupported { "[No support / Contradictory]" } else { "[Fully supported]" };
    written(&[relevant, "Draft.", supported, "[Utility:5]"])
}

fn written(tokens: &[&str]) -> Candidate {
    let token = |text: &&str| Token { text: (*text).to_owned(), logprob: Some(-0.1), top: Vec::new() };
    Candidate { text: tokens.concat(), tokens: tokens.iter().map(token).collect(), ..Candidate::default() }
}

/// A call under way, and when it ends.
struct Open {
    id: EffectId,
    effect: Effect,
    ends: Millis,
}

/// The answer, the rounds and when it was there.
struct Driven {
    answer: Answer,
    rounds: u32,
    makespan: Millis,
}

fn drive(strategy: &Strategy, way: Way, sequential: bool) -> Driven {
    let question = Question::new("How do I rotate a key?").unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::new(question, strategy.clone(), Limits::of(strategy), 0);
    let (mut now, mut rounds, mut open) = (0, 0, Vec::<Open>::new());
    loop {
        let step = run.next_step();
        open.retain(|open| run.is_open(open.id));
        match step {
            Step::Done(answer) => {
                let answer = (*answer).unwrap_or_else(|error| panic!("{error}"));
                return Driven { answer, rounds, makespan: now };
            }
            Step::Perform(orders) => {
                let mut began = now;
                let services = orders.iter().filter(|order| latency(&order.effect) > 0).count() as u32;
                rounds += if sequential { services } else { services.min(1) };
                for order in orders {
                    let ends = began + latency(&order.effect);
                    began = if sequential { ends } else { now };
                    open.push(Open { id: order.id, effect: order.effect, ends });
                }
            }
            Step::Wait => {
                let next = (0..open.len()).min_by_key(|&i| open[i].ends).unwrap_or_else(|| panic!("nothing is open"));
                let Open { id, effect, ends } = open.remove(next);
                now = ends;
                let called = u32::from(!matches!(effect, Effect::Retrieve { .. }));
                let outcome = Outcome::without_tokens(reply(&effect, way), called);
                run.resolve(id, outcome, now).unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }
}

fn main() {
    let ways = [("good path", Way::Good), ("one retry", Way::OneRetry), ("all irrelevant", Way::AllIrrelevant)];
    for (path, way) in ways {
        for k in [4, 8] {
            let preset = |name: &str| {
                let options = Options { k: Some(k), ..Options::default() };
                Strategy::named(name).and_then(|s| s.with(options)).unwrap_or_else(|error| panic!("{error}"))
            };
            let print = |name: &str, strategy: &Strategy, sequential: bool| {
                let Driven { answer, rounds, makespan } = drive(strategy, way, sequential);
                let (calls, outcome) = (answer.calls.charged(), answer.outcome);
                println!(
                    "{}",
                    json!({ "strategy": name, "path": path, "k": k, "calls": calls, "rounds": rounds, "ms": makespan, "outcome": outcome })
                );
            };
            for name in NAMES {
                print(name, &preset(name), false);
            }
            print("countercheck, speculating", &Strategy { speculates: true, ..preset("countercheck") }, false);
            print("sequential", &preset("self-reflective"), true);
        }
    }
}
