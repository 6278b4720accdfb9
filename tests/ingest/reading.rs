//! What the units of a text are, and which words it has.

use UnitKind::{Code, Heading, ListItem, Sentence, TableRow};
use countercheck::corpus::Corpus;
use countercheck::document::{Document, Format};
use countercheck::ingest::{UnitKind, plain_text, reading, units};

fn read(text: &str) -> Vec<(UnitKind, &str)> {
    units(text).into_iter().map(|unit| (unit.kind, &text[unit.span.start..unit.span.end])).collect()
}

fn sentences(text: &str) -> Vec<&str> {
    read(text).into_iter().map(|(_, slice)| slice).collect()
}

#[test]
fn every_block_gives_units_of_its_kind() {
    let text = "# Title `x`\n\nOne. Two\ngoes on.\n\n- [ ] item one. Still it\n- item two\n\n  own paragraph\n\n  ```sh\n  run. It\n  ```\n\n\
                | a | b |\n|---|---|\n| 1. A | 2 |\n\n> quoted. Twice\n\n    indented. Code\n\n---\n\n<p>In <b>HTML</b>. Yes</p>\n\n\
                <h2>Head</h2>\n\n[^1]: Note. Two.\n\n[ref]: /url\n\n![badge](b.svg)\n";
    assert_eq!(
        read(text),
        [
            (Heading, "Title `x`"),
            (Sentence, "One."),
            (Sentence, "Two\ngoes on."),
            (ListItem, "item one. Still it"),
            (ListItem, "item two"),
            (ListItem, "own paragraph"),
            (Code, "```sh\n  run. It\n  ```"),
            (TableRow, "| a | b |"),
            (TableRow, "| 1. A | 2 |"),
            (Sentence, "quoted."),
            (Sentence, "Twice"),
            (Code, "indented. Code"),
            (Sentence, "In <b>HTML</b>."),
            (Sentence, "Yes"),
            (Heading, "Head"),
            (Sentence, "Note."),
            (Sentence, "Two."),
        ]
    );
}

#[test]
fn a_long_list_item_is_read_by_its_sentences() {
    let item = "This option sets the limit of the body in bytes. ".repeat(7);
    assert_eq!(read(&format!("- {item}\n")).len(), 7);
    assert_eq!(read(&format!("- {item}\n"))[0], (Sentence, "This option sets the limit of the body in bytes."));
}

#[test]
fn sentences_end_where_a_reader_of_documentation_ends_them() {
    for (text, expected) in [
        (
            "Use hooks, e.g. Fastify's, i.e. `onRequest`. Done.",
            vec!["Use hooks, e.g. Fastify's, i.e. `onRequest`.", "Done."],
        ),
        ("GET vs. POST, cf. RFC 9110. Next.", vec!["GET vs. POST, cf. RFC 9110.", "Next."]),
        (
            "Plugins, hooks, etc. are fine. So are others, etc. The end.",
            vec!["Plugins, hooks, etc. are fine.", "So are others, etc.", "The end."],
        ),
        ("Node.js 20.1.0 and .NET 8. Go 1.22. Yes.", vec!["Node.js 20.1.0 and .NET 8.", "Go 1.22.", "Yes."]),
        ("Written in Node.JS and .NET Core.", vec!["Written in Node.JS and .NET Core."]),
        ("The U.S. Government (e.g. NASA). Next.", vec!["The U.S. Government (e.g. NASA).", "Next."]),
        (
            "Call `a. B` first. `b` second. Then [a. B](u.V \"T. W\").",
            vec!["Call `a. B` first.", "`b` second.", "Then [a. B](u.V \"T. W\")."],
        ),
        ("**Note.** This matters. **Really!** Yes.", vec!["**Note.**", "This matters.", "**Really!**", "Yes."]),
        ("*Two. Emphasised.* Third.", vec!["*Two. Emphasised.*", "Third."]),
        (
            "See [docs](https://a.b/c?d.E). [More](x) here. ![pic. A](y)",
            vec!["See [docs](https://a.b/c?d.E).", "[More](x) here."],
        ),
        ("Steps: 1. Install it. 2. Run it.", vec!["Steps: 1. Install it.", "2. Run it."]),
        ("Is it? Yes! \"Quoted.\" (Bracketed.) End", vec!["Is it?", "Yes!", "\"Quoted.\"", "(Bracketed.)", "End"]),
        ("Line one\nline two. Line\nthree", vec!["Line one\nline two.", "Line\nthree"]),
        ("Broken  \nhard\\\nthrice<br>here", vec!["Broken", "hard", "thrice", "here"]),
        ("これは文です。次の文です。「はい。」終わり", vec!["これは文です。", "次の文です。", "「はい。」", "終わり"]),
        ("Wait... Done. Version v1. 🎉 Next one.", vec!["Wait...", "Done.", "Version v1.", "🎉 Next one."]),
        (
            "A<!-- no. B --> c. Footnote.[^1] Next\\. Last.\n\n[^1]: x",
            vec!["A<!-- no. B --> c.", "Footnote.[^1]", "Next\\.", "Last.", "x"],
        ),
        ("> Quoted text\n> goes on. [A\n> link](u) ends.", vec!["Quoted text\n> goes on.", "[A\n> link](u) ends."]),
    ] {
        assert_eq!(sentences(text), expected, "{text:?}");
    }
}

#[test]
fn a_text_that_begins_inside_a_container_is_read_as_its_continuation() {
    assert_eq!(read("| a. B | c |\n| d | e |\n"), [(TableRow, "| a. B | c |"), (TableRow, "| d | e |")]);
    assert_eq!(read("> | a. B | c |\n"), [(TableRow, "| a. B | c |")]);
    let nested = "    - nested item. One\n\n      ```\n      a. B\n      ```\n    - next\n- top\n";
    assert_eq!(
        read(nested),
        [(ListItem, "nested item. One"), (Code, "```\n      a. B\n      ```"), (ListItem, "next"), (ListItem, "top")]
    );
    assert_eq!(read("  in an item\n\n    ```\n    a. B\n    ```\n").last(), Some(&(Code, "```\n    a. B\n    ```")));
    assert_eq!(
        read("rest of a quote\n> that goes on. More\n> here"),
        [(Sentence, "rest of a quote\n> that goes on."), (Sentence, "More\n> here")]
    );
    assert_eq!(read("    npm install. Now\n"), [(Code, "npm install. Now")]);
    assert_eq!(read("---\ntitle: T\n---\nText."), [(Sentence, "Text.")]);
    assert_eq!(read("---\n\nNote: text.\n\n---\n"), [(Sentence, "Note: text.")]);
}

#[test]
fn plain_text_is_what_a_reader_sees() {
    for (text, expected) in [
        ("# A `b`\n\n*c* **d** ~~e~~ \\* &amp; f", "A b\nc d e * & f"),
        ("[text](https://x.y \"Title\") ![alt](i.png) <https://a.b> https://c.d", "text  https://a.b https://c.d"),
        ("[full][ref] [collapsed][] [shortcut] a[i][j]", "full collapsed [shortcut] a[i][j]"),
        ("[text][ref]\n\n[ref]: /url 'title'", "text"),
        ("```js\nlet a = 1;\n\nb\n```\n\nafter", "let a = 1;\n\nb\nafter"),
        ("| a | b |\n|---|---|\n| `c` | [d](e) |", "a b\nc d"),
        ("| c | d |\n", "c d"),
        ("- one\n  - two\n- [x] three\n\n1. four", "one\ntwo\nthree\nfour"),
        ("> [!NOTE]\n> text\n> more", "text more"),
        ("<b>rest</b> of a quote\n    > goes on", "rest of a quote goes on"),
        ("soft\nbreak  \nhard", "soft break\nhard"),
        (
            "<!-- a\n\nb -->\n<p align=\"x\">c <b>d</b> &lt;e&gt;</p>\n\n<details>\n<summary>f</summary>\ng</details>",
            "c d <e>\nf\ng",
        ),
        ("a <span title=\"x > y\">b</span><br>c<!-- d -->", "a b\nc"),
        ("<script>\nlet hidden = 1 < 2;\n</script>\n\nshown", "shown"),
        ("a note[^1]\n\n[^1]: the note", "a note\nthe note"),
        ("---\ntitle: T\n---\n\ntext", "text"),
        ("漢字 🎉\r\nCRLF", "漢字 🎉 CRLF"),
        ("", ""),
    ] {
        assert_eq!(plain_text(text), expected, "{text:?}");
    }
}

#[test]
fn an_index_keeps_what_is_read_of_its_passages_in_a_sixth_of_their_bytes() {
    let mut corpus = Corpus::default();
    for (id, source) in
        [("README.md", include_str!("../../README.md")), ("a.md", include_str!("../../ARCHITECTURE.md"))]
    {
        let (id, source) = (id.to_owned(), source.to_owned());
        corpus
            .add(&Document { id, source, url: String::new(), title: String::new(), format: Format::Markdown })
            .unwrap();
    }
    let mut loaded = Corpus::default();
    loaded.load(corpus.save()).unwrap();
    let (mut kept, mut text) = (0, 0);
    for passage in loaded.index().iter() {
        let read = reading(&passage.text);
        assert_eq!(loaded.index().reading(passage).as_ref(), Some(&read), "{}", passage.text);
        assert_eq!(loaded.reading(passage), read);
        let words: Vec<&str> = read.units.iter().map(|(_, words)| words.as_str()).collect();
        let whole = plain_text(&passage.text);
        assert_eq!(
            words.join(" ").split_whitespace().collect::<Vec<_>>(),
            whole.split_whitespace().collect::<Vec<_>>()
        );
        (kept, text) = (kept + read.encode(&passage.text).len(), text + passage.text.len());
    }
    assert!(kept * 6 < text, "{kept} of {text} bytes");
}
