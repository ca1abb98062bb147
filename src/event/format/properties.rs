//! Properties of every format with every number of engines, with results that follow from the place of a game alone.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use shakmaty::Color;

use super::super::schedule::Seat;
use super::bracket_draw::BracketDraw;
use super::dutch::Dutch;
use super::heaviest::is_perfect;
use super::knockout::{Knockout, WhiteFirst};
use super::match_::{MatchFormat, MatchPart};
use super::playoff::Playoff;
use super::round_robin::{PairOrder, RoundRobin};
use super::swiss::Swiss;
use super::{Due, Format, Next, PlayedPairing, StageHistory};
use crate::model::game::result::GameResult;

pub(in crate::event) fn number(number: usize) -> NonZeroU32 {
    NonZeroU32::new(number as u32).unwrap()
}

/// A number that follows from others (SplitMix64).
fn mixed(of: &[u64]) -> u64 {
    of.iter().fold(0x9e37_79b9_7f4a_7c15, |sum, one| {
        let mut mixed = (sum ^ one).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

/// A game with its result.
pub(in crate::event) fn played(due: &Due, seed: u64) -> PlayedPairing {
    let Due { at, white, black, .. } = *due;
    let place = [seed, u64::from(at.round), u64::from(at.game), white.0 as u64, black.0 as u64];
    let result = match mixed(&place) % 10 {
        0..3 => GameResult::Draw,
        3..7 => GameResult::Win(Color::White),
        _ => GameResult::Win(Color::Black),
    };
    PlayedPairing { at, white, black, result }
}

/// Plays a format to its end: all that is due, or a drawn game of it at a time.
fn play(
    format: &Format,
    seats: usize,
    seed: u64,
    one_by_one: bool,
) -> (StageHistory, Vec<Vec<Seat>>) {
    let mut past = StageHistory::default();
    loop {
        match format.next(seats, &past) {
            Next::Play(due) => {
                assert!(!due.is_empty());
                let places: BTreeSet<_> = due.iter().map(|game| game.at).collect();
                assert_eq!(places.len(), due.len(), "a place is due twice");
                for game in &due {
                    assert!(
                        game.white != game.black && game.white.0 < seats && game.black.0 < seats
                    );
                    assert!(!past.games.contains_key(&game.at), "{:?} is played again", game.at);
                }
                if one_by_one {
                    let drawn = mixed(&[seed, past.games.len() as u64]) as usize % due.len();
                    past.add(played(&due[drawn], seed));
                } else {
                    due.iter().for_each(|game| past.add(played(game, seed)));
                }
            }
            Next::Bye(seat, round) => assert!(past.byes.insert((seat, round)), "a bye twice"),
            Next::Over(groups) => return (past, groups),
        }
    }
}

/// Formats of every kind for so many engines.
pub(in crate::event) fn formats(seats: usize) -> Vec<Format> {
    let rounds = number((seats - 1).clamp(1, 9));
    let mut all = vec![
        Format::Swiss(Swiss { rounds, games: number(1), sections: number(1 + seats % 7) }),
        Format::Swiss(Swiss { rounds, games: number(2), sections: number(1 + seats % 5) }),
    ];
    // All numbers of engines are tried beside the system itself; here those of many engines are slow.
    if seats <= 14 || seats % 9 == 6 {
        all.push(Format::Dutch(Dutch { rounds: number((seats - 1).clamp(1, 5)) }));
    }
    for order in [PairOrder::Berger, PairOrder::Rotation] {
        all.push(Format::RoundRobin(RoundRobin::of_doubles(number(1 + seats % 2), order)));
    }
    for spots in 1..seats.min(4) {
        all.push(Format::Playoff(Playoff { doubles: number(1), spots: number(spots) }));
    }
    for (draw, early) in [
        (BracketDraw::AsDrawn, true),
        (BracketDraw::EqualDistance, false),
        (BracketDraw::EqualDistance, true),
    ] {
        let knockout = |bronze| Knockout {
            draw,
            pairs: vec![number(1), number(2), number(3)],
            bronze,
            early,
            white_first: if early { WhiteFirst::Lower } else { WhiteFirst::Upper },
        };
        let third = Format::Knockout(knockout(Some(number(2))));
        let has_third = seats.is_multiple_of(2) && third.refusal(seats).is_none();
        all.push(if has_third { third } else { Format::Knockout(knockout(None)) });
    }
    if seats == 32 {
        all.push(Format::Knockout(Knockout {
            draw: BracketDraw::PreSeeded { shuffle: 5 },
            pairs: vec![number(2)],
            bronze: Some(number(2)),
            early: true,
            white_first: WhiteFirst::Lower,
        }));
    }
    if seats == 2 {
        for early in [false, true] {
            let then = vec![
                MatchPart { pairs: number(2), again: false },
                MatchPart { pairs: number(1), again: true },
            ];
            all.push(Format::Match(MatchFormat { pairs: number(3), early, then }));
        }
    }
    all
}

/// Games with White less games with Black.
fn balance(past: &StageHistory, seat: usize) -> i32 {
    let colors = past.games.values().filter_map(|game| game.color(Seat(seat)));
    colors.map(|color| color.fold_wb(1, -1)).sum()
}

#[test]
fn everything_is_the_same_in_whatever_order_games_end() {
    for seats in 2..=60 {
        for format in formats(seats) {
            assert_eq!(format.refusal(seats), None);
            let (past, groups) = play(&format, seats, seats as u64, false);
            // One game at a time is slow where each one asks for the pairing of its round.
            if seats <= 9 || seats == 20 && !matches!(format, Format::Swiss(_) | Format::Dutch(_)) {
                let (other, same) = play(&format, seats, seats as u64, true);
                assert_eq!((&past.games, &past.byes), (&other.games, &other.byes), "{format:?}");
                assert_eq!(groups, same, "{format:?}");
            }
            let mut all = groups.concat();
            all.sort();
            assert_eq!(all, (0..seats).map(Seat).collect::<Vec<_>>(), "{format:?}");
        }
    }
}

#[test]
fn colours_and_byes_are_shared_as_the_rules_say() {
    for seats in 2..=60 {
        for format in formats(seats) {
            let (past, _) = play(&format, seats, 77 + seats as u64, false);
            let byes: BTreeSet<Seat> = past.byes.iter().map(|(seat, _)| *seat).collect();
            assert_eq!(byes.len(), past.byes.len(), "{format:?}: a second bye");
            for seat in 0..seats {
                let most = match &format {
                    Format::Swiss(swiss) if swiss.games.get() == 2 => 0,
                    Format::RoundRobin(_) | Format::Playoff(_) => 0,
                    // Matches that end early end inside of a pair, one in each round.
                    Format::Knockout(knockout) if !knockout.early => 0,
                    Format::Match(of) if !of.early => 0,
                    Format::Match(_) => 1,
                    Format::Knockout(_) => 7,
                    Format::Swiss(_) | Format::Dutch(_) => 3,
                };
                let balance = balance(&past, seat);
                assert!(balance.abs() <= most, "{format:?}: {balance} of {seats}");
            }
            if let Format::RoundRobin(round_robin) = &format {
                let mut meetings: BTreeMap<(Seat, Seat), u32> = BTreeMap::new();
                past.games
                    .values()
                    .for_each(|game| *meetings.entry((game.white, game.black)).or_default() += 1);
                assert_eq!(meetings.len(), seats * (seats - 1));
                assert!(meetings.values().all(|games| *games == round_robin.doubles().get()));
            }
        }
    }
}

#[test]
fn in_single_rounds_who_had_white_less_often_has_it() {
    for seats in 2..=60 {
        for format in formats(seats).into_iter().filter(|format| format.games_each() == 1) {
            let (past, _) = play(&format, seats, 31 + seats as u64, false);
            for game in past.games.values().filter(|game| game.at.round > 1) {
                let before = past.before(game.at.round);
                let [white, black] = [game.white, game.black].map(|seat| balance(&before, seat.0));
                assert!(white <= black, "{format:?}: {white} and {black} of {seats}");
            }
        }
    }
}

#[test]
fn a_playoff_tells_who_has_its_spots() {
    for seats in 2..=60 {
        for format in formats(seats) {
            let Format::Playoff(playoff) = &format else { continue };
            let (_, groups) = play(&format, seats, 3 + seats as u64, false);
            let spots = playoff.spots.get() as usize;
            let mut places = groups.iter().scan(0, |sum, group| {
                *sum += group.len();
                Some(*sum)
            });
            assert!(places.any(|sum| sum == spots), "{format:?}: {groups:?}");
        }
    }
}

/// Seats leave between rounds, by lot.
#[test]
fn whoever_leaves_a_swiss_is_not_paired_and_all_others_are() {
    for seats in 4..=60 {
        for format in formats(seats) {
            if !matches!(format, Format::Swiss(_) | Format::Dutch(_)) {
                continue;
            }
            let (mut past, mut last) = (StageHistory::default(), 0);
            loop {
                let due = match format.next(seats, &past) {
                    Next::Play(due) => due,
                    Next::Bye(seat, round) => {
                        let had = past.byes.iter().filter(|(bye, _)| *bye == seat).count();
                        assert!(had == 0 && past.is_paired(seat, round), "{format:?} {seat:?}");
                        past.byes.insert((seat, round));
                        continue;
                    }
                    Next::Over(_) => break,
                };
                let round = due[0].at.round;
                let met = |a: Seat, b: Seat| {
                    let before = past.before(round);
                    let mut games = before.games.values();
                    games.any(|game| game.color(a).is_some() && game.color(b).is_some())
                };
                let playing: BTreeSet<Seat> =
                    due.iter().flat_map(|game| [game.white, game.black]).collect();
                let active = (0..seats).filter(|seat| past.is_paired(Seat(*seat), round)).count();
                assert!(playing.iter().all(|seat| past.is_paired(*seat, round)), "{format:?}");
                assert_eq!(playing.len(), active - active % 2, "{format:?}: round {round}");
                if due.iter().any(|game| met(game.white, game.black)) {
                    let all: Vec<Seat> = playing.into_iter().collect();
                    let may_meet = |a: usize, b: usize| !met(all[a], all[b]);
                    assert!(
                        !is_perfect(all.len(), may_meet),
                        "{format:?}: round {round} meets again for nothing"
                    );
                }
                due.iter().for_each(|game| past.add(played(game, 7)));
                let lot = mixed(&[seats as u64, u64::from(round)]) as usize;
                // Never so many that too few are left for the rounds to come.
                if round > last && lot.is_multiple_of(2) && past.out.len() < seats / 4 {
                    let gone = Seat(lot / 2 % seats);
                    if past.left(gone).is_none() {
                        past.out.push((gone, round + 1));
                    }
                }
                last = round;
            }
        }
    }
}

/// Each encounter has an opening of its own, and both of its games the same one.
#[test]
fn openings_are_those_that_a_book_must_hold() {
    for seats in [2, 3, 7, 8, 13, 32] {
        for format in formats(seats) {
            let (mut past, mut openings) = (StageHistory::default(), BTreeMap::new());
            loop {
                match format.next(seats, &past) {
                    Next::Play(due) => {
                        for game in due {
                            let meeting =
                                (game.pair, game.white.min(game.black), game.white.max(game.black));
                            let known = *openings.entry(meeting).or_insert(game.opening);
                            assert_eq!(known, game.opening, "{format:?}");
                            past.add(played(&game, 3));
                        }
                    }
                    Next::Bye(seat, round) => {
                        past.byes.insert((seat, round));
                    }
                    Next::Over(_) => break,
                }
            }
            if !format.ranks() {
                let distinct: BTreeSet<_> = openings.values().flatten().copied().collect();
                assert_eq!(distinct.len(), openings.len(), "{format:?}");
                assert!(distinct.iter().all(|opening| opening.0 < format.openings(seats)));
            }
        }
    }
}
