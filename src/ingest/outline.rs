//! A document as a row of blocks and its headings.
//!
//! Decides where a document may be cut without hurting a code block or a table row, what each
//! piece is, and what its headings are called. Every leaf block of `CommonMark` starts on a line
//! of its own, so blocks start at line starts and the row of them is the whole source. Does not
//! decide where it *is* cut: see `split`.

use std::ops::Range;

use pulldown_cmark::{CowStr, Event, Tag, TagEnd};

use super::anchor::Slugger;
use super::front_matter::FrontMatter;
use super::markdown::Part;
use super::{BYTE_ORDER_MARK, html, markdown};

/// Filler between two blocks up to which it stays with the first one.
const FILLER_LIMIT: usize = 64;

/// A piece of the source that starts where the last one ends.
pub(super) struct Block {
    /// Its first byte: the start of a line, its list and quote markers included.
    pub(super) start: usize,
    /// Its content, without the markers before and the blank lines after it.
    pub(super) content: Range<usize>,
    /// What it is.
    pub(super) kind: BlockKind,
    /// How many containers (lists, items, quotes, tables) a cut before it goes through; low is better.
    pub(super) rank: u32,
    /// Whether a reader finds words in it; of a heading, words beside its title.
    pub(super) words: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// A heading that opens a section: an index into [`Outline::headings`].
    Heading(usize),
    /// Text that may be cut between sentences.
    Prose,
    /// A code block or a table row (the first one with the delimiter row): never cut.
    Solid,
}

pub(super) struct Heading {
    /// 1…6.
    pub(super) level: u8,
    /// Its text without markup.
    pub(super) text: String,
    /// Its anchor; empty when the text gives none.
    pub(super) anchor: String,
    /// Whether it is written as an HTML element.
    pub(super) html: bool,
}

impl Heading {
    /// Every passage carries the headings above it: one this long is a paragraph.
    const LIMIT: usize = 300;
}

/// What the splitter knows of a document.
#[derive(Default)]
pub(super) struct Outline {
    /// From the front matter.
    pub(super) title: Option<String>,
    /// In order, the first one at 0.
    pub(super) blocks: Vec<Block>,
    /// The headings that open sections. One in a list or a quote is text of its section.
    pub(super) headings: Vec<Heading>,
}

/// Reads a Markdown document that is not blank; one nested beyond reason like one without markup.
pub(super) fn markdown(source: &str) -> Outline {
    if source.split(['\n', '\r']).any(|line| markdown::absurd_nesting(line).is_some()) {
        return plain(source);
    }
    let mark = source.len() - source.strip_prefix(BYTE_ORDER_MARK).unwrap_or(source).len();
    let front_matter = FrontMatter::find(&source[mark..]);
    let body = mark + front_matter.as_ref().map_or(0, |found| found.end);
    let mut reader = Reader::new(source, body);
    if front_matter.is_some() {
        reader.add(0, 0..body, BlockKind::Prose);
    }
    for (event, range) in markdown::events(&source[body..], Part::Whole) {
        reader.read(event, range.start + body..range.end + body);
    }
    let mut outline = reader.finish();
    outline.title = front_matter.and_then(|found| found.title()).filter(|title| title.len() <= Heading::LIMIT);
    outline
}

/// Reads a document without markup that is not blank: blank lines separate its paragraphs.
pub(super) fn plain(source: &str) -> Outline {
    let mut blocks: Vec<Block> = Vec::new();
    let mut at = 0;
    let mut blank = true;
    for line in source.split_inclusive('\n') {
        let text = line.trim_end();
        if text.is_empty() {
            blank = true;
        } else if blank {
            let (start, content) = (if blocks.is_empty() { 0 } else { at }, at..at + text.len());
            blocks.push(Block { start, content, kind: BlockKind::Prose, rank: 0, words: true });
            blank = false;
        } else if let Some(paragraph) = blocks.last_mut() {
            paragraph.content.end = at + text.len();
        }
        at += line.len();
    }
    Outline { blocks, ..Outline::default() }
}

struct Reader<'a> {
    source: &'a str,
    outline: Outline,
    slugger: Slugger,
    /// Containers and blocks that are open.
    depth: u32,
    /// The depth of the outermost one that began since the last block.
    rank: u32,
    /// A block that takes the inline events which follow is open.
    open: bool,
    images: u32,
    /// The heading that is open: its text so far, and its explicit id.
    heading: Option<(String, Option<String>)>,
    /// The start of the last line looked at, and how far was looked.
    line: (usize, usize),
}

impl<'a> Reader<'a> {
    fn new(source: &'a str, body: usize) -> Self {
        Reader {
            source,
            outline: Outline::default(),
            slugger: Slugger::default(),
            depth: 0,
            rank: u32::MAX,
            open: false,
            images: 0,
            heading: None,
            line: (body, body),
        }
    }

    fn read(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) if !markdown::is_inline(&tag) => self.start(tag, range),
            Event::End(tag) if !markdown::is_inline_end(tag) => self.end(tag, range),
            Event::Start(tag) => {
                self.images += u32::from(matches!(tag, Tag::Image { .. }));
                self.inline(range, "");
            }
            Event::End(tag) => self.images -= u32::from(tag == TagEnd::Image),
            Event::Text(text) | Event::Code(text) => self.inline(range, &text),
            Event::SoftBreak | Event::HardBreak => self.inline(range, " "),
            // The words of a block of HTML are looked for at its end, when all of it is known.
            Event::Rule => {
                self.rank = self.rank.min(self.depth);
                self.begin(range, BlockKind::Prose);
                self.open = false;
            }
            _ => self.inline(range, ""),
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        self.rank = self.rank.min(self.depth);
        match tag {
            Tag::Heading { id, .. } => {
                self.begin(range, BlockKind::Prose);
                self.heading = Some((String::new(), id.map(CowStr::into_string)));
            }
            Tag::CodeBlock(_) | Tag::TableRow => self.begin(range, BlockKind::Solid),
            Tag::TableHead => {
                // Without the delimiter row below it, a header is no table.
                let delimiter = line_length(&self.source[range.end..]);
                self.begin(range.start..range.end + delimiter, BlockKind::Solid);
            }
            Tag::Paragraph | Tag::HtmlBlock => self.begin(range, BlockKind::Prose),
            // An item holds its text directly when its list is tight; it may also hold nothing.
            Tag::Item | Tag::FootnoteDefinition(_) => self.begin(range.start..range.start, BlockKind::Prose),
            _ => {}
        }
        self.depth += 1;
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        self.depth -= 1;
        if tag == TagEnd::TableCell {
            return;
        }
        self.open = false;
        match tag {
            TagEnd::Heading(level) => {
                let (text, id) = self.heading.take().unwrap_or_default();
                let anchor = id.unwrap_or_else(|| self.slugger.slug(&text));
                self.head(Heading { level: level as u8, text: text.trim().to_owned(), anchor, html: false });
            }
            TagEnd::HtmlBlock => {
                let source = &self.source[range];
                let found = html::heading(source);
                let words = found.as_ref().map_or_else(|| html::has_words(&html::text(source)), |heading| heading.more);
                if let Some(block) = self.outline.blocks.last_mut() {
                    block.words |= words;
                }
                if let Some(found) = found {
                    let anchor = self.slugger.slug(&found.text);
                    self.head(Heading { level: found.level, text: found.text, anchor, html: true });
                }
            }
            _ => {}
        }
    }

    /// Opens a section with a heading, unless that stands in a container or is no title by its length.
    fn head(&mut self, heading: Heading) {
        let opens = self.depth == 0 && heading.text.len().max(heading.anchor.len()) <= Heading::LIMIT;
        let Some(block) = self.outline.blocks.last_mut().filter(|_| opens) else { return };
        block.kind = BlockKind::Heading(self.outline.headings.len());
        block.words &= heading.html;
        self.outline.headings.push(heading);
    }

    fn inline(&mut self, range: Range<usize>, text: &str) {
        if !self.open {
            self.begin(range.clone(), BlockKind::Prose);
        }
        if self.images > 0 {
            return;
        }
        if let Some((heading, _)) = &mut self.heading {
            heading.push_str(text);
        }
        if let Some(block) = self.outline.blocks.last_mut() {
            block.words |= html::has_words(text);
            block.content.end = block.content.end.max(range.end);
        }
    }

    fn begin(&mut self, content: Range<usize>, kind: BlockKind) {
        let start = self.line_start(content.start);
        self.open = true;
        if let Some(block) = self.outline.blocks.last_mut().filter(|block| block.start == start) {
            // `- - text`, ``- ``` ``: the innermost block of a line is what the line is.
            block.content = content;
            block.kind = kind;
            return;
        }
        self.fill(start);
        self.add(start, content, kind);
        self.rank = u32::MAX;
    }

    fn add(&mut self, start: usize, content: Range<usize>, kind: BlockKind) {
        let start = if self.outline.blocks.is_empty() { 0 } else { start };
        self.outline.blocks.push(Block { start, content, kind, rank: self.rank.min(self.depth), words: false });
    }

    /// Makes what no event covers (link definitions, very many blank lines) a block of its own.
    fn fill(&mut self, end: usize) {
        let last = self.outline.blocks.last().map_or(0, |block| block.content.end).min(end);
        // What is left of the line a block ends on belongs to that block.
        let ended = self.source[..last].ends_with(['\n', '\r']) || last == 0;
        let start = if ended { last } else { last + line_length(&self.source[last..end]) };
        let gap = &self.source[start..end];
        if html::has_words(gap) || gap.len() > FILLER_LIMIT {
            let blank = &gap[..gap.len() - gap.trim_start().len()];
            let lines = blank.rfind('\n').map_or(0, |at| at + 1);
            let start = start + if lines > FILLER_LIMIT { 0 } else { lines };
            self.add(start, start..end, BlockKind::Prose);
        }
    }

    fn line_start(&mut self, at: usize) -> usize {
        let (start, seen) = &mut self.line;
        if at > *seen {
            let passed = &self.source.as_bytes()[*seen..at];
            if let Some(last) = passed.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')) {
                *start = *seen + last + 1;
            }
            *seen = at;
        }
        *start
    }

    fn finish(mut self) -> Outline {
        self.rank = 0;
        if self.outline.blocks.is_empty() {
            self.add(0, 0..self.source.len(), BlockKind::Prose);
        } else {
            self.fill(self.source.len());
        }
        self.outline
    }
}

/// The length of the first line with its line ending.
fn line_length(text: &str) -> usize {
    match text.find(['\n', '\r']) {
        Some(at) if text[at..].starts_with("\r\n") => at + 2,
        Some(at) => at + 1,
        None => text.len(),
    }
}
