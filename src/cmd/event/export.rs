//! `gate4k event export`: the event in other forms.

use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use anyhow::Context;

use super::live_pgn;
use super::views::told;
use crate::cli::ExportWhat;
use crate::event::broadcast::Follower;
use crate::event::config::EventConfig;
use crate::event::export;
use crate::event::journal;
use crate::event::ledger::Ledger;
use crate::model::exit::Exit;
use crate::model::text::shown;
use crate::model::words::counted;
use crate::view::site::{File, Site, SiteKind};

/// Prints or writes it.
pub(super) fn run(
    config: &EventConfig,
    what: &ExportWhat,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    if let ExportWhat::Pgn(args) = what {
        return match &args.live {
            Some(file) => live_pgn::run(config, file, out),
            None => pgn(config, out),
        };
    }
    let mut follower = Follower::new(config);
    if let Err(error) = follower.look(config) {
        return Ok(told(&error));
    }
    let kind = match what {
        ExportWhat::Html(_) => SiteKind::Alone,
        _ => SiteKind::Exported,
    };
    let broadcast = &follower.broadcast;
    let site = Site { config, broadcast, running: &[], now: SystemTime::now(), kind };
    match what {
        ExportWhat::Html(_) => out.write_all(site.front().as_bytes())?,
        ExportWhat::Json(_) | ExportWhat::Pgn(_) | ExportWhat::Settings(_) => {
            writeln!(out, "{}", serde_json::to_string_pretty(&site.document())?)?;
        }
        ExportWhat::Site(args) => {
            let files = site.all_files();
            let games = broadcast.games.len();
            write(&args.dir, &files)?;
            let place = shown(&args.dir.join("index.html"));
            writeln!(
                out,
                "wrote {} with {}; open {place}",
                shown(&args.dir),
                counted(games, "game")
            )?;
        }
    }
    Ok(Exit::Success)
}

/// Prints the event file that the journal was begun with. The file of today may be lost or wrong: the journal is then the one
/// that lies beside it.
pub(super) fn settings(event: &Path, out: &mut impl Write) -> anyhow::Result<Exit> {
    let journal = EventConfig::load(event)
        .map_or_else(|_| event.with_extension("journal"), |config| config.journal);
    let mut ledger = Ledger::default();
    if let Err(error) = journal::read(&journal, &mut |_, record| ledger.apply(record)) {
        return Ok(told(&error));
    }
    let settings = ledger.header.map(|header| header.settings).unwrap_or_default();
    out.write_all(settings.as_bytes())?;
    Ok(Exit::Success)
}

/// How far it is, for programs.
pub(super) fn status(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<Exit> {
    let mut follower = Follower::new(config);
    if let Err(error) = follower.look(config) {
        return Ok(told(&error));
    }
    let (broadcast, now) = (&follower.broadcast, SystemTime::now());
    let site = Site { config, broadcast, running: &[], now, kind: SiteKind::Exported };
    writeln!(out, "{}", serde_json::to_string_pretty(&site.status())?)?;
    Ok(Exit::Success)
}

fn pgn(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<Exit> {
    let mut failed = None;
    let read = export::pgn(config, &mut |game| {
        if failed.is_none()
            && let Err(error) = out.write_all(game.as_bytes())
        {
            failed = Some(error);
        }
    });
    match (read, failed) {
        (Err(error), _) => Ok(told(&error)),
        (Ok(()), Some(error)) => Err(error.into()),
        (Ok(()), None) => Ok(Exit::Success),
    }
}

fn write(dir: &Path, files: &[File]) -> anyhow::Result<()> {
    for (name, text) in files {
        let path = dir.join(name);
        let parent = path.parent().unwrap_or(dir);
        std::fs::create_dir_all(parent).with_context(|| shown(parent))?;
        std::fs::write(&path, text).with_context(|| shown(&path))?;
    }
    Ok(())
}
