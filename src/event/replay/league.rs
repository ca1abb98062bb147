//! Round robins, matches and playoffs against what was played.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::super::format::due::Due;
use super::super::format::match_::{Match, MatchState};
use super::super::format::playoff::Playoff;
use super::super::format::round_robin::RoundRobin;
use super::super::format::{Next, Past};
use super::super::schedule::Seat;
use super::report::{Kind, StageReplay};
use super::stage_games::{Id, Seated, Shown, StageGames};
use crate::model::game::listed::RoundGame;
use crate::model::game::result::GameResult;

type Placed = BTreeMap<RoundGame, Shown>;

/// Compares a round robin; `given` are the seats where the event file gives them.
pub(super) fn round_robin(
    format: &RoundRobin,
    stage: &StageGames<'_>,
    given: Option<Vec<Id>>,
    out: &mut StageReplay,
) {
    let roster = stage.roster();
    let dues = match whole(format, stage, roster.len(), out).games(roster.len()) {
        Ok(dues) => dues,
        Err(error) => return out.notes.push(error.to_string()),
    };
    // By their tags, or one after the other where that agrees more.
    let by_number: Placed =
        dues.iter().zip(&stage.games).map(|(due, game)| (due.at, *game)).collect();
    let mut ways = vec![by_number];
    if stage.has_places() {
        let by_tag = stage.games.iter().filter_map(|game| Some((game.at?, *game)));
        ways.insert(0, by_tag.collect());
    }
    let mut best: Option<(usize, Placed, Vec<Id>)> = None;
    for placed in ways {
        let seats = given.clone().unwrap_or_else(|| voted(&dues, &placed, &roster));
        let agree = dues
            .iter()
            .filter(|due| placed.get(&due.at).is_some_and(|game| is_as(due, game, &seats)))
            .count();
        if best.as_ref().is_none_or(|(most, ..)| agree > *most) {
            best = Some((agree, placed, seats));
        }
    }
    let Some((_, placed, seats)) = best else { return };
    let seated = Seated { seats: &seats };
    for due in &dues {
        let (white, black) = (seated.id(due.white), seated.id(due.black));
        let expected = || stage.meeting(white, black);
        let game = placed.get(&due.at);
        out.compare(Kind::Games, game.is_some(), || {
            (due.at.to_string(), expected(), "there is no such game".to_owned())
        });
        let Some(game) = game else { continue };
        let is_pair = game.pair() == (white.min(black), white.max(black));
        out.compare(Kind::Pairs, is_pair, || (due.at.to_string(), expected(), stage.told(game)));
        if is_pair {
            out.compare(Kind::Colours, game.white == white, || {
                (due.at.to_string(), expected(), stage.told(game))
            });
        }
    }
    let planned: std::collections::BTreeSet<usize> =
        dues.iter().filter_map(|due| placed.get(&due.at)).map(|game| game.number).collect();
    for game in stage.games.iter().filter(|game| !planned.contains(&game.number)) {
        let at = game.at.map_or_else(|| "?".to_owned(), |at| at.to_string());
        out.compare(Kind::Games, false, || (at, "no game".to_owned(), stage.told(game)));
    }
    let order: BTreeMap<usize, usize> =
        stage.games.iter().enumerate().map(|(order, game)| (game.number, order)).collect();
    let order = |game: &&Shown| order.get(&game.number).copied();
    for round in dues.chunk_by(|a, b| a.at.round == b.at.round) {
        let planned: Vec<&Shown> = round.iter().filter_map(|due| placed.get(&due.at)).collect();
        let is_in_order = planned.is_sorted_by_key(order);
        if let Some(first) = round.first().filter(|_| !planned.is_empty()) {
            out.compare(Kind::Rounds, is_in_order, || {
                let told = |games: &[&Shown]| {
                    games.iter().map(|game| stage.told(game)).collect::<Vec<_>>().join(", ")
                };
                let mut played = planned.clone();
                played.sort_by_key(order);
                (format!("round {}", first.at.round), told(&planned), told(&played))
            });
        }
    }
}

/// The format with as many double round robins as were played, where these are whole: that is one difference.
fn whole(
    format: &RoundRobin,
    stage: &StageGames<'_>,
    seats: usize,
    out: &mut StageReplay,
) -> RoundRobin {
    let each = seats * seats.saturating_sub(1);
    let is_whole = each > 0 && stage.games.len().is_multiple_of(each);
    let played = if is_whole { stage.games.len() / each } else { 0 };
    let doubles = u32::try_from(played).ok().and_then(NonZeroU32::new).unwrap_or(format.doubles);
    out.compare(Kind::Lengths, doubles == format.doubles, || {
        let told = |doubles: NonZeroU32| format!("{doubles} double round robins");
        ("the stage".to_owned(), told(format.doubles), told(doubles))
    });
    RoundRobin { doubles, ..*format }
}

fn is_as(due: &Due, game: &Shown, seats: &[Id]) -> bool {
    let seated = Seated { seats };
    (seated.id(due.white), seated.id(due.black)) == (game.white, game.black)
}

/// The seats that most games speak for.
fn voted(dues: &[Due], placed: &Placed, roster: &[Id]) -> Vec<Id> {
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

/// Compares a match; the first of `given` has White first.
pub(super) fn match_(
    format: &Match,
    stage: &StageGames<'_>,
    given: Option<Vec<Id>>,
    out: &mut StageReplay,
) -> Vec<Vec<Id>> {
    let roster = stage.roster();
    let [_, _] = roster[..] else {
        let games = stage.games.len();
        out.compare(Kind::Games, false, || {
            ("-".to_owned(), "two engines".to_owned(), format!("{} in {games} games", roster.len()))
        });
        return Vec::new();
    };
    let seats = given.unwrap_or_else(|| stage.appearance().into_iter().rev().take(2).collect());
    // Of the first game: Black appears first, so that White is seat 0.
    let seated = Seated { seats: &seats };
    for (number, game) in stage.games.iter().enumerate() {
        let white = seated.id(Seat(number % 2));
        let black = seated.id(Seat(1 - number % 2));
        out.compare(Kind::Colours, game.white == white, || {
            (format!("game {}", number + 1), stage.meeting(white, black), stage.told(game))
        });
    }
    let state = format.after(&results(&stage.games, seated.id(Seat(0))));
    length(&stage.games, state, || stage.meeting(seats[0], seats[1]), out);
    match state {
        MatchState::Won(seat, _) => vec![vec![seated.id(seat)], vec![seated.id(Seat(1 - seat.0))]],
        MatchState::Due(_) | MatchState::Level(_) => vec![seats],
    }
}

/// Results as the format of a match reads them: it alternates colours, whatever was played.
pub(super) fn results(games: &[Shown], first: Id) -> Vec<GameResult> {
    let one = |(number, game): (usize, &Shown)| match game.result {
        GameResult::Win(color) => {
            let winner = color.fold_wb(game.white, game.black);
            let own = shakmaty::Color::from_white(number % 2 == 0);
            GameResult::Win(if winner == first { own } else { !own })
        }
        other => other,
    };
    games.iter().enumerate().map(one).collect()
}

/// Compares how long a match was.
pub(super) fn length(
    games: &[Shown],
    state: MatchState,
    told: impl Fn() -> String,
    out: &mut StageReplay,
) {
    let played = games.len();
    let (agrees, expected) = match state {
        MatchState::Won(_, length) | MatchState::Level(length) => {
            (length == played, format!("{length} games"))
        }
        MatchState::Due(sure) => (false, format!("at least {} games", played + sure)),
    };
    out.compare(Kind::Lengths, agrees, || (told(), expected, format!("{played} games")));
}

/// Compares a playoff: go after go, each of double round robins.
pub(super) fn playoff(
    format: &Playoff,
    stage: &StageGames<'_>,
    given: Option<Vec<Id>>,
    out: &mut StageReplay,
) -> Vec<Vec<Id>> {
    let roster = stage.roster();
    let single = RoundRobin { doubles: format.doubles, order: Default::default() };
    let seats = given.unwrap_or_else(|| {
        let dues = single.games(roster.len()).unwrap_or_default();
        let placed = dues.iter().zip(&stage.games).map(|(due, game)| (due.at, *game)).collect();
        voted(&dues, &placed, &roster)
    });
    let seated = Seated { seats: &seats };
    let mut past = Past::default();
    let mut left: Vec<Shown> = stage.games.clone();
    let groups = loop {
        let due = match format.next(seats.len(), &past) {
            Next::Play(due) => due,
            Next::Over(groups) => break groups,
            Next::Bye(..) => break Vec::new(),
        };
        let mut is_missing = false;
        for game in due {
            let (white, black) = (seated.id(game.white), seated.id(game.black));
            let pair = (white.min(black), white.max(black));
            let as_due = left.iter().position(|one| one.white == white && one.black == black);
            let found = as_due.or_else(|| left.iter().position(|one| one.pair() == pair));
            let at = format!("game {}", past.games.len() + 1);
            out.compare(Kind::Games, found.is_some(), || {
                (at.clone(), stage.meeting(white, black), "there is no such game".to_owned())
            });
            let Some(found) = found else {
                is_missing = true;
                break;
            };
            let played = left.remove(found);
            out.compare(Kind::Colours, played.white == white, || {
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
    for game in left {
        out.compare(Kind::Games, false, || {
            ("after the end".to_owned(), "no game".to_owned(), stage.told(&game))
        });
    }
    groups
        .into_iter()
        .map(|group| group.into_iter().map(|seat| seated.id(seat)).collect())
        .collect()
}
