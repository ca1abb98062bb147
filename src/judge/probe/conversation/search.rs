//! Questions to an engine that waits, and searches until their `bestmove`.

use std::time::{Duration, Instant};

use shakmaty::{Chess, Move, Position};

use super::evidence::{LINE, Pending};
use super::{Over, Ready, Session, Step, Thinking};
use crate::engine::legality;
use crate::engine::moves::Moves;
use crate::engine::uci::{Reply, UciCommand, parse};
use crate::game::go::Go;
use crate::game::legal;
use crate::model::evidence::{
    Answer, GoQuestion, LEAST_LEFT, MoveFault, Purpose, Question, WhyIllegal,
};
use crate::model::text::escape;
use crate::model::units::Ply;

/// A search to ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    /// The name for reports.
    pub(crate) name: &'a str,
    /// The moves that lead to the position.
    pub(crate) moves: &'a Moves,
    /// The form in which the position is shown.
    pub(crate) form: PositionForm,
    /// The form of `go`.
    pub(crate) go: Go,
}

/// The form in which the position is shown to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PositionForm {
    /// `position startpos moves …`
    Moves,
    /// `position fen …`
    Fen,
}

impl<'a> Search<'a> {
    /// A search after a list of moves.
    pub(crate) fn after(name: &'a str, moves: &'a Moves, go: Go) -> Search<'a> {
        Search { name, moves, form: PositionForm::Moves, go }
    }

    fn command(&self) -> String {
        match self.form {
            PositionForm::Moves => self.moves.command(),
            PositionForm::Fen => UciCommand::Fen(&self.moves.fen()).to_string(),
        }
    }

    /// The time on the clock of the side to move, where there is a clock.
    fn left(&self) -> Option<Duration> {
        self.go.left(self.moves.position().turn())
    }
}

/// The outcome of a wait for a move.
#[derive(Debug)]
pub(crate) enum Waited {
    /// A `bestmove`; none if it was no legal move (the ask says why).
    Moved(Session<Ready>, Option<Move>),
    /// Still no `bestmove`.
    Still(Session<Thinking>),
    /// The conversation has ended.
    Over(Session<Over>),
}

impl Session<Ready> {
    /// `ucinewgame`, confirmed by `isready`, and on for another purpose: an entry that starts slowly is asked more than one thing of a
    /// start. A failure at `ucinewgame` comes of the game before, and is told with that purpose.
    pub(crate) fn new_game_for(self, purpose: Purpose) -> Step<Ready> {
        let mut ready = self.new_game()?;
        let inner = &mut ready.inner;
        if inner.run.purpose != purpose {
            let before = std::mem::replace(&mut inner.run.purpose, purpose);
            inner.turns.push((before, inner.run.asks.len()));
        }
        Ok(ready)
    }

    /// `isready` again.
    pub(crate) fn isready(self) -> Step<Ready> {
        self.confirm(Question::IsReady, &[UciCommand::IsReady])
    }

    /// `ucinewgame`, confirmed by `isready`.
    pub(crate) fn new_game(self) -> Step<Ready> {
        self.confirm(Question::NewGame, &[UciCommand::NewGame, UciCommand::IsReady])
    }

    /// `setoption`, confirmed by `isready`.
    pub(crate) fn set_option(mut self, name: &str, value: Option<&str>) -> Step<Ready> {
        if self.inner.run.book.option.as_deref() == Some(name) {
            self.inner.book_is_off = value == Some("false");
        }
        let set = UciCommand::SetOption { name, value };
        self.inner.set = Some(set.to_string());
        self.confirm(Question::IsReady, &[set, UciCommand::IsReady])
    }

    fn confirm(mut self, question: Question, commands: &[UciCommand<'_>]) -> Step<Ready> {
        self.inner.wire.drain();
        let lines: Vec<String> = commands.iter().map(ToString::to_string).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let deadline = Instant::now() + self.inner.limits.answer;
        match self.inner.ask(question, &lines, deadline, &Reply::ReadyOk) {
            Ok(_) => Ok(self),
            Err(()) => Err(self.over()),
        }
    }

    /// A position and `go`, until `bestmove`, for as long as its clock and the limit allow.
    ///
    /// # Errors
    /// The ended conversation, where there was no `bestmove` at all. One that is not legal is no end: no
    /// move comes back then, and the ask says why.
    pub(crate) fn go(
        self,
        search: Search<'_>,
    ) -> Result<(Session<Ready>, Option<Move>), Session<Over>> {
        let limit = self.inner.limits.answer;
        self.go_within(search, search.left().unwrap_or_default() + limit)
    }

    /// The same with a limit of its own.
    pub(crate) fn go_within(
        self,
        search: Search<'_>,
        patience: Duration,
    ) -> Result<(Session<Ready>, Option<Move>), Session<Over>> {
        let thinking = self.think(search)?;
        match thinking.wait(patience) {
            Waited::Moved(ready, played) => Ok((ready, played)),
            Waited::Still(thinking) => Err(thinking.give_up()),
            Waited::Over(over) => Err(over),
        }
    }

    /// A position and `go`, without waiting.
    pub(crate) fn think(mut self, search: Search<'_>) -> Step<Thinking> {
        let left = search.left();
        if left >= Some(LEAST_LEFT) {
            self.inner.let_the_opponent_move();
        }
        self.inner.wire.drain();
        let command = search.command();
        let go = search.go.to_string();
        let question = GoQuestion {
            position: search.name.to_owned(),
            command: command.clone(),
            plies: match search.form {
                PositionForm::Moves => search.moves.plies(),
                PositionForm::Fen => Ply(0),
            },
            fen: search.moves.fen(),
            go: go.clone(),
            left,
        };
        let asked = Instant::now();
        match self.inner.say(&[&command, &go]) {
            Ok(sent) => {
                self.inner.is_searching = true;
                let position = search.moves.position().clone();
                self.inner.pending = Some(Pending { question, position, sent });
                Ok(self.becomes())
            }
            Err(answer) => {
                let now = Instant::now();
                self.inner.record(Question::Go(question), asked, now, answer);
                Err(self.over())
            }
        }
    }
}

impl Session<Thinking> {
    /// Waits for a move, counted from the `go`.
    #[must_use]
    pub(crate) fn wait(mut self, patience: Duration) -> Waited {
        let inner = &mut self.inner;
        let Some(pending) = inner.pending.take() else {
            return Waited::Over(self.over());
        };
        let deadline = pending.sent + patience;
        match inner.hear(deadline, |reply| matches!(reply, Reply::BestMove(_))) {
            Ok((at, line, reply)) => {
                inner.is_searching = false;
                let resigns = reply == Reply::BestMove(Err(MoveFault::Resignation));
                let judged = match reply {
                    Reply::BestMove(Ok(best)) => {
                        legality::judge(&pending.position, &best.to_string())
                    }
                    Reply::BestMove(Err(fault)) => Err(WhyIllegal::Word(fault)),
                    _ => Err(WhyIllegal::Word(MoveFault::Missing)),
                };
                let (answer, played) = match judged {
                    Err(_) if resigns => (Answer::Resigned, None),
                    Ok(played) => (
                        Answer::Legal(played.to_uci(shakmaty::CastlingMode::Standard).to_string()),
                        Some(played),
                    ),
                    Err(why) => {
                        let why = because(why, &pending, &line);
                        let line = escape(&line, LINE);
                        (Answer::Illegal { line, why }, None)
                    }
                };
                inner.record(Question::Go(pending.question), pending.sent, at, answer);
                Waited::Moved(self.becomes(), played)
            }
            Err(Answer::Timeout) => {
                inner.pending = Some(pending);
                Waited::Still(self)
            }
            Err(answer) => {
                let now = Instant::now();
                inner.record(Question::Go(pending.question), pending.sent, now, answer);
                Waited::Over(self.over())
            }
        }
    }

    /// Sends `stop`; the move is then waited for as before.
    pub(crate) fn stop(&mut self) {
        // Where it takes no more, the wait for its move tells.
        let _ = self.inner.wire.send(b"stop\n", self.inner.limits.quit);
    }

    /// Waits no longer: the question has no answer.
    #[must_use]
    pub(crate) fn give_up(mut self) -> Session<Over> {
        self.settle();
        self.over()
    }

    fn settle(&mut self) {
        if let Some(pending) = self.inner.pending.take() {
            let now = Instant::now();
            self.inner.record(Question::Go(pending.question), pending.sent, now, Answer::Timeout);
        }
    }

    /// `quit` in the middle of a search; the search itself counts as unanswered.
    #[must_use]
    pub(crate) fn quit_now(mut self) -> Session<Over> {
        self.settle();
        self.quit()
    }
}

/// Adds what the move would have been legal in, where that explains an engine that lost the list.
fn because(why: WhyIllegal, pending: &Pending, line: &[u8]) -> WhyIllegal {
    match (why, parse(line)) {
        (WhyIllegal::OnBoard(why), Reply::BestMove(Ok(best)))
            if pending.question.plies > Ply(0)
                && legal::find(&Chess::default(), best).is_some() =>
        {
            WhyIllegal::OnBoard(format!("{why} (in the start position it would be legal)"))
        }
        (why, _) => why,
    }
}
