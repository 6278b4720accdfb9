//! What a run has spent, what it may still spend, and what of that is kept for the steps that matter most.
//!
//! Each step is let in by the most that it can take: calls, and where tokens or money are bounded what a
//! call of its size reads and writes. Which steps are given up first where that does not fit follows from
//! what is kept: see [`Limits`].

use crate::pipeline::bill::{Bill, most};
use crate::pipeline::budget::{Call, Calls, Limits, Millis, Stop, Tokens};
use crate::pipeline::cost::{LONGEST_CLAIM, LONGEST_DRAFT, LONGEST_VERDICT, MOST_CLAIMS, QUESTION};
use crate::pipeline::run::{Effect, EffectId, Outcome, Reply};
use crate::pipeline::strategy::{ByClaim, HAS_MODELS, Strategy};
use crate::pipeline::task::MAX_BATCH;
use crate::pipeline::verdict::Check;

/// The tokens of a passage of 1,200 bytes, the splitter's most, and its headings.
const LONGEST_PASSAGE: u64 = 450;

/// An effect without a reply, and what is set aside for it.
#[derive(Clone, Copy)]
struct Open {
    id: EffectId,
    call: Call,
    each: Bill,
    may_call: u32,
}

/// The books of one run.
pub(crate) struct Ledger {
    limits: Limits,
    deadline: Millis,
    calls: Calls,
    tokens: Option<Tokens>,
    spent: Bill,
    /// A handful at the most: a list is a map enough.
    open: Vec<Open>,
    kept_for_draft: Bill,
    kept_for_checks: Bill,
    kept_for_grades: Bill,
}

impl Ledger {
    pub(crate) fn new(limits: Limits, now: Millis) -> Self {
        Self {
            limits,
            deadline: now.saturating_add(limits.deadline),
            calls: Calls::default(),
            tokens: Some(Tokens::default()),
            spent: Bill::default(),
            open: Vec::new(),
            kept_for_draft: Bill::default(),
            kept_for_checks: Bill::default(),
            kept_for_grades: Bill::default(),
        }
    }

    /// Keeps what a draft by this strategy and its checks take, each asked for once.
    pub(crate) fn keep_for(&mut self, strategy: &Strategy) {
        let passages = (strategy.k as u64).saturating_mul(LONGEST_PASSAGE);
        let draft = u64::from(LONGEST_DRAFT);
        let checks = &strategy.checks;
        let check = |check: &Check| match (check, checks.by_claim) {
            (Check::Grounding, None) => Bill::of_model(passages + draft, LONGEST_VERDICT),
            (Check::Grounding, Some(_)) => {
                Bill::of_model(passages + 2 * draft, LONGEST_VERDICT + MOST_CLAIMS * LONGEST_CLAIM)
            }
            (Check::Usefulness, Some(ByClaim::Fused)) => Bill::default(),
            (Check::Usefulness, _) => Bill::of_model(u64::from(QUESTION) + draft, LONGEST_VERDICT),
        };
        let k = strategy.k as u32;
        let calls = strategy.grading.map_or(0, |g| if g.batched { k.div_ceil(MAX_BATCH as u32) } else { k });
        let graded = Bill::of_model(u64::from(QUESTION), LONGEST_VERDICT).times(calls);
        self.kept_for_grades = Bill { input: graded.input.saturating_add(passages), ..graded };
        self.kept_for_draft = Bill::of_model(u64::from(QUESTION) + passages, LONGEST_DRAFT);
        self.kept_for_checks = checks.order.iter().map(check).fold(Bill::default(), Bill::plus);
    }

    /// What must be left when an effect of this kind begins: what comes before it in importance.
    pub(crate) fn kept(&self, call: Call) -> Bill {
        let draft_and_checks = self.kept_for_draft.plus(self.kept_for_checks);
        match call {
            Call::Embed | Call::Decide | Call::Grade | Call::Web => draft_and_checks,
            // A query is for a search.
            Call::Rewrite => draft_and_checks.plus(Bill { calls: 1, searches: 1, ..Bill::default() }),
            // A later draft that could not be checked is worth nothing.
            Call::Generate if self.calls.generate > 0 => self.kept_for_checks,
            Call::Generate | Call::Grounding | Call::Usefulness | Call::Segment | Call::Reflect => Bill::default(),
        }
    }

    /// The same for a draft that may not be wanted: the grades that tell, and another draft.
    pub(crate) fn kept_for_guess(&self) -> Bill {
        self.kept_for_draft.plus(self.kept_for_checks).plus(self.kept_for_grades)
    }

    fn each(&self, effect: &Effect) -> Bill {
        let is_bounded = self.limits.max_tokens.is_some() || self.limits.max_cost.is_some();
        if HAS_MODELS && is_bounded { most(effect) } else { Bill { calls: 1, ..Bill::default() } }
    }

    /// What does not allow so much more, if anything.
    fn excess(&self, more: Bill) -> Option<Stop> {
        let open = self.open.iter().map(|open| open.each.times(open.may_call)).fold(Bill::default(), Bill::plus);
        let all = self.spent.plus(open).plus(more);
        let Limits { max_calls, max_tokens, max_cost, prices, .. } = &self.limits;
        if all.calls > *max_calls {
            Some(Stop::Calls)
        } else if max_tokens.is_some_and(|most| all.input.saturating_add(all.output) > most) {
            Some(Stop::Tokens)
        } else if max_cost.is_some_and(|most| all.cost(prices) > most) {
            Some(Stop::Cost)
        } else {
            None
        }
    }

    /// Lets effects of one kind begin, each with one call and as many repetitions as there is room for; of a
    /// batch the first have them. Says how often each may call.
    pub(crate) fn admit(&self, effects: &[Effect], call: Call, kept: Bill, now: Millis) -> Result<Vec<u32>, Stop> {
        if now >= self.deadline {
            return Err(Stop::Deadline);
        }
        let each: Vec<Bill> = effects.iter().map(|effect| self.each(effect)).collect();
        // A search of the index goes on without the query's vector.
        let least = u32::from(call != Call::Embed);
        let mut all = each.iter().map(|bill| bill.times(least)).fold(kept, Bill::plus);
        if let Some(stop) = self.excess(all).filter(|_| least > 0) {
            return Err(stop);
        }
        let may_call = |bill: &Bill| {
            let mut times = least;
            while times <= self.limits.retries && self.excess(all.plus(*bill)).is_none() {
                all = all.plus(*bill);
                times += 1;
            }
            times
        };
        Ok(each.iter().map(may_call).collect())
    }

    /// Sets aside what an effect may take.
    pub(crate) fn open(&mut self, id: EffectId, effect: &Effect, call: Call, may_call: u32) {
        self.calls.retrieve += u32::from(matches!(effect, Effect::Retrieve { .. }));
        self.open.push(Open { id, call, each: self.each(effect), may_call });
    }

    /// Books what an effect took; false when it was not open. Calls of which no service said what they took
    /// are charged with the most that they can have taken.
    pub(crate) fn close(&mut self, id: EffectId, outcome: &Outcome) -> bool {
        let Some(at) = self.open.iter().position(|open| open.id == id) else { return false };
        let open = self.open.swap_remove(at);
        self.calls.book(open.call, outcome.called);
        self.tokens = self.tokens.zip(outcome.tokens).map(|(before, more)| before.plus(more));
        let said = outcome.tokens.filter(|_| !matches!(outcome.reply, Reply::Failed(_)));
        let unsaid = outcome.called.saturating_sub(u32::from(said.is_some()));
        let all = open.each.times(outcome.called);
        let told = said.map_or(Bill::default(), |tokens| Bill {
            input: tokens.input.into(),
            output: tokens.output.into(),
            ..Bill::default()
        });
        let untold = open.each.times(unsaid);
        let took = Bill { input: untold.input, output: untold.output, ..all };
        self.spent = self.spent.plus(took).plus(told);
        true
    }

    pub(crate) fn is_open(&self, id: EffectId) -> bool {
        self.open.iter().any(|open| open.id == id)
    }

    pub(crate) fn deadline(&self) -> Millis {
        self.deadline
    }

    /// The calls made so far, and the tokens that their replies took, if all of them say.
    pub(crate) fn told(&self) -> (Calls, Option<Tokens>) {
        (self.calls, self.tokens)
    }
}
