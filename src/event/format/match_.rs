//! A match of two: whole pairs, an early end where the lead is out of reach, and pairs or further matches
//! after a tie. Seat 0 has White in the first game of each pair.

use std::cmp::Ordering;
use std::num::NonZeroU32;

use shakmaty::Color;

use super::super::schedule::Seat;
use super::due::{Due, Next, PlayedPairing, StageHistory, open};
use crate::model::game::listed::RoundGame;
use crate::model::game::result::GameResult;

/// A part of a match that is played where all before it is level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MatchPart {
    /// Pairs.
    pub(crate) pairs: NonZeroU32,
    /// True if it is repeated until it is decisive.
    pub(crate) again: bool,
}

/// A match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MatchFormat {
    /// Pairs.
    pub(crate) pairs: NonZeroU32,
    /// True if the match ends as soon as the lead is out of reach, even inside a pair.
    pub(crate) early: bool,
    /// The parts that are played after a tie, in order.
    pub(crate) then: Vec<MatchPart>,
}

impl MatchFormat {
    /// A match that goes on by single pairs until one is decisive.
    pub(crate) fn until_decisive(pairs: NonZeroU32, early: bool) -> MatchFormat {
        MatchFormat { pairs, early, then: vec![MatchPart { pairs: NonZeroU32::MIN, again: true }] }
    }

    /// The parts of the match in order; the last one that comes again has no end.
    fn parts(&self) -> impl Iterator<Item = (u32, bool)> {
        let again = self.then.iter().position(|then| then.again);
        let once = &self.then[..again.unwrap_or(self.then.len())];
        let then = once.iter().map(|then| (then.pairs.get(), false));
        let endless = again.map(|at| (self.then[at].pairs.get(), false));
        std::iter::once((self.pairs.get(), self.early))
            .chain(then)
            .chain(endless.into_iter().cycle())
    }

    /// The part that a game belongs to, by its round: 0 for the match itself, then the place in `then`, from 1.
    pub(crate) fn part(&self, round: u32) -> usize {
        let mut left = round.saturating_sub(1) / 2;
        if left < self.pairs.get() {
            return 0;
        }
        left -= self.pairs.get();
        for (place, then) in (1..).zip(&self.then) {
            if then.again || left < then.pairs.get() {
                return place;
            }
            left -= then.pairs.get();
        }
        self.then.len()
    }

    /// True if a game is of a later part than another: it is played because the parts before it are level. Games by their number, from 1.
    pub(crate) fn follows(&self, later: u32, from: u32) -> bool {
        let part = |game: u32| {
            let mut pairs_before = game.saturating_sub(1) / 2;
            self.parts().position(|(pairs, _)| {
                let is_here = pairs_before < pairs;
                pairs_before = pairs_before.saturating_sub(pairs);
                is_here
            })
        };
        part(later) > part(from)
    }

    /// Returns the state after these results (seat 0's view, in order): the number of games that are sure to be due, or
    /// the winner; level where nothing is left to play.
    pub(crate) fn after(&self, results: &[GameResult]) -> MatchState {
        let mut rest = results;
        for (pairs, early) in self.parts() {
            let games = pairs as usize * 2;
            let (own, after) = rest.split_at(rest.len().min(games));
            let mut lead = 0i64;
            for (at, result) in own.iter().enumerate() {
                lead += lead_of(*result, at);
                let left = (games - at - 1) as i64;
                if early && lead.abs() > 2 * left && at + 1 < games {
                    return MatchState::Won(winner(lead), results.len() - rest.len() + at + 1);
                }
            }
            let left = games - own.len();
            if left > 0 {
                // Until the leader could be out of reach, every game is sure.
                let reach = (2 * left).saturating_sub(lead.unsigned_abs() as usize) / 4 + 1;
                return MatchState::Due(if early { reach.min(left) } else { left });
            }
            rest = after;
            if lead != 0 {
                return MatchState::Won(winner(lead), results.len() - rest.len());
            }
        }
        MatchState::Level(results.len() - rest.len())
    }

    /// True if all before a further part is played and level, and nothing of that part is.
    pub(crate) fn is_level(&self, results: &[GameResult]) -> bool {
        if !matches!(self.after(results), MatchState::Due(_)) {
            return false;
        }
        let mut rest = results.len();
        for (number, (pairs, _)) in self.parts().enumerate() {
            if rest == 0 {
                return number > 0;
            }
            let Some(left) = rest.checked_sub(pairs as usize * 2) else { return false };
            rest = left;
        }
        false
    }

    /// The results between seats 0 and 1.
    pub(crate) fn results(past: &StageHistory) -> Vec<GameResult> {
        in_sequence(|number| past.games.get(&game(number).at))
    }

    /// Returns the next step between seats 0 and 1.
    pub(crate) fn next(&self, past: &StageHistory) -> Next {
        let results = MatchFormat::results(past);
        if let Some([first, ..]) = past.decision(&[Seat(0), Seat(1)])
            && self.is_level(&results)
        {
            return Next::Over(over(Some(*first)));
        }
        match (self.after(&results), past.out.first()) {
            (MatchState::Won(seat, _), _) => Next::Over(over(Some(seat))),
            // The first one out has lost.
            (_, Some((out, _))) => Next::Over(over(Some(Seat(usize::from(*out == Seat(0)))))),
            (MatchState::Level(_), None) => Next::Over(over(None)),
            (MatchState::Due(sure), None) => {
                let first = results.len();
                Next::Play(open((first..first + sure).map(game), past))
            }
        }
    }
}

/// The results of a match up to its first game that has none: of games that are played at a time a later one may
/// end first.
pub(super) fn in_sequence<'a>(
    played: impl Fn(usize) -> Option<&'a PlayedPairing>,
) -> Vec<GameResult> {
    (0..).map_while(played).map(|game| game.result).collect()
}

/// The state of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchState {
    /// This number of games is due.
    Due(usize),
    /// The match was won by this seat, after this number of games.
    Won(Seat, usize),
    /// All games were played, this number of them, and the match is level.
    Level(usize),
}

/// The game of a number, from 0: rounds as the runner of the events counts a match.
fn game(number: usize) -> Due {
    let at = RoundGame { round: u32::try_from(number).unwrap_or(u32::MAX - 1) + 1, game: 1 };
    let white = number % 2;
    Due::of_pair(at, (Seat(white), Seat(1 - white)), number / 2)
}

/// Seat 0's lead by one game, in half points of difference.
fn lead_of(result: GameResult, at: usize) -> i64 {
    let own = if at.is_multiple_of(2) { Color::White } else { Color::Black };
    match result {
        GameResult::Win(winner) if winner == own => 2,
        GameResult::Win(_) => -2,
        GameResult::Draw | GameResult::Unfinished => 0,
    }
}

fn winner(lead: i64) -> Seat {
    Seat(usize::from(lead.cmp(&0) == Ordering::Less))
}

fn over(winner: Option<Seat>) -> Vec<Vec<Seat>> {
    match winner {
        Some(seat) => vec![vec![seat], vec![Seat(1 - seat.0)]],
        None => vec![vec![Seat(0), Seat(1)]],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    /// Results from seat 0's view: `+`, `=`, `-`.
    fn results(text: &str) -> Vec<GameResult> {
        let own = |at: usize| if at.is_multiple_of(2) { Color::White } else { Color::Black };
        text.chars()
            .enumerate()
            .map(|(at, sign)| match sign {
                '+' => GameResult::Win(own(at)),
                '-' => GameResult::Win(!own(at)),
                _ => GameResult::Draw,
            })
            .collect()
    }

    #[test]
    fn a_match_of_the_cup_ends_where_the_lead_is_out_of_reach() {
        let two = MatchFormat::until_decisive(pairs(2), true);
        for (text, expected) in [
            ("--=", MatchState::Won(Seat(1), 3)),
            ("+=+", MatchState::Won(Seat(0), 3)),
            ("---", MatchState::Won(Seat(1), 3)),
            ("==--", MatchState::Won(Seat(1), 4)),
            ("+-+-", MatchState::Due(2)),
            ("+-+-=", MatchState::Due(1)),
            ("=", MatchState::Due(2)),
            ("+-+-=+", MatchState::Won(Seat(0), 6)),
            ("=-=", MatchState::Due(1)),
            ("", MatchState::Due(3)),
        ] {
            assert_eq!(two.after(&results(text)), expected, "{text}");
        }
        // Games that were played on beyond the end are not counted.
        assert_eq!(two.after(&results("---+")), MatchState::Won(Seat(1), 3));
    }

    #[test]
    fn no_game_is_due_that_an_early_end_could_take_away() {
        let four = MatchFormat::until_decisive(pairs(4), true);
        for length in 0..8u32 {
            for code in 0..3u32.pow(length) {
                let text: String = (0..length)
                    .map(|at| ['+', '=', '-'][(code / 3u32.pow(at) % 3) as usize])
                    .collect();
                let MatchState::Due(sure) = four.after(&results(&text)) else { continue };
                for more in 1..sure {
                    let sign = |sign: &str| text.clone() + &sign.repeat(more);
                    for sign in [sign("+"), sign("-")] {
                        let state = four.after(&results(&sign));
                        assert!(matches!(state, MatchState::Due(_)), "{sign}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_further_pair_follows_from_all_games_before_it() {
        let one = MatchFormat::until_decisive(pairs(1), true);
        for (later, from, follows) in
            [(2, 1, false), (3, 1, true), (3, 2, true), (4, 3, false), (5, 4, true), (1, 3, false)]
        {
            assert_eq!(one.follows(later, from), follows, "{later} after {from}");
        }
    }

    #[test]
    fn a_superfinal_is_played_to_its_end_and_then_by_further_matches() {
        let last = MatchPart { pairs: pairs(1), again: true };
        let superfinal = MatchFormat {
            pairs: pairs(2),
            early: false,
            then: vec![MatchPart { pairs: pairs(2), again: false }, last],
        };
        assert_eq!(superfinal.after(&results("+++")), MatchState::Due(1));
        assert_eq!(superfinal.after(&results("+++=")), MatchState::Won(Seat(0), 4));
        assert_eq!(superfinal.after(&results("====")), MatchState::Due(4));
        assert_eq!(superfinal.after(&results("====+===")), MatchState::Won(Seat(0), 8));
        assert_eq!(superfinal.after(&results("========")), MatchState::Due(2));
        assert_eq!(superfinal.after(&results("==========+-=+")), MatchState::Won(Seat(0), 14));
        let level = ["", "===", "====", "======", "========", "========="];
        let level = level.map(|text| superfinal.is_level(&results(text)));
        assert_eq!(level, [false, false, true, false, true, false]);
        let parts = [1, 4, 5, 8, 9, 10, 11, 99].map(|round| superfinal.part(round));
        assert_eq!(parts, [0, 0, 1, 1, 2, 2, 2, 2]);
        let none = MatchFormat { then: Vec::new(), ..superfinal };
        assert_eq!(none.after(&results("====")), MatchState::Level(4));
    }
}
