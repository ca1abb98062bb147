//! A conversation with one started entry, whose type says what may be sent.
//!
//! ```text
//! Session<Started> ─uci→ Session<Known> ─isready→ Session<Ready> ⇄ Session<Thinking>
//!        any of these ─quit, end of input, kill, or a failure→ Session<Over> ─finish→ Run
//! ```
//!
//! Every question leaves an [`Ask`](crate::model::evidence::Ask) with its times. A failure (no answer, the end, a flood) ends the
//! conversation: what an engine says after it was given up cannot be told from the next answer.

mod evidence;
mod rest;
mod stall;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::time::{Duration, Instant};

use shakmaty::{Chess, Move, Position};

use self::evidence::{DYING, Inner, LINE, Pending, Record};
use self::rest::Rest;
use self::stall::StallDetector;
use crate::engine::legality;
use crate::engine::moves::Moves;
use crate::engine::stop::Stop;
use crate::engine::uci::{Command, Reply, parse};
use crate::engine::wire::{Silence, Wire};
use crate::game::go::Go;
use crate::game::legal;
use crate::model::evidence::{
    Answer, Ask, BookSeen, DeclaredOption, EndHow, ExitHow, GoQuestion, Limits, Purpose, Question,
    Run,
};
use crate::model::text::escape;
use crate::model::units::Ply;
use crate::sandbox::plan::{Launcher, Plan, SandboxError};

/// While we wait for processes to go, the pipes are emptied this often.
const SLICE: Duration = Duration::from_millis(100);

/// An engine that has taken all and said nothing is looked at for so long after its start,
const WATCHED: Duration = Duration::from_secs(20);
/// this often,
const LOOK: Duration = Duration::from_millis(250);
/// and sleeps so long before its input is closed:
const ASLEEP: Duration = Duration::from_secs(3);
/// then it is waited for its answer so long.
const AT_END: Duration = Duration::from_secs(1);

/// Why `uciok` did not come.
#[derive(Debug)]
pub(super) enum StartSilence {
    /// The conversation has ended, and says why.
    Over(Session<Over>),
    /// It slept, and said nothing at the end of its input either: nothing is known of what it would have said later.
    Deaf,
}

/// Started; nothing but `uci` may be sent.
#[derive(Debug)]
pub(crate) enum Started {}
/// `uciok` has come.
#[derive(Debug)]
pub(crate) enum Known {}
/// Waits for us: options, positions and searches may be sent.
#[derive(Debug)]
pub(crate) enum Ready {}
/// A `go` is not answered yet.
#[derive(Debug)]
pub(crate) enum Thinking {}
/// The conversation has ended; the evidence can be taken.
#[derive(Debug)]
pub(crate) enum Over {}

/// A state in which the engine still lives, as far as we know.
pub(crate) trait Alive {}
impl Alive for Started {}
impl Alive for Known {}
impl Alive for Ready {}
impl Alive for Thinking {}

/// One conversation in state `S`.
#[derive(Debug)]
pub(crate) struct Session<S> {
    inner: Box<Inner>,
    state: PhantomData<S>,
}

/// The next state, or the end.
pub(crate) type Step<S> = Result<Session<S>, Session<Over>>;

/// A search to ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    /// The name for reports.
    pub name: &'a str,
    /// The position.
    pub shown: Shown<'a>,
    /// The form of `go`.
    pub go: Go,
}

/// How the position is shown to the engine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown<'a> {
    /// `position startpos moves …`
    Moves(&'a Moves),
    /// `position fen …` of the same position.
    Fen(&'a Moves),
}

impl Shown<'_> {
    fn moves(&self) -> &Moves {
        match self {
            Shown::Moves(moves) | Shown::Fen(moves) => moves,
        }
    }

    fn command(&self) -> String {
        match self {
            Shown::Moves(moves) => moves.command(),
            Shown::Fen(moves) => Command::Fen(&moves.fen()).to_string(),
        }
    }
}

/// The outcome of a wait for a move.
#[derive(Debug)]
pub(crate) enum Waited {
    /// A `bestmove`; none if it was not legal (the ask says why).
    Moved(Session<Ready>, Option<Move>),
    /// Still no `bestmove`.
    Still(Session<Thinking>),
    /// The conversation has ended.
    Over(Session<Over>),
}

/// When the processor time of a waiting engine is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleWhen {
    /// Before the first `go`.
    BeforeGo,
    /// After a `bestmove`.
    AfterMove,
    /// After a `bestmove`, with `Ponder` switched off.
    PonderOff,
}

impl Session<Started> {
    /// Starts an entry.
    ///
    /// # Errors
    /// When the sandbox could not be built; never through the entry's own fault.
    pub(crate) fn start(
        launcher: &dyn Launcher,
        plan: &Plan,
        purpose: Purpose,
        limits: Limits,
    ) -> Result<Session<Started>, SandboxError> {
        let (confined, pipes) = launcher.launch(plan)?;
        let started = confined.started();
        let record = Record::since(started);
        let wire = Stop::new().and_then(|stop| Wire::new(pipes, stop, record));
        let wire = wire.map_err(|source| SandboxError::Setup {
            step: "make the pipes non-blocking",
            path: None,
            source,
        })?;
        let inner = Inner::new(wire, confined, purpose, plan.shell, limits);
        Ok(Session::from(Box::new(inner)))
    }

    /// `uci`, until `uciok` or the limit of rule 7.4.
    ///
    /// # Errors
    /// The ended conversation, where there was no `uciok`.
    pub(crate) fn uci(mut self) -> Step<Known> {
        let deadline = self.inner.started + self.inner.limits.startup;
        let line = Command::Uci.to_string();
        match self.inner.ask(Question::Uci, &[&line], deadline, &Reply::UciOk) {
            Ok(at) => {
                self.inner.uciok = Some(self.inner.since_start(at));
                Ok(self.becomes())
            }
            Err(()) => Err(self.over()),
        }
    }

    /// As [`Session::uci`]; but where the engine sleeps in a read of its input for a while and has written nothing, that
    /// input is closed, since one that does not flush its output answers then. [`StartSilence::Deaf`] if that brought nothing.
    ///
    /// # Errors
    /// The ended conversation, where there was no `uciok` in time.
    pub(super) fn uci_watched(mut self) -> Result<Session<Known>, StartSilence> {
        let limits = self.inner.limits;
        let until = self.inner.started + WATCHED.min(limits.startup / 3);
        let asked = Instant::now();
        let mut heard = self.inner.say(&[&Command::Uci.to_string()]).map(|_| None);
        let mut asleep_since = None;
        while matches!(heard, Ok(None)) && Instant::now() < until {
            heard = self.inner.listen(Instant::now() + LOOK, &Reply::UciOk);
            if self.inner.wire.has_spoken() || !self.inner.confined.waits_for_input() {
                asleep_since = None;
                continue;
            }
            if asleep_since.get_or_insert_with(Instant::now).elapsed() >= ASLEEP {
                self.inner.wire.close_input();
                let at_end = self.inner.listen(Instant::now() + AT_END, &Reply::UciOk);
                if !matches!(at_end, Ok(Some(_))) {
                    return Err(StartSilence::Deaf);
                }
                heard = Err(Answer::OnlyAtEnd);
            }
        }
        let heard = match heard {
            Ok(Some(at)) => Ok(at),
            // What has begun to talk, or still computes, is waited for as ever.
            Ok(None) => {
                let deadline = self.inner.started + limits.startup;
                let heard = self.inner.hear(deadline, |reply| *reply == Reply::UciOk);
                heard.map(|(at, ..)| at)
            }
            Err(answer) => Err(answer),
        };
        match heard {
            Ok(at) => {
                self.inner.record(Question::Uci, asked, at, Answer::Done);
                self.inner.uciok = Some(self.inner.since_start(at));
                Ok(self.becomes())
            }
            Err(answer) => {
                self.inner.record(Question::Uci, asked, Instant::now(), answer);
                Err(StartSilence::Over(self.over()))
            }
        }
    }

    /// `uci` and the first `isready`.
    ///
    /// # Errors
    /// The ended conversation, where one of them was not answered.
    pub(crate) fn shake_hands(self) -> Step<Ready> {
        self.uci()?.isready()
    }
}

impl Session<Known> {
    /// The first `isready`; with its answer the start is over.
    ///
    /// # Errors
    /// The ended conversation, where there was no `readyok`.
    pub(crate) fn isready(mut self) -> Step<Ready> {
        let deadline = self.inner.started + self.inner.limits.startup;
        let line = Command::IsReady.to_string();
        match self.inner.ask(Question::IsReady, &[&line], deadline, &Reply::ReadyOk) {
            Ok(at) => {
                self.inner.readyok = Some(self.inner.since_start(at));
                self.inner.confined.start_is_over();
                Ok(self.becomes())
            }
            Err(()) => Err(self.over()),
        }
    }
}

impl Session<Ready> {
    /// `isready` again.
    ///
    /// # Errors
    /// The ended conversation, where there was no `readyok`.
    pub(crate) fn isready(self) -> Step<Ready> {
        self.confirm(Question::IsReady, &[Command::IsReady])
    }

    /// `ucinewgame`, confirmed by `isready`.
    ///
    /// # Errors
    /// The ended conversation, where there was no `readyok`.
    pub(crate) fn new_game(self) -> Step<Ready> {
        self.confirm(Question::NewGame, &[Command::NewGame, Command::IsReady])
    }

    /// `setoption`, confirmed by `isready`.
    ///
    /// # Errors
    /// The ended conversation, where there was no `readyok`.
    pub(crate) fn set_option(mut self, name: &str, value: Option<&str>) -> Step<Ready> {
        if self.inner.book.option.as_deref() == Some(name) {
            self.inner.book_is_off = value == Some("false");
        }
        let set = Command::SetOption { name, value };
        self.confirm(Question::IsReady, &[set, Command::IsReady])
    }

    fn confirm(mut self, question: Question, commands: &[Command<'_>]) -> Step<Ready> {
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
        let left = search.go.left(search.shown.moves().position().turn());
        self.go_within(search, left.unwrap_or_default() + limit)
    }

    /// The same with a limit of its own.
    ///
    /// # Errors
    /// As [`Session::go`].
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
    ///
    /// # Errors
    /// The ended conversation, where the engine took no input.
    pub(crate) fn think(mut self, search: Search<'_>) -> Step<Thinking> {
        self.inner.wire.drain();
        let moves = search.shown.moves();
        let command = search.shown.command();
        let go = search.go.to_string();
        let question = GoQuestion {
            position: search.name.to_owned(),
            command: command.clone(),
            plies: match search.shown {
                Shown::Moves(moves) => moves.plies(),
                Shown::Fen(_) => Ply(0),
            },
            fen: moves.fen(),
            go: go.clone(),
            left: search.go.left(moves.position().turn()),
        };
        let asked = Instant::now();
        match self.inner.say(&[&command, &go]) {
            Ok(sent) => {
                self.inner.pending =
                    Some(Pending { question, position: moves.position().clone(), sent });
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
                let judged = match reply {
                    Reply::BestMove(Ok(best)) => {
                        legality::judge(&pending.position, &best.to_string())
                    }
                    Reply::BestMove(Err(fault)) => Err(fault.to_string()),
                    _ => Err("no bestmove".to_owned()),
                };
                let (answer, played) = match judged {
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
fn because(why: String, pending: &Pending, line: &[u8]) -> String {
    if pending.question.plies == Ply(0) || !why.starts_with("illegal") {
        return why;
    }
    match parse(line) {
        Reply::BestMove(Ok(best)) if legal::find(&Chess::default(), best).is_some() => {
            format!("{why} (in the start position it would be legal)")
        }
        _ => why,
    }
}

impl<S: Alive> Session<S> {
    /// `quit`, until the first process has ended or the limit.
    #[must_use]
    pub(crate) fn quit(mut self) -> Session<Over> {
        let inner = &mut self.inner;
        inner.wire.drain();
        let asked = Instant::now();
        if inner.wire.has_ended() {
            // It ended before it was asked to: no answer to `quit`.
            let answer = inner.ended();
            inner.record(Question::Quit, asked, Instant::now(), answer);
            return self.over();
        }
        let taken = match inner.wire.send(b"quit\n", inner.limits.quit).1 {
            Ok(()) => None,
            Err(Silence::Gone) => Some(Answer::Ended(None)),
            Err(_) => Some(Answer::NotTaken),
        };
        inner.part(Question::Quit, EndHow::Quit, asked, taken);
        self.over()
    }

    /// Closes the input, until the first process has ended or the limit.
    #[must_use]
    pub(crate) fn end_of_input(mut self) -> Session<Over> {
        let asked = Instant::now();
        self.inner.wire.close_input();
        self.inner.part(Question::EndOfInput, EndHow::EndOfInput, asked, None);
        self.over()
    }

    /// Kills everything now.
    #[must_use]
    pub(crate) fn kill(mut self) -> Session<Over> {
        self.inner.ending.how = EndHow::Killed;
        self.inner.wire.note("killed");
        let asked = Instant::now();
        self.inner.confined.kill();
        self.inner.ending.exit = self.inner.confined.wait_first(asked + DYING);
        self.inner.ending.exit_after = Some(asked.elapsed());
        self.over()
    }

    /// Looks whether the engine rests while it waits for us, and notes what share of a processor it uses; each look
    /// takes `window`, and one that does not come to rest is looked at again. None if it ended, or if no look could
    /// tell.
    pub(crate) fn measure_idle(&mut self, when: IdleWhen, window: Duration) -> Option<f64> {
        let inner = &mut self.inner;
        let share = match rest::watch(&mut inner.wire, &*inner.confined, window)? {
            Rest::Found(share, took) => {
                if when != IdleWhen::BeforeGo {
                    inner.settling = inner.settling.max(Some(took));
                }
                share
            }
            Rest::Missing(share) => share,
            Rest::Unclear => {
                inner.strained = true;
                return None;
            }
        };
        match when {
            IdleWhen::BeforeGo => inner.idle_before_go = Some(share),
            IdleWhen::AfterMove => inner.idle_after_move = Some(share),
            IdleWhen::PonderOff => inner.idle_ponder_off = Some(share),
        }
        Some(share)
    }
}

impl<S> Session<S> {
    fn becomes<T>(self) -> Session<T> {
        Session::from(self.inner)
    }

    fn over(self) -> Session<Over> {
        self.becomes()
    }

    /// The last question and its answer.
    #[must_use]
    pub(super) fn last(&self) -> Option<&Ask> {
        self.inner.asks.last()
    }

    /// The questions so far.
    #[must_use]
    pub(super) fn asks(&self) -> &[Ask] {
        &self.inner.asks
    }

    /// The options announced so far.
    #[must_use]
    pub(crate) fn options(&self) -> &[DeclaredOption] {
        &self.inner.options
    }

    /// The signs of a book so far.
    #[must_use]
    pub(crate) fn book(&self) -> &BookSeen {
        &self.inner.book
    }

    /// The processor time a second that it used after a move, where that was measured.
    #[must_use]
    pub(crate) fn idle_after_move(&self) -> Option<f64> {
        self.inner.idle_after_move
    }

    /// True if any `info` line so far had a pv.
    #[must_use]
    pub(crate) fn shows_pv(&self) -> bool {
        self.inner.pv
    }
}

impl<S> From<Box<Inner>> for Session<S> {
    fn from(inner: Box<Inner>) -> Session<S> {
        Session { inner, state: PhantomData }
    }
}

impl Session<Over> {
    /// Waits until every process has ended, or the grace after `quit` is over, and writes down what is
    /// left then. Only for a run that ended by `quit`.
    pub(crate) fn wait_for_leftovers(&mut self) {
        let inner = &mut self.inner;
        let asked = match inner.asks.last() {
            Some(ask) if matches!(ask.question, Question::Quit) => inner.started + ask.at,
            _ => Instant::now(),
        };
        let limit = asked + inner.limits.grace;
        let mut stall = StallDetector::new(asked, limit);
        loop {
            let slice = (Instant::now() + SLICE).min(limit);
            if inner.confined.wait_empty(slice) {
                inner.ending.emptied_after = Some(asked.elapsed());
                break;
            }
            inner.wire.drain();
            if Instant::now() >= stall.until() {
                if stall.is_over() {
                    inner.left_processes = inner.confined.processes();
                    inner.strained |= !stall.only_waited(&*inner.confined);
                    inner.note_processes();
                    break;
                }
                stall.look(&*inner.confined);
            }
        }
        if inner.ending.exit.is_none() && inner.ending.emptied_after.is_some() {
            inner.ending.exit = inner.confined.wait_first(Instant::now());
        }
    }

    /// True if the engine's first process ended by itself, and how.
    #[must_use]
    pub(crate) fn exit(&self) -> Option<ExitHow> {
        self.inner.ending.exit
    }

    /// The way in which it ended.
    #[must_use]
    pub(crate) fn ended_by(&self) -> EndHow {
        self.inner.ending.how
    }

    /// Takes everything down and hands over the evidence.
    #[must_use]
    pub(crate) fn finish(self) -> Run {
        (*self.inner).into_run()
    }
}
