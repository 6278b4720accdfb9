//! Server-sent events out of a byte stream, as the WHATWG HTML standard (9.2.6) parses them.
//!
//! Framing happens on bytes, so neither a line ending nor a character that is split over two chunks
//! can be misread; text is decoded once per event. Each byte is looked at a constant number of times.
//! Not done: reconnection (`id`, `retry`). An event that the stream's end cuts off is dropped, as the
//! standard has it.

/// What a decoder accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseLimits {
    /// Bytes of one event, comments included. Default 256 KiB.
    pub event: usize,
    /// Bytes of the whole stream. Default 2 MiB.
    pub total: usize,
}

impl Default for SseLimits {
    fn default() -> Self {
        Self { event: 256 << 10, total: 2 << 20 }
    }
}

/// Why no more events are read. What came before is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// A line without an end, or an event that no service sends.
    #[error("an event is longer than {limit} bytes")]
    Event {
        /// The limit in bytes.
        limit: usize,
    },
    /// The stream does not end.
    #[error("the stream is longer than {limit} bytes")]
    Total {
        /// The limit in bytes.
        limit: usize,
    },
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event` field; empty when there is none, which means "message".
    pub name: String,
    /// The `data` lines, joined by line feeds.
    pub data: String,
    /// Whether bytes of it were not UTF-8; they are U+FFFD now.
    pub lossy: bool,
}

/// Feed bytes, take events.
#[derive(Debug, Clone)]
pub struct SseDecoder {
    limits: SseLimits,
    seen: usize,
    /// The line so far.
    line: Vec<u8>,
    /// The data lines so far, each with a line feed.
    data: Vec<u8>,
    name: String,
    begun: bool,
    after_return: bool,
    failed: Option<SseError>,
}

const MARK: &[u8] = "\u{FEFF}".as_bytes();

impl SseDecoder {
    /// A decoder at the beginning of a stream.
    pub fn new(limits: SseLimits) -> SseDecoder {
        let (line, data, name) = (Vec::new(), Vec::new(), String::new());
        SseDecoder { limits, seen: 0, line, data, name, begun: false, after_return: false, failed: None }
    }

    /// Reads the next bytes and appends the events that they complete. Events before an error are
    /// appended too; after an error every call gives it again.
    pub fn feed(&mut self, bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), SseError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let within = bytes.len().min(self.limits.total - self.seen);
        self.seen += within;
        let read = self.read(&bytes[..within], events);
        let read = match read {
            Ok(()) if within < bytes.len() => Err(SseError::Total { limit: self.limits.total }),
            read => read,
        };
        self.failed = read.err();
        read
    }

    fn read(&mut self, mut bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), SseError> {
        while let Some(&first) = bytes.first() {
            // The second half of a CRLF, perhaps in another chunk than the first.
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.data.len() + self.line.len() + part.len() > self.limits.event {
                return Err(SseError::Event { limit: self.limits.event });
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            events.extend(self.take_line());
        }
        Ok(())
    }

    /// Takes in the finished line; a blank one completes an event.
    fn take_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let text =
            if std::mem::replace(&mut self.begun, true) { &line[..] } else { line.strip_prefix(MARK).unwrap_or(&line) };
        let event = if text.is_empty() { self.dispatch() } else { self.field(text) };
        // The buffer's memory serves the next line.
        self.line = line;
        self.line.clear();
        event
    }

    fn field(&mut self, text: &[u8]) -> Option<SseEvent> {
        let colon = text.iter().position(|&byte| byte == b':');
        let (name, value) = colon.map_or((text, &[][..]), |at| (&text[..at], &text[at + 1..]));
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            _ => (),
        }
        None
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        let data = data.strip_suffix(b"\n")?;
        let text = String::from_utf8_lossy(data);
        let lossy = matches!(text, std::borrow::Cow::Owned(_));
        Some(SseEvent { name, data: text.into_owned(), lossy })
    }
}
