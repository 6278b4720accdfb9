//! Is each statement of a draft in the passages? Judged by its words, the pairs they stand in, what
//! of it must stand there to the letter, and whether it denies what its nearest sentence affirms.
//!
//! It flags statements whose words, numbers or names are not in the sources, or stand there otherwise.
//! It does not see a contradiction in paraphrase, and it takes a paraphrase without a word of the
//! sources for one that is not in them.

use std::collections::BTreeSet;

use crate::document::{Passage, Span};
use crate::evidence::{unsourced, without_marks};
use crate::index::words::words;
use crate::ingest::{self, UnitKind};
use crate::pipeline::verdict::Support;

/// What speaks for or against a statement, in the order of [`WEIGHTS`].
pub type Features = [f32; 8];

/// A logistic regression over [`Features`]. Positive, shares 0…1: its words, with function words, that
/// the sources have; its terms that they have; its terms that the nearest sentence has; its pairs of
/// neighbouring terms that they have. Against it: names that they have not, at most two; a literal that
/// they have not ([`unsourced`]); terms of the nearest sentence exchanged for others of the sources; and
/// a denial that the nearest sentence has not, or the reverse, as far as that sentence is near.
///
/// The first five are fitted to people's labels of what models wrote, on 430 rows of BEGIN's Wizard of
/// Wikipedia part (Dziri et al., 2022), with an L2 penalty of 1, and rounded. The last three are set:
/// each outweighs a sentence copied whole, which the other five put at log-odds of 2.8.
pub const WEIGHTS: Features = [4.2, 2.7, 2.3, 0.4, -0.9, -3.5, -3.5, -3.5];
/// See [`WEIGHTS`].
pub const BIAS: f32 = -6.8;

/// From this score on a draft is grounded: as likely as not, by the regression.
pub const CUT: f32 = 0.5;

/// A statement of few words says little by itself: it is judged with so many words of the whole draft.
const SHRINKAGE: f32 = 3.0;

/// Words of a statement that nearly repeats a sentence: above this share of them, what it has in place
/// of that sentence's words is an exchange and not another way to say it.
const NEARLY_THE_SAME: f32 = 0.6;

/// Words that deny, in the languages of the prompts; `n't` besides.
const DENIALS: [&str; 23] = [
    "not", "no", "never", "none", "neither", "nor", "cannot", "without", "nothing", "pas", "jamais", "sans", "aucun",
    "aucune", "nicht", "nichts", "kein", "keine", "keinen", "keiner", "nie", "niemals", "ohne",
];

/// A statement of a draft, as far as its sources bear it out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// Its bytes in the draft.
    pub span: Span,
    /// How many words it has, at least 1.
    pub words: u32,
    /// What speaks for and against it.
    pub features: Features,
}

/// A draft against its passages.
#[derive(Debug, Clone, PartialEq)]
pub struct Grounding {
    /// How well its weakest statement is borne out, 0…1; 0 where there is none.
    pub score: f32,
    /// The verdict at [`CUT`]; partial where at least one statement reaches it alone.
    pub support: Support,
    /// The statements, in order; headings are none.
    pub claims: Vec<Claim>,
}

/// How well the passages bear a draft out, statement by statement.
pub fn assess(draft: &str, passages: &[Passage]) -> Grounding {
    let sources: Vec<String> = passages.iter().map(|p| p.breadcrumb() + "\n\n" + &p.text).collect();
    let findings = unsourced(draft, &sources);
    let sources = Sources::new(&sources);
    let claim = |unit: &ingest::Unit| {
        let span = unit.span;
        let text = Statement::new(&without_marks(&draft[span.start..span.end]));
        let is_new = findings.iter().any(|f| f.span.start < span.end && span.start < f.span.end);
        let features = sources.features(&text, is_new)?;
        (unit.kind != UnitKind::Heading).then_some(Claim { span, words: text.count, features })
    };
    let claims: Vec<Claim> = ingest::units(draft).iter().filter_map(claim).collect();
    let evidence = weakest(&claims);
    let score = evidence.map_or(0.0, |evidence| 1.0 / (1.0 + libm::expf(-evidence)));
    let support = if score >= CUT {
        Support::Fully
    } else if claims.iter().any(|claim| claim.evidence() >= 0.0) {
        Support::Partially
    } else {
        Support::None
    };
    Grounding { score, support, claims }
}

impl Claim {
    /// The log-odds that it is borne out, by itself.
    pub fn evidence(&self) -> f32 {
        WEIGHTS.iter().zip(&self.features).map(|(weight, feature)| weight * feature).sum::<f32>() + BIAS
    }
}

/// The evidence for the weakest statement, each drawn to the draft's mean by [`SHRINKAGE`].
fn weakest(claims: &[Claim]) -> Option<f32> {
    let all: f32 = claims.iter().map(|claim| claim.words as f32).sum();
    let mean = claims.iter().map(|claim| claim.words as f32 * claim.evidence()).sum::<f32>() / all;
    let drawn = |c: &Claim| (c.words as f32 * c.evidence() + SHRINKAGE * mean) / (c.words as f32 + SHRINKAGE);
    claims.iter().map(drawn).reduce(f32::min)
}

/// A sentence as it is compared.
struct Statement {
    count: u32,
    /// All its words, the first letters of each: what function words it has tells who speaks.
    all: BTreeSet<String>,
    /// Those of them that are names: with a capital, and not the first.
    names: BTreeSet<String>,
    /// The index's terms, in order.
    terms: Vec<String>,
    denies: bool,
}

impl Statement {
    fn new(markdown: &str) -> Self {
        let text = ingest::plain_text(markdown).replace('’', "'");
        let mut new = Self {
            count: 0,
            all: BTreeSet::new(),
            names: BTreeSet::new(),
            terms: words(&text),
            denies: text.contains("n't"),
        };
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let lower = word.to_lowercase();
            new.denies |= DENIALS.contains(&lower.as_str());
            let stem: String = lower.chars().take(5).collect();
            if new.count > 0 && word.starts_with(char::is_uppercase) {
                new.names.insert(stem.clone());
            }
            new.all.insert(stem);
            new.count += 1;
        }
        new
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.terms.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str()))
    }
}

/// The sentences of the passages, and what they have together.
struct Sources {
    sentences: Vec<Statement>,
    all: BTreeSet<String>,
    terms: BTreeSet<String>,
}

impl Sources {
    fn new(sources: &[String]) -> Self {
        let units = |text: &String| {
            let statement = |unit: &ingest::Unit| Statement::new(&text[unit.span.start..unit.span.end]);
            ingest::units(text).iter().map(statement).collect::<Vec<_>>()
        };
        let sentences: Vec<Statement> = sources.iter().flat_map(units).collect();
        let all = sentences.iter().flat_map(|sentence| sentence.all.iter().cloned()).collect();
        let terms = sentences.iter().flat_map(|sentence| sentence.terms.iter().cloned()).collect();
        Self { sentences, all, terms }
    }

    /// What speaks for and against a statement; nothing for one without a term.
    fn features(&self, claim: &Statement, is_new: bool) -> Option<Features> {
        let distinct: BTreeSet<&String> = claim.terms.iter().collect();
        let shared = |s: &Statement| distinct.iter().filter(|term| s.terms.contains(term)).count();
        let most = self.sentences.iter().map(&shared).max().unwrap_or(0);
        let mut nearest = self.sentences.iter().filter(|s| most > 0 && shared(s) == most).peekable();
        let exchanged = nearest.peek().is_some_and(|s| self.exchanges(&claim.terms, &s.terms));
        let denies = nearest.all(|s| s.denies != claim.denies);

        let share = |part: usize, of: usize| part as f32 / of.max(1) as f32;
        let near = share(most, distinct.len());
        let known = share(distinct.iter().filter(|term| self.terms.contains(**term)).count(), distinct.len());
        let pairs = |pair: &(&str, &str)| self.sentences.iter().any(|s| s.pairs().any(|own| own == *pair));
        let paired = claim.pairs().filter(pairs).count();
        let new_names = claim.names.difference(&self.all).count().min(2);
        (!distinct.is_empty()).then(|| {
            [
                share(claim.all.intersection(&self.all).count(), claim.all.len()),
                known,
                near,
                if claim.terms.len() > 1 { share(paired, claim.terms.len() - 1) } else { known },
                new_names as f32,
                f32::from(u8::from(is_new)),
                f32::from(u8::from(exchanged && near >= NEARLY_THE_SAME)),
                if denies { near } else { 0.0 },
            ]
        })
    }

    /// Whether a claim has, in place of words of the nearest sentence, words from elsewhere in the
    /// sources: of their neighbours in the claim each has another neighbour there.
    fn exchanges(&self, claim: &[String], nearest: &[String]) -> bool {
        let mut from = 0;
        while let Some(start) = claim[from..].iter().position(|term| !nearest.contains(term)).map(|at| at + from) {
            let run = claim[start..].iter().take_while(|term| !nearest.contains(term)).count();
            let (before, after) = (claim[..start].last(), claim.get(start + run));
            let new = |term: &String| !claim.contains(term);
            let mut pairs = nearest.windows(2);
            let follows = before.is_none_or(|before| pairs.any(|pair| pair[0] == *before && new(&pair[1])));
            let mut pairs = nearest.windows(2);
            let precedes = after.is_none_or(|after| pairs.any(|pair| pair[1] == *after && new(&pair[0])));
            let moved = claim[start..start + run].iter().all(|term| self.terms.contains(term));
            if moved && follows && precedes && run < claim.len() {
                return true;
            }
            from = start + run;
        }
        false
    }
}
