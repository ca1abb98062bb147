//! The end of a conversation, the looks at a waiting engine, and what is left after `quit`.

use std::time::{Duration, Instant};

use super::evidence::DYING;
use super::rest::{self, RestAnswer, RestWatch};
use super::stall::StallDetector;
use super::{LiveState, Over, Session};
use crate::engine::wire::Silence;
use crate::model::evidence::{Answer, EndHow, ExitHow, Question, Run};

/// While we wait for processes to go, the pipes are emptied this often.
const SLICE: Duration = Duration::from_millis(100);

impl<S: LiveState> Session<S> {
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
        self.inner.run.ending.how = EndHow::Killed;
        self.inner.wire.note("killed");
        let asked = Instant::now();
        self.inner.confined.kill();
        self.inner.run.ending.exit = self.inner.confined.wait_first(asked + DYING);
        self.inner.run.ending.exit_after = Some(asked.elapsed());
        self.over()
    }

    /// Looks whether the engine rests before its first `go`, and notes what share of a processor it uses; each look
    /// takes `window`, and one that does not come to rest is looked at again. Nothing is noted if it ended, or if no
    /// look could tell.
    pub(crate) fn rest_before_go(&mut self, window: Duration) {
        let inner = &mut self.inner;
        match rest::before_go(&mut inner.wire, &*inner.confined, window) {
            Some(RestAnswer::Seen(share)) => inner.run.idle_before_go = Some(share),
            Some(RestAnswer::Unclear) => inner.run.strained = true,
            None => {}
        }
    }

    /// Looks for up to some forty windows whether the engine rests after a `bestmove`. Nothing is noted if it ended, or if
    /// that could not be told.
    pub(crate) fn rest_after_move(&mut self, window: Duration, watch: RestWatch) {
        let inner = &mut self.inner;
        match rest::after_move(&mut inner.wire, &*inner.confined, window, watch) {
            Some(RestAnswer::Seen(seen)) => inner.run.idle_after_moves.push(seen),
            Some(RestAnswer::Unclear) => inner.run.strained = true,
            None => {}
        }
    }
}

impl Session<Over> {
    /// Waits until every process has ended, or the grace after `quit` is over, and writes down what is
    /// left then. Only for a run that ended by `quit`.
    pub(crate) fn wait_for_leftovers(&mut self) {
        let inner = &mut self.inner;
        let asked = match inner.run.asks.last() {
            Some(ask) if matches!(ask.question, Question::Quit) => inner.started + ask.at,
            _ => Instant::now(),
        };
        let limit = asked + inner.limits.grace;
        let mut stall = StallDetector::new(asked, limit);
        loop {
            let slice = (Instant::now() + SLICE).min(limit);
            if inner.confined.wait_empty(slice) {
                inner.run.ending.emptied_after = Some(asked.elapsed());
                break;
            }
            inner.wire.drain();
            if Instant::now() >= stall.until() {
                if stall.is_over() {
                    inner.run.left_processes = inner.confined.processes();
                    inner.run.strained |= !stall.only_waited(&*inner.confined);
                    inner.note_processes();
                    break;
                }
                stall.look(&*inner.confined);
            }
        }
        if inner.run.ending.exit.is_none() && inner.run.ending.emptied_after.is_some() {
            inner.run.ending.exit = inner.confined.wait_first(Instant::now());
        }
    }

    /// True if the engine's first process ended by itself, and how.
    pub(crate) fn exit(&self) -> Option<ExitHow> {
        self.inner.run.ending.exit
    }

    /// The way in which it ended.
    pub(crate) fn ended_by(&self) -> EndHow {
        self.inner.run.ending.how
    }

    /// Takes everything down and hands over the evidence.
    #[must_use]
    pub(crate) fn finish(self) -> Run {
        (*self.inner).into_run()
    }

    /// The same of a conversation that had several purposes, one after the other: a run for each.
    #[must_use]
    pub(crate) fn finish_all(self) -> Vec<Run> {
        (*self.inner).into_runs()
    }
}
