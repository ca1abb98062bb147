//! The bracket of a knockout for spectators: its matches by level, also matches whose engines are not known yet, and
//! the winner of each.

use std::collections::BTreeMap;

use super::Broadcast;
use crate::event::config::EventConfig;
use crate::event::format::knockout::{BracketPlace, Knockout, winner};
use crate::event::format::{Format, StageHistory};
use crate::event::schedule::Seat;
use crate::event::stage::StageFormat;
use crate::model::game::points::HalfPoints;

/// A bracket: its levels from the first to the final.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BroadcastBracket {
    /// Matches that are played for the same place in the event.
    pub(crate) levels: Vec<BracketLevel>,
}

/// The matches of a level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BracketLevel {
    /// Its name: `Semifinals`.
    pub(crate) title: String,
    /// Its matches; the one for the third place stands behind the final.
    pub(crate) matches: Vec<BracketMatch>,
    /// The engines that have no opponent in it and go on.
    pub(crate) free: Vec<String>,
    /// Its pairs of places in the order of the draw; the winners of two neighbours meet on the next level.
    pub(crate) slots: Vec<BracketSlot>,
}

/// A pair of places of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BracketSlot {
    /// The match of this number.
    Match(u32),
    /// A side that has no opponent.
    Bye(Side),
    /// Nobody on both places.
    Empty,
}

/// A match of a bracket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BracketMatch {
    /// Its number, from 1: the round of its games.
    pub(crate) number: u32,
    /// Its name: `Semifinal 2`.
    pub(crate) title: String,
    /// Its prize.
    pub(crate) prize: Prize,
    /// Both sides, the upper one first.
    pub(crate) sides: [Side; 2],
    /// The points of both.
    pub(crate) points: [HalfPoints; 2],
    /// The side that has won it.
    pub(crate) winner: Option<usize>,
}

impl BracketMatch {
    /// The engine that has won it.
    pub(crate) fn winner(&self) -> Option<&str> {
        match self.sides.get(self.winner?)? {
            Side::Engine(name) => Some(name),
            Side::Winner(_) | Side::Loser(_) => None,
        }
    }
}

/// The prize of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prize {
    /// Its winner plays on the next level.
    NextLevel,
    /// Its winner is the third.
    ThirdPlace,
    /// Its winner wins the knockout.
    Victory,
}

/// A side of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// An engine.
    Engine(String),
    /// The winner of the match of this number.
    Winner(u32),
    /// The loser of that match.
    Loser(u32),
}

/// The bracket of a stage that has begun; none where it is no knockout.
pub(crate) fn bracket(
    config: &EventConfig,
    broadcast: &Broadcast,
    stage: usize,
) -> Option<BroadcastBracket> {
    let planned = config.stages.get(stage)?;
    let StageFormat::Of(Format::Knockout(knockout)) = &planned.format else { return None };
    let state = broadcast.ledger.stages.get(stage)?;
    let seats = &state.started.seats;
    let name = |seat: Seat| seats.get(seat.0).cloned().unwrap_or_default();
    Some(shown(knockout, seats.len(), &planned.past_of(state), &name))
}

/// A bracket after the games so far. A place that no engine has, though the draw has one there, has an empty name: its match has a
/// number, and nobody plays it.
fn shown(
    knockout: &Knockout,
    seats: usize,
    past: &StageHistory,
    name: &dyn Fn(Seat) -> String,
) -> BroadcastBracket {
    let known = knockout.after(seats, past);
    let won = known.encounters.iter().filter_map(|one| Some((one.number, winner(past, one)?)));
    let won: BTreeMap<u32, Seat> = won.collect();
    // The sides that came through matches which nobody plays.
    let mut through: BTreeMap<u32, BracketPlace> = BTreeMap::new();
    let mut levels: Vec<BracketLevel> = Vec::new();
    for (round, level) in (1..).zip(&known.levels) {
        let before_final = Knockout::rounds(seats) - round;
        let mut own: Vec<(u32, [BracketPlace; 2])> = Vec::new();
        let mut shown = BracketLevel::default();
        for (number, places) in &level.pairs {
            let come = places.iter().map(|place| match place {
                BracketPlace::Winner(of) => through.get(of).copied().unwrap_or(*place),
                _ => *place,
            });
            let is_side = |place: &BracketPlace| match place {
                BracketPlace::Taken(seat) => !name(*seat).is_empty(),
                BracketPlace::Empty => false,
                BracketPlace::Winner(_) | BracketPlace::Loser(_) => true,
            };
            let sides: Vec<BracketPlace> = come.filter(is_side).collect();
            shown.slots.push(match (*number, &sides[..]) {
                (Some(number), [upper, lower]) => {
                    own.push((number, [*upper, *lower]));
                    BracketSlot::Match(number)
                }
                (_, [alone]) => {
                    through.extend(number.map(|number| (number, *alone)));
                    if let BracketPlace::Taken(seat) = alone {
                        shown.free.push(name(*seat));
                    }
                    BracketSlot::Bye(side(*alone, name))
                }
                _ => BracketSlot::Empty,
            });
        }
        let of_match = |number: u32, title: String, prize, places: [BracketPlace; 2]| {
            let taken = places.map(|place| match place {
                BracketPlace::Taken(seat) => Some(seat),
                _ => None,
            });
            let games = || past.games.values().filter(move |game| game.at.round == number);
            let points = |seat: Seat| games().map(|game| game.points(seat)).sum();
            BracketMatch {
                number,
                title,
                prize,
                sides: places.map(|place| side(place, name)),
                points: taken.map(|seat| seat.map(points).unwrap_or_default()),
                winner: won
                    .get(&number)
                    .and_then(|won| taken.iter().position(|seat| *seat == Some(*won))),
            }
        };
        let (title, of_one) = title(before_final);
        let prize = if before_final == 0 { Prize::Victory } else { Prize::NextLevel };
        let many = own.len();
        for (at, (number, places)) in (1..).zip(own) {
            let title = if many > 1 { format!("{of_one} {at}") } else { of_one.clone() };
            shown.matches.push(of_match(number, title, prize, places));
        }
        // A side that had nobody to play in its semifinal has left no loser there.
        let has_losers = levels.last().is_some_and(|semifinals| semifinals.matches.len() == 2);
        if let Some((number, places)) = level.bronze.filter(|_| has_losers) {
            let title = "Match for the third place".to_owned();
            shown.matches.push(of_match(number, title, Prize::ThirdPlace, places));
        }
        levels.push(BracketLevel { title, ..shown });
    }
    BroadcastBracket { levels }
}

fn side(place: BracketPlace, name: &dyn Fn(Seat) -> String) -> Side {
    match place {
        BracketPlace::Taken(seat) => Side::Engine(name(seat)),
        BracketPlace::Winner(number) => Side::Winner(number),
        BracketPlace::Loser(number) => Side::Loser(number),
        // No match has it as a side.
        BracketPlace::Empty => Side::Engine(String::new()),
    }
}

/// The names of a level so many before the final, and of one of its matches.
fn title(before_final: u32) -> (String, String) {
    let [level, one] = match before_final {
        0 => ["Final", "Final"],
        1 => ["Semifinals", "Semifinal"],
        2 => ["Quarterfinals", "Quarterfinal"],
        _ => {
            let of = format!("Round of {}", 2u64 << before_final);
            return (of.clone(), format!("{of}, match"));
        }
    };
    (level.to_owned(), one.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::format::bracket_draw::BracketDraw;
    use crate::event::format::knockout::WhiteFirst;
    use crate::event::format::{Next, PlayedPairing};
    use crate::model::game::result::GameResult;
    use shakmaty::Color;
    use std::num::NonZeroU32;

    fn knockout(bronze: bool) -> Knockout {
        Knockout {
            draw: BracketDraw::EqualDistance,
            pairs: vec![NonZeroU32::MIN],
            bronze: bronze.then_some(NonZeroU32::MIN),
            early: true,
            white_first: WhiteFirst::Lower,
        }
    }

    fn shown(knockout: &Knockout, seats: usize, past: &StageHistory) -> BroadcastBracket {
        // Seats that are out before a game are places that nobody has.
        let name = |seat: Seat| match past.left(seat) {
            None => format!("E{}", seat.0 + 1),
            Some(_) => String::new(),
        };
        super::shown(knockout, seats, past, &name)
    }

    fn engine(name: &str) -> Side {
        Side::Engine(name.into())
    }

    #[test]
    fn a_bracket_tells_who_will_play_before_anything_is_played() {
        let bracket = shown(&knockout(true), 6, &StageHistory::default());
        let titles: Vec<&str> = bracket.levels.iter().map(|level| &*level.title).collect();
        assert_eq!(titles, ["Quarterfinals", "Semifinals", "Final"]);
        let [quarter, semi, last] = &bracket.levels[..] else { panic!("three levels") };
        assert_eq!(quarter.free, ["E3", "E4"]);
        let first = &quarter.matches[0];
        assert_eq!((&*first.title, first.number), ("Quarterfinal 1", 1));
        assert_eq!(first.sides, [engine("E1"), engine("E5")]);
        assert_eq!(semi.matches[0].sides, [Side::Winner(1), engine("E3")]);
        assert_eq!(semi.free, [""; 0]);
        let told: Vec<_> = last.matches.iter().map(|one| (&*one.title, one.number)).collect();
        assert_eq!(told, [("Final", 6), ("Match for the third place", 5)]);
        assert_eq!(last.matches[1].sides, [Side::Loser(3), Side::Loser(4)]);
        assert_eq!(title(3).0, "Round of 16");
    }

    /// The seat with the lower number wins every game; each match is then the bracket's own, with its points.
    #[test]
    fn every_match_of_every_bracket_has_the_number_of_its_games() {
        let all = (2..=17).flat_map(|seats| [(seats, false), (seats, true)]);
        let full = all.map(|(seats, bronze)| (seats, bronze, None));
        // Of some places that the draw has nobody has any, two that follow each other in the bracket or not.
        let vacant = (1..8).flat_map(|a| (a..8).map(move |b| Some([a, b])));
        let vacant = vacant.flat_map(|vacant| [(8, false, vacant), (8, true, vacant)]);
        for (seats, bronze, vacant) in full.chain(vacant) {
            let (knockout, mut past) = (knockout(bronze), StageHistory::default());
            past.out.extend(vacant.into_iter().flatten().map(|seat| (Seat(seat), 0)));
            while let Next::Play(due) = knockout.next(seats, &past) {
                for game in due {
                    let (white, black) = (game.white, game.black);
                    let winner = if white < black { Color::White } else { Color::Black };
                    let result = GameResult::Win(winner);
                    past.add(PlayedPairing { at: game.at, white, black, result });
                }
            }
            let bracket = shown(&knockout, seats, &past);
            let matches: Vec<&BracketMatch> =
                bracket.levels.iter().flat_map(|level| &level.matches).collect();
            let numbers: std::collections::BTreeSet<u32> =
                matches.iter().map(|one| one.number).collect();
            let played = past.games.keys().map(|at| at.round).collect();
            assert_eq!(numbers, played, "{seats} {bronze} {vacant:?}");
            for one in matches {
                let both: Vec<String> = past
                    .games
                    .values()
                    .filter(|game| game.at.round == one.number)
                    .flat_map(|game| [game.white, game.black])
                    .map(|seat| format!("E{}", seat.0 + 1))
                    .collect();
                for (at, side) in one.sides.iter().enumerate() {
                    let Side::Engine(name) = side else { panic!("{one:?}") };
                    assert!(both.contains(name), "{one:?}");
                    let points = if one.winner == Some(at) { 4 } else { 0 };
                    assert_eq!(one.points[at], HalfPoints(points), "{one:?}");
                }
            }
            let last = bracket.levels.last().and_then(|level| level.matches.first());
            assert_eq!(last.and_then(BracketMatch::winner), Some("E1"));
        }
    }
}
