//! What the builtin solver makes of labelled texts: JSON lines in, JSON lines out, for `npm run eval`.
//!
//! `{"draft", "sources"}` gives the grounding check's score, its statements and the literals that no
//! source has. `{"documents": [{"id", "title", "source"}]}` makes an index with the embedder whose table the
//! first argument names, and `{"question", "document"}` then gives the grade of that document's best
//! passage. The evaluation takes its features from the product and from nowhere else.

use std::io::{BufRead, Write, stdin, stdout};

use countercheck::corpus::Corpus;
use countercheck::document::{Document, Format, Origin, Passage, Span};
use countercheck::embedding::StaticEmbedder;
use countercheck::evidence::{Unsourced, unsourced};
use countercheck::solver::builtin::grounding::{BIAS, Claim, WEIGHTS, assess};
use countercheck::solver::builtin::relevance::{Features, features, score};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(untagged)]
enum Row {
    Grounding { draft: String, sources: Vec<String> },
    Index { documents: Vec<Text> },
    Relevance { question: String, document: String },
}

#[derive(Deserialize)]
struct Text {
    id: String,
    title: String,
    source: String,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut out = stdout().lock();
    let mut corpus = Corpus::default();
    for line in stdin().lock().lines() {
        let reply = match serde_json::from_str(&line?)? {
            Row::Grounding { draft, sources } => grounding(&draft, &sources),
            Row::Index { documents } => {
                corpus = index(documents)?;
                json!({ "passages": corpus.index().passages() })
            }
            Row::Relevance { question, document } => relevance(&question, &document, &corpus),
        };
        writeln!(out, "{reply}")?;
    }
    Ok(())
}

fn grounding(draft: &str, sources: &[String]) -> Value {
    let passages: Vec<Passage> = sources.iter().map(|text| passage(text)).collect();
    let found = assess(draft, &passages);
    let claim = |claim: &Claim| json!({ "words": claim.words, "features": claim.features });
    let literal = |one: &Unsourced| json!({ "literal": format!("{:?}", one.literal), "text": draft[one.span.start..one.span.end] });
    json!({
        "score": found.score,
        "model": { "weights": WEIGHTS, "bias": BIAS },
        "claims": found.claims.iter().map(claim).collect::<Vec<_>>(),
        "unsourced": unsourced(draft, sources).iter().map(literal).collect::<Vec<_>>(),
    })
}

fn index(documents: Vec<Text>) -> Result<Corpus, Failure> {
    let table = std::env::args().nth(1).ok_or("the first argument is the embedder's table")?;
    let mut corpus = Corpus::default();
    corpus.set_embedder(StaticEmbedder::parse(std::fs::read(table)?)?)?;
    for Text { id, title, source } in documents {
        corpus.add(&Document { id, title, source, url: String::new(), format: Format::Plain })?;
    }
    Ok(corpus)
}

fn relevance(question: &str, document: &str, corpus: &Corpus) -> Value {
    let own = corpus.index().iter().filter(|passage| passage.document == document);
    let all = own.map(|passage| features(question, passage, corpus));
    let best = all.reduce(|best: Features, next| if score(&next) > score(&best) { next } else { best });
    json!({ "features": best, "score": best.map(|best| score(&best)) })
}

fn passage(text: &str) -> Passage {
    Passage {
        id: String::new(),
        document: String::new(),
        url: String::new(),
        title: String::new(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start: 0, end: text.len() },
        text: text.to_owned(),
        origin: Origin::Local,
    }
}
