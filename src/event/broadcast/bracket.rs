//! The bracket of a knockout for spectators: its matches by level, also matches whose engines are not known yet, and
//! the winner of each.

use std::collections::BTreeMap;

use super::Broadcast;
use crate::event::config::EventConfig;
use crate::event::format::Format;
use crate::event::format::knockout::{self, Knockout};
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

/// A place of the bracket: the engine that has it, or will.
#[derive(Clone, Copy)]
enum Source {
    Seat(Seat),
    Winner(u32),
    Loser(u32),
    /// A place that no engine has, though the draw has one there: its match has a number, and nobody plays it.
    Vacant,
    Nobody,
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
    let past = planned.past_of(state);
    let known = knockout.after(seats.len(), &past);
    let won: BTreeMap<u32, Seat> = known
        .encounters
        .iter()
        .filter_map(|one| Some((one.number, knockout::winner(&past, one)?)))
        .collect();
    let name = |seat: Seat| seats.get(seat.0).cloned().unwrap_or_default();
    let points = |number: u32, seat: Seat| {
        let games = past.games.values().filter(|game| game.at.round == number);
        games.map(|game| game.points(seat)).sum()
    };
    Some(BracketPlan { knockout, seats: seats.len(), won }.levels(&name, &points))
}

/// A bracket as far as it is decided.
struct BracketPlan<'a> {
    knockout: &'a Knockout,
    seats: usize,
    /// The winners by their matches.
    won: BTreeMap<u32, Seat>,
}

/// A level before anybody's name is known.
struct Drawn {
    /// Its matches with both sides.
    own: Vec<(u32, [Source; 2])>,
    /// The sides that have a bye.
    free: Vec<Source>,
    /// Its pairs of places: a match's number, or the side without an opponent.
    slots: Vec<Result<u32, Source>>,
    /// The places of the next level.
    next: Vec<Source>,
    /// The match for the third place.
    bronze: Option<(u32, [Source; 2])>,
}

impl BracketPlan<'_> {
    fn levels(
        &self,
        name: &dyn Fn(Seat) -> String,
        points: &dyn Fn(u32, Seat) -> HalfPoints,
    ) -> BroadcastBracket {
        let rounds = Knockout::rounds(self.seats);
        let taken = |seat: Seat| match seat.0 < self.seats {
            true if name(seat).is_empty() => Source::Vacant,
            true => Source::Seat(seat),
            false => Source::Nobody,
        };
        let mut places: Vec<Source> =
            self.knockout.draw.places(self.seats).into_iter().map(taken).collect();
        let mut sides: BTreeMap<u32, [Source; 2]> = BTreeMap::new();
        let mut number = 0;
        let mut levels: Vec<BracketLevel> = Vec::new();
        for round in 1..=rounds {
            let Drawn { own, free, slots, next, mut bronze } =
                self.drawn(round == rounds, &places, &mut number);
            // A side that had nobody to play in its semifinal has left no loser there.
            let semifinals = levels.last().map_or(&[][..], |level| &level.matches);
            bronze = bronze.filter(|(_, both)| {
                both.iter().all(|side| match side {
                    Source::Loser(of) => semifinals.iter().any(|one| one.number == *of),
                    _ => false,
                })
            });
            sides.extend(own.iter().chain(&bronze).copied());
            let shown = |(number, title, prize): (u32, String, Prize)| {
                let both = sides.get(&number).copied().unwrap_or([Source::Nobody; 2]);
                let resolved = both.map(|one| self.resolved(one, &sides));
                let seat = |one: Source| match one {
                    Source::Seat(seat) => Some(seat),
                    _ => None,
                };
                let winner = self.won.get(&number);
                BracketMatch {
                    number,
                    title,
                    prize,
                    sides: resolved.map(|one| side(one, name)),
                    points: resolved
                        .map(|one| seat(one).map(|seat| points(number, seat)).unwrap_or_default()),
                    winner: winner.and_then(|winner| {
                        resolved.iter().position(|one| seat(*one) == Some(*winner))
                    }),
                }
            };
            let many = own.len();
            let prize = if round == rounds { Prize::Victory } else { Prize::NextLevel };
            let titled = own.iter().enumerate().map(|(at, (number, _))| {
                let title = title(rounds - round);
                let of = if many > 1 { format!("{} {}", title.1, at + 1) } else { title.1 };
                (*number, of, prize)
            });
            let third = bronze.map(|(number, _)| {
                (number, "Match for the third place".to_owned(), Prize::ThirdPlace)
            });
            levels.push(BracketLevel {
                title: title(rounds - round).0,
                slots: slots
                    .into_iter()
                    .map(|one| match one.map_err(|side| self.resolved(side, &sides)) {
                        Ok(number) => BracketSlot::Match(number),
                        Err(Source::Nobody | Source::Vacant) => BracketSlot::Empty,
                        Err(one) => BracketSlot::Bye(side(one, name)),
                    })
                    .collect(),
                matches: titled.chain(third).map(shown).collect(),
                free: free
                    .into_iter()
                    .filter_map(|one| match self.resolved(one, &sides) {
                        Source::Seat(seat) => Some(name(seat)),
                        _ => None,
                    })
                    .collect(),
            });
            places = next;
        }
        BroadcastBracket { levels }
    }

    /// The next level. Its matches have the numbers that [`Knockout::bracket`] gives them.
    fn drawn(&self, is_final: bool, places: &[Source], number: &mut u32) -> Drawn {
        let mut bronze = None;
        if is_final && self.knockout.bronze.is_some() {
            *number += 1;
            if let [Source::Winner(a), Source::Winner(b)] = places {
                bronze = Some((*number, [Source::Loser(*a), Source::Loser(*b)]));
            }
        }
        let (mut own, mut free, mut next) = (Vec::new(), Vec::new(), Vec::new());
        let mut slots = Vec::new();
        for pair in places.chunks(2) {
            let [upper, lower] = pair else { continue };
            match (upper, lower) {
                (Source::Nobody, Source::Nobody) => {
                    slots.push(Err(Source::Nobody));
                    next.push(Source::Nobody);
                }
                (Source::Nobody, one) | (one, Source::Nobody) => {
                    free.push(*one);
                    slots.push(Err(*one));
                    next.push(*one);
                }
                (Source::Vacant, one) | (one, Source::Vacant) => {
                    *number += 1;
                    free.push(*one);
                    slots.push(Err(*one));
                    next.push(*one);
                }
                _ => {
                    *number += 1;
                    own.push((*number, [*upper, *lower]));
                    slots.push(Ok(*number));
                    next.push(Source::Winner(*number));
                }
            }
        }
        Drawn { own, free, slots, next, bronze }
    }

    fn resolved(&self, one: Source, sides: &BTreeMap<u32, [Source; 2]>) -> Source {
        let winner = |number: u32| self.won.get(&number).copied();
        match one {
            Source::Winner(number) => winner(number).map_or(one, Source::Seat),
            Source::Loser(number) => {
                let both = sides.get(&number).copied().unwrap_or([Source::Nobody; 2]);
                let both = both.map(|one| self.resolved(one, sides));
                let loser = both.into_iter().find(
                    |one| matches!((one, winner(number)), (Source::Seat(a), Some(b)) if *a != b),
                );
                loser.unwrap_or(one)
            }
            _ => one,
        }
    }
}

fn side(one: Source, name: &dyn Fn(Seat) -> String) -> Side {
    match one {
        Source::Seat(seat) => Side::Engine(name(seat)),
        Source::Winner(number) => Side::Winner(number),
        Source::Loser(number) => Side::Loser(number),
        // No match has it as a side.
        Source::Nobody | Source::Vacant => Side::Engine(String::new()),
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
    use crate::event::format::{Next, PlayedPairing, StageHistory};
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
        let known = knockout.after(seats, past);
        let won = known
            .encounters
            .iter()
            .filter_map(|one| Some((one.number, knockout::winner(past, one)?)))
            .collect();
        let points = |number: u32, seat: Seat| {
            let games = past.games.values().filter(|game| game.at.round == number);
            games.map(|game| game.points(seat)).sum()
        };
        BracketPlan { knockout, seats, won }.levels(&name, &points)
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
