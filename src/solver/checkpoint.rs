//! The solver that puts tasks to a model that continues text: a released Self-RAG checkpoint behind a
//! completions endpoint. Its format is the one that it was trained with: an instruction, the response
//! begun, and a passage between `<paragraph>` tags after the token that asks for it.
//!
//! Everything that nobody here wrote is rid of reflection tokens, tags and headings first: a passage that
//! brings `[Fully supported]` along must not score itself.

use crate::document::Passage;
use crate::pipeline::cost::LONGEST_SEGMENT;
use crate::pipeline::reflection::Group;
use crate::pipeline::segment::{
    Alternative, Candidate, Evidence, Form, GenerateSegment, OPENING_TOKENS, Token, cut, plain_text, special_tokens,
};
use crate::pipeline::task::TaskReply;
use crate::prompt::{self, Language};
use crate::provider::chat::{ChatReply, ChatRequest, Finish};
use crate::provider::completions::{CompletionReply, CompletionRequest};
use crate::provider::logprobs;
use crate::solver::marks;

/// The most tokens of a segment, of a whole answer and of a choice, as the authors set them.
const SEGMENT_TOKENS: u32 = LONGEST_SEGMENT;
const WHOLE_TOKENS: u32 = 100;
const CHOICE_TOKENS: u32 = 50;

/// How many bytes of a reply are read: each token comes with twenty others.
const LARGEST_REPLY: usize = 4 << 20;

const HEADINGS: [&str; 3] = ["### Instruction:", "### Input:", "### Response:"];

/// The request for a segment.
pub fn request(task: &GenerateSegment, language: Language) -> CompletionRequest {
    let question = harmless(&task.question);
    let instruction = match &task.form {
        Form::Choice(choices) => {
            let choices: Vec<String> = choices.iter().map(|choice| harmless(choice)).collect();
            prompt::choose_bare(&question, &choices, language)
        }
        Form::Segment | Form::Whole => question,
    };
    let [retrieval, no_retrieval] = [0, 1].map(|token| Group::Retrieve.tokens()[token]);
    let evidence = match &task.evidence {
        Evidence::Undecided => String::new(),
        Evidence::None => no_retrieval.to_owned(),
        Evidence::Passage(passage) => [retrieval, &paragraph(passage)].concat(),
    };
    let max_tokens = match (&task.evidence, &task.form) {
        (Evidence::Undecided, _) => OPENING_TOKENS as u32,
        (_, Form::Segment) => SEGMENT_TOKENS,
        (_, Form::Whole) => WHOLE_TOKENS,
        (_, Form::Choice(_)) => CHOICE_TOKENS,
    };
    completion([&instructed(&instruction), &task.written, evidence.as_str()].concat(), max_tokens)
}

/// What a reply says: a candidate with its reflection tokens, and the place that it is nearest to.
pub fn read(task: &GenerateSegment, reply: &CompletionReply) -> TaskReply {
    let tokens = tokens(&reply.tokens);
    let mut candidate = Candidate { text: reply.text.clone(), tokens, ..Candidate::default() };
    candidate.truncated = reply.finish != Finish::Stop;
    candidate.quote = match &task.evidence {
        Evidence::Passage(passage) => Some(marks::support(&plain_text(cut(&candidate, None).raw), passage)),
        Evidence::None | Evidence::Undecided => None,
    };
    TaskReply::Candidate(candidate)
}

/// A chat request as a text to continue, for the tasks of other strategies.
pub fn as_completion(request: &ChatRequest) -> CompletionRequest {
    let messages: Vec<String> = request.messages.iter().map(|message| harmless(&message.content)).collect();
    completion(instructed(&messages.join("\n\n")), request.max_tokens)
}

/// How it was continued, as a reply to the chat.
pub fn as_chat(reply: CompletionReply) -> ChatReply {
    let CompletionReply { text, tokens, finish, usage, model } = reply;
    ChatReply { text: plain_text(&text), finish, usage, model, lossy: false, tokens }
}

fn completion(prompt: String, max_tokens: u32) -> CompletionRequest {
    CompletionRequest { prompt, max_tokens, stop: vec!["<paragraph>"], largest_reply: LARGEST_REPLY }
}

fn instructed(instruction: &str) -> String {
    ["### Instruction:\n", instruction, "\n\n### Response:\n"].concat()
}

fn paragraph(passage: &Passage) -> String {
    ["<paragraph>", &harmless(&passage.breadcrumb()), "\n", &harmless(passage.text.trim()), "</paragraph>"].concat()
}

/// A text in which nothing is a special token or one of the format's headings any more; the words stay.
fn harmless(text: &str) -> String {
    let rounded =
        |text: String, token: &str| text.replace(token, &["(", token.trim_matches(['[', ']', '<', '>']), ")"].concat());
    let mut text = special_tokens().fold(text.to_owned(), rounded);
    // Taking one out may join the halves of another.
    while let Some(heading) = HEADINGS.into_iter().find(|heading| text.contains(heading)) {
        text = text.replace(heading, heading.trim_start_matches(['#', ' ']));
    }
    text
}

/// The tokens of a reply, as the core has them.
pub(super) fn tokens(tokens: &[logprobs::Token]) -> Vec<Token> {
    let alternative = |(text, logprob): &(String, f64)| Alternative { text: text.clone(), logprob: *logprob };
    let token = |token: &logprobs::Token| Token {
        text: token.text.clone(),
        logprob: token.logprob,
        top: token.top.iter().map(alternative).collect(),
    };
    tokens.iter().map(token).collect()
}
