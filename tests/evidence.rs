//! Quotations found in sources, and the claims of a draft.

use countercheck::document::{Origin, Passage, Span};
use countercheck::evidence::{claims, find, reads_as, refined, strips, without_marks};
use proptest::prelude::*;

const SOURCE: &str = "Keys **expire** after 90 days.\nThey do not renew by them-\nselves: run `keys rotate --force`, \
    which takes 1,000 ms and –5 credits.\nDon’t use v1.12.3 “as is”.";

#[track_caller]
fn found(quote: &str) -> Option<&'static str> {
    find(quote, SOURCE).map(|span| &SOURCE[span.start..span.end])
}

#[test]
fn a_quote_may_differ_in_form() {
    assert_eq!(found("keys expire after 90 days"), Some("Keys **expire** after 90 days"));
    assert_eq!(found("They do not renew by themselves"), Some("They do not renew by them-\nselves"));
    assert_eq!(found("days. They do"), Some("days.\nThey do"));
    assert_eq!(found("run keys rotate --force"), Some("run `keys rotate --force"));
    assert_eq!(found("don't use v1.12.3 \"as is\""), Some("Don’t use v1.12.3 “as is”"));
    assert_eq!(found("1,000 ms and -5 credits"), Some("1,000 ms and –5 credits"));
    assert_eq!(
        find("resume", "a re\u{301}sume\u{301}.").map(|s| (s.start, s.end)),
        Some((2, 12)),
        "with its last accent"
    );
}

#[test]
fn a_quote_may_not_differ_in_substance() {
    for quote in [
        "keys expire after 9 days",
        "keys expire after 90 day",
        "eys expire after 90 days",
        "keys do not expire after 90 days",
        "They do renew by themselves",
        "000 ms",
        "takes 1",
        "5 credits",
        "v1.12",
        "12.3 \"as is\"",
        "-- **",
        "",
    ] {
        assert_eq!(found(quote), None, "{quote:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// What is cited is what was quoted: the source's text at the offsets reads as the quote.
    #[test]
    fn what_is_found_reads_as_the_quote(
        source in "([a-zé*`’0-9.,–-]{1,6}[ \n-]){1,20}",
        from in 0_usize..60,
        length in 1_usize..60,
    ) {
        let chars: Vec<char> = source.chars().collect();
        let quote: String = chars.iter().skip(from).take(length).collect();
        if let Some(span) = find(&quote, &source) {
            prop_assert!(reads_as(&source[span.start..span.end], &quote), "{:?} for {quote:?}", &source[span.start..span.end]);
        }
    }

    /// A changed number, and a negation that the source has not, are found nowhere.
    #[test]
    fn what_is_altered_is_not_found(words in prop::collection::vec("[a-z]{2,8}", 4..12), at in 0_usize..12, number in 0_u32..5_000) {
        let at = at % (words.len() - 1);
        let with = |extra: &str| [&words[..=at], &[extra.to_owned()], &words[at + 1..]].concat().join(" ");
        let source = format!("{}. Then {}.", with(&number.to_string()), words.join(" "));
        prop_assert!(find(&with(&number.to_string()), &source).is_some());
        prop_assert!(find(&with(&(number + 1).to_string()), &source).is_none());
        if !words.iter().any(|word| word == "not") {
            prop_assert!(find(&with("not"), &source).is_none());
        }
    }

    /// Claims lie in the draft, in order and apart, and are no mere marks.
    #[test]
    fn claims_lie_in_the_draft(draft in "((Keys expire|Run `x`|- item|# Head|\\| a \\| b \\||```\nx\n```)([. ]| \\[1\\]|\n){1,3}){0,8}") {
        let mut end = 0;
        for claim in claims(&draft) {
            prop_assert!(claim.span.start >= end && claim.span.end <= draft.len());
            prop_assert!(!without_marks(&draft[claim.span.start..claim.span.end]).trim().is_empty());
            end = claim.span.end;
        }
    }
}

#[test]
fn claims_keep_their_marks() {
    let texts = |draft: &'static str| -> Vec<&str> {
        claims(draft).iter().map(|claim| &draft[claim.span.start..claim.span.end]).collect()
    };
    assert_eq!(texts("Keys expire [1]. They renew. [2]\n\nNo."), ["Keys expire [1].", "They renew. [2]", "No."]);
    assert_eq!(texts("Keys expire. [1][2] They renew. [2]"), ["Keys expire. [1][2]", "They renew. [2]"]);
    assert_eq!(
        texts("## Keys\n\n- one [1]\n- two\n\n```sh\nrun x[0]\n```\n"),
        ["one [1]", "two", "```sh\nrun x[0]\n```"]
    );
    assert_eq!(texts("[1] [2]"), Vec::<&str>::new());
    assert_eq!(without_marks("Keys expire [1][2]. Use items[0] or [x]."), "Keys expire. Use items[0] or [x].");
}

fn passage(document: &str, start: usize, text: &str) -> Passage {
    Passage {
        id: format!("{document}#{start}"),
        document: document.to_owned(),
        url: String::new(),
        title: document.to_owned(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start, end: start + text.len() },
        text: text.to_owned(),
        origin: Origin::Local,
    }
}

const PAGE: &str = "## Keys\n\nKeys expire. They can be rotated. Ask an administrator first.\n\nRun this:\n\n```sh\nkeys rotate\n```\n\n\
    - one port\n- two ports\n\n| a | b |\n|---|---|\n| c | d |\n\nThe end.\n";

#[test]
fn strips_keep_lists_tables_and_code_whole() {
    let texts: Vec<&str> = strips(PAGE).iter().map(|strip| PAGE[strip.start..strip.end].trim()).collect();
    assert_eq!(
        texts,
        [
            "## Keys\n\nKeys expire.",
            "They can be rotated.",
            "Ask an administrator first.",
            "Run this:\n\n```sh\nkeys rotate\n```",
            "- one port\n- two ports",
            "| a | b |\n|---|---|\n| c | d |",
            "The end.",
        ]
    );
}

#[test]
fn a_passage_keeps_what_speaks_to_the_question_and_its_neighbours() {
    let kept = refined("How are keys rotated?", &[passage("guide", 100, PAGE)]);
    let texts: Vec<&str> = kept.iter().map(|passage| passage.text.trim()).collect();
    assert_eq!(texts.len(), 1);
    assert!(texts[0].ends_with("- two ports"), "the neighbour of the code stays, what follows it goes: {texts:?}");
    assert_eq!((kept[0].span.start, kept[0].id.as_str()), (100, "guide#100"));
    let kept = refined("What is the end?", &[passage("guide", 100, PAGE)]);
    assert_eq!(kept[0].span.end, 100 + PAGE.len());
    assert_eq!(&PAGE[kept[0].span.start - 100..], kept[0].text);
    assert_eq!(refined("xyz", &[passage("guide", 0, PAGE)]), [passage("guide", 0, PAGE)], "words cannot tell");
}

#[test]
fn passages_of_one_document_stand_in_its_order() {
    let given =
        [passage("b", 50, "Keys."), passage("a", 9, "Keys."), passage("b", 7, "Keys."), passage("b", 90, "Keys.")];
    let ids: Vec<String> = refined("keys", &given).into_iter().map(|passage| passage.id).collect();
    assert_eq!(ids, ["b#7", "b#50", "b#90", "a#9"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Strips give the text back, and what is kept of a passage is a slice of its source.
    #[test]
    fn strips_partition_a_text(text in "((Keys expire|Run:|- item|> quote|# Head|\\| a \\| b \\||\\|--\\|--\\||```\nx\n```|1. é)[. \n]{1,3}){0,12}") {
        let strips = strips(&text);
        let joined: String = strips.iter().map(|strip| &text[strip.start..strip.end]).collect();
        prop_assert!(strips.is_empty() || joined == text);
        for part in refined("keys item", &[passage("guide", 0, &text)]) {
            prop_assert_eq!(&text[part.span.start..part.span.end], part.text);
        }
    }
}
