//! A crash as a folder: what is known of it, standard error, and the moment again, for the engine's author.

use std::path::Path;

use shakmaty::Color;

use super::{File, Site, word};
use crate::event::broadcast::BroadcastGame;
use crate::event::journal::record::{Annulled, EngineKilled};
use crate::model::game::crash::{CrashMove, GameCrash, shell_words};
use crate::model::game::result::color_name;
use crate::view::figures::numbered;

/// A crash of an event.
#[derive(Clone, Debug)]
pub(crate) struct SiteCrash {
    /// The name of its folder.
    pub(crate) name: String,
    pub(crate) files: Vec<(&'static str, String)>,
    pub(crate) engine: String,
    /// The reason for its end.
    pub(crate) why: String,
    /// True if its game has ended.
    pub(crate) is_over: bool,
    /// The organisers' reason to strike its game out.
    pub(crate) annulled: Option<Annulled>,
}

/// The crashes of a game; none of most.
pub(super) fn of_game(site: &Site<'_>, game: &BroadcastGame) -> Vec<SiteCrash> {
    let crashes = (1..).zip(&game.killed);
    let named = crashes.map(|(number, killed)| SiteCrash {
        name: name(game, number),
        files: crash(site, game, killed).files(),
        engine: killed.entry.clone(),
        why: killed.why.clone(),
        is_over: !game.is_open(),
        annulled: game.annulled.clone(),
    });
    named.collect()
}

/// The files of a game's crashes: their places below the site's root, and their texts. None of a game without one.
pub(super) fn files(site: &Site<'_>, game: &BroadcastGame) -> Vec<File> {
    let all = of_game(site, game).into_iter();
    let files = all.flat_map(|SiteCrash { name, files, .. }| {
        files.into_iter().map(move |(file, text)| (format!("crashes/{name}/{file}"), text))
    });
    files.collect()
}

/// The name of a crash's folder; a game has seldom more than one crash.
fn name(game: &BroadcastGame, number: usize) -> String {
    format!("{}-{number}", game.key())
}

/// The names of a crash's files with their addresses.
pub(super) fn links(game: &BroadcastGame, number: usize) -> Vec<(&'static str, String)> {
    let name = name(game, number);
    let has_stderr = game.killed.get(number - 1).is_some_and(|killed| !killed.stderr.is_empty());
    let names = [
        ("the crash", "crash.txt"),
        ("its moment in UCI", "moment.uci"),
        ("the dialogue", "dialogue.txt"),
        ("the position", "position.fen"),
        ("the game", "game.pgn"),
        ("standard error", "stderr.txt"),
    ];
    let named = names.into_iter().filter(|(_, file)| has_stderr || *file != "stderr.txt");
    named.map(|(words, file)| (words, format!("crashes/{name}/{file}"))).collect()
}

fn color(game: &BroadcastGame, killed: &EngineKilled) -> Color {
    Color::from_white(killed.entry == game.started.white)
}

/// The crash, its engine's moves as the journal has them.
fn crash(site: &Site<'_>, game: &BroadcastGame, killed: &EngineKilled) -> GameCrash {
    let color = color(game, killed);
    let moves = game.moves();
    let own = moves.iter().filter(|one| one.side == color).filter_map(|one| {
        let ply = one.ply?;
        let number = game.plies.iter().position(|other| std::ptr::eq(other, ply))?;
        Some(CrashMove {
            asked: game.question(number, site.config, color),
            numbered: numbered(one),
            uci: ply.uci.clone(),
            depth: ply.depth,
            eval: ply.eval,
            millis: u128::from(ply.used / 1000),
            expected: ply.pv.clone(),
        })
    });
    GameCrash {
        facts: facts(site, game, killed),
        again: again(site, killed),
        pgn: game.live_pgn(site.config, &site.broadcast.ledger),
        why: killed.why.clone(),
        moment: game.moment(site.config, color),
        fen: moves.last().map_or(game.start(), |last| &last.fen).to_owned(),
        moves: own.collect(),
        said: killed.said.clone(),
        stderr: killed.stderr.clone(),
    }
}

/// The command that starts the engine, with its path as it lies beside the event's file. Nobody else is told where
/// that is.
fn again(site: &Site<'_>, killed: &EngineKilled) -> String {
    let config = site.config;
    let Some(entry) = config.entries.iter().find(|entry| entry.name == killed.entry) else {
        return shell_words(["gate4k", "run", &killed.entry]);
    };
    let beside = config.path.parent().unwrap_or(Path::new(""));
    let path = entry.path.strip_prefix(beside).ok().filter(|path| path.is_relative());
    let path = path.or(entry.path.file_name().map(Path::new)).unwrap_or(&entry.path);
    let path = path.to_string_lossy();
    match &entry.trusted {
        Some(trusted) => {
            let words = trusted.arguments.iter().map(|word| &**word);
            // A name alone would be looked for along PATH.
            let here = if path.contains('/') { "" } else { "./" };
            shell_words(std::iter::once(&*format!("{here}{path}")).chain(words))
        }
        None => shell_words(["gate4k", "run", &path]),
    }
}

fn facts(site: &Site<'_>, game: &BroadcastGame, killed: &EngineKilled) -> Vec<String> {
    let (started, color) = (&game.started, color(game, killed));
    let at = color.fold_wb(0, 1);
    let stage = site.config.stage_name(started.stage);
    let moves = game.moves();
    let after = moves.last().map_or_else(
        || "before the first move".to_owned(),
        |last| format!("after {}", numbered(last)),
    );
    let gate4k = site.broadcast.ledger.header.as_ref().map_or("?", |header| &header.gate4k);
    let mut lines = vec![
        format!("{} was ended: {}", word(&killed.entry), word(&killed.why)),
        format!(
            "{}: {} {}, {} – {}, {after}, with {}",
            word(&site.config.event),
            word(stage),
            started.place(),
            word(&started.white),
            word(&started.black),
            color_name(color)
        ),
    ];
    lines.extend(killed.exit.as_ref().map(|exit| format!("Exit: {}", word(exit))));
    lines.push(format!("Its file, SHA-256: {}", word(&started.sha256[at])));
    lines.push(format!("Options: {}", word(&started.options[at])));
    lines.push(format!("Time control: {}", word(&started.time_control)));
    match &killed.versions[..] {
        [] => lines.push(format!("gate4k {}", word(gate4k))),
        versions => lines.extend(versions.iter().map(|version| word(version))),
    }
    lines
}
