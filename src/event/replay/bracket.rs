//! Comparison of a recorded knockout with its format: the bracket, first White and the length of each match.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use super::super::format::knockout::{
    BracketDraw, Encounter, Knockout, KnockoutBracket, WhiteFirst,
};
use super::super::format::match_::MatchFormat;
use super::super::schedule::Seat;
use super::encounter::PlayedMatch;
use super::report::{ComparisonKind, StageReplay};
use super::stage_games::{Id, StageGame, StageGames, StageSeats};
use crate::model::game::result::GameResult;
use crate::model::words::counted;

/// The most pairs that are tried where all matches of a round were of another length.
const MOST_PAIRS: u32 = 50;

/// Compares a knockout whose games have so many parts; the places come back.
pub(super) fn knockout(
    format: &Knockout,
    stage: &StageGames<'_>,
    given: Option<Vec<Id>>,
    parts: usize,
    out: &mut StageReplay,
) -> Vec<Vec<Id>> {
    let mut matches: BTreeMap<(Id, Id), Vec<StageGame>> = BTreeMap::new();
    let mut order: Vec<(Id, Id)> = Vec::new();
    for game in stage.with_results() {
        if !order.contains(&game.pair()) {
            order.push(game.pair());
        }
    }
    for game in stage.games.iter().filter(|game| order.contains(&game.pair())) {
        matches.entry(game.pair()).or_default().push(*game);
    }
    if given.is_none() {
        out.notes.push("the first round gives the bracket, and agrees by that".to_owned());
    }
    let is_given = given.is_some();
    let (skipped, format) = later(format, stage, parts);
    if skipped > 0 {
        let first = if skipped == 1 { "round".to_owned() } else { counted(skipped, "round") };
        out.notes.push(format!("there are no games of the first {first}"));
    }
    let read = |format: &Knockout| {
        let lay = |seats| PlacedBracket::out(format, seats, is_given, &matches, stage);
        match &given {
            Some(seats) => lay(seats.clone()),
            None => {
                let read = |absent| lay(first_round(format, absent, &order, &matches, stage));
                let [one, other] = [Absent::Matches, Absent::Engines].map(read);
                let odd =
                    |laid: &PlacedBracket| (laid.absent(&matches), laid.begun_by_others(&matches));
                if odd(&other) < odd(&one) { other } else { one }
            }
        }
    };
    let mut laid = read(&format);
    let turned = Knockout { white_first: other_side(format.white_first), ..format.clone() };
    let other = read(&turned);
    if laid.begun_by_others(&matches) > 1.max(4 * other.begun_by_others(&matches)) {
        out.compare(ComparisonKind::Colours, false, || {
            let told = |side| match side {
                WhiteFirst::Lower => "White first for the lower places".to_owned(),
                WhiteFirst::Upper => "White first for the upper places".to_owned(),
            };
            ("the stage".to_owned(), told(format.white_first), told(turned.white_first))
        });
        laid = other;
    }
    let seated = StageSeats { seats: &laid.seats };
    let bracket = &laid.bracket;
    let found = |one: &Encounter| matches.get(&laid.pair(one));
    let mut seen = Vec::new();
    // Where the files end before the last round, that is one difference.
    let last =
        bracket.encounters.iter().rposition(|one| found(one).is_some()).map_or(0, |at| at + 1);
    let (known, behind) = bracket.encounters.split_at(last);
    let (known, behind) =
        if behind.len() > 1 { (known, behind) } else { (&bracket.encounters[..], &[][..]) };
    if let Some(first) = behind.first() {
        out.compare(ComparisonKind::Matches, false, || {
            let at = format!("from match {} on", first.number);
            (at, "further matches".to_owned(), "there are no games of them".to_owned())
        });
    }
    for one in known {
        let (white, black) = (seated.id(one.white), seated.id(one.black));
        let told = || format!("match {}", one.number);
        let games = found(one);
        out.compare(ComparisonKind::Matches, games.is_some(), || {
            let with =
                |id: Id| stage.meetings(order.iter().filter(|pair| pair.0 == id || pair.1 == id));
            let played = match [white, black].into_iter().any(is_unknown) {
                true => "there are no games of it".to_owned(),
                false => format!("{}; {}", with(white), with(black)),
            };
            (told(), stage.meeting(white, black), played)
        });
        let Some(games) = games else { continue };
        seen.push(seated.pair(one.white, one.black));
        // The first game says who began; a length is a question of its own.
        let played = PlayedMatch::of(games, white, black, &one.format);
        played.colours(stage, out, |number| format!("{}, game {number}", told()));
    }
    lengths(&laid, &matches, stage, out);
    for pair in order.iter().filter(|pair| !seen.contains(pair)) {
        out.compare(ComparisonKind::Matches, false, || {
            ("-".to_owned(), "no such match".to_owned(), stage.meeting(pair.0, pair.1))
        });
    }
    rounds(&bracket.encounters, &seated, &order, stage, out);
    seated.groups(bracket.places())
}

fn other_side(side: WhiteFirst) -> WhiteFirst {
    match side {
        WhiteFirst::Lower => WhiteFirst::Upper,
        WhiteFirst::Upper => WhiteFirst::Lower,
    }
}

/// The reading of a first round in which not everybody plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absent {
    /// Matches of it are not in the files.
    Matches,
    /// Places of the bracket are nobody's.
    Engines,
}

/// A bracket as its games lay it out.
struct PlacedBracket {
    /// The engine of each seat.
    seats: Vec<Id>,
    bracket: KnockoutBracket,
}

impl PlacedBracket {
    fn out(
        format: &Knockout,
        seats: Vec<Id>,
        is_given: bool,
        matches: &BTreeMap<(Id, Id), Vec<StageGame>>,
        stage: &StageGames<'_>,
    ) -> PlacedBracket {
        // Games tell the places of a bracket and not who is seeded how: its lower place is taken for the lower seed.
        let places = format.draw.places(seats.len());
        let as_drawn = Knockout { draw: BracketDraw::AsDrawn, ..format.clone() };
        let (format, seats) = match !is_given && places.len() == seats.len() {
            true => (&as_drawn, places.iter().map(|seat| seats[seat.0]).collect()),
            false => (format, seats),
        };
        let seated = StageSeats { seats: &seats };
        let winner = |one: &Encounter| {
            let (white, black) = (seated.id(one.white), seated.id(one.black));
            let games = matches.get(&seated.pair(one.white, one.black));
            // Where nothing is told by the match itself, whoever plays on has won it.
            let last = games.and_then(|games| games.last()).map_or(0, |game| game.number);
            let plays_on =
                |id: Id| stage.games.iter().any(|game| game.number > last && game.plays(id));
            let played = games.map(|games| PlayedMatch::of(games, white, black, &one.format));
            let is_known = played.is_some_and(|played| played.is_known());
            match (games.map_or(0, |games| lead(games, white)), plays_on(white), plays_on(black)) {
                (lead, true, false) if !is_known || lead == 0 => Some(one.white),
                (lead, false, true) if !is_known || lead == 0 => Some(one.black),
                (1.., ..) => Some(one.white),
                (..=-1, ..) => Some(one.black),
                (0, ..) => None,
            }
        };
        let bracket = format.bracket(seats.len(), winner);
        PlacedBracket { seats, bracket }
    }

    fn pair(&self, one: &Encounter) -> (Id, Id) {
        StageSeats { seats: &self.seats }.pair(one.white, one.black)
    }

    /// The matches in which another engine than its place says had White first.
    fn begun_by_others(&self, matches: &BTreeMap<(Id, Id), Vec<StageGame>>) -> usize {
        let seated = StageSeats { seats: &self.seats };
        let is_other = |one: &&Encounter| {
            let first = matches.get(&self.pair(one)).and_then(|own| PlayedMatch::first_white(own));
            first.is_some_and(|white| white != seated.id(one.white))
        };
        self.bracket.encounters.iter().filter(is_other).count()
    }

    /// The matches of which there are no games, and those that have no place.
    fn absent(&self, matches: &BTreeMap<(Id, Id), Vec<StageGame>>) -> usize {
        let all = &self.bracket.encounters;
        let found = all.iter().filter(|one| matches.contains_key(&self.pair(one))).count();
        all.len() + matches.len() - 2 * found
    }
}

/// Returns the sign of the lead of `first` in a match: 1, 0 or -1.
fn lead(games: &[StageGame], first: Id) -> i64 {
    let one = |game: &StageGame| match game.result {
        GameResult::Win(color) if color.fold_wb(game.white, game.black) == first => 2,
        GameResult::Win(_) => -2,
        GameResult::Draw | GameResult::Unfinished => 0,
    };
    games.iter().map(one).sum::<i64>().signum()
}

/// The number of rounds that the files leave out, and the format from the first one on that they hold.
fn later(format: &Knockout, stage: &StageGames<'_>, parts: usize) -> (usize, Knockout) {
    let first = stage.games.iter().map(|game| game.part).min().unwrap_or(0);
    let skipped = if first < parts { first.min(format.pairs.len() - 1) } else { 0 };
    (skipped, Knockout { pairs: format.pairs[skipped..].to_vec(), ..format.clone() })
}

/// An engine that no game names: the loser of a match that is missing.
fn unknown(number: usize) -> Id {
    Id(usize::MAX - 1 - number)
}

fn is_unknown(id: Id) -> bool {
    id.0 > usize::MAX / 2
}

/// The bracket's places by the matches of the first round: those in which both play for the first time.
fn first_round(
    format: &Knockout,
    absent: Absent,
    order: &[(Id, Id)],
    matches: &BTreeMap<(Id, Id), Vec<StageGame>>,
    stage: &StageGames<'_>,
) -> Vec<Id> {
    // Upper place first.
    let placed = |pair: &(Id, Id)| {
        let white = PlayedMatch::first_white(matches.get(pair)?)?;
        let black = if white == pair.0 { pair.1 } else { pair.0 };
        Some(match format.white_first {
            WhiteFirst::Lower => [black, white],
            WhiteFirst::Upper => [white, black],
        })
    };
    let part =
        |pair: &&(Id, Id)| matches.get(*pair).and_then(|games| games.first()).map(|game| game.part);
    let parts: BTreeSet<usize> = order.iter().filter_map(|pair| part(&pair)).collect();
    let of = |number: usize| -> Vec<(Id, Id)> {
        let wanted = parts.iter().nth(number).copied();
        order.iter().filter(|pair| wanted.is_some() && part(pair) == wanted).copied().collect()
    };
    let (first, second) = (of(0), of(1));
    // Parts may be matches.
    let are_rounds = parts.len() <= Knockout::rounds(stage.roster().len()) as usize + 1;
    let mut seats: Vec<Id> = Vec::new();
    let all = stage.roster();
    if absent == Absent::Engines && !all.len().is_power_of_two() {
        let taken = |seat: Seat| seat.0 < all.len();
        let places: Vec<bool> = format.draw.places(all.len()).into_iter().map(taken).collect();
        seats = with_byes(&places, order.iter().filter_map(placed));
    } else if are_rounds && first.len() < 2 * second.len() && second.len().is_power_of_two() {
        // Matches are missing: the second round tells where those that are there belong.
        for id in second.iter().filter_map(placed).flatten() {
            let own = first.iter().find(|pair| pair.0 == id || pair.1 == id).and_then(placed);
            seats.extend(own.unwrap_or_else(|| [id, unknown(seats.len())]));
        }
    } else {
        for pair in order {
            if !seats.contains(&pair.0) && !seats.contains(&pair.1) {
                seats.extend(placed(pair).into_iter().flatten());
            }
        }
    }
    seats.extend(all.into_iter().filter(|id| !seats.contains(id)).collect::<Vec<_>>());
    // These are the places; a draw says which seat each of them is.
    let places = format.draw.places(seats.len());
    let mut drawn = seats.clone();
    let known = places.into_iter().filter(|seat| seat.0 < seats.len());
    for (place, id) in known.zip(&seats) {
        drawn[place.0] = *id;
    }
    drawn
}

/// The engines of a bracket by its places, of which some are nobody's: who has no match in the first round is known by that of
/// the second. The matches come in the order of play, the upper place of each first.
fn with_byes(places: &[bool], mut matches: impl Iterator<Item = [Id; 2]>) -> Vec<Id> {
    // Of each place of a round: the engines that can come to it, none where nobody can.
    let mut slots: Vec<Option<Vec<Option<Id>>>> =
        places.iter().map(|is_taken| is_taken.then(|| vec![None])).collect();
    while slots.len() > 1 {
        let both = |pair: &[Option<Vec<Option<Id>>>]| match pair {
            [Some(upper), Some(lower)] => {
                let [mut above, mut below] = [upper.clone(), lower.clone()];
                if let Some([one, other]) = matches.next() {
                    let is_crossed = above.contains(&Some(other)) || below.contains(&Some(one));
                    let own = if is_crossed { [other, one] } else { [one, other] };
                    for (slot, id) in [&mut above, &mut below].into_iter().zip(own) {
                        if let [unknown @ None] = &mut slot[..] {
                            *unknown = Some(id);
                        }
                    }
                }
                Some([above, below].concat())
            }
            _ => pair.iter().flatten().next().cloned(),
        };
        slots = slots.chunks(2).map(both).collect();
    }
    let known = slots.into_iter().flatten().flatten().enumerate();
    known.map(|(at, id)| id.unwrap_or_else(|| unknown(at))).collect()
}

/// Compares the lengths of the matches of each round: that all of them were of another one is one difference.
fn lengths(
    laid: &PlacedBracket,
    matches: &BTreeMap<(Id, Id), Vec<StageGame>>,
    stage: &StageGames<'_>,
    out: &mut StageReplay,
) {
    let seated = StageSeats { seats: &laid.seats };
    let kind = |one: &Encounter| (one.round, one.format.clone());
    for round in laid.bracket.encounters.chunk_by(|a, b| kind(a) == kind(b)) {
        let played = round.iter().filter_map(|one| Some((one, matches.get(&laid.pair(one))?)));
        let played: Vec<(&Encounter, &Vec<StageGame>)> = played.collect();
        let Some((first, _)) = played.first() else { continue };
        let read = |format: &MatchFormat, one: &Encounter, games: &[StageGame]| {
            PlayedMatch::of(games, seated.id(one.white), seated.id(one.black), format)
        };
        let agree = |format: &MatchFormat| {
            let agrees = |(one, games): &&(&Encounter, &Vec<StageGame>)| {
                read(format, one, games).is_as_long(format)
            };
            played.iter().filter(agrees).count()
        };
        let own = agree(&first.format);
        let others = [first.format.early, !first.format.early].into_iter().flat_map(|early| {
            let of = |pairs| MatchFormat { pairs, early, ..first.format.clone() };
            (1..=MOST_PAIRS).filter_map(NonZeroU32::new).map(of).collect::<Vec<_>>()
        });
        let mut others = others.filter(|_| played.len() > own + 1);
        if let Some(other) = others.find(|other| agree(other) == played.len()) {
            (0..played.len()).for_each(|at| out.count(ComparisonKind::Lengths, at < own));
            let told = |format: &MatchFormat| {
                let end = if format.early { "" } else { ", to their end" };
                format!("{} a match{end}", counted(format.pairs.get() as usize, "pair"))
            };
            let at = format!("round {}", first.round);
            out.differ(ComparisonKind::Lengths, at, told(&first.format), told(&other));
            continue;
        }
        for (one, games) in &played {
            let (white, black) = (seated.id(one.white), seated.id(one.black));
            let told = || format!("match {}: {}", one.number, stage.meeting(white, black));
            read(&one.format, one, games).length(&one.format, told, out);
        }
    }
}

/// Compares the order of the matches of each round.
fn rounds(
    encounters: &[Encounter],
    seated: &StageSeats<'_>,
    order: &[(Id, Id)],
    stage: &StageGames<'_>,
    out: &mut StageReplay,
) {
    let pair = |one: &Encounter| seated.pair(one.white, one.black);
    for round in encounters.chunk_by(|a, b| a.round == b.round) {
        let plan: Vec<(Id, Id)> =
            round.iter().map(pair).filter(|pair| order.contains(pair)).collect();
        let played: Vec<(Id, Id)> =
            order.iter().copied().filter(|pair| plan.contains(pair)).collect();
        let Some(first) = round.first().filter(|_| !plan.is_empty()) else { continue };
        out.compare(ComparisonKind::Rounds, plan == played, || {
            (format!("round {}", first.round), stage.meetings(&plan), stage.meetings(&played))
        });
    }
}
