//! Drops the reasoning that a model writes between `<think>` and `</think>` before its reply.
//!
//! Only a block at the very beginning is reasoning; the same words later on are the reply's own. One
//! that is never closed leaves nothing.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Feed text, take text; pieces may be split anywhere.
#[derive(Debug, Clone, Default)]
pub(super) struct ThinkingFilter {
    /// Text that may still turn out to be reasoning, or a part of a tag.
    held: String,
    depth: usize,
    passing: bool,
}

impl ThinkingFilter {
    /// What of the text so far, and not yet taken, belongs to the reply.
    pub(super) fn feed(&mut self, text: &str) -> String {
        if self.passing {
            return text.to_owned();
        }
        self.held.push_str(text);
        while self.depth > 0 || self.at_block() {
            if !self.skip_tag() {
                return String::new();
            }
        }
        let begun = self.held.trim_start();
        if OPEN.starts_with(begun) {
            return String::new();
        }
        self.passing = true;
        begun.to_owned()
    }

    /// What was held back when the text ends: it was no tag after all.
    pub(super) fn end(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        if self.passing || self.depth > 0 { String::new() } else { held.trim_start().to_owned() }
    }

    fn at_block(&self) -> bool {
        self.held.trim_start().starts_with(OPEN)
    }

    /// Drops everything up to and with the next tag; false when there is none yet.
    fn skip_tag(&mut self) -> bool {
        let (open, close) = (self.held.find(OPEN), self.held.find(CLOSE));
        let (end, deeper) = match (open, close) {
            (Some(open), Some(close)) if open < close => (open + OPEN.len(), true),
            (_, Some(close)) => (close + CLOSE.len(), false),
            (Some(open), None) => (open + OPEN.len(), true),
            (None, None) => {
                self.forget_reasoning();
                return false;
            }
        };
        self.held.drain(..end);
        self.depth = if deeper { self.depth + 1 } else { self.depth - 1 };
        true
    }

    /// Keeps what could be the beginning of a tag: reasoning can be long and comes in small pieces.
    fn forget_reasoning(&mut self) {
        let keep = CLOSE.len() - 1;
        let mut from = self.held.len().saturating_sub(keep);
        while !self.held.is_char_boundary(from) {
            from -= 1;
        }
        self.held.drain(..from);
    }
}
