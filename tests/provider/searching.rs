//! Laws of what is kept of a web page.

use countercheck::provider::search::{canonical, plain};
use proptest::prelude::*;

use crate::cases;

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
