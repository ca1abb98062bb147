//! Round robins, matches and playoffs against what was played.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use super::super::format::due::Due;
use super::super::format::match_::{MatchFormat, MatchState};
use super::super::format::playoff::Playoff;
use super::super::format::round_robin::{PairOrder, RoundRobin};
use super::super::format::{Next, StageHistory};
use super::super::schedule::Seat;
use super::encounter::PlayedMatch;
use super::report::{ComparisonKind, StageReplay};
use super::seating::{PlacedGames, laid, voted};
use super::stage_games::{Id, StageGame, StageGames, StageSeats};
use crate::model::game::result::GameResult;
use crate::model::words::counted;

/// Compares a round robin; `given` are the seats where the event file gives them.
pub(super) fn round_robin(
    format: &RoundRobin,
    stage: &StageGames<'_>,
    given: Option<Vec<Id>>,
    out: &mut StageReplay,
) {
    let roster = stage.roster();
    let format = whole(format, stage, roster.len(), out);
    let dues = match format.games(roster.len()) {
        Ok(dues) => dues,
        Err(error) => return out.notes.push(error.to_string()),
    };
    let laid = laid(&dues, stage, given.as_deref());
    let seated = StageSeats { seats: &laid.seats };
    let told = |due: &Due| stage.meeting(seated.id(due.white), seated.id(due.black));
    if 2 * laid.agree < stage.games.len().min(dues.len()) {
        return other_order(&format, &dues, stage, &laid, given.as_deref(), out);
    }
    let mut missing = Vec::new();
    // An engine that crashed too often plays no more.
    let mut unplayed: BTreeMap<Id, usize> = BTreeMap::new();
    for due in &dues {
        let (white, black) = (seated.id(due.white), seated.id(due.black));
        let game = laid.placed.get(&due.at);
        if game.is_none()
            && let Some(id) = stage.disqualified.iter().find(|id| [white, black].contains(id))
        {
            *unplayed.entry(*id).or_insert(0_usize) += 1;
            continue;
        }
        out.count(ComparisonKind::Games, game.is_some());
        let Some(game) = game else {
            missing.push((*due, white, black));
            continue;
        };
        let is_pair = game.pair() == seated.pair(due.white, due.black);
        out.compare(ComparisonKind::Pairs, is_pair, || {
            (due.at.to_string(), told(due), stage.told(game))
        });
        if is_pair {
            out.compare(ComparisonKind::Colours, game.white == white, || {
                (due.at.to_string(), told(due), stage.told(game))
            });
        }
    }
    for (id, games) in unplayed {
        let (name, games) = (stage.name(id), counted(games, "game"));
        out.notes.push(format!("{name} crashed too often: {games} of it were not played"));
    }
    for due in dues.iter().filter(|due| laid.made_up.contains(&due.at)) {
        let tag = laid.placed.get(&due.at).map(StageGame::place).unwrap_or_default();
        let played = format!("at another time, tagged {tag}");
        out.disagree(ComparisonKind::Rounds, due.at.to_string(), told(due), played);
    }
    absent(missing, &dues, stage, out);
    let planned: BTreeSet<usize> = laid.placed.values().map(|game| game.number).collect();
    let is_over = |game: &&StageGame| game.result != GameResult::Unfinished;
    let others = stage.games.iter().filter(|game| !planned.contains(&game.number));
    for game in others.filter(is_over) {
        out.disagree(ComparisonKind::Games, game.place(), "no game", stage.told(game));
    }
    let order: BTreeMap<usize, usize> =
        stage.games.iter().enumerate().map(|(order, game)| (game.number, order)).collect();
    let order = |game: &&StageGame| order.get(&game.number).copied();
    for round in dues.chunk_by(|a, b| a.at.round == b.at.round) {
        let in_time = round.iter().filter(|due| !laid.made_up.contains(&due.at));
        let planned: Vec<&StageGame> = in_time.filter_map(|due| laid.placed.get(&due.at)).collect();
        let is_in_order = planned.is_sorted_by_key(order);
        if let Some(first) = round.first().filter(|_| !planned.is_empty()) {
            out.compare(ComparisonKind::Rounds, is_in_order, || {
                let told = |games: &[&StageGame]| {
                    games.iter().map(|game| stage.told(game)).collect::<Vec<_>>().join(", ")
                };
                let mut played = planned.clone();
                played.sort_by_key(order);
                (format!("round {}", first.at.round), told(&planned), told(&played))
            });
        }
    }
}

/// Tells games that are missing: where they are the last ones, or those of an engine that left, by one difference.
fn absent(
    missing: Vec<(Due, Id, Id)>,
    dues: &[Due],
    stage: &StageGames<'_>,
    out: &mut StageReplay,
) {
    let none = |games: usize| match games {
        1 => "there is no such game".to_owned(),
        _ => "there are no such games".to_owned(),
    };
    let mut left = missing;
    let Some((first, ..)) = left.first().copied() else { return };
    let last = dues.iter().skip_while(|due| due.at != first.at).count();
    if left.len() > 1 && last == left.len() {
        let expected = format!("the last {}", counted(left.len(), "game"));
        return out.differ(
            ComparisonKind::Games,
            format!("from {} on", first.at),
            expected,
            none(left.len()),
        );
    }
    // Rounds of which nothing is there are one difference, and so are those that follow.
    let is_gone = |round: &[Due]| {
        let is_left = |due: &Due| left.iter().any(|(other, ..)| other.at == due.at);
        round.len() > 1 && round.iter().all(is_left)
    };
    let rounds: Vec<&[Due]> = dues.chunk_by(|a, b| a.at.round == b.at.round).collect();
    let runs = rounds.chunk_by(|a, b| is_gone(a) && is_gone(b));
    let gone: Vec<Vec<Due>> =
        runs.filter(|run| run.iter().all(|round| is_gone(round))).map(<[_]>::concat).collect();
    for run in gone {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        let at = match (first.at.round, last.at.round) {
            (one, other) if one == other => format!("round {one}"),
            (first, last) => format!("rounds {first} to {last}"),
        };
        let expected = counted(run.len(), "game");
        out.differ(ComparisonKind::Games, at, expected, none(run.len()));
        left.retain(|(due, ..)| run.iter().all(|other| other.at != due.at));
    }
    while let Some((due, white, black)) = left.first().copied() {
        let of = |id: Id| left.iter().filter(|(_, a, b)| [*a, *b].contains(&id)).count();
        let gone = if of(white) >= of(black) { white } else { black };
        let games = of(gone);
        let at = due.at.to_string();
        // Two may be games that were lost here and there, but for the last ones of an engine that left.
        let is_gone = |game: &StageGame| game.at.is_some_and(|at| at < due.at) || !game.plays(gone);
        if games > 2 || games == 2 && stage.games.iter().all(is_gone) {
            let expected = format!("{} of {}", counted(games, "game"), stage.name(gone));
            out.differ(ComparisonKind::Games, format!("from {at} on"), expected, none(games));
            left.retain(|(_, a, b)| ![*a, *b].contains(&gone));
        } else {
            out.differ(ComparisonKind::Games, at, stage.meeting(white, black), none(1));
            left.remove(0);
        }
    }
}

/// Compares games that were played in an order of their own: that is one difference, and what is left are the pairs.
fn other_order(
    format: &RoundRobin,
    dues: &[Due],
    stage: &StageGames<'_>,
    laid: &PlacedGames,
    given: Option<&[Id]>,
    out: &mut StageReplay,
) {
    for at in 0..dues.len() {
        out.count(ComparisonKind::Pairs, at < laid.agree);
    }
    let other = PairOrder::ALL.into_iter().filter(|order| *order != format.order).find(|order| {
        let other = RoundRobin { order: *order, ..*format };
        let dues = other.games(stage.roster().len()).unwrap_or_default();
        super::seating::laid(&dues, stage, given).agree == stage.games.len()
    });
    let played = match other {
        Some(order) => format!("the order {:?}", order.word()),
        None => format!("another one; {} of {} games agree", laid.agree, stage.games.len()),
    };
    out.differ(
        ComparisonKind::Pairs,
        "the stage".to_owned(),
        format!("the order {:?}", format.order.word()),
        played,
    );
    let roster = stage.roster();
    let met: BTreeSet<(Id, Id)> = stage.games.iter().map(StageGame::pair).collect();
    let all = roster.len() * roster.len().saturating_sub(1) / 2;
    if 2 * met.len() < all {
        // Another format, or few games of it: one cause.
        let played = format!("{} of {all} pairs met", met.len());
        out.disagree(ComparisonKind::Games, "the stage", "everybody meets everybody", played);
        return;
    }
    let cycles = format.cycles.get() as usize;
    for (number, white) in roster.iter().enumerate() {
        for black in &roster[number + 1..] {
            let own: Vec<&StageGame> =
                stage.games.iter().filter(|game| game.pair() == (*white, *black)).collect();
            out.compare(ComparisonKind::Games, own.len() == cycles, || {
                (stage.meeting(*white, *black), counted(cycles, "game"), counted(own.len(), "game"))
            });
            let with_white = own.iter().filter(|game| game.white == *white).count();
            out.compare(
                ComparisonKind::Colours,
                with_white.abs_diff(own.len() - with_white) <= 1,
                || {
                    let at = stage.meeting(*white, *black);
                    let played = format!("{with_white} of {}", own.len());
                    (
                        at,
                        format!("both colours for {}", stage.name(*white)),
                        format!("White in {played}"),
                    )
                },
            );
        }
    }
}

/// The format with as many cycles as were played, where these are whole: that is one difference.
fn whole(
    format: &RoundRobin,
    stage: &StageGames<'_>,
    seats: usize,
    out: &mut StageReplay,
) -> RoundRobin {
    let meetings = stage.games_of_pairs();
    // Where an engine left, others met more often than it did.
    let most = meetings.values().copied().max().and_then(NonZeroU32::new);
    let is_whole = meetings.len() == seats * seats.saturating_sub(1) / 2
        && meetings.values().all(|games| Some(*games) == most.map(NonZeroU32::get));
    let cycles = most.filter(|_| is_whole).unwrap_or(format.cycles);
    let whole = RoundRobin { cycles, ..*format };
    out.compare(ComparisonKind::Lengths, whole == *format, || {
        ("the stage".to_owned(), format.in_words(), whole.in_words())
    });
    whole
}

/// Compares a match; the first of `given` has White first.
pub(super) fn match_(
    format: &MatchFormat,
    stage: &StageGames<'_>,
    given: Option<Vec<Id>>,
    out: &mut StageReplay,
) -> Vec<Vec<Id>> {
    let roster = stage.roster();
    let [_, _] = roster[..] else {
        let played = format!("{} in {} games", roster.len(), stage.games.len());
        out.disagree(ComparisonKind::Games, "-", "two engines", played);
        return Vec::new();
    };
    let given = given.or_else(|| {
        let white = PlayedMatch::first_white(&stage.games)?;
        Some(
            std::iter::once(white)
                .chain(roster.iter().copied().filter(|id| *id != white))
                .collect(),
        )
    });
    let seats = given.unwrap_or(roster);
    let seated = StageSeats { seats: &seats };
    let played = PlayedMatch::of(&stage.games, seated.id(Seat(0)), seated.id(Seat(1)), format);
    played.colours(stage, out, |number| format!("game {number}"));
    played.length(format, || stage.meeting(seats[0], seats[1]), out);
    match played.state(format) {
        MatchState::Won(seat, _) => vec![vec![seated.id(seat)], vec![seated.id(Seat(1 - seat.0))]],
        MatchState::Due(_) | MatchState::Level(_) => vec![seats],
    }
}

/// Compares a playoff: go after go, each of double round robins.
///
/// `taken` is the number of spots that engines have which do not play it.
pub(super) fn playoff(
    format: &Playoff,
    taken: usize,
    stage: &StageGames<'_>,
    given: Option<Vec<Id>>,
    out: &mut StageReplay,
) -> Vec<Vec<Id>> {
    let roster = stage.roster();
    let single = RoundRobin::of_doubles(format.doubles, Default::default());
    let seats = given.unwrap_or_else(|| {
        let dues = single.games(roster.len()).unwrap_or_default();
        let placed = dues.iter().zip(&stage.games).map(|(due, game)| (due.at, *game)).collect();
        voted(&dues, &placed, &roster)
    });
    let seated = StageSeats { seats: &seats };
    let mut past = StageHistory { taken, ..StageHistory::default() };
    let mut left: Vec<StageGame> = stage.with_results();
    let groups = loop {
        let due = match format.next(seats.len(), &past) {
            Next::Play(due) => due,
            Next::Over(groups) => break groups,
            Next::Bye(..) => break Vec::new(),
        };
        let mut is_missing = false;
        for game in due {
            let (white, black) = (seated.id(game.white), seated.id(game.black));
            let pair = seated.pair(game.white, game.black);
            let as_due = left.iter().position(|one| one.white == white && one.black == black);
            let found = as_due.or_else(|| left.iter().position(|one| one.pair() == pair));
            let at = format!("game {}", past.games.len() + 1);
            out.compare(ComparisonKind::Games, found.is_some(), || {
                (at.clone(), stage.meeting(white, black), "there is no such game".to_owned())
            });
            let Some(found) = found else {
                is_missing = true;
                break;
            };
            let played = left.remove(found);
            out.compare(ComparisonKind::Colours, played.white == white, || {
                (at, stage.meeting(white, black), stage.told(&played))
            });
            // Its place in the playoff, whatever its tag.
            let one = seated.played(&played, game.at);
            past.games.extend(one.map(|one| (game.at, one)));
        }
        if is_missing {
            return Vec::new();
        }
    };
    if let Some(first) = left.first() {
        let played = match left.len() {
            1 => stage.told(first),
            games => format!("{}, the first {}", counted(games, "game"), stage.told(first)),
        };
        out.disagree(ComparisonKind::Games, "after the end", "no game", played);
    }
    seated.groups(groups)
}
