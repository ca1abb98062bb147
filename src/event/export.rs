//! The games of a journal as PGN, in the event's own form, with all that was recorded of each move.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, Position};

use super::config::EventConfig;
use super::journal::record::{GameStarted, JournalPly, JournalRecord};
use super::journal::{self, JournalError};
use super::journal_games::{self, AnnulledGames};
use super::recorder::ply_record;
use crate::game::pgn::{self, PgnHeader, Style};
use crate::model::game::ending::{GameEnding, Termination};
use crate::model::game::record::GameRecord;
use crate::model::game::result::GameResult;

/// Hands on every game that has ended as PGN, in that order. One that was struck out was played all the same: it is there,
/// without a result, also where it was under way.
///
/// # Errors
/// When the journal cannot be read, or a game in it is not legal.
pub(crate) fn pgn(config: &EventConfig, take: &mut dyn FnMut(&str)) -> Result<(), JournalError> {
    let mut games = GamesUnderWay { config, open: BTreeMap::new(), ratings: Vec::new() };
    let struck = AnnulledGames::of(&config.journal)?;
    journal::read(&config.journal, &mut |place, record| {
        match record {
            JournalRecord::StageStarted(started) => games.ratings.push(started.ratings),
            JournalRecord::GameStarted(started) => {
                let id = started.id.clone();
                games.open.entry(id).or_insert_with(|| (started, Vec::new()));
            }
            JournalRecord::Ply(ply) => {
                if let Some((_, plies)) = games.open.get_mut(&ply.id) {
                    plies.push(ply);
                }
            }
            JournalRecord::Interrupted(ruling) if ruling.begins_anew => {
                if let Some((_, plies)) = games.open.get_mut(&ruling.id) {
                    plies.clear();
                }
            }
            JournalRecord::Annulled(annulled) => {
                games.end(&annulled.id, take, |plies| End::struck_out(&annulled.reason, plies))?;
            }
            JournalRecord::Withdrawn(withdrawn) => {
                let reason = withdrawn.of_game();
                for id in &withdrawn.broken_off {
                    games.end(id, take, |plies| End::struck_out(&reason, plies))?;
                }
            }
            JournalRecord::GameFinished(mut game) => {
                if let Some(annulled) = struck.by(&game.id, place.line) {
                    game.annul(&annulled.reason);
                }
                let end = End { ending: game.ending(), lasted: game.lasted };
                games.end(&game.id, take, |_| end)?;
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(())
}

/// The games of a journal that have begun and not ended, with their moves.
struct GamesUnderWay<'a> {
    config: &'a EventConfig,
    open: BTreeMap<String, (GameStarted, Vec<JournalPly>)>,
    /// The ratings at the beginning of each stage.
    ratings: Vec<BTreeMap<String, i32>>,
}

impl GamesUnderWay<'_> {
    /// Ends the game of an id, if it is under way, and hands it on as PGN.
    fn end(
        &mut self,
        id: &str,
        take: &mut dyn FnMut(&str),
        end: impl FnOnce(&[JournalPly]) -> End,
    ) -> Result<(), String> {
        let Some((started, plies)) = self.open.remove(id) else { return Ok(()) };
        let elo = |name: &String| self.ratings.get(started.stage)?.get(name).copied();
        let elo = ByColor { white: elo(&started.white), black: elo(&started.black) };
        let text = one(self.config, &started, &plies, end(&plies), elo, Style::Event)
            .ok_or_else(|| format!("the moves of {id} are not legal"))?;
        take(&text);
        Ok(())
    }
}

/// A game's end, or its state while it is played.
pub(super) struct End {
    pub(super) ending: GameEnding,
    /// In microseconds.
    pub(super) lasted: u64,
}

impl End {
    /// The end of a game with these moves that counts for nobody.
    pub(super) fn struck_out(reason: &str, plies: &[JournalPly]) -> End {
        let reason = Termination::Annulled(reason.to_owned());
        End::without_result(reason, plies)
    }

    /// The state of a game with these moves that has no result.
    pub(super) fn without_result(reason: Termination, plies: &[JournalPly]) -> End {
        let ending = GameEnding { result: GameResult::Unfinished, reason };
        End { ending, lasted: plies.iter().map(|ply| ply.used).sum() }
    }
}

/// A game as PGN; none where its moves are not legal.
pub(super) fn one(
    config: &EventConfig,
    started: &GameStarted,
    plies: &[JournalPly],
    end: End,
    elo: ByColor<Option<i32>>,
    style: Style,
) -> Option<String> {
    let opening = journal_games::opening(started.start.as_deref(), &started.opening)?;
    let mut position = opening.start();
    for one in opening.moves() {
        position.play_unchecked(*one);
    }
    let mut pvs = Vec::new();
    let mut records = Vec::with_capacity(plies.len());
    for ply in plies {
        let side = position.turn();
        let played = ply.uci.parse::<UciMove>().ok()?.to_move(&position).ok()?;
        let mut record = ply_record(ply, played, side);
        let begin = pvs.len();
        pvs.extend_from_slice(ply.pv.as_bytes());
        record.pv = begin..pvs.len();
        records.push(record);
        position.play_unchecked(played);
    }
    let record = GameRecord {
        opening: opening.named(started.opening_names.clone()),
        plies: records,
        pvs,
        ending: end.ending,
        comments: Vec::new(),
        unanswered: None,
    };
    let stage = config.stages.get(started.stage)?;
    let control = stage.control(started.place());
    let [white, black] = started.options.clone();
    let header = PgnHeader {
        event: format!("{}: {}", config.event, stage.name),
        site: config.site.clone(),
        round: started.place().to_string(),
        names: ByColor { white: started.white.clone(), black: started.black.clone() },
        elo,
        options: ByColor { white, black },
        controls: ByColor { white: control, black: control },
        started: humantime::parse_rfc3339(&started.at).unwrap_or(SystemTime::UNIX_EPOCH),
        lasted: Duration::from_micros(end.lasted),
    };
    let mut text = String::new();
    pgn::write(&mut text, &header, &record, style).ok()?;
    Some(text)
}
