//! Rule `legal-moves`: the positions, shared out over fresh processes.

use super::list::{Item, ask_all};
use super::{Bench, Outcome, SMALL_CLOCK};
use crate::game::go::Go;
use crate::judge::support::positions;
use crate::model::evidence::Purpose;
use crate::sandbox::plan::SandboxError;

/// Asks every `shares`-th position, from number `share` on.
pub(super) fn run(
    bench: &Bench<'_>,
    share: usize,
    shares: usize,
    go: Go,
) -> Result<Outcome, SandboxError> {
    (bench.progress)(&format!("positions {} of {shares}", share + 1));
    let items: Vec<Item> = positions::all()
        .into_iter()
        .skip(share)
        .step_by(shares)
        .map(|(name, moves)| Item::new(name, &moves, go))
        .collect();
    ask_all(bench, Purpose::Positions, &items).map(Outcome::from)
}

/// Asks once, with the rule's clock, after a few moves.
pub(super) fn after_moves(bench: &Bench<'_>) -> Result<Outcome, SandboxError> {
    let item = Item::new("middlegame", &positions::middlegame(), SMALL_CLOCK);
    ask_all(bench, Purpose::Positions, &[item]).map(Outcome::from)
}
