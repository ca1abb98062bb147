//! A conversation with one started entry, whose type says what may be sent.
//!
//! ```text
//! Session<Started> ─uci→ Session<Identified> ─isready→ Session<Ready> ⇄ Session<Thinking>
//!        any of these ─quit, end of input, kill, or a failure→ Session<Over> ─finish→ Run
//! ```
//!
//! Every question leaves an [`Ask`](crate::model::evidence::Ask) with its times. A failure (no answer, the end, a flood) ends the
//! conversation: what an engine says after it was given up cannot be told from the next answer.

mod end;
mod evidence;
mod rest;
mod search;
mod stall;
mod start;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;

use self::evidence::Inner;
pub(crate) use self::rest::{RestWatch, WINDOWS_OF_ONE_AT_REST};
pub(crate) use self::search::{PositionForm, Search, Waited};
pub(super) use self::start::{ASLEEP, StartSilence};
use crate::model::evidence::{Ask, BookSeen, DeclaredOption};

/// Started; nothing but `uci` may be sent.
#[derive(Debug)]
pub(crate) enum Started {}
/// `uciok` has come.
#[derive(Debug)]
pub(crate) enum Identified {}
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
pub(crate) trait LiveState {}
impl LiveState for Started {}
impl LiveState for Identified {}
impl LiveState for Ready {}
impl LiveState for Thinking {}

/// One conversation in state `S`.
#[derive(Debug)]
pub(crate) struct Session<S> {
    inner: Box<Inner>,
    state: PhantomData<S>,
}

/// The next state, or the end.
pub(crate) type Step<S> = Result<Session<S>, Session<Over>>;

/// Sends `quit`, unless the conversation has ended already.
pub(crate) fn quit(step: Step<Ready>) -> Session<Over> {
    step.map_or_else(|over| over, Session::<Ready>::quit)
}

impl<S> Session<S> {
    fn becomes<T>(self) -> Session<T> {
        Session::from(self.inner)
    }

    fn over(self) -> Session<Over> {
        self.becomes()
    }

    /// The last question and its answer.
    pub(super) fn last(&self) -> Option<&Ask> {
        self.inner.run.asks.last()
    }

    /// The questions so far.
    pub(super) fn asks(&self) -> &[Ask] {
        &self.inner.run.asks
    }

    /// The options announced so far.
    pub(crate) fn options(&self) -> &[DeclaredOption] {
        &self.inner.run.options
    }

    /// The signs of a book so far.
    pub(crate) fn book(&self) -> &BookSeen {
        &self.inner.run.book
    }

    /// True if any `info` line so far had a pv.
    pub(crate) fn shows_pv(&self) -> bool {
        self.inner.pv
    }
}

impl<S> From<Box<Inner>> for Session<S> {
    fn from(inner: Box<Inner>) -> Session<S> {
        Session { inner, state: PhantomData }
    }
}
