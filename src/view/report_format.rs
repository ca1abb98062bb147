//! The forms of a check's report: the one list of them, for the command line, for `cmd/reports.rs` and for the tests that
//! hold every form to the same (snapshots, hostile names, exit codes).

use clap::ValueEnum;

use super::layout::PageLayout;
use super::place::BasePaths;
use super::{github, html, human, json, junit, markdown, sarif};
use crate::model::entry_report::ReportInput;

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum ReportFormat {
    /// For people, on a terminal
    Human,
    /// For programs: one versioned document
    Json,
    /// Test results
    Junit,
    /// Alerts of code scanning
    Sarif,
    /// Annotations of GitHub Actions, and its summary of the step
    Github,
    /// For comments and summaries
    Markdown,
    /// One page that needs nothing else
    Html,
}

/// A report that a library could not write.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The report could not be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The report could not be written as the XML of JUnit.
    #[error(transparent)]
    Junit(#[from] quick_junit::SerializeError),
}

impl ReportFormat {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The whole report; for people, with the colours of a terminal.
    pub fn text(
        self,
        input: ReportInput<'_>,
        layout: PageLayout,
        places: &BasePaths,
    ) -> Result<String, ReportError> {
        Ok(match self {
            ReportFormat::Human => {
                let entries = input.entries.iter().map(|report| human::entry(report, layout));
                entries.chain([human::config_findings(input.config_findings, layout)]).collect()
            }
            ReportFormat::Json => json::check(input)?,
            ReportFormat::Junit => junit::check(input)?,
            ReportFormat::Sarif => sarif::check(input, places)?,
            ReportFormat::Github => github::annotations(input, places),
            ReportFormat::Markdown => markdown::check(input),
            ReportFormat::Html => html::check(input),
        })
    }

    /// The report of a run that judged nothing, where the form has a place for what is no finding; the exit code and
    /// standard error tell it in any case.
    pub(crate) fn failure(self, why: &str) -> Result<Option<String>, ReportError> {
        Ok(match self {
            ReportFormat::Github => Some(github::failure(why)),
            ReportFormat::Markdown => Some(markdown::failure(why)),
            ReportFormat::Sarif => Some(sarif::failure(why)?),
            ReportFormat::Junit => Some(junit::failure(why)?),
            ReportFormat::Human | ReportFormat::Json | ReportFormat::Html => None,
        })
    }
}
