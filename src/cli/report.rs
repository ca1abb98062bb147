//! `--report FORMAT=PATH`: what to write where.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::files::outputs::NamedPath;
use crate::view::report_format::ReportFormat;

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
    pub(crate) fn file(&self) -> Option<NamedPath<'_>> {
        match &self.path {
            ReportPath::File(path) => Some(("--report", path)),
            ReportPath::Stdout => None,
        }
    }
}

fn names() -> Vec<String> {
    ReportFormat::value_variants().iter().map(|format| format.name()).collect()
}

/// The help of `--report`.
pub(super) fn help() -> String {
    let names = names();
    let (last, others) =
        names.split_last().map_or(("", &names[..]), |(last, others)| (&**last, others));
    format!(
        "Also write the result as {} or {last}; may be repeated. A PATH of - is standard output, which then holds this \
         in place of what --format says",
        others.join(", ")
    )
}

/// Reads `FORMAT=PATH`.
pub(super) fn report_to(text: &str) -> Result<ReportTo, String> {
    let Some((format, path)) = text.split_once('=') else {
        return Err("FORMAT=PATH is needed, such as html=report.html or json=-".to_owned());
    };
    let format = ReportFormat::from_str(format, false)
        .map_err(|_| format!("there is no format {format:?}, only {}", names().join(", ")))?;
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
