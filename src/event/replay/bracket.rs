//! Comparison of a recorded knockout with its format: the bracket, first White and the length of each match.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use super::super::format::bracket_draw::BracketDraw;
use super::super::format::knockout::{Encounter, Knockout, KnockoutBracket, WhiteFirst};
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
    let played = PlayedMatches::of(stage);
    if given.is_none() {
        out.notes.push("the first round gives the bracket, and agrees by that".to_owned());
    }
    let (skipped, format) = later(format, stage, parts);
    if skipped > 0 {
        let first = if skipped == 1 { "round".to_owned() } else { counted(skipped, "round") };
        out.notes.push(format!("there are no games of the first {first}"));
    }
    let laid = laid_out(&format, given.as_deref(), &played, out);
    let known = up_to_last(&laid, &played, out);
    opponents(known, &laid, &played, out);
    lengths(&laid, &played, out);
    let is_laid = |pair| laid.bracket.encounters.iter().any(|one| laid.pair(one) == pair);
    for pair in played.order.iter().filter(|pair| !is_laid(**pair)) {
        let played = stage.meeting(pair.0, pair.1);
        out.disagree(ComparisonKind::Matches, "-", "no such match", played);
    }
    rounds(&laid, &played, out);
    laid.seated().groups(laid.bracket.places())
}

/// The matches of a knockout that were played.
struct PlayedMatches<'a> {
    stage: &'a StageGames<'a>,
    /// The games of each match by its engines.
    games: BTreeMap<(Id, Id), Vec<StageGame>>,
    /// The engines of each match, in the order of play.
    order: Vec<(Id, Id)>,
}

impl<'a> PlayedMatches<'a> {
    /// The matches of which a game has a result.
    fn of(stage: &'a StageGames<'_>) -> PlayedMatches<'a> {
        let mut order: Vec<(Id, Id)> = Vec::new();
        for game in stage.with_results() {
            if !order.contains(&game.pair()) {
                order.push(game.pair());
            }
        }
        let mut games: BTreeMap<(Id, Id), Vec<StageGame>> = BTreeMap::new();
        for game in stage.games.iter().filter(|game| order.contains(&game.pair())) {
            games.entry(game.pair()).or_default().push(*game);
        }
        PlayedMatches { stage, games, order }
    }

    /// The opponents of an engine, in words.
    fn of_engine(&self, id: Id) -> String {
        let own = self.order.iter().filter(|pair| pair.0 == id || pair.1 == id);
        self.stage.meetings(own)
    }
}

/// Lays a bracket out. That the games have White first in the other place of their matches is one difference.
fn laid_out(
    format: &Knockout,
    given: Option<&[Id]>,
    played: &PlayedMatches<'_>,
    out: &mut StageReplay,
) -> PlacedBracket {
    let laid = PlacedBracket::read(format, given, played);
    let turned = Knockout { white_first: other_side(format.white_first), ..format.clone() };
    let other = PlacedBracket::read(&turned, given, played);
    if laid.begun_by_others(played) <= 1.max(4 * other.begun_by_others(played)) {
        return laid;
    }
    let told = |side| match side {
        WhiteFirst::Lower => "White first for the lower places",
        WhiteFirst::Upper => "White first for the upper places",
    };
    let (expected, played) = (told(format.white_first), told(turned.white_first));
    out.disagree(ComparisonKind::Colours, "the stage", expected, played);
    other
}

/// Returns the matches of a bracket that can be compared. Where the files end before the last round, that is one
/// difference, and the matches after the last one that was played are left out.
fn up_to_last<'b>(
    laid: &'b PlacedBracket,
    played: &PlayedMatches<'_>,
    out: &mut StageReplay,
) -> &'b [Encounter] {
    let all = &laid.bracket.encounters;
    let is_played = |one: &Encounter| played.games.contains_key(&laid.pair(one));
    let last = all.iter().rposition(is_played).map_or(0, |at| at + 1);
    let (known, behind) = all.split_at(last);
    let [first, _, ..] = behind else { return all };
    let at = format!("from match {} on", first.number);
    out.disagree(ComparisonKind::Matches, at, "further matches", "there are no games of them");
    known
}

/// Compares matches of a bracket with those that were played, and the engines with White in them.
fn opponents(
    known: &[Encounter],
    laid: &PlacedBracket,
    played: &PlayedMatches<'_>,
    out: &mut StageReplay,
) {
    let (stage, seated) = (played.stage, laid.seated());
    for one in known {
        let (white, black) = (seated.id(one.white), seated.id(one.black));
        let told = || format!("match {}", one.number);
        let games = played.games.get(&laid.pair(one));
        out.compare(ComparisonKind::Matches, games.is_some(), || {
            let others = match [white, black].into_iter().any(is_unknown) {
                true => "there are no games of it".to_owned(),
                false => format!("{}; {}", played.of_engine(white), played.of_engine(black)),
            };
            (told(), stage.meeting(white, black), others)
        });
        let Some(games) = games else { continue };
        // The first game says who began; a length is a question of its own.
        let games = PlayedMatch::of(games, white, black, &one.format);
        games.colours(stage, out, |number| format!("{}, game {number}", told()));
    }
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
    /// The bracket with the seats that are given, else by that reading of its first round which agrees better.
    fn read(format: &Knockout, given: Option<&[Id]>, played: &PlayedMatches<'_>) -> PlacedBracket {
        if let Some(seats) = given {
            return PlacedBracket::of(format, seats.to_vec(), played);
        }
        let read = |absent| {
            let (format, seats) = as_drawn(format, first_round(format, absent, played));
            PlacedBracket::of(&format, seats, played)
        };
        let [one, other] = [Absent::Matches, Absent::Engines].map(read);
        let odd = |laid: &PlacedBracket| (laid.absent(played), laid.begun_by_others(played));
        if odd(&other) < odd(&one) { other } else { one }
    }

    /// The bracket with the engines on its seats, and the winners that its games give.
    fn of(format: &Knockout, seats: Vec<Id>, played: &PlayedMatches<'_>) -> PlacedBracket {
        let seated = StageSeats { seats: &seats };
        let winner = |one: &Encounter| {
            let (white, black) = (seated.id(one.white), seated.id(one.black));
            let games = played.games.get(&seated.pair(one.white, one.black));
            // Where nothing is told by the match itself, whoever plays on has won it.
            let last = games.and_then(|games| games.last()).map_or(0, |game| game.number);
            let plays_on =
                |id: Id| played.stage.games.iter().any(|game| game.number > last && game.plays(id));
            let own = games.map(|games| PlayedMatch::of(games, white, black, &one.format));
            let is_known = own.is_some_and(|own| own.is_known());
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

    /// The seats, with the engines on them.
    fn seated(&self) -> StageSeats<'_> {
        StageSeats { seats: &self.seats }
    }

    /// The engines of a match.
    fn pair(&self, one: &Encounter) -> (Id, Id) {
        self.seated().pair(one.white, one.black)
    }

    /// The matches in which another engine than its place says had White first.
    fn begun_by_others(&self, played: &PlayedMatches<'_>) -> usize {
        let is_other = |one: &&Encounter| {
            let games = played.games.get(&self.pair(one));
            let first = games.and_then(|games| PlayedMatch::first_white(games));
            first.is_some_and(|white| white != self.seated().id(one.white))
        };
        self.bracket.encounters.iter().filter(is_other).count()
    }

    /// The matches of which there are no games, and those that have no place.
    fn absent(&self, played: &PlayedMatches<'_>) -> usize {
        let all = &self.bracket.encounters;
        let found = all.iter().filter(|one| played.games.contains_key(&self.pair(one))).count();
        all.len() + played.games.len() - 2 * found
    }
}

/// The format and the seats of engines on the places of a bracket. Games tell the places and not who is seeded how:
/// the lower place is taken for the lower seed.
fn as_drawn(format: &Knockout, seats: Vec<Id>) -> (Knockout, Vec<Id>) {
    let places = format.draw.places(seats.len());
    if places.len() != seats.len() {
        return (format.clone(), seats);
    }
    let format = Knockout { draw: BracketDraw::AsDrawn, ..format.clone() };
    (format, places.iter().map(|seat| seats[seat.0]).collect())
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
fn first_round(format: &Knockout, absent: Absent, played: &PlayedMatches<'_>) -> Vec<Id> {
    let PlayedMatches { stage, games: matches, order } = played;
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
fn lengths(laid: &PlacedBracket, matches: &PlayedMatches<'_>, out: &mut StageReplay) {
    let seated = laid.seated();
    let kind = |one: &Encounter| (one.round, one.format.clone());
    for round in laid.bracket.encounters.chunk_by(|a, b| kind(a) == kind(b)) {
        let played =
            round.iter().filter_map(|one| Some((one, matches.games.get(&laid.pair(one))?)));
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
            let meeting = || matches.stage.meeting(white, black);
            let told = || format!("match {}: {}", one.number, meeting());
            read(&one.format, one, games).length(&one.format, told, out);
        }
    }
}

/// Compares the order of the matches of each round.
fn rounds(laid: &PlacedBracket, matches: &PlayedMatches<'_>, out: &mut StageReplay) {
    let PlayedMatches { stage, order, .. } = matches;
    for round in laid.bracket.encounters.chunk_by(|a, b| a.round == b.round) {
        let plan: Vec<(Id, Id)> =
            round.iter().map(|one| laid.pair(one)).filter(|pair| order.contains(pair)).collect();
        let played: Vec<(Id, Id)> =
            order.iter().copied().filter(|pair| plan.contains(pair)).collect();
        let Some(first) = round.first().filter(|_| !plan.is_empty()) else { continue };
        out.compare(ComparisonKind::Rounds, plan == played, || {
            (format!("round {}", first.round), stage.meetings(&plan), stage.meetings(&played))
        });
    }
}
