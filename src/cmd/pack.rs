//! `gate4k pack`: the smallest entry that works, from a source.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Context;

use super::early_end::EarlyEnd;
use super::entry_file;
use super::reports::cannot;
use super::tell;
use super::watch::Watched;
use super::worker_lines::WorkerLines;
use crate::batch::pool::PoolWatch;
use crate::cli::PackArgs;
use crate::files::read;
use crate::judge::other_work::judged_when_quiet;
use crate::judge::settings::Settings;
use crate::judge::{CopyOf, Judge};
use crate::model::entry_report::{EntryReport, RunSummary};
use crate::model::evidence::EndHow;
use crate::model::exit::Exit;
use crate::model::rule::RuleId;
use crate::model::text::{shell_word, shown};
use crate::model::units::Bytes;
use crate::model::verdict::{Status, Verdict};
use crate::pack::candidate::{self, Candidate, Recipe};
use crate::pack::language::Language;
use crate::policy::allowlist::Allowlist;
use crate::view::layout::PageLayout;
use crate::view::{human, text};

/// The most bytes of a source: what packs to 4096 bytes is far shorter, and the packers take seconds for each MiB.
const SOURCE: Bytes = Bytes(1 << 20);

/// The number of candidates that are sent through the gate before it is the source that must be at fault.
const TRIALS: usize = 4;

/// Packs once, or with `--watch` again after each change of the source.
pub(crate) fn run(args: &PackArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    if !args.watch {
        return once(args, out);
    }
    let watched = Watched::new(std::slice::from_ref(&args.source), &[&args.output])
        .map_err(EarlyEnd::usage)?;
    watched.again(out, |out| once(args, out))
}

/// Packs, proves, writes. Where nothing works, nothing is written.
fn once(args: &PackArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    entry_file::may_write(&args.output, &args.source, args.force).map_err(EarlyEnd::usage)?;
    let source = read::bytes(&args.source, SOURCE).map_err(|error| {
        let words = format!(
            "cannot read the source {}: {error}; name the file with the engine's source, or an executable",
            shown(&args.source)
        );
        EarlyEnd::new(Exit::Nothing, words)
    })?;
    if source.trim_ascii().is_empty() {
        return Err(EarlyEnd::usage(format!("the source {} is empty", shown(&args.source))).into());
    }
    let Some(language) = Language::of(&args.source, &source) else {
        let words = format!(
            "the language of {} is unknown: its name ends in none of .c .cc .cpp .rs .py .pl, its first line tells no \
             language, and it is no executable (ELF) file; give it the ending of its language",
            shown(&args.source)
        );
        return Err(EarlyEnd::usage(words).into());
    };
    let recipe = Recipe::new(language, args.with.as_deref(), args.flags.as_deref());
    may_build(&recipe.program).map_err(EarlyEnd::usage)?;
    let judge =
        Judge::open(Settings { quick: args.quick, strict: args.strict, ..Settings::default() })?;
    let all = candidate::all(&source, &recipe);
    let fits = |candidate: &&Candidate| Bytes::of(&candidate.bytes) <= Bytes::LIMIT_4K;
    if let Some(smallest) = all.first().filter(|smallest| !fits(smallest)) {
        let size = Bytes::of(&smallest.bytes);
        let over = size.saturating_sub(Bytes::LIMIT_4K);
        return Err(EarlyEnd::new(Exit::Rejected, format!(
            "the smallest that it packs to is {size}, {over} over the limit; nothing was written"
        )).into());
    }
    let mut failed: Option<EntryReport> = None;
    for candidate in all.iter().filter(fits).take(TRIALS) {
        let report = prove(&judge, candidate, args)?;
        if report.verdict == Verdict::Accepted {
            // The file there may have changed while the candidate was judged.
            entry_file::may_write(&args.output, &args.source, args.force)
                .map_err(EarlyEnd::usage)?;
            entry_file::write(&args.output, &candidate.bytes)
                .with_context(|| cannot(&args.output))?;
            tell_of(candidate, &args.output, args.quick, out)?;
            return Ok(Exit::Success);
        }
        // A fault that two packings meet alike is the source's, and a third would only take time.
        let is_final = !could_be_the_packing(&report)
            || failed.as_ref().is_some_and(|first| alike(first, &report));
        failed.get_or_insert(report);
        if is_final {
            break;
        }
    }
    let Some(failed) = failed else { return Ok(Exit::Nothing) };
    let layout = PageLayout::of_width(text::width());
    let above = human::entry(&failed, layout);
    out.write_all(above.as_bytes())?;
    let whose = if could_be_the_packing(&failed) {
        "none of the smallest packings is accepted, so it is most likely the source; above is what the first of them meets"
    } else {
        "the engine itself is not accepted, however it is packed; above is why"
    };
    tell(&format!("{whose}; nothing was written"));
    tell(&format!("by hand: {}", by_hand(&recipe, &args.source)));
    Ok(failed.verdict.into())
}

/// The commands that make the engine of a source and talk to it, without a packing.
fn by_hand(recipe: &Recipe, source: &Path) -> String {
    let source = shell_word(source).unwrap_or_else(|| "SOURCE".to_owned());
    let talk = "printf 'uci\\nisready\\nquit\\n'";
    let command = recipe.command();
    match recipe.language {
        Language::C | Language::Cpp | Language::Rust => {
            format!("`{command} -o engine {source} && {talk} | ./engine`")
        }
        Language::Python | Language::Perl => format!("`{talk} | {command} {source}`"),
        Language::Executable if source.contains('/') => format!("`{talk} | {source}`"),
        Language::Executable => format!("`{talk} | ./{source}`"),
    }
}

/// Checks that the program that builds or reads the source is one of rule 7.5 and installed here.
fn may_build(program: &str) -> Result<(), String> {
    if program.is_empty() {
        return Ok(());
    }
    if Allowlist::built_in().command(program).is_none() {
        return Err(format!(
            "an entry may not start {program:?}: rule 7.5 does not list it; `gate4k explain commands` names those it lists"
        ));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain(["/usr/bin".into(), "/bin".into()]);
    if !folders.any(|folder| folder.join(program).is_file()) {
        return Err(format!(
            "{program} is not installed here, so no packing can be tried; install it (`gate4k doctor` names the package), or \
             choose another program by --with"
        ));
    }
    Ok(())
}

/// True if another stub or packer may keep every rule that was not kept. Of an engine that ended before it said a word
/// nothing else can be said; one that spoke, or was waited for in vain, was unpacked.
fn could_be_the_packing(report: &EntryReport) -> bool {
    let broken = |status| matches!(status, Status::Fail | Status::Undecided);
    let gates = report.findings.iter().filter(|found| found.rule.is_gate());
    let mut rules = gates.filter(|found| broken(found.status)).map(|found| found.rule);
    let ended = |run: &RunSummary| matches!(run.ending.how, EndHow::ByItself | EndHow::NotStarted);
    let fell = report.startup.uciok.is_none() && report.runs.first().is_none_or(ended);
    fell || rules.all(is_on_the_packing)
}

/// True if another stub or packer may keep the rule where one breaks it; every other failure is the source's own.
fn is_on_the_packing(rule: RuleId) -> bool {
    match rule {
        RuleId::Format
        | RuleId::FileName
        | RuleId::Startup
        | RuleId::LeftoverFiles
        | RuleId::LeftoverProcesses
        | RuleId::Commands
        | RuleId::Libraries
        | RuleId::UciQuit => true,
        RuleId::SingleFile
        | RuleId::Size
        | RuleId::Payload
        | RuleId::ChessLibrary
        | RuleId::UciHandshake
        | RuleId::UciIsready
        | RuleId::UciNewgame
        | RuleId::UciPosition
        | RuleId::UciGo
        | RuleId::LegalMoves
        | RuleId::LongGame
        | RuleId::Match
        | RuleId::OwnBook
        | RuleId::Ponder
        | RuleId::Clock => false,
    }
}

/// True if two packings break the same rules in the same words.
fn alike(one: &EntryReport, other: &EntryReport) -> bool {
    let broken = |report: &EntryReport| -> Vec<(RuleId, String)> {
        let failed = report.findings.iter().filter(|found| found.status == Status::Fail);
        failed.map(|found| (found.rule, found.summary.clone())).collect()
    };
    broken(one) == broken(other)
}

/// Judges a candidate. The report names the source, since the candidate's own path is of no use to anyone.
fn prove(judge: &Judge, candidate: &Candidate, args: &PackArgs) -> anyhow::Result<EntryReport> {
    let folder = tempfile::tempdir().context("no room for a candidate")?;
    let path = folder.path().join("engine");
    fs::write(&path, &candidate.bytes)?;
    fs::set_permissions(&path, Permissions::from_mode(0o755))?;
    let lines = WorkerLines::of_one(args.quiet);
    let name = format!("{} bytes ({})", candidate.bytes.len(), candidate.how);
    let jobs = judge.settings().jobs;
    let step = |step: &str| lines.step(0, &args.source, &format!("{name}: {step}"));
    let judged = || judge.assess_copy(&path, CopyOf::Source(&args.source), jobs, &step);
    Ok(judged_when_quiet(judged, || step("waiting for the host to be quiet"))?)
}

fn tell_of(
    candidate: &Candidate,
    path: &Path,
    quick: bool,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let size = candidate.bytes.len();
    writeln!(
        out,
        "{}: {size} of 4096 bytes (stub {}, payload {}; {}); {}",
        shown(path),
        candidate.stub,
        size - candidate.stub,
        candidate.how,
        if quick { "accepted by `gate4k check --quick`" } else { "accepted by `gate4k check`" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::StartTimes;
    use crate::model::entry_report::tests::report;
    use crate::model::verdict::Finding;

    #[test]
    fn an_engine_that_was_waited_for_in_vain_is_packed_once() {
        let mut silent = report();
        silent.startup = StartTimes::default();
        silent.findings =
            vec![Finding::fail(RuleId::Startup, ""), Finding::fail(RuleId::UciHandshake, "")];
        silent.runs[0].ending.how = EndHow::Killed;
        assert!(!could_be_the_packing(&silent));
        silent.runs[0].ending.how = EndHow::ByItself;
        assert!(could_be_the_packing(&silent));
        silent.startup.uciok = Some(std::time::Duration::from_secs(1));
        assert!(!could_be_the_packing(&silent));
    }
}
