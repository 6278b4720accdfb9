//! The vendors' own fixtures: a folder for each, under its name in the tables, and in it every kind of reply
//! that its codec must tell apart. `UPDATE_FIXTURES=1` writes what the codecs make of them: read the diff.

use std::collections::BTreeSet;

use countercheck::provider::chat::{self, ChatRequest, Finish, Message, ReplyFormat, Role};
use countercheck::provider::error::ProviderError;
use countercheck::provider::sse::SseLimits;
use countercheck::provider::{embed, search};
use serde_json::Value;

use crate::files::{body, folder, headers, of_vendors, text};
use crate::fixtures::{FIELDS, decoded};
use crate::model;

#[test]
fn every_vendor_is_understood_as_its_fixtures_say() {
    for (vendor, fixtures) in of_vendors() {
        for (name, fixture) in fixtures {
            let place = format!("{vendor}/{name}");
            assert!(
                fixture.as_object().unwrap().keys().all(|key| FIELDS.split(' ').any(|field| field == key)),
                "{place}"
            );
            let (found, _) = decoded(&vendor, &place, &fixture);
            if std::env::var_os("UPDATE_FIXTURES").is_some() {
                let mut updated = fixture.clone();
                updated["expect"] = found.clone();
                let json = serde_json::to_string_pretty(&updated).unwrap();
                std::fs::write(folder().join(&place), format!("{json}\n")).unwrap();
            } else {
                assert_eq!(found, fixture["expect"], "{place}");
            }
        }
    }
}

/// What each kind of service must have on file, by the beginning of a fixture's name.
pub const CHAT: [&str; 9] = [
    "chat-request",
    "chat-request-stream",
    "chat-reply",
    "chat-stream",
    "chat-truncated",
    "chat-cut",
    "chat-refused",
    "chat-malformed",
    "chat-error",
];
pub const SEARCH: [&str; 5] = ["search-request", "search-reply", "search-none", "search-malformed", "search-error"];
const EMBED: [&str; 4] = ["embed-request", "embed-reply", "embed-malformed", "embed-error"];

/// Those of the tables that are settings of `OpenAI`'s protocol: its fixtures are theirs, and their folders
/// have what they are asked otherwise.
const LIKE_OPENAI: [&str; 6] = ["openai", "ollama", "llama-cpp", "vllm", "groq", "openrouter"];

#[test]
fn every_vendor_of_the_tables_has_its_fixtures_and_nobody_else_has() {
    let folders = of_vendors();
    let tables = [
        (chat::VENDORS.iter().map(|vendor| vendor.name).collect::<Vec<_>>(), &CHAT[..]),
        (search::VENDORS.iter().map(|vendor| vendor.name).collect(), &SEARCH[..]),
        (embed::VENDORS.iter().map(|vendor| vendor.name).collect(), &EMBED[..]),
    ];
    let mut named = BTreeSet::new();
    for (vendors, kinds) in tables {
        for vendor in vendors {
            named.insert(vendor);
            // The fixtures of the table of failures are Tavily's and `OpenAI`'s.
            if vendor == "tavily" || vendor == "openai" {
                continue;
            }
            let has =
                |kind: &str| folders.get(vendor).is_some_and(|files| files.keys().any(|name| name.starts_with(kind)));
            let needed = if LIKE_OPENAI.contains(&vendor) { &kinds[..1] } else { kinds };
            let missing: Vec<_> = needed.iter().filter(|kind| !has(kind)).collect();
            assert!(missing.is_empty(), "{vendor}: {missing:?}");
        }
    }
    let strangers: Vec<_> = folders.keys().filter(|folder| !named.contains(folder.as_str())).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
}

/// A stream that breaks off after any of its bytes is the whole reply, a part of it that says so, or an error:
/// never another reply.
#[test]
fn a_stream_cut_at_any_byte_is_never_another_reply() {
    let mut streams = 0;
    for (vendor, fixtures) in of_vendors() {
        for (name, fixture) in fixtures.iter().filter(|(name, _)| name.starts_with("chat-stream")) {
            let (bytes, status) = (body(fixture), fixture["status"].as_u64().unwrap() as u16);
            let whole = text(&fixture["expect"]["reply"], "text");
            let mut ended = 0;
            for end in 0..=bytes.len() {
                let mut stream = model(&vendor).open(status, &headers(fixture), SseLimits::default()).unwrap();
                let mut deltas = Vec::new();
                stream.feed(&bytes[..end], &mut deltas).unwrap();
                assert!(whole.starts_with(stream.text()), "{vendor}/{name} at {end}: {}", stream.text());
                match stream.end() {
                    Ok(reply) => {
                        assert_eq!(
                            (reply.text.as_str(), reply.finish),
                            (whole, Finish::Stop),
                            "{vendor}/{name} at {end}"
                        );
                        ended += 1;
                    }
                    Err(error) => assert_eq!(error, ProviderError::Truncated, "{vendor}/{name} at {end}"),
                }
            }
            assert!(ended > 0 && ended < bytes.len(), "{vendor}/{name}");
            streams += 1;
        }
    }
    assert!(streams >= 5, "{streams}");
}

#[test]
fn no_vendor_is_sent_what_is_no_number() {
    for vendor in chat::VENDORS {
        let asked = ChatRequest {
            messages: vec![Message { role: Role::User, content: "a".into() }],
            temperature: Some(f32::NAN),
            max_tokens: 1,
            format: ReplyFormat::Text,
            stream: false,
            logprobs: false,
            largest_reply: 1,
        };
        let sent: Value = serde_json::from_slice(&model(vendor.name).request(&asked).body).unwrap();
        assert!(!sent.to_string().contains("temperature"), "{}: {sent}", vendor.name);
    }
}
