//! Generated Markdown, and what an independent reading of it says.
//!
//! The reading uses the parser's events but none of the splitter's code, so that the laws compare
//! two opinions.

use std::ops::Range;

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A document: front matter or nothing, then Markdown.
#[derive(Debug, Clone)]
pub struct Generated {
    pub front_matter: String,
    pub body: String,
}

impl Generated {
    pub fn source(&self) -> String {
        format!("{}{}", self.front_matter, self.body)
    }
}

/// Documents of up to a dozen blocks of every kind, nested, with either line ending.
pub fn document() -> impl Strategy<Value = Generated> {
    let front_matter = prop_oneof![
        3 => Just(String::new()),
        1 => Just("---\ntitle: \"Front: matter\"\ntags:\n  - a\n---\n".to_owned()),
        1 => Just("---\r\ntitle: Windows\r\n---\r\n".to_owned()),
    ];
    let endings = ["", "", "", "```js\nlet a. B = 1;\n\n# no heading\n", "<!-- open\n\nA. B\n"];
    let ending = prop::sample::select(endings.to_vec());
    (front_matter, prop::collection::vec(block(), 0..12), ending, any::<bool>()).prop_map(
        |(front_matter, blocks, ending, windows)| {
            let body = blocks.concat() + ending;
            Generated { front_matter, body: if windows { body.replace('\n', "\r\n") } else { body } }
        },
    )
}

/// The same with nonsense at the end.
pub fn messy_document() -> impl Strategy<Value = Generated> {
    (document(), soup()).prop_map(|(document, soup)| Generated { body: document.body + &soup, ..document })
}

/// Text that means little, of the characters that mean most.
pub fn soup() -> impl Strategy<Value = String> {
    let pieces = [
        "`",
        "```",
        "~~~",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "    ",
        "\t",
        "> ",
        "- ",
        "1. ",
        "|",
        "|-|-|",
        "[",
        "]",
        "(",
        ")",
        "](",
        "![",
        "<",
        ">",
        "<!--",
        "-->",
        "<h2>",
        "</h2>",
        "&amp;",
        "\\",
        "**",
        "_",
        "#",
        "## ",
        "---",
        "===",
        ": ",
        "[a]: /b",
        "[^1]",
        "[^1]: ",
        "a",
        "Word. ",
        "e.g. ",
        "é",
        "漢字。",
        "🎉",
        "👩‍👩‍👧",
        "\u{feff}",
        "\u{a0}",
        "\u{2028}",
        "\0",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
}

fn block() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => (paragraph(), 1..3usize).prop_map(|(text, blank)| text + &"\n".repeat(blank)),
        1 => paragraph().prop_map(|text| nest(&text, "* [x] ", "  ")),
        3 => heading(),
        2 => fence(),
        2 => table(),
        1 => Just("    indented. Code\n\n    more\n\n".to_owned()),
        1 => Just("---\n\n".to_owned()),
        1 => Just("[ref]: https://example.org/a_b \"Title\"\n[^1]: A note. With two sentences.\n\n".to_owned()),
        1 => Just("\n".repeat(90)),
        2 => html(),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let parts = || prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat());
        prop_oneof![
            parts().prop_map(|text| nest(&text, "> ", "> ")),
            parts().prop_map(|text| nest(&text, "- ", "  ")),
            parts().prop_map(|text| nest(&text, "1.  ", "    ")),
        ]
    })
}

fn nest(text: &str, first: &str, rest: &str) -> String {
    let mut nested = String::new();
    for (at, line) in text.lines().enumerate() {
        nested.extend([if at == 0 { first } else { rest }, line, "\n"]);
    }
    nested + "\n"
}

fn paragraph() -> impl Strategy<Value = String> {
    let words = [
        "word ",
        "Fastify ",
        "Node.js ",
        "v1.2.3. ",
        "e.g. ",
        "ends. ",
        "Ends! ",
        "`a. B` ",
        "[a link. Two](https://x.y/z?a=b.c) ",
        "**bold.** ",
        "![image. A](a.png) ",
        "<b>tag</b> ",
        "<br>",
        "[label][ref] ",
        "line\n",
        "hard  \n",
        "漢字です。",
        "🎉 ",
        "https://example.org/a.b ",
        "a | b ",
        "\\| ",
        "note[^1] ",
        "etc. ",
        "longwordwithoutanyspacewhatsoever",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 1..60)
        .prop_map(|words| format!("{}\n", words.concat().trim_end()))
}

fn heading() -> impl Strategy<Value = String> {
    let texts =
        ["Install", "`code` & more", "Über Größe", "Explicit {#given}", "", "日本語 🎉", "Install", "A [link](u)"];
    let text = prop::sample::select(texts.to_vec());
    (1..7usize, text, any::<bool>()).prop_map(|(level, text, blank)| {
        let blank = if blank { "\n" } else { "" };
        if level == 1 && !text.is_empty() {
            format!("{text}\n===\n{blank}")
        } else {
            format!("{} {text}\n{blank}", "#".repeat(level))
        }
    })
}

fn fence() -> impl Strategy<Value = String> {
    let lines = ["let a = 1;", "", "# not a heading", "| not | a row |", "One. Two.", "    deep", "> q", "- x", "漢字"];
    let lines = prop::collection::vec(prop::sample::select(lines.to_vec()), 0..40);
    (lines, prop::sample::select(vec!["```", "~~~~", "`````"]))
        .prop_map(|(lines, marks)| format!("{marks}js\n{}\n{marks}\n\n", lines.join("\n")))
}

fn table() -> impl Strategy<Value = String> {
    let cells = [
        "a",
        "`x \\| y`",
        "One. Two.",
        "**b**",
        "",
        "漢字。次",
        "[l](u)",
        "a rather long cell of a table. It has sentences.",
    ];
    let row = prop::collection::vec(prop::sample::select(cells.to_vec()), 2..4);
    (row.clone(), prop::collection::vec(row, 0..20)).prop_map(|(head, rows)| {
        let line = |row: &Vec<&str>| format!("| {} |\n", row.join(" | "));
        format!("{}|{}\n{}\n", line(&head), "---|".repeat(head.len()), rows.iter().map(line).collect::<String>())
    })
}

fn html() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "<h1 align=\"center\">Banner</h1>\n\n",
        "<a id=\"x\"></a>\n",
        "<!-- a comment. Hidden -->\n",
        "<details>\n<summary>More. Text</summary>\n\n",
        "</details>\n\n",
        "<div align=\"center\"><img src=\"a.png\"></div>\n\n",
        "<div class=\"never closed\n\n",
        "<p>One. <b>Two</b>. Three.<br>Four</p>\n\n",
    ])
    .prop_map(str::to_owned)
}

/// What the parser says of a document.
#[derive(Debug, Default)]
pub struct Reading {
    /// Code blocks and table rows, in order.
    pub solids: Vec<Range<usize>>,
    /// Those of them that are fenced code or rows.
    pub fenced: Vec<Range<usize>>,
    /// Markdown headings outside containers: where, and what they say.
    pub headings: Vec<(usize, String)>,
    /// Text with words outside headings.
    pub text: Vec<Range<usize>>,
}

/// Reads Markdown that starts at `offset` of its source.
pub fn read(body: &str, offset: usize) -> Reading {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_GFM;
    let mut reading = Reading::default();
    let (mut depth, mut images) = (0, 0);
    let mut heading: Option<String> = None;
    for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
        let range = range.start + offset..range.end + offset;
        match event {
            Event::Start(tag) => {
                match tag {
                    Tag::CodeBlock(kind) => {
                        reading.solids.push(range.clone());
                        reading.fenced.extend(kind.is_fenced().then_some(range));
                    }
                    Tag::TableRow => {
                        reading.solids.push(range.clone());
                        reading.fenced.push(range);
                    }
                    Tag::TableHead => {
                        let below = body[range.end - offset..].split_inclusive('\n').next().map_or(0, str::len);
                        reading.solids.push(range.start..range.end + below);
                        reading.fenced.push(range);
                    }
                    Tag::Image { .. } => images += 1,
                    Tag::Heading { .. } if depth == 0 => {
                        heading = Some(String::new());
                    }
                    _ => {}
                }
                depth += 1;
            }
            Event::End(tag) => {
                depth -= 1;
                images -= u32::from(tag == TagEnd::Image);
                if let (TagEnd::Heading(_), Some(text)) = (tag, heading.take_if(|_| depth == 0)) {
                    reading.headings.push((range.start, text.trim().to_owned()));
                }
            }
            _ if images > 0 => {}
            Event::SoftBreak | Event::HardBreak => heading.iter_mut().for_each(|heading| heading.push(' ')),
            Event::Text(text) | Event::Code(text) => match &mut heading {
                Some(heading) => heading.push_str(&text),
                None if text.chars().any(char::is_alphanumeric) => reading.text.push(range),
                None => {}
            },
            _ => {}
        }
    }
    reading
}
