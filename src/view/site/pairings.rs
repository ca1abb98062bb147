//! The pairings of a Swiss, round by round: who met whom on how many points, the result with a link to each game, and
//! who had no opponent.

use maud::{Markup, html};

use super::result_link::result_link;
use super::{Site, shell, word};
use crate::event::broadcast::{Pairing, Round, Rounds, Slot};
use crate::model::words::counted;
use crate::view::wide_table::wide_table;

/// The pairings with their games.
pub(super) fn section(site: &Site<'_>, rounds: &Rounds, slots: &[Slot]) -> Markup {
    let last = rounds.paired.last().map(|round| round.number);
    html! {
        h3 { "Pairings" }
        @for round in &rounds.paired {
            details.round open[Some(round.number) == last || rounds.paired.len() <= 2] {
                summary { "Round " (round.number) ": " (counted(round.pairings.len(), "pairing")) }
                (one(site, round, slots))
            }
        }
        @if let Some(next) = rest(last.unwrap_or(0), rounds.planned) { p.soft { (next) } }
    }
}

/// The rounds that are not paired yet.
fn rest(last: u32, planned: u32) -> Option<String> {
    match planned.saturating_sub(last) {
        0 => None,
        1 => Some(format!("Round {planned} is paired when the one before it is over.")),
        _ => Some(format!(
            "Rounds {} to {planned} are paired one by one, each when the one before it is over.",
            last + 1
        )),
    }
}

fn one(site: &Site<'_>, round: &Round, slots: &[Slot]) -> Markup {
    let head = html! {
        th scope="col" title="White in the first game" { "White" }
        th.r scope="col" title="before the round" { "Points" }
        th scope="col" title="Black in the first game" { "Black" }
        th.r scope="col" title="before the round" { "Points" }
        th.r scope="col" { "Result" }
        th scope="col" title="for White" { "Games" }
    };
    let rows = html! { @for pairing in &round.pairings { (row(site, pairing, slots)) } };
    html! {
        (wide_table(&head, &rows))
        @if let Some((name, points)) = &round.bye {
            p {
                strong { (shell::name(name)) } " has no opponent in this round: a bye, "
                (points) @if points.0 == 2 { " point" } @else { " points" } "."
            }
        }
    }
}

fn row(site: &Site<'_>, pairing: &Pairing, slots: &[Slot]) -> Markup {
    let [white, black] = &pairing.engines;
    let own = slots.iter().filter(|slot| pairing.games.contains(&slot.key));
    let [won, lost] = pairing.points;
    html! {
        tr {
            th scope="row" { (word(white)) }
            td.r { (pairing.before[0]) }
            td { (word(black)) }
            td.r { (pairing.before[1]) }
            td.r { @if won.0 + lost.0 > 0 { (won) " – " (lost) } }
            td.games { @for slot in own { (result_link(site, slot, white)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_come_are_told() {
        assert_eq!(rest(3, 3), None);
        assert_eq!(rest(2, 3).unwrap(), "Round 3 is paired when the one before it is over.");
        assert!(rest(0, 3).unwrap().starts_with("Rounds 1 to 3 are paired one by one"));
    }
}
