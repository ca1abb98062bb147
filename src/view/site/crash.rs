//! A crash as a folder: what is known of it, standard error, and the moment again, for the engine's author.

use shakmaty::Color;

use super::{File, Site, word};
use crate::event::broadcast::BroadcastGame;
use crate::event::journal::record::EngineKilled;
use crate::model::game::crash::{CrashMove, GameCrash};
use crate::view::figures::{numbered, side};

/// The files of a game's crashes: their places below the site's root, and their texts. None of a game without one.
pub(super) fn files(site: &Site<'_>, game: &BroadcastGame) -> Vec<File> {
    let mut files = Vec::new();
    for (number, killed) in (1..).zip(&game.killed) {
        let folder = folder(game, number);
        let own = crash(site, game, killed).files();
        files.extend(own.into_iter().map(|(name, text)| (format!("{folder}/{name}"), text)));
    }
    files
}

/// Where the files of a crash lie; a game has seldom more than one.
fn folder(game: &BroadcastGame, number: usize) -> String {
    format!("crashes/{}-{number}", game.key())
}

/// The folders of an event's crashes, with the engine and the reason.
pub(super) fn folders(site: &Site<'_>) -> Vec<(String, String, String)> {
    let games = site.broadcast.games.values();
    let crashes = games.flat_map(|game| (1..).zip(&game.killed).map(move |one| (game, one)));
    crashes
        .map(|(game, (number, killed))| {
            (folder(game, number), killed.entry.clone(), killed.why.clone())
        })
        .collect()
}

/// The names of a crash's files with their addresses.
pub(super) fn links(game: &BroadcastGame, number: usize) -> Vec<(&'static str, String)> {
    let folder = folder(game, number);
    let has_stderr = game.killed.get(number - 1).is_some_and(|killed| !killed.stderr.is_empty());
    let names = [
        ("the crash", "crash.txt"),
        ("its moment in UCI", "moment.uci"),
        ("the dialogue", "dialogue.txt"),
        ("the position", "position.fen"),
        ("standard error", "stderr.txt"),
    ];
    let named = names.into_iter().filter(|(_, file)| has_stderr || *file != "stderr.txt");
    named.map(|(words, file)| (words, format!("{folder}/{file}"))).collect()
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
        Some(CrashMove {
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
        again: "gate4k run ENTRY",
        why: killed.why.clone(),
        moment: game.moment(site.config, color),
        fen: moves.last().map_or(game.start(), |last| &last.fen).to_owned(),
        moves: own.collect(),
        said: killed.said.clone(),
        stderr: killed.stderr.clone(),
    }
}

fn facts(site: &Site<'_>, game: &BroadcastGame, killed: &EngineKilled) -> Vec<String> {
    let (started, color) = (&game.started, color(game, killed));
    let at = color.fold_wb(0, 1);
    let stage = site.config.stages.get(started.stage).map_or("", |stage| &stage.name);
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
            side(color)
        ),
    ];
    lines.extend(killed.exit.as_ref().map(|exit| format!("Exit: {}", word(exit))));
    lines.push(format!("Its file, SHA-256: {}", word(&started.sha256[at])));
    lines.push(format!("Options: {}", word(&started.options[at])));
    lines.push(format!("Time control: {}", word(&started.time_control)));
    lines.push(format!("gate4k {}", word(gate4k)));
    lines
}
