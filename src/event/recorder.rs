//! Between the runner's words and the journal's: events become records, records become what a game goes on
//! from.

use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Color, Move, Position};

use super::config::EventConfig;
use super::entrants::now;
use super::interrupted::InterruptedGame;
use super::journal::record::{GameFinished, GameStarted, Interrupted, JournalPly};
use super::journal_games;
use super::ledger::OpenGame;
use crate::game::end::Referee;
use crate::model::game::ending::GameEnding;
use crate::model::game::opening::Opening;
use crate::model::game::record::{PlyRecord, Resume, SearchInfo, Stamp};
use crate::model::game::score::Score;
use crate::model::units::whole_micros;
use crate::runner::events::{Finished, MovePlayed};

/// Both clocks as the journal has them, White's first.
pub(crate) fn clocks(of: ByColor<Duration>) -> [u64; 2] {
    [whole_micros(of.white), whole_micros(of.black)]
}

pub(crate) fn from_clocks([white, black]: [u64; 2]) -> ByColor<Duration> {
    ByColor { white: Duration::from_micros(white), black: Duration::from_micros(black) }
}

/// Moves in UCI's words, with castling as it is told in the game.
pub(crate) fn uci<'a>(moves: impl IntoIterator<Item = &'a Move>, castling: CastlingMode) -> String {
    let words: Vec<String> =
        moves.into_iter().map(|one| one.to_uci(castling).to_string()).collect();
    words.join(" ")
}

/// A move that was played.
pub(crate) fn ply(id: &str, told: &MovePlayed) -> JournalPly {
    let MovePlayed { number, ply, clocks: both, pv, .. } = told;
    let info = &ply.info;
    JournalPly {
        id: id.to_owned(),
        number: *number,
        uci: uci([&ply.played], told.before.castles().mode()),
        used: whole_micros(ply.used()),
        clocks: clocks(*both),
        eval: info.score.map(|score| score.for_white(told.mover).value()),
        depth: info.depth,
        seldepth: info.seldepth,
        nodes: info.nodes,
        speed: info.speed,
        hashfull: info.hashfull,
        table_hits: info.table_hits,
        pv: crate::model::text::escape(pv, 400),
        rules_in: ply.rules_in,
    }
}

/// A game that ended at the board.
pub(crate) fn finished(
    started: &GameStarted,
    finished: &Finished,
    before: Duration,
) -> GameFinished {
    let record = &finished.record;
    let moves = record.opening.moves().iter().chain(record.plies.iter().map(|ply| &ply.played));
    GameFinished {
        moves: uci(moves, record.opening.castling()),
        book: record.opening.moves().len(),
        unanswered: record.unanswered.map(|question| {
            [whole_micros(question.heard.since(question.sent)), whole_micros(question.left)]
        }),
        lasted: whole_micros(before + finished.lasted),
        ..ended(started, &record.ending)
    }
}

/// A game with this end and nothing told of its moves.
pub(crate) fn ended(started: &GameStarted, ending: &GameEnding) -> GameFinished {
    GameFinished {
        id: started.id.clone(),
        stage: started.stage,
        round: started.round,
        game: started.game,
        white: started.white.clone(),
        black: started.black.clone(),
        result: ending.result.word().to_owned(),
        termination: ending.termination().map(str::to_owned),
        details: ending.details(),
        reason: ending.reason.clone(),
        by_rule: None,
        start: started.start.clone(),
        moves: String::new(),
        book: 0,
        unanswered: None,
        lasted: 0,
        at: now(),
    }
}

/// A game that was interrupted, brought back from its records.
#[derive(Debug)]
pub(crate) struct ResumedGame {
    /// Where it stands.
    pub(crate) moment: InterruptedGame,
    /// Its end on the board, where that was not recorded any more.
    pub(crate) ending: Option<GameEnding>,
    /// Its opening.
    pub(crate) opening: Opening,
    /// The engines' moves.
    pub(crate) plies: Vec<PlyRecord>,
}

impl ResumedGame {
    /// Plays a game's records again.
    ///
    /// # Errors
    /// Says which move is not legal.
    pub(crate) fn replay(game: &OpenGame, config: &EventConfig) -> Result<ResumedGame, String> {
        let id = &game.started.id;
        let started = &game.started;
        let opening = journal_games::opening(started.start.as_deref(), &started.opening)
            .ok_or_else(|| format!("the opening of {id} is not legal"))?;
        let mut referee = Referee::new(opening.start(), config.material);
        let mut ending = None;
        for one in opening.moves() {
            ending = referee.play(*one);
        }
        let mut evals = ByColor { white: None, black: None };
        let mut plies = Vec::with_capacity(game.plies.len());
        for ply in &game.plies {
            let side = referee.position().turn();
            let played =
                ply.uci.parse::<UciMove>().ok().and_then(|word| referee.find(word)).ok_or_else(
                    || format!("move {} of {id}, {}, is not legal", ply.number, ply.uci),
                )?;
            let eval = ply.eval.map(Score::from_value);
            *evals.get_mut(side) = eval;
            plies.push(ply_record(ply, played, side));
            ending = referee.play(played);
        }
        let moved = game.plies.len() > game.before;
        let last =
            game.plies.last().filter(|_| moved).map_or(game.started.clocks, |ply| ply.clocks);
        Ok(ResumedGame {
            moment: InterruptedGame {
                position: referee.position().clone(),
                plies: opening.moves().len() + plies.len(),
                evals,
                clocks: from_clocks(last),
                moved,
            },
            ending,
            opening,
            plies,
        })
    }

    /// The record of a decision.
    pub(crate) fn interrupted(&self, id: &str, ruling: &super::interrupted::Ruling) -> Interrupted {
        use super::interrupted::Continuation;
        let (result, compensation) = match &ruling.verdict {
            Continuation::Over(ending) => (Some(ending.result.word().to_owned()), Duration::ZERO),
            Continuation::GoesOn { compensation, .. } => (None, *compensation),
            Continuation::BeginsAnew => (None, Duration::ZERO),
        };
        Interrupted {
            id: id.to_owned(),
            rule: ruling.rule.to_owned(),
            why: ruling.why.clone(),
            result,
            clocks: clocks(self.moment.clocks),
            compensation: whole_micros(compensation),
            begins_anew: ruling.verdict == Continuation::BeginsAnew,
        }
    }

    /// The game's end, where it does not go on.
    pub(crate) fn finished(
        &self,
        started: &GameStarted,
        ending: &GameEnding,
        rule: Option<&str>,
    ) -> GameFinished {
        let moves = self.opening.moves().iter().chain(self.plies.iter().map(|ply| &ply.played));
        GameFinished {
            by_rule: rule.map(str::to_owned),
            moves: uci(moves, self.opening.castling()),
            book: self.opening.moves().len(),
            lasted: whole_micros(self.played_for()),
            ..ended(started, ending)
        }
    }

    /// The time that the engines have thought.
    pub(crate) fn played_for(&self) -> Duration {
        self.plies.iter().map(PlyRecord::used).sum()
    }

    /// Returns the opening and the state that the game goes on from.
    #[must_use]
    pub(crate) fn resume(self, clocks: ByColor<Duration>) -> (Opening, Resume) {
        (self.opening, Resume { plies: self.plies, clocks })
    }
}

/// A move as the runner had recorded it.
pub(crate) fn ply_record(ply: &JournalPly, played: Move, side: Color) -> PlyRecord {
    let left = from_clocks(ply.clocks);
    PlyRecord {
        played,
        sent: Stamp::default(),
        heard: Stamp(Duration::from_micros(ply.used)),
        left: *left.get(side),
        info: SearchInfo {
            depth: ply.depth,
            seldepth: ply.seldepth,
            nodes: ply.nodes,
            speed: ply.speed,
            hashfull: ply.hashfull,
            table_hits: ply.table_hits,
            // Told from White's view, kept from the mover's.
            score: ply.eval.map(|value| Score::from_value(value).for_white(side)),
        },
        pv: 0..0,
        rules_in: ply.rules_in,
    }
}
