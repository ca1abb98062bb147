//! One game between two players, move by move, with the evidence of each move.
//!
//! The loop allocates nothing a move: the text of the `position` command grows by one move a ply, and the
//! record's memory is taken before the first.

mod player;
#[cfg(test)]
mod tests;

use std::time::Duration;

use shakmaty::{ByColor, Color, Move, Position};

use crate::game::adjudicate::{AdjudicationRules, Adjudicator};
use crate::game::clock::{Flag, GameClock, Patience, TimeControl};
use crate::game::end::{Material, Referee};
use crate::game::go::Go;
use crate::game::tables::Tables;
use crate::model::game::ending::{GameEnding, Termination};
use crate::model::game::opening::Opening;
use crate::model::game::record::{GameRecord, PlayedMove, PlyRecord, Resume, Unanswered};

pub(crate) use player::{Player, PlayerAnswer, PlayerLost, Thought};

/// Games longer than this make the record grow, which costs memory and nothing else.
const USUAL_PLIES: usize = 400;

/// The settings that the games of a match share.
#[derive(Debug, Default)]
pub(crate) struct GameSettings {
    /// Time margins and bounds on moves.
    pub(crate) patience: Patience,
    /// The end of a game in which neither side can mate.
    pub(crate) material: Material,
    /// Adjudication.
    pub(crate) rules: AdjudicationRules,
    /// Endgame tables to adjudicate by.
    pub(crate) tables: Option<Tables>,
    /// True if the engines' expected lines are kept for the record.
    pub(crate) keep_pv: bool,
    /// True if the lines that engines say for the record are kept.
    pub(crate) keep_comments: bool,
}

/// The terms of a game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameTerms<'a> {
    /// The settings that it shares with others.
    pub(crate) settings: &'a GameSettings,
    /// The opening that it begins with.
    pub(crate) opening: &'a Opening,
    /// Each side's time control.
    pub(crate) controls: ByColor<TimeControl>,
    /// The margin of each side that has one of its own.
    pub(crate) margins: ByColor<Option<Duration>>,
    /// The moves before an interruption (rule 6.1.5); none for a game from its beginning.
    pub(crate) resume: Option<&'a Resume>,
}

/// Plays a game to its end, telling every move when it has been judged, before the next is asked for.
pub(crate) fn play_watched<P: Player + ?Sized>(
    terms: &GameTerms<'_>,
    players: ByColor<&mut P>,
    watch: &mut dyn FnMut(PlayedMove<'_>),
) -> GameRecord {
    Game::new(terms).run(players, watch)
}

struct Game<'a> {
    terms: &'a GameTerms<'a>,
    referee: Referee,
    clock: GameClock,
    adjudicator: Adjudicator,
    /// `position …` without its line end, then what is added for each question.
    text: Vec<u8>,
    /// True if `moves` stands in the text already.
    has_moves: bool,
    record: GameRecord,
}

impl<'a> Game<'a> {
    fn new(terms: &'a GameTerms<'a>) -> Game<'a> {
        let mut text = Vec::with_capacity(32 + 5 * USUAL_PLIES);
        match terms.opening.uci_fen() {
            Some(fen) => {
                text.extend_from_slice(b"position fen ");
                text.extend_from_slice(fen.as_bytes());
            }
            None => text.extend_from_slice(b"position startpos"),
        }
        Game {
            referee: Referee::new(terms.opening.start(), terms.settings.material),
            clock: clock(terms),
            adjudicator: Adjudicator::new(terms.settings.rules),
            text,
            has_moves: false,
            record: GameRecord {
                opening: terms.opening.clone(),
                plies: Vec::with_capacity(USUAL_PLIES),
                pvs: Vec::with_capacity(if terms.settings.keep_pv { 64 * USUAL_PLIES } else { 0 }),
                comments: Vec::new(),
                ending: GameEnding::aborted("not played"),
                unanswered: None,
            },
            terms,
        }
    }

    fn run<P: Player + ?Sized>(
        mut self,
        players: ByColor<&mut P>,
        watch: &mut dyn FnMut(PlayedMove<'_>),
    ) -> GameRecord {
        let ByColor { white, black } = players;
        for (side, player) in [(Color::White, &mut *white), (Color::Black, &mut *black)] {
            if let Err(lost) = player.new_game() {
                return self.over(loss_of(side, lost));
            }
        }
        let mut over = self.referee.ending();
        for one in self.terms.opening.moves() {
            if over.is_some() {
                break;
            }
            over = self.moved(*one);
        }
        if let (None, Some(resume)) = (&over, self.terms.resume) {
            over = self.bring_back(resume);
        }
        loop {
            if let Some(ending) = over {
                return self.over(ending);
            }
            let before = self.record.plies.len();
            let mover = self.referee.position().turn();
            over = match mover {
                Color::White => self.ply(white),
                Color::Black => self.ply(black),
            };
            if let Some(ply) = self.record.plies.get(before) {
                let clocks = ByColor {
                    white: self.clock.left(Color::White),
                    black: self.clock.left(Color::Black),
                };
                let pv = self.record.pvs.get(ply.pv.clone()).unwrap_or_default();
                watch(PlayedMove { number: before, mover, ply, clocks, pv });
            }
        }
    }

    /// Plays what was played before an interruption, with the counters that it moved.
    fn bring_back(&mut self, resume: &Resume) -> Option<GameEnding> {
        let mut over = None;
        for ply in &resume.plies {
            if over.is_some() {
                break;
            }
            let side = self.referee.position().turn();
            over = self.moved(ply.played);
            let score = ply.info.score.map(|score| score.for_white(side));
            over = over.or_else(|| self.adjudicator.after(&self.referee, score));
            self.record.plies.push(PlyRecord { pv: 0..0, ..ply.clone() });
        }
        over
    }

    fn over(mut self, ending: GameEnding) -> GameRecord {
        self.record.ending = ending;
        self.record
    }

    /// Plays a legal move on the board and in the text.
    fn moved(&mut self, one: Move) -> Option<GameEnding> {
        if !self.has_moves {
            self.text.extend_from_slice(b" moves");
            self.has_moves = true;
        }
        self.text.push(b' ');
        one.to_uci(self.referee.position().castles().mode()).append_ascii_to(&mut self.text);
        self.referee.play(one)
    }

    /// Asks one player for one move.
    fn ply<P: Player + ?Sized>(&mut self, player: &mut P) -> Option<GameEnding> {
        let side = self.referee.position().turn();
        let length = self.text.len();
        self.text.push(b'\n');
        Go::of(&self.clock, side).push(&mut self.text);
        self.text.push(b'\n');
        let thought = player.think(&self.text, self.clock.wait(side));
        self.text.truncate(length);
        let used = thought.heard.since(thought.sent);
        let left = self.clock.left(side);
        match self.judge(side, &thought, used) {
            Ok(one) => {
                let info = player.info();
                let before = self.record.pvs.len();
                if self.terms.settings.keep_pv {
                    self.record.pvs.extend_from_slice(player.pv());
                }
                if self.terms.settings.keep_comments && !player.comments().is_empty() {
                    self.record
                        .comments
                        .push((self.record.plies.len(), player.comments().to_vec()));
                }
                let board_end = self.moved(one);
                let score = info.score.map(|score| score.for_white(side));
                let end = board_end
                    .or_else(|| self.terms.settings.tables.as_ref()?.probe(self.referee.position()))
                    .or_else(|| self.adjudicator.after(&self.referee, score));
                self.record.plies.push(PlyRecord {
                    played: one,
                    sent: thought.sent,
                    heard: thought.heard,
                    left: self.clock.left(side),
                    info,
                    pv: before..self.record.pvs.len(),
                    rules_in: self.adjudicator.rules_in(),
                });
                end
            }
            Err(ending) => {
                self.record.unanswered =
                    Some(Unanswered { sent: thought.sent, heard: thought.heard, left });
                Some(ending)
            }
        }
    }

    /// The legal move in an answer that came in time, or how the game ends without one.
    fn judge(
        &mut self,
        side: Color,
        thought: &Thought,
        used: Duration,
    ) -> Result<Move, GameEnding> {
        let loses = |reason| GameEnding::win(!side, reason);
        // Time first: a move that comes too late is not looked at.
        if !matches!(thought.said, PlayerAnswer::Lost(_))
            && let Err(Flag { over }) = self.clock.spend(side, used)
        {
            return Err(loses(Termination::Time { over: Some(over) }));
        }
        match &thought.said {
            PlayerAnswer::Resign => Err(loses(Termination::Resignation)),
            PlayerAnswer::Move(said) => self
                .referee
                .find(*said)
                .ok_or_else(|| loses(Termination::IllegalMove(said.to_string()))),
            PlayerAnswer::NoMove(said) => Err(loses(Termination::IllegalMove(said.clone()))),
            PlayerAnswer::Lost(lost) => Err(loss_of(side, lost.clone())),
        }
    }
}

/// The clocks as the game begins, or as it goes on.
fn clock(terms: &GameTerms<'_>) -> GameClock {
    let clock = match terms.resume {
        None => GameClock::new(terms.controls, terms.settings.patience),
        Some(resume) => resumed(terms, resume),
    };
    clock.with_margins(terms.margins)
}

fn resumed(terms: &GameTerms<'_>, resume: &Resume) -> GameClock {
    let mut side = terms.opening.moves().iter().fold(terms.opening.start().turn(), |side, _| !side);
    let mut made = ByColor { white: 0, black: 0 };
    for _ in &resume.plies {
        *made.get_mut(side) += 1;
        side = !side;
    }
    GameClock::resumed(terms.controls, terms.settings.patience, resume.clocks, made)
}

/// The end of a game by the loss of a player.
fn loss_of(side: Color, lost: PlayerLost) -> GameEnding {
    match lost {
        PlayerLost::NotStarted(why) => GameEnding::win(!side, Termination::NoStart(why)),
        PlayerLost::Host(why) => GameEnding::aborted(why),
        PlayerLost::Standstill(lasted) => GameEnding::standstill(lasted),
        PlayerLost::Gone(exit) => GameEnding::win(!side, Termination::Crash { exit }),
        // Neither in its time nor after it: it hangs, which is more than a move that comes late.
        PlayerLost::Silent(waited) => GameEnding::win(!side, Termination::Stall { waited }),
        PlayerLost::Stopped => GameEnding::aborted("the match was stopped"),
    }
}
