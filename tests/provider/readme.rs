//! The README's table of vendors against what is on file: no row claims what no test shows, and none keeps back what
//! one does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use countercheck::provider::vendor::vendor;
use countercheck::provider::{chat, embed, search};
use serde_json::Value;

use crate::files::{all, of_vendors, text};
use crate::vendors::{CHAT, SEARCH};

const COLUMNS: &str =
    "vendor | chat | JSON schema | log probabilities | streaming | embeddings | search | from a page | tested by";

/// What a vendor's documentation can say of pages; the first only of a part of a row.
const FROM_A_PAGE: [&str; 5] = ["OpenAI: says yes", "says yes", "says no", "its setting", "does not say"];

/// A function of the JavaScript API.
struct Function {
    kind: String,
    vendor: String,
    /// Whether its comment says that no page is let in.
    bars_pages: bool,
}

fn file(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The lines of `www/src/client/vendors.ts`: a comment, then a function.
fn functions() -> BTreeMap<String, Function> {
    let source = file("www/src/client/vendors.ts");
    let lines: Vec<&str> = source.lines().collect();
    let made = lines.windows(2).filter_map(|pair| {
        let (name, rest) = pair[1].strip_prefix("export const ")?.split_once(" = /* @__PURE__ */ ")?;
        let kind = rest.split(['<', '(']).next()?.to_owned();
        let vendor = rest.split('"').nth(1)?.to_owned();
        Some((name.to_owned(), Function { kind, vendor, bars_pages: pair[0].contains("lets no page") }))
    });
    made.collect()
}

/// The cells of each row, without their code marks.
fn rows() -> Vec<Vec<String>> {
    let readme = file("README.md");
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let header = format!("| {COLUMNS} |");
    let mut lines = readme.lines().skip_while(|line| *line != header);
    assert!(lines.next().is_some(), "the README has a table with the columns {COLUMNS}");
    lines.skip(1).take_while(|line| line.starts_with('|')).map(cells).collect()
}

/// What is on file of a vendor's chat.
struct OnFile(Vec<(String, Value)>);

impl OnFile {
    fn of(vendor: &str) -> Self {
        let folder = of_vendors().remove(vendor).unwrap_or_default();
        // The fixtures of the table of failures are `OpenAI`'s and Tavily's.
        let common = if vendor == "openai" || vendor == "tavily" { all() } else { BTreeMap::new() };
        Self(folder.into_iter().chain(common).collect())
    }

    fn has(&self, codec: &str, holds: impl Fn(&Value) -> bool) -> bool {
        self.0.iter().any(|(_, fixture)| text(fixture, "codec") == codec && holds(fixture))
    }

    fn asks(&self, holds: impl Fn(&Value, &Value) -> bool) -> bool {
        self.has("chat-request", |fixture| holds(&fixture["request"], &fixture["expect"]["body"]))
    }

    fn replies(&self, codec: &str) -> bool {
        self.has(codec, |fixture| fixture["expect"]["reply"].is_object())
    }

    fn has_kinds(&self, kinds: &[&str]) -> bool {
        kinds.iter().all(|kind| self.0.iter().any(|(name, _)| name.starts_with(kind)))
    }
}

/// Whether a real server is asked by this function.
fn meets_a_server(function: &str) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/llm");
    let mut tests =
        std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    tests.any(|test| test.contains(&format!("{function}(")))
}

/// Whether probabilities of a reply are on file: of `OpenAI`'s protocol those of any server.
fn tells_probabilities(vendor: &str, on_file: &OnFile) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/provider/logprobs");
    let recorded = |name: &str| folder.join(name).exists();
    let told = |fixture: &Value| {
        ["logprobs", "logprobsResult"]
            .iter()
            .any(|name| fixture["json"].to_string().contains(&format!("\"{name}\":{{")))
    };
    let own = recorded(&format!("{vendor}-chat.json")) || on_file.has("chat", told);
    own || (vendor == "openai" && recorded("llama-cpp-chat.json"))
}

/// JSON schema, log probabilities and streaming of a chat function, as tests show them.
fn shown(function: &str, vendor_name: &str) -> [&'static str; 3] {
    let (on_file, met) = (OnFile::of(vendor_name), meets_a_server(function));
    let known = |is_sent: bool, is_read: bool| match (is_sent, is_read) {
        (true, true) => "yes",
        (true, false) => "asked",
        (false, _) => "no",
    };
    let schema = on_file.asks(|request, body| request["format"].is_object() && body.to_string().contains("\"enum\""));
    let stream = on_file.asks(|request, _| request["stream"] == true);
    let silent = !vendor(chat::VENDORS, vendor_name).unwrap().codec.tells_logprobs();
    let probable = !silent && on_file.asks(|request, _| request["logprobs"] == true);
    [
        known(schema, met || on_file.replies("chat")),
        known(probable, tells_probabilities(vendor_name, &on_file)),
        known(stream, met || on_file.replies("chat-stream")),
    ]
}

#[test]
fn no_row_of_the_readme_claims_what_no_test_shows() {
    let functions = functions();
    let mut named = BTreeSet::new();
    for row in rows() {
        let [title, chat, schema, probabilities, streaming, embeddings, search, from_a_page, tested] = &row[..] else {
            panic!("{row:?} has other columns");
        };
        let mut bars_pages = false;
        let mut of = |cell: &str, kind: &str| -> Option<(String, String)> {
            let name = cell.strip_prefix('`')?.strip_suffix('`')?.to_owned();
            let function = functions.get(&name).unwrap_or_else(|| panic!("{title}: there is no function {name}"));
            assert_eq!(function.kind, kind, "{title}: {name}");
            bars_pages |= function.bars_pages;
            assert!(named.insert(name.clone()), "{name} stands in two rows");
            Some((name, function.vendor.clone()))
        };
        let (chat, embedded, searched) = (of(chat, "chat"), of(embeddings, "embeddings"), of(search, "search"));
        assert!(embedded.is_none_or(|(_, name)| vendor(embed::VENDORS, &name).is_some()), "{title}");
        assert!(searched.as_ref().is_none_or(|(_, name)| vendor(search::VENDORS, name).is_some()), "{title}");
        let claimed = [schema, probabilities, streaming].map(String::as_str);
        let expected = chat.as_ref().map_or([""; 3], |(function, name)| shown(function, name));
        assert_eq!(claimed, expected, "{title}: JSON schema, log probabilities, streaming");

        assert!(FROM_A_PAGE.contains(&from_a_page.as_str()), "{title}: {from_a_page}");
        assert_eq!(from_a_page == "says no", bars_pages, "{title}: what the comments of its functions say of pages");

        let whole = match (&chat, &searched) {
            (Some((_, name)), _) if name == "openai" => true,
            (Some((_, name)), _) => OnFile::of(name).has_kinds(&CHAT),
            (None, Some((_, name))) => name == "tavily" || OnFile::of(name).has_kinds(&SEARCH),
            (None, None) => panic!("{title} is nobody's row"),
        };
        assert_eq!(tested.starts_with("fixtures"), whole, "{title}: {tested}");
        assert_eq!(tested.contains("its requests"), !whole, "{title}: {tested}");
        let met = chat.is_some_and(|(function, _)| meets_a_server(&function));
        assert_eq!(tested.contains("`npm run test:llm`"), met, "{title}: {tested}");
    }
    let missing: Vec<_> = functions.keys().filter(|name| !named.contains(*name)).collect();
    assert!(missing.is_empty(), "the README has no row for {missing:?}");
}
