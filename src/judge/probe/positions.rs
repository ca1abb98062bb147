//! Rule `legal-moves`: the positions, shared out over fresh processes.

use std::time::Duration;

use super::list::{Item, ask_all, ask_within};
use super::{Bench, ProbeOutcome, SMALL_CLOCK};
use crate::engine::moves::Moves;
use crate::game::go::Go;
use crate::judge::support::positions;
use crate::model::evidence::{LONG_GAME, Purpose};
use crate::sandbox::plan::SandboxError;

/// The time for all positions where they are asked once more on a bigger clock, and the time for that is over.
const LEAST_TIME: Duration = Duration::from_secs(31);

/// The moves of a side in the longest game.
const MOVES: usize = LONG_GAME.0 as usize / 2;

/// Positions of one kind that stand beside each other, about.
const KIND: usize = 5;

/// A part of the positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct PositionShare {
    /// Its number, from 0.
    pub(super) number: usize,
    /// The parts that there are.
    pub(super) of: usize,
}

/// Asks the positions of a share, after the item that goes first, if there is one.
pub(super) fn run(
    bench: &Bench<'_>,
    share: PositionShare,
    go: Go,
    first: Option<Item>,
) -> Result<ProbeOutcome, SandboxError> {
    let waited = bench.limits.answer.as_secs();
    (bench.progress)(&format!(
        "positions {} of {} (each move within {waited} s of its clock)",
        share.number + 1,
        share.of
    ));
    let mut places: Vec<_> = positions::all().into_iter().enumerate().collect();
    // Neighbours are of one kind: with the first of every few goes something of each.
    places.sort_by_key(|(at, _)| at % KIND);
    let own: Vec<Item> = places
        .into_iter()
        .map(|(_, place)| place)
        .skip(share.number)
        .step_by(share.of)
        .map(|(name, moves)| Item::new(Purpose::Positions, name, &moves, go))
        .collect();
    // A process that is asked all is asked as often as in the longest game.
    let most = if share.of == 1 && !bench.is_late() { MOVES.max(own.len()) } else { own.len() };
    let own = own.iter().cycle().take(most).cloned();
    // A new game once more, from the start position, after a board on which Black is to move: one that is not set back shows there alone,
    // whatever it moves. First of all, since a slow engine is not asked to the end, and last, after all others.
    let black = positions::middlegame_as_black();
    let set_back = [("middlegame-as-black", &black), ("startpos-again", &Moves::start())]
        .map(|(name, moves)| Item::new(Purpose::Positions, name, moves, go));
    let at_first = set_back.clone().into_iter().filter(|_| share.number == 0);
    let items: Vec<Item> = first.into_iter().chain(at_first).chain(own).chain(set_back).collect();
    let time = bench.plan.waits.positions.min(bench.left().max(LEAST_TIME));
    ask_within(bench, &items, time).map(ProbeOutcome::from)
}

/// Asks once, with the rule's clock, after a few moves.
pub(super) fn after_moves(bench: &Bench<'_>) -> Result<ProbeOutcome, SandboxError> {
    let moves = positions::middlegame();
    let item = Item::new(Purpose::Positions, "middlegame", &moves, SMALL_CLOCK);
    ask_all(bench, &[item]).map(ProbeOutcome::from)
}
