//! The text of `gate4k explain`.

use anstyle::Style;
use serde_json::{Value, json};

use super::layout::PageLayout;
use super::styled;
use super::text::put;
use crate::model::rule::{RULES, Rule, RuleKind};

const BOLD: Style = Style::new().bold();

/// The word for a rule's kind: `gate` if it can reject, else `advice`.
fn kind(rule: &Rule) -> &'static str {
    match rule.kind {
        RuleKind::Gate => "gate",
        RuleKind::Advice => "advice",
    }
}

/// A rule with its whole text.
pub(crate) fn one(rule: &Rule, width: usize) -> String {
    let mut page = String::new();
    let lead =
        format!("{BOLD}{}{BOLD:#} ({}; TCEC 4k rules, {})", rule.name, kind(rule), rule.section);
    put(&mut page, "", 0, &lead, width);
    put(&mut page, "", 0, rule.title, width);
    page.push('\n');
    page.push_str(&styled::text(without_title(rule.explain), width));
    page
}

/// The text of a rule behind its title, which the first line of the page has already.
fn without_title(text: &str) -> &str {
    match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("# ") => rest.trim(),
        _ => text.trim(),
    }
}

/// Every rule in a line.
pub(crate) fn all(layout: PageLayout) -> String {
    let mut page = String::new();
    for rule in RULES {
        if layout.plain {
            let line = format!("{} ({}, {}): {}", rule.name, rule.section, kind(rule), rule.title);
            put(&mut page, "", 0, &line, layout.width);
            continue;
        }
        let (name, section, kind) = (rule.name, rule.section, kind(rule));
        let lead = format!("{BOLD}{name:<18}{BOLD:#}  {section:<8}  {kind:<6}  ");
        put(&mut page, &lead, 38, rule.title, layout.width);
    }
    page.push_str("\n`gate4k explain RULE` tells one of them in full.\n");
    page
}

/// The document `gate4k/explain/1` of these rules, each with its text in Markdown.
pub(crate) fn json(rules: &[Rule]) -> serde_json::Result<String> {
    let rules = rules.iter().map(|rule| {
        json!({
            "rule": rule.name,
            "section": rule.section,
            "kind": kind(rule),
            "title": rule.title,
            "text": without_title(rule.explain),
        })
    });
    super::json::pretty(&json!({"schema": "gate4k/explain/1", "rules": rules.collect::<Value>()}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_listed_with_its_section() {
        let page = anstream::adapter::strip_str(&all(PageLayout::of_width(100))).to_string();
        for rule in RULES {
            assert!(
                page.lines().any(|line| line.starts_with(rule.name) && line.contains(rule.section)),
                "{}",
                rule.name
            );
        }
    }

    #[test]
    fn no_mark_of_markdown_is_left_and_no_word_is_lost() {
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        for rule in RULES {
            for width in [40, 60, 80, 200] {
                let page = anstream::adapter::strip_str(&one(rule, width)).to_string();
                for mark in ["**", "\n> ", "\n# ", "```"] {
                    assert!(!page.contains(mark), "{}: {page}", rule.name);
                }
                let told = page.split_once("\n\n").unwrap().1;
                assert_eq!(letters(told), letters(without_title(rule.explain)), "{}", rule.name);
            }
        }
    }
}
