//! Turns text from a web page into plain text: without tags, entities decoded once, without
//! characters that cannot be seen, white space collapsed, cut to a number of characters.

/// The text that a reader would see, at most `limit` characters.
pub fn plain(text: &str, limit: usize) -> String {
    let visible: String = text.chars().filter(|&c| !is_hidden(c)).collect();
    let mut out = String::new();
    let (mut written, mut gap) = (0, false);
    for c in decoded(&without_tags(&visible)).chars().filter(|&c| !is_hidden(c)) {
        if c.is_whitespace() || c.is_control() {
            gap = written > 0;
            continue;
        }
        if written + 1 + usize::from(gap) > limit {
            break;
        }
        if std::mem::take(&mut gap) {
            out.push(' ');
            written += 1;
        }
        out.push(c);
        written += 1;
    }
    out
}

/// Characters without a look of their own, in which instructions can be hidden: zero-width and
/// bidirectional ones, fillers, variation selectors, tags (Unicode's `Default_Ignorable_Code_Point`).
pub(super) fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// A space for each tag and comment; what stands in a script or a style is dropped with it.
fn without_tags(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let tag = &rest[at..];
        // A space, so that what stands around a tag cannot join to another.
        let (instead, length) = tag_length(tag).map_or(('<', 1), |length| (' ', length));
        out.push(instead);
        rest = &tag[length..];
    }
    out.push_str(rest);
    out
}

/// The length of the tag at the beginning of a text, if one begins there. A tag without an end
/// takes all that follows: it was cut off.
fn tag_length(text: &str) -> Option<usize> {
    if text.starts_with("<!--") {
        return Some(text.find("-->").map_or(text.len(), |end| end + 3));
    }
    let name = text[1..].trim_start_matches('/');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '!' | '?')) {
        return None;
    }
    let end = text.find('>').map_or(text.len(), |end| end + 1);
    let hidden = ["script", "style"].into_iter().find(|kind| {
        let begins = name.get(..kind.len()).is_some_and(|start| start.eq_ignore_ascii_case(kind));
        begins && !name[kind.len()..].starts_with(|c: char| c.is_alphanumeric()) && !text.starts_with("</")
    });
    let Some(kind) = hidden else { return Some(end) };
    let closing = text[end..].match_indices("</").find(|(at, _)| {
        let name = text[end + at + 2..].get(..kind.len());
        name.is_some_and(|name| name.eq_ignore_ascii_case(kind))
    });
    // Its closing tag is dropped as a tag of its own.
    Some(closing.map_or(text.len(), |(at, _)| end + at))
}

/// Character references, once: `&amp;lt;` becomes `&lt;`.
fn decoded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let reference = &rest[at + 1..];
        let end = reference.bytes().take(10).position(|byte| byte == b';');
        let known = end.and_then(|end| Some((character(&reference[..end])?, end + 1)));
        let (instead, length) = known.unwrap_or(('&', 0));
        out.push(instead);
        rest = &reference[length..];
    }
    out.push_str(rest);
    out
}

fn character(name: &str) -> Option<char> {
    let number = name.strip_prefix('#');
    match (number, name) {
        (Some(number), _) => {
            let hex = number.strip_prefix(['x', 'X']);
            let code = hex.map_or_else(|| number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok());
            char::from_u32(code?)
        }
        (None, "amp") => Some('&'),
        (None, "lt") => Some('<'),
        (None, "gt") => Some('>'),
        (None, "quot") => Some('"'),
        (None, "apos") => Some('\''),
        (None, "nbsp") => Some(' '),
        (None, "hellip") => Some('…'),
        (None, "ndash") => Some('–'),
        (None, "mdash") => Some('—'),
        _ => None,
    }
}
