//! Fences around text that nobody here wrote: a marker that cannot occur in what it encloses, so that
//! the text cannot end its own fence and speak as if it were the prompt.

use xxhash_rust::xxh64::xxh64;

/// The fence of one prompt, by the core of its marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence(String);

impl Fence {
    /// A fence whose marker occurs in none of the texts. It depends on them alone, so a run replays
    /// alike; whoever writes a text cannot know the marker without knowing all the others.
    pub(super) fn around(texts: &[String]) -> Self {
        let seed = texts.iter().fold(0, |seed, text| xxh64(text.as_bytes(), seed));
        let mut attempt = 0_u64;
        loop {
            let core = format!("{:016x}", xxh64(&attempt.to_le_bytes(), seed));
            if !texts.iter().any(|text| text.contains(&core)) {
                return Self(core);
            }
            attempt += 1;
        }
    }

    /// The line before and after a text.
    pub(super) fn marker(&self) -> String {
        format!("<<{}>>", self.0)
    }

    /// The text between two markers.
    pub(super) fn enclose(&self, text: &str) -> String {
        format!("{0}\n{text}\n{0}", self.marker())
    }

    /// A text without markers, whole or with brackets missing, and without the lines that held nothing
    /// else.
    pub(super) fn strip(&self, text: &str) -> String {
        let stripped = |line: &str| {
            let (first, rest) = line.split_once(&self.0)?;
            let rest = rest.split(&self.0).map(|part| part.trim_start_matches('>').trim_end_matches('<'));
            Some(rest.fold(first.trim_end_matches('<').to_owned(), |line, part| line + part))
        };
        let lines = text.split('\n').filter_map(|line| match stripped(line) {
            Some(rest) => (!rest.trim().is_empty()).then_some(rest),
            None => Some(line.to_owned()),
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl Default for Fence {
    fn default() -> Self {
        Self::around(&[])
    }
}
