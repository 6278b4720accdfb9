//! The check of a draft claim by claim. A claim holds when a solver names a passage and quotes it, and
//! the quotation stands there; what a look at the sources refutes is asked of nobody. Failing claims are
//! written anew, the others stay as they are, byte for byte.

use crate::document::{Origin, Passage, Span};
use crate::evidence::{self, Claim};
use crate::pipeline::answer::ask_twice;
use crate::pipeline::attempt::Attempt;
use crate::pipeline::budget::Stop;
use crate::pipeline::record::Record;
use crate::pipeline::run::Path;
use crate::pipeline::strategy::Strategy;
use crate::pipeline::task::{CheckClaims, CheckUsefulness, ClaimSaid, ClaimsSaid, Draft, Quote, Repair};
use crate::pipeline::trace::Event;
use crate::pipeline::verdict::{Support, Verdict};

/// A claim of a draft and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CheckedClaim {
    /// Where it stands in the draft.
    pub(crate) span: Span,
    /// Its words, without citation marks.
    pub(crate) text: String,
    pub(crate) support: Support,
    /// The place that supports it, wholly or in part.
    pub(crate) quote: Option<Quote>,
}

impl CheckedClaim {
    fn new(claim: Claim, draft: &str) -> Self {
        let written = &draft[claim.span.start..claim.span.end];
        let text = if claim.is_code { written.to_owned() } else { evidence::without_marks(written) };
        Self { span: claim.span, text, support: Support::Unknown, quote: None }
    }

    /// Takes in what a solver said. Without a quotation that stands in a passage nothing is supported;
    /// a quotation that stands in another passage than the one named is taken from there.
    fn settle(&mut self, said: &ClaimSaid, passages: &[Passage]) {
        self.support = said.support;
        if !matches!(said.support, Support::Fully | Support::Partially) {
            return;
        }
        // The web is trusted less: what a local passage says as well is cited from there.
        let mut order: Vec<usize> = (0..passages.len()).collect();
        order.sort_by_key(|&passage| (passages[passage].origin == Origin::Web, Some(passage) != said.passage));
        let place =
            |passage: usize| Some(Quote { passage, span: evidence::find(&said.quote, &passages[passage].text)? });
        self.quote = order.into_iter().find_map(place);
        if self.quote.is_none() {
            self.support = Support::None;
        }
    }

    pub(crate) fn fails(&self) -> bool {
        matches!(self.support, Support::None | Support::Partially)
    }
}

/// How far a draft is supported: by all of its claims, by some or by none; unknown where one is that
/// could make it so, and where it claims nothing.
pub(crate) fn support(claims: &[CheckedClaim]) -> Support {
    let count = |wanted: &dyn Fn(&CheckedClaim) -> bool| claims.iter().filter(|claim| wanted(claim)).count();
    let (failing, unknown) = (count(&CheckedClaim::fails), count(&|claim| claim.support == Support::Unknown));
    match failing {
        0 if unknown > 0 || claims.is_empty() => Support::Unknown,
        0 => Support::Fully,
        _ if failing == claims.len() && count(&|claim| claim.quote.is_some()) == 0 => Support::None,
        _ => Support::Partially,
    }
}

/// The claims of a draft with what is known of them without asking: what an earlier draft's check found
/// supported, and what no source has.
fn claims_of(draft: &str, passages: &[Passage], before: &[CheckedClaim]) -> Vec<CheckedClaim> {
    let sources: Vec<String> = passages.iter().map(|p| [&p.breadcrumb(), "\n\n", &p.text].concat()).collect();
    let claim = |claim| {
        let mut claim = CheckedClaim::new(claim, draft);
        let known = before.iter().find(|known| known.support == Support::Fully && known.text == claim.text);
        if let Some(known) = known {
            (claim.support, claim.quote) = (known.support, known.quote);
        } else if !evidence::unsourced(&claim.text, &sources).is_empty() {
            claim.support = Support::None;
        }
        claim
    };
    evidence::claims(draft).into_iter().map(claim).collect()
}

/// Checks a draft: asks about what is not known of it. With a question the same call says whether the draft
/// answers it.
pub(crate) async fn check(
    path: &Path,
    question: Option<&str>,
    draft: &str,
    passages: &[Passage],
    before: &[CheckedClaim],
) -> Result<(Vec<CheckedClaim>, Verdict), Stop> {
    let mut claims = claims_of(draft, passages, before);
    let mut useful = Verdict::Unknown;
    for again in [false, true] {
        let open: Vec<usize> = (0..claims.len()).filter(|&i| claims[i].support == Support::Unknown).collect();
        if open.is_empty() {
            break;
        }
        let task = CheckClaims {
            question: question.map(str::to_owned),
            draft: draft.to_owned(),
            claims: open.iter().map(|&i| claims[i].text.clone()).collect(),
            passages: passages.to_vec(),
            again,
        };
        // A reply on another number of claims is one to something else.
        let said = path.ask(task).await?.ok().filter(|said| said.claims.len() == open.len());
        let Some(ClaimsSaid { claims: said, useful: says }) = said else { continue };
        open.iter().zip(&said).for_each(|(&i, said)| claims[i].settle(said, passages));
        useful = if useful == Verdict::Unknown { says } else { useful };
    }
    Ok((claims, useful))
}

/// What becomes of a draft of which claims failed.
pub(crate) enum Mended {
    /// Another draft, to be checked.
    Draft(Draft),
    /// What holds of it is an attempt of its own now; there is no more to do.
    Trimmed,
    /// Nothing of it holds, or it is unknown what does.
    Not,
}

/// Mends the last attempt: its failing claims are written anew while drafts are left and the last mending
/// left fewer of them; then they are left out, which needs no call, and only usefulness is asked again.
pub(crate) async fn mend(
    path: &Path,
    question: &str,
    strategy: &Strategy,
    record: &mut Record,
) -> Result<Mended, Stop> {
    let Some(attempt) = record.attempts.last().cloned() else { return Ok(Mended::Not) };
    let failing = attempt.claims.iter().filter(|claim| claim.fails()).count();
    if !attempt.claims.iter().any(|claim| claim.support == Support::Fully) {
        return Ok(Mended::Not);
    }
    let is_last = record.attempts.len() > strategy.max_retries as usize;
    let is_stuck = record.attempts.iter().rev().nth(1).is_some_and(|before| before.failing().len() <= failing);
    // A draft that was there before has its verdicts.
    let is_known = |record: &Record, draft: &Draft| record.attempts.iter().any(|a| a.draft.text == draft.text);
    if !is_last && !is_stuck {
        match repair(path, question, &attempt.draft, &attempt.claims, &attempt.context).await {
            Ok(Some(mended)) if !is_known(record, &mended) => return Ok(Mended::Draft(mended)),
            Ok(Some(_)) => {}
            Ok(None) => return Ok(Mended::Not),
            // To leave claims out needs no call.
            Err(stop) if stop.is_spent() => record.warn_once("budget", &format!("no claim was mended: {stop}")),
            Err(stop) => return Err(stop),
        }
    }
    let Some(draft) = trimmed(&attempt.draft, &attempt.claims) else { return Ok(Mended::Not) };
    if is_known(record, &draft) {
        return Ok(Mended::Trimmed);
    }
    let claims = claims_of(&draft.text, &attempt.context, &attempt.claims);
    let grounding = support(&claims);
    if grounding != Support::Fully {
        return Ok(Mended::Not);
    }
    path.emit(Event::Repair { claims: failing });
    record.attempts.push(Attempt {
        claims,
        grounding,
        is_trimmed: true,
        ..Attempt::new(draft.clone(), attempt.context)
    });
    let scale = strategy.checks.scale;
    let task = |again| CheckUsefulness { question: question.to_owned(), draft: draft.text.clone(), scale, again };
    let usefulness = ask_twice(path, task).await?;
    if let Some(trimmed) = record.attempts.last_mut() {
        trimmed.usefulness = usefulness;
    }
    Ok(Mended::Trimmed)
}

/// The draft with its failing claims written anew, or left out where nothing can be said in their place.
/// `None` where nothing would be left.
async fn repair(
    path: &Path,
    question: &str,
    draft: &Draft,
    claims: &[CheckedClaim],
    passages: &[Passage],
) -> Result<Option<Draft>, Stop> {
    let failing: Vec<&CheckedClaim> = claims.iter().filter(|claim| claim.fails()).collect();
    let texts: Vec<String> = failing.iter().map(|claim| claim.text.clone()).collect();
    let (question, draft_text) = (question.to_owned(), draft.text.clone());
    let task = Repair { question, draft: draft_text, claims: texts, passages: passages.to_vec() };
    let posted = path.post(task)?;
    path.emit(Event::Repair { claims: failing.len() });
    let said = path.reply_to::<Repair>(posted).await?.ok().filter(|said| said.len() == failing.len());
    let said = said.unwrap_or_else(|| vec![String::new(); failing.len()]);
    let anew = |(claim, text): (&&CheckedClaim, &String)| {
        // A mark would be one of another numbering.
        let text = evidence::without_marks(text.trim());
        // What failed once fails again.
        (claim.span, if evidence::reads_as(&text, &claim.text) { String::new() } else { text })
    };
    let edits: Vec<(Span, String)> = failing.iter().zip(&said).map(anew).collect();
    Ok(edited(draft, &edits))
}

/// The draft without its failing claims: what is left is supported. `None` where nothing is.
fn trimmed(draft: &Draft, claims: &[CheckedClaim]) -> Option<Draft> {
    let edits: Vec<(Span, String)> =
        claims.iter().filter(|claim| claim.fails()).map(|claim| (claim.span, String::new())).collect();
    edited(draft, &edits)
}

fn edited(draft: &Draft, edits: &[(Span, String)]) -> Option<Draft> {
    let mut text = draft.text.clone();
    // From the end, so that the offsets before it stay right.
    for (span, anew) in edits.iter().rev() {
        let span = if anew.is_empty() { with_its_place(&text, *span) } else { *span };
        text.replace_range(span.start..span.end, anew);
    }
    let text = text.trim_end().to_owned();
    let is_left = !evidence::claims(&text).is_empty();
    is_left.then(|| Draft { text, quotes: draft.quotes.clone(), truncated: draft.truncated })
}

/// What goes with a claim that is left out: the white space before it, and on a line of its own the line
/// with its list marker.
fn with_its_place(text: &str, span: Span) -> Span {
    let line = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
    let marker = text[line..span.start].trim();
    let is_marker = marker.is_empty()
        || matches!(marker, "-" | "*" | "+")
        || marker.trim_end_matches(['.', ')']).parse::<u32>().is_ok();
    let rest = &text[span.end..];
    let ends_line = rest.is_empty() || rest.starts_with('\n');
    if is_marker && ends_line {
        return Span { start: line, end: span.end + usize::from(!rest.is_empty()) };
    }
    let start = if is_marker { span.start } else { text[..span.start].trim_end_matches(' ').len() };
    let end = if is_marker { text.len() - rest.trim_start_matches(' ').len() } else { span.end };
    Span { start, end }
}

/// The draft as it is shown: behind each claim the mark of its verified quotation, and no other mark.
/// Sentences of a line whose quotations are neighbours too have one together.
///
/// Also says of each claim which mark is its own.
pub(crate) fn cited(draft: &Draft, claims: &[CheckedClaim], passages: &[Passage]) -> (Draft, Vec<Option<u32>>) {
    let mut shown = Draft { truncated: draft.truncated, ..Draft::default() };
    let (mut from, mut pending, mut group) = (0, None::<Quote>, Vec::new());
    let mut marks = vec![None; claims.len()];
    for (i, claim) in claims.iter().enumerate() {
        shown.text += &draft.text[from..claim.span.start];
        shown.text += &claim.text;
        from = claim.span.end;
        let Some(own) = claim.quote else { continue };
        group.push(i);
        let quote = pending.take().and_then(|before| joined(before, own, passages)).unwrap_or(own);
        let next = claims.get(i + 1).filter(|next| !draft.text[claim.span.end..next.span.start].contains('\n'));
        if next.and_then(|next| joined(quote, next.quote?, passages)).is_some() {
            pending = Some(quote);
            continue;
        }
        let n = shown.quotes.iter().position(|known| *known == quote).unwrap_or(shown.quotes.len());
        if n == shown.quotes.len() {
            shown.quotes.push(quote);
        }
        group.drain(..).for_each(|claim| marks[claim] = Some(n as u32 + 1));
        shown.text += if claim.text.ends_with("```") || claim.text.ends_with("~~~") { "\n\n[" } else { " [" };
        shown.text += &(n + 1).to_string();
        shown.text += "]";
    }
    shown.text += &draft.text[from..];
    (shown, marks)
}

/// Two places as one, where they overlap or nothing but white space is between them.
fn joined(one: Quote, next: Quote, passages: &[Passage]) -> Option<Quote> {
    let text = &passages.get(one.passage)?.text;
    let (first, second) = if next.span.start < one.span.start { (next.span, one.span) } else { (one.span, next.span) };
    let between = text.get(first.end..second.start).unwrap_or_default();
    let span = Span { start: first.start, end: first.end.max(second.end) };
    (one.passage == next.passage && between.trim().is_empty()).then_some(Quote { passage: one.passage, span })
}
