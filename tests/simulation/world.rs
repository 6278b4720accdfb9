//! A world drawn from a seed: the options of a run, and what becomes of each effect. The reply to the
//! n-th effect of a kind depends on the seed, the kind and n alone, never on the order in which
//! replies are delivered; a smaller world for the same seed says the same.

use std::collections::BTreeSet;

use countercheck::document::{Hit, Origin, Passage, Span};
use countercheck::pipeline::budget::{Limits, Millis, Tokens};
use countercheck::pipeline::decision::{Domain, Grading, Rule};
use countercheck::pipeline::run::{Effect, Reply};
use countercheck::pipeline::strategy::{Checks, MAX_K, MAX_RETRIES, OnExhaustion, Options, Strategy, WebUse};
use countercheck::pipeline::task::{Draft, Failure, Generate, Grade, Quote, Task, TaskReply};
use countercheck::pipeline::verdict::{Check, Retrieval, Scale, Support, Verdict};

use crate::random::Random;

pub const QUESTION: &str = "Größe ändern — how?";

/// What the web is like in this world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Web {
    NotConfigured,
    Failing,
    Empty,
    /// Few pages, found again and again, some of them blank or copies of local passages.
    Duplicates,
    Fresh,
    /// Any of the above, from search to search.
    Moody,
}

/// Everything that a seed decides ahead of the run.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub seed: u64,
    pub strategy: Strategy,
    pub limits: Limits,
    /// The clock at the start.
    pub start: Millis,
    /// How many passages the index has for the question.
    pub hits: usize,
    pub web: Web,
    /// The most passages that the generator takes.
    pub takes: usize,
    /// Percent of effects that go wrong.
    pub faults: usize,
    /// Percent of grades, groundings and usefulness verdicts that are yes; half of the rest is no.
    pub yes: [usize; 3],
    /// The longest that a reply takes.
    pub latency: usize,
    /// The run is dropped before this step.
    pub cancelled_at: Option<usize>,
    /// Effects that get the reply of a healthy world; the shrinker names them.
    pub tame: BTreeSet<Slot>,
}

/// An effect's kind, and how many of the kind were ordered before it.
pub type Slot = (u8, usize);

/// The kinds that are counted apart.
pub fn kind(effect: &Effect) -> u8 {
    match effect {
        Effect::Retrieve { .. } => 0,
        Effect::SearchWeb { .. } => 1,
        Effect::Ask(Task::GradePassages(task)) => 2 + u8::from(task.again),
        Effect::Ask(Task::RewriteQuery(_)) => 4,
        Effect::Ask(Task::Generate(_)) => 5,
        Effect::Ask(Task::CheckGrounding(_)) => 6,
        Effect::Ask(Task::CheckUsefulness(_)) => 7,
        Effect::Ask(Task::DecideRetrieval(_)) => 8,
        Effect::Ask(Task::GenerateSegment(_)) => 9,
        Effect::Ask(Task::Reflect(_)) => 10,
        Effect::Ask(Task::CheckClaims(_) | Task::Repair(_)) => 11,
    }
}

/// `self-rag` and `countercheck` have scripted worlds of their own.
const OF_OTHERS: &str = "no preset here writes segments or checks claims";

/// How many kinds there are.
pub const KINDS: usize = 12;

/// What becomes of an effect.
pub struct Fate {
    pub reply: Reply,
    pub called: u32,
    /// `None`: no reply ever comes.
    pub latency: Option<Millis>,
}

impl Scenario {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let k = if random.chance(3) { 1 + random.below(MAX_K) } else { 1 + random.below(6) };
        let preset = match random.below(20) {
            0..2 => Strategy::naive(),
            2..4 => Strategy::corrective(),
            4..8 => Strategy::corrective_scored(),
            8..12 => Strategy::self_rag_prompted(),
            _ => Strategy::self_reflective(),
        };
        let on_exhaustion = [OnExhaustion::Best, OnExhaustion::Best, OnExhaustion::Last, OnExhaustion::Abstain];
        let domains = [Domain::Medical, Domain::Legal, Domain::General, Domain::Ecommerce];
        let scored = preset.grading.is_some_and(|grading| grading.scale() == Scale::Graded);
        let options = Options {
            k: Some(k),
            max_retries: Some(random.below(MAX_RETRIES as usize + 1) as u32),
            rule: scored.then(|| random.pick(&[Rule::Average, Rule::Max])),
            domain: (scored && random.chance(50)).then(|| random.pick(&domains)),
            on_exhaustion: Some(random.pick(&on_exhaustion)),
            batch: (preset.grading.is_some() && random.chance(30)).then_some(true),
            ..Options::default()
        };
        let mut strategy = preset.with(options).expect("all are in range");
        if random.chance(50) {
            strategy.web.results = random.below(6).min(strategy.web.results);
        }
        if random.chance(15) {
            unlike_any_preset(&mut strategy, &mut random);
        }
        let deadline = if random.chance(75) { 60_000 } else { random.pick(&[0, 1, 500, 4_000, 20_000, u64::MAX]) };
        let max_calls = if random.chance(30) { 200 } else { random.below(26) as u32 };
        let web = [Web::NotConfigured, Web::Failing, Web::Empty, Web::Duplicates, Web::Fresh, Web::Moody];
        Self {
            seed,
            strategy,
            limits: Limits::within(max_calls, deadline, random.pick(&[0, 1, 2, 5])),
            start: if random.chance(3) { u64::MAX - 1_000 } else { random.pick(&[0, 1_790_000_000_000]) },
            hits: random.below(k + 1).max(random.below(k + 1)),
            web: random.pick(&web),
            takes: if random.chance(20) { 1 + random.below(k) } else { usize::MAX },
            faults: random.pick(&[0, 0, 3, 10, 40]),
            yes: std::array::from_fn(|_| random.pick(&[0, 30, 60, 90, 100])),
            latency: random.pick(&[0, 50, 50, 4_000]),
            cancelled_at: random.chance(10).then(|| random.below(30)),
            tame: BTreeSet::new(),
        }
    }

    /// What becomes of the effect in that slot, for which the driver may call so often.
    pub fn fate(&self, slot: Slot, effect: &Effect, may_call: u32) -> Fate {
        let (kind, n) = slot;
        let mut random = Random::new(self.seed, 1 + u64::from(kind) + 16 * n as u64);
        if self.tame.contains(&slot) {
            return Fate { reply: self.healthy(n, effect), called: may_call.min(1), latency: Some(0) };
        }
        let latency = Some(random.below(self.latency + 1) as Millis);
        if random.chance(self.faults) {
            let called = random.below(may_call as usize + 1) as u32;
            let (reply, latency) = fault(n, effect, latency, &mut random);
            return Fate { reply, called, latency };
        }
        let reply = self.regular(n, effect, &mut random);
        let called = match (&reply, random.below(100)) {
            (Reply::Failed(Failure::NotConfigured { .. }), _) | (_, 0..2) => 0, // a cache may have had it
            (_, 2..10) => (1 + random.below(may_call as usize) as u32).min(may_call),
            _ => may_call.min(1),
        };
        Fate { reply, called, latency }
    }

    /// What the reply in that slot took; in some worlds services do not always say.
    pub fn tokens(&self, (kind, n): Slot) -> Option<Tokens> {
        let silent = Random::new(self.seed, u64::MAX / 2).pick(&[0, 0, 2, 30]);
        let mut random = Random::new(self.seed, u64::MAX - u64::from(kind) - 8 * n as u64);
        let most = if random.chance(1) { u32::MAX as usize } else { 2_000 };
        let tokens = Tokens { input: random.below(most) as u32, output: random.below(300) as u32 };
        (!random.chance(silent)).then_some(tokens)
    }

    /// A reply of the right form, good or bad as this world is.
    fn regular(&self, n: usize, effect: &Effect, random: &mut Random) -> Reply {
        Reply::Task(match effect {
            Effect::Retrieve { .. } => match self.healthy(n, effect) {
                Reply::Hits(hits) if random.chance(20) => {
                    return Reply::ByWords(hits, service_failed("embedding model", n));
                }
                found => return found,
            },
            Effect::SearchWeb { limit, .. } => return self.search(n, *limit, random),
            Effect::Ask(Task::DecideRetrieval(_)) => TaskReply::Retrieval(random.pick(&[
                Retrieval::Yes,
                Retrieval::Yes,
                Retrieval::No,
                Retrieval::Continue,
                Retrieval::Unknown,
            ])),
            Effect::Ask(Task::GradePassages(task)) => {
                TaskReply::Grades(task.passages.iter().map(|_| self.grade(task.scale, random)).collect())
            }
            Effect::Ask(Task::RewriteQuery(task)) => TaskReply::Query(match random.below(8) {
                0 => " \n".to_owned(),
                1 => format!(" {} ", task.tried[random.below(task.tried.len())]),
                2 => QUESTION.to_owned(),
                _ => format!(" query {n}"),
            }),
            Effect::Ask(Task::Generate(task)) if task.passages.len() > self.takes => return Reply::Failed(TOO_LONG),
            Effect::Ask(Task::Generate(task)) => TaskReply::Draft(draft(n, task, random)),
            Effect::Ask(Task::CheckGrounding(task)) => match (task.scale, self.verdict(1, random)) {
                (Scale::Graded, Verdict::Yes) => TaskReply::Support(Support::Fully),
                (Scale::Graded, Verdict::No) => TaskReply::Support(random.pick(&[Support::Partially, Support::None])),
                (Scale::Graded, Verdict::Unknown) => TaskReply::Support(Support::Unknown),
                (Scale::Binary, verdict) => TaskReply::Verdict(verdict),
            },
            Effect::Ask(Task::CheckUsefulness(task)) => match (task.scale, self.verdict(2, random)) {
                (Scale::Graded, Verdict::Yes) => TaskReply::Rating(random.pick(&[3, 4, 5])),
                (Scale::Graded, Verdict::No) => TaskReply::Rating(random.pick(&[1, 2])),
                (Scale::Graded, Verdict::Unknown) if random.chance(50) => TaskReply::Rating(random.pick(&[0, 6, 255])),
                (_, verdict) => TaskReply::Verdict(verdict),
            },
            Effect::Ask(Task::GenerateSegment(_) | Task::Reflect(_) | Task::CheckClaims(_) | Task::Repair(_)) => {
                unreachable!("{OF_OTHERS}")
            }
        })
    }

    /// What a world without faults says, in which everything is relevant, grounded and useful.
    fn healthy(&self, n: usize, effect: &Effect) -> Reply {
        Reply::Task(match effect {
            Effect::Retrieve { k, .. } => {
                let hit = |i| Hit {
                    passage: passage(i, Origin::Local),
                    score: 1.0,
                    lexical: 1.0,
                    dense: None,
                    explanation: None,
                };
                return Reply::Hits((0..self.hits.min(*k)).map(hit).collect());
            }
            Effect::SearchWeb { .. } => return Reply::Web(vec![passage(1000 + 10 * n, Origin::Web)]),
            Effect::Ask(Task::DecideRetrieval(_)) => TaskReply::Retrieval(Retrieval::Yes),
            Effect::Ask(Task::GradePassages(task)) => {
                TaskReply::Grades(vec![Grade { verdict: Verdict::Yes, score: Some(1.0) }; task.passages.len()])
            }
            Effect::Ask(Task::RewriteQuery(_)) => TaskReply::Query(format!("query {n}")),
            Effect::Ask(Task::Generate(_)) => {
                TaskReply::Draft(Draft { text: format!("Draft {n}."), ..Draft::default() })
            }
            Effect::Ask(Task::CheckUsefulness(task)) if task.scale == Scale::Graded => TaskReply::Rating(5),
            Effect::Ask(Task::CheckGrounding(task)) if task.scale == Scale::Graded => {
                TaskReply::Support(Support::Fully)
            }
            Effect::Ask(Task::CheckGrounding(_) | Task::CheckUsefulness(_)) => TaskReply::Verdict(Verdict::Yes),
            Effect::Ask(Task::GenerateSegment(_) | Task::Reflect(_) | Task::CheckClaims(_) | Task::Repair(_)) => {
                unreachable!("{OF_OTHERS}")
            }
        })
    }

    /// By degrees the verdict beside the score is anybody's guess, the score may be at a threshold, and
    /// none may be one that nobody can use.
    fn grade(&self, scale: Scale, random: &mut Random) -> Grade {
        let verdict = self.verdict(0, random);
        if scale == Scale::Binary {
            let score = random.chance(50).then(|| random.below(1000) as f64 / 1000.0);
            return Grade { verdict, score };
        }
        let score = match verdict {
            Verdict::Yes => Some(random.pick(&[0.51, 0.6, 0.7, 0.71, 0.8, 0.85, 0.9, 1.0])),
            Verdict::No => Some(random.pick(&[0.0, 0.1, 0.25, 0.3, 0.31, 0.45, 0.5])),
            Verdict::Unknown => random.pick(&[None, None, Some(f64::NAN), Some(1.7), Some(-0.2)]),
        };
        Grade { verdict: random.pick(&[Verdict::Yes, Verdict::No, Verdict::Unknown]), score }
    }

    fn verdict(&self, which: usize, random: &mut Random) -> Verdict {
        if random.chance(self.yes[which]) { Verdict::Yes } else { random.pick(&[Verdict::No, Verdict::Unknown]) }
    }

    fn search(&self, n: usize, limit: usize, random: &mut Random) -> Reply {
        let service = "web search";
        let moods = [Web::NotConfigured, Web::Failing, Web::Empty, Web::Duplicates, Web::Fresh];
        let web = if self.web == Web::Moody { random.pick(&moods) } else { self.web };
        let count = random.below(limit + 1);
        match web {
            Web::NotConfigured => Reply::Failed(Failure::NotConfigured { service }),
            Web::Failing => Reply::Failed(service_failed(service, 0)),
            Web::Duplicates => Reply::Web((0..count).map(|_| page(random.below(6))).collect()),
            Web::Fresh => Reply::Web((0..count).map(|i| passage(1000 + 10 * n + i, Origin::Web)).collect()),
            Web::Empty | Web::Moody => Reply::Web(Vec::new()),
        }
    }
}

/// What no preset is, but the fields allow.
fn unlike_any_preset(strategy: &mut Strategy, random: &mut Random) {
    let rules = [Rule::AnyIrrelevant, Rule::Average, Rule::Max];
    strategy.decides_retrieval = random.chance(30);
    strategy.grading = random.chance(70).then(|| Grading {
        min_relevant: random.below(4),
        batched: random.chance(50),
        ..Grading::by(random.pick(&rules))
    });
    strategy.web = WebUse { results: random.below(6), graded: random.chance(50), for_the_gap: false };
    let orders = [
        &[][..],
        &[Check::Grounding],
        &[Check::Usefulness],
        &[Check::Grounding, Check::Usefulness],
        &[Check::Usefulness, Check::Grounding],
    ];
    strategy.checks = Checks {
        order: random.pick(&orders),
        scale: random.pick(&[Scale::Binary, Scale::Graded]),
        usefulness_floor: 1 + random.below(5) as u8,
        by_claim: None,
        strict_retry: random.chance(50),
    };
}

const TOO_LONG: Failure = Failure::TooLong { service: "model" };

fn service_failed(service: &'static str, n: usize) -> Failure {
    let (code, detail) = ("upstream_error", format!("HTTP 50{}", n % 5));
    Failure::Service { service, code, detail, retry_after: (n % 2 == 1).then_some(1_000) }
}

/// An effect that goes wrong, and when that is known.
fn fault(n: usize, effect: &Effect, latency: Option<Millis>, random: &mut Random) -> (Reply, Option<Millis>) {
    let service = "model";
    match random.below(7) {
        0 => (Reply::Failed(service_failed(service, n)), latency),
        1 => (Reply::Failed(Failure::Malformed { task: "any" }), latency),
        2 => (Reply::Failed(Failure::NotConfigured { service }), latency),
        3 => (Reply::Failed(Failure::Deadline), None),
        4 => (Reply::Failed(TOO_LONG), latency),
        _ => (wrong_reply(n, effect, random), latency),
    }
}

/// A passage with characters of one, two and three bytes; local and web ones differ in id, and each
/// fourth begins with the same hundred characters.
pub fn passage(i: usize, origin: Origin) -> Passage {
    let alike = if i % 4 == 3 { "Größe — ".repeat(13) } else { String::new() };
    let text = format!("{alike}Größe {i} — naïve.");
    let document = if origin == Origin::Web { "web" } else { "doc" };
    Passage {
        id: format!("{document}#{i}"),
        document: document.to_owned(),
        url: String::new(),
        title: String::new(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start: 100 * i + 7, end: 100 * i + 7 + text.len() },
        text,
        origin,
    }
}

/// One of the few pages of [`Web::Duplicates`]: 0 and 1 say what local passages say, 5 says nothing.
fn page(i: usize) -> Passage {
    let mut page = passage(if i < 2 { i } else { 900 + i }, Origin::Web);
    if i == 5 {
        " \n".clone_into(&mut page.text);
    }
    page
}

fn draft(n: usize, task: &Generate, random: &mut Random) -> Draft {
    let text = match random.below(12) {
        0 => random.pick(&["", " \n\t"]).to_owned(),
        1 | 2 if !task.rejected.is_empty() => task.rejected[random.below(task.rejected.len())].text.clone(),
        _ => format!("Draft {n} [1]."),
    };
    let most = if task.passages.is_empty() { 1 } else { 4 };
    let quotes = (0..random.below(most)).map(|_| quote(&task.passages, random)).collect();
    Draft { text, quotes, truncated: random.chance(6) }
}

/// A quote of at least one character, on character boundaries.
fn quote(passages: &[Passage], random: &mut Random) -> Quote {
    let passage = random.below(passages.len());
    let text = &passages[passage].text;
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at += 1;
        }
        at
    };
    // The text's last character has one byte.
    let start = boundary(random.below(text.len()));
    let end = boundary(start + 1 + random.below(text.len() - start));
    Quote { passage, span: Span { start, end } }
}

/// A reply that does not fit its effect.
fn wrong_reply(n: usize, effect: &Effect, random: &mut Random) -> Reply {
    let grade = Grade { verdict: random.pick(&[Verdict::Yes, Verdict::No]), score: Some(0.9) };
    match effect {
        Effect::Ask(Task::GradePassages(task)) if random.chance(60) => {
            let count = task.passages.len() + random.below(3);
            return Reply::Task(TaskReply::Grades(vec![grade; if count == task.passages.len() { 0 } else { count }]));
        }
        Effect::Ask(Task::CheckGrounding(_)) if random.chance(20) => return Reply::Task(TaskReply::Rating(5)),
        Effect::Ask(Task::CheckUsefulness(_)) if random.chance(20) => {
            return Reply::Task(TaskReply::Support(Support::Fully));
        }
        Effect::Ask(Task::Generate(task)) if random.chance(80) => {
            let mut draft = Draft { text: format!("Made up {n} [1]."), ..draft(n, task, random) };
            draft.quotes.push(bad_quote(&task.passages, random));
            return Reply::Task(TaskReply::Draft(draft));
        }
        _ => {}
    }
    let verdict = |effect: &Effect| matches!(effect, Effect::Ask(Task::CheckGrounding(_) | Task::CheckUsefulness(_)));
    match random.below(6) {
        0 if !matches!(effect, Effect::Retrieve { .. }) => Reply::Hits(Vec::new()),
        1 if !matches!(effect, Effect::SearchWeb { .. }) => Reply::Web(vec![passage(2000 + n, Origin::Web)]),
        2 if !verdict(effect) => Reply::Task(TaskReply::Verdict(grade.verdict)),
        3 if !matches!(effect, Effect::Ask(Task::Generate(_))) => Reply::Task(TaskReply::Draft(Draft::default())),
        4 if !matches!(effect, Effect::Ask(Task::GradePassages(_))) => Reply::Task(TaskReply::Grades(vec![grade])),
        _ if !matches!(effect, Effect::Ask(Task::RewriteQuery(_))) => Reply::Task(TaskReply::Query("yes".to_owned())),
        _ => Reply::Task(TaskReply::Verdict(Verdict::Yes)),
    }
}

/// Out of range, backwards, empty, or within a character.
fn bad_quote(passages: &[Passage], random: &mut Random) -> Quote {
    let passage = random.below(passages.len());
    let len = passages.get(passage).map_or(0, |p| p.text.len());
    let (passage, start, end) = match random.below(6) {
        0 => (passages.len(), 0, 1),
        1 => (passage, 0, len + 1),
        2 => (passage, 3, 2),
        3 => (passage, 4, 4),
        4 => (passage, 3, 6), // "Grö" has the bytes 0…3, ö is 2 and 3
        _ => (passage, usize::MAX - 1, usize::MAX),
    };
    Quote { passage, span: Span { start, end } }
}
