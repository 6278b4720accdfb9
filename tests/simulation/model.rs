//! What a history means, read from what was asked and replied alone: grades, drafts and their
//! verdicts. It decides nothing about the path; it is what the invariants compare the answer with.

use countercheck::document::{Hit, Passage};
use countercheck::pipeline::run::{Effect, Reply};
use countercheck::pipeline::task::{Draft, Failure, Generate, Grade, Task, TaskReply};
use countercheck::pipeline::verdict::{Check, Verdict};

use crate::driver::Performed;

/// A draft that could be used, and what its checks said.
pub struct Written<'a> {
    pub draft: &'a Draft,
    pub task: &'a Generate,
    pub grounding: Verdict,
    pub usefulness: Verdict,
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
    pub verdict: Verdict,
    twice: bool,
}

/// What there is between question and answer, in order.
#[derive(Default)]
pub struct Model<'a> {
    pub hits: &'a [Hit],
    pub retrieval_failed: Option<&'a Failure>,
    /// Of each hit, after both rounds.
    pub grades: Vec<Grade>,
    /// How often each was asked for.
    graded: Vec<usize>,
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
}

impl<'a> Model<'a> {
    pub fn of(performed: &'a [Performed]) -> Self {
        let mut model = Self::default();
        for (n, one) in performed.iter().enumerate() {
            model.take(n, one);
        }
        model
    }

    fn take(&mut self, n: usize, one: &'a Performed) {
        match &one.effect {
            Effect::Retrieve { .. } => {
                if n != 0 {
                    self.misplaced.push(format!("order {n} searches the index again"));
                }
                match &one.reply {
                    Reply::Hits(hits) | Reply::ByWords(hits, _) => self.hits = hits,
                    Reply::Failed(failure) => self.retrieval_failed = Some(failure),
                    _ => self.retrieval_failed = Some(&Failure::Malformed { task: "retrieve" }),
                }
                self.grades = vec![Grade::default(); self.hits.len()];
                self.graded = vec![0; self.hits.len()];
            }
            Effect::SearchWeb { query, .. } => {
                let results = if let Reply::Web(results) = &one.reply { Some(&results[..]) } else { None };
                self.searches.push((query, results));
            }
            Effect::Ask(Task::GradePassages(task)) => self.take_grade(n, &task.passages, task.again, &one.reply),
            Effect::Ask(Task::RewriteQuery(_)) => {}
            Effect::Ask(Task::Generate(task)) => self.take_draft(n, task, &one.reply),
            Effect::Ask(Task::CheckGrounding(task)) => {
                let own = |w: &Written| *w.draft == task.draft && w.task.passages == task.passages;
                self.take_check(n, Check::Grounding, task.again, own, &one.reply);
            }
            Effect::Ask(Task::CheckUsefulness(task)) => {
                let own = |w: &Written| w.draft.text == task.draft;
                self.take_check(n, Check::Usefulness, task.again, own, &one.reply);
            }
        }
    }

    fn take_grade(&mut self, n: usize, passages: &[Passage], again: bool, reply: &Reply) {
        let at = match passages {
            [passage] => self.hits.iter().position(|hit| hit.passage == *passage),
            _ => None,
        };
        let Some(at) = at else { return self.misplaced.push(format!("order {n} grades what was not found")) };
        let early = !self.generate.is_empty() || !self.searches.is_empty();
        if early || self.graded[at] != usize::from(again) || self.grades[at].verdict != Verdict::Unknown {
            self.misplaced.push(format!("order {n} grades what needs no grade"));
        }
        self.graded[at] += 1;
        // Any other number of grades than one is a reply to something else.
        self.grades[at] = match reply {
            Reply::Task(TaskReply::Grades(grades)) if grades.len() == 1 => grades[0],
            _ => Grade::default(),
        };
    }

    fn take_draft(&mut self, n: usize, task: &'a Generate, reply: &'a Reply) {
        let before = self.too_long.take();
        let half = before.map(|b| Generate { passages: b.passages[..b.passages.len() / 2].to_vec(), ..b.clone() });
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
            let (grounding, usefulness) = (Verdict::Unknown, Verdict::Unknown);
            self.written.push(Written { draft, task, grounding, usefulness });
        }
    }

    fn take_check(&mut self, n: usize, check: Check, again: bool, own: impl Fn(&Written) -> bool, reply: &Reply) {
        let last = self.written.len().wrapping_sub(1);
        let Some(written) = self.written.last_mut() else {
            return self.misplaced.push(format!("order {n} checks no draft"));
        };
        if !own(written) {
            self.misplaced.push(format!("order {n} checks another draft than the last"));
        }
        let verdict = if let Reply::Task(TaskReply::Verdict(verdict)) = reply { *verdict } else { Verdict::Unknown };
        match check {
            Check::Grounding => written.grounding = verdict,
            Check::Usefulness => written.usefulness = verdict,
        }
        match self.checked.last_mut() {
            Some(open) if again && open.may_repeat(last, check) => {
                open.verdict = verdict;
                open.twice = true;
            }
            _ if again => self.misplaced.push(format!("order {n} asks again what was decided")),
            _ => {
                if self.checked.iter().any(|c| c.written == last && c.check == check) {
                    self.misplaced.push(format!("order {n} repeats a check"));
                }
                self.checked.push(Checked { written: last, check, verdict, twice: false });
            }
        }
    }

    /// The check that the last draft failed.
    pub fn last_failed(&self) -> Option<Check> {
        let last = self.checked.last()?;
        (last.written + 1 == self.written.len() && last.verdict == Verdict::No).then_some(last.check)
    }

    /// The most worthy draft, of equals the earliest: grounding counts twice.
    pub fn best(&self) -> Option<&Written<'a>> {
        let points = |verdict| match verdict {
            Verdict::Yes => 2,
            Verdict::Unknown => 1,
            Verdict::No => 0,
        };
        let worth = |w: &Written| 2 * points(w.grounding) + points(w.usefulness);
        let most = self.written.iter().map(worth).max()?;
        self.written.iter().find(|w| worth(w) == most)
    }
}

impl Checked {
    /// Undecided, and asked but once.
    fn may_repeat(&self, written: usize, check: Check) -> bool {
        self.written == written && self.check == check && self.verdict == Verdict::Unknown && !self.twice
    }
}

impl Written<'_> {
    pub fn verdict(&self, check: Check) -> Verdict {
        match check {
            Check::Grounding => self.grounding,
            Check::Usefulness => self.usefulness,
        }
    }
}

/// Whether these bytes are characters of that passage.
fn quoted(passages: &[Passage], passage: usize, start: usize, end: usize) -> bool {
    let Some(passage) = passages.get(passage) else { return false };
    let boundaries: Vec<usize> = passage.text.char_indices().map(|(at, _)| at).chain([passage.text.len()]).collect();
    start < end && boundaries.contains(&start) && boundaries.contains(&end)
}
