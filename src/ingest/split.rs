//! Where a document is cut into passages.
//!
//! Decides sections first: each starts at a heading, and one without a body joins the next, deeper
//! one. Then packs the blocks of a section: as few passages as the limit allows, of similar size,
//! cut through as few containers as possible. Never cuts a [`BlockKind::Solid`] block, and leaves
//! no heading behind without the start of its body.

use std::ops::Range;

use super::outline::{Block, BlockKind, Heading, Outline};
use super::{sentence, unit};
use crate::document::Format;

/// Any cut between blocks is better than one between sentences, and that than one between words.
const SENTENCE_RANK: u32 = 1 << 30;
const WORD_RANK: u32 = 1 << 31;

/// A run of blocks under one heading.
pub(super) struct Section<'a> {
    blocks: &'a [Block],
    /// One past its last byte.
    end: usize,
    /// The headings above it and its own, outermost first.
    pub(super) headings: Vec<&'a Heading>,
}

/// The sections of a document, in order.
pub(super) fn sections<'a>(outline: &'a Outline, source: &str) -> Vec<Section<'a>> {
    let blocks = &outline.blocks;
    let starts = section_starts(blocks, source);
    let banners = first_heading(outline);
    let mut sections = Vec::new();
    let mut path: Vec<&Heading> = Vec::new();
    let mut first = 0;
    for (at, &start) in starts.iter().enumerate() {
        let next = starts.get(at + 1).copied().unwrap_or(blocks.len());
        // A banner is no heading: it joins the next section whatever that one's level is.
        let heading =
            |blocks| heading_of(blocks).filter(|own| *own >= banners).and_then(|own| outline.headings.get(own));
        let own = heading(&blocks[start..next]);
        if let Some(own) = own {
            path.retain(|above| above.level < own.level);
            path.push(own);
        }
        let deeper = heading(&blocks[next..]).is_some_and(|next| own.is_none_or(|own| own.level < next.level));
        let joins = deeper && !has_body(&blocks[start..next]);
        if !joins {
            let end = blocks.get(next).map_or(source.len(), |block| block.start);
            sections.push(Section { blocks: &blocks[first..next], end, headings: path.clone() });
            first = next;
        }
    }
    sections
}

/// The first heading that names something. A page may begin with the site's name as an HTML
/// banner directly above its own title: that one is on every page and tells none apart.
pub(super) fn first_heading(outline: &Outline) -> usize {
    let mut blocks = outline.blocks.iter().skip_while(|block| block.kind != BlockKind::Heading(0));
    let (banner, next) = (blocks.next(), blocks.next());
    let is_banner = banner.is_some_and(|block| !block.words)
        && next.is_some_and(|block| block.kind == BlockKind::Heading(1))
        && outline.headings.first().is_some_and(|first| first.html && first.level == 1);
    usize::from(is_banner)
}

/// Whether nothing is read before the first heading.
pub(super) fn opens_with_heading(outline: &Outline) -> bool {
    let mut before = outline.blocks.iter().take_while(|block| block.kind != BlockKind::Heading(0));
    !outline.headings.is_empty() && before.all(|block| !block.words && block.kind == BlockKind::Prose)
}

/// Cuts a section into spans of at most `max` bytes, or one solid block with what introduces it.
pub(super) fn pack(section: &Section<'_>, source: &str, format: Format, max: usize) -> Vec<Range<usize>> {
    let row = Row::new(section, source, format, max);
    let mut spans = Vec::new();
    let mut first = 0;
    while first < row.pieces.len() {
        let next = row.next_cut(first, source, max);
        spans.push(row.start(first)..row.start(next));
        first = next;
    }
    spans
}

/// Indices of the blocks that begin a section.
fn section_starts(blocks: &[Block], source: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut floor = 0;
    for (at, block) in blocks.iter().enumerate() {
        if !matches!(block.kind, BlockKind::Heading(_)) {
            continue;
        }
        // An anchor or comment above a heading belongs to it, unless it stands right below another.
        let openers = blocks[floor..at].iter().rev().take_while(|block| is_opener(block, source)).count();
        let below_heading = floor > 0 && openers == at - floor;
        starts.push(if below_heading { at } else { at - openers });
        floor = at + 1;
    }
    if starts.first() != Some(&0) && !blocks.is_empty() {
        starts.insert(0, 0);
    }
    starts
}

/// A wordless piece of HTML that opens something: `<a id="x"></a>`, `<!-- … -->`, `<br>`.
fn is_opener(block: &Block, source: &str) -> bool {
    let content = &source[block.content.clone()];
    block.kind == BlockKind::Prose && !block.words && content.starts_with('<') && !content.starts_with("</")
}

/// The heading that `blocks` begin with, or the next one.
fn heading_of(blocks: &[Block]) -> Option<usize> {
    blocks.iter().find_map(|block| match block.kind {
        BlockKind::Heading(index) => Some(index),
        _ => None,
    })
}

fn has_body(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| block.words || block.kind == BlockKind::Solid)
}

/// A place where a section may be cut.
struct Piece {
    start: usize,
    rank: u32,
    solid: bool,
}

/// The pieces of a section: its blocks, and the parts of those that are too long.
struct Row {
    pieces: Vec<Piece>,
    end: usize,
    /// Cuts before these pieces would tear a heading from its body.
    glued: Range<usize>,
}

impl Row {
    fn new(section: &Section<'_>, source: &str, format: Format, max: usize) -> Self {
        let blocks = section.blocks;
        let body = blocks.iter().position(|block| match block.kind {
            BlockKind::Heading(_) => false,
            BlockKind::Prose => block.words,
            BlockKind::Solid => true,
        });
        let head = blocks[..body.unwrap_or(0)].iter().rposition(|block| matches!(block.kind, BlockKind::Heading(_)));
        // A heading that fills half a passage is left alone.
        let lead = head.zip(body).map(|(head, body)| blocks[body].start - blocks[head].start);
        let lead = lead.filter(|lead| *lead <= max / 2);
        let mut row = Row { pieces: Vec::new(), end: section.end, glued: 0..0 };
        for (at, block) in blocks.iter().enumerate() {
            if lead.is_some() && head == Some(at) {
                row.glued.start = row.pieces.len() + 1;
            }
            if lead.is_some() && body == Some(at) {
                row.glued.end = row.pieces.len() + 1;
            }
            let room = if body == Some(at) { max - lead.unwrap_or(0) } else { max };
            let end = blocks.get(at + 1).map_or(section.end, |next| next.start);
            row.pieces.push(Piece { start: block.start, rank: block.rank, solid: block.kind == BlockKind::Solid });
            if block.kind != BlockKind::Solid && end - block.start > room {
                row.add_parts(block, end, source, format, room);
            }
        }
        row
    }

    /// Adds the parts of a block of prose: its sentences, and of those that are longer than
    /// `room` pieces between words.
    fn add_parts(&mut self, block: &Block, end: usize, source: &str, format: Format, room: usize) {
        let content = &source[block.content.clone()];
        let sentences: Vec<usize> = match format {
            Format::Markdown => unit::units(content).into_iter().map(|unit| unit.span.start).collect(),
            Format::Plain => sentence::plain(content).into_iter().map(|sentence| sentence.start).collect(),
        };
        let mut from = block.start;
        for start in sentences.into_iter().skip(1).map(|at| block.content.start + at).chain([end]) {
            // The quote markers of the line a sentence starts on go with it.
            let lead = &source[from..start];
            let markers = lead.trim_end_matches([' ', '\t', '>']);
            let quoted = start < end && markers.ends_with('\n') && lead[markers.len()..].contains('>');
            let to = if quoted { from + markers.len() } else { start };
            for cut in word_cuts(&source[from..to], room) {
                self.pieces.push(Piece { start: from + cut, rank: WORD_RANK, solid: false });
            }
            if from < to && to < end {
                self.pieces.push(Piece { start: to, rank: SENTENCE_RANK, solid: false });
            }
            from = to;
        }
    }

    fn start(&self, piece: usize) -> usize {
        self.pieces.get(piece).map_or(self.end, |piece| piece.start)
    }

    /// The piece before which the passage ends that begins with piece `first`.
    fn next_cut(&self, first: usize, source: &str, max: usize) -> usize {
        let start = self.start(first);
        let remaining = self.end - start;
        if remaining <= max {
            return self.pieces.len();
        }
        let ideal = remaining / remaining.div_ceil(max);
        let mut best: Option<((u8, u32, usize), usize)> = None;
        for (at, piece) in self.pieces.iter().enumerate().skip(first + 1) {
            let length = piece.start - start;
            if length > max {
                break;
            }
            let cost = if length * 2 < ideal {
                (2, 0, max - length)
            } else {
                // What ends in a colon introduces what follows.
                let introduces = source[start..piece.start].trim_end().ends_with(':');
                (u8::from(introduces), piece.rank, length.abs_diff(ideal))
            };
            if !self.glued.contains(&at) && best.is_none_or(|(least, _)| cost <= least) {
                best = Some((cost, at));
            }
        }
        let whole = || (first + 1..self.pieces.len()).find(|at| !self.glued.contains(at));
        let cut = best.map(|(_, at)| at).or_else(whole).unwrap_or(self.pieces.len());
        // A line or two before a block that is too long anyway say what it is.
        let is_short = (self.start(cut) - start) * 4 <= max && self.pieces[first..cut].iter().all(|piece| !piece.solid);
        if is_short && self.start(cut + 1) - self.start(cut) > max { cut + 1 } else { cut }
    }
}

/// Offsets that cut a text into parts of at most `room` bytes: after a line if one ends in the
/// second half of a part, else after white space, else between characters.
fn word_cuts(text: &str, room: usize) -> Vec<usize> {
    let mut cuts = Vec::new();
    let mut at = 0;
    while text.len() - at > room {
        let window = &text[at..text.floor_char_boundary(at + room)];
        let half = window.floor_char_boundary(window.len() / 2);
        let tail = &window[half..];
        let word = || tail.char_indices().rfind(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8());
        let cut = tail.rfind('\n').map(|at| at + 1).or_else(word).map_or(window.len(), |cut| half + cut);
        at += cut;
        cuts.push(at);
    }
    cuts
}
