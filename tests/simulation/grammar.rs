//! The grammar of events, and that each event says what was really replied.

use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Check, Verdict};

use crate::driver::End;
use crate::invariants::Case;
use crate::world::QUESTION;

/// Which event may follow which, and with what content.
pub fn events_follow_their_grammar(case: &Case) -> Result<(), String> {
    let events = &case.history.events;
    let mut reader = Reader { case, drafts: 0, rejects: 0, checks: 0 };
    for (i, event) in events.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| &events[i]);
        if !reader.may_follow(before, event) {
            return Err(format!("event {i}, {event:?}, after {before:?}"));
        }
    }
    if matches!(events.last(), Some(Event::Check { verdict: Verdict::No, .. })) {
        return Err("a failed check withdraws no draft".to_owned());
    }
    // A check that was cut off tells nothing.
    let untold = case.model.checked.len().saturating_sub(reader.checks);
    if untold > 1 || (untold == 1 && matches!(case.history.end, End::Done(_)) && !reader.last_is_unknown()) {
        return Err(format!("{untold} checks are not told"));
    }
    Ok(())
}

struct Reader<'a> {
    case: &'a Case<'a>,
    drafts: u32,
    rejects: u32,
    checks: usize,
}

impl Reader<'_> {
    fn may_follow(&mut self, before: Option<&Event>, event: &Event) -> bool {
        use Event::{Check, Decide, DraftDelta, DraftReject, DraftStart, Grade, Retrieve, Rewrite, WebSearch};
        if matches!(before, Some(Check { verdict: Verdict::No, .. })) != matches!(event, DraftReject { .. }) {
            return false;
        }
        let (model, grades) = (self.case.model, self.case.scenario.strategy.grades);
        match event {
            Retrieve { query, passages } => before.is_none() && query == QUESTION && *passages == model.hits.len(),
            Grade { n, of, passage_id, verdict, score } => {
                let first = matches!(before, Some(Retrieve { .. })) && *n == 1;
                let next = matches!(before, Some(Grade { n: last, .. }) if last + 1 == *n);
                let said = model.hits.get(*n - 1).zip(model.grades.get(*n - 1));
                let same = said.is_some_and(|(hit, grade)| {
                    hit.passage.id == *passage_id && grade.verdict == *verdict && grade.score == *score
                });
                grades && (first || next) && *of == model.hits.len() && same
            }
            Decide { relevant, rejected, unknown, need_web } => {
                let complete = match before {
                    Some(Retrieve { .. }) => model.hits.is_empty(),
                    Some(Grade { n, of, .. }) => n == of,
                    _ => false,
                };
                let count = |verdict| model.grades.iter().filter(|g| g.verdict == verdict).count();
                let counts = [count(Verdict::Yes), count(Verdict::No), count(Verdict::Unknown)];
                let rule = *rejected > 0 || model.hits.is_empty();
                grades && complete && [*relevant, *rejected, *unknown] == counts && *need_web == rule
            }
            Rewrite { query } => matches!(before, Some(DraftReject { .. } | Decide { .. })) && query != QUESTION,
            WebSearch { query, results } => {
                let search = model.searches.iter().find(|search| search.0 == query).and_then(|search| search.1);
                let announced = match before {
                    Some(Rewrite { query: written }) => written == query,
                    _ => query == QUESTION && matches!(before, Some(DraftReject { .. } | Decide { .. })),
                };
                announced && search.is_some_and(|found| *results <= found.len())
            }
            DraftStart { attempt } => {
                self.drafts += 1;
                let due = match before {
                    Some(Retrieve { .. }) => !grades,
                    Some(Decide { .. } | WebSearch { .. } | DraftReject { .. }) => true,
                    _ => false,
                };
                due && *attempt == self.drafts && self.drafts == self.rejects + 1
            }
            DraftDelta { .. } => matches!(before, Some(DraftStart { .. } | DraftDelta { .. })),
            Check { check, verdict } => {
                let due = matches!(before, Some(DraftStart { .. } | DraftDelta { .. }))
                    || matches!(before, Some(Check { verdict: Verdict::Yes, .. }));
                let said = self.case.model.checked.get(self.checks);
                self.checks += 1;
                let own = |c: &crate::model::Checked| c.written as u32 + 1 == self.drafts;
                due && said.is_some_and(|c| own(c) && c.check == *check && c.verdict == *verdict)
            }
            DraftReject { attempt, check } => {
                self.rejects += 1;
                *attempt == self.drafts && same_check(before, *check)
            }
        }
    }

    fn last_is_unknown(&self) -> bool {
        self.case.model.checked.last().is_some_and(|c| c.verdict == Verdict::Unknown)
    }
}

fn same_check(before: Option<&Event>, check: Check) -> bool {
    matches!(before, Some(Event::Check { check: failed, .. }) if *failed == check)
}
