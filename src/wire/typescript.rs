//! The TypeScript of everything that crosses, generated from the Rust. A stale file fails the test;
//! `UPDATE_TYPES=1 cargo test typescript` writes it anew.

use ts_rs::{Config, TS};

use crate::document::{Format, Origin};
use crate::index::words::Stemming;
use crate::pipeline::answer::{Citation, Claim, Outcome, PassageVerdict, Reason, Reflection, Source, Warning};
use crate::pipeline::beam::Combine;
use crate::pipeline::budget::{Calls, Prices, Tokens};
use crate::pipeline::cost::{Estimate, Step, Steps};
use crate::pipeline::decision::{Decision, Domain, Rule};
use crate::pipeline::reflection;
use crate::pipeline::self_rag::{Mode, SelfRagOptions, SelfRagWeights, When};
use crate::pipeline::strategy::{ByClaim, OnExhaustion};
use crate::pipeline::trace::Event;
use crate::pipeline::verdict::{Check, Retrieval, Support, Verdict};
use crate::prompt::Language;
use crate::wire::cost::EstimateRequest;
use crate::wire::{
    Answer, AskLimits, AskRequest, DocumentInput, ErrorBody, ErrorDetail, FusionName, Health, HitExplanation,
    SearchHit, SearchRequest, SearchResponse, Statistics, TermScore, Usage,
};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/www/src/generated/wire.ts");

fn declaration<T: TS + 'static>(config: &Config) -> String {
    format!("{}export {}\n", T::docs().unwrap_or_default(), T::decl(config))
}

fn generated() -> String {
    let config = Config::new();
    macro_rules! all {
        ($($type:ty),+ $(,)?) => { [$(declaration::<$type>(&config)),+] };
    }
    let declarations = all![
        Answer,
        AskLimits,
        AskRequest,
        ByClaim,
        Calls,
        Check,
        Citation,
        Claim,
        Combine,
        reflection::Rule,
        Decision,
        DocumentInput,
        Domain,
        ErrorBody,
        ErrorDetail,
        Estimate,
        EstimateRequest,
        Event,
        Format,
        FusionName,
        Health,
        HitExplanation,
        Language,
        OnExhaustion,
        Origin,
        Outcome,
        PassageVerdict,
        Prices,
        Reason,
        Reflection,
        Retrieval,
        Rule,
        SearchHit,
        SearchRequest,
        SearchResponse,
        Mode,
        SelfRagOptions,
        When,
        SelfRagWeights,
        Source,
        Statistics,
        Stemming,
        Step,
        Steps,
        Support,
        TermScore,
        Tokens,
        Usage,
        Verdict,
        Warning,
    ];
    format!(
        "// Generated from src/wire.rs by `UPDATE_TYPES=1 cargo test typescript`. Do not edit.\n\n{}",
        declarations.join("\n")
    )
}

#[test]
fn the_committed_typescript_is_that_of_the_rust_types() {
    let generated = generated();
    if std::env::var_os("UPDATE_TYPES").is_some() {
        std::fs::create_dir_all(std::path::Path::new(FILE).parent().unwrap()).unwrap();
        std::fs::write(FILE, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(committed == generated, "{FILE} is stale: run `UPDATE_TYPES=1 cargo test typescript`");
}
