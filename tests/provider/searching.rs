//! Laws of what is kept of a web page.

use countercheck::provider::http::{Headers, HttpResponse};
use countercheck::provider::search::{self, SearchEngine, SearchOptions, WebQuery, WebResult, canonical, plain};
use countercheck::provider::vendor::vendor;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{cases, endpoint};

/// Markup, entities and characters without a look, likely next to each other.
fn soup() -> impl Strategy<Value = String> {
    let pieces = [
        "<",
        ">",
        "</",
        "<b>",
        "<<b>script>",
        "<script>",
        "</script>",
        "<STYLE>",
        "<!--",
        "-->",
        "<a href='x'>",
        "&lt;",
        "&amp;",
        "&#8238;",
        "&#x200b;",
        "&#0;",
        "&",
        ";",
        "a",
        "é",
        "数",
        " ",
        "\n",
        "\u{200B}",
        "\u{202E}",
        "\u{E0041}",
        "\u{FEFF}",
        "\0",
        "\u{7F}",
        "\u{85}",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|parts| parts.concat())
}

fn has_tag(text: &str) -> bool {
    let begins =
        |after: &str| after.trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic() || "!?".contains(c));
    text.match_indices('<').any(|(at, _)| begins(&text[at + 1..]))
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn plain_text_has_no_hidden_characters_and_keeps_to_its_limit(text in soup(), limit in 0..60_usize) {
        let out = plain(&text, limit);
        prop_assert!(out.chars().count() <= limit);
        prop_assert_eq!(out.trim(), &out);
        prop_assert!(!out.contains("  "));
        let hidden = |c: char| c.is_control() || "\u{200B}\u{202E}\u{E0041}\u{FEFF}".contains(c);
        prop_assert!(!out.contains(hidden), "{:?}", out);
    }

    #[test]
    fn no_tag_is_left_but_one_that_was_written_as_entities(text in soup()) {
        let text = text.replace('&', "+");
        prop_assert!(!has_tag(&plain(&text, 1000)), "{:?}", plain(&text, 1000));
    }

    #[test]
    fn any_text_and_any_address_is_survived(text in "\\PC{0,80}", url in "(https?://)?\\PC{0,60}") {
        plain(&text, 20);
        if let Some(key) = canonical(&url) {
            prop_assert_eq!(canonical(&format!("https://{key}")), Some(key));
        }
    }
}

#[test]
fn a_long_page_of_open_tags_takes_linear_time() {
    for piece in ["<", "<a", "<!--", "<script>", "</", "&", "&#"] {
        plain(&piece.repeat(400_000), 2000);
    }
}

#[test]
fn text_that_only_looks_like_markup_stays() {
    assert_eq!(plain("if a < b && c > d", 99), "if a < b && c > d");
    assert_eq!(plain("x <3 y", 99), "x <3 y");
    assert_eq!(
        plain("Use &lt;b&gt; &amp;lt; &copy; &#65;&#x42;&unknown; AT&T;", 99),
        "Use <b> &lt; &copy; AB&unknown; AT&T;"
    );
}

#[test]
fn addresses_of_one_page_are_one() {
    let same = [
        "https://example.org/a",
        "http://www.example.org/a/",
        "HTTPS://EXAMPLE.org:443/a#b",
        "https://example.org/a?utm_medium=x&gclid=1",
    ];
    for url in same {
        assert_eq!(canonical(url).as_deref(), Some("example.org/a"), "{url}");
    }
    for url in [
        "https://example.org/A",
        "https://example.org/a?b=1",
        "https://example.org:8443/a",
        "https://docs.example.org/a",
    ] {
        assert_ne!(canonical(url).as_deref(), Some("example.org/a"), "{url}");
    }
}

fn mistral() -> SearchEngine {
    let codec = vendor(search::VENDORS, "mistral").unwrap().codec;
    SearchEngine { codec, endpoint: endpoint(), options: SearchOptions::default() }
}

fn asked() -> WebQuery {
    WebQuery { query: "How long is dough kneaded?".into(), limit: 5, text_limit: 2000 }
}

fn said(outputs: &Value) -> Vec<WebResult> {
    let body = json!({ "object": "conversation.response", "conversation_id": "c", "outputs": outputs });
    let response = HttpResponse { status: 200, headers: Headers::default(), body: body.to_string().into_bytes() };
    mistral().reply(&asked(), &response).unwrap()
}

fn reference(url: &str) -> Value {
    json!({ "type": "tool_reference", "tool": "web_search", "title": "Dough", "url": url })
}

#[test]
fn c_08_c_09_a_model_searches_through_the_conversations_api_and_no_chat_completion_stands_in_for_it() {
    let request = mistral().request(&asked());
    assert!(request.url.ends_with("/conversations"), "{}", request.url);
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(body["model"], "mistral-medium-latest");
    assert_eq!(body["inputs"], "How long is dough kneaded?");
    assert_eq!((&body["tools"], &body["store"]), (&json!([{ "type": "web_search" }]), &json!(false)));
    assert!(body["instructions"].as_str().unwrap().contains("factual"), "{body}");
    // What refers to no page is the model's memory.
    assert_eq!(said(&json!([{ "type": "message.output", "content": "Ten minutes." }])), []);
}

#[test]
fn c_10_c_11_one_document_has_the_text_of_all_chunks_and_every_address() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let executed = json!({ "type": "tool.execution", "name": "web_search", "arguments": "{}", "info": {} });
    let content = json!([text("Ten minutes"), reference("https://a.example/"), text(" at most."), reference("")]);
    let more = json!({ "type": "message.output", "content": [text(" Rest it."), reference("https://b.example/x")] });
    let found = said(&json!([executed, { "type": "message.output", "content": content }, more]));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].text.as_str(), found[0].title.as_str()), ("Ten minutes at most. Rest it.", "Dough"));
    assert_eq!(
        (found[0].url.as_str(), &found[0].also[..]),
        ("https://a.example/", &["https://b.example/x".to_owned()][..])
    );
    let references = json!([reference("https://a.example/")]);
    let string = said(
        &json!([{ "type": "message.output", "content": "Ten." }, { "type": "message.output", "content": references }]),
    );
    assert_eq!(string[0].text, "Ten.", "content may be a string");
}

#[test]
fn c_13_a_search_that_may_read_few_sites_may_find_nothing_and_that_is_no_error() {
    assert_eq!(said(&json!([])), []);
    let content = json!([{ "type": "text", "text": "No site that I may read says so." }]);
    assert_eq!(said(&json!([{ "type": "message.output", "content": content }])), []);
}
