//! Where a segment ends, and what a reader sees of it.

use countercheck::pipeline::segment::{Candidate, Token, cut, plain_text, special_tokens};
use proptest::prelude::*;

use crate::token;

fn candidate(tokens: Vec<Token>) -> Candidate {
    let text = tokens.iter().map(|token| token.text.as_str()).collect();
    Candidate { text, tokens, ..Candidate::default() }
}

#[test]
fn n_04_a_segment_ends_where_the_model_asks_for_passages() {
    let written = candidate(vec![
        token(&[("[Relevant]", 1.0)]),
        token(&[("One.", 1.0)]),
        token(&[("[Fully supported]", 1.0)]),
        token(&[("[Retrieval]", 0.9), ("[No Retrieval]", 0.1)]),
        token(&[("Two.", 1.0)]),
    ]);
    let first = cut(&written, Some(0.2));
    assert_eq!((first.raw, first.tokens.len(), first.wants_more), ("[Relevant]One.[Fully supported]", 3, true));
    let whole = candidate(written.tokens[..3].to_vec());
    assert!(!cut(&whole, Some(0.2)).wants_more);
}

#[test]
fn sr_p_a_refusal_to_retrieve_is_turned_round_where_it_was_close() {
    let refusal = |yes, no, proceed| {
        candidate(vec![
            token(&[("One.", 1.0)]),
            token(&[("[No Retrieval]", 0.99), ("[Retrieval]", 0.01)]),
            token(&[("Two.", 1.0)]),
            token(&[("[No Retrieval]", no), ("[Retrieval]", yes), ("[Continue to Use Evidence]", proceed)]),
            token(&[("Three.", 1.0)]),
        ])
    };
    let near = refusal(0.1, 0.6, 0.3);
    let first = cut(&near, Some(0.2));
    assert_eq!((first.raw, first.tokens.len(), first.wants_more), ("One.[No Retrieval]Two.", 3, true));
    assert!(!cut(&refusal(0.05, 0.9, 0.05), Some(0.2)).wants_more);
    assert!(!cut(&near, None).wants_more, "without δ the model's own word holds");
}

#[test]
fn without_probabilities_the_text_alone_is_cut() {
    let written = Candidate { text: "One.[Retrieval]Two.".to_owned(), ..Candidate::default() };
    assert_eq!((cut(&written, Some(0.2)).raw, cut(&written, Some(0.2)).wants_more), ("One.", true));
}

#[test]
fn what_is_no_text_is_not_shown() {
    let cases = [
        ("[Relevant]Keys expire.[Fully supported][Utility:5]</s>", "Keys expire."),
        ("Keys[Continue to Use Evidence]expire [No Retrieval] soon[Utility:3].", "Keys expire soon."),
        ("<paragraph>Title</paragraph>", "Title"),
        ("[x] items[0] [1] stay", "[x] items[0] [1] stay"),
        ("[No [Relevant]Retrieval] Keys.", "Keys."),
        ("[No support / Contradictory]", ""),
        ("", ""),
    ];
    for (raw, expected) in cases {
        assert_eq!(plain_text(raw), expected, "of {raw:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_special_token_survives_and_no_letter_is_lost(parts in prop::collection::vec(0..40_usize, 0..20)) {
        let special: Vec<&str> = special_tokens().collect();
        let words = ["keys", "é", "数", ".", " ", "[", "]", "<", "\n", "ß"];
        let piece = |i: &usize| special.get(*i).or(words.get(i - special.len().min(*i))).copied().unwrap_or("word");
        let raw: String = parts.iter().map(piece).collect();
        let text = plain_text(&raw);
        for token in special_tokens() {
            prop_assert!(!text.contains(token), "{token} in {text:?}");
        }
        let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
        let kept: usize = parts.iter().map(piece).filter(|p| !special.contains(p)).map(letters).sum();
        prop_assert_eq!(letters(&text), kept, "{:?} of {:?}", text, raw);
    }

    #[test]
    fn a_cut_is_a_beginning_that_asks_for_nothing(parts in prop::collection::vec(0..6_usize, 0..12), yes in 0.01..0.99_f64) {
        let names = ["[Retrieval]", "[No Retrieval]", "[Continue to Use Evidence]", "word", "é", " "];
        let of = |i: usize| match i {
            0 => token(&[("[Retrieval]", yes), ("[No Retrieval]", 1.0 - yes)]),
            1 => token(&[("[No Retrieval]", 1.0 - yes), ("[Retrieval]", yes)]),
            _ => token(&[(names[i], 1.0)]),
        };
        let written = candidate(parts.iter().map(|&i| of(i)).collect());
        let found = cut(&written, Some(0.5));
        let joined: String = found.tokens.iter().map(|token| token.text.as_str()).collect();
        prop_assert_eq!(&joined, found.raw, "text and tokens end at one place");
        prop_assert!(written.text.starts_with(found.raw) && !found.raw.contains("[Retrieval]"));
        let asks = parts.iter().any(|&i| i == 0 || i == 1 && yes > 0.5);
        prop_assert_eq!(found.wants_more, asks);
    }
}
