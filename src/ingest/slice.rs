//! A slice of a Markdown document made readable on its own.
//!
//! A passage may begin inside a list or a table whose start another passage has. Alone, an item
//! at four columns would be an indented code block and a row a paragraph. This undoes what is
//! missing: the indentation or the quote markers of the container are taken away, a row gets a
//! header row. Also skips front matter. Keeps the map from the text that is parsed to the text that was given.

use std::borrow::Cow;
use std::ops::Range;

use super::front_matter::FrontMatter;
use super::{BYTE_ORDER_MARK, markdown};

/// Columns by which an indented code block is set off.
const CODE_INDENT: usize = 4;
/// A header for more columns than any table has would only cost time.
const MAX_COLUMNS: usize = 256;

/// What stands before a line's content in a quote.
const MARKERS: [char; 3] = [' ', '\t', '>'];

pub(super) struct Slice<'a> {
    text: Cow<'a, str>,
    /// Where each stretch of `text` starts, there and in the text given; ascending.
    stretches: Vec<(usize, usize)>,
}

impl<'a> Slice<'a> {
    pub(super) fn new(given: &'a str) -> Self {
        let mark = given.len() - given.strip_prefix(BYTE_ORDER_MARK).unwrap_or(given).len();
        let body = mark + FrontMatter::find(&given[mark..]).map_or(0, |found| found.end);
        let text = &given[body..];
        let container = Container::of(text);
        let header = table_header(text, container);
        // One after the other: to look for two characters takes several times as long as to look for one twice.
        let mut lines = text.split('\n').flat_map(|line| line.split('\r'));
        let absurd = lines.any(|line| markdown::absurd_nesting(line).is_some());
        if container == Container::default() && header.is_none() && !absurd {
            return Slice { text: Cow::Borrowed(text), stretches: vec![(0, body)] };
        }
        let mut out = String::with_capacity(text.len());
        let mut stretches = Vec::new();
        let (mut open, mut header, mut at) = (container, header, body);
        for line in text.split_inclusive(['\n', '\r']) {
            let stripped = open.strip(line).max(markdown::absurd_nesting(line).unwrap_or(0));
            if !line.trim().is_empty() {
                out.push_str(&header.take().unwrap_or_default());
            }
            stretches.push((out.len(), at + stripped));
            out.push_str(&line[stripped..]);
            at += line.len();
        }
        Slice { text: Cow::Owned(out), stretches }
    }

    /// The text to parse.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where a non-empty range of [`Self::text`] stands in the text given.
    pub(super) fn given(&self, range: Range<usize>) -> Range<usize> {
        self.locate(range.start)..self.locate(range.end - 1) + 1
    }

    fn locate(&self, at: usize) -> usize {
        let stretch = self.stretches.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        self.stretches.get(stretch).map_or(at, |(start, given)| given + at.saturating_sub(*start))
    }
}

/// What a container that the text begins inside of left on its lines.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Container {
    /// Columns of indentation; ends at the first line that has none.
    indent: usize,
    /// The text begins in the middle of a line, which has lost what the next ones have.
    hanging: bool,
    /// Quote markers on the next lines; ends at the first line without one.
    quotes: usize,
}

impl Container {
    fn of(text: &str) -> Self {
        let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
        let Some(first) = lines.next() else { return Self::default() };
        let indent = columns(first);
        if indent > 0 {
            let own = indent < 2 || (indent >= CODE_INDENT && !opens_block(first.trim_start()));
            return Container { indent: if own { 0 } else { indent }, ..Self::default() };
        }
        let Some(second) = lines.next().filter(|line| !line.trim().is_empty() && !opens_block(first)) else {
            return Self::default();
        };
        let markers = &second[..second.len() - second.trim_start_matches(MARKERS).len()];
        let (indent, quotes) = (columns(second), markers.matches('>').count());
        if indent < 2 && quotes == 0 { Self::default() } else { Container { indent, hanging: true, quotes } }
    }

    /// The bytes of the next line that belong to the container.
    fn strip(&mut self, line: &str) -> usize {
        if line.trim().is_empty() || std::mem::take(&mut self.hanging) {
            return 0;
        }
        self.indent = self.indent.min(columns(line));
        let mut rest = &line[indent_length(line, self.indent)..];
        for open in 0..self.quotes {
            let Some(quote) = rest.trim_start().strip_prefix('>') else {
                self.quotes = open;
                break;
            };
            rest = quote.strip_prefix(' ').unwrap_or(quote);
        }
        line.len() - rest.len()
    }
}

/// Whether a line looks like Markdown rather than like a line of code.
fn opens_block(line: &str) -> bool {
    let ordered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let bullet = ["- ", "* ", "+ "].iter().any(|marker| line.starts_with(marker));
    let ordinal = ordered.len() < line.len() && (ordered.starts_with(". ") || ordered.starts_with(") "));
    bullet || ordinal || line.starts_with("```") || line.starts_with("~~~") || line.starts_with(['|', '>', '#'])
}

/// The width of a line's indentation; a tab goes to the next multiple of four.
fn columns(line: &str) -> usize {
    let indent = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    indent.fold(0, |column, byte| if byte == b'\t' { (column / 4 + 1) * 4 } else { column + 1 })
}

/// How many bytes of a line's indentation fit into `width` columns.
fn indent_length(line: &str, width: usize) -> usize {
    let mut column = 0;
    for (at, byte) in line.bytes().enumerate() {
        column = match byte {
            b' ' => column + 1,
            b'\t' => (column / 4 + 1) * 4,
            _ => return at,
        };
        if column > width {
            return at;
        }
    }
    line.len()
}

/// A header row for the rows that the text begins with, if it begins with rows.
fn table_header(text: &str, mut container: Container) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
    let first = lines.next()?;
    let cells = pipes(first)? + 1;
    let mut rows = lines.take_while(|line| !line.trim_matches(MARKERS).is_empty()).peekable();
    // One line with a pipe in it is more often a sentence about a union type.
    let is_lone = rows.peek().is_none() && !first.trim_start_matches(MARKERS).starts_with('|');
    if is_lone || is_delimiter(first) || !rows.all(|row| pipes(row).is_some() && !is_delimiter(row)) {
        return None;
    }
    let quote_end = first.len() - first.trim_start_matches(MARKERS).len();
    let quote = &first[container.strip(first)..quote_end];
    if columns(quote) >= CODE_INDENT {
        return None;
    }
    let row = |cell: &str| format!("{quote}|{}\n", cell.repeat(cells.min(MAX_COLUMNS)));
    Some(row(" |") + &row("-|"))
}

/// How many unescaped pipes a line has, if it is a row: it begins with one or shows one between
/// spaces outside code.
fn pipes(line: &str) -> Option<usize> {
    let text = line.trim_start_matches(MARKERS).trim_end().as_bytes();
    let is_space = |at: usize| text.get(at).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    let (mut pipes, mut spaced, mut code, mut at) = (0, false, false, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'`' => code = !code,
            b'|' => {
                pipes += 1;
                spaced |= !code && at > 0 && is_space(at - 1) && is_space(at + 1);
            }
            _ => {}
        }
        at += 1;
    }
    (text.starts_with(b"|") || spaced).then_some(pipes)
}

/// The row under a table's header.
fn is_delimiter(line: &str) -> bool {
    let text = line.trim_matches(MARKERS);
    text.contains('-') && text.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
}
