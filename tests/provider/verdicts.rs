//! The verdict parser: a table of replies, and laws.

use countercheck::provider::verdict::{LONGEST, binary, choice, scale, score};
use proptest::prelude::*;

use crate::cases;

const YES: &[&str] = &[
    r#"{"score":"yes"}"#,
    r#"{"score": "YES."}"#,
    r#"{"Score":" Yes "}"#,
    r#"{"score":true}"#,
    r#"{"score":1}"#,
    r#"{"score":"1"}"#,
    r#"{"score":1.0}"#,
    r#"{"binary_score":"yes"}"#,
    r#"{"explanation":"{no}","score":"yes"}"#,
    "yes",
    "yes\n",
    "**Yes**",
    "**Yes**, because it says so.",
    "\"yes\"",
    "Yes, because the passage names the option.",
    "Yes - the passage names it",
    "Oui.",
    "Ja",
    "Sí",
    "si\u{301}.",
    "True",
    "relevant",
    "grounded",
    "1",
    "```json\n{\"score\":\"yes\"}\n```",
    "```\nyes\n```",
    "Here is the JSON:\n{\"score\": \"yes\"}\nI hope this helps.",
    "<think>No, wait: {\"score\":\"no\"}</think>\n{\"score\":\"yes\"}",
    "hm, no, rather {\"score\":\"no\"}\n</think>\n\nyes",
    "{'score': 'yes',}",
    r#"{'score': 'yes', 'why': 'says "so"'}"#,
];

const NO: &[&str] = &[
    "No, yesterday's edition does not say.",
    "no",
    "No, it isn't relevant.",
    "nein",
    "non",
    r#"{"score":"no"}"#,
    r#"{"score":false}"#,
    r#"{"score":0}"#,
    "False.",
    "irrelevant",
    "<think>yes</think>no",
    "yes, I think, so\n</think>\n```json\n{\"score\": \"No\"}\n```",
];

const UNKNOWN: &[&str] = &[
    r#"{"score":"yes"} {"score":"no"}"#,
    r#"{"score":"yes"} {"score":"yes"}"#,
    r#"{"score":"no","score":"yes"}"#,
    r#"{"score":"yes","binary_score":"yes"}"#,
    "yes and no",
    "yes/no",
    r#"{"score":"maybe"}"#,
    r#"{"score":"yes and no"}"#,
    r#"{"grade":"yes"}"#,
    r#"{"result":{"score":"yes"}}"#,
    "",
    " \n",
    "null",
    r#"{"score":null}"#,
    r#"{"score":["yes"]}"#,
    r#"{"score":2}"#,
    r#"{"score":-1}"#,
    r#"{"score":0.83}"#,
    r#"{"score":"ye"#,
    r#"{"score":"yes""#,
    r#"{"score":"yes"} {"score":"n"#,
    "not yes",
    "not no",
    "no doubt, yes",
    "No doubt the passage is relevant",
    "Relevant passages are missing",
    "Relevant? Not at all.",
    "Yes, but no.",
    "Yes, or perhaps not.",
    "Yes and more",
    "yesterday",
    "10",
    "-1",
    "1.0",
    "Yes? Who knows",
    "<think>yes",
    "</think>",
    "<think>a</think><think>yes",
    "I can't help with that.",
    "No. {\"score\":\"yes\"}",
    "False: {\"score\":\"yes\"}",
    "{\"score\":\"yes\"} Irrelevant.",
    "!yes",
    "!true",
    "{\"score\":\"yes\"} or rather no",
    "si",
    "да",
    "}{\"score\":\"yes\"}",
    "{\"score\":\"yes\"}}",
];

const SCORES: &[(&str, Option<f64>)] = &[
    ("0.8", Some(0.8)),
    ("0.8.", Some(0.8)),
    ("0,8", Some(0.8)),
    ("Score : 0.8", Some(0.8)),
    ("**Score:** 0.8", Some(0.8)),
    ("8/10", Some(0.8)),
    ("80 %", Some(0.8)),
    ("80%", Some(0.8)),
    (".8", Some(0.8)),
    ("1", Some(1.0)),
    ("0", Some(0.0)),
    ("0.8 - mostly relevant", Some(0.8)),
    (r#"{"score":0.8}"#, Some(0.8)),
    (r#"{"score":"0.8"}"#, Some(0.8)),
    ("```json\n{\"score\": 1}\n```", Some(1.0)),
    ("<think>0.3</think>0.8", Some(0.8)),
    ("-0.2", None),
    ("1.7", None),
    ("NaN", None),
    ("2020", None),
    ("0.8 or 0.3", None),
    ("0.8, or 0.3", None),
    ("0.8.3", None),
    ("0.", Some(0.0)),
    ("8/7", None),
    ("11/10", None),
    ("180 %", None),
    ("yes", None),
    ("", None),
    (".", None),
    (r#"{"score":true}"#, None),
    (r#"{"score":1.7}"#, None),
    (r#"{"score":-0.2}"#, None),
    (r#"0.3 {"score":0.8}"#, None),
    (r#"{"grade":0.8}"#, None),
    ("0.8 points", None),
    ("0.8e-1", None),
    ("0.80000000001", None),
];

const GRADES: &[(&str, Option<u8>)] = &[
    ("4", Some(4)),
    ("4/5", Some(4)),
    ("4.", Some(4)),
    ("Note : 4", Some(4)),
    ("4 - very useful", Some(4)),
    ("**4**", Some(4)),
    ("4.0", Some(4)),
    (r#"{"score":4}"#, Some(4)),
    (r#"{"score":"4/5"}"#, Some(4)),
    (r#"{"usefulness":4}"#, Some(4)),
    (r#"{"Usefulness": "4."}"#, Some(4)),
    (r#"{"usefulness":4,"score":4}"#, None),
    ("Usefulness: 4/5", Some(4)),
    ("1", Some(1)),
    ("5", Some(5)),
    ("0", None),
    ("6", None),
    ("4,5", None),
    ("3 or 4", None),
    ("3 - 4", None),
    ("four out of ten", None),
    ("4/10", None),
    ("80 %", None),
    ("-4", None),
    ("", None),
    (r#"{"score":4.5}"#, None),
];

const NAMES: [&str; 3] = ["fully_supported", "partially_supported", "no_support"];

/// Replies, and which of the names they choose.
const CHOICES: &[(&str, Option<usize>)] = &[
    (r#"{"support":"fully_supported"}"#, Some(0)),
    (r#"{"Support": "Partially supported."}"#, Some(1)),
    ("{'support': 'NO_SUPPORT',}", Some(2)),
    ("fully supported", Some(0)),
    ("**Partially_Supported**", Some(1)),
    ("\"no_support\"", Some(2)),
    ("No support.", Some(2)),
    ("No support: the documents speak of another product.", Some(2)),
    ("partially_supported - the default is not in them", Some(1)),
    ("```json\n{\"support\": \"fully_supported\"}\n```", Some(0)),
    ("<think>no_support?</think>fully_supported", Some(0)),
    ("It is fully supported: {\"support\": \"fully_supported\"}", Some(0)),
    ("fully_supported or partially_supported", None),
    ("fully_supported, though one part is only partially supported", None),
    ("No support. {\"support\":\"fully_supported\"}", None),
    (r#"{"support":"fully_supported"} {"support":"no_support"}"#, None),
    (r#"{"support":"fully_supported | no_support"}"#, None),
    (r#"{"support":["fully_supported"]}"#, None),
    (r#"{"support":true}"#, None),
    (r#"{"grounded":"fully_supported"}"#, None),
    (r#"{"support":"fully_supp"#, None),
    ("not fully supported", None),
    ("fully supportedly", None),
    ("supported", None),
    ("no supporting document was found", None),
    ("yes", None),
    ("", None),
];

/// W09: a blank for the underscore, a full stop, quotes.
#[test]
fn one_of_some_names_is_read_and_two_are_none() {
    for &(reply, expected) in CHOICES {
        assert_eq!(choice(reply, "support", &NAMES), expected, "{reply:?}");
    }
}

/// W28, and the table of weaknesses beside it.
#[test]
fn replies_that_say_yes_or_no_are_read_and_all_others_are_unknown() {
    for (replies, expected) in [(YES, Some(true)), (NO, Some(false)), (UNKNOWN, None)] {
        for reply in replies {
            assert_eq!(binary(reply), expected, "{reply:?}");
        }
    }
}

#[test]
fn scores_are_read_and_never_clamped() {
    for &(reply, expected) in SCORES {
        assert_eq!(score(reply), expected, "{reply:?}");
    }
}

#[test]
fn grades_are_whole_and_from_1_to_5() {
    for &(reply, expected) in GRADES {
        assert_eq!(scale(reply), expected, "{reply:?}");
    }
}

#[test]
fn a_reply_that_is_too_long_is_not_read() {
    let padded = |length: usize| format!("yes{}", " ".repeat(length - 3));
    assert_eq!(binary(&padded(LONGEST)), Some(true));
    assert_eq!(binary(&padded(LONGEST + 1)), None);
}

/// Brackets, quotes and words in any order.
fn soup() -> impl Strategy<Value = String> {
    let pieces = [
        "{",
        "}",
        "\"",
        "'",
        ":",
        ",",
        "[",
        "]",
        "\\",
        "score",
        "\"score\":",
        "yes",
        "no",
        "true",
        "0.8",
        "4",
        " ",
        "\n",
        "```",
        "json",
        "<think>",
        "</think>",
        "/",
        "%",
        "-",
        ".",
        "é",
        "数",
        "\u{301}",
        "maybe",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn any_reply_has_a_verdict_in_range_or_none(reply in prop_oneof![soup(), "\\PC{0,60}", any::<String>()]) {
        let verdict = binary(&reply);
        prop_assert!(score(&reply).is_none_or(|score| (0.0..=1.0).contains(&score)));
        prop_assert!(scale(&reply).is_none_or(|grade| (1..=5).contains(&grade)));
        let names = ["yes", "no", "maybe"];
        let chosen = choice(&reply, "score", &names);
        prop_assert!(chosen.is_none_or(|at| reply.to_lowercase().contains(names[at])), "{}", reply);
        // Whatever is read as a yes says so, in what follows the reasoning.
        let said = reply.rsplit("</think>").next().unwrap().to_lowercase();
        let words = ["yes", "oui", "ja", "sí", "si\u{301}", "true", "relevant", "grounded", "1"];
        prop_assert!(verdict != Some(true) || words.iter().any(|word| said.contains(word)), "{}", reply);
    }

    #[test]
    fn garbage_is_never_a_verdict(reply in "[b-df-hk-mp-rt-xz{}\\[\\]:,\"' \n.]{0,80}") {
        prop_assert_eq!((binary(&reply), score(&reply), scale(&reply)), (None, None, None));
        prop_assert_eq!(choice(&reply, "support", &NAMES), None);
    }

    #[test]
    fn form_does_not_change_a_verdict(
        at in any::<prop::sample::Index>(), upper in any::<bool>(),
        form in prop::sample::select(vec!["{}", " {} \n", "```json\n{}\n```", "<think>yes, no</think>{}", "\n\n{}"]),
    ) {
        let all: Vec<&str> = YES.iter().chain(NO).chain(UNKNOWN).copied().filter(|reply| !reply.contains("think>")).collect();
        let reply = all[at.index(all.len())];
        // JSON's own words have one spelling, and a fence names the language of JSON only.
        let literal = ["true", "false", "null"].iter().any(|word| reply.contains(word)) && reply.contains('{');
        let upper = upper && !literal;
        let form = if form.contains("```") && !reply.starts_with('{') { "{}" } else { form };
        let shaped = form.replace("{}", &if upper { reply.to_uppercase() } else { reply.to_owned() });
        prop_assert_eq!(binary(&shaped), binary(reply), "{}", shaped);
    }

    #[test]
    fn a_contradiction_makes_any_verdict_unknown(at in any::<prop::sample::Index>(), before in any::<bool>()) {
        let all: Vec<&str> = YES.iter().chain(NO).copied().collect();
        let reply = all[at.index(all.len())];
        let other = if binary(reply) == Some(true) { "no" } else { "yes" };
        let both = if before && !reply.contains("think>") { format!("{other} {reply}") } else { format!("{reply} {other}") };
        prop_assert_eq!(binary(&both), None, "{}", both);
    }
}
