//! `countercheck`: all grades in one call, claims that hold by a quotation, repair of those that do not.

use countercheck::document::{Hit, Origin, Passage};
use countercheck::pipeline::answer::{Answer, Outcome, Question, Reason};
use countercheck::pipeline::bill::{Bill, most};
use countercheck::pipeline::budget::{Limits, Prices, Tokens};
use countercheck::pipeline::run::{Effect, Outcome as Performed, Reply, Run, Step};
use countercheck::pipeline::strategy::{ByClaim, Checks, Options, Strategy};
use countercheck::pipeline::task::{
    CheckClaims, ClaimSaid, ClaimsSaid, Draft, Failure, Generate, Grade, Task, TaskReply,
};
use countercheck::pipeline::trace::Event;
use countercheck::pipeline::verdict::{Support, Verdict};

use crate::support::{Log, Script, passage, run_logged, said_of};

fn ask(script: &Script) -> (Answer, Log) {
    let (answer, log) = run_logged(script, Strategy::countercheck(), Limits::default());
    (answer.expect("an answer"), log)
}

fn draft(text: &str) -> Vec<Draft> {
    vec![Draft { text: text.to_owned(), ..Draft::default() }]
}

fn tasks(log: &Log) -> impl Iterator<Item = &Task> {
    log.effects.iter().filter_map(|effect| if let Effect::Ask(task) = effect { Some(task) } else { None })
}

fn checked(log: &Log) -> Vec<&CheckClaims> {
    tasks(log).filter_map(|task| if let Task::CheckClaims(task) = task { Some(task) } else { None }).collect()
}

fn names(answer: &Answer) -> String {
    answer.trace.iter().map(Event::name).collect::<Vec<_>>().join(" ")
}

#[test]
fn four_passages_take_three_calls() {
    let (answer, log) = ask(&Script { drafts: draft("It works. It is fast."), ..Script::default() });
    assert_eq!((answer.outcome, answer.grounded, answer.useful), (Outcome::Answered, Some(true), Some(true)));
    assert_eq!((answer.calls.charged(), log.now), (3, 4), "grade, generate, check, and the search of the index");
    assert_eq!(answer.text, "It works. It is fast. [1]", "neighbours in one place have one mark");
    assert_eq!(answer.citations[0].quote, "Passage number 0.");
    let claims: Vec<_> = answer.claims.iter().map(|claim| (claim.text.as_str(), claim.support)).collect();
    assert_eq!(claims, [("It works.", Support::Fully), ("It is fast.", Support::Fully)]);
    assert_eq!(names(&answer), "retrieve grade grade grade grade decide draft-start check check");
}

#[test]
fn claims_name_the_citation_of_their_place_wherever_they_stand() {
    let (answer, _) = ask(&Script { drafts: draft("It works. It is fast.\n\nAsk us. Use it."), ..Script::default() });
    assert_eq!(answer.text, "It works. It is fast. [1]\n\nAsk us. Use it. [1]");
    assert_eq!(answer.citations.len(), 1);
    assert_eq!(answer.claims.iter().map(|claim| claim.citation).collect::<Vec<_>>(), [Some(1); 4]);
}

#[test]
fn one_relevant_passage_is_enough_and_none_is_searched_for_as_asked() {
    let (answer, _) = ask(&Script { grades: "IIRI", drafts: draft("It works."), ..Script::default() });
    assert_eq!((answer.outcome, answer.calls.web), (Outcome::Answered, 0), "W06: one rejected passage buys no search");
    let (answer, log) = ask(&Script { grades: "IIII", web: Some(Ok(2)), ..Script::default() });
    let queries: Vec<&str> = log
        .effects
        .iter()
        .filter_map(|e| if let Effect::SearchWeb { query, .. } = e { Some(query.as_str()) } else { None })
        .collect();
    assert_eq!(queries, ["What are the steps of RAG?"], "of nothing all is missing");
    assert_eq!((answer.web_search_used, answer.calls.grade, answer.calls.rewrite), (true, 2, 0), "G-21");
}

#[test]
fn what_no_source_has_is_asked_of_nobody() {
    let script = Script { drafts: draft("It works. It takes 4711 ms."), ..Script::default() };
    let (answer, log) = ask(&script);
    assert_eq!(checked(&log)[0].claims, ["It works."], "the number is in no passage");
    assert_eq!((answer.text.as_str(), answer.grounded, answer.attempts), ("It works. [1]", Some(true), 2));
    assert_eq!(answer.calls.generate, 2, "the draft and its repair");
}

#[test]
fn a_claim_without_a_true_quotation_fails() {
    let said = |task: &CheckClaims| ClaimsSaid {
        claims: vec![
            ClaimSaid { support: Support::Fully, passage: Some(0), quote: "Passage number 7.".to_owned() };
            task.claims.len()
        ],
        useful: Verdict::Yes,
    };
    let (answer, _) = ask(&Script { claims: said, drafts: draft("It works."), ..Script::default() });
    assert_eq!((answer.outcome, answer.grounded), (Outcome::Partial, Some(false)));
    assert_eq!((answer.reason, answer.claims[0].support), (Some(Reason::NoProgress), Support::None));
    assert_eq!((answer.text.as_str(), answer.citations.len()), ("It works.", 0), "nothing vouches for it");
}

#[test]
fn a_quotation_counts_wherever_it_stands() {
    let said = |task: &CheckClaims| ClaimsSaid {
        claims: vec![
            ClaimSaid { support: Support::Fully, passage: Some(9), quote: "passage number 2".to_owned() };
            task.claims.len()
        ],
        useful: Verdict::Yes,
    };
    let (answer, _) = ask(&Script { claims: said, drafts: draft("It works."), ..Script::default() });
    assert_eq!((answer.grounded, answer.citations[0].passage_id.as_str()), (Some(true), "doc#2"));
    assert_eq!(answer.citations[0].quote, "Passage number 2");
}

#[test]
fn only_failing_claims_are_written_anew() {
    let good = "- It works, *always*.\n- ";
    let fails = |task: &CheckClaims| {
        said_of(task, |claim| if claim.contains("wrong") { Support::None } else { Support::Fully })
    };
    let script = Script {
        claims: fails,
        repairs: |_| vec!["It is slow.".to_owned()],
        drafts: draft(&[good, "It is wrong."].concat()),
        ..Script::default()
    };
    let (answer, log) = ask(&script);
    assert_eq!(answer.outcome, Outcome::Answered);
    assert!(answer.text.starts_with("- It works, *always*. [1]\n- It is slow."), "{}", answer.text);
    assert_eq!(checked(&log)[1].claims, ["It is slow."], "what held is not asked again");
    assert_eq!(names(&answer).split(" decide ").nth(1), Some("draft-start check draft-reject repair check check"));
}

#[test]
fn what_cannot_be_mended_is_left_out_and_usefulness_asked_again() {
    let fails = |task: &CheckClaims| {
        said_of(task, |claim| if claim.contains("wrong") { Support::Partially } else { Support::Fully })
    };
    let script = Script {
        claims: fails,
        repairs: |_| vec!["It is still wrong.".to_owned()],
        drafts: draft("It works. It is wrong."),
        ..Script::default()
    };
    let (answer, _) = ask(&script);
    assert_eq!((answer.text.as_str(), answer.outcome, answer.attempts), ("It works. [1]", Outcome::Answered, 2));
    assert_eq!(answer.calls.usefulness, 1, "what is left is another answer");
    let (answer, _) = ask(&Script { useful: "n", ..script });
    let flags = (answer.grounded, answer.useful, answer.reason);
    assert_eq!(flags, (Some(false), Some(true), Some(Reason::Ungrounded)), "of equals the earlier one, as it is");
}

#[test]
fn nobody_knows_is_no_verdict() {
    let unknown =
        |task: &CheckClaims| ClaimsSaid { claims: vec![ClaimSaid::default(); task.claims.len()], useful: Verdict::Yes };
    let (answer, log) = ask(&Script { claims: unknown, drafts: draft("It works."), ..Script::default() });
    assert_eq!((answer.outcome, answer.reason, answer.grounded), (Outcome::Partial, Some(Reason::Unchecked), None));
    assert_eq!(checked(&log).iter().map(|task| task.again).collect::<Vec<_>>(), [false, true], "asked once more");
}

#[test]
fn usefulness_by_itself_sees_no_passage() {
    let isolated = Strategy {
        checks: Checks { by_claim: Some(ByClaim::Isolated), ..Strategy::countercheck().checks },
        ..Strategy::countercheck()
    };
    let (answer, log) = run_logged(&Script::default(), isolated, Limits::default());
    assert_eq!((answer.expect("an answer").calls.charged(), checked(&log)[0].question.as_deref()), (4, None), "R-05");
}

#[test]
fn what_is_not_useful_has_the_web_asked_for_what_is_missing() {
    let useless = |task: &CheckClaims| ClaimsSaid { useful: Verdict::No, ..said_of(task, |_| Support::Fully) };
    let (answer, log) = ask(&Script { claims: useless, ..Script::default() });
    let held: Vec<usize> =
        tasks(&log).filter_map(|t| if let Task::RewriteQuery(t) = t { Some(t.held.len()) } else { None }).collect();
    assert_eq!(
        (held, answer.calls.web, answer.calls.generate),
        (vec![4], 1, 2),
        "the query is written from what there is"
    );
    assert_eq!((answer.grounded, answer.useful, answer.reason), (Some(true), Some(false), Some(Reason::NotUseful)));
}

/// A world in which anything may be said: numbers from a seed (Knuth's MMIX generator), nothing else.
struct Whims(u64);

impl Whims {
    fn below(&mut self, n: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n) as usize
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64)]
    }

    fn reply(&mut self, effect: &Effect) -> Reply {
        let sentences = ["It works.", "It takes 4711 ms.", "It is fast.", "Use `nonesuch`.", "Ask us."];
        let verdict = |whims: &mut Self| whims.pick(&[Verdict::Yes, Verdict::No, Verdict::Unknown]);
        let text = |whims: &mut Self| (0..whims.below(4)).map(|_| whims.pick(&sentences)).collect::<Vec<_>>().join(" ");
        if self.below(12) == 0 {
            return Reply::Failed(Failure::Malformed { task: "any" });
        }
        let task = match effect {
            Effect::Retrieve { k, .. } => {
                let hit = |n| Hit {
                    passage: passage(n, Origin::Local),
                    score: 1.0,
                    lexical: 1.0,
                    dense: None,
                    explanation: None,
                };
                return Reply::Hits((0..*k).map(hit).collect());
            }
            Effect::SearchWeb { .. } => {
                let first = 1000 * (1 + self.below(5));
                return Reply::Web((first..first + self.below(3)).map(|n| passage(n, Origin::Web)).collect());
            }
            Effect::Ask(task) => task,
        };
        Reply::Task(match task {
            Task::GradePassages(task) => {
                let grade = |_: &Passage| Grade { verdict: verdict(self), score: None };
                TaskReply::Grades(task.passages.iter().map(grade).collect())
            }
            Task::Generate(_) => TaskReply::Draft(Draft { text: text(self), ..Draft::default() }),
            Task::CheckClaims(task) => {
                let claim = |_: &String| ClaimSaid {
                    support: self.pick(&[
                        Support::Fully,
                        Support::Fully,
                        Support::Partially,
                        Support::None,
                        Support::Unknown,
                    ]),
                    passage: self.pick(&[None, Some(0), Some(1), Some(99)]),
                    quote: self
                        .pick(&["Passage number 1.", "number 0", "passage", "Passage number 77.", ""])
                        .to_owned(),
                };
                let claims = task.claims.iter().map(claim).collect();
                TaskReply::Claims(ClaimsSaid { claims, useful: verdict(self) })
            }
            Task::Repair(task) => TaskReply::Repairs(task.claims.iter().map(|_| text(self)).collect()),
            Task::CheckUsefulness(_) => TaskReply::Verdict(verdict(self)),
            Task::RewriteQuery(task) => TaskReply::Query(format!("query {}", task.tried.len())),
            task => unreachable!("{task:?} is of another strategy"),
        })
    }
}

#[test]
fn whatever_is_said_an_answer_cites_only_what_stands_in_what_was_given() {
    let (mut answered, mut trimmed, mut partial) = (0, 0, 0);
    for seed in 0..20_000 {
        let mut whims = Whims(seed);
        let options = Options {
            k: Some(1 + whims.below(6)),
            max_retries: Some(whims.below(4) as u32),
            speculate: Some(whims.below(4) == 0),
            ..Options::default()
        };
        let strategy = Strategy::countercheck().with(options).expect("a strategy");
        let limits = Limits {
            max_calls: whims.pick(&[3, 6, 40, 40]),
            max_tokens: whims.pick(&[None, None, None, Some(3_000), Some(8_000), Some(20_000)]),
            max_cost: whims.pick(&[None, None, None, Some(0.005), Some(0.05)]),
            prices: Prices {
                input: Some(1.0),
                output: Some(4.0),
                web_search: whims.pick(&[None, Some(0.01)]),
                embedding: None,
            },
            ..Limits::of(&strategy)
        };
        let mut spent = Bill::default();
        let question = Question::new("What are the steps of RAG?").expect("a question");
        let mut run = Run::new(question, strategy, limits, 0);
        let (mut given, mut asked) = (Vec::<Passage>::new(), Vec::new());
        let result = loop {
            match run.next_step() {
                Step::Done(result) => break *result,
                Step::Wait => panic!("seed {seed} waits for nothing"),
                Step::Perform(orders) => {
                    for order in orders {
                        if let Effect::Ask(task) = &order.effect {
                            assert!(!asked.contains(task), "seed {seed}: {task:?} is asked twice");
                            asked.push(task.clone());
                            if let Task::Generate(Generate { passages, .. }) = task {
                                given.extend(passages.iter().cloned());
                            }
                        }
                        let most = most(&order.effect);
                        let took = |whims: &mut Whims, most: u64| whims.below(most + 1) as u32;
                        let said =
                            Tokens { input: took(&mut whims, most.input), output: took(&mut whims, most.output) };
                        let outcome = Performed {
                            reply: whims.reply(&order.effect),
                            called: order.may_call.min(1),
                            tokens: whims.pick(&[None, Some(said), Some(said), Some(said)]),
                        };
                        // What no service tells counts as much as it can have been.
                        let told = outcome.tokens.filter(|_| !matches!(outcome.reply, Reply::Failed(_)));
                        let (input, output) =
                            told.map_or((most.input, most.output), |t| (t.input.into(), t.output.into()));
                        spent = spent.plus(Bill { input, output, ..most }.times(outcome.called));
                        run.resolve(order.id, outcome, 1).expect("it is open");
                    }
                }
            }
        };
        let Ok(answer) = result else { continue };
        let note = format!("seed {seed}: {answer:?}");
        assert!(answer.calls.charged() <= limits.max_calls, "{note}");
        assert!(limits.max_tokens.is_none_or(|most| spent.input + spent.output <= most), "{spent:?} {note}");
        assert!(limits.max_cost.is_none_or(|most| spent.cost(&limits.prices) <= most), "{spent:?} {note}");
        let is_told = answer.reason != Some(Reason::Budget) || answer.warnings.iter().any(|w| w.code == "budget");
        assert!(is_told, "{note}");
        for citation in &answer.citations {
            let passage = given.iter().find(|passage| passage.id == citation.passage_id).expect(&note);
            let at = citation.start - passage.span.start..citation.end - passage.span.start;
            assert_eq!(passage.text.get(at), Some(citation.quote.as_str()), "{note}");
            assert!(answer.text.contains(&format!("[{}]", citation.n)), "{note}");
        }
        let is_there = |n: u32| answer.citations.iter().any(|citation| citation.n == n);
        assert!(answer.claims.iter().filter_map(|claim| claim.citation).all(is_there), "{note}");
        if answer.grounded == Some(true) {
            assert!(!answer.claims.is_empty(), "{note}");
            assert!(answer.claims.iter().all(|c| c.support == Support::Fully && c.citation.is_some()), "{note}");
            assert!(!answer.text.contains("4711") && !answer.text.contains("nonesuch"), "{note}");
        }
        let passed = answer.grounded == Some(true) && answer.useful == Some(true);
        assert_eq!(answer.outcome == Outcome::Answered, passed, "{note}");
        answered += u32::from(passed);
        partial += u32::from(answer.outcome == Outcome::Partial);
        trimmed +=
            u32::from(passed && answer.calls.usefulness > 0 && answer.trace.iter().any(|e| e.name() == "repair"));
    }
    assert!(
        answered > 100 && partial > 100 && trimmed > 20,
        "{answered} answered, {partial} partial, {trimmed} trimmed"
    );
}
