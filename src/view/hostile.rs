//! One hostile text in every place that a stranger fills, in every format: nothing of it may be active.

use std::path::PathBuf;

use clap::ValueEnum;

use super::layout::PageLayout;
use super::place::BasePaths;
use super::report_format::ReportFormat;
use crate::model::entry_report::tests::report;
use crate::model::entry_report::{EngineOfFile, EntryReport, Leftover, ReportInput};
use crate::model::rule::RuleId;
use crate::model::text::{escape, steers};
use crate::model::verdict::Finding;

/// Markup, commands of GitHub, Azure and GitLab, colours, and characters that nobody sees.
const HOSTILE: [&str; 10] = [
    "</pre></title></td><script>alert(1)</script><img src=x onerror=y>\"' onload=z",
    "]]><x/>&lt;!--",
    "a\n::error file=x::y\n::set-env name=PATH::z\r::add-mask::q",
    "0123456789 ::stop-commands::z 0123456789 ::add-mask::0123456789 ::error::0123456789 ::stop-commands::z 0123456789 ::x::y",
    "##[error]b ##vso[task.setvariable variable=x]y ###[group]",
    "section_start:1:a[collapsed=true]\rb section_end:1:a",
    "\u{1b}[2J\u{1b}]8;;http://x.y\u{7}c\u{9b}31m\u{7f}\u{0}",
    "\u{202e}d\u{2066}\u{200b}\u{feff}\u{2028}\u{2029}\u{85}\u{e0041}\u{ad}\u{61c}",
    "[click](javascript:x) ![i](http://x.y) <http://x.y> | `e` \n# f\n---\n- [x] @everyone #1",
    "```\n</details><img src=x>\n```",
];

/// A report in which a stranger has written this wherever one can.
fn written(name: &str) -> EntryReport {
    // As evidence has it: strangers' text is escaped where it comes in.
    let seen = escape(name.as_bytes(), 400);
    let path = PathBuf::from(name.replace('\0', ""));
    let mut hostile = report();
    hostile.path.clone_from(&path);
    hostile.file = path;
    // A slip there must do no harm: findings are handed the text as it came.
    hostile.findings = vec![
        Finding::fail(RuleId::Size, name).detail(name).help(name).with("name", name),
        Finding::undecided(RuleId::Commands, name).detail(name).help(name),
        Finding::advice(RuleId::LongGame, name).detail(name).help(name),
    ];
    hostile.transcript =
        vec![format!("0 ms < id name {seen}"), format!("1 ms < option name {seen}")];
    for layer in &mut hostile.layers {
        layer.reason = name.into();
    }
    let exec = &mut hostile.execs[0];
    (exec.name, exec.asked) = (seen.clone(), seen.clone());
    exec.real = Some(seen.clone());
    exec.argv = vec![seen.clone(); 2];
    for left in &mut hostile.leftovers {
        match left {
            Leftover::File(file) => (file.path, file.made_by) = (seen.clone(), Some(seen.clone())),
            Leftover::Process(process) => process.command.clone_from(&seen),
        }
    }
    hostile.circumstances.engine =
        Some(EngineOfFile { name: Some(name.into()), sha256: "ab".repeat(32) });
    hostile
}

/// The report in each format.
fn all(report: &EntryReport) -> Vec<(ReportFormat, String)> {
    let places = BasePaths { base: "/w".into(), root: "/w".into() };
    let layout = PageLayout { verbose: true, ..PageLayout::of_width(100) };
    let told = ReportInput::of(std::slice::from_ref(report));
    let formats = ReportFormat::value_variants().iter();
    formats.map(|format| (*format, format.text(told, layout, &places).unwrap())).collect()
}

/// A terminal's text without our own colours; panics at any other escape sequence.
fn without_our_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
        assert!(part[end..].starts_with('m'), "no colour: {part:?}");
        out.push_str(&part[end + 1..]);
    }
    out
}

/// Markdown without its blocks of code, in which nothing is active; a stranger's line could only end one too early.
fn outside_of_fences(text: &str) -> String {
    let mut fence = None;
    let mut out = String::new();
    for line in text.lines() {
        let rest = line.trim_start();
        let ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            // A fence is closed by one of its length or more, with nothing behind it (CommonMark 0.31, 4.5).
            Some(opened) if ticks >= opened && rest.trim_end().len() == ticks => fence = None,
            Some(_) => {}
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    assert_eq!(fence, None, "a block does not end: {text}");
    out
}

#[test]
fn nothing_of_a_stranger_s_text_is_active_in_any_format() {
    for name in HOSTILE {
        for (format, text) in all(&written(name)) {
            let is_human = format == ReportFormat::Human;
            let text = if is_human { without_our_colours(&text) } else { text };
            let unseen = text.chars().find(|c| steers(*c) && *c != '\n');
            assert_eq!(unseen, None, "{format:?}: {text:?}");
            for command in ["##[", "##vso[", "section_start:", "section_end:"] {
                let line = text.lines().find(|line| line.contains(command));
                assert_eq!(line, None, "{format:?}, {command}");
            }
            // GitHub's runner hears commands at the beginning of a line, blanks left out.
            let commands = text.lines().filter(|line| line.trim_start().starts_with("::"));
            let ours = |line: &&str| {
                ["::error file=", "::warning file=", "::notice file="]
                    .iter()
                    .any(|ours| format == ReportFormat::Github && line.starts_with(ours))
            };
            assert_eq!(commands.filter(|line| !ours(line)).count(), 0, "{format:?}: {text}");
            let has = |markup: &str| text.contains(markup);
            match format {
                ReportFormat::Html => {
                    assert!(!has("<script>alert") && !has("<img") && !has("\"' onload"), "{text}");
                    assert!(!has("href=\"javascript") && !has("</title></td>"), "{text}");
                }
                ReportFormat::Junit => {
                    assert!(!has("<script") && !has("<img") && !has("]]><x/>"), "{text}")
                }
                ReportFormat::Markdown => {
                    let text = outside_of_fences(&text);
                    let has = |markup: &str| text.contains(markup);
                    assert!(!has("<script") && !has("<img") && !has("![i](http"), "{text}");
                    assert!(!has("[click](javascript") && !text.contains("\n# f"), "{text}");
                    assert!(!has("<http://x.y>"), "{text}");
                }
                // Links are made of messages alone, not of evidence (SARIF 2.1.0, 3.11.6).
                ReportFormat::Sarif => {
                    let messages = text.lines().filter(|line| line.trim().starts_with("\"text\""));
                    let link =
                        messages.into_iter().find(|line| line.contains("[click](javascript"));
                    assert_eq!(link, None, "{text}");
                }
                // JSON is data; of a terminal's and a runner's lines all is said above.
                ReportFormat::Json | ReportFormat::Human | ReportFormat::Github => {}
            }
        }
    }
}
