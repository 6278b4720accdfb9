//! Laws of the retry policy.

use countercheck::provider::error::{Fault, Phase, ProviderError};
use countercheck::provider::http::Headers;
use countercheck::retry::{Failed, Next, Retries, RetryPolicy, hint};
use proptest::prelude::*;

use crate::cases;

const NOW: u64 = 784_111_777_000;

fn failed(error: ProviderError) -> Failed<'static> {
    Failed { error, headers: None, now: NOW, remaining: 60_000, visible: false }
}

fn error() -> impl Strategy<Value = ProviderError> {
    use ProviderError as E;
    let statuses = (100..600_u16).prop_map(|status| E::Upstream { status });
    prop_oneof![
        statuses,
        prop::sample::select(vec![
            E::RateLimited,
            E::Overloaded,
            E::Network { sent: false },
            E::Network { sent: true },
            E::CorsOrNetwork,
            E::Timeout { phase: Phase::Connect },
            E::Timeout { phase: Phase::Idle },
            E::Truncated,
            E::Conflict,
            E::Unauthorized,
            E::QuotaExhausted,
            E::InvalidRequest { status: 400 },
            Fault::Json.into(),
        ]),
    ]
}

/// Header values as services write them, and worse.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,40}",
        "-?[0-9]{1,40}(\\.[0-9]{0,9})?(e[0-9]{1,3})?",
        "(Sun|Mon|Sunday), [0-9]{1,3}[ -](Jan|Feb|Nov|Foo)[ -][0-9]{2,5} [0-9]{2}:[0-9]{2}:[0-9]{2} (GMT|UTC)?",
        "Sun Nov [ 0-9]{1,3} [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4,20}",
    ]
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn a_wait_is_within_the_policy_whatever_the_headers_say(
        error in error(), seconds in value(), millis in proptest::option::of(value()), now in any::<u64>(), seed in any::<u64>(),
    ) {
        let pairs = [("retry-after", Some(seconds)), ("Retry-After-Ms", millis)];
        let headers: Headers = pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let policy = RetryPolicy::default();
        let mut retries = Retries::new(policy, seed);
        let failed = Failed { headers: Some(&headers), now, remaining: u64::MAX, ..failed(error) };
        prop_assert!(hint(&headers, now).is_none_or(|hint| (250..=30 * 86_400_000).contains(&hint)));
        for attempt in 0..10 {
            match retries.after(&failed) {
                Next::Wait(wait) => {
                    prop_assert!((250..=policy.longest_hint).contains(&wait), "waits {}", wait);
                    prop_assert!(attempt < policy.retries);
                }
                Next::GiveUp { retry_after } => prop_assert_eq!(retry_after, hint(&headers, now)),
            }
        }
        prop_assert!(retries.used() <= policy.retries);
    }

    #[test]
    fn there_is_no_wait_that_leaves_no_time_for_the_call(error in error(), remaining in 0..30_000_u64, seed in any::<u64>()) {
        let policy = RetryPolicy::default();
        if let Next::Wait(wait) = Retries::new(policy, seed).after(&Failed { remaining, ..failed(error) }) {
            prop_assert!(wait + policy.shortest_call <= remaining);
        }
    }

    #[test]
    fn nothing_is_retried_after_a_part_was_shown(error in error(), seed in any::<u64>()) {
        let next = Retries::new(RetryPolicy::default(), seed).after(&Failed { visible: true, ..failed(error) });
        prop_assert_eq!(next, Next::GiveUp { retry_after: None });
    }

    #[test]
    fn dates_are_read_as_the_calendar_has_them(days in 0..30_000_u64, second in 0..86_400_u64) {
        let (year, month, day) = calendar(days);
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let (name, time) = (names[month - 1], format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60));
        let at = (days * 86_400 + second) * 1000;
        let now = at.saturating_sub(7_000);
        for date in [
            format!("Sun, {day:02} {name} {year} {time} GMT"),
            format!("Sunday, {day:02}-{name}-{:02} {time} GMT", year % 100),
            format!("Sun {name} {day:2} {time} {year}"),
        ] {
            let headers: Headers = [("retry-after", date.as_str())].into_iter().collect();
            prop_assert_eq!(hint(&headers, now), Some((at - now).max(250)), "{}", date);
        }
    }
}

/// The civil date by counting, year by year and month by month.
fn calendar(mut days: u64) -> (u64, usize, u64) {
    let leap = |year: u64| (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month + 1, days + 1)
}

#[test]
fn safe_failures_are_retried_twice_and_ambiguous_ones_once() {
    let count = |errors: &[ProviderError]| {
        let mut retries = Retries::new(RetryPolicy::default(), 1);
        errors.iter().take_while(|error| matches!(retries.after(&failed(**error)), Next::Wait(_))).count()
    };
    let (safe, ambiguous) = (ProviderError::Overloaded, ProviderError::Upstream { status: 500 });
    assert_eq!(count(&[safe; 5]), 2);
    assert_eq!(count(&[ambiguous; 5]), 1);
    assert_eq!(count(&[safe, ambiguous, ambiguous]), 2);
    assert_eq!(count(&[ambiguous, safe, safe]), 2);
    assert_eq!(count(&[ProviderError::Refused; 5]), 0);
}

#[test]
fn waits_double_up_to_the_longest() {
    let policy = RetryPolicy { retries: 8, ..RetryPolicy::default() };
    let mut retries = Retries::new(policy, 3);
    for most in [500, 1000, 2000, 4000, 8000, 8000, 8000, 8000] {
        let Next::Wait(wait) = retries.after(&failed(ProviderError::RateLimited)) else { panic!("gave up at {most}") };
        assert!((most / 2..=most).contains(&wait), "{wait} of {most}");
    }
}

#[test]
fn different_seeds_spread_the_waits() {
    let wait = |seed| Retries::new(RetryPolicy::default(), seed).after(&failed(ProviderError::RateLimited));
    let waits: std::collections::BTreeSet<String> = (0..100).map(|seed| format!("{:?}", wait(seed))).collect();
    assert!(waits.len() > 50, "{}", waits.len());
    assert_eq!(wait(5), wait(5));
}

#[test]
fn a_hint_is_kept_to_its_longest_and_a_longer_one_is_reported() {
    let ask = |millis: &str, seed| {
        let headers: Headers = [("retry-after-ms", millis)].into_iter().collect();
        let failed = Failed { headers: Some(&headers), ..failed(ProviderError::RateLimited) };
        Retries::new(RetryPolicy::default(), seed).after(&failed)
    };
    for seed in 0..50 {
        assert_eq!(ask("20000", seed), Next::Wait(20_000), "no tenth is added to the longest");
        assert_eq!(ask("20001", seed), Next::GiveUp { retry_after: Some(20_001) });
    }
}

#[test]
fn two_digits_mean_a_year_at_most_50_years_ahead() {
    let in_2026 = 1_790_000_000_000;
    let hinted = |date: &str| {
        let headers: Headers = [("retry-after", date)].into_iter().collect();
        hint(&headers, in_2026)
    };
    assert_eq!(hinted("Sunday, 06-Nov-94 08:49:37 GMT"), Some(250), "1994 has passed");
    assert_eq!(hinted("Friday, 06-Nov-76 08:49:37 GMT"), Some(30 * 86_400_000), "2076 is far");
}
