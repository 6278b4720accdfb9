//! Keys are sent and never shown.

use countercheck::provider::chat::{ChatRequest, Message, ReplyFormat, Role};
use countercheck::provider::embed::EmbedRequest;
use countercheck::provider::error::ProviderError;
use countercheck::provider::http::{Body, Endpoint, EndpointError, Headers, HttpResponse, Secret};
use countercheck::provider::search::{self, SearchEngine, SearchOptions, WebQuery};
use countercheck::provider::vendor::vendor;

use crate::embedding::codec as embed_codec;
use crate::{CANARY, openai};

const QUESTION: &str = "a private question";

#[test]
fn no_debug_output_shows_a_key_or_a_question() {
    let messages = vec![Message { role: Role::User, content: QUESTION.into() }];
    let chat = openai();
    let request = chat.request(&ChatRequest {
        messages,
        temperature: None,
        max_tokens: 1,
        format: ReplyFormat::Text,
        stream: true,
        logprobs: false,
        largest_reply: 1,
    });
    let codec = vendor(search::VENDORS, "tavily").unwrap().codec;
    let tavily = SearchEngine { codec, endpoint: chat.endpoint.clone(), options: SearchOptions::default() };
    let search = tavily.request(&WebQuery { query: QUESTION.into(), limit: 5, text_limit: 9 });
    let embed = embed_codec("openai", &serde_json::Value::Null);
    let texts = EmbedRequest::new(vec![QUESTION.to_owned()], None).unwrap();
    let vectors = embed.request(&texts);
    let headers: Headers = [("set-cookie", CANARY)].into_iter().collect();
    let response = HttpResponse { status: 200, headers, body: CANARY.into() };
    let shown = format!(
        "{chat:#?} {request:#?} {tavily:?} {search:?} {embed:?} {vectors:?} {response:?} {:?}",
        Secret::parse(CANARY)
    );
    assert!(!shown.contains(CANARY) && !shown.contains(&CANARY[..6]) && !shown.contains(QUESTION), "{shown}");
    // The request does carry it, or the test above would prove nothing.
    for request in [request, search, vectors] {
        let header = request.headers.iter().find(|(name, _)| *name == "authorization").unwrap();
        assert_eq!(header.1.reveal(), format!("Bearer {CANARY}"));
        assert!(String::from_utf8(request.body).unwrap().contains(QUESTION));
    }
}

#[test]
fn a_key_that_no_header_can_carry_is_refused_without_being_repeated() {
    for key in ["", "  ", "a b", "canary-7f3a\r\nx-evil: 1", "clé"] {
        let error = Secret::parse(key).unwrap_err();
        assert_eq!(error, EndpointError::Key);
        assert!(!error.to_string().contains(CANARY));
    }
    assert_eq!(Secret::parse(" canary-7f3a\n").unwrap().reveal(), CANARY);
}

#[test]
fn base_urls_are_http_without_credentials_or_query() {
    let refused = |url| Endpoint::parse(url, None).map(|_| ()).unwrap_err();
    for (url, error) in [
        ("", EndpointError::Scheme),
        ("api.example.org", EndpointError::Scheme),
        ("ftp://api.example.org", EndpointError::Scheme),
        ("javascript://api.example.org", EndpointError::Scheme),
        ("https://user:canary-7f3a@api.example.org/v1", EndpointError::Credentials),
        ("https://", EndpointError::Scheme),
        ("https:///v1", EndpointError::Address),
        ("https://:80/v1", EndpointError::Address),
        ("https://api.example.org/v1?key=canary-7f3a", EndpointError::Address),
        ("https://api.example.org/v1#x", EndpointError::Address),
        ("https://api.example.org/v 1", EndpointError::Address),
        ("https://api.example.org\\@evil.example", EndpointError::Credentials),
        ("https://api.example.org\\.evil.example", EndpointError::Address),
    ] {
        assert_eq!(refused(url), error, "{url}");
        assert!(!error.to_string().contains(CANARY));
    }
    assert!(Endpoint::parse("http://localhost:11434/v1/", None).is_ok());
}

#[test]
fn a_body_takes_its_limit_and_not_a_byte_more() {
    let mut body = Body::new(5);
    body.push(b"abc").unwrap();
    body.push(b"de").unwrap();
    assert_eq!(body.push(b"f"), Err(ProviderError::ReplyTooLarge { limit: 5 }));
    assert_eq!(body.push(b""), Ok(()));
    assert_eq!(body.into_bytes(), b"abcde");
    assert_eq!(Body::new(2).push(&[0; 3]), Err(ProviderError::ReplyTooLarge { limit: 2 }));
}
