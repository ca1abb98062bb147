//! `gate4k size`: the bytes alone, at once.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use super::choice::behind_a_link;
use super::early_end::EarlyEnd;
use super::watch::Watched;
use super::{NO_ENTRY, layout_of, settings, size_apply, tell};
use crate::batch::discover;
use crate::cli::{OutputFormat, SizeArgs};
use crate::judge::Judge;
use crate::model::exit::Exit;
use crate::model::size_figures::EntrySize;
use crate::view::{json, size};

/// The number of sizes of an entry that are shown.
const REMEMBERED: usize = 8;

/// Measures and prints; an entry over the limit makes the outcome [`Exit::Rejected`].
pub(crate) fn run(args: &SizeArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    if args.entry.entries.is_empty() {
        return Err(EarlyEnd::usage(NO_ENTRY).into());
    }
    let judge = Judge::open(settings(&args.entry))?;
    if let (Some(number), Some(output)) = (args.apply, &args.output) {
        return size_apply::run(args, number, output, out);
    }
    if !args.watch {
        return Ok(once(args, &judge, out)?.1);
    }
    let watched = Watched::new(&args.entry.entries, &[]).map_err(EarlyEnd::usage)?;
    let mut history = History::default();
    loop {
        let (measured, exit) = once(args, &judge, out)?;
        for entry in &measured {
            if let Some(line) =
                history.line(entry).filter(|_| args.entry.format != OutputFormat::Json)
            {
                writeln!(out, "  sizes so far: {line}\n")?;
            }
        }
        out.flush()?;
        if !watched.wait() {
            return Ok(exit);
        }
    }
}

fn once(
    args: &SizeArgs,
    judge: &Judge,
    out: &mut impl Write,
) -> anyhow::Result<(Vec<EntrySize>, Exit)> {
    let layout = layout_of(args.entry.format);
    let mut measured = Vec::new();
    let mut outcomes = Vec::new();
    for path in args.entry.entries.iter().flat_map(|path| discover::entries(&behind_a_link(path))) {
        match judge.measure(&path) {
            Ok(entry) => {
                outcomes.push(entry.verdict.into());
                if args.entry.format != OutputFormat::Json {
                    out.write_all(size::human(&entry, layout).as_bytes())?;
                    if args.hints {
                        hints(judge, &path, out)?;
                    }
                }
                measured.push(entry);
            }
            Err(error) => {
                tell(&error.to_string());
                outcomes.push(error.exit());
                if error.ends_all() {
                    break;
                }
            }
        }
    }
    if args.entry.format == OutputFormat::Json {
        out.write_all(json::size(&measured)?.as_bytes())?;
    }
    Ok((measured, Exit::worst(outcomes)))
}

fn hints(judge: &Judge, path: &std::path::Path, out: &mut impl Write) -> anyhow::Result<()> {
    let found = judge.hints(path)?;
    for (number, hint) in (1..).zip(&found) {
        let unit = if hint.saves == 1 { "byte " } else { "bytes" };
        writeln!(out, "  {number:>2}. {:>4} {unit} less: {}", hint.saves, hint.what)?;
    }
    if found.is_empty() {
        writeln!(
            out,
            "  no other packing, form of the stub or end of the file that was tried saves a byte; a source is packed by `gate4k pack`"
        )?;
    }
    writeln!(out)?;
    Ok(())
}

/// The last sizes of each entry.
#[derive(Default)]
struct History(BTreeMap<PathBuf, Vec<u64>>);

impl History {
    /// Takes note of a size; the last ones with what each saved, once there are two.
    fn line(&mut self, entry: &EntrySize) -> Option<String> {
        let sizes = self.0.entry(entry.path.clone()).or_default();
        let size = entry.size.total.0;
        if sizes.last() != Some(&size) {
            sizes.push(size);
        }
        if sizes.len() > REMEMBERED {
            sizes.remove(0);
        }
        let first = sizes.first()?.to_string();
        let later = sizes.windows(2).map(|pair| {
            let change = i128::from(pair[1]) - i128::from(pair[0]);
            format!("{} ({change:+})", pair[1])
        });
        let all: Vec<String> = std::iter::once(first).chain(later).collect();
        (all.len() > 1).then(|| all.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::size_figures::SizeFigures;
    use crate::model::units::Bytes;
    use crate::model::verdict::Verdict;

    #[test]
    fn the_last_sizes_are_told_with_what_each_saved() {
        let mut history = History::default();
        let mut line = |path: &str, size: u64| {
            history.line(&EntrySize {
                path: path.into(),
                sha256: String::new(),
                format: String::new(),
                step: None,
                problem: None,
                verdict: Verdict::Accepted,
                size: SizeFigures {
                    file: Bytes(size),
                    stub: None,
                    payload: Bytes(0),
                    payload_bare: Bytes(0),
                    total: Bytes(size),
                    limit: Bytes::LIMIT_4K,
                },
                counted: Vec::new(),
            })
        };
        assert_eq!(line("a", 4100), None);
        assert_eq!(line("b", 1), None);
        assert_eq!(line("a", 4100), None);
        assert_eq!(line("a", 4096).unwrap(), "4100, 4096 (-4)");
        for size in 0..20 {
            line("a", 4000 + size);
        }
        let last = line("a", 4000).unwrap();
        assert_eq!(last.split(", ").count(), REMEMBERED);
        assert!(last.ends_with("4019 (+1), 4000 (-19)"), "{last}");
    }
}
