//! What a history means, read from what was asked and replied alone: grades, drafts and their
//! verdicts. It decides nothing about the path; it is what the invariants compare the answer with.

use countercheck::document::{Hit, Passage};
use countercheck::pipeline::budget::Call;
use countercheck::pipeline::run::{Effect, Reply};
use countercheck::pipeline::strategy::Strategy;
use countercheck::pipeline::task::{
    CheckGrounding, CheckUsefulness, Draft, Failure, Generate, Grade, GradePassages, MAX_BATCH, Task, TaskReply,
};
use countercheck::pipeline::verdict::{Check, Retrieval, Scale, Support, Verdict};

use crate::driver::Performed;
use crate::spending::kept;
use crate::world::Scenario;

/// A draft that could be used, and what its checks said.
pub struct Written<'a> {
    pub draft: &'a Draft,
    pub task: &'a Generate,
    pub grounding: Said,
    pub usefulness: Said,
}

/// What a check said: its flag, and in the words of its scale.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Said {
    pub verdict: Verdict,
    pub support: Option<Support>,
    pub rating: Option<u8>,
}

/// A passage that was graded: a hit, or what a search brought.
#[derive(Debug, Clone, Copy)]
pub struct Graded<'a> {
    pub passage: &'a Passage,
    /// After both rounds.
    pub grade: Grade,
    /// The search that brought it, from 1; 0 for a hit.
    pub search: usize,
    times: usize,
}

/// A request for a draft.
pub struct Asked<'a> {
    pub task: &'a Generate,
    pub reply: &'a Reply,
    /// How many drafts there were before it.
    pub drafts: usize,
    /// The request before it was too long: this is the same with half the passages.
    pub again: bool,
}

/// A check of a draft: asked once, or twice.
pub struct Checked {
    /// The index of the draft.
    pub written: usize,
    pub check: Check,
    pub said: Said,
    twice: bool,
}

/// What there is between question and answer, in order.
#[derive(Default)]
pub struct Model<'a> {
    pub hits: &'a [Hit],
    /// The search of the index came back.
    pub retrieved: bool,
    pub retrieval_failed: Option<&'a Failure>,
    /// What was said on whether to retrieve.
    pub retrieval: Option<Retrieval>,
    /// In the order in which they were first graded.
    pub graded: Vec<Graded<'a>>,
    pub written: Vec<Written<'a>>,
    pub checked: Vec<Checked>,
    pub generate: Vec<Asked<'a>>,
    /// The last of them, if it was too long and may be made again with half its passages.
    pub too_long: Option<&'a Generate>,
    /// Why the last draft could not be used, where a provider is at fault.
    pub generate_failed: Option<Failure>,
    pub repeated: bool,
    /// Queries in order, with what came back.
    pub searches: Vec<(&'a str, Option<&'a [Passage]>)>,
    /// Asked of the wrong draft, in the wrong order or once too often.
    pub misplaced: Vec<String>,
    keep: f64,
    batch: usize,
    floor: u8,
    /// What may be spent on grades by the step that is looked at, and how many texts it has graded.
    left: u32,
    in_step: u32,
}

impl<'a> Model<'a> {
    pub fn of(performed: &'a [Performed], scenario: &Scenario) -> Self {
        let strategy = &scenario.strategy;
        let keep = strategy.grading.map_or(0.0, |grading| grading.thresholds.keep);
        let batch = if strategy.grading.is_some_and(|grading| grading.batched) { MAX_BATCH } else { 1 };
        let mut model = Self { keep, batch, floor: strategy.checks.usefulness_floor, ..Self::default() };
        let (mut n, mut made) = (0, 0);
        for step in performed.chunk_by(|a, b| a.step == b.step) {
            let spare = scenario.limits.max_calls.saturating_sub(made);
            model.left = spare.saturating_sub(kept(strategy, Call::Grade, 0));
            model.in_step = step.iter().map(|one| graded_by(&one.effect)).sum();
            for one in step {
                model.take(n, one);
                n += 1;
                made += one.called;
            }
        }
        model.take_what_nobody_was_asked(performed, strategy);
        model
    }

    /// Where the calls were needed for the draft nobody was asked: that is as unsure as any bad reply.
    fn take_what_nobody_was_asked(&mut self, performed: &[Performed], strategy: &Strategy) {
        let begins = |decides: bool| matches!(performed[0].effect, Effect::Ask(Task::DecideRetrieval(_))) == decides;
        if strategy.decides_retrieval && !performed.is_empty() && begins(false) {
            self.retrieval = Some(Retrieval::Unknown);
        }
        if strategy.grading.is_some() && self.graded_of(0).next().is_none() {
            let ungraded = |passage| Graded { passage, grade: Grade::default(), search: 0, times: 0 };
            self.graded.extend(self.hits.iter().map(|hit| ungraded(&hit.passage)));
        }
    }

    fn take(&mut self, n: usize, one: &'a Performed) {
        match &one.effect {
            Effect::Retrieve { .. } => {
                if n != usize::from(self.retrieval.is_some()) || self.retrieval == Some(Retrieval::No) {
                    self.misplaced.push(format!("order {n} searches the index out of turn"));
                }
                match &one.reply {
                    Reply::Hits(hits) | Reply::ByWords(hits, _) => (self.hits, self.retrieved) = (hits, true),
                    Reply::Failed(failure) => self.retrieval_failed = Some(failure),
                    _ => self.retrieval_failed = Some(&Failure::Malformed { task: "retrieve" }),
                }
            }
            Effect::SearchWeb { query, .. } => {
                let results = if let Reply::Web(results) = &one.reply { Some(&results[..]) } else { None };
                self.searches.push((query, results));
            }
            Effect::Ask(Task::DecideRetrieval(_)) => {
                if n != 0 {
                    self.misplaced.push(format!("order {n} decides on retrieval out of turn"));
                }
                let Reply::Task(TaskReply::Retrieval(said)) = one.reply else {
                    return self.retrieval = Some(Retrieval::Unknown);
                };
                self.retrieval = Some(said);
            }
            Effect::Ask(Task::GradePassages(task)) => self.take_grades(n, task, &one.reply),
            Effect::Ask(Task::RewriteQuery(_)) => {}
            Effect::Ask(Task::GenerateSegment(_) | Task::Reflect(_) | Task::CheckClaims(_) | Task::Repair(_)) => {
                self.misplaced.push(format!("order {n} is for a strategy that none of these is"));
            }
            Effect::Ask(Task::Generate(task)) => self.take_draft(n, task, &one.reply),
            Effect::Ask(Task::CheckGrounding(task)) => {
                let CheckGrounding { draft, passages, again, .. } = task;
                let own = |w: &Written| w.draft == draft && w.task.passages == *passages;
                let said = match &one.reply {
                    Reply::Task(TaskReply::Verdict(verdict)) => Said { verdict: *verdict, ..Said::default() },
                    Reply::Task(TaskReply::Support(support)) => supported(*support),
                    _ => Said::default(),
                };
                self.take_check(n, Check::Grounding, *again, own, said);
            }
            Effect::Ask(Task::CheckUsefulness(task)) => {
                let CheckUsefulness { draft, again, .. } = task;
                let said = match &one.reply {
                    Reply::Task(TaskReply::Verdict(verdict)) => Said { verdict: *verdict, ..Said::default() },
                    Reply::Task(TaskReply::Rating(rating)) if (1..=5).contains(rating) => {
                        Said { verdict: (*rating >= self.floor).into(), rating: Some(*rating), ..Said::default() }
                    }
                    _ => Said::default(),
                };
                self.take_check(n, Check::Usefulness, *again, |w| w.draft.text == *draft, said);
            }
        }
    }

    fn take_grades(&mut self, n: usize, task: &'a GradePassages, reply: &Reply) {
        // Any other number of grades than was asked for is a reply to something else.
        let said = match reply {
            Reply::Task(TaskReply::Grades(grades)) if grades.len() == task.passages.len() => Some(grades),
            _ => None,
        };
        // Where there are no calls for one each, one grades all.
        let batch = if self.in_step > self.left { MAX_BATCH } else { self.batch };
        if task.passages.len() > if task.again { 1 } else { batch } {
            self.misplaced.push(format!("order {n} grades {} at once", task.passages.len()));
        }
        for (i, passage) in task.passages.iter().enumerate() {
            let search = self.searches.len();
            let found = match self.searches.last() {
                None => self.hits.iter().any(|hit| hit.passage == *passage),
                Some((_, results)) => results.is_some_and(|results| results.contains(passage)),
            };
            let at = self.graded.iter().position(|g| g.passage == passage);
            let due = match at {
                None => !task.again,
                Some(at) => {
                    let Graded { grade, search: own, times, .. } = self.graded[at];
                    task.again && grade.verdict == Verdict::Unknown && times == 1 && own == search
                }
            };
            if !found || !due {
                self.misplaced.push(format!("order {n} grades {} out of turn", passage.id));
            }
            let grade = said.map_or_else(Grade::default, |grades| self.judged(grades[i], task.scale));
            match at {
                Some(at) => {
                    self.graded[at].grade = grade;
                    self.graded[at].times += 1;
                }
                None => self.graded.push(Graded { passage, grade, search, times: 1 }),
            }
        }
    }

    fn judged(&self, grade: Grade, scale: Scale) -> Grade {
        let score = grade.score.filter(|score| *score >= 0.0 && *score <= 1.0);
        let by_score = score.map_or(Verdict::Unknown, |score| (score > self.keep).into());
        Grade { verdict: if scale == Scale::Graded { by_score } else { grade.verdict }, score }
    }

    /// The grades of the hits (0) or of what a search brought, from 1.
    pub fn graded_of(&self, search: usize) -> impl Iterator<Item = &Graded<'a>> {
        self.graded.iter().filter(move |graded| graded.search == search)
    }

    fn take_draft(&mut self, n: usize, task: &'a Generate, reply: &'a Reply) {
        let before = self.too_long.take();
        let half = before.map(|b| Generate { passages: b.passages[..b.passages.len() / 2].into(), ..b.clone() });
        let again = half.is_some();
        if half.is_some_and(|half| half != *task) {
            self.misplaced.push(format!("order {n} is not the request before it with half the passages"));
        }
        self.generate.push(Asked { task, reply, drafts: self.written.len(), again });
        self.generate_failed = None;
        let Reply::Task(TaskReply::Draft(draft)) = reply else {
            let failure = if let Reply::Failed(failure) = reply { Some(failure.clone()) } else { None };
            if matches!(failure, Some(Failure::TooLong { .. })) && !again && task.passages.len() > 1 {
                self.too_long = Some(task);
            }
            self.generate_failed = Some(failure.unwrap_or(Failure::Malformed { task: "Generate" }));
            return;
        };
        if !draft.quotes.iter().all(|quote| quoted(&task.passages, quote.passage, quote.span.start, quote.span.end)) {
            self.generate_failed = Some(Failure::Malformed { task: "Generate" });
        } else if self.written.iter().any(|w| w.draft.text == draft.text) {
            self.repeated = true;
        } else if !draft.text.trim().is_empty() {
            let (grounding, usefulness) = (Said::default(), Said::default());
            self.written.push(Written { draft, task, grounding, usefulness });
        }
    }

    fn take_check(&mut self, n: usize, check: Check, again: bool, own: impl Fn(&Written) -> bool, said: Said) {
        let last = self.written.len().wrapping_sub(1);
        let Some(written) = self.written.last_mut() else {
            return self.misplaced.push(format!("order {n} checks no draft"));
        };
        if !own(written) {
            self.misplaced.push(format!("order {n} checks another draft than the last"));
        }
        match check {
            Check::Grounding => written.grounding = said,
            Check::Usefulness => written.usefulness = said,
        }
        match self.checked.last_mut() {
            Some(open) if again && open.may_repeat(last, check) => {
                open.said = said;
                open.twice = true;
            }
            _ if again => self.misplaced.push(format!("order {n} asks again what was decided")),
            _ => {
                if self.checked.iter().any(|c| c.written == last && c.check == check) {
                    self.misplaced.push(format!("order {n} repeats a check"));
                }
                self.checked.push(Checked { written: last, check, said, twice: false });
            }
        }
    }

    /// The check that the last draft failed.
    pub fn last_failed(&self) -> Option<Check> {
        let last = self.checked.last()?;
        (last.written + 1 == self.written.len() && last.said.fails()).then_some(last.check)
    }

    /// The most worthy draft, of equals the earliest: grounding counts twice, and what is supported in
    /// part half.
    pub fn best(&self) -> Option<&Written<'a>> {
        let points = |said: Said| match said {
            Said { rating: Some(rating), .. } => 2 * (u32::from(rating) - 1),
            Said { support: Some(Support::Partially), .. } | Said { verdict: Verdict::Unknown, .. } => 4,
            Said { verdict: Verdict::Yes, .. } => 8,
            Said { verdict: Verdict::No, .. } => 0,
        };
        let worth = |w: &Written| 2 * points(w.grounding) + points(w.usefulness);
        let most = self.written.iter().map(worth).max()?;
        self.written.iter().find(|w| worth(w) == most)
    }
}

fn graded_by(effect: &Effect) -> u32 {
    if let Effect::Ask(Task::GradePassages(task)) = effect { task.passages.len() as u32 } else { 0 }
}

fn supported(support: Support) -> Said {
    let verdict = match support {
        Support::Fully => Verdict::Yes,
        Support::Partially | Support::None => Verdict::No,
        Support::Unknown => Verdict::Unknown,
    };
    Said { verdict, support: Some(support).filter(|_| verdict != Verdict::Unknown), rating: None }
}

impl Said {
    /// Whether a draft is withdrawn for it: not for what is supported in part.
    pub fn fails(self) -> bool {
        self.verdict == Verdict::No && self.support != Some(Support::Partially)
    }
}

impl Checked {
    /// Undecided, and asked but once.
    fn may_repeat(&self, written: usize, check: Check) -> bool {
        self.written == written && self.check == check && self.said.verdict == Verdict::Unknown && !self.twice
    }
}

impl Written<'_> {
    pub fn said(&self, check: Check) -> Said {
        match check {
            Check::Grounding => self.grounding,
            Check::Usefulness => self.usefulness,
        }
    }

    pub fn verdict(&self, check: Check) -> Verdict {
        self.said(check).verdict
    }
}

/// Whether these bytes are characters of that passage.
fn quoted(passages: &[Passage], passage: usize, start: usize, end: usize) -> bool {
    let Some(passage) = passages.get(passage) else { return false };
    let boundaries: Vec<usize> = passage.text.char_indices().map(|(at, _)| at).chain([passage.text.len()]).collect();
    start < end && boundaries.contains(&start) && boundaries.contains(&end)
}
