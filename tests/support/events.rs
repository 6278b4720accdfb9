//! Server-sent events as the WHATWG standard parses them, by somebody who sees the whole stream at once.

/// The standard's algorithm, word by word, on the decoded text.
pub fn reference(bytes: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n");
    let (mut events, mut data, mut name) = (Vec::new(), String::new(), String::new());
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop(); // not ended
    for line in lines {
        if line.is_empty() {
            if !data.is_empty() {
                data.pop();
                events.push((name.clone(), data.clone()));
            }
            data.clear();
            name.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => data.extend([value, "\n"]),
            "event" => value.clone_into(&mut name),
            _ => (),
        }
    }
    events
}
