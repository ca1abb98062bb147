//! Counts that the registry, the judging files, the explain texts and the fixtures agree: a rule that is
//! missing in one of them is no rule, and a file that no rule names decides nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gate4k::model::rule::{RULES, Rule, RuleKind};

use crate::trials::Test;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Names in a folder, sorted; empty where there is no such folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The files in which a rule may be judged: by evidence, or as the bytes are read.
fn judging_files(rule: &Rule) -> [PathBuf; 2] {
    let name = match rule.name {
        // The file is found as it is read.
        "single-file" => "entry".to_owned(),
        // `match` is a word of the language.
        "match" => "match_".to_owned(),
        name => name.replace('-', "_"),
    };
    ["src/judge/rules", "src/submission"].map(|room| root().join(room).join(format!("{name}.rs")))
}

/// The rule that a fixture's folder belongs to: the longest id that begins its name.
fn rule_of(folder: &str) -> Option<&'static Rule> {
    RULES
        .iter()
        .filter(|rule| {
            folder
                .strip_prefix(rule.name)
                .is_some_and(|rest| rest.starts_with('-') && rest.len() > 1)
        })
        .max_by_key(|rule| rule.name.len())
}

fn every_rule_has_one_judging_file() {
    for rule in RULES {
        let files = judging_files(rule);
        let found = files.iter().filter(|file| file.is_file()).count();
        assert_eq!(found, 1, "{} is judged in one of {files:?}", rule.name);
    }
}

fn every_judging_file_is_a_rule_s() {
    let known: Vec<PathBuf> = RULES.iter().flat_map(judging_files).collect();
    for file in fs::read_dir(root().join("src/judge/rules")).unwrap() {
        let path = file.unwrap().path();
        let judges =
            fs::read_to_string(&path).unwrap().contains("\npub(crate) const JUDGED: JudgedRule");
        assert!(!judges || known.contains(&path), "{} judges for no rule", path.display());
    }
}

fn every_rule_stands_in_the_handbook() {
    let page = fs::read_to_string(root().join("docs/rules.md")).unwrap();
    let told: Vec<&str> = page.lines().filter(|line| line.starts_with("{{#include")).collect();
    let wanted: Vec<String> = RULES
        .iter()
        .map(|rule| format!("{{{{#include ../src/explain/{}.md}}}}", rule.name))
        .collect();
    assert_eq!(told, wanted, "docs/rules.md has the rules in the order of reports");
}

fn every_rule_is_explained_and_nothing_else_is() {
    let wanted: BTreeSet<String> = RULES.iter().map(|rule| format!("{}.md", rule.name)).collect();
    assert_eq!(names(&root().join("src/explain")), wanted);
    for rule in RULES {
        let lines = rule.explain.lines().count();
        assert!((12..=30).contains(&lines), "{}: {lines} lines, not 12 to 30", rule.name);
        let title = format!("# {} (rule {})", rule.name, rule.section);
        assert_eq!(rule.explain.lines().next(), Some(title.as_str()));
        for part in ["**Why.**", "**Passes:**", "**To mend it:**"] {
            assert!(rule.explain.contains(part), "{}: no {part}", rule.name);
        }
        let fails = rule.explain.contains("**Fails:**");
        assert_eq!(fails, rule.kind == RuleKind::Gate, "{}: **Fails:**", rule.name);
    }
}

fn every_gate_has_fixtures_that_it_rejects() {
    let rejected = names(&root().join("fixtures/entries/reject"));
    for rule in RULES {
        let count = rejected
            .iter()
            .filter(|folder| rule_of(folder).is_some_and(|owner| owner.id == rule.id))
            .count();
        match rule.kind {
            RuleKind::Gate => assert!(count > 0, "no fixture is rejected for {}", rule.name),
            RuleKind::Advice => assert_eq!(count, 0, "{} never rejects", rule.name),
        }
    }
}

fn every_fixture_expects_the_rule_that_its_name_begins_with() {
    let folder = root().join("fixtures/entries/reject");
    for name in names(&folder) {
        let rule = rule_of(&name).unwrap_or_else(|| panic!("{name} begins with no rule's id"));
        let file = folder.join(&name).join("expected.toml");
        let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let expected: toml::Table = text.parse().unwrap_or_else(|e| panic!("{name}: {e}"));
        let ids = |key: &str| -> Vec<String> {
            let list = expected.get(key).and_then(toml::Value::as_array);
            let words = list.into_iter().flatten();
            words.map(|word| word.as_str().unwrap().to_owned()).collect()
        };
        assert!(
            ids("fails").iter().any(|id| id == rule.name),
            "{name} does not expect {}",
            rule.name
        );
        for id in ids("fails").iter().chain(&ids("also")) {
            assert!(RULES.iter().any(|rule| rule.name == id), "{name}: there is no rule {id}");
        }
    }
}

/// A file of tests that no program compiles is one that nobody runs: all are modules of the suite.
fn nothing_lies_beside_the_suite() {
    let known = ["engine", "snapshots", "suite"].map(str::to_owned);
    assert_eq!(names(&root().join("tests")), known.into());
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick every_rule_has_one_judging_file,
        quick every_judging_file_is_a_rule_s,
        quick every_rule_stands_in_the_handbook,
        quick every_rule_is_explained_and_nothing_else_is,
        quick every_gate_has_fixtures_that_it_rejects,
        quick every_fixture_expects_the_rule_that_its_name_begins_with,
        quick nothing_lies_beside_the_suite,
    ]
}
