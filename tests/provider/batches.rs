//! Verdicts on several texts in one reply: paired by number, whatever else the reply holds.

use std::ops::Range;

use countercheck::provider::logprobs::Token;
use countercheck::provider::verdict::{binary, confidence, items, score};
use proptest::prelude::*;
use serde_json::json;

use crate::cases;

const FIELDS: &[&str] = &["score", "binary_score"];

fn texts(reply: &str, places: &[Option<Range<usize>>]) -> Vec<Option<String>> {
    places.iter().map(|place| place.clone().map(|place| reply[place].to_owned())).collect()
}

proptest! {
    #![proptest_config(cases(2000))]

    /// B27: the order of the verdicts says nothing, and what is missing shifts nothing.
    #[test]
    fn every_order_of_the_verdicts_says_the_same(
        said in prop::collection::btree_map(1..12_usize, prop::bool::ANY, 0..12),
        shuffled in any::<prop::sample::Index>(),
    ) {
        let mut list: Vec<_> = said.iter().map(|(id, yes)| json!({ "id": id, "score": if *yes { "yes" } else { "no" } })).collect();
        let middle = shuffled.index(list.len() + 1);
        list.rotate_left(middle);
        list.reverse();
        let reply = json!({ "verdicts": list }).to_string();
        for (at, place) in items(&reply, 11).into_iter().enumerate() {
            let read = place.and_then(|place| binary(&reply[place]));
            prop_assert_eq!(read, said.get(&(at + 1)).copied(), "{} of {}", at + 1, reply);
        }
    }

    #[test]
    fn no_reply_is_a_panic_and_every_place_is_an_object_of_it(reply in "([{}\\[\\]\"'\\\\,:é ]|id|score|yes|no|[0-9]|<think>|</think>){0,60}", count in 0..5_usize) {
        let places = items(&reply, count);
        prop_assert_eq!(places.len(), count);
        for place in places.into_iter().flatten() {
            let object = &reply[place.clone()];
            prop_assert!(object.starts_with('{') && object.ends_with('}'), "{object}");
            let tokens = [Token { text: reply.clone(), logprob: Some(-0.5), top: Vec::new() }];
            prop_assert!(confidence(&reply, &tokens, place, FIELDS).is_none_or(|sure| (0.0..=1.0).contains(&sure)));
        }
    }

    /// B20: of a reply that breaks off the verdicts before the break stay, and none is made up.
    #[test]
    fn a_cut_takes_what_it_cuts_and_nothing_else(cut in any::<prop::sample::Index>()) {
        let reply = r#"{"verdicts": [{"id": 1, "score": "yes"}, {"id": 2, "score": "no"}, {"id": 3, "score": "yes"}]}"#;
        let whole = texts(reply, &items(reply, 3));
        let part = &reply[..cut.index(reply.len())];
        for (text, whole) in texts(part, &items(part, 3)).into_iter().zip(whole) {
            let is_there = whole.as_ref().is_some_and(|whole| part.contains(whole.as_str()));
            prop_assert_eq!(text, whole.filter(|_| is_there));
        }
    }
}

#[test]
fn a_long_row_of_brackets_is_read_in_no_time() {
    for reply in ["{".repeat(8192), "{\"id\":".repeat(1365), "[".repeat(8192), "{}".repeat(4096)] {
        assert_eq!(items(&reply, 3), [None, None, None]);
    }
    let long = format!("{}{{\"id\": 1, \"score\": \"yes\"}}", " ".repeat(8192));
    assert_eq!(items(&long, 1), [None], "a reply above the limit is not read");
}

fn token(text: &str, top: &[(&str, f64)]) -> Token {
    let top: Vec<(String, f64)> = top.iter().map(|(text, p)| ((*text).to_owned(), libm::log(*p))).collect();
    let logprob = top.iter().find(|(other, _)| other == text).map(|(_, logprob)| *logprob).or(Some(0.0));
    Token { text: text.to_owned(), logprob, top }
}

/// How sure a reply of these tokens is of the verdict in it.
fn sure(tokens: &[Token]) -> Option<f64> {
    let reply: String = tokens.iter().map(|token| token.text.as_str()).collect();
    confidence(&reply, tokens, 0..reply.len(), FIELDS)
}

fn near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() < 1e-9)
}

/// Vector SR-M: the answer that is not listed counts as exp(-100), and not as the number -100.
#[test]
fn sr_m_an_answer_that_is_not_listed_counts_next_to_nothing() {
    assert!(near(sure(&[token("yes", &[("yes", 0.9), ("well", 0.1)])]), 1.0));
    let no = sure(&[token("no", &[("no", 0.9)])]).unwrap();
    assert!(no > 0.0 && no < 1e-40, "{no}");
}

#[test]
fn all_ways_to_write_an_answer_are_that_answer() {
    let yes = [(" Yes", 0.3), ("YES", 0.1), ("\"yes", 0.05), ("oui", 0.05), ("Ja", 0.05), ("sí", 0.04), ("true", 0.01)];
    let no = [("No", 0.1), (" nein", 0.05), ("non", 0.03), ("false", 0.02)];
    let others = [("not", 0.05), ("maybe", 0.1)];
    assert!(near(sure(&[token(" Yes", &[&yes[..], &no, &others].concat())]), 0.6 / 0.8));
}

#[test]
fn the_word_of_the_field_counts_and_no_word_before_it() {
    // `no` and `s`, the beginning of `sí`, stand before the verdict.
    let before = ["{\"", "reason", "\":\"", "no", " doubt", "\",\"", "s", "core", "\":", " \""];
    let mut tokens: Vec<Token> = before.iter().map(|text| token(text, &[(text, 0.99)])).collect();
    tokens.extend([token("yes", &[("yes", 0.6), ("no", 0.2)]), token("\"}", &[])]);
    assert!(near(sure(&tokens), 0.75));
    let merged = [token("{\"score\"", &[]), token(":\"yes", &[(":\"yes", 0.6), (":\"no", 0.4)]), token("\"}", &[])];
    assert!(near(sure(&merged), 0.6), "a token may hold the marks before its word");
    let halves = [token("{\"Score\": \"", &[]), token("o", &[("o", 0.8), ("n", 0.2)]), token("ui\"}", &[])];
    assert!(near(sure(&halves), 0.8), "a token may be half a word");
    let thought = [&[token("<think>no</think>", &[])], &tokens[..]].concat();
    let reply = &thought[1..].iter().map(|token| token.text.as_str()).collect::<String>();
    assert!(near(confidence(reply, &thought, 0..reply.len(), FIELDS), 0.75), "after reasoning");
}

#[test]
fn each_verdict_of_a_list_has_its_own_probability() {
    let verdict = |id: usize, word: &str, yes: f64| {
        let word = token(word, &[("yes", yes), ("no", 1.0 - yes)]);
        [token(&format!("{{\"id\": {id}, \"score\": \""), &[]), word, token("\"}, ", &[])]
    };
    let tokens = [&[token("{\"verdicts\": [", &[])][..], &verdict(2, "no", 0.3), &verdict(1, "yes", 0.9)].concat();
    let reply: String = tokens.iter().map(|token| token.text.as_str()).collect();
    let places = items(&reply, 2);
    let sure = |at: usize| confidence(&reply, &tokens, places[at].clone().unwrap(), FIELDS);
    assert!(near(sure(0), 0.9) && near(sure(1), 0.3), "{reply}");
    assert_eq!(score(&reply[places[0].clone().unwrap()]), None, "a yes is no score");
}

#[test]
fn tokens_that_tell_nothing_give_no_score() {
    assert_eq!(sure(&[]), None);
    assert_eq!(confidence("yes", &[], 0..3, FIELDS), None, "the service tells none");
    assert_eq!(confidence("yes", &[token("no", &[("no", 0.9)])], 0..3, FIELDS), None, "of another reply");
    assert_eq!(sure(&[Token { text: "yes".to_owned(), ..Token::default() }]), None, "a token without one");
    assert_eq!(sure(&[token("perhaps", &[("perhaps", 0.5), ("yes", 0.5)])]), None, "another word was written");
    assert_eq!(sure(&[token("{\"useful\": \"yes\"}", &[])]), None, "another field");
    assert_eq!(confidence("yes", &[token("yes", &[])], 1..9, FIELDS), None, "no part of the reply");
}
