//! One of the targets of tests/fuzz, by the name in `FUZZ_TARGET`.
#![no_main]

#[path = "../../../support/events.rs"]
mod events;
#[path = "../../targets.rs"]
mod targets;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<targets::Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names a target");
    let (_, target) = targets::TARGETS.into_iter().find(|(known, _)| *known == name).expect("it is one of the targets");
    target
});

fuzz_target!(|data: &[u8]| TARGET(data));
