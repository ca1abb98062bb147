//! `--report FORMAT=PATH`: what to write where.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::files::outputs::Named;

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub(crate) enum ReportFormat {
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

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReportPath {
    /// `-`: standard output.
    Stdout,
    /// A file.
    File(PathBuf),
}

/// One report that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportTo {
    /// Its form.
    pub(crate) format: ReportFormat,
    /// Where it goes.
    pub(crate) path: ReportPath,
}

impl ReportTo {
    /// The file, if it is one, under the option's name.
    pub(crate) fn file(&self) -> Option<Named<'_>> {
        match &self.path {
            ReportPath::File(path) => Some(("--report", path)),
            ReportPath::Stdout => None,
        }
    }
}

/// Reads `FORMAT=PATH`.
pub(super) fn report_to(text: &str) -> Result<ReportTo, String> {
    let formats = || {
        ReportFormat::value_variants()
            .iter()
            .filter_map(ValueEnum::to_possible_value)
            .map(|value| value.get_name().to_owned())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let Some((format, path)) = text.split_once('=') else {
        return Err("FORMAT=PATH is needed, such as html=report.html or json=-".to_owned());
    };
    let format = ReportFormat::from_str(format, false)
        .map_err(|_| format!("there is no format {format:?}, only {}", formats()))?;
    let path = match path {
        "" => return Err("the path is empty; - is standard output".to_owned()),
        "-" => ReportPath::Stdout,
        path => ReportPath::File(path.into()),
    };
    Ok(ReportTo { format, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_and_a_path() {
        let to = |format, path| ReportTo { format, path };
        assert_eq!(
            report_to("html=a=b.html"),
            Ok(to(ReportFormat::Html, ReportPath::File("a=b.html".into())))
        );
        assert_eq!(report_to("github=-"), Ok(to(ReportFormat::Github, ReportPath::Stdout)));
        for (wrong, part) in
            [("html", "FORMAT=PATH"), ("xml=a", "only human, json, junit"), ("json=", "empty")]
        {
            let error = report_to(wrong).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
