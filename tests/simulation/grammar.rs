//! The grammar of events, and that each event says what was really replied.

use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Check, Retrieval, Verdict};

use crate::driver::End;
use crate::expected;
use crate::invariants::Case;
use crate::model::{Graded, Said};
use crate::world::QUESTION;

/// Which event may follow which, and with what content.
pub fn events_follow_their_grammar(case: &Case) -> Result<(), String> {
    let events = &case.history.events;
    let mut reader = Reader { case, drafts: 0, rejects: 0, checks: 0, searches: 0, new: 0 };
    for (i, event) in events.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| &events[i]);
        if !reader.may_follow(before, event) {
            return Err(format!("event {i}, {event:?}, after {before:?}"));
        }
    }
    if events.last().is_some_and(fails) {
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
    searches: usize,
    /// How many new results the last search brought.
    new: usize,
}

impl Reader<'_> {
    fn may_follow(&mut self, before: Option<&Event>, event: &Event) -> bool {
        use Event::{
            Check, Decide, DecideRetrieval, DraftDelta, DraftReject, DraftStart, Grade, Repair, Retrieve, Rewrite,
            WebSearch,
        };
        if before.is_some_and(fails) != matches!(event, DraftReject { .. }) {
            return false;
        }
        let (model, strategy) = (self.case.model, &self.case.scenario.strategy);
        let grades = strategy.grading.is_some();
        // A search is over when its results are graded, if they are.
        let searched = match before {
            Some(WebSearch { results, .. }) => !(grades && strategy.web.graded) || *results == 0,
            Some(Grade { n, of, .. }) => self.searches > 0 && n == of,
            _ => false,
        };
        match event {
            DecideRetrieval { retrieve } => {
                before.is_none() && strategy.decides_retrieval && model.retrieval == Some(*retrieve)
            }
            Retrieve { query, passages } => {
                let due = match before {
                    None => !strategy.decides_retrieval,
                    Some(DecideRetrieval { retrieve }) => *retrieve != Retrieval::No,
                    Some(_) => false,
                };
                due && query == QUESTION && *passages == model.hits.len()
            }
            Grade { n, of, passage_id, verdict, score } => {
                let first = matches!(before, Some(Retrieve { .. } | WebSearch { .. })) && *n == 1;
                let next = matches!(before, Some(Grade { n: last, of: same, .. }) if last + 1 == *n && same == of);
                let all: Vec<&Graded> = model.graded_of(self.searches).collect();
                let said = all.get(*n - 1).is_some_and(|g| {
                    g.passage.id == *passage_id && g.grade.verdict == *verdict && g.grade.score == *score
                });
                let due = if self.searches == 0 { model.hits.len() } else { self.new };
                let applies = self.searches == 0 || strategy.web.graded;
                // For results of the web there may be no call left.
                let unasked = self.searches > 0 && all.is_empty() && *verdict == Verdict::Unknown && score.is_none();
                grades && applies && (first || next) && *of == due && (unasked || (all.len() == due && said))
            }
            Decide { relevant, rejected, unknown, need_web, decision } => {
                let complete = match before {
                    Some(Retrieve { .. }) => model.hits.is_empty(),
                    Some(Grade { n, of, .. }) => n == of && self.searches == 0,
                    _ => false,
                };
                let count = |verdict| model.graded_of(0).filter(|g| g.grade.verdict == verdict).count();
                let counts = [count(Verdict::Yes), count(Verdict::No), count(Verdict::Unknown)];
                let rule = expected::needs_web(model, strategy) && strategy.web.results > 0;
                let decided = *decision == expected::decision(model, strategy);
                grades && complete && [*relevant, *rejected, *unknown] == counts && *need_web == rule && decided
            }
            Rewrite { query } => matches!(before, Some(DraftReject { .. } | Decide { .. })) && query != QUESTION,
            WebSearch { query, results } => {
                let search = model.searches.iter().find(|search| search.0 == query).and_then(|search| search.1);
                let announced = match before {
                    Some(Rewrite { query: written }) => written == query,
                    _ => query == QUESTION && matches!(before, Some(DraftReject { .. } | Decide { .. })),
                };
                (self.searches, self.new) = (self.searches + 1, *results);
                announced && search.is_some_and(|found| *results <= found.len())
            }
            DraftStart { attempt } => {
                self.drafts += 1;
                let due = match before {
                    Some(Retrieve { .. }) => !grades,
                    Some(DecideRetrieval { retrieve }) => *retrieve == Retrieval::No,
                    Some(Decide { .. } | DraftReject { .. }) => true,
                    _ => searched,
                };
                due && *attempt == self.drafts && self.drafts == self.rejects + 1
            }
            // `self-rag` has a scripted world of its own.
            Repair { .. } | Event::Segment { .. } => false,
            DraftDelta { .. } => matches!(before, Some(DraftStart { .. } | DraftDelta { .. })),
            Check { check, verdict, support, rating } => {
                let due = match before {
                    Some(Check { verdict: last, .. }) => *last != Verdict::Unknown,
                    Some(DraftStart { .. } | DraftDelta { .. }) => true,
                    _ => false,
                };
                let said = self.case.model.checked.get(self.checks);
                self.checks += 1;
                let own = |c: &crate::model::Checked| c.written as u32 + 1 == self.drafts;
                due && said.is_some_and(|c| {
                    own(c)
                        && c.check == *check
                        && c.said == Said { verdict: *verdict, support: *support, rating: *rating }
                })
            }
            DraftReject { attempt, check } => {
                self.rejects += 1;
                *attempt == self.drafts && same_check(before, *check)
            }
        }
    }

    fn last_is_unknown(&self) -> bool {
        self.case.model.checked.last().is_some_and(|c| c.said.verdict == Verdict::Unknown)
    }
}

/// Whether a draft must be withdrawn after this.
fn fails(event: &Event) -> bool {
    let Event::Check { verdict, support, rating, .. } = event else { return false };
    Said { verdict: *verdict, support: *support, rating: *rating }.fails()
}

fn same_check(before: Option<&Event>, check: Check) -> bool {
    matches!(before, Some(Event::Check { check: failed, .. }) if *failed == check)
}
