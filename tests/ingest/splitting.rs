//! Where documents are cut, and what their passages are called.

use countercheck::document::{Document, Format};
use countercheck::ingest::{DOCUMENT_LIMIT, IngestError, MIN_MAX_BYTES, SplitOptions, passages, plain_text};

use super::{markdown, split};

fn texts(source: &str, max_bytes: usize) -> Vec<String> {
    split(&markdown(source), max_bytes).into_iter().map(|passage| passage.text).collect()
}

fn titled(source: &str) -> String {
    split(&markdown(source), 1200)[0].title.clone()
}

#[test]
fn the_title_is_the_first_of_what_names_the_document() {
    for (source, title) in [
        ("---\ntitle: From: front # matter\n---\n# Heading\n", "From: front"),
        ("---\nid: x\ntitle: \"Quoted \\\"title\\\": yes\"\n---\ntext", "Quoted \"title\": yes"),
        ("---\ntitle: 'It''s'\n---\ntext", "It's"),
        ("---\ntitle: >-\n  Folded\n  title\nid: x\n---\ntext", "Folded title"),
        ("---\r\ntitle: Windows\r\n---\r\ntext", "Windows"),
        ("\u{feff}---\ntitle: Marked\n---\ntext", "Marked"),
        ("---\nid: x\n---\n# Heading `code`\n", "Heading code"),
        ("Intro\n\n## Second\n\n# First\n", "First"),
        ("## Opening\n\ntext\n\n## Other\n", "Opening"),
        ("Intro\n\n## Second\n\ntext", "guide.md"),
        ("Text only", "guide.md"),
        ("---\nnot: closed\n\n# Heading\n", "Heading"),
        ("<h1 align=\"center\">Product &amp; co</h1>\n\nIntro\n\n## Install\n", "Product & co"),
        ("<h1 align=\"center\">Site</h1>\n\n## Hooks\n\ntext", "Hooks"),
        ("# ![logo](a.png)\n\ntext", "guide.md"),
    ] {
        assert_eq!(titled(source), title, "{source:?}");
    }
    let document = Document { title: "Given".into(), ..markdown("# Heading") };
    assert_eq!(split(&document, 1200)[0].title, "Given");
}

#[test]
fn a_passage_names_the_headings_above_it_and_links_to_the_nearest() {
    let source = "Intro\n\n# A\n\na\n\n## B\n\nb\n\n#### C\n\nc\n\n## D\n\nd\n";
    let passages = split(&markdown(source), 1200);
    let named: Vec<_> = passages.iter().map(|passage| (passage.headings.join("/"), passage.url.as_str())).collect();
    let url = "https://example.org/guide";
    let anchored = |anchor: &str| format!("{url}#{anchor}");
    assert_eq!(
        named,
        [
            (String::new(), url),
            ("A".into(), anchored("a").as_str()),
            ("A/B".into(), anchored("b").as_str()),
            ("A/B/C".into(), anchored("c").as_str()),
            ("A/D".into(), anchored("d").as_str()),
        ]
    );
    let nowhere = Document { url: String::new(), ..markdown(source) };
    assert!(split(&nowhere, 1200).iter().all(|passage| passage.url.is_empty()));
}

#[test]
fn a_section_without_a_body_joins_the_deeper_one_below_it() {
    let passages = split(&markdown("# A\n\n[![badge](b)](c)\n\n## B\n\n### C\n\ntext\n\n## D\n## E\n"), 1200);
    let named: Vec<_> = passages.iter().map(|passage| passage.headings.join("/")).collect();
    assert_eq!(named, ["A/B/C", "A/D", "A/E"]);
    assert!(passages[0].url.ends_with("#c"));
}

#[test]
fn front_matter_comments_and_anchors_go_with_the_heading_below_them() {
    let source =
        "---\ntitle: T\n---\n\n<!-- comment -->\n\n# A\n<a id=\"own\"></a>\n\ntext\n\n<a id=\"b\"></a>\n## B\n\ntext\n";
    assert_eq!(
        texts(source, 1200).iter().map(|text| text.lines().next().unwrap()).collect::<Vec<_>>(),
        ["---", "<a id=\"b\"></a>"]
    );
}

#[test]
fn headings_in_quotes_and_lists_and_code_open_no_section() {
    let source = "# A\n\n> ## Note\n> text\n\n- ### Item\n\n```sh\n# comment\n```\n\ntext\n";
    assert_eq!(texts(source, 1200).len(), 1);
}

/// Anchors as `github-slugger` 2.0.0 gives them.
#[test]
fn anchors_follow_githubs_rule() {
    for (heading, anchor) in [
        ("Getting Started", "getting-started"),
        ("a & b", "a--b"),
        ("`.send(data)`", "senddata"),
        ("`new Client(url[, options])`", "new-clienturl-options"),
        ("Event: `'drain'`", "event-drain"),
        ("snake_case-kebab.dot", "snake_case-kebabdot"),
        ("v7+ Transports", "v7-transports"),
        ("Über Größe", "über-größe"),
        ("日本語 の 見出し", "日本語-の-見出し"),
        ("🎉 Party", "-party"),
        ("ℹ️ Note", "ℹ️-note"),
        ("½ x² Ⅷ", "-x-ⅷ"),
        ("Ça l’été", "ça-lété"),
        ("[Link](url) and *emphasis*", "link-and-emphasis"),
        ("Custom {#my-id .class}", "my-id"),
    ] {
        let passages = split(&markdown(&format!("# {heading}\n")), 1200);
        assert_eq!(passages[0].url, format!("https://example.org/guide#{anchor}"), "{heading}");
    }
}

#[test]
fn repeated_headings_get_numbered_anchors() {
    let passages = split(&markdown("# a\n\n# a\n\n# a-1\n\n> # a\n\n# a\n\n# b {#a}\n"), 1200);
    let anchors: Vec<_> =
        passages.iter().filter_map(|passage| passage.url.split_once('#')).map(|(_, anchor)| anchor).collect();
    assert_eq!(anchors, ["a", "a-1", "a-1-1", "a-3", "a"]);
}

#[test]
fn a_long_table_continues_with_its_rows_only() {
    let rows = (0..40).map(|row| format!("| key{row} | Value {row}. More |\n")).collect::<Vec<_>>().concat();
    let texts = texts(&format!("# T\n\n| Key | Value |\n|---|---|\n{rows}"), 300);
    assert!(texts.len() > 3 && texts.iter().all(|text| text.len() <= 300));
    assert!(texts[1..].iter().all(|text| text.starts_with("| key") && text.ends_with("|\n")));
    let continued: Vec<String> =
        texts[1..].iter().flat_map(|text| plain_text(text).lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    assert!(continued.contains(&"key39 Value 39. More".to_owned()), "{continued:?}");
}

#[test]
fn a_long_code_block_stays_whole_with_its_heading_and_introduction() {
    let code = format!("```js\n{}```\n", "let a = 1;\n\n".repeat(60));
    let source = format!("# Example\n\nRun this:\n\n{code}\nAfterwards.\n");
    assert_eq!(texts(&source, 200), [format!("# Example\n\nRun this:\n\n{code}\n"), "Afterwards.\n".into()]);
}

#[test]
fn a_heading_is_not_left_without_the_start_of_its_body() {
    let code = format!("```js\n{}```\n", "let a = 1;\n".repeat(16));
    assert!(code.len() < 200 && code.len() + 20 > 200);
    let example = texts(&format!("# An example\n<a id=\"x\"></a>\n\n{code}\nAfterwards.\n"), 200);
    assert!(example[0].starts_with("# An example\n") && example[0].ends_with("```\n\n"), "{example:?}");
    let prose = texts(&format!("# A heading\n\n{}", "One more sentence. ".repeat(10)), 100);
    assert!(prose[0].starts_with("# A heading\n\nOne") && prose.iter().all(|text| text.len() <= 100));
}

#[test]
fn a_heading_as_long_as_a_paragraph_is_one() {
    let passages = split(&markdown(&format!("# A\n\n## {}\n\ntext\n", "long heading ".repeat(40))), 1200);
    assert_eq!((passages.len(), passages[0].headings.as_slice()), (1, ["A".to_owned()].as_slice()));
}

#[test]
fn a_list_is_cut_between_its_outermost_items() {
    let item = format!("- An item with nested ones\n{}", "  - nested item of some length\n".repeat(4));
    let texts = texts(&item.repeat(10), 400);
    assert_eq!(texts, vec![item.repeat(2); 5]);
}

#[test]
fn long_prose_is_cut_between_sentences_then_words_then_characters() {
    let sentence = "The quick brown fox e.g. jumps over the lazy dog with `a. B` inside. ";
    let sentences = texts(&format!("# H\n\n{}", sentence.repeat(20)), 250);
    assert!(sentences.len() > 4 && sentences.iter().skip(1).all(|text| text.starts_with("The quick")));
    let words = texts(&"word ".repeat(100), 64);
    assert!(words.iter().all(|text| text.starts_with("word ")));
    let quoted = texts(&format!("1.  > {}", "a longer word and\n    > ".repeat(20)), 64);
    assert!(quoted.len() > 5 && quoted.iter().all(|text| !plain_text(text).contains('>')), "{quoted:?}");
    let characters = texts(&"漢".repeat(100), 64);
    assert!(characters.len() == 5 && characters.iter().all(|text| text.len() <= 64));
}

#[test]
fn link_definitions_do_not_lengthen_the_block_before_them() {
    let definitions = (0..30).map(|n| format!("[l{n}]: https://example.org/{n}\n")).collect::<Vec<_>>().concat();
    let texts = texts(&format!("A [link][l1].\n\n{definitions}"), 200);
    assert!(texts.iter().all(|text| text.len() <= 200));
    assert!(texts[1..].iter().all(|text| text.starts_with("[l") && plain_text(text).is_empty()), "{texts:#?}");
}

#[test]
fn plain_text_is_cut_between_paragraphs() {
    let document = Document { format: Format::Plain, ..markdown("# no heading\nline two\n\n\n- no list\n \nlast") };
    let passages = split(&document, 64);
    assert_eq!(passages.len(), 1);
    assert_eq!((passages[0].title.as_str(), passages[0].url.as_str()), ("guide.md", "https://example.org/guide"));
    let long = Document { format: Format::Plain, ..markdown(&"One sentence here.\nAnd another one.\n\n".repeat(5)) };
    assert!(split(&long, 64).iter().all(|passage| passage.text == "One sentence here.\nAnd another one.\n\n"));
}

#[test]
fn what_cannot_be_split_is_refused_with_the_limit() {
    let refused = |document: &Document, max_bytes| passages(document, &SplitOptions { max_bytes }).unwrap_err();
    let unnamed = Document { id: " ".into(), title: "T".into(), ..markdown("x") };
    assert_eq!(refused(&unnamed, 1200), IngestError::EmptyId { title: "T".into() });
    let error = refused(&markdown("x"), MIN_MAX_BYTES - 1);
    assert_eq!(error.to_string(), "max_bytes is 63, less than the minimum of 64");
    let large = markdown(&" ".repeat(DOCUMENT_LIMIT + 1));
    let (bytes, limit) = (DOCUMENT_LIMIT + 1, DOCUMENT_LIMIT);
    assert_eq!(refused(&large, 1200), IngestError::DocumentTooLarge { id: "guide.md".into(), bytes, limit });
}
