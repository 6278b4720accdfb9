//! Which failed call is made again, when, and how often. It decides; hosts wait.
//!
//! A failure is **safe** when the service has certainly not processed the request, **ambiguous** when
//! it may have, and billed it. Safe failures use all retries, ambiguous ones a single one, everything
//! else none. Time and chance are arguments.
//!
//! Precedence of hints: `x-should-retry`, `retry-after-ms`, `retry-after` (RFC 9110 10.2.3). A hint
//! longer than the policy allows ends the attempts at once: whoever asked learns the time instead.

use crate::provider::error::{Fault, Mismatch, Phase, ProviderError};
use crate::provider::http::Headers;

/// The bounds of retrying. All times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Further attempts of one call. Default 2.
    pub retries: u32,
    /// Of these, after a failure that may have been billed. Default 1.
    pub ambiguous: u32,
    /// The longest wait that a service may ask for. Default 20,000.
    pub longest_hint: u64,
    /// The longest wait of our own. Default 8,000; the first is at most 500, each next twice that.
    pub longest_backoff: u64,
    /// Time that a call needs at least: without it after the wait, there is none. Default 1,000.
    pub shortest_call: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        let (longest_hint, longest_backoff, shortest_call) = (20_000, 8_000, 1_000);
        Self { retries: 2, ambiguous: 1, longest_hint, longest_backoff, shortest_call }
    }
}

/// Whether the service may have done what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// It has not.
    Safe,
    /// It may have.
    Ambiguous,
    /// The same request would fail again, or the reply has already been seen.
    Never,
}

/// How a failure may be repeated, the policy and the service's own word left aside.
pub fn repeat(error: ProviderError) -> Repeat {
    use ProviderError as E;
    match error {
        E::RateLimited
        | E::Overloaded
        | E::Network { sent: false }
        | E::Timeout { phase: Phase::Connect | Phase::Request } => Repeat::Safe,
        E::Upstream { status: 300..=399 }
        | E::BadResponse { fault: Fault::Event { .. } }
        | E::EmbeddingMismatch { fault: Mismatch::Dimension { .. } } => Repeat::Never,
        E::Upstream { .. }
        | E::Conflict
        | E::Truncated
        | E::BadResponse { .. }
        | E::EmbeddingMismatch { .. }
        | E::Network { sent: true }
        | E::CorsOrNetwork
        | E::Timeout { phase: Phase::Headers | Phase::Idle } => Repeat::Ambiguous,
        _ => Repeat::Never,
    }
}

/// The circumstances of a failure.
#[derive(Debug, Clone, Copy)]
pub struct Failed<'a> {
    /// What went wrong.
    pub error: ProviderError,
    /// The headers of the reply; none for a call without one.
    pub headers: Option<&'a Headers>,
    /// Milliseconds since 1970, to read dates with.
    pub now: u64,
    /// Milliseconds until the deadline.
    pub remaining: u64,
    /// Whether a part of the reply was already shown.
    pub visible: bool,
}

/// What to do after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Call again after this many milliseconds.
    Wait(u64),
    /// Do not call again.
    GiveUp {
        /// When the service would take the request, in milliseconds, if it said so.
        retry_after: Option<u64>,
    },
}

/// The retries of one call.
#[derive(Debug, Clone)]
pub struct Retries {
    policy: RetryPolicy,
    seed: u64,
    used: u32,
    ambiguous: u32,
}

impl Retries {
    /// None used yet. The seed spreads the waits of calls that failed at the same time.
    pub fn new(policy: RetryPolicy, seed: u64) -> Retries {
        Retries { policy, seed, used: 0, ambiguous: 0 }
    }

    /// How many were used.
    pub fn used(&self) -> u32 {
        self.used
    }

    /// Decides after a failure, and uses a retry up if it says to wait.
    pub fn after(&mut self, failed: &Failed<'_>) -> Next {
        let hint = failed.headers.and_then(|headers| hint(headers, failed.now));
        let give_up = Next::GiveUp { retry_after: hint };
        let repeat = obeyed(failed);
        let spent = self.used >= self.policy.retries;
        let ambiguous = repeat == Repeat::Ambiguous;
        if failed.visible || spent || repeat == Repeat::Never || (ambiguous && self.ambiguous >= self.policy.ambiguous)
        {
            return give_up;
        }
        let wait = match hint {
            Some(hint) if hint > self.policy.longest_hint => return give_up,
            // Up to a tenth more, so that those who were turned away together do not return together.
            Some(hint) => (hint + self.chance(hint / 10)).min(self.policy.longest_hint),
            None => self.backoff(),
        };
        if wait.saturating_add(self.policy.shortest_call) > failed.remaining {
            return give_up;
        }
        self.used += 1;
        self.ambiguous += u32::from(ambiguous);
        Next::Wait(wait)
    }

    /// Half to all of 500 ms · 2ⁿ, never more than the policy's longest.
    fn backoff(&self) -> u64 {
        let most = (500_u64 << self.used.min(20)).min(self.policy.longest_backoff);
        most - self.chance(most / 2)
    }

    /// A number from 0 to `most`, the same for the same seed and attempt (`SplitMix64`).
    fn chance(&self, most: u64) -> u64 {
        let mut z = self.seed.wrapping_add(u64::from(self.used + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % (most + 1)
    }
}

/// The failure's own kind, unless the service says whether to try again. It is believed in a no
/// always; in a yes only for requests it rejected without a reason of ours to think it final.
fn obeyed(failed: &Failed<'_>) -> Repeat {
    use ProviderError as E;
    let own = repeat(failed.error);
    let word = failed.headers.and_then(|headers| headers.value("x-should-retry"));
    match (word, failed.error) {
        (Some("false"), _) => Repeat::Never,
        (Some("true"), E::InvalidRequest { .. } | E::NotFound | E::Unprocessable) => Repeat::Ambiguous,
        _ => own,
    }
}

/// The least wait: a service that says "now" is not asked in a tight loop.
const SHORTEST: f64 = 250.0;
/// Longer hints are as good as for ever: 30 days.
const LONGEST: f64 = 30.0 * 86_400_000.0;

/// How long a service asks to wait, in milliseconds: from 250 to 30 days; `None` when it does not say
/// or says what cannot be understood. A date that has passed means now.
pub fn hint(headers: &Headers, now: u64) -> Option<u64> {
    let exact = headers.value("retry-after-ms").and_then(decimal);
    let wait = exact.or_else(|| {
        let value = headers.value("retry-after")?;
        decimal(value).map(|seconds| seconds * 1000.0).or_else(|| {
            let date = http_date(value, now)? as f64;
            Some((date - now as f64).max(0.0))
        })
    })?;
    Some(wait.clamp(SHORTEST, LONGEST) as u64)
}

/// A number of digits with at most one point: no sign, no exponent, no word such as `inf`.
fn decimal(text: &str) -> Option<f64> {
    let valid = text.len() <= 32 && text.starts_with(|c: char| c.is_ascii_digit());
    let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if valid && digits { text.parse().ok() } else { None }
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Milliseconds since 1970 of an HTTP date in any of the three forms of RFC 9110 5.6.7.
fn http_date(text: &str, now: u64) -> Option<u64> {
    let after_day = text.split_once(", ").map(|(_, rest)| rest);
    let parts: Vec<&str> = after_day.unwrap_or(text).split_ascii_whitespace().collect();
    let (day, month, year, time) = match (after_day, &parts[..]) {
        (Some(_), &[day, month, year, time, "GMT"]) | (None, &[_, month, day, time, year]) => {
            (day, month, number(year, 4)?, time)
        }
        (Some(_), &[date, time, "GMT"]) => {
            let [day, month, year] = date.split('-').collect::<Vec<_>>().try_into().ok()?;
            (day, month, century(number(year, 2)?, now), time)
        }
        _ => return None,
    };
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let day = number(day, day.len().clamp(1, 2))?;
    let [hour, minute, second] = time.split(':').collect::<Vec<_>>().try_into().ok()?;
    let (hour, minute, second) = (number(hour, 2)?, number(minute, 2)?, number(second, 2)?);
    let valid = year >= 1970 && (1..=days_in(year, month)).contains(&day) && hour < 24 && minute < 60 && second < 61;
    valid.then(|| (((days_before(year, month) + day - 1) * 24 + hour) * 60 + minute) * 60_000 + second * 1000)
}

fn number(text: &str, digits: usize) -> Option<u64> {
    let valid = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if valid { text.parse().ok() } else { None }
}

/// The year that two digits mean: not more than 50 years ahead.
fn century(digits: u64, now: u64) -> u64 {
    let this_year = 1970 + now / 31_556_952_000;
    let year = this_year - this_year % 100 + digits;
    if year > this_year + 50 { year - 100 } else { year }
}

fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to the first of the month.
fn days_before(year: u64, month: u64) -> u64 {
    let before = year - 1;
    let leaps = |year: u64| year / 4 - year / 100 + year / 400;
    let years = (year - 1970) * 365 + leaps(before) - leaps(1969);
    years + (1..month).map(|month| days_in(year, month)).sum::<u64>()
}
