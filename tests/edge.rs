//! The Worker's decisions, without a Worker: routes, settings, origins, bodies, streams.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use countercheck::corpus::Corpus;
use countercheck::document::{Document, Format};
use countercheck::driver::Offline;
use countercheck::edge::answering::{answer, conclude, task_response};
use countercheck::edge::body::{self, BodyError, MAX_READ_BYTES, READ_DEADLINE};
use countercheck::edge::events::{EventStream, Events, KEEP_ALIVE, KEEP_ALIVE_EVERY};
use countercheck::edge::origins::Origins;
use countercheck::edge::route::{Endpoint, Route, RouteError, is_json, prefers_events};
use countercheck::edge::settings::{Settings, SettingsError};
use countercheck::host::Host;
use countercheck::pipeline::budget::{Limits, Millis, Tokens};
use countercheck::pipeline::run::{Outcome, Reply};
use countercheck::pipeline::task::TaskReply;
use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::Verdict;
use countercheck::problem::Problem;
use countercheck::wire::task::TaskResponse;
use countercheck::wire::{AskRequest, Asked};
use futures_util::stream::{Stream, iter};
use proptest::prelude::*;

thread_local! {
    static NOW: Cell<Millis> = const { Cell::new(0) };
}

/// A clock that the test sets.
#[derive(Clone, Copy)]
struct Clock;

impl Host for Clock {
    fn now(&self) -> Millis {
        NOW.get()
    }

    async fn sleep(&self, duration: Millis) {
        let end = NOW.get() + duration;
        poll_fn(|_| if NOW.get() < end { Poll::Pending } else { Poll::Ready(()) }).await;
    }
}

fn pass(duration: Millis) {
    NOW.set(NOW.get() + duration);
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn next(stream: &mut EventStream<Clock>) -> Poll<Option<String>> {
    Pin::new(stream).poll_next(&mut Context::from_waker(Waker::noop()))
}

fn frame(frame: &str) -> Poll<Option<String>> {
    Poll::Ready(Some(frame.to_owned()))
}

#[test]
fn paths_are_compared_exactly() {
    let table = [
        ("/v1/ask", Route::Api(Endpoint::Ask)),
        ("/v1/search", Route::Api(Endpoint::Search)),
        ("/healthz", Route::Api(Endpoint::Health)),
        ("/v1", Route::Unknown),
        ("/v1/", Route::Unknown),
        ("/v1/ask/", Route::Unknown),
        ("/v1/ask/x.css", Route::Unknown),
        ("/v1/ASK", Route::Unknown),
        ("/v1/%61sk", Route::Unknown),
        ("/v1x", Route::Asset),
        ("//v1/ask", Route::Asset),
        ("/healthz/", Route::Asset),
        ("/", Route::Asset),
        ("", Route::Asset),
    ];
    for (path, route) in table {
        assert_eq!(Route::of(path), route, "{path}");
    }
}

#[test]
fn an_endpoint_names_the_methods_it_takes() {
    for method in ["GET", "HEAD", "PUT", "DELETE", "post", "PROPFIND", ""] {
        let refused = RouteError::Method { allowed: "POST, OPTIONS" };
        assert_eq!(Endpoint::Ask.takes(method), Err(refused), "{method}");
    }
    assert_eq!(Endpoint::Search.takes("POST"), Ok(()));
    assert_eq!(Endpoint::Health.takes("HEAD"), Ok(()));
    assert_eq!(Endpoint::Health.takes("POST"), Err(RouteError::Method { allowed: "GET, HEAD, OPTIONS" }));
    assert_eq!(Problem::from(RouteError::Method { allowed: "POST, OPTIONS" }).status, 405);
}

#[test]
fn events_are_sent_only_where_accept_prefers_them() {
    let table = [
        (None, false),
        (Some(""), false),
        (Some("*/*"), false),
        (Some("application/json"), false),
        (Some("text/html"), false),
        (Some("text/html, application/json;q=0"), false),
        (Some("text/event-stream"), true),
        (Some("Text/Event-Stream; charset=utf-8"), true),
        (Some("text/event-stream, */*"), true),
        (Some("text/*"), true),
        (Some("application/json;q=0.9, text/event-stream"), true),
        (Some("application/json, text/event-stream;q=0.9"), false),
        (Some("application/json, text/event-stream"), false),
        (Some("text/event-stream;q=0.5, */*;q=0.1"), true),
        (Some("text/event-stream;q=0.5, */*"), false),
        (Some("text/event-stream;q=0"), false),
        (Some("text/event-stream;q=0, text/*"), false),
        (Some("text/event-stream;q=2"), false),
        (Some("text/event-stream;level=1;q=0.2, application/json;q=0.1"), true),
        (Some(";;,,q=1,/"), false),
    ];
    for (accept, events) in table {
        assert_eq!(prefers_events(accept), events, "{accept:?}");
    }
}

#[test]
fn a_body_must_say_that_it_is_json() {
    for json in ["application/json", "Application/JSON", "application/json; charset=utf-8", " application/json ;x"] {
        assert!(is_json(Some(json)), "{json}");
    }
    let others =
        ["", "text/plain", "application/x-www-form-urlencoded", "application/json, text/plain", "application/jsonp"];
    for other in others {
        assert!(!is_json(Some(other)), "{other}");
    }
    assert!(!is_json(None));
}

/// A body's limit, for instance that of a question.
const MAX_BODY_BYTES: usize = 16 << 10;

fn settings(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    let find = |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    Settings::parse(|name| Ok(find(name)))
}

#[test]
fn settings_have_defaults() {
    let settings = settings(&[]).expect("defaults are good");
    assert_eq!(settings.index_path, "/docs.ccx");
    assert_eq!(settings.embedder_path.as_deref(), Some("/pkg/embedder.bin"));
    assert_eq!(settings.allowed_origins, Origins::default());
}

#[test]
fn an_empty_embedder_path_means_words_alone() {
    for empty in ["", "  "] {
        assert_eq!(settings(&[("EMBEDDER_PATH", empty)]).expect("allowed").embedder_path, None);
    }
}

#[test]
fn wrong_settings_are_named_with_their_value() {
    let wrong = [
        ("INDEX_PATH", ""),
        ("INDEX_PATH", "docs.ccx"),
        ("INDEX_PATH", "https://example.com/docs.ccx"),
        ("INDEX_PATH", "/a/../docs.ccx"),
        ("INDEX_PATH", "/docs.ccx?x"),
        ("INDEX_PATH", "/docs/"),
        ("INDEX_PATH", "/do cs.ccx"),
        ("EMBEDDER_PATH", "embedder.bin"),
        ("ALLOWED_ORIGINS", "*"),
    ];
    for (name, value) in wrong {
        let problem = Problem::from(settings(&[(name, value)]).expect_err(value));
        assert_eq!((problem.code, problem.status), ("misconfigured", 503));
        assert!(problem.message.contains(name) && problem.message.contains(value), "{}", problem.message);
    }
}

#[test]
fn a_key_is_not_used_where_anybody_could_use_it() {
    let chat = [("CHAT_BASE_URL", "https://api.example.org/v1"), ("CHAT_MODEL", "m"), ("CHAT_API_KEY", "canary-7f3a")];
    let search = [("SEARCH_API_KEY", "canary-7f3a")];
    let embed =
        [("EMBED_BASE_URL", "https://api.example.org/v1"), ("EMBED_MODEL", "m"), ("EMBED_API_KEY", "canary-7f3a")];
    let origins = ("ALLOWED_ORIGINS", "https://docs.example.org");
    let with = |own: &[(&str, &str)], more: &[(&str, &str)]| settings(&[own, more].concat()).expect("can be used");
    for key in [&chat[..], &search, &embed] {
        let bare = with(key, &[]);
        assert_eq!(bare.guard(true), Err(SettingsError::Unguarded { missing: "ALLOWED_ORIGINS" }));
        let listed = with(key, &[origins]);
        assert_eq!(listed.guard(false), Err(SettingsError::Unguarded { missing: "RATE_LIMITER" }));
        assert_eq!(listed.guard(true), Ok(()));
        assert_eq!(with(key, &[("LOCAL", "yes")]).guard(false), Ok(()));
        assert!(with(key, &[("LOCAL", "no")]).guard(false).is_err());
        assert!(!format!("{bare:?}").contains("canary"), "the key is shown");
        let problem = Problem::from(bare.guard(false).unwrap_err());
        assert_eq!((problem.code, problem.status), ("misconfigured", 503));
        assert!(problem.message.contains("RATE_LIMITER") && problem.message.contains("LOCAL"), "{problem}");
    }
    for model in [&chat[..2], &embed[..2]] {
        assert_eq!(with(model, &[]).guard(false), Ok(()), "a model without a key costs nobody money");
    }
    for bound in
        [[("CHAT_VENDOR", "workers-ai"), ("CHAT_MODEL", "m")], [("SEARCH_VENDOR", "cloudflare"), ("LOCAL", "no")]]
    {
        assert!(with(&bound, &[]).guard(true).is_err(), "what the Worker is bound to is paid for without a key");
    }
}

#[test]
fn vendors_are_named_and_have_their_own_addresses() {
    let shown = |variables: &[(&str, &str)]| format!("{:?}", settings(variables).expect("can be used").services);
    let anthropic =
        shown(&[("CHAT_VENDOR", "anthropic"), ("CHAT_MODEL", "m"), ("CHAT_API_KEY", "k"), ("LOCAL", "yes")]);
    assert!(anthropic.contains("Anthropic") && anthropic.contains("https://api.anthropic.com/v1"), "{anthropic}");
    let moved =
        shown(&[("CHAT_VENDOR", "gemini"), ("CHAT_MODEL", "m"), ("CHAT_BASE_URL", "https://relay.example/v1beta")]);
    assert!(moved.contains("Gemini") && moved.contains("https://relay.example/v1beta"), "{moved}");
    let searched = shown(&[("SEARCH_VENDOR", "searxng"), ("SEARCH_BASE_URL", "https://searx.example")]);
    assert!(searched.contains("SearXng") && searched.contains("https://searx.example"), "{searched}");
    let embedded = shown(&[("EMBED_VENDOR", "mistral"), ("EMBED_MODEL", "mistral-embed")]);
    assert!(embedded.contains("https://api.mistral.ai/v1"), "{embedded}");
    let bound = shown(&[
        ("CHAT_VENDOR", "workers-ai"),
        ("CHAT_MODEL", "m"),
        ("SEARCH_VENDOR", "cloudflare"),
        ("SEARCH_GATEWAY", "mine"),
    ]);
    assert_eq!((bound.matches("https://ai.binding.invalid").count(), bound.contains("mine")), (5, true), "{bound}");

    let refused = |variables: &[(&str, &str)]| settings(variables).expect_err("it is unknown").to_string();
    assert!(refused(&[("CHAT_VENDOR", "nobody"), ("CHAT_MODEL", "m")]).contains("anthropic"));
    assert!(refused(&[("SEARCH_VENDOR", "nobody")]).contains("brave"));
    assert!(refused(&[("EMBED_VENDOR", "nobody"), ("EMBED_MODEL", "m")]).contains("gemini"));
    assert!(refused(&[("CHAT_VENDOR", "mistral")]).contains("CHAT_MODEL"));
    assert!(refused(&[("SEARCH_VENDOR", "searxng")]).contains("base URL"));
}

#[test]
fn a_model_is_asked_by_one_of_two_protocols() {
    let with = |protocol| {
        let model = [("CHAT_BASE_URL", "https://api.example.org/v1"), ("CHAT_MODEL", "m")];
        settings(&[&model[..], &[("CHAT_PROTOCOL", protocol)]].concat())
    };
    for (protocol, kind) in [("chat", "Chat("), (" completions ", "Completions("), ("", "Chat(")] {
        let settings = with(protocol).expect("it is known");
        assert!(format!("{:?}", settings.services).contains(kind), "{protocol:?}");
    }
    assert_eq!(with("telepathy").unwrap_err(), SettingsError::Protocol);
}

#[test]
fn half_a_model_is_refused_and_no_value_is_repeated() {
    let refused = |variables: &[(&str, &str)]| settings(variables).expect_err("half of it is missing").to_string();
    assert!(refused(&[("CHAT_BASE_URL", "https://api.example.org/v1")]).contains("CHAT_MODEL"));
    assert!(refused(&[("CHAT_MODEL", "m")]).contains("CHAT_BASE_URL"));
    assert!(refused(&[("CHAT_API_KEY", "canary")]).contains("CHAT_BASE_URL"));
    assert!(refused(&[("EMBED_BASE_URL", "https://api.example.org/v1")]).contains("EMBED_MODEL"));
    assert!(refused(&[("EMBED_MODEL", "m")]).contains("EMBED_BASE_URL"));
    assert!(refused(&[("EMBED_API_KEY", "canary")]).contains("EMBED_BASE_URL"));
    let dimensions =
        |many| refused(&[("EMBED_BASE_URL", "https://e.org"), ("EMBED_MODEL", "m"), ("EMBED_DIMENSIONS", many)]);
    assert!(dimensions("many").contains("EMBED_DIMENSIONS"));
    assert!(dimensions("0").contains("dimensions") && dimensions("8193").contains("dimensions"));
    let base = |url, key| refused(&[("CHAT_BASE_URL", url), ("CHAT_MODEL", "m"), ("CHAT_API_KEY", key)]);
    for (url, key) in [
        ("canary.example.org", "k"),
        ("https://canary:canary@example.org", "k"),
        ("http://canary.example.org/v1", "k"),
        ("https://example.org/v1", "canary canary"),
    ] {
        let message = base(url, key);
        assert!(message.contains("CHAT_") && !message.contains("canary"), "{message}");
    }
    let timeout = ("CHAT_IDLE_TIMEOUT_MS", "soon");
    assert!(
        refused(&[("CHAT_BASE_URL", "https://e.org"), ("CHAT_MODEL", "m"), timeout]).contains("CHAT_IDLE_TIMEOUT_MS")
    );
}

/// What nobody would look at is no setting: whoever set it believes that it holds.
#[test]
fn a_setting_that_nothing_would_use_is_refused_and_what_it_needs_is_named() {
    let chat = [("CHAT_VENDOR", "ollama"), ("CHAT_MODEL", "m")];
    let embed = [("EMBED_VENDOR", "ollama"), ("EMBED_MODEL", "m")];
    let mistral = [("SEARCH_VENDOR", "mistral")];
    let cloudflare = [("SEARCH_VENDOR", "cloudflare")];
    for (given, value, partner) in [
        ("CHAT_PROTOCOL", "chat", &chat[..]),
        ("CHAT_HEADERS_TIMEOUT_MS", "9", &chat),
        ("CHAT_IDLE_TIMEOUT_MS", "9", &chat),
        ("CHAT_CONFIDENCE", "yes", &chat),
        ("CACHE_BYTES", "9", &chat),
        ("EMBED_DIMENSIONS", "9", &embed),
        ("SEARCH_MODEL", "m", &mistral),
        ("SEARCH_ENGINE", "exa", &cloudflare),
        ("SEARCH_GATEWAY", "mine", &cloudflare),
    ] {
        let alone = settings(&[(given, value)]).expect_err(given).to_string();
        let needed = partner.iter().find(|(name, _)| alone.contains(name));
        assert!(alone.contains(given) && needed.is_some(), "{alone}");
        settings(&[partner, &[(given, value)]].concat()).expect(given);
    }
    let refused = |variables: &[(&str, &str)]| settings(variables).expect_err("nobody uses it").to_string();
    assert!(refused(&[("SEARCH_API_KEY", "canary"), ("SEARCH_MODEL", "m")]).contains("SEARCH_VENDOR"));
    assert!(refused(&[("SEARCH_VENDOR", "brave"), ("SEARCH_MODEL", "m")]).contains("no model to choose"));
    assert!(refused(&[mistral[0], ("SEARCH_ENGINE", "exa")]).contains("no engine to choose"));
    let completions = [("CHAT_BASE_URL", "https://e.org"), ("CHAT_MODEL", "m"), ("CHAT_PROTOCOL", "completions")];
    for own in [("CHAT_VENDOR", "mistral"), ("CHAT_CONFIDENCE", "yes")] {
        assert!(refused(&[&completions[..], &[own]].concat()).contains(own.0));
    }
    for flag in ["LOCAL", "CHAT_CONFIDENCE"] {
        let wrong = refused(&[&chat[..], &[(flag, "true")]].concat());
        assert!(wrong.contains(flag) && wrong.contains("yes or no"), "{wrong}");
    }
}

#[test]
fn a_setting_that_is_not_text_is_refused() {
    let result = Settings::parse(|name| Err(SettingsError::NotText { name }));
    assert_eq!(result.err(), Some(SettingsError::NotText { name: "EMBEDDER_PATH" }));
}

/// what looks like an allowed origin is not one.
#[test]
fn only_the_very_same_origin_is_allowed() {
    let origins = Origins::parse("https://docs.example.com, http://localhost:3000").expect("origins");
    for allowed in ["https://docs.example.com", "http://localhost:3000"] {
        assert_eq!(origins.allow(Some(allowed)), Some(allowed));
    }
    let others = [
        "null",
        "",
        "https://docs.example.com.evil.test",
        "https://evil-docs.example.com",
        "https://evil.test/https://docs.example.com",
        "http://docs.example.com",
        "https://docs.example.com:8443",
        "https://docs.example.com:443",
        "https://DOCS.example.com",
        "HTTPS://docs.example.com",
        "https://docs.example.com.",
        "https://docs.example.com/",
        "https://docs.example.com, https://docs.example.com",
        "https://docs.example.com https://evil.test",
        "http://localhost",
        "http://localhost:30000",
        "*",
    ];
    for other in others {
        assert_eq!(origins.allow(Some(other)), None, "{other}");
    }
    assert_eq!(origins.allow(None), None);
    assert_eq!(Origins::default().allow(Some("https://docs.example.com")), None);
}

#[test]
fn an_origin_no_browser_sends_is_a_mistake_in_the_settings() {
    let good = [
        "https://a.example",
        "http://127.0.0.1:8787",
        "http://[::1]:8787",
        "https://xn--bcher-kva.example",
        "http://localhost",
        "",
    ];
    for list in good {
        assert!(Origins::parse(list).is_ok(), "{list}");
    }
    let wrong = [
        "*",
        "null",
        "docs.example.com",
        "//docs.example.com",
        "ftp://docs.example.com",
        "https://",
        "https://*.example.com",
        "https://docs.example.com/",
        "https://docs.example.com/a",
        "https://docs.example.com.",
        "https://Docs.example.com",
        "https://docs.example.com:443",
        "http://docs.example.com:80",
        "https://docs.example.com:",
        "https://docs.example.com:0",
        "https://docs.example.com:+8",
        "https://docs.example.com:99999",
        "https://a@docs.example.com",
        "https://[::1",
        "https://bücher.example",
        "https://a.example https://b.example",
    ];
    for list in wrong {
        let error = Origins::parse(&format!("https://good.example,{list}")).expect_err(list);
        assert_eq!(error.entry, list);
    }
}

type Chunk = Result<Vec<u8>, ()>;

/// Reads a body whose chunks are all there.
fn read(chunks: impl Stream<Item = Chunk>) -> Poll<Result<Vec<u8>, BodyError>> {
    poll(pin!(body::read(chunks, MAX_BODY_BYTES, &Clock)))
}

proptest! {
    #[test]
    fn a_body_is_its_chunks_up_to_the_limit(sizes in prop::collection::vec(0_usize..6000, 0..6), extra in 0_usize..3) {
        let mut sizes = sizes;
        // Half the cases end within a byte of the limit.
        let total: usize = sizes.iter().sum();
        if extra > 0 && total < MAX_BODY_BYTES {
            sizes.push(MAX_BODY_BYTES - total + extra - 1);
        }
        let chunks: Vec<Vec<u8>> = sizes.iter().enumerate().map(|(i, &size)| vec![i as u8; size]).collect();
        let whole = chunks.concat();
        let expected = if whole.len() > MAX_BODY_BYTES { Err(BodyError::TooLarge { limit: MAX_BODY_BYTES }) } else { Ok(whole) };
        prop_assert_eq!(read(iter(chunks.into_iter().map(Ok))), Poll::Ready(expected));
    }

    /// whatever an event says, it is one event and comes back as it was.
    #[test]
    fn an_event_stays_one_event(texts in prop::collection::vec("(\\PC|[\r\n\u{0}\u{2028}:]|\n\ndata: |event: ){0,40}", 1..5)) {
        let all = texts.clone();
        let mut stream = EventStream::new(Clock, |events: Events| async move {
            for text in &all {
                events.push("draft-delta", text);
            }
        });
        prop_assert!(matches!(next(&mut stream), Poll::Ready(Some(opening)) if opening.starts_with(':')));
        let Poll::Ready(Some(frames)) = next(&mut stream) else { panic!("the run has told its events") };
        let read: Vec<String> = parse(&frames).into_iter().map(|(name, data)| {
            assert_eq!(name, "draft-delta");
            serde_json::from_str(&data).expect("JSON")
        }).collect();
        prop_assert_eq!(read, texts);
        prop_assert_eq!(next(&mut stream), Poll::Ready(None));
    }
}

/// Server-sent events as the HTML standard parses them (§9.2.6), without id and retry.
fn parse(stream: &str) -> Vec<(String, String)> {
    let (mut events, mut name, mut data) = (Vec::new(), String::new(), Vec::new());
    for line in stream.replace("\r\n", "\n").split(['\r', '\n']) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut name),
            "data" => data.push(value.to_owned()),
            "" if line.is_empty() && !data.is_empty() => {
                events.push((std::mem::take(&mut name), std::mem::take(&mut data).join("\n")));
            }
            _ => {}
        }
    }
    events
}

#[test]
fn a_body_that_does_not_come_in_time_is_given_up() {
    let mut body = pin!(body::read(futures_util::stream::pending::<Chunk>(), MAX_BODY_BYTES, &Clock));
    assert_eq!(poll(body.as_mut()), Poll::Pending);
    pass(READ_DEADLINE - 1);
    assert_eq!(poll(body.as_mut()), Poll::Pending);
    pass(1);
    assert_eq!(poll(body.as_mut()), Poll::Ready(Err(BodyError::TooSlow)));
}

#[test]
fn a_body_that_never_ends_is_given_up() {
    let chunks = Cell::new(0);
    let endless = futures_util::stream::repeat_with(|| {
        chunks.set(chunks.get() + 1);
        Ok(vec![b' '; 4096])
    });
    assert_eq!(read(endless), Poll::Ready(Err(BodyError::TooLarge { limit: MAX_BODY_BYTES })));
    assert_eq!(chunks.get(), MAX_READ_BYTES / 4096 + 1);
}

#[test]
fn a_body_that_breaks_off_is_not_taken_for_whole() {
    assert_eq!(read(iter([Ok(b"{}".to_vec()), Err(())])), Poll::Ready(Err(BodyError::Broken)));
}

#[test]
fn a_stream_begins_before_the_run_does() {
    let mut stream = EventStream::new(Clock, |events: Events| async move { events.push("retrieve", &1) });
    assert!(
        matches!(next(&mut stream), Poll::Ready(Some(opening)) if opening.starts_with(':') && opening.ends_with("\n\n"))
    );
    assert_eq!(next(&mut stream), frame("event: retrieve\ndata: 1\n\n"));
    assert_eq!(next(&mut stream), Poll::Ready(None));
}

#[test]
fn silence_is_broken_every_second() {
    let mut stream = EventStream::new(Clock, |events: Events| async move {
        Clock.sleep(5 * KEEP_ALIVE_EVERY / 2).await;
        events.push("retrieve", &1);
        pending::<()>().await;
    });
    assert!(next(&mut stream).is_ready());
    for _ in 0..2 {
        assert_eq!(next(&mut stream), Poll::Pending);
        pass(KEEP_ALIVE_EVERY - 1);
        assert_eq!(next(&mut stream), Poll::Pending);
        pass(1);
        assert_eq!(next(&mut stream), frame(KEEP_ALIVE));
    }
    pass(KEEP_ALIVE_EVERY / 2);
    assert_eq!(next(&mut stream), frame("event: retrieve\ndata: 1\n\n"));
    // An event is a sign of life too: the next silence begins behind it.
    assert_eq!(next(&mut stream), Poll::Pending);
    pass(KEEP_ALIVE_EVERY - 1);
    assert_eq!(next(&mut stream), Poll::Pending);
}

#[test]
fn dropping_the_stream_drops_the_run() {
    let alive = Rc::new(());
    let held = Rc::downgrade(&alive);
    let mut stream = EventStream::new(Clock, |_| async move {
        pending::<()>().await;
        drop(alive);
    });
    assert!(next(&mut stream).is_ready());
    assert_eq!(next(&mut stream), Poll::Pending);
    assert_eq!(held.strong_count(), 1);
    drop(stream);
    assert_eq!(held.strong_count(), 0);
}

fn asked(question: &str) -> Asked {
    let request = AskRequest { question: question.to_owned(), ..AskRequest::default() };
    request.check(Limits::default()).expect("a good question")
}

/// Everything that a question's stream says.
fn told(question: &str, corpus: Result<Corpus, Problem>) -> Vec<(String, serde_json::Value)> {
    let asked = asked(question);
    let mut stream = EventStream::new(Clock, |events| async move {
        let answered = match corpus.map(RefCell::new) {
            Ok(corpus) => {
                let tell = |event: &Event| events.push(event.name(), event);
                answer(asked, &Offline { corpus: &corpus }, &Clock, "builtin", tell).await
            }
            Err(problem) => Err(problem),
        };
        conclude(answered, &events);
    });
    let mut frames = String::new();
    while let Poll::Ready(Some(chunk)) = next(&mut stream) {
        frames += &chunk;
    }
    parse(&frames).into_iter().map(|(name, data)| (name, serde_json::from_str(&data).expect("JSON"))).collect()
}

#[test]
fn a_stream_tells_the_trace_then_the_answer() {
    let mut corpus = Corpus::default();
    let text = "# Bread\n\nKnead the dough for ten minutes.\n\n# Tea\n\nSteep the leaves for three minutes.\n";
    let document = Document {
        id: "kitchen.md".into(),
        url: String::new(),
        title: String::new(),
        format: Format::Markdown,
        source: text.into(),
    };
    corpus.add(&document).expect("indexed");
    let events = told("How long do I knead the dough?", Ok(corpus));

    let (name, answer) = events.last().expect("an answer");
    assert_eq!(name, "answer");
    let steps: Vec<_> = events[..events.len() - 1].iter().filter(|(name, _)| name != "draft-delta").collect();
    assert_eq!(steps[0].0, "retrieve");
    assert!(steps.iter().all(|(name, step)| step["type"] == **name));
    let trace: Vec<_> = steps.iter().map(|(_, step)| step.clone()).collect();
    assert_eq!(answer["trace"], serde_json::Value::Array(trace));
    let drafts = events.iter().filter(|(name, _)| name == "draft-delta").count();
    assert_eq!(Some(drafts as u64), answer["attempts"].as_u64());
}

#[test]
fn an_empty_index_gives_an_abstention() {
    let events = told("Anything?", Ok(Corpus::default()));
    let (name, answer) = events.last().expect("an answer");
    assert_eq!(
        (name.as_str(), &answer["outcome"], &answer["reason"]),
        ("answer", &"abstained".into(), &"no_documents".into())
    );
}

#[test]
fn a_stream_that_cannot_answer_ends_with_an_error() {
    let problem = Problem::new("index_unavailable", 503, "there is none");
    let expected = serde_json::json!({ "error": { "code": "index_unavailable", "message": "there is none" } });
    assert_eq!(told("Anything?", Err(problem)), [("error".to_owned(), expected)]);
}

#[test]
fn a_task_says_what_it_took_if_its_service_does() {
    let outcome = |tokens| {
        let reply = Reply::Task(TaskReply::Verdict(Verdict::Yes));
        serde_json::to_value(task_response(Outcome { reply, called: 2, tokens }).expect("a reply")).expect("JSON")
    };
    let tokens = Tokens { input: 311, output: 7 };
    let expected = serde_json::json!({ "verdict": "yes", "called": 2, "tokens": { "input": 311, "output": 7 } });
    assert_eq!(outcome(Some(tokens)), expected);
    assert_eq!(outcome(None), serde_json::json!({ "verdict": "yes", "called": 2 }));
    let read: TaskResponse = serde_json::from_value(expected).expect("it is read where it was sent from");
    assert_eq!((read.tokens, read.reply()), (Some(tokens), Some(TaskReply::Verdict(Verdict::Yes))));
}
