//! Fences around text that nobody here wrote: a marker that cannot occur in what it encloses, so that
//! the text cannot end its own fence and speak as if it were the prompt.

use xxhash_rust::xxh64::xxh64;

/// A marker for one prompt.
pub(super) struct Fence(String);

impl Fence {
    /// A marker that occurs in none of the texts. It depends on them alone, so a run replays alike;
    /// whoever writes a text cannot know the marker without knowing all the others and the question.
    pub(super) fn around(texts: &[&str]) -> Self {
        let seed = texts.iter().fold(0, |seed, text| xxh64(text.as_bytes(), seed));
        let mut attempt = 0_u64;
        loop {
            let marker = format!("<<{:016x}>>", xxh64(&attempt.to_le_bytes(), seed));
            if !texts.iter().any(|text| text.contains(&marker)) {
                return Self(marker);
            }
            attempt += 1;
        }
    }

    /// The text between two markers.
    pub(super) fn enclose(&self, text: &str) -> String {
        format!("{0}\n{text}\n{0}", self.0)
    }

    /// The text between two markers, the first with a label of ours.
    pub(super) fn numbered(&self, number: usize, text: &str) -> String {
        format!("[{number}]\n{}", self.enclose(text))
    }
}
