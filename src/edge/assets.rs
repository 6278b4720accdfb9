//! The corpus, from the static assets: read by the first request of an isolate, kept for the others.
//!
//! Only plain data is kept. A future or a promise that one request began would die with it, and
//! every request waiting for it (workers-rs and `OnceCell`); so requests that come before the first
//! has finished each fetch for themselves, and the first to finish serves them all.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::join;
use worker::{Env, Fetcher};

use crate::corpus::{Corpus, CorpusError, EmbeddingModel};
use crate::edge::settings::Settings;
use crate::embedding::StaticEmbedder;
use crate::problem::Problem;

thread_local! {
    static LOADED: RefCell<Option<Rc<RefCell<Corpus>>>> = const { RefCell::new(None) };
}

/// The corpus of this isolate.
pub(super) async fn corpus(env: &Env, settings: &Settings) -> Result<Rc<RefCell<Corpus>>, Problem> {
    if let Some(corpus) = loaded() {
        return Ok(corpus);
    }
    let assets = env.assets("ASSETS").map_err(|_| no_binding())?;
    let model = settings.services.embedding_model();
    let table = async {
        match &settings.embedder_path {
            Some(path) if model.is_none() => fetch(&assets, path).await.map(Some),
            _ => Ok(None),
        }
    };
    let (index, table) = join(fetch(&assets, &settings.index_path), table).await;
    // From here on nothing waits, so that of several requests only one takes the memory to parse.
    if let Some(corpus) = loaded() {
        return Ok(corpus);
    }
    let index = index.map_err(|missing| no_index(&settings.index_path, &missing))?;
    let table = table.map_err(|missing| no_embedder(settings, &missing));
    let corpus = match &model {
        Some(model) => of_model(index, model)?,
        None => parse(index, table)?,
    };
    let corpus = Rc::new(RefCell::new(corpus));
    LOADED.with_borrow_mut(|slot| *slot = Some(Rc::clone(&corpus)));
    Ok(corpus)
}

fn loaded() -> Option<Rc<RefCell<Corpus>>> {
    LOADED.with_borrow(Clone::clone)
}

/// The vectors of queries will come from that model.
fn of_model(index: Vec<u8>, model: &EmbeddingModel) -> Result<Corpus, Problem> {
    let mut corpus = Corpus::default();
    corpus.load_of(index, model).map_err(damaged)?;
    Ok(corpus)
}

fn parse(index: Vec<u8>, table: Result<Option<Vec<u8>>, Problem>) -> Result<Corpus, Problem> {
    let mut corpus = Corpus::default();
    corpus.load(index).map_err(damaged)?;
    // An index without vectors has no use for the table, whether it is there or not.
    if corpus.index().identity().is_some()
        && let Some(table) = table?
    {
        let embedder = StaticEmbedder::parse(table).map_err(|error| damaged(error.into()))?;
        corpus.set_embedder(embedder).map_err(damaged)?;
    }
    Ok(corpus)
}

/// A file of the assets, or why there is none.
async fn fetch(assets: &Fetcher, path: &str) -> Result<Vec<u8>, String> {
    // The binding looks at the path alone; a URL needs some host.
    let found = assets.fetch(format!("https://assets.invalid{path}"), None).await;
    let mut response = found.map_err(|error| error.to_string())?;
    if response.status_code() != 200 {
        return Err(format!("status {}", response.status_code()));
    }
    response.bytes().await.map_err(|error| error.to_string())
}

fn no_binding() -> Problem {
    Problem::new("misconfigured", 503, "there is no binding ASSETS: name it in [assets] of wrangler.toml")
}

fn no_index(path: &str, missing: &str) -> Problem {
    let advice = "run `countercheck index DIR -o FILE` into the directory of the assets, or set INDEX_PATH";
    Problem::new("index_unavailable", 503, format!("the assets have no index at {path} ({missing}): {advice}"))
}

fn no_embedder(settings: &Settings, missing: &str) -> Problem {
    let path = settings.embedder_path.as_deref().unwrap_or_default();
    let advice = "put the table there, or set EMBEDDER_PATH to an empty text to search by words alone";
    Problem::new("embedder_unavailable", 503, format!("the assets have no embedder at {path} ({missing}): {advice}"))
}

/// What was deployed does not fit together: the operator's mistake, whatever it is for a library's caller.
fn damaged(error: CorpusError) -> Problem {
    Problem { status: 503, ..error.into() }
}
