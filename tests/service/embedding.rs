//! Vectors from an embedding model: of the query of a question, and of the passages of documents.

use std::cell::RefCell;

use countercheck::corpus::{Corpus, CorpusError, EmbeddingModel};
use countercheck::document::Document;
use countercheck::pipeline::budget::Limits;
use countercheck::problem::Problem;
use countercheck::prompt::Language;
use countercheck::provider::embed::{MAX_BYTES, MAX_TEXT_BYTES, MAX_TEXTS};
use countercheck::provider::error::ProviderError;
use countercheck::provider::http::Headers;
use countercheck::retry::RetryPolicy;
use countercheck::service::{Performer, ServiceSettings, Services};
use countercheck::wire::DocumentInput;
use serde_json::{Value, json};

use crate::files::{all, body, headers, text};
use crate::network::{Asked, Scripted, Sent, Then};
use crate::{ask, settings};

/// What the model knows of a text: sleep, food and the rest.
fn meaning(text: &str) -> [f32; 3] {
    let of = |words: &[&str]| words.iter().filter(|word| text.to_lowercase().contains(**word)).count() as f32;
    [of(&["bed", "night", "rest", "sleep"]), of(&["oven", "dough", "bread", "eat"]), 0.25]
}

fn vectors(asked: &Asked) -> Sent {
    let texts = asked.body["input"].as_array().unwrap();
    // Last first: the order is the indices'.
    let item = |(index, text): (usize, &Value)| json!({ "index": index, "embedding": meaning(text.as_str().unwrap()) });
    Sent::json(&json!({ "data": texts.iter().enumerate().rev().map(item).collect::<Vec<_>>() }))
}

/// A model that embeds, and a chat model that is content with everything.
fn play(asked: &Asked) -> Sent {
    match asked.role {
        "embed" => vectors(asked),
        "grade" => Sent::words("{\"score\": \"yes\"}"),
        _ => Sent::words("From ten to six [1]."),
    }
}

fn with_embedder(embed: &Value) -> ServiceSettings {
    let mut settings = settings("k");
    let place = json!({ "base_url": "https://services.example/v1", "key": "k" });
    let mut given = json!({ "vendor": "openai", "model": "words-3", "place": place });
    given.as_object_mut().unwrap().extend(embed.as_object().cloned().unwrap_or_default());
    settings.embed = Some(serde_json::from_value(given).unwrap());
    settings
}

fn document(id: &str, text: &str) -> Document {
    let input = json!({ "id": id, "text": text });
    DocumentInput::from_json(input.to_string().as_bytes()).unwrap().into()
}

fn house() -> Vec<Document> {
    vec![
        document("kitchen.md", "# Kitchen\n\nThe oven is for bread, and the dough is eaten by nobody."),
        document("bedroom.md", "# Bedroom\n\nEverybody is in bed from ten to six, and the night is quiet."),
    ]
}

/// A reply in pieces.
fn reply(status: u16, headers: Headers, body: &[u8]) -> Sent {
    let pieces = body.chunks(7).map(<[u8]>::to_vec).collect();
    Sent::Reply { status, headers, pieces, every: 0, then: Then::End }
}

const QUESTION: &str = "When do they sleep?";

/// Adds a document as the page does: first its vectors, then itself.
fn add(network: &Scripted, embed: &Value, corpus: &RefCell<Corpus>, document: &Document) -> Result<usize, Problem> {
    let services = Services::new(&with_embedder(embed)).unwrap();
    let (language, policy) = (Language::default(), RetryPolicy::default());
    let performer = Performer { corpus, services: &services, network, language, policy };
    let vectors = network.run(performer.vectors(document));
    assert_eq!(network.open(), 0, "every exchange is ended");
    let model = services.embedding_model().unwrap();
    Ok(corpus.borrow_mut().add_embedded(document, &model, vectors?)?)
}

/// The documents, indexed with the vectors of a model that never fails.
fn indexed(documents: &[Document]) -> RefCell<Corpus> {
    let (network, corpus) = (Scripted::new(play), RefCell::default());
    for document in documents {
        add(&network, &Value::Null, &corpus, document).unwrap();
    }
    corpus
}

fn asked(network: &Scripted, corpus: &RefCell<Corpus>, request: &Value) -> Value {
    ask(&with_embedder(&Value::Null), network, corpus, request).unwrap()
}

fn naive() -> Value {
    json!({ "question": QUESTION, "strategy": "naive", "k": 1 })
}

fn codes(answer: &Value) -> Vec<&str> {
    answer["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].as_str().unwrap()).collect()
}

#[test]
fn a_passage_that_shares_no_word_with_the_question_is_found_by_its_vector() {
    let (network, corpus) = (Scripted::new(play), indexed(&house()));
    let answer = asked(&network, &corpus, &naive());
    assert_eq!(answer["sources"][0]["passage_id"], "bedroom.md#0");
    assert_eq!((network.count("embed"), &answer["usage"]["calls"]["embed"]), (1, &json!(1)));
    assert_eq!(codes(&answer), [""; 0]);
    let identity = corpus.borrow().index().identity().cloned().unwrap();
    assert_eq!((identity.model.as_str(), identity.dimension, identity.normalised), ("words-3", 3, true));
}

#[test]
fn the_text_of_a_passage_is_sent_under_its_headings_and_without_markup() {
    let sent = std::rc::Rc::new(RefCell::new(Vec::new()));
    let seen = sent.clone();
    let network = Scripted::new(move |asked| {
        seen.borrow_mut().push(asked.body.clone());
        vectors(asked)
    });
    let (corpus, document) = (RefCell::default(), document("beds.md", "# Beds\n\n## At *night*\n\nSleep in `bed`.\n"));
    add(&network, &json!({ "dimensions": 3 }), &corpus, &document).unwrap();
    let sent = sent.take();
    let [Value::Object(body)] = &sent[..] else { panic!("{sent:?}") };
    let input = body["input"][0].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(input, "Beds › At night. Beds At night Sleep in bed.");
    assert_eq!((body["input"].as_array().map(Vec::len), &body["dimensions"]), (Some(1), &json!(3)));
    assert_eq!((&body["model"], &body["encoding_format"]), (&json!("words-3"), &json!("float")));
}

#[test]
fn without_the_query_s_vector_the_search_goes_on_by_words_and_the_answer_says_so() {
    let corpus = indexed(&house());
    let request = json!({ "question": "Who is in bed at night?", "strategy": "naive", "k": 1 });
    for (failure, called) in [(ProviderError::CorsOrNetwork, 2), (ProviderError::Network { sent: false }, 3)] {
        let network =
            Scripted::new(move |asked| if asked.role == "embed" { Sent::Fails(failure) } else { play(asked) });
        let answer = asked(&network, &corpus, &request);
        assert_eq!(
            (&answer["outcome"], &answer["sources"][0]["passage_id"]),
            (&json!("answered"), &json!("bedroom.md#0"))
        );
        assert_eq!(codes(&answer), ["embedding_failed"]);
        assert_eq!((network.count("embed"), &answer["usage"]["calls"]["embed"]), (called, &json!(called)));
    }
    // Silent until the patience for a query ends, twice.
    let silent = Scripted::new(|asked| if asked.role == "embed" { Sent::Nothing } else { play(asked) });
    let began = silent.time();
    assert_eq!(codes(&asked(&silent, &corpus, &request)), ["embedding_failed"]);
    assert_eq!(silent.count("embed"), 2);
    assert!((20_000..25_000).contains(&(silent.time() - began)), "{}", silent.time() - began);
}

#[test]
fn a_query_is_embedded_within_the_run_s_budget_or_not_at_all() {
    let corpus = indexed(&house());
    let unhappy = |asked: &Asked| {
        if asked.role == "embed" { Sent::Fails(ProviderError::Network { sent: false }) } else { play(asked) }
    };
    for (max_calls, sent) in [(0, 0), (1, 0), (2, 1), (3, 2), (40, 3)] {
        let network = Scripted::new(unhappy);
        let mut request = naive();
        request["limits"] = json!({ "max_calls": max_calls });
        let answer = asked(&network, &corpus, &request);
        assert_eq!(network.count("embed"), sent, "of {max_calls} calls");
        let calls = answer["usage"]["calls"].as_object().unwrap();
        let made: u64 = calls.iter().filter(|(name, _)| *name != "retrieve").map(|(_, n)| n.as_u64().unwrap()).sum();
        assert!(made <= max_calls, "{calls:?}");
        assert!(codes(&answer).contains(&"embedding_failed"), "{answer}");
    }
}

#[test]
fn an_index_of_words_alone_needs_no_vector() {
    let corpus = RefCell::new(Corpus::default());
    for document in house() {
        corpus.borrow_mut().add(&document).unwrap();
    }
    let network = Scripted::new(play);
    assert_eq!(
        add(&network, &Value::Null, &corpus, &document("attic.md", "# Attic\n\nNobody rests here.")).unwrap(),
        1
    );
    let answer = asked(&network, &corpus, &naive());
    assert_eq!((network.count("embed"), codes(&answer)), (0, vec![]));
}

#[test]
fn an_index_takes_the_vectors_of_its_own_model_only() {
    let snapshot = indexed(&house()).borrow().save();
    let model = |name: &str, dimension| EmbeddingModel { name: name.to_owned(), dimension };
    let loaded = |model: &EmbeddingModel| {
        let mut corpus = Corpus::default();
        corpus.load_of(snapshot.clone(), model).map(|()| corpus)
    };
    assert!(loaded(&model("words-3", None)).is_ok() && loaded(&model("words-3", Some(3))).is_ok());
    for (other, given) in
        [(model("words-4", None), "words-4 was"), (model("words-3", Some(4)), "words-3 with 4 dimensions")]
    {
        let Err(error) = loaded(&other) else { panic!("{given} is another model") };
        assert!(matches!(error, CorpusError::ModelMismatch { .. }));
        let message = error.to_string();
        assert!(message.contains("words-3 with 3 dimensions") && message.contains(given), "{message}");
        assert_eq!(Problem::from(error).code, "model_mismatch");
    }
    // Nor do the vectors of another model come to it with a document.
    let mut corpus = loaded(&model("words-3", None)).unwrap();
    let (before, more) = (corpus.save(), document("attic.md", "# Attic\n\nNobody rests here."));
    assert!(corpus.add_embedded(&more, &model("words-4", None), vec![vec![1.0, 0.0, 0.0]]).is_err());
    assert!(corpus.add_embedded(&more, &model("words-3", None), vec![vec![1.0, 0.0]]).is_err());
    assert!(corpus.add_embedded(&more, &model("words-3", None), vec![vec![1.0, 0.0, 0.0]; 2]).is_err());
    assert_eq!(corpus.save(), before);
}

#[test]
fn a_document_is_indexed_whole_or_not_at_all() {
    let sections = "## Section

The night of this section is quiet.

"
    .repeat(150);
    let document = document("nights.md", &sections);
    let network = Scripted::new(play);
    let corpus = RefCell::default();
    assert_eq!(add(&network, &Value::Null, &corpus, &document).unwrap(), 150);
    assert_eq!(network.count("embed"), 150_usize.div_ceil(MAX_TEXTS));
    let (before, changed) = (corpus.borrow().save(), document);
    let changed = Document { source: changed.source.replace("quiet", "loud"), ..changed };
    let breaks = |asked: &Asked| if asked.n == 1 { reply(401, Headers::default(), b"") } else { play(asked) };
    let network = Scripted::new(breaks);
    let problem = add(&network, &Value::Null, &corpus, &changed).unwrap_err();
    assert_eq!((problem.code, problem.service_code), ("provider_failed", Some("unauthorized")));
    assert_eq!(network.count("embed"), 2);
    assert_eq!(corpus.borrow().save(), before);
}

#[test]
fn requests_are_no_larger_than_services_take() {
    let block = format!("```\n{}\n```\n", "sleep é\n".repeat(4_000));
    let blocks = format!("## Block\n\n{block}\n").repeat(9);
    let network = Scripted::new(|asked| {
        let lengths: Vec<usize> =
            asked.body["input"].as_array().unwrap().iter().map(|t| t.as_str().unwrap().len()).collect();
        assert!(lengths.iter().sum::<usize>() <= MAX_BYTES && lengths.iter().all(|length| *length <= MAX_TEXT_BYTES));
        play(asked)
    });
    let corpus = RefCell::default();
    add(&network, &Value::Null, &corpus, &document("blocks.md", &blocks)).unwrap();
    assert_eq!(network.count("embed"), 2, "six blocks of 16,000 bytes, then the others");
}

#[test]
fn a_passage_whose_vector_cannot_be_used_is_named() {
    let section = |n| format!("## Section {n}\n\nNight {n} of this section.\n\n");
    let sections = (0..70).map(section).collect::<Vec<_>>().concat();
    let network = Scripted::new(|asked| {
        let texts = asked.body["input"].as_array().unwrap();
        let item = |text: &Value| {
            let is_bad = text.as_str().unwrap().contains("Night 67 ");
            json!({ "embedding": if is_bad { [0.0; 3] } else { [0.0, 1.0, 0.0] } })
        };
        Sent::json(&json!({ "data": texts.iter().map(item).collect::<Vec<_>>() }))
    });
    let corpus = RefCell::default();
    let problem = add(&network, &Value::Null, &corpus, &document("nights.md", &sections)).unwrap_err();
    assert!(problem.message.contains("nights.md#67"), "{}", problem.message);
    assert_eq!(corpus.borrow().index().passages(), 0);
}

#[test]
fn batches_are_those_that_the_vendor_takes() {
    let sections = format!("## Section\n\n{}\n\n", "The night of this section is quiet. ".repeat(30)).repeat(60);
    let sizes = |vendor: &str| {
        let network = Scripted::new(|asked| {
            let texts = asked.body["input"].as_array().unwrap();
            let bytes: usize = texts.iter().map(|text| text.as_str().unwrap().len()).sum();
            assert!(bytes <= if asked.url.contains("/mistral/") { 32_000 } else { MAX_BYTES }, "{bytes}");
            vectors(asked)
        });
        let place = json!({ "base_url": format!("https://services.example/{vendor}"), "key": "k" });
        let corpus = RefCell::default();
        add(&network, &json!({ "vendor": vendor, "place": place }), &corpus, &document("nights.md", &sections))
            .unwrap();
        network.count("embed")
    };
    assert!(sizes("mistral") > 2 * sizes("openai"), "{} and {}", sizes("mistral"), sizes("openai"));
}

#[test]
fn a_first_document_without_a_word_settles_the_dimension_all_the_same() {
    let badge = document("badge.md", "[![ok](https://a.example/b.svg)](https://a.example)");
    let corpus = indexed(&[document("empty.md", ""), badge, house().remove(1)]);
    assert_eq!(corpus.borrow().index().identity().map(|identity| identity.dimension), Some(3));
    let answer = asked(&Scripted::new(play), &corpus, &naive());
    assert_eq!(answer["sources"][0]["passage_id"], "bedroom.md#0");
}

#[test]
fn every_fixture_of_vectors_is_a_document_s_vectors_or_the_reason_why_there_are_none() {
    let mut rows = std::collections::BTreeSet::new();
    for (name, fixture) in all().into_iter().filter(|(_, fixture)| fixture["codec"] == "embed") {
        let sections =
            fixture["texts"].as_array().unwrap().iter().map(|t| format!("## {0}\n\n{0}\n\n", t.as_str().unwrap()));
        let document = document("letters.md", &sections.collect::<String>());
        let (sent, corpus) = (fixture.clone(), RefCell::default());
        let network = Scripted::new(move |_| reply(200, headers(&sent), &body(&sent)));
        let dimensions = fixture.get("dimension").map_or(Value::Null, |dimension| json!({ "dimensions": dimension }));
        let added = add(&network, &dimensions, &corpus, &document);
        let corpus = corpus.into_inner();
        if let Some(vectors) = fixture["expect"]["vectors"].as_array() {
            assert_eq!(added.unwrap(), vectors.len(), "{name}");
            for (n, vector) in vectors.iter().enumerate() {
                let vector: Vec<f32> = vector.as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect();
                let hits = corpus.search_near("?", Some(&vector), 1).unwrap();
                assert_eq!(hits[0].passage.id, format!("letters.md#{n}"), "{name}");
            }
        } else {
            let problem = added.unwrap_err();
            let code = problem.service_code.map(str::to_owned);
            assert_eq!(
                (problem.code, code.as_deref()),
                ("provider_failed", Some(text(&fixture["expect"], "code"))),
                "{name}"
            );
            // What is worth one repetition while somebody waits is worth three where nobody does.
            let calls = if fixture["calls"] == 1 { 1 } else { 4 };
            assert_eq!(network.count("embed"), calls, "{name}: calls");
            assert_eq!(corpus.index().passages(), 0, "{name}: nothing is stored");
            rows.insert(text(&fixture, "row").to_owned());
        }
    }
    assert_eq!(rows.iter().map(String::as_str).collect::<Vec<_>>(), ["F65", "F66", "F67", "F68", "F69", "F70"]);
}

#[test]
fn a_service_that_limits_the_rate_is_waited_for_while_documents_are_indexed() {
    let limited = |asked: &Asked| {
        let headers = [("retry-after", "60")].into_iter().collect();
        if asked.n < 3 { reply(429, headers, b"") } else { play(asked) }
    };
    let (network, corpus) = (Scripted::new(limited), RefCell::default());
    let began = network.time();
    add(&network, &Value::Null, &corpus, &house()[0]).unwrap();
    assert_eq!(network.count("embed"), 4);
    assert!(network.time() - began >= 3 * 60_000);
    // Who waits for an answer does not wait for a minute.
    let (network, corpus) = (Scripted::new(limited), indexed(&house()));
    let began = network.time();
    assert_eq!(codes(&asked(&network, &corpus, &naive())), ["embedding_failed"]);
    assert_eq!(network.count("embed"), 1);
    assert!(network.time() - began < Limits::default().deadline);
}
