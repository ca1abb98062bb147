//! Annotations of GitHub Actions: commands on standard output that its runner picks out.
//!
//! A step may make ten of each level, and the runner drops the rest without a word; so the tenth says how
//! many there are more. The first of each entry come before the second of any.

use std::collections::HashSet;
use std::path::Path;

use super::place::BasePaths;
use super::text::{clean, clean_lines};
use super::weight::{FindingWeight, is_told, lines};
use crate::model::entry_report::ReportInput;
use crate::model::text::steers;
use crate::model::verdict::Finding;

/// Annotations of one level that a step may make.
const MOST: usize = 10;
/// Characters of a message; what is cut off stands in the summary.
const LONGEST: usize = 2000;
/// Characters of a title.
const LONGEST_TITLE: usize = 200;

/// The commands, a line each.
pub(crate) fn annotations(input: ReportInput<'_>, places: &BasePaths) -> String {
    let mut out = String::new();
    for (weight, level, what) in [
        (FindingWeight::Breaks, "error", "broken rules"),
        (FindingWeight::Open, "warning", "open questions"),
        (FindingWeight::Remark, "notice", "remarks"),
    ] {
        let mut found = in_turns(input, weight);
        if weight == FindingWeight::Remark {
            // One of each entry is enough beside a line of code, if it asks for something; the summary has all of them.
            found.retain(|placed| is_told(placed.found));
            let mut seen = HashSet::new();
            found.retain(|placed| seen.insert((placed.path.to_owned(), placed.line)));
        }
        let shown = if found.len() > MOST { MOST - 1 } else { found.len() };
        for found in &found[..shown] {
            out.push_str(&one(level, found, places));
        }
        let more = found.len() - shown;
        if more > 0 {
            out.push_str(&format!(
                "::{level} title=gate4k::and {more} more {what}; the summary of the step has them all\n"
            ));
        }
    }
    out
}

/// The annotation for a run that judged nothing.
pub(crate) fn failure(why: &str) -> String {
    format!("::error title=gate4k::{}\n", data(&cut(&clean_lines(why), LONGEST)))
}

struct ShownFinding<'a> {
    /// The path that is named in the title.
    path: &'a Path,
    file: &'a Path,
    line: usize,
    found: &'a Finding,
}

/// Findings of one weight: the first of every entry, then the second of every entry, and so on; at the end
/// what is of none.
fn in_turns(input: ReportInput<'_>, weight: FindingWeight) -> Vec<ShownFinding<'_>> {
    let wanted = move |found: &&Finding| FindingWeight::of(found) == weight;
    let mut found: Vec<(usize, ShownFinding<'_>)> = input
        .entries
        .iter()
        .flat_map(|report| {
            let placed = move |found| ShownFinding {
                path: &report.path,
                file: &report.file,
                line: 1,
                found,
            };
            report.findings.iter().filter(wanted).map(placed).enumerate()
        })
        .collect();
    found.sort_by_key(|(turn, _)| *turn);
    let config_findings =
        input.config_findings.iter().filter(|config_finding| wanted(&&config_finding.finding)).map(
            |config_finding| ShownFinding {
                path: &config_finding.file,
                file: &config_finding.file,
                line: config_finding.at.line,
                found: &config_finding.finding,
            },
        );
    found.into_iter().map(|(_, placed)| placed).chain(config_findings).collect()
}

fn one(level: &str, placed: &ShownFinding<'_>, places: &BasePaths) -> String {
    let ShownFinding { path, file, line, found } = placed;
    let file = places.relative(file);
    // The runner opens no file by this name; it must only be the one that the repository has.
    let file = property(&file.to_string_lossy());
    let rule = found.rule.rule();
    let title = format!("{} ({}): {}", rule.name, rule.section, places.line(path));
    let lines = lines(found, clean(&found.summary), "→ ");
    format!(
        "::{level} file={file},line={line},title={}::{}\n",
        property(&cut(&title, LONGEST_TITLE)),
        data(&cut(&lines.join("\n"), LONGEST))
    )
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Text after the second `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, which a comma or a colon would end.
fn property(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) && !matches!(c, '\n' | '\r') {
            seen.extend(c.escape_default());
        } else {
            seen.push(c);
        }
    }
    // The runner undoes these as it does all others; until then no command of it stands in the midst of the line.
    data(&seen).replace(':', "%3A").replace(',', "%2C").replace("##", "#%23")
}

/// Lets the runner take `text` as text: without it, a line of a stranger that starts with `::` would be a
/// command. `token` must be one that no stranger can guess.
pub(crate) fn quoted(text: &str, token: &str) -> String {
    format!("::stop-commands::{token}\n{text}::{token}::\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::EntryReport;
    use crate::model::entry_report::tests::{config_finding, report};
    use crate::model::rule::RuleId;
    use crate::model::verdict::Verdict;

    fn places() -> BasePaths {
        BasePaths { base: "/repo".into(), root: "/repo".into() }
    }

    #[test]
    fn each_level_has_its_command() {
        assert_eq!(
            annotations(ReportInput::of(&[report()]), &places()),
            "::error file=entries/tiny/x,line=1,title=size (7.1%2C 7.3)%3A entries/tiny::4117 bytes, 21 over%0A\
             file 4097, engines.json 20%0A→ save 21 bytes\n\
             ::warning file=entries/tiny/x,line=1,title=commands (7.5%2C 7.8)%3A entries/tiny::pypy3 is not \
             installed here%0Aasked for by sh after 3 ms%0A→ install pypy3\n\
             ::notice file=entries/tiny/x,line=1,title=long-game (7.9)%3A entries/tiny::a list of 1000 plies \
             is cut%0Aalso not shown%0A→ make the buffer longer\n"
        );
    }

    #[test]
    fn a_remark_that_asks_for_nothing_is_no_notice() {
        let findings = vec![Finding::advice(RuleId::Commands, "rm is tolerated")];
        let accepted = EntryReport { findings, verdict: Verdict::Accepted, ..report() };
        assert_eq!(annotations(ReportInput::of(&[accepted]), &places()), "");
    }

    #[test]
    fn what_is_of_no_entry_is_a_notice_on_its_line() {
        let config_findings = [config_finding()];
        let text =
            annotations(ReportInput { entries: &[], config_findings: &config_findings }, &places());
        assert_eq!(
            text,
            "::notice file=gate4k.toml,line=3,title=size (7.1%2C 7.3)%3A gate4k.toml::the waiver matches \
             nothing%0Aits reason was: x%0A→ remove it\n"
        );
    }

    #[test]
    fn more_than_ten_are_nine_and_a_word_on_the_rest() {
        let two = |name: &str| EntryReport {
            path: name.into(),
            file: name.into(),
            findings: vec![
                Finding::fail(RuleId::Size, format!("first of {name}")),
                Finding::fail(RuleId::Format, format!("second of {name}")),
            ],
            ..report()
        };
        let reports: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(two).into();
        let text = annotations(ReportInput::of(&reports), &places());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 10);
        assert!(lines[5].ends_with("::first of f"), "{text}");
        assert!(lines[6].ends_with("::second of a"), "{text}");
        assert!(lines[9].contains("::and 3 more broken rules"), "{text}");
        assert_eq!(annotations(ReportInput::of(&reports[..5]), &places()).lines().count(), 10);
    }

    #[test]
    fn a_hostile_name_makes_no_command() {
        let name = "x,line=9::error::y\n::set-env name=PATH::%0Az\r";
        let hostile = EntryReport {
            path: name.into(),
            file: name.into(),
            findings: vec![Finding::fail(RuleId::Size, name).detail(name)],
            ..report()
        };
        let text = annotations(ReportInput::of(&[hostile]), &places());
        assert_eq!(text.lines().count(), 1, "{text}");
        let (_, rest) = text.trim_end().split_once("::error file=").unwrap();
        let (properties, _) = rest.split_once("::").unwrap();
        assert_eq!(properties.split(',').count(), 3, "{properties}");
        assert!(properties.starts_with("x%2Cline=9%3A%3Aerror%3A%3Ay%0A%3A%3Aset-env"), "{text}");
        assert!(!text.contains('\r'));
    }

    #[test]
    fn no_unseen_character_of_a_name_reaches_the_log() {
        let name = "a\u{1b}[2J\u{7}\u{202e}\u{feff}\u{e0041}\u{2028}b ##[error]x ##vso[task]";
        let hostile = EntryReport {
            path: name.into(),
            file: name.into(),
            findings: vec![Finding::fail(RuleId::Size, name).detail(name)],
            ..report()
        };
        let text = annotations(ReportInput::of(&[hostile]), &places());
        assert!(text.trim_end().chars().all(|c| !steers(c)), "{text:?}");
    }

    #[test]
    fn messages_are_cut_to_what_is_shown() {
        let long = EntryReport {
            findings: vec![Finding::fail(RuleId::Size, "é".repeat(100_000))],
            ..report()
        };
        let text = annotations(ReportInput::of(&[long]), &places());
        assert!(text.ends_with("é…\n") && text.len() < 5000, "{}", text.len());
    }

    #[test]
    fn a_mistake_with_its_line_of_a_file_is_told_in_lines() {
        let told = failure("gate4k.toml:6:1: unknown\n6 | x\u{1b}\n  | ^");
        assert_eq!(told, "::error title=gate4k::gate4k.toml:6:1: unknown%0A6 | x\\u{1b}%0A  | ^\n");
    }

    #[test]
    fn what_is_quoted_is_no_command() {
        assert_eq!(quoted("::error::x\n", "k7"), "::stop-commands::k7\n::error::x\n::k7::\n");
    }
}
