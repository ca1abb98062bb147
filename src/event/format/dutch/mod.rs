//! A Swiss of single games by FIDE's Dutch system (C.04.3), as the older seasons played it.
//!
//! Engines are numbered anew for each round, by points, Buchholz and seed, and paired bracket by bracket from the top.
//! There are no topscorers. The program that paired the recorded seasons is not known, and its choice of the engines
//! that leave a bracket is not always this one. The colours are those of the recorded seasons, not FIDE's.

mod bracket;
mod player;

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

use shakmaty::Color;

use super::super::schedule::Seat;
use super::due::{Due, Next, PlayedPairing, StageHistory, next_of_rounds, points_with_byes};
use super::swiss::SwissRound;
use crate::model::game::listed::RoundGame;
use crate::model::game::points::HalfPoints;
use bracket::{BracketKind, DutchBracket};
use player::{DutchPlayer, Float, PairingConstraints, can_be_paired};

/// A Swiss of single games; seats are seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dutch {
    /// Rounds.
    pub rounds: NonZeroU32,
}

impl Dutch {
    fn points(past: &StageHistory, seat: Seat) -> HalfPoints {
        points_with_byes(past, seat, HalfPoints::ONE)
    }

    /// The float of a seat in a round.
    fn float(past: &StageHistory, seat: Seat, round: u32) -> Option<Float> {
        if past.byes.contains(&(seat, round)) {
            return Some(Float::Down);
        }
        let game = past
            .games
            .values()
            .find(|game| game.at.round == round && game.color(seat).is_some())?;
        if past.walkovers.contains(&game.at) {
            return Some(Float::Down);
        }
        let other = if game.white == seat { game.black } else { game.white };
        let before = past.before(round);
        match Dutch::points(&before, seat).cmp(&Dutch::points(&before, other)) {
            Ordering::Greater => Some(Float::Down),
            Ordering::Less => Some(Float::Up),
            Ordering::Equal => None,
        }
    }

    /// Returns the engines that play in a round, by points, Buchholz and seed.
    fn players(seats: usize, past: &StageHistory, round: u32) -> Vec<DutchPlayer> {
        let all: BTreeMap<Seat, HalfPoints> =
            (0..seats).map(|seat| (Seat(seat), Dutch::points(past, Seat(seat)))).collect();
        let last = past.games.keys().map(|at| at.round).max().unwrap_or(0);
        let floats = |seat: Seat| {
            [0, 1]
                .map(|ago| last.checked_sub(ago).and_then(|round| Dutch::float(past, seat, round)))
        };
        let won_unplayed = || past.walkovers.iter().filter_map(|at| past.games.get(at));
        let player = |(&seat, &points): (&Seat, &HalfPoints)| {
            let own = past.played().filter_map(|game| Some((game, game.color(seat)?)));
            let other =
                |(game, color): (&PlayedPairing, Color)| color.fold_wb(game.black, game.white);
            let met: Vec<Seat> = own.clone().map(other).collect();
            DutchPlayer {
                seat,
                points,
                buchholz: met.iter().filter_map(|seat| all.get(seat)).copied().sum(),
                colors: own.map(|(game, color)| (game.at.round, color)).collect(),
                met: met.into_iter().collect(),
                floats: floats(seat),
                had_bye: past.byes.iter().any(|(bye, _)| *bye == seat)
                    || won_unplayed().any(|game| game.points(seat) == HalfPoints::ONE),
            }
        };
        let mut players: Vec<DutchPlayer> = all.iter().map(player).collect();
        players.retain(|player| past.is_paired(player.seat, round));
        players.sort_by_key(|one| (Reverse(one.points), Reverse(one.buchholz), one.seat));
        players
    }

    /// The pairings of a round, from 1, by what was played before it.
    pub(crate) fn round(&self, seats: usize, past: &StageHistory, round: u32) -> SwissRound {
        let past = past.before(round);
        let players = Dutch::players(seats, &past, round);
        let all: Vec<&DutchPlayer> = players.iter().collect();
        let constraints =
            [PairingConstraints::Colors, PairingConstraints::Meetings, PairingConstraints::Nothing];
        let constraints =
            constraints.into_iter().find(|constraints| can_be_paired(&all, *constraints));
        let rounds = past.games.keys().map(|at| at.round as usize).max().unwrap_or(0);
        let (mut pairs, left) =
            paired(&players, constraints.unwrap_or(PairingConstraints::Nothing), rounds);
        let bye = left.first().map(|at| players[*at].seat);
        // Boards by the better score, then by both, then by the better rank.
        let points = |at: usize| players[at].points;
        pairs.sort_by_key(|(a, b)| {
            let best = (*a).min(*b);
            (Reverse(points(best)), Reverse(points(*a) + points(*b)), best)
        });
        let boards = pairs.iter().zip(1..).map(|((a, b), board)| {
            let (upper, lower) = (&players[*a.min(b)], &players[*a.max(b)]);
            colored(upper, lower, board)
        });
        SwissRound { pairs: boards.collect(), bye }
    }

    /// White and Black of any two that meet in a later round than the first.
    pub(crate) fn colored(
        &self,
        seats: usize,
        past: &StageHistory,
        round: u32,
        a: Seat,
        b: Seat,
    ) -> (Seat, Seat) {
        let players = Dutch::players(seats, &past.before(round), round);
        let pair: Vec<&DutchPlayer> =
            players.iter().filter(|one| one.seat == a || one.seat == b).collect();
        match pair[..] {
            // The board of the first round is the seed of its better engine.
            [upper, lower] => colored(upper, lower, upper.seat.0 + 1),
            _ => (a, b),
        }
    }

    /// Returns the next step of the stage: a bye, the games that are due, or the end.
    pub fn next(&self, seats: usize, past: &StageHistory) -> Next {
        let round = |number| {
            let paired = self.round(seats, past, number);
            (paired.bye, games_of(&paired, seats, number))
        };
        next_of_rounds(self.rounds, seats, past, round, |seat| Dutch::points(past, seat))
    }
}

/// Returns the pairs of a round by rank, and the players left over: bracket by bracket from the top. Where the players
/// that leave a bracket could not be paired below, it is paired again, with all that are left as one bracket behind it.
fn paired(
    players: &[DutchPlayer],
    constraints: PairingConstraints,
    rounds: usize,
) -> (Vec<(usize, usize)>, Vec<usize>) {
    let mut scores: VecDeque<Vec<usize>> = (0..players.len())
        .collect::<Vec<_>>()
        .chunk_by(|a, b| players[*a].points == players[*b].points)
        .map(<[usize]>::to_vec)
        .collect();
    if rounds == 0 {
        // The upper half against the lower; the last one has the bye.
        let half = players.len() / 2;
        return (
            (0..half).map(|at| (at, at + half)).collect(),
            (2 * half..players.len()).collect(),
        );
    }
    let (mut pairs, mut down) = (Vec::new(), Vec::new());
    while let Some(residents) = scores.pop_front() {
        let group = |kind: BracketKind, next: &[usize]| {
            DutchBracket::new((players, constraints), (kind, rounds), &down, &residents, next)
                .paired()
        };
        let rest: Vec<usize> = scores.iter().flatten().copied().collect();
        let (own, leaving) = match scores.front() {
            None => group(BracketKind::Last, &[]),
            Some(next) => {
                let found = group(BracketKind::Ordinary, next);
                let below = found.1.iter().chain(&rest).map(|at| &players[*at]);
                if can_be_paired(&below.collect::<Vec<_>>(), constraints) {
                    found
                } else {
                    scores = VecDeque::from([rest.clone()]);
                    group(BracketKind::Penultimate, &rest)
                }
            }
        };
        pairs.extend(own);
        down = leaving;
    }
    (pairs, down)
}

/// The games of a round; boards keep their numbers, and the last one plays first.
fn games_of(round: &SwissRound, seats: usize, number: u32) -> Vec<Due> {
    let per_round = u32::try_from(seats / 2).unwrap_or(u32::MAX);
    let boards = round.pairs.iter().enumerate().rev();
    boards
        .map(|(at, seats)| {
            let board = u32::try_from(at).unwrap_or(u32::MAX - 1) + 1;
            let pair = (number - 1).saturating_mul(per_round).saturating_add(board - 1);
            Due::of_pair(RoundGame { round: number, game: board }, *seats, pair as usize)
        })
        .collect()
}

/// White and Black: first on odd boards, then by balance, then by the last difference, then by rank.
fn colored(upper: &DutchPlayer, lower: &DutchPlayer, board: usize) -> (Seat, Seat) {
    let is_white = if upper.colors.is_empty() && lower.colors.is_empty() {
        !board.is_multiple_of(2)
    } else {
        match upper.balance().cmp(&lower.balance()) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => {
                let pairs = upper.colors.iter().rev().zip(lower.colors.iter().rev());
                let differed = pairs.map(|((_, a), (_, b))| (*a, *b)).find(|(a, b)| a != b);
                let last = differed.map(|(own, _)| own);
                last.or(upper.colors.last().map(|(_, color)| *color)) == Some(Color::Black)
            }
        }
    };
    if is_white { (upper.seat, lower.seat) } else { (lower.seat, upper.seat) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::game::result::GameResult;
    use std::collections::BTreeSet;

    #[test]
    fn the_first_round_is_the_upper_half_against_the_lower() {
        let format = Dutch { rounds: NonZeroU32::MIN };
        let round = format.round(8, &StageHistory::default(), 1);
        let told: Vec<(usize, usize)> = round.pairs.iter().map(|(w, b)| (w.0, b.0)).collect();
        assert_eq!(told, [(0, 4), (5, 1), (2, 6), (7, 3)]);
    }

    #[test]
    fn nobody_meets_twice_while_it_can_be_helped_and_byes_come_once() {
        let mut lots = 11u64;
        for seats in (2..=32usize).chain([47, 60]) {
            let rounds = (seats as u32 - 1).clamp(1, 7);
            let format = Dutch { rounds: NonZeroU32::new(rounds).unwrap() };
            let mut past = StageHistory::default();
            let mut met = BTreeSet::new();
            loop {
                let mut due = match format.next(seats, &past) {
                    Next::Play(due) => due,
                    Next::Bye(seat, round) => {
                        assert!(past.byes.iter().all(|(had, _)| *had != seat), "{seats}");
                        past.byes.insert((seat, round));
                        continue;
                    }
                    Next::Over(groups) => {
                        assert_eq!(groups.concat().len(), seats);
                        break;
                    }
                };
                due.reverse();
                assert_eq!(due.len(), seats / 2);
                let round = due[0].at.round;
                let players = Dutch::players(seats, &past.before(round), round);
                let byes: Vec<Seat> = past
                    .byes
                    .iter()
                    .filter(|(_, round)| *round == due[0].at.round)
                    .map(|(seat, _)| *seat)
                    .collect();
                let players: Vec<DutchPlayer> =
                    players.into_iter().filter(|one| !byes.contains(&one.seat)).collect();
                let players: Vec<&DutchPlayer> = players.iter().collect();
                let must_repeat = !can_be_paired(&players, PairingConstraints::Meetings);
                for game in due {
                    let pair = (game.white.min(game.black), game.white.max(game.black));
                    assert!(met.insert(pair) || must_repeat, "{seats}: {pair:?} again");
                    lots = lots.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(13);
                    let result = match lots >> 60 {
                        0..5 => GameResult::Draw,
                        5..11 => GameResult::Win(Color::White),
                        _ => GameResult::Win(Color::Black),
                    };
                    past.add(PlayedPairing {
                        at: game.at,
                        white: game.white,
                        black: game.black,
                        result,
                    });
                }
            }
            for seat in 0..seats {
                let colors = past.games.values().filter_map(|game| game.color(Seat(seat)));
                let balance: i32 = colors.map(|color| color.fold_wb(1, -1)).sum();
                assert!(balance.abs() <= 3, "{seats}: {balance}");
            }
        }
    }

    /// C2: an engine that has won without playing has no bye, and that game gave it no colour and no opponent.
    #[test]
    fn a_win_without_a_game_counts_as_a_bye() {
        let format = Dutch { rounds: NonZeroU32::MIN.saturating_add(2) };
        let mut past = StageHistory::default();
        let at = |round, game| RoundGame { round, game };
        // Six engines; the last one beats nobody, and the fifth leaves in the second round, which it owes the last.
        for (place, white, black) in [
            (at(1, 1), 0, 3),
            (at(1, 2), 4, 1),
            (at(1, 3), 2, 5),
            (at(2, 1), 2, 0),
            (at(2, 2), 1, 3),
        ] {
            let result = GameResult::Draw;
            past.add(PlayedPairing { at: place, white: Seat(white), black: Seat(black), result });
        }
        let (white, black, result) = (Seat(5), Seat(4), GameResult::Win(Color::White));
        past.add(PlayedPairing { at: at(2, 3), white, black, result });
        past.out.push((Seat(4), 3));
        let player = |past: &StageHistory| {
            let players = Dutch::players(6, past, 3);
            let own = players.into_iter().find(|one| one.seat == Seat(5)).unwrap();
            (own.had_bye, own.colors.len(), own.met.len(), own.floats[0])
        };
        assert!(!player(&past).0);
        past.walkovers.insert(at(2, 3));
        assert_eq!(player(&past), (true, 1, 1, Some(Float::Down)));
        assert_ne!(format.round(6, &past, 3).bye, Some(Seat(5)));
    }
}
