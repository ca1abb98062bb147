//! The start of a conversation: `uci` and the first `isready`.

use std::time::{Duration, Instant};

use super::evidence::{ConversationRecord, Inner};
use super::{Identified, Over, Ready, Session, Started, Step};
use crate::engine::stop::Stop;
use crate::engine::uci::{Reply, UciCommand};
use crate::engine::wire::Wire;
use crate::model::evidence::{Answer, Limits, Purpose, Question};
use crate::model::text::escape;
use crate::sandbox::plan::{Launcher, SandboxError, StartPlan};

/// The longest part of a line that sets an option that is kept, in bytes; a longer value counts as part of the entry, and is
/// more than an entry may have.
const MOST_OF_A_SET: usize = 4200;
/// The time after its start in which an engine that has taken all input and said nothing is looked at.
const WATCHED: Duration = Duration::from_secs(20);
/// The time between two such looks.
const LOOK: Duration = Duration::from_millis(250);
/// The time that such an engine has to sleep before its input is closed.
pub(crate) const ASLEEP: Duration = Duration::from_secs(3);
/// The longest wait for its answer after that.
const AT_END: Duration = Duration::from_secs(1);

/// The reason that `uciok` or `readyok` did not come.
#[derive(Debug)]
pub(crate) enum StartSilence {
    /// The conversation has ended, and says why.
    Over(Session<Over>),
    /// The engine slept, and said nothing at the end of its input either: nothing is known of what it would have said later.
    Deaf,
}

/// The reason that a question of a watched start has no answer.
enum Unheard {
    /// It is on record.
    Recorded,
    /// As [`StartSilence::Deaf`].
    Deaf,
}

impl Inner {
    /// Asks, and looks at an engine that says nothing: where it sleeps in a read for a while, its input is closed.
    fn ask_watched(
        &mut self,
        question: Question,
        lines: &[&str],
        asleep: Duration,
        wanted: &Reply,
    ) -> Result<Instant, Unheard> {
        let is_wanted = |reply: &Reply| reply == wanted;
        let asked = Instant::now();
        let deadline = self.started + self.limits.startup;
        let until = deadline.min(asked + WATCHED.min(self.limits.startup / 3));
        let mut heard = self.say(lines).map(|_| None);
        let mut asleep_since = None;
        while matches!(heard, Ok(None)) && Instant::now() < until {
            heard = self.listen(Instant::now() + LOOK, is_wanted);
            if self.wire.has_spoken() || !self.confined.waits_for_input() {
                asleep_since = None;
                continue;
            }
            if asleep_since.get_or_insert_with(Instant::now).elapsed() >= asleep {
                self.wire.close_input();
                let at_end = self.listen(Instant::now() + AT_END, is_wanted);
                if !matches!(at_end, Ok(Some(_))) {
                    return Err(Unheard::Deaf);
                }
                heard = Err(Answer::OnlyAtEnd);
            }
        }
        let heard = match heard {
            Ok(Some(heard)) => Ok(heard),
            // An engine that has begun to talk, or still computes, is waited for as ever.
            Ok(None) => self.hear(deadline, is_wanted),
            Err(answer) => Err(answer),
        };
        self.answered(question, asked, heard.map(|(at, ..)| at)).map_err(|()| Unheard::Recorded)
    }

    /// Asks by `isready` after each option of its configuration, or once where it sets none; the moment of the last answer.
    fn ask_ready<E>(
        &mut self,
        ask: impl Fn(&mut Inner, &[&str]) -> Result<Instant, E>,
    ) -> Result<Option<Instant>, E> {
        let sets = self.sets();
        let sets = if sets.is_empty() { vec![None] } else { sets.into_iter().map(Some).collect() };
        let isready = UciCommand::IsReady.to_string();
        let mut ready = None;
        for set in sets {
            self.set = set.as_ref().map(|set| escape(set.as_bytes(), MOST_OF_A_SET));
            let lines: Vec<&str> = set.as_deref().into_iter().chain([&*isready]).collect();
            ready = Some(ask(self, &lines)?);
        }
        Ok(ready)
    }
}

impl<S> Session<S> {
    fn silent(self, unheard: Unheard) -> StartSilence {
        match unheard {
            Unheard::Recorded => StartSilence::Over(self.over()),
            Unheard::Deaf => StartSilence::Deaf,
        }
    }
}

impl Session<Started> {
    /// Starts an entry.
    ///
    /// # Errors
    /// When the sandbox could not be built; never through the entry's own fault.
    pub(crate) fn start(
        launcher: &dyn Launcher,
        plan: &StartPlan,
        purpose: Purpose,
        limits: Limits,
    ) -> Result<Session<Started>, SandboxError> {
        let (confined, pipes) = launcher.launch(plan)?;
        let started = confined.started();
        let record = ConversationRecord::since(started);
        let wire = Stop::new().and_then(|stop| Wire::new(pipes, stop, record));
        let wire = wire.map_err(|source| SandboxError::Setup {
            step: "make the pipes non-blocking",
            path: None,
            source,
        })?;
        let inner = Inner::new(wire, confined, purpose, plan.shell, limits);
        Ok(Session::from(Box::new(inner)))
    }

    /// The same with the options of its configuration, which are set before its start is over, as an event does.
    pub(crate) fn configured(mut self, options: &[(String, String)]) -> Session<Started> {
        self.inner.configured = options.to_vec();
        self
    }

    /// `uci`, until `uciok` or the limit of rule 7.4.
    pub(crate) fn uci(mut self) -> Step<Identified> {
        let deadline = self.inner.started + self.inner.limits.startup;
        let line = UciCommand::Uci.to_string();
        match self.inner.ask(Question::Uci, &[&line], deadline, &Reply::UciOk) {
            Ok(at) => {
                self.inner.run.uciok = Some(self.inner.since_start(at));
                Ok(self.becomes())
            }
            Err(()) => Err(self.over()),
        }
    }

    /// As [`Session::uci`]; but where the engine sleeps in a read of its input for a while and has written nothing, that
    /// input is closed, since one that does not flush its output answers then. [`StartSilence::Deaf`] if that brought nothing.
    pub(crate) fn uci_watched(
        mut self,
        asleep: Duration,
    ) -> Result<Session<Identified>, StartSilence> {
        let line = UciCommand::Uci.to_string();
        match self.inner.ask_watched(Question::Uci, &[&line], asleep, &Reply::UciOk) {
            Ok(at) => {
                self.inner.run.uciok = Some(self.inner.since_start(at));
                Ok(self.becomes())
            }
            Err(unheard) => Err(self.silent(unheard)),
        }
    }

    /// `uci` and the first `isready`.
    pub(crate) fn shake_hands(self) -> Step<Ready> {
        self.uci()?.isready()
    }
}

impl Session<Identified> {
    /// The first `isready`; with its answer the start is over. Each option of its configuration goes before one of its own, so
    /// that an option which it does not survive is told from the others.
    pub(crate) fn isready(mut self) -> Step<Ready> {
        let deadline = self.inner.started + self.inner.limits.startup;
        let ready = self.inner.ask_ready(|inner, lines| {
            inner.ask(Question::IsReady, lines, deadline, &Reply::ReadyOk)
        });
        match ready {
            Ok(at) => Ok(self.comes_up(at)),
            Err(()) => Err(self.over()),
        }
    }

    /// As [`Session::isready`], watched as [`Session::uci_watched`] watches.
    pub(crate) fn isready_watched(
        mut self,
        asleep: Duration,
    ) -> Result<Session<Ready>, StartSilence> {
        let ready = self.inner.ask_ready(|inner, lines| {
            inner.ask_watched(Question::IsReady, lines, asleep, &Reply::ReadyOk)
        });
        match ready {
            Ok(at) => Ok(self.comes_up(at)),
            Err(unheard) => Err(self.silent(unheard)),
        }
    }

    /// The start is over with the last `readyok`.
    fn comes_up(mut self, ready: Option<Instant>) -> Session<Ready> {
        self.inner.run.readyok = ready.map(|at| self.inner.since_start(at));
        self.inner.confined.start_is_over();
        self.becomes()
    }

    /// The same as a match has it: whatever is set, `false` for each switch of a book or of pondering among it (rule 0.1), goes with one
    /// `isready`. From here on all lines of a question are one write, as there.
    pub(crate) fn ready_for_a_match(mut self) -> Step<Ready> {
        let inner = &mut self.inner;
        let sets = [inner.sets(), inner.switches()].concat();
        inner.book_is_off = inner.run.book.option.is_some();
        inner.in_one_write = true;
        let each: Vec<String> =
            sets.iter().map(|set| escape(set.as_bytes(), MOST_OF_A_SET)).collect();
        inner.set = (!each.is_empty()).then(|| each.join("\n"));
        let isready = UciCommand::IsReady.to_string();
        let lines: Vec<&str> = sets.iter().map(String::as_str).chain([&*isready]).collect();
        let deadline = inner.started + inner.limits.startup;
        match inner.ask(Question::IsReady, &lines, deadline, &Reply::ReadyOk) {
            Ok(at) => Ok(self.comes_up(Some(at))),
            Err(()) => Err(self.over()),
        }
    }
}
