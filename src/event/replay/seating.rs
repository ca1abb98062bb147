//! The seat of each engine in a recorded round robin, and the place of each game in its schedule.

use std::collections::{BTreeMap, BTreeSet};

use super::super::format::due::Due;
use super::stage_games::{Id, StageGame, StageGames, StageSeats};
use crate::model::game::listed::RoundGame;
use crate::model::game::result::GameResult;

/// Games by their places.
pub(super) type Placed = BTreeMap<RoundGame, StageGame>;

/// The recorded games at the places of a schedule.
pub(super) struct PlacedGames {
    pub(super) placed: Placed,
    pub(super) seats: Vec<Id>,
    /// The number of games that stand where the schedule has them.
    pub(super) agree: usize,
    /// Where games stand that were made up for at another time.
    pub(super) made_up: Vec<RoundGame>,
}

/// Lays games on a schedule: by their tags, or one after the other where that agrees more.
pub(super) fn laid(dues: &[Due], stage: &StageGames<'_>, given: Option<&[Id]>) -> PlacedGames {
    let roster = stage.roster();
    let mut ways: Vec<Placed> =
        vec![dues.iter().zip(&stage.games).map(|(due, game)| (due.at, *game)).collect()];
    if stage.has_places() {
        let mut by_tag = Placed::new();
        for game in &stage.games {
            if let Some(at) = game.at.filter(|at| dues.iter().any(|due| due.at == *at)) {
                by_tag.entry(at).or_insert(*game);
            }
        }
        ways.insert(0, by_tag);
    }
    let ways = ways.into_iter().map(|placed| {
        let seats = given.map_or_else(|| voted(dues, &placed, &roster), <[Id]>::to_vec);
        let placed = by_pairs(dues, placed, &seats);
        let agree = dues
            .iter()
            .filter(|due| placed.get(&due.at).is_some_and(|game| is_as(due, game, &seats)))
            .count();
        PlacedGames { placed, seats, agree, made_up: Vec::new() }
    });
    let best = ways.reduce(|best, way| if way.agree > best.agree { way } else { best });
    let none = PlacedGames { placed: Placed::new(), seats: roster, agree: 0, made_up: Vec::new() };
    let mut laid = best.unwrap_or(none);
    // A game that was made up for at another time stands for the one that is missing, or has no result.
    let known: BTreeSet<usize> = laid.placed.values().map(|game| game.number).collect();
    for game in stage.games.iter().filter(|game| !known.contains(&game.number)) {
        let is_without = |at: &RoundGame| {
            let there = laid.placed.get(at);
            there.is_none_or(|there| {
                there.result == GameResult::Unfinished && game.result != GameResult::Unfinished
            })
        };
        let is_open = |due: &&Due| is_without(&due.at) && is_as(due, game, &laid.seats);
        if let Some(due) = dues.iter().find(is_open) {
            laid.placed.insert(due.at, *game);
            laid.made_up.push(due.at);
        }
    }
    laid
}

/// The games of each round at the places of their pairs: who meets whom and in which order are two questions.
fn by_pairs(dues: &[Due], mut placed: Placed, seats: &[Id]) -> Placed {
    let seated = StageSeats { seats };
    for round in dues.chunk_by(|a, b| a.at.round == b.at.round) {
        let mut games: Vec<StageGame> =
            round.iter().filter_map(|due| placed.remove(&due.at)).collect();
        let mut open = Vec::new();
        for due in round {
            let pair = seated.pair(due.white, due.black);
            match games.iter().position(|game| game.pair() == pair) {
                Some(at) => {
                    placed.insert(due.at, games.remove(at));
                }
                None => open.push(due.at),
            }
        }
        placed.extend(open.into_iter().zip(games));
    }
    placed
}

fn is_as(due: &Due, game: &StageGame, seats: &[Id]) -> bool {
    let seated = StageSeats { seats };
    (seated.id(due.white), seated.id(due.black)) == (game.white, game.black)
}

/// The seats that most games speak for.
pub(super) fn voted(dues: &[Due], placed: &Placed, roster: &[Id]) -> Vec<Id> {
    let mut votes: BTreeMap<(usize, Id), usize> = BTreeMap::new();
    for due in dues {
        let Some(game) = placed.get(&due.at) else { continue };
        *votes.entry((due.white.0, game.white)).or_default() += 1;
        *votes.entry((due.black.0, game.black)).or_default() += 1;
    }
    let mut votes: Vec<((usize, Id), usize)> = votes.into_iter().collect();
    votes.sort_by_key(|(seat, count)| (std::cmp::Reverse(*count), *seat));
    let mut seats: Vec<Option<Id>> = vec![None; roster.len()];
    for ((seat, id), _) in votes {
        if !seats.contains(&Some(id))
            && let Some(free) = seats.get_mut(seat).filter(|free| free.is_none())
        {
            *free = Some(id);
        }
    }
    let mut rest: Vec<Id> =
        roster.iter().copied().filter(|id| !seats.contains(&Some(*id))).collect();
    seats
        .into_iter()
        .map(|seat| seat.unwrap_or_else(|| rest.pop().unwrap_or(Id(usize::MAX))))
        .collect()
}
