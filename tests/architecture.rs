//! The house rules that a machine can check: who may use whom, file heads, file lengths.
#![allow(clippy::panic, clippy::unwrap_used)] // what a test reads is there, or the test has failed

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 400;

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    found.sort();
    assert!(found.len() > 20, "{} source files", found.len());
    found
}

fn module_of(path: &Path) -> String {
    let below = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    below.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

/// The table in ARCHITECTURE.md.
fn allowed() -> BTreeMap<String, Vec<String>> {
    let text = include_str!("../ARCHITECTURE.md");
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let start = text.find("| module | may use |").expect("the table of modules");
    text[start..]
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            (names(cells[1])[0].clone(), names(cells[2]))
        })
        .collect()
}

#[test]
fn modules_use_only_what_the_architecture_allows() {
    let allowed = allowed();
    let mut offences = Vec::new();
    for (path, text) in sources() {
        let module = module_of(&path);
        if module == "lib" {
            continue;
        }
        let Some(may_use) = allowed.get(&module) else {
            offences.push(format!("{module} is not in ARCHITECTURE.md's table"));
            continue;
        };
        // Test modules inside src look at everything they generate.
        if path.ends_with("wire/typescript.rs") {
            continue;
        }
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for used in line.split("crate::").skip(1) {
                let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if name != module && !may_use.contains(&name) {
                    offences.push(format!("{}: {module} must not use {name}", path.display()));
                }
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn the_table_has_a_row_for_every_module() {
    let modules =
        include_str!("../src/lib.rs").lines().filter_map(|l| l.trim_start_matches("pub ").strip_prefix("mod "));
    let missing: Vec<&str> = modules.map(|m| m.trim_end_matches(';')).filter(|m| !allowed().contains_key(*m)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_file_says_at_its_head_what_it_is_and_stays_short() {
    let mut offences = Vec::new();
    for (path, text) in sources() {
        if !text.starts_with("//!") {
            offences.push(format!("{} has no head", path.display()));
        }
        let lines = text.lines().count();
        if lines > MOST_LINES {
            offences.push(format!("{} has {lines} lines", path.display()));
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn only_hosts_ask_what_they_are_compiled_for() {
    let hosts = ["lib", "browser", "edge"];
    let may_ask = |path: &Path| hosts.contains(&module_of(path).as_str()) || path.ends_with("vectors/kernel/mod.rs");
    let asks = |(path, text): &(PathBuf, String)| text.contains("target_arch") && !may_ask(path);
    let offences: Vec<PathBuf> = sources().into_iter().filter(asks).map(|(path, _)| path).collect();
    assert!(offences.is_empty(), "{offences:?}");
}
