//! Inputs out of inputs: the same for the same seed.

/// A source of numbers (`SplitMix64`).
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// No input is longer.
const LONGEST: usize = 8 << 10;

/// What the formats are made of.
const WORDS: [&str; 40] = [
    "data: ",
    "event: error\n",
    "\n\n",
    "\r\n",
    "\r",
    ":",
    "[DONE]",
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    "null",
    "true",
    "-1",
    "1e400",
    "0.5",
    "\"yes\"",
    "\"no\"",
    "{\"score\": \"yes\"}",
    "<think>",
    "</think>",
    "```json\n",
    "\"choices\"",
    "\"content\"",
    "\"error\"",
    "\"finish_reason\": \"stop\"",
    "\"candidates\"",
    "\"data\"",
    "\"embedding\"",
    "\"results\"",
    "\"url\"",
    "https://a.example/",
    "<b>",
    "&lt;",
    "\u{202E}",
    "\u{E0041}",
    "数🙂",
    "Wed, 21 Oct 2015 07:28:00 GMT",
];

/// A neighbour of an input: one to four changes, among them the end of another input.
pub fn mutated(input: &[u8], others: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=chance.below(4) {
        let at = chance.below(bytes.len() + 1);
        let to = at + chance.below(bytes.len() - at + 1).min(32);
        match chance.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..to)),
            2 => {
                let copy = bytes[at..to].to_vec();
                bytes.splice(at..at, copy);
            }
            3 => drop(bytes.splice(at..at, WORDS[chance.below(WORDS.len())].bytes())),
            4 => {
                let other = &others[chance.below(others.len())];
                bytes.truncate(at);
                bytes.extend_from_slice(&other[chance.below(other.len() + 1)..]);
            }
            5 if at < bytes.len() => bytes[at] ^= 1 << chance.below(8),
            6 if at < bytes.len() => bytes[at] = [0, 1, 0x7F, 0x80, 0xFF, b'0', b'9'][chance.below(7)],
            _ if at + 8 <= bytes.len() => {
                let number = [0, 1, u64::MAX, u64::MAX / 2, 1 << 31, (1 << 32) - 1][chance.below(6)];
                bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
            _ => bytes.push(chance.below(256) as u8),
        }
    }
    bytes.truncate(LONGEST);
    bytes
}
