//! The builtin grounding check on cases of our own: what words alone can tell, and where they used to
//! be blind (swaps inside a document, denials, changed numbers).
#![allow(clippy::panic)]

use countercheck::corpus::Corpus;
use countercheck::document::{Origin, Passage, Span};
use countercheck::evidence::{Literal, unsourced};
use countercheck::pipeline::task::{CheckGrounding, Draft, Generate, TaskReply};
use countercheck::pipeline::verdict::{Scale, Support};
use countercheck::solver::builtin::grounding::{CUT, assess};
use countercheck::solver::builtin::{solve, solve_own};
use proptest::prelude::*;

const POOL: &str = "# Connection pool\n\nThe pool keeps ten sockets open for each origin. An idle socket is closed \
after 4 seconds. A socket that failed is removed and never used again. `maxRedirections` limits how many redirects \
are followed; the default is 20. Requests are retried three times, uploads are sent once.";

const VALVES: &str = "The left valve opens at noon. The right valve opens at midnight. Both valves close when the \
pressure falls below 3 bar. The engineer of the morning checks the pump, the engineer of the night checks the boiler.";

fn passage(text: &str) -> Passage {
    Passage {
        id: "doc#0".to_owned(),
        document: "doc".to_owned(),
        url: String::new(),
        title: "Guide".to_owned(),
        headings: Vec::new(),
        also: Vec::new(),
        span: Span { start: 0, end: text.len() },
        text: text.to_owned(),
        origin: Origin::Local,
    }
}

fn support(draft: &str, source: &str) -> Support {
    assess(draft, &[passage(source)]).support
}

#[test]
fn what_the_passages_say_is_grounded_in_their_words_and_nearly_so() {
    for draft in [
        "An idle socket is closed after 4 seconds. [1]",
        "The pool keeps ten sockets open for each origin [1], and an idle socket is closed after 4 seconds [1].",
        "An idle socket is closed by the pool after 4 seconds.",
        "`maxRedirections` limits how many redirects are followed; the default is 20.",
        "A failed socket is removed and never used again.",
        "**Connection pool**\n\nRequests are retried 3 times. [1]",
        "1. The pool keeps 10 sockets open for each origin.\n2. An idle socket is closed after 4 seconds.",
    ] {
        assert_eq!(support(draft, POOL), Support::Fully, "{draft}: {:?}", assess(draft, &[passage(POOL)]));
    }
}

#[test]
fn a_changed_number_is_not_grounded() {
    for draft in [
        "An idle socket is closed after 40 seconds.",
        "An idle socket is closed after 4.5 seconds. [4]",
        "`maxRedirections` limits how many redirects are followed; the default is 25.",
        "The pool keeps 12 sockets open for each origin.",
        "An idle socket is closed after 4 seconds. Since v7.2.0 requests are retried three times.",
    ] {
        assert_ne!(support(draft, POOL), Support::Fully, "{draft}");
    }
}

#[test]
fn a_denial_of_what_is_affirmed_is_not_grounded_nor_the_reverse() {
    for draft in [
        "An idle socket is not closed after 4 seconds.",
        "An idle socket isn’t closed after 4 seconds.",
        "The pool never keeps ten sockets open for each origin.",
        "A socket that failed is removed and used again.",
    ] {
        assert_eq!(support(draft, POOL), Support::None, "{draft}");
    }
    // Where the sentence has another denial, one more is not seen; this one has none.
    let french = "Le serveur ferme la connexion après une minute d'inactivité.";
    assert_eq!(support(french, french), Support::Fully);
    assert_eq!(support("Le serveur ne ferme pas la connexion après une minute d'inactivité.", french), Support::None);
    let german = "Der Server schließt die Verbindung nach einer Minute.";
    assert_eq!(support("Der Server schließt die Verbindung nicht nach einer Minute.", german), Support::None);
}

#[test]
fn a_swap_inside_one_document_is_not_grounded() {
    for draft in [
        "The left valve opens at midnight.",
        "The right valve opens at noon.",
        "The engineer of the morning checks the boiler, the engineer of the night checks the pump.",
        "Both valves close when the boiler falls below 3 bar.",
    ] {
        let (swapped, copied) = (assess(draft, &[passage(VALVES)]), assess(VALVES, &[passage(VALVES)]));
        assert!(swapped.score < copied.score, "{draft}: {swapped:?}");
    }
    assert_eq!(support("Both valves close when the boiler falls below 3 bar.", VALVES), Support::None);
    assert_eq!(support("The left valve opens at midnight.", VALVES), Support::None);
    assert_eq!(support("The right valve opens at noon.", VALVES), Support::None);
}

#[test]
fn one_bad_statement_spoils_a_draft_of_good_ones() {
    let good = "The pool keeps ten sockets open for each origin. A socket that failed is removed and never used again.";
    let bad = "The garbage collector runs in a thread of its own.";
    assert_eq!(support(good, POOL), Support::Fully);
    assert_eq!(support(&format!("{good} {bad}"), POOL), Support::Partially);
    assert_eq!(support(bad, POOL), Support::None);
    let (alone, among) =
        (assess(bad, &[passage(POOL)]).score, assess(&format!("{good} {bad}"), &[passage(POOL)]).score);
    assert!(alone < CUT && among < CUT, "{alone} {among}");
}

#[test]
fn what_the_solver_quotes_is_grounded_and_what_others_write_is_checked() {
    let (corpus, passages) = (Corpus::default(), vec![passage(POOL), passage(VALVES)]);
    let task = Generate {
        question: "When is an idle socket closed?".to_owned(),
        passages: passages.clone().into(),
        rejected: Vec::new(),
        strict: false,
        temperature: 0.0,
    };
    let TaskReply::Draft(own) = solve(&task.into(), &corpus) else { panic!() };
    assert!(own.text.contains("4 seconds"), "{}", own.text);
    let check = |text: &str| {
        let draft = Draft { text: text.to_owned(), ..own.clone() };
        CheckGrounding { draft, passages: passages.clone().into(), scale: Scale::Graded, again: false }.into()
    };
    // By its words too, not only because it is quoted.
    assert_eq!(assess(&own.text, &passages).support, Support::Fully, "{}", own.text);
    let (quoted, altered) = (check(&own.text), check(&own.text.replace("4 seconds", "40 seconds")));
    for (task, by_all, by_own) in [(quoted, Support::Fully, Support::Fully), (altered, Support::None, Support::Unknown)]
    {
        assert_eq!(solve(&task, &corpus), TaskReply::Support(by_all));
        assert_eq!(solve_own(&task, &corpus), TaskReply::Support(by_own));
    }
}

#[test]
fn nothing_said_and_nothing_given_ground_nothing() {
    for (draft, passages) in [("", vec![passage(POOL)]), ("🎉 …", vec![passage(POOL)]), ("An idle socket.", vec![])]
    {
        let found = assess(draft, &passages);
        assert_eq!((found.support, found.score < CUT), (Support::None, true), "{draft}: {found:?}");
    }
}

#[test]
fn literals_that_no_source_has_are_found_where_they_stand() {
    let source = "Since v5.12.8 `bodyLimit` is 1,048,576 bytes (see https://example.org/limits). Retry three times, \
                  wait 2.5 s, in a twelve-bar form. The log says \"too many open files\". Error E0382; the 19th of 20.";
    let found = |draft: &str| -> Vec<(Literal, String)> {
        let text = |span: Span| draft[span.start..span.end].to_owned();
        unsourced(draft, &[source]).iter().map(|one| (one.literal, text(one.span))).collect()
    };
    for draft in [
        "In v5.12 and 5.12.8 bodyLimit is 1048576 bytes, 1_048_576 that is [1] [12].",
        "12 bars: retry 3 times, wait 2,5 s: “Too many open  files”.",
        "1. E0382\n2. the 19th (20)\n",
        "See https://example.org/limits, `BodyLimit`.",
        "```js\nbodyLimit(20)\n```",
        "a \"word\" alone, and 20\" of it: 20",
    ] {
        assert_eq!(found(draft), [], "{draft}");
    }
    for (draft, literal, text) in [
        ("It is 1048577 bytes.", Literal::Number, "1048577"),
        ("Retry 4 times.", Literal::Number, "4"),
        ("The 18th.", Literal::Number, "18th"),
        ("A 20-30 split.", Literal::Number, "30"),
        ("Since v5.13.", Literal::Version, "v5.13"),
        ("Since 5.12.9.", Literal::Version, "5.12.9"),
        ("Set headerLimit.", Literal::Identifier, "headerLimit"),
        ("Set body_limit.", Literal::Identifier, "body_limit"),
        ("Error E0499.", Literal::Identifier, "E0499"),
        ("See https://example.org/limit.", Literal::Url, "https://example.org/limit"),
        ("See https://example.com/.", Literal::Url, "https://example.com"),
        ("Use `limit`.", Literal::Code, "limit"),
        ("```sh\nretry --fast\n```", Literal::Code, "fast"),
        ("It says \"too many files\".", Literal::Quotation, "too many files"),
        ("Es heißt „zu viele Dateien“.", Literal::Quotation, "zu viele Dateien"),
    ] {
        assert_eq!(found(draft), [(literal, text.to_owned())], "{draft}");
    }
}

proptest! {
    #[test]
    fn every_text_copied_is_free_of_findings(text in "([a-z]{1,6}|[0-9]{1,4}|[A-Za-z]{2,8}|[.,;:`\"“”_ -]|\\PC| ){0,40}") {
        prop_assert_eq!(unsourced(&text, &[&text]), []);
    }

    #[test]
    fn any_draft_has_a_score_and_its_findings_lie_in_it(draft in "(\\PC|[`\"\n.,0-9a-z ]){0,60}", source in "\\PC{0,60}") {
        let found = assess(&draft, &[passage(&source)]);
        prop_assert!((0.0..=1.0).contains(&found.score), "{:?}", found);
        prop_assert_eq!(found.score >= CUT, found.support == Support::Fully);
        for one in unsourced(&draft, &[&source]) {
            prop_assert!(draft.get(one.span.start..one.span.end).is_some_and(|text| !text.is_empty()), "{:?}", one);
        }
    }
}
