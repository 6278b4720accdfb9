//! One file a case in `fixtures/`: what a service sends and what must come of it; README.md beside
//! this file has the fields.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use countercheck::provider::chat::workers_ai::BINDING;
use countercheck::provider::chat::{
    ChatDelta, ChatModel, ChatReply, ChatRequest, ChatStream, Message, ReplyFormat, Role,
};
use countercheck::provider::error::{Phase, ProviderError};
use countercheck::provider::http::{Endpoint, HttpRequest, HttpResponse, Method};
use countercheck::provider::logprobs::Token;
use countercheck::provider::search::{self, SearchEngine, WebQuery, WebResult};
use countercheck::provider::sse::SseLimits;
use countercheck::provider::vendor::vendor as of;
use countercheck::provider::verdict;
use countercheck::retry::{Failed, Next, Repeat, Retries, RetryPolicy, repeat};
use serde_json::{Value, json};

use crate::files::{NOW, all, body, headers, is_visible, text};
use crate::{CANARY, embedding, endpoint, model};

/// What no message of ours may repeat.
const THEIRS: [&str; 3] = ["upstream text", "flagged", CANARY];

/// What README.md describes.
pub const FIELDS: &str = "row codec status headers body body_hex json wire failure limits reply settings request query \
                          limit options texts dimension purpose expect expect_by_host retry calls";

fn response(fixture: &Value) -> HttpResponse {
    HttpResponse { status: fixture["status"].as_u64().unwrap() as u16, headers: headers(fixture), body: body(fixture) }
}

fn reply_value(reply: &ChatReply) -> Value {
    let mut value = json!({ "text": reply.text, "finish": format!("{:?}", reply.finish) });
    if let Some(usage) = reply.usage {
        value["usage"] = json!([usage.input_tokens, usage.output_tokens]);
    }
    if let Some(model) = &reply.model {
        value["model"] = json!(model);
    }
    if reply.lossy {
        value["lossy"] = json!(true);
    }
    if !reply.tokens.is_empty() {
        let token = |token: &Token| json!([token.text, token.logprob, token.top]);
        value["tokens"] = reply.tokens.iter().map(token).collect();
    }
    json!({ "reply": value })
}

fn error_value(error: ProviderError) -> Value {
    let message = error.to_string();
    assert!(!THEIRS.iter().any(|theirs| message.contains(theirs)), "{message}");
    json!({ "error": format!("{error:?}"), "code": error.code() })
}

fn chat_value(result: Result<ChatReply, ProviderError>) -> (Value, Option<ProviderError>) {
    match result {
        Ok(reply) => (reply_value(&reply), None),
        Err(error) => (error_value(error), Some(error)),
    }
}

/// Streams a body in pieces of one length.
fn streamed(mut stream: ChatStream, body: &[u8], piece: usize) -> (Value, Option<ProviderError>) {
    let mut deltas = Vec::new();
    for bytes in body.chunks(piece) {
        if stream.feed(bytes, &mut deltas).is_err() {
            break;
        }
    }
    let shown: String = deltas.iter().map(|delta| if let ChatDelta::Text(text) = delta { text } else { "" }).collect();
    assert_eq!(stream.text(), shown, "the deltas are the text");
    let (mut value, error) = chat_value(stream.end());
    match &error {
        None => assert_eq!(value["reply"]["text"], shown),
        Some(_) => value["text"] = json!(shown),
    }
    (value, error)
}

fn stream(model: &ChatModel, fixture: &Value) -> (Value, Option<ProviderError>) {
    let response = response(fixture);
    let limit = |i: usize| fixture["limits"][i].as_u64().map(|limit| limit as usize);
    let default = SseLimits::default();
    let limits = SseLimits { event: limit(0).unwrap_or(default.event), total: limit(1).unwrap_or(default.total) };
    let whole = response.body.len().max(1);
    let run = |piece| match model.open(response.status, &response.headers, limits) {
        Some(stream) => streamed(stream, &response.body, piece),
        None => chat_value(model.reply(&response)),
    };
    let expected = run(whole);
    // Every size of piece for what is short; a long body is about its length.
    for piece in if whole < 4096 { 1..whole.min(64) } else { 1000..1001 } {
        assert_eq!(run(piece), expected, "in pieces of {piece} bytes");
    }
    let wants_text = fixture["expect"].get("text").is_some();
    let (mut value, error) = expected;
    if let (Some(fields), false) = (value.as_object_mut(), wants_text) {
        fields.remove("text");
    }
    (value, error)
}

fn engine(vendor: &str, fixture: &Value) -> SearchEngine {
    let codec = of(search::VENDORS, vendor).unwrap().codec;
    let options = serde_json::from_value(fixture["options"].clone()).unwrap_or_default();
    let endpoint =
        if fixture["settings"]["binding"] == true { Endpoint::parse(BINDING, None).unwrap() } else { endpoint() };
    SearchEngine { codec, endpoint, options }
}

fn searched(vendor: &str, fixture: &Value) -> (Value, Option<ProviderError>) {
    let asked = WebQuery { query: "q".into(), limit: 5, text_limit: 2000 };
    let result = |r: &WebResult| {
        let mut value = json!({ "title": r.title, "url": r.url, "text": r.text, "score": r.score });
        if !r.also.is_empty() {
            value["also"] = json!(r.also);
        }
        value
    };
    match engine(vendor, fixture).reply(&asked, &response(fixture)) {
        Ok(results) => (json!({ "results": results.iter().map(result).collect::<Vec<_>>() }), None),
        Err(error) => (error_value(error), Some(error)),
    }
}

fn embedded(vendor: &str, fixture: &Value) -> (Value, Option<ProviderError>) {
    let asked = embedding::asked(fixture).unwrap();
    match embedding::codec(vendor, &fixture["settings"]).reply(&asked, &response(fixture)) {
        Ok(vectors) => (json!({ "vectors": vectors }), None),
        Err(error) => (error_value(error), Some(error)),
    }
}

fn verdict_value(fixture: &Value) -> Value {
    let reply = text(fixture, "reply");
    let mut value = json!({});
    for name in fixture["expect"].as_object().unwrap().keys() {
        value[name] = match name.as_str() {
            "binary" => json!(verdict::binary(reply).map_or("unknown", |yes| if yes { "yes" } else { "no" })),
            "score" => json!(verdict::score(reply)),
            _ => json!(verdict::scale(reply)),
        };
    }
    value
}

/// The verdict on each text, or its score.
fn batch_value(fixture: &Value) -> Value {
    let (reply, expect) = (text(fixture, "reply"), fixture["expect"].as_object().unwrap());
    let (name, expected) = expect.iter().next().unwrap();
    let item = |place: Option<Range<usize>>| place.map(|place| &reply[place]);
    let grade = |item: Option<&str>| match name.as_str() {
        "grades" => json!(item.and_then(verdict::binary).map_or("unknown", |yes| if yes { "yes" } else { "no" })),
        _ => json!(item.and_then(verdict::score)),
    };
    let places = verdict::items(reply, expected.as_array().unwrap().len());
    json!({ name: places.into_iter().map(|place| grade(item(place))).collect::<Vec<_>>() })
}

fn request_value(request: &HttpRequest) -> Value {
    let headers: BTreeMap<_, _> = request.headers.iter().map(|(name, value)| (*name, value.reveal())).collect();
    let mut value = json!({ "url": request.url, "headers": headers });
    if request.method == Method::Post {
        value["body"] = serde_json::from_slice(&request.body).unwrap();
    }
    value
}

fn chat_request(vendor: &str, fixture: &Value) -> Value {
    let (settings, asked) = (&fixture["settings"], &fixture["request"]);
    let message = |pair: &Value| Message {
        role: match pair[0].as_str().unwrap() {
            "system" => Role::System,
            "user" => Role::User,
            _ => Role::Assistant,
        },
        content: pair[1].as_str().unwrap().to_owned(),
    };
    let format = match &asked["format"] {
        Value::String(name) if name == "json" => ReplyFormat::Json,
        Value::String(_) => ReplyFormat::Text,
        schema => ReplyFormat::Schema {
            name: text(schema, "name").to_owned().into(),
            schema: Cow::Owned(schema["schema"].clone()),
        },
    };
    let mut to = model(settings["vendor"].as_str().unwrap_or(vendor));
    if settings["key"] == json!(false) {
        to.endpoint = Endpoint::parse("https://api.example.org/v1", None).unwrap();
    }
    if settings["binding"] == json!(true) {
        to.endpoint = Endpoint::parse(BINDING, None).unwrap();
    }
    request_value(&to.request(&ChatRequest {
        messages: asked["messages"].as_array().unwrap().iter().map(message).collect(),
        temperature: asked["temperature"].as_f64().map(|t| t as f32),
        max_tokens: asked["max_tokens"].as_u64().unwrap() as u32,
        format,
        stream: asked["stream"] == json!(true),
        logprobs: asked["logprobs"] == json!(true),
        largest_reply: 2 << 20,
    }))
}

fn search_request(vendor: &str, fixture: &Value) -> Value {
    let limit = fixture["limit"].as_u64().unwrap() as usize;
    let asked = WebQuery { query: text(fixture, "query").to_owned(), limit, text_limit: 2000 };
    request_value(&engine(vendor, fixture).request(&asked))
}

fn embed_request(vendor: &str, fixture: &Value) -> Value {
    match embedding::asked(fixture) {
        Ok(asked) => request_value(&embedding::codec(vendor, &fixture["settings"]).request(&asked)),
        Err(error) => json!({ "error": format!("{error:?}") }),
    }
}

fn failure(name: &str) -> ProviderError {
    match name {
        "network_unsent" => ProviderError::Network { sent: false },
        "network_sent" => ProviderError::Network { sent: true },
        "cors_or_network" => ProviderError::CorsOrNetwork,
        "timeout_headers" => ProviderError::Timeout { phase: Phase::Headers },
        "timeout_idle" => ProviderError::Timeout { phase: Phase::Idle },
        "truncated" => ProviderError::Truncated,
        _ => ProviderError::Timeout { phase: Phase::Deadline },
    }
}

/// How often a service that always fails like this is called for one task.
fn calls(fixture: &Value, error: ProviderError) -> u32 {
    let headers = headers(fixture);
    let visible = is_visible(fixture);
    let failed = Failed { error, headers: Some(&headers), now: NOW, remaining: 60_000, visible };
    let mut retries = Retries::new(RetryPolicy::default(), 1);
    while let Next::Wait(_) = retries.after(&failed) {}
    1 + retries.used()
}

/// Whether and when the failure is retried: `wait` is a range of milliseconds; without it there is no
/// retry, and `gives_up` is the time that is reported instead.
fn assert_retried(name: &str, fixture: &Value, error: ProviderError) {
    let expected = &fixture["retry"];
    let kind = match repeat(error) {
        Repeat::Safe => "safe",
        Repeat::Ambiguous => "ambiguous",
        Repeat::Never => "never",
    };
    assert_eq!(expected["repeat"], kind, "{name}");
    let (headers, visible) = (headers(fixture), is_visible(fixture));
    let failed = Failed { error, headers: Some(&headers), now: NOW, remaining: 60_000, visible };
    for seed in 0..50 {
        let next = Retries::new(RetryPolicy::default(), seed).after(&failed);
        match (&expected["wait"], next) {
            (Value::Array(range), Next::Wait(wait)) => {
                assert!((range[0].as_u64()..=range[1].as_u64()).contains(&Some(wait)), "{name} waits {wait}");
            }
            (Value::Null, Next::GiveUp { retry_after }) => {
                assert_eq!(retry_after, expected["gives_up"].as_u64(), "{name}");
            }
            (_, next) => panic!("{name}: {next:?}"),
        }
    }
}

/// What a vendor's codec makes of a case.
pub fn decoded(vendor: &str, name: &str, fixture: &Value) -> (Value, Option<ProviderError>) {
    match text(fixture, "codec") {
        "chat" => chat_value(model(vendor).reply(&response(fixture))),
        "chat-stream" => stream(&model(vendor), fixture),
        "search" => searched(vendor, fixture),
        "embed" => embedded(vendor, fixture),
        "verdict" => (verdict_value(fixture), None),
        "batch" => (batch_value(fixture), None),
        "chat-request" => (chat_request(vendor, fixture), None),
        "search-request" => (search_request(vendor, fixture), None),
        "embed-request" => (embed_request(vendor, fixture), None),
        "host" => {
            let error = failure(text(fixture, "failure"));
            (error_value(error), Some(error))
        }
        codec => panic!("{name}: no codec {codec:?}"),
    }
}

#[test]
fn every_fixture_is_decoded_as_it_says() {
    for (name, fixture) in all() {
        let vendor = if text(&fixture, "codec").starts_with("search") { "tavily" } else { "openai" };
        let (found, error) = decoded(vendor, &name, &fixture);
        let mut expected = fixture["expect"].clone();
        if text(&fixture, "codec") == "host" {
            expected.as_object_mut().unwrap().remove("text");
        }
        assert_eq!(found, expected, "{name}");
        match (error, fixture.get("limits")) {
            (Some(error), None) => assert_eq!(fixture["calls"], calls(&fixture, error), "{name}"),
            // As the whole of a reply it may be none.
            (None, _) if text(&fixture, "codec") == "verdict" => (),
            (_, _) => assert_eq!(fixture.get("calls"), None, "{name}"),
        }
        match (error, fixture.get("retry")) {
            (Some(error), Some(_)) => assert_retried(&name, &fixture, error),
            (None, Some(_)) => panic!("{name}: nothing failed"),
            (_, None) => (),
        }
    }
}

#[test]
fn every_row_that_concerns_decoding_has_a_fixture() {
    let fixtures = all();
    let rows: BTreeSet<&str> = fixtures.values().map(|fixture| text(fixture, "row")).collect();
    let missing: Vec<String> =
        (1..=76).map(|n| format!("F{n:02}")).filter(|row| !rows.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
    // What no service sends has a test of its own.
    let others = include_str!("../service/interrupted.rs");
    assert!((77..=80).all(|n| others.to_uppercase().contains(&format!("F{n}"))));
    for (name, fixture) in &fixtures {
        assert!(name.starts_with(text(fixture, "row")), "{name}");
        assert!(fixture.as_object().unwrap().keys().all(|key| FIELDS.split(' ').any(|field| field == key)), "{name}");
    }
}
