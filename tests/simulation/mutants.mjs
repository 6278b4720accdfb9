// Faults to plant in the loop, one at a time: `npm run sim -- --mutants` must see each of them.
// `search` stands exactly once in the file; a mutant that no longer applies is an error.

/** @type {{ name: string, file: string, search: string, replace: string }[]} */
export const mutants = [
  {
    name: "max_calls is not enforced",
    file: "src/pipeline/run.rs",
    search: "self.free_calls().checked_sub(count as u32).ok_or(Stop::Calls)",
    replace: "Ok(self.free_calls().saturating_sub(count as u32))",
  },
  {
    name: "a batch is admitted as one call",
    file: "src/pipeline/run.rs",
    search: "admit(tasks.len())",
    replace: "admit(1)",
  },
  {
    name: "retries are not charged against each other",
    file: "src/pipeline/run.rs",
    search: "*spare -= retries;",
    replace: "",
  },
  {
    name: "no call is ever repeated",
    file: "src/pipeline/run.rs",
    search: "let may_call = 1 + retries;",
    replace: "let may_call = 1;",
  },
  {
    name: "retries may use up all free calls",
    file: "src/pipeline/run.rs",
    search: "let retries = self.retries.min(*spare);",
    replace: "let retries = *spare;",
  },
  {
    name: "effects begin at the deadline",
    file: "src/pipeline/run.rs",
    search: "if self.now >= self.deadline {",
    replace: "if self.now > self.deadline {",
  },
  {
    name: "replies are joined by arrival",
    file: "src/pipeline/run.rs",
    search: "let at = self.replies.iter().position(|reply| reply.0 == id)?;",
    replace: "let at = self.replies.iter().position(|reply| reply.0 == id).and(Some(0))?;",
  },
  {
    name: "an effect stays open after its reply",
    file: "src/pipeline/run.rs",
    search: "let open = self.open.swap_remove(at);",
    replace: "let open = self.open[at];",
  },
  {
    name: "failed calls are not booked",
    file: "src/pipeline/run.rs",
    search: "self.calls.book(open.call, outcome.called);",
    replace: "if !matches!(outcome.reply, Reply::Failed(_)) { self.calls.book(open.call, outcome.called); }",
  },
  {
    name: "an order gets lost",
    file: "src/pipeline/run.rs",
    search: "self.orders.push(Order { id, effect, may_call });",
    replace: "if id.0 != 11 { self.orders.push(Order { id, effect, may_call }); }",
  },
  {
    name: "the query's vector is taken from nothing",
    file: "src/pipeline/run.rs",
    search: "let may_call = self.retries.saturating_add(1).min(free);",
    replace: "let may_call = 1 + self.retries;",
  },
  {
    name: "a query without a vector finds nothing",
    file: "src/pipeline/run.rs",
    search: "Reply::ByWords(hits, failure) => Ok((hits, Some(failure))),",
    replace: "Reply::ByWords(_, failure) => Err(failure),",
  },
  {
    name: "the query's vector is not charged",
    file: "src/pipeline/budget.rs",
    search: "[self.embed, ",
    replace: "[",
  },
  {
    name: "a search is not booked",
    file: "src/pipeline/run.rs",
    search: "self.calls.retrieve += 1;",
    replace: "",
  },
  {
    name: "a search by words alone is not told",
    file: "src/pipeline/context.rs",
    search: `record.warn("embedding_failed",`,
    replace: `record.warn("embedding",`,
  },
  {
    name: "an unreadable verdict is a yes",
    file: "src/pipeline/answer.rs",
    search: "verdict = path.ask(task(again)).await?.unwrap_or_default();",
    replace: "verdict = path.ask(task(again)).await?.unwrap_or(Verdict::Yes);",
  },
  {
    name: "an unreadable grade is a no",
    file: "src/pipeline/answer.rs",
    search: "_ => Grade::default(),",
    replace: "_ => Grade { verdict: Verdict::No, score: None },",
  },
  {
    name: "a verdict is asked for until there is one",
    file: "src/pipeline/answer.rs",
    search: "for again in [false, true] {",
    replace: "for again in std::iter::once(false).chain(std::iter::repeat(true)) {",
  },
  {
    name: "an outage of the grader asks for the web",
    file: "src/pipeline/answer.rs",
    search: "let need_web = rejected > 0 || passages.is_empty();",
    replace: "let need_web = rejected + unknown > 0 || passages.is_empty();",
  },
  {
    name: "rejected passages are kept",
    file: "src/pipeline/answer.rs",
    search: "of(Verdict::Yes).chain(of(Verdict::Unknown))",
    replace: "of(Verdict::Yes).chain(of(Verdict::Unknown)).chain(of(Verdict::No))",
  },
  {
    name: "a search after the last attempt",
    file: "src/pipeline/answer.rs",
    search: "&& (last || !extend_from_web(",
    replace: "&& ((last && false) || !extend_from_web(",
  },
  {
    name: "a query is sent twice",
    file: "src/pipeline/answer.rs",
    search: "if query.is_empty() || record.queries.contains(&query) {",
    replace: "if query.is_empty() {",
  },
  {
    name: "a failed web is asked again",
    file: "src/pipeline/answer.rs",
    search: "if record.web != WebSearch::Open {",
    replace: "if false {",
  },
  {
    name: "the web repeats what is known",
    file: "src/pipeline/answer.rs",
    search: "&& !known(context, &result) {",
    replace: "&& (true || !known(context, &result)) {",
  },
  {
    name: "one draft too many",
    file: "src/pipeline/answer.rs",
    search: "record.attempts.len() <= strategy.max_retries as usize {",
    replace: "record.attempts.len() <= strategy.max_retries as usize + 1 {",
  },
  {
    name: "a repeated draft is a new one",
    file: "src/pipeline/answer.rs",
    search: "if rejected.iter().any(|r| r.text == draft.text) {",
    replace: "if false {",
  },
  {
    name: "the generator is not told what was rejected",
    file: "src/pipeline/answer.rs",
    search: "rejected.push(Rejected { text: draft.text, check });",
    replace: "rejected.truncate(0);",
  },
  {
    name: "a context that is too long is given again whole",
    file: "src/pipeline/answer.rs",
    search: "context.truncate(half);",
    replace: "",
  },
  {
    name: "of a context that is too long the worse half is kept",
    file: "src/pipeline/answer.rs",
    search: "context.truncate(half);",
    replace: "context.drain(..given - half);",
  },
  {
    name: "a context is halved until the generator takes it",
    file: "src/pipeline/answer.rs",
    search: "if matches!(reply, Err(Failure::TooLong { .. })) && half > 0 {",
    replace: `while matches!(reply, Err(Failure::TooLong { .. })) && context.len() > 1 {
        let half = context.len() / 2;`,
  },
  {
    name: "a context that is too long ends the run",
    file: "src/pipeline/answer.rs",
    search: "if matches!(reply, Err(Failure::TooLong { .. })) && half > 0 {",
    replace: "if matches!(reply, Err(Failure::TooLong { .. })) && half > 99 {",
  },
  {
    name: "a cut context is whole again after its draft",
    file: "src/pipeline/answer.rs",
    search: "generate(path, question, &mut context, &rejected, record)",
    replace: "generate(path, question, &mut context.clone(), &rejected, record)",
  },
  {
    name: "a cut context is not told",
    file: "src/pipeline/answer.rs",
    search: `record.warn("context_trimmed",`,
    replace: `record.warn("context",`,
  },
  {
    name: "quotes are not verified",
    file: "src/pipeline/answer.rs",
    search: "if draft.quotes_from(context) {",
    replace: "if true {",
  },
  {
    name: "a truncated draft is checked",
    file: "src/pipeline/answer.rs",
    search: "if draft.truncated {",
    replace: "if false {",
  },
  {
    name: "a failed draft is not withdrawn",
    file: "src/pipeline/answer.rs",
    search: "path.emit(Event::DraftReject { attempt: record.attempts.len() as u32, check });",
    replace: "",
  },
  {
    name: "the flags are those of the last draft",
    file: "src/pipeline/record.rs",
    search: "shown.as_ref().and_then(|a| a.verdict(check).flag())",
    replace: "self.attempts.last().filter(|_| shown.is_some()).and_then(|a| a.verdict(check).flag())",
  },
  {
    name: "of equals the later draft is returned",
    file: "src/pipeline/record.rs",
    search: "if next.worth() > best.worth()",
    replace: "if next.worth() >= best.worth()",
  },
  {
    name: "usefulness counts more than grounding",
    file: "src/pipeline/record.rs",
    search: "self.grounding.worth() + 0.5 * self.usefulness.worth()",
    replace: "0.5 * self.grounding.worth() + self.usefulness.worth()",
  },
  {
    name: "an undecided check is no shortcoming",
    file: "src/pipeline/record.rs",
    search: "(None, None, _) => None,",
    replace: "(None, _, _) => None,",
  },
  {
    name: "citations count from the passage's start",
    file: "src/pipeline/record.rs",
    search: "start: passage.span.start + quote.span.start",
    replace: "start: quote.span.start",
  },
  {
    name: "an undecided grade is shown as a no",
    file: "src/pipeline/record.rs",
    search: "Self { passage_id: passage_id.to_owned(), verdict: grade.verdict, score: grade.score }",
    replace: "Self { passage_id: passage_id.to_owned(), verdict: (grade.verdict == Verdict::Yes).into(), score: grade.score }",
  },
  {
    name: "a failing provider loses the drafts",
    file: "src/pipeline/record.rs",
    search: "let best = self.best().cloned();",
    replace: "let best = self.best().filter(|_| !matches!(self.ending, Some(Ending::Failed(_)))).cloned();",
  },
  {
    name: "a draft with many quotes counts as truncated",
    file: "src/pipeline/record.rs",
    search: "_ if attempt.draft.truncated => Some(Reason::Truncated),",
    replace: "_ if attempt.draft.truncated || attempt.draft.quotes.len() > 2 => Some(Reason::Truncated),",
  },
  {
    name: "a quote is cut out before it is verified",
    file: "src/pipeline/task.rs",
    search: "passages.get(quote.passage)?.text.get(quote.span.start..quote.span.end);",
    replace: "passages.get(quote.passage)?.text.get(quote.span.start..).map(|t| &t[..quote.span.end - quote.span.start]);",
  },
  {
    name: "the trace misses its first event",
    file: "src/pipeline/run.rs",
    search: "self.mailbox.borrow().events.clone()",
    replace: "self.mailbox.borrow().events.iter().skip(1).cloned().collect()",
  },
  {
    name: "one run remembers another",
    file: "src/pipeline/run.rs",
    search: "Ok(match self.perform(effect, Call::Web).await? {",
    replace: `thread_local!(static BEFORE: std::cell::Cell<u32> = const { std::cell::Cell::new(0) });
        BEFORE.set(BEFORE.get() + 1);
        let query = if BEFORE.get() % 7 == 0 { query.to_lowercase() } else { query.to_owned() };
        let effect = if BEFORE.get() > 3 { Effect::SearchWeb { query, limit } } else { effect };
        Ok(match self.perform(effect, Call::Web).await? {`,
  },
];
