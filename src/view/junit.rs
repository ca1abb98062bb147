//! Reports as test results: a suite an entry, a case a rule.
//!
//! A broken rule is a failure. A rule that could not be decided is an error, as it is with tests: nothing is
//! wrong with the entry for all we know, and yet nobody may take it as passed.

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::facts::circumstances;
use super::text::{clean, clean_lines};
use super::weight::{FindingWeight, lines};
use crate::model::entry_report::{EntryReport, ReportInput};
use crate::model::text::shown;
use crate::model::verdict::Finding;

/// The document.
pub fn check(input: ReportInput<'_>) -> Result<String, quick_junit::SerializeError> {
    let ReportInput { entries, config_findings } = input;
    let mut document = Report::new("gate4k check");
    for report in entries {
        document.add_test_suite(suite(report));
    }
    for config_finding in config_findings {
        let name = format!("{}:{}", shown(&config_finding.file), config_finding.at);
        let mut suite = TestSuite::new(name.as_str());
        suite.add_test_case(case(&name, &config_finding.finding));
        document.add_test_suite(suite);
    }
    document.to_string()
}

/// The document of a run that judged nothing: one case that could not be tried.
pub(super) fn failure(why: &str) -> Result<String, quick_junit::SerializeError> {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    let why = clean_lines(why);
    status.set_message(why.as_str());
    status.set_type("nothing was judged");
    status.set_description(why);
    let mut case = TestCase::new("settings", status);
    case.set_classname("gate4k");
    let mut suite = TestSuite::new("gate4k");
    suite.add_test_case(case);
    let mut document = Report::new("gate4k check");
    document.add_test_suite(suite);
    document.to_string()
}

fn suite(report: &EntryReport) -> TestSuite {
    let name = shown(&report.path);
    let mut suite = TestSuite::new(name.as_str());
    suite.add_property(Property::new("verdict", report.verdict.word()));
    if let Some(sha256) = &report.sha256 {
        suite.add_property(Property::new("sha256", sha256.as_str()));
    }
    if let Some(size) = &report.size {
        suite.add_property(Property::new("bytes", size.total.0.to_string()));
    }
    for (label, text) in circumstances(report) {
        suite.add_property(Property::new(label, text));
    }
    for found in &report.findings {
        suite.add_test_case(case(&name, found));
    }
    if !report.transcript.is_empty() {
        let lines: Vec<String> = report.transcript.iter().map(|line| clean(line)).collect();
        suite.set_system_out(lines.join("\n"));
    }
    suite
}

fn case(name: &str, found: &Finding) -> TestCase {
    let mut case = TestCase::new(found.rule.name(), status(found));
    case.set_classname(name);
    let weight = FindingWeight::of(found);
    if weight == FindingWeight::Kept || weight == FindingWeight::Remark {
        case.set_system_out(told(found));
    }
    case
}

fn status(found: &Finding) -> TestCaseStatus {
    let (mut status, kind) = match FindingWeight::of(found) {
        FindingWeight::Kept | FindingWeight::Remark => return TestCaseStatus::success(),
        FindingWeight::NotTried => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(clean(&found.summary));
            return status;
        }
        FindingWeight::Breaks => (TestCaseStatus::non_success(NonSuccessKind::Failure), "rule"),
        FindingWeight::Open => (TestCaseStatus::non_success(NonSuccessKind::Error), "undecided"),
    };
    status.set_message(clean(&found.summary));
    status.set_type(format!("{kind} {}", found.rule.rule().section));
    status.set_description(told(found));
    status
}

/// All that was found, a line each.
fn told(found: &Finding) -> String {
    let summary = format!("{}: {}", found.status.word(), clean(&found.summary));
    lines(found, summary, "→ ").join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::tests::{config_finding, report};
    use crate::model::rule::RuleId;

    #[test]
    fn what_is_written_can_be_read_again() {
        let text = check(ReportInput::of(&[report()])).unwrap();
        let read = Report::deserialize_from_str(&text).unwrap();
        assert_eq!((read.tests, read.failures, read.errors), (5, 1, 1));
        let suite = &read.test_suites[0];
        assert_eq!(suite.name.as_str(), "entries/tiny");
        assert_eq!(suite.skipped, 1);
        assert!(suite.test_cases[1].status.clone() != TestCaseStatus::success());
    }

    #[test]
    fn what_is_of_no_entry_is_a_suite_of_its_own() {
        let config_findings = [config_finding()];
        let text =
            check(ReportInput { entries: &[report()], config_findings: &config_findings }).unwrap();
        let read = Report::deserialize_from_str(&text).unwrap();
        assert_eq!(read.test_suites[1].name.as_str(), "gate4k.toml:3:9");
        let out = read.test_suites[1].test_cases[0].system_out.clone().unwrap();
        assert!(out.as_str().starts_with("advice: the waiver matches nothing"), "{out:?}");
    }

    #[test]
    fn a_run_that_judged_nothing_is_a_case_of_its_own() {
        let why = "this branch breaks gate4k.toml: ]]>\u{1b}[2J<";
        let read = Report::deserialize_from_str(&failure(why).unwrap()).unwrap();
        assert_eq!((read.tests, read.failures, read.errors), (1, 0, 1));
        let case = &read.test_suites[0].test_cases[0];
        let TestCaseStatus::NonSuccess { message, .. } = &case.status else { panic!("{case:?}") };
        let told = message.clone().unwrap();
        assert_eq!(told.as_str(), "this branch breaks gate4k.toml: ]]>\\u{1b}[2J<");
    }

    #[test]
    fn a_hostile_name_is_only_a_name() {
        let name = "]]>\"/><testcase name='x'>\u{1b}[2J\0&amp;";
        let mut hostile = report();
        hostile.path = name.replace('\0', "").into();
        hostile.findings = vec![Finding::fail(RuleId::Size, name).detail(name).help(name)];
        hostile.transcript = vec![name.to_owned()];
        let text = check(ReportInput::of(&[hostile])).unwrap();
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
        let read = Report::deserialize_from_str(&text).unwrap();
        assert_eq!((read.tests, read.failures), (1, 1));
        assert_eq!(read.test_suites[0].name.as_str(), "]]>\"/><testcase name='x'>\\u{1b}[2J&amp;");
    }
}
