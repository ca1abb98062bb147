//! `gate4k event export`: the event in other forms.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Component, Path};

use anyhow::{Context, anyhow};

use super::live_pgn;
use super::views::{holds_no_record, require_begun, unread};
use crate::cli::ExportWhat;
use crate::cmd::early_end::EarlyEnd;
use crate::event::broadcast::{Broadcast, Follower};
use crate::event::config::EventConfig;
use crate::event::export;
use crate::event::journal;
use crate::event::ledger::Ledger;
use crate::files::read;
use crate::files::write::{cannot_write, make_folder, replace};
use crate::model::exit::Exit;
use crate::model::text::shown;
use crate::model::words::counted;
use crate::view::json::pretty;
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
    match what {
        ExportWhat::Site(args) if !args.games.is_empty() => {
            let recorded = Broadcast::recorded(config, &args.games);
            follower.broadcast = recorded.map_err(EarlyEnd::of_file)?;
        }
        _ => {
            require_begun(config)?;
            follower.look(config).map_err(unread(&config.path))?;
        }
    }
    let kind = match what {
        ExportWhat::Html(_) => SiteKind::Alone,
        _ => SiteKind::Exported,
    };
    let broadcast = &follower.broadcast;
    let site = Site { kind, ..Site::exported(config, broadcast) };
    match what {
        ExportWhat::Html(_) => out.write_all(site.front().as_bytes())?,
        ExportWhat::Json(_) | ExportWhat::Pgn(_) | ExportWhat::Settings(_) => {
            out.write_all(pretty(&site.document())?.as_bytes())?;
        }
        ExportWhat::Site(args) => {
            let files = site.all_files();
            let games = broadcast.games.len();
            // Nothing is made for an event that cannot be read.
            make_folder(&args.dir)
                .map_err(|error| EarlyEnd::usage(cannot_write(&args.dir, &error)))?;
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
    let journal = EventConfig::load_recorded(event)
        .map_or_else(|_| event.with_extension("journal"), |config| config.journal);
    let mut ledger = Ledger::default();
    journal::read(&journal, &mut |_, record| ledger.apply(record)).map_err(unread(event))?;
    let header = ledger.header.ok_or_else(|| holds_no_record(event, &journal))?;
    out.write_all(header.settings.as_bytes())?;
    Ok(Exit::Success)
}

/// The state of the event, for programs.
pub(super) fn status(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<Exit> {
    require_begun(config)?;
    let mut follower = Follower::new(config);
    follower.look(config).map_err(unread(&config.path))?;
    let site = Site::exported(config, &follower.broadcast);
    out.write_all(pretty(&site.status())?.as_bytes())?;
    Ok(Exit::Success)
}

fn pgn(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<Exit> {
    require_begun(config)?;
    let mut failed = None;
    let read = export::pgn(config, &mut |game| {
        if failed.is_none()
            && let Err(error) = out.write_all(game.as_bytes())
        {
            failed = Some(error);
        }
    });
    read.map_err(unread(&config.path))?;
    failed.map_or(Ok(Exit::Success), |error| Err(error.into()))
}

/// The file that names the files of an exported site, by which the next export knows those that are no more.
const WRITTEN: &str = ".gate4k-site";

/// Writes a site, and takes away the files of an earlier one that are not among them. Where a file is in its way that is of
/// no earlier one, nothing is written.
fn write(dir: &Path, files: &[File]) -> anyhow::Result<()> {
    let before = read::kept(&dir.join(WRITTEN)).unwrap_or_default();
    if let Some(name) = foreign(dir, &before, files) {
        let words = format!(
            "{} is there, and is no file of an earlier export; name an empty folder, or move it away (nothing was written)",
            shown(&dir.join(name))
        );
        return Err(EarlyEnd::usage(words).into());
    }
    make_folder(dir).map_err(unwritten(dir))?;
    // The files of an export that was broken off are known to the next one.
    let names = files.iter().map(|(name, _)| name.as_str());
    keep_list(dir, &before.lines().chain(names).collect())?;
    for (name, text) in files {
        let path = dir.join(name);
        let parent = path.parent().unwrap_or(dir);
        make_folder(parent).map_err(unwritten(parent))?;
        replace(&path, text).map_err(unwritten(&path))?;
    }
    let now: BTreeSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    for name in before.lines().filter(|name| !now.contains(name) && is_inside(name)) {
        let path = dir.join(name);
        let gone = std::fs::remove_file(&path);
        match gone {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {}", shown(&path)));
            }
            _ => {}
        }
        // A folder of a crash, when it is empty.
        if let Some(parent) = path.parent().filter(|parent| *parent != dir) {
            let _ = std::fs::remove_dir(parent);
        }
    }
    keep_list(dir, &now)
}

/// The error for a file or folder of a site that cannot be written.
fn unwritten(path: &Path) -> impl Fn(io::Error) -> anyhow::Error {
    move |error| anyhow!(cannot_write(path, &error))
}

/// Writes the list of the files of a site.
fn keep_list(dir: &Path, names: &BTreeSet<&str>) -> anyhow::Result<()> {
    let list: String = names.iter().map(|name| format!("{name}\n")).collect();
    let path = dir.join(WRITTEN);
    replace(&path, &list).map_err(unwritten(&path))
}

/// Returns the first file that a site would overwrite and that is of no earlier one. The earliest sites had no list; their
/// event's file says what they are.
fn foreign<'a>(dir: &Path, before: &str, files: &'a [File]) -> Option<&'a str> {
    let is_listed = !before.is_empty();
    let event = || read::kept(&dir.join("event.json")).unwrap_or_default();
    if !is_listed && event().contains("\"gate4k-event-1\"") {
        return None;
    }
    let known: BTreeSet<&str> = before.lines().collect();
    let is_there = |name: &&str| dir.join(name).symlink_metadata().is_ok();
    files.iter().map(|(name, _)| name.as_str()).filter(|name| !known.contains(name)).find(is_there)
}

/// True of a name that leads nowhere but below its directory.
fn is_inside(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_does_not_overwrite_what_was_never_one() {
        let dir = tempfile::tempdir().unwrap();
        let there = |name: &str| dir.path().join(name);
        let files: Vec<File> = ["page.js", "index.html", "event.json"]
            .map(|name| (name.to_owned(), "new".to_owned()))
            .into();
        let text = |name: &str| std::fs::read_to_string(there(name)).unwrap();
        for name in ["event.json", "index.html"] {
            std::fs::write(there(name), "somebody's").unwrap();
            let error = write(dir.path(), &files).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("nothing was written"), "{error}");
            assert_eq!(text(name), "somebody's");
            assert!(!there("page.js").exists() && !there(WRITTEN).exists());
            std::fs::remove_file(there(name)).unwrap();
        }
        // The earliest sites had no list.
        std::fs::write(there("index.html"), "old").unwrap();
        std::fs::write(there("event.json"), "{\"schema\": \"gate4k-event-1\"}").unwrap();
        write(dir.path(), &files).unwrap();
        assert_eq!((text("index.html"), text("event.json")), ("new".into(), "new".into()));
        // A file of somebody in a folder that is a site's stays, too.
        std::fs::write(there("settings.toml"), "somebody's").unwrap();
        let more = [("settings.toml".to_owned(), "new".to_owned())];
        assert!(write(dir.path(), &more).is_err());
        assert_eq!(text("settings.toml"), "somebody's");
    }

    #[test]
    fn an_earlier_site_leaves_nothing_but_what_is_not_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let site = dir.path().join("site");
        let files = |names: &[&str]| -> Vec<File> {
            names.iter().map(|name| ((*name).to_owned(), "text".to_owned())).collect()
        };
        write(&site, &files(&["index.html", "games/1-1.1.html", "crashes/1-1.1-1/crash.txt"]))
            .unwrap();
        std::fs::write(site.join("games/own.txt"), "of somebody else").unwrap();
        std::fs::write(dir.path().join("outside"), "").unwrap();
        let list = std::fs::read_to_string(site.join(WRITTEN)).unwrap();
        std::fs::write(site.join(WRITTEN), list + "../outside\n/etc/gone\nnever/there\n").unwrap();
        write(&site, &files(&["index.html", "games/1-2.1.html"])).unwrap();
        let there = |name: &str| site.join(name).exists();
        assert!(there("index.html") && there("games/1-2.1.html") && there("games/own.txt"));
        assert!(!there("games/1-1.1.html") && !there("crashes/1-1.1-1"));
        assert!(dir.path().join("outside").exists());
    }
}
