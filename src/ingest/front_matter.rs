//! YAML front matter: where it ends, and the title it gives.
//!
//! Decides by itself what front matter is, because a parser that looks for it anywhere takes a
//! passage between two thematic breaks for it. Reads the title only: whether a draft is indexed
//! is for the caller, who has the whole site before it.

/// Front matter at the start of a source.
pub(super) struct FrontMatter<'a> {
    /// One past the line that closes it.
    pub(super) end: usize,
    lines: &'a str,
}

impl<'a> FrontMatter<'a> {
    /// Finds it: `---` alone on the first line, keys, `---` or `...` alone on a line.
    pub(super) fn find(source: &'a str) -> Option<Self> {
        let mut lines = source.split_inclusive('\n');
        let opening = lines.next()?;
        if opening.trim_end() != "---" {
            return None;
        }
        let mut at = opening.len();
        let mut keys = 0;
        for line in lines {
            let text = line.trim_end();
            if text == "---" || text == "..." {
                let lines = &source[opening.len()..at];
                return (keys > 0).then_some(FrontMatter { end: at + line.len(), lines });
            }
            // A blank line right below the opening one makes that a thematic break.
            if !is_yaml(text) || (text.is_empty() && at == opening.len()) {
                return None;
            }
            keys += usize::from(key(text).is_some());
            at += line.len();
        }
        None
    }

    /// The value of the key `title`, unquoted; none when it has none.
    pub(super) fn title(&self) -> Option<String> {
        let mut lines = self.lines.lines();
        let value = lines.find_map(|line| key(line).filter(|(name, _)| *name == "title"))?.1;
        let title = if value.starts_with(['>', '|']) {
            let block = lines.take_while(|line| line.starts_with([' ', '\t']) || line.trim().is_empty());
            block.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
        } else {
            scalar(value)
        };
        (!title.is_empty()).then_some(title)
    }
}

/// Whether a line can stand in front matter of the plain kind: a key, something indented below
/// one, a list item, a comment, nothing.
fn is_yaml(line: &str) -> bool {
    line.is_empty()
        || line.starts_with([' ', '\t', '#'])
        || line == "-"
        || line.starts_with("- ")
        || key(line).is_some()
}

/// A top-level key and what stands behind its colon.
fn key(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let name = name.trim_matches(['"', '\'']);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@'));
    let separated = value.is_empty() || value.starts_with([' ', '\t']);
    (is_name && separated).then_some((name, value.trim()))
}

/// A scalar on one line: double-quoted, single-quoted or plain.
fn scalar(value: &str) -> String {
    let Some(quote) = value.chars().next().filter(|first| matches!(first, '"' | '\'')) else {
        let comment = if value.starts_with('#') { 0 } else { value.find(" #").unwrap_or(value.len()) };
        return value[..comment].trim_end().to_owned();
    };
    let mut out = String::new();
    let mut rest = value[1..].chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' if quote == '"' => out.extend(rest.next()),
            '\'' if quote == '\'' && rest.next_if_eq(&quote).is_some() => out.push(quote),
            _ if c == quote => break,
            _ => out.push(c),
        }
    }
    out
}
