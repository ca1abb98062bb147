//! The destinations of the results of `gate4k check`: standard output, and each `--report`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::layout_of;
use super::surroundings::Surroundings;
use crate::cli::{CheckArgs, OutputFormat, ReportPath, ReportTo};
use crate::files::write;
use crate::model::entry_report::{EntryReport, ReportInput};
use crate::model::text::shown;
use crate::view::layout::PageLayout;
use crate::view::report_format::ReportFormat;
use crate::view::table::TableRow;
use crate::view::{github, human, markdown, table};

/// All that was asked for.
pub(super) struct Reports {
    stdout: Vec<ReportFormat>,
    files: Vec<(ReportFormat, Sink)>,
    layout: PageLayout,
    extent: Extent,
    surroundings: Surroundings,
}

/// The extent of what people are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// A page an entry, and a table of several.
    Whole,
    Summary,
}

impl Extent {
    pub(super) fn of(summary: bool) -> Extent {
        if summary { Extent::Summary } else { Extent::Whole }
    }
}

/// The wishes of a command line.
pub(super) struct WantedReports<'a> {
    /// `--report`, each of them.
    pub(super) report: &'a [ReportTo],
    pub(super) format: OutputFormat,
    /// The number of `-v`.
    pub(super) verbose: u8,
    /// `--summary` or not.
    pub(super) extent: Extent,
}

impl<'a> From<&'a CheckArgs> for WantedReports<'a> {
    fn from(args: &'a CheckArgs) -> WantedReports<'a> {
        let CheckArgs { report, entry, verbose, summary, .. } = args;
        WantedReports {
            report,
            format: entry.format,
            verbose: *verbose,
            extent: Extent::of(*summary),
        }
    }
}

/// A file that a report goes to.
pub(super) enum Sink {
    /// Written beside it and put into place when it is whole, so that nobody reads half a report and an
    /// old one stays until there is a new one.
    Replaced(PathBuf),
    /// Written to as it is: a pipe, a device, a file in a folder that may not be changed.
    Direct(PathBuf),
}

impl Reports {
    /// Makes sure that every file can be written.
    pub(super) fn open<'a>(
        wanted: impl Into<WantedReports<'a>>,
        surroundings: Surroundings,
    ) -> anyhow::Result<Reports> {
        let WantedReports { report, format, verbose, extent } = wanted.into();
        let mut stdout = Vec::new();
        let mut files = Vec::new();
        let mut seen: Vec<&Path> = Vec::new();
        for report in report {
            match &report.path {
                ReportPath::Stdout => stdout.push(report.format),
                ReportPath::File(path) if seen.contains(&path.as_path()) => {
                    bail!(
                        "two reports go to {}; give each --report a file of its own",
                        shown(path)
                    );
                }
                ReportPath::File(path) => {
                    seen.push(path);
                    files.push((report.format, Sink::open(path).with_context(|| cannot(path))?));
                }
            }
        }
        if stdout.is_empty() {
            stdout.push(match format {
                OutputFormat::Human | OutputFormat::Plain => ReportFormat::Human,
                OutputFormat::Json => ReportFormat::Json,
            });
        }
        let layout = PageLayout { verbose: verbose > 0, ..layout_of(format) };
        Ok(Reports { stdout, files, layout, extent, surroundings })
    }

    /// Writes the page of an entry that was judged. People read it at once, not at the end: many entries take minutes.
    pub(super) fn entry(&self, report: &EntryReport, out: &mut impl Write) -> io::Result<()> {
        if !self.stdout.contains(&ReportFormat::Human) || self.extent == Extent::Summary {
            return Ok(());
        }
        self.for_people(&human::entry(report, self.layout), out)?;
        out.flush()
    }

    /// All entries were judged. A report that fails does not keep the others from being written.
    pub(super) fn finish(
        self,
        told: ReportInput<'_>,
        rows: &[TableRow],
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        if self.stdout.contains(&ReportFormat::Human) {
            let mut end = human::config_findings(told.config_findings, self.layout);
            end.push_str(&table_of(rows, self.layout, self.extent));
            if !end.is_empty() {
                self.for_people(&end, out)?;
            }
        }
        for format in &self.stdout {
            if *format != ReportFormat::Human {
                out.write_all(self.text(*format, told, rows)?.as_bytes())?;
            }
        }
        let mut failed = Ok(());
        if let Some(path) = self.summary() {
            failed = summarise(path, told).with_context(|| cannot(path));
        }
        let texts: Vec<anyhow::Result<String>> =
            self.files.iter().map(|(format, _)| self.text(*format, told, rows)).collect();
        for ((_, sink), text) in self.files.into_iter().zip(texts) {
            failed = failed.and(text.and_then(|text| sink.write(&text)));
        }
        failed
    }

    /// Nothing could be judged: the reports that people do not read on the terminal say so as well.
    pub(super) fn failed(self, why: &str, out: &mut impl Write) -> anyhow::Result<()> {
        if let Some(path) = self.summary() {
            let mut file = OpenOptions::new().append(true).create(true).open(path)?;
            file.write_all(markdown::failure(why).as_bytes())?;
        }
        for format in &self.stdout {
            out.write_all(format.failure(why)?.unwrap_or_default().as_bytes())?;
        }
        for (format, sink) in self.files {
            if let Some(text) = format.failure(why)? {
                sink.write(&text)?;
            }
        }
        Ok(())
    }

    /// The file for the summary of the step, where there is one and a report for GitHub is wanted.
    fn summary(&self) -> Option<&Path> {
        let mut all = self.stdout.iter().chain(self.files.iter().map(|(format, _)| format));
        all.find(|format| **format == ReportFormat::Github)?;
        self.surroundings.summary.as_deref()
    }

    fn for_people(&self, page: &str, out: &mut impl Write) -> io::Result<()> {
        match &self.surroundings.token {
            Some(token) => out.write_all(github::quoted(page, token).as_bytes()),
            None => out.write_all(page.as_bytes()),
        }
    }

    fn text(
        &self,
        format: ReportFormat,
        told: ReportInput<'_>,
        rows: &[TableRow],
    ) -> anyhow::Result<String> {
        let layout = PageLayout { width: 100, ..self.layout };
        let mut page = format.text(told, layout, &self.surroundings.places)?;
        if format == ReportFormat::Human {
            page.push_str(&table_of(rows, layout, Extent::Whole));
            page = anstream::adapter::strip_str(&page).to_string();
        }
        Ok(page)
    }
}

/// The table at the end of the page for people, where there are several entries.
fn table_of(rows: &[TableRow], layout: PageLayout, extent: Extent) -> String {
    if rows.len() > 1 || extent == Extent::Summary {
        table::table(rows, layout)
    } else {
        String::new()
    }
}

pub(super) fn cannot(path: &Path) -> String {
    format!("cannot write {}", shown(path))
}

/// Adds to the summary of the step what there is room for; other commands may have written before.
fn summarise(path: &Path, told: ReportInput<'_>) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    let used = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let room = markdown::SUMMARY_LIMIT.saturating_sub(used);
    file.write_all(markdown::within(told, room).as_bytes())
}

/// The mode of a report, as of every file that a program makes.
const MODE: u32 = 0o666;

impl Sink {
    pub(super) fn open(path: &Path) -> io::Result<Sink> {
        // A link stays a link, and what it leads to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let special = fs::metadata(&path).is_ok_and(|found| !found.is_file());
        if !special {
            // Only tried: what is made now would stay if the check is interrupted.
            match write::part(&path, MODE) {
                Ok(_) => return Ok(Sink::Replaced(path)),
                Err(error) if !path.exists() => return Err(error),
                Err(_) => {}
            }
        }
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // A pipe is not opened before there is something to read: that would wait for its reader.
        if !special {
            OpenOptions::new().append(true).open(&path)?;
        }
        Ok(Sink::Direct(path))
    }

    pub(super) fn write(self, text: &str) -> anyhow::Result<()> {
        match self {
            Sink::Replaced(path) => {
                write::whole(&path, MODE, text.as_bytes()).with_context(|| cannot(&path))
            }
            Sink::Direct(path) => OpenOptions::new()
                .write(true)
                .truncate(true)
                .open(&path)
                .and_then(|mut file| file.write_all(text.as_bytes()))
                .with_context(|| cannot(&path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, CliCommand};
    use crate::model::entry_report::tests::{config_finding, report};
    use clap::Parser;

    fn written(words: &[&str], surroundings: Surroundings) -> anyhow::Result<String> {
        let cli = Cli::try_parse_from(["gate4k", "check", "x"].iter().chain(words)).unwrap();
        let CliCommand::Check(args) = cli.command else { panic!("not check") };
        let mut out = Vec::new();
        let outputs = Reports::open(&*args, surroundings)?;
        outputs.entry(&report(), &mut out)?;
        let config_findings = [config_finding()];
        let told = ReportInput { entries: &[report()], config_findings: &config_findings };
        outputs.finish(told, &[TableRow::judged(&report())], &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn standard_output_holds_what_is_asked_for() {
        let plain = written(&[], Surroundings::default()).unwrap();
        assert!(plain.contains("rejected"));
        let json = written(&["--report=json=-"], Surroundings::default()).unwrap();
        assert!(json.starts_with("{\n"), "{json}");
        let both =
            written(&["--report=github=-", "--report=human=-"], Surroundings::default()).unwrap();
        assert!(both.starts_with(&plain) && both.contains("\n::error file="), "{both}");
    }

    #[test]
    fn a_runner_takes_the_page_as_text_and_the_annotations_as_commands() {
        let runner = Surroundings { token: Some("k7".into()), ..Surroundings::default() };
        let both = written(&["--report=github=-", "--report=human=-"], runner).unwrap();
        let (quoted, commands) = both.split_once("\n::k7::\n").unwrap();
        assert!(quoted.starts_with("::stop-commands::k7\n"), "{quoted}");
        // Findings of no entry come when all are judged, as text, too.
        let (config_findings, commands) = commands.split_once("\n::k7::\n").unwrap();
        assert!(
            config_findings.starts_with("::stop-commands::k7\ngate4k.toml:3:9\n"),
            "{config_findings}"
        );
        assert!(commands.starts_with("::error file="), "{commands}");
    }

    #[test]
    fn files_are_replaced_as_a_whole_and_links_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.html");
        let link = folder.path().join("link");
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let word = format!("--report=html={}", link.display());
        written(&[&word], Surroundings::default()).unwrap();
        assert!(fs::read_to_string(&file).unwrap().starts_with("<!doctype html>"));
        assert!(link.is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_cannot_be_written_is_told_before_anything_is_judged() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("no/such/folder/x");
        for path in [folder.path(), inside.as_path()] {
            let word = format!("--report=html={}", path.display());
            let cli = Cli::try_parse_from(["gate4k", "check", "x", &word]).unwrap();
            let CliCommand::Check(args) = cli.command else { panic!("not check") };
            let error = Reports::open(&*args, Surroundings::default()).err().unwrap();
            assert!(format!("{error:#}").starts_with("cannot write /"), "{error:#}");
        }
        let path = folder.path().join("x").display().to_string();
        let twice = ["html", "json"].map(|format| format!("--report={format}={path}"));
        let twice = twice.each_ref().map(String::as_str);
        let error = written(&twice, Surroundings::default()).unwrap_err();
        let told = format!("two reports go to {path}; give each --report a file of its own");
        assert_eq!(error.to_string(), told);
    }

    #[test]
    fn the_summary_of_a_step_is_added_to_within_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let summary = folder.path().join("summary.md");
        let here = || Surroundings { summary: Some(summary.clone()), ..Surroundings::default() };
        written(&["--report=json=-"], here()).unwrap();
        assert!(!summary.exists());
        fs::write(&summary, "before\n").unwrap();
        written(&["--report=github=/dev/null"], here()).unwrap();
        let text = fs::read_to_string(&summary).unwrap();
        assert!(text.starts_with("before\n## gate4k"), "{text}");
        fs::write(&summary, vec![b'x'; markdown::SUMMARY_LIMIT - 400]).unwrap();
        written(&["--report=github=/dev/null"], here()).unwrap();
        assert!(fs::metadata(&summary).unwrap().len() <= markdown::SUMMARY_LIMIT as u64);
    }
}
