//! `gate4k pack`: the smallest entry that works, from a source.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Context;

use super::progress::ProgressLine;
use super::reports::cannot;
use super::tell;
use super::watch::PART;
use crate::cli::PackArgs;
use crate::judge::Judge;
use crate::judge::settings::Settings;
use crate::model::entry_report::EntryReport;
use crate::model::exit::Exit;
use crate::model::text::shown;
use crate::model::units::Bytes;
use crate::model::verdict::Verdict;
use crate::pack::candidate::{self, Candidate, Language, Recipe};
use crate::view::human::Look;
use crate::view::{human, text};

/// How many candidates are sent through the gate before it is the source that must be at fault.
const TRIALS: usize = 4;

/// Packs, proves, writes. Where nothing works, nothing is written.
pub(crate) fn run(args: &PackArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let source = match fs::read(&args.source) {
        Ok(source) => source,
        Err(error) => {
            tell(&format!("cannot read the source {}: {error}", shown(&args.source)));
            return Ok(Exit::Nothing);
        }
    };
    let Some(language) = Language::of(&args.source, &source) else {
        tell(&format!(
            "{} ends in none of .c .cc .cpp .rs .py .pl and is no ELF file, so how to start it is open",
            shown(&args.source)
        ));
        return Ok(Exit::Usage);
    };
    let judge = match Judge::open(Settings {
        quick: args.quick,
        strict: args.strict,
        ..Settings::default()
    }) {
        Ok(judge) => judge,
        Err(error) => {
            tell(&error.to_string());
            return Ok(error.exit());
        }
    };
    let recipe = Recipe::new(language, args.with.as_deref(), args.flags.as_deref());
    let all = candidate::all(&source, &recipe);
    let fits = |candidate: &&Candidate| Bytes::of(&candidate.bytes) <= Bytes::LIMIT_4K;
    if let Some(smallest) = all.first().filter(|smallest| !fits(smallest)) {
        let size = Bytes::of(&smallest.bytes);
        let over = size.saturating_sub(Bytes::LIMIT_4K);
        tell(&format!(
            "the smallest that it packs to is {size}, {over} over the limit; nothing was written"
        ));
        return Ok(Exit::Rejected);
    }
    let mut failed: Option<EntryReport> = None;
    for candidate in all.iter().filter(fits).take(TRIALS) {
        let report = prove(&judge, candidate, args.quiet)?;
        if report.verdict == Verdict::Accepted {
            write(&args.output, &candidate.bytes).with_context(|| cannot(&args.output))?;
            tell_of(candidate, &args.output, args.quick, out)?;
            return Ok(Exit::Success);
        }
        failed.get_or_insert(report);
    }
    let Some(failed) = failed else { return Ok(Exit::Nothing) };
    let look = Look { width: text::width(), verbose: false };
    out.write_all(human::entry(&failed, look).as_bytes())?;
    tell(
        "none of the smallest packings is accepted; above is what the first of them meets; nothing was written",
    );
    Ok(failed.verdict.into())
}

/// Judges a candidate.
fn prove(judge: &Judge, candidate: &Candidate, quiet: bool) -> anyhow::Result<EntryReport> {
    let folder = tempfile::tempdir().context("no room for a candidate")?;
    let path = folder.path().join("engine");
    fs::write(&path, &candidate.bytes)?;
    fs::set_permissions(&path, Permissions::from_mode(0o755))?;
    let line = ProgressLine::new(quiet);
    let name = format!("{} bytes ({})", candidate.bytes.len(), candidate.how);
    let jobs = judge.settings().jobs;
    Ok(judge.assess(&path, jobs, &|step| line.step(&name, step))?)
}

/// Puts the entry into place as a whole.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // What the umask leaves of it.
    let mut part = tempfile::Builder::new()
        .prefix(PART)
        .permissions(Permissions::from_mode(0o777))
        .tempfile_in(folder)?;
    part.write_all(bytes)?;
    part.persist(path)?;
    Ok(())
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
