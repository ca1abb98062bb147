//! The text of `gate4k explain`.

use std::fmt::Write;

use anstyle::Style;

use super::text::{put, width};
use crate::model::rule::{Kind, RULES, Rule};

const BOLD: Style = Style::new().bold();

/// Whether a rule can reject, in a word.
fn kind(rule: &Rule) -> &'static str {
    match rule.kind {
        Kind::Gate => "gate",
        Kind::Advice => "advice",
    }
}

/// One rule with its whole text.
#[must_use]
pub fn one(rule: &Rule) -> String {
    format!(
        "{BOLD}{}{BOLD:#} ({}; TCEC 4k rules, {})\n{}\n\n{}\n",
        rule.name,
        kind(rule),
        rule.section,
        rule.title,
        rule.explain.trim()
    )
}

/// Every rule in a line.
#[must_use]
pub fn all() -> String {
    let mut page = String::new();
    for rule in RULES {
        let mut lead = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            lead,
            "{BOLD}{:<18}{BOLD:#}  {:<8}  {:<6}  ",
            rule.name,
            rule.section,
            kind(rule)
        );
        put(&mut page, &lead, 38, rule.title, width());
    }
    page.push_str("\n`gate4k explain RULE` tells one of them in full.\n");
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_listed_with_its_section() {
        let page = anstream::adapter::strip_str(&all()).to_string();
        for rule in RULES {
            assert!(
                page.lines().any(|line| line.starts_with(rule.name) && line.contains(rule.section)),
                "{}",
                rule.name
            );
        }
    }
}
