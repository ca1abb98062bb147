//! Knockouts: a bracket of matches, with or without a match for the third place.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::super::schedule::{OpeningIndex, Seat};
use super::bracket_draw::BracketDraw;
use super::due::{Due, Next, PairId, StageHistory, open};
use super::match_::{MatchFormat, MatchState, in_sequence};
use crate::model::game::listed::RoundGame;
use crate::model::game::result::GameResult;

/// The side of a match that has White in its first game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WhiteFirst {
    /// The lower seed (rule 3.b of the cup); in a bracket as it was drawn the lower place.
    #[default]
    Lower,
    /// The higher seed.
    Upper,
}

/// A knockout. Neighbours in the bracket meet, and the winners of neighbouring matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Knockout {
    /// Where the seats stand.
    pub(crate) draw: BracketDraw,
    /// Pairs of each round; the last is the final's, and rounds beyond take the last.
    pub(crate) pairs: Vec<NonZeroU32>,
    /// Pairs of the match between the losers of the semifinals, which comes before the final.
    pub(crate) bronze: Option<NonZeroU32>,
    /// True if a match ends as soon as the lead is out of reach.
    pub(crate) early: bool,
    /// The side that has White first.
    pub(crate) white_first: WhiteFirst,
}

/// A match of the bracket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Encounter {
    /// Its number, from 1, as they are played.
    pub(crate) number: u32,
    /// Its round, from 1; the match for the third place has the final's.
    pub(crate) round: u32,
    /// The seat with White in the first game.
    pub(crate) white: Seat,
    /// The other.
    pub(crate) black: Seat,
    /// Its length.
    pub(crate) format: MatchFormat,
    /// The number of its first opening: each match has its own.
    pub(crate) openings: usize,
    /// The openings of its tie-break pairs.
    further: Further,
}

/// The openings behind those of all matches, which the matches take in turn: no tie-break of one is another's opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Further {
    first: usize,
    step: usize,
}

impl Knockout {
    /// The rounds of so many seats.
    pub(crate) fn rounds(seats: usize) -> u32 {
        seats.max(2).next_power_of_two().trailing_zeros()
    }

    fn length(&self, round: u32) -> NonZeroU32 {
        let at = (round as usize).saturating_sub(1);
        self.pairs.get(at).or(self.pairs.last()).copied().unwrap_or(NonZeroU32::MIN)
    }

    fn encounter(
        &self,
        number: u32,
        round: u32,
        pairs: NonZeroU32,
        seats: (Seat, Seat),
        openings: usize,
    ) -> Encounter {
        let (higher, lower) = (seats.0.min(seats.1), seats.0.max(seats.1));
        let (white, black) = match self.white_first {
            WhiteFirst::Lower => (lower, higher),
            WhiteFirst::Upper => (higher, lower),
        };
        let format = MatchFormat::until_decisive(pairs, self.early);
        Encounter { number, round, white, black, format, openings, further: Further::default() }
    }

    /// Every match that can be told by the winners so far: `won` tells who won a match by its number.
    pub(crate) fn bracket(
        &self,
        seats: usize,
        won: impl Fn(&Encounter) -> Option<Seat>,
    ) -> KnockoutBracket {
        let rounds = Knockout::rounds(seats);
        // Places that nobody has are byes for their neighbours.
        let taken = |seat: Seat| {
            if seat.0 < seats { BracketPlace::Taken(seat) } else { BracketPlace::Empty }
        };
        let mut places: Vec<BracketPlace> =
            self.draw.places(seats).into_iter().map(taken).collect();
        let mut bracket = KnockoutBracket::default();
        let mut number = 0;
        for round in 1..=rounds {
            let mut losers = Vec::new();
            let mut next = Vec::new();
            let mut level = KnockoutLevel::default();
            if round == rounds
                && let Some(pairs) = self.bronze
            {
                number += 1;
                let both = bracket.semifinal_losers().try_into().ok();
                level.bronze = both.map(|both| (number, both));
                if let Some([BracketPlace::Taken(a), BracketPlace::Taken(b)]) = both {
                    let bronze = self.encounter(number, round, pairs, (a, b), bracket.openings);
                    let winner = won(&bronze);
                    bracket.third(&bronze, winner);
                    bracket.encounters.push(bronze);
                }
                bracket.openings += pairs.get() as usize;
            }
            for pair in places.chunks(2) {
                let [upper, lower] = pair else { continue };
                let is_match = ![upper, lower].contains(&&BracketPlace::Empty);
                number += u32::from(is_match);
                level.pairs.push((is_match.then_some(number), [*upper, *lower]));
                let open = (BracketPlace::Winner(number), BracketPlace::Loser(number));
                let (winner, loser) = match (upper, lower) {
                    (BracketPlace::Empty, other) | (other, BracketPlace::Empty) => {
                        (*other, BracketPlace::Empty)
                    }
                    (BracketPlace::Taken(a), BracketPlace::Taken(b)) => {
                        let (pairs, first) = (self.length(round), bracket.openings);
                        let one = self.encounter(number, round, pairs, (*a, *b), first);
                        bracket.openings += pairs.get() as usize;
                        let winner = won(&one);
                        bracket.encounters.push(one);
                        match winner {
                            Some(seat) => (
                                BracketPlace::Taken(seat),
                                BracketPlace::Taken(if seat == *a { *b } else { *a }),
                            ),
                            None => open,
                        }
                    }
                    _ => {
                        bracket.openings += self.length(round).get() as usize;
                        open
                    }
                };
                next.push(winner);
                losers.push(loser);
            }
            bracket.groups.push(losers);
            bracket.levels.push(level);
            places = next;
        }
        bracket.groups.push(places);
        for one in &mut bracket.encounters {
            let first = bracket.openings + (one.number as usize).saturating_sub(1);
            one.further = Further { first, step: number as usize };
        }
        bracket
    }

    /// The bracket with a winner of each match, as if White always won.
    fn whole(&self, seats: usize) -> KnockoutBracket {
        self.bracket(seats, |one| Some(one.white))
    }

    /// The bracket as far as the games so far tell it.
    pub(crate) fn after(&self, seats: usize, past: &StageHistory) -> KnockoutBracket {
        self.bracket(seats, |one| winner(past, one))
    }

    /// Its matches with the number of each one's book, from 0, where each round has its own; the match for the third place
    /// has the final's, or one before it.
    pub(crate) fn by_book(&self, seats: usize, books: usize) -> Vec<(usize, Encounter)> {
        let all = self.whole(seats).encounters;
        let last = all.last().map(|one| one.number);
        let has_own = books > Knockout::rounds(seats) as usize;
        let book = |one: &Encounter| {
            let is_final = Some(one.number) == last && has_own;
            (one.round as usize).saturating_sub(1) + usize::from(is_final)
        };
        all.into_iter().map(|one| (book(&one), one)).collect()
    }

    /// The number of its matches, where all are played.
    pub(crate) fn matches(&self, seats: usize) -> usize {
        self.whole(seats).encounters.len()
    }

    /// True if a game is of the pairs that are played after a tie of its match.
    pub(crate) fn is_further(&self, seats: usize, at: RoundGame) -> bool {
        let one = self.whole(seats).of_number(at.round);
        one.is_some_and(|one| at.game > 2 * one.format.pairs.get())
    }

    /// The opening of a game for which the book has none any more: its match's own come again.
    pub(crate) fn again(&self, seats: usize, at: RoundGame) -> Option<OpeningIndex> {
        let one = self.whole(seats).of_number(at.round)?;
        let pair = (at.game as usize).saturating_sub(1) / 2;
        Some(OpeningIndex(one.openings + pair % one.format.pairs.get() as usize))
    }

    /// True if game `later` depends on the result of game `from`: by the players of its match, or as a further pair of the same match.
    pub(crate) fn follows(&self, seats: usize, later: RoundGame, from: RoundGame) -> bool {
        let Some(match_before) = self.whole(seats).of_number(from.round) else { return false };
        if later.round == from.round {
            return match_before.format.follows(later.game, from.game);
        }
        // The players of the later one if this side of the earlier one wins all its matches.
        let players = |winner: Seat| {
            let wins = |one: &Encounter| one.black == winner && one.number >= from.round;
            let won = |one: &Encounter| Some(if wins(one) { winner } else { one.white });
            let one = self.bracket(seats, won).of_number(later.round);
            one.map(|one| (one.white, one.black))
        };
        players(match_before.white) != players(match_before.black)
    }

    /// The pairs that each match was played on for since it was level, by its number.
    pub(crate) fn beyond(&self, seats: usize, past: &StageHistory) -> BTreeMap<u32, usize> {
        let bracket = self.after(seats, past);
        let beyond = |one: &Encounter| {
            (results(past, one).len() / 2).saturating_sub(one.format.pairs.get() as usize)
        };
        bracket.encounters.iter().map(|one| (one.number, beyond(one))).collect()
    }

    /// The matches that are level and played on, by their numbers, with their seats.
    pub(crate) fn level(&self, seats: usize, past: &StageHistory) -> Vec<(u32, [Seat; 2])> {
        let bracket = self.after(seats, past);
        let open = bracket.encounters.iter().filter(|one| winner(past, one).is_none());
        let level = open.filter(|one| one.format.is_level(&results(past, one)));
        level.map(|one| (one.number, [one.white, one.black])).collect()
    }

    /// Returns the winner of the final; none while it is played.
    pub(crate) fn champion(&self, seats: usize, past: &StageHistory) -> Option<Seat> {
        let bracket = self.after(seats, past);
        // The final is the last match, and the one for the third place comes before it.
        let last = bracket.encounters.last()?;
        (last.round == Knockout::rounds(seats)).then(|| winner(past, last))?
    }

    /// Returns the next step: of each match under way the games that no early end can take away.
    pub(crate) fn next(&self, seats: usize, past: &StageHistory) -> Next {
        let bracket = self.after(seats, past);
        let mut due = Vec::new();
        for one in bracket.encounters.iter().filter(|one| winner(past, one).is_none()) {
            let played = results(past, one);
            let MatchState::Due(sure) = one.format.after(&played) else { continue };
            due.extend(open((played.len()..played.len() + sure).map(|game| one.due(game)), past));
        }
        if due.is_empty() { Next::Over(bracket.places()) } else { Next::Play(due) }
    }
}

/// Returns the winner of a match; none while it is played.
pub(crate) fn winner(past: &StageHistory, one: &Encounter) -> Option<Seat> {
    if let MatchState::Won(seat, _) = one.format.after(&results(past, one)) {
        return Some(if seat.0 == 0 { one.white } else { one.black });
    }
    if let Some([first, ..]) = past.decision(&[one.white, one.black])
        && one.format.is_level(&results(past, one))
    {
        return Some(*first);
    }
    // An engine that plays no more has lost a match that is not decided; of two the one that left first.
    match (past.left(one.white), past.left(one.black)) {
        (None, None) => None,
        (Some(white), Some(black)) if black < white => Some(one.white),
        (Some(_), _) => Some(one.black),
        (None, Some(_)) => Some(one.white),
    }
}

/// The results of a match in the order of its games, from the view of who has White first.
fn results(past: &StageHistory, one: &Encounter) -> Vec<GameResult> {
    in_sequence(|game| past.games.get(&one.due(game).at))
}

impl Encounter {
    /// Its openings: those of its pairs, and the number `beyond` of those for which it is played on.
    pub(crate) fn own_openings(&self) -> std::ops::Range<usize> {
        self.openings..self.openings + self.format.pairs.get() as usize
    }

    /// The opening of the pair of this number beyond its own, from 0.
    pub(crate) fn opening_beyond(&self, beyond: usize) -> usize {
        self.further.first + beyond * self.further.step
    }

    /// A game of it, from 0. Its place names the match and the game within it.
    pub(crate) fn due(&self, game: usize) -> Due {
        let is_reverse = game % 2 == 1;
        let pair = game / 2;
        let opening = match pair.checked_sub(self.format.pairs.get() as usize) {
            None => self.openings + pair,
            Some(beyond) => self.opening_beyond(beyond),
        };
        Due {
            at: RoundGame { round: self.number, game: u32::try_from(game + 1).unwrap_or(u32::MAX) },
            white: if is_reverse { self.black } else { self.white },
            black: if is_reverse { self.white } else { self.black },
            // A thousand pairs are more than any match has.
            pair: PairId(self.number * 1000 + u32::try_from(pair).unwrap_or(999).min(999)),
            opening: Some(OpeningIndex(opening)),
        }
    }
}

/// A place of the bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BracketPlace {
    /// The place of this seat.
    Taken(Seat),
    /// The place of the winner of the match of this number, which is not known yet.
    Winner(u32),
    /// The place of the loser of that match.
    Loser(u32),
    /// A place that nobody takes.
    Empty,
}

/// A round of the bracket.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnockoutLevel {
    /// Its pairs of places in the order of the draw, each with the number of its match; none where one place is nobody's.
    pub(crate) pairs: Vec<(Option<u32>, [BracketPlace; 2])>,
    /// Beside the final the match for the third place.
    pub(crate) bronze: Option<(u32, [BracketPlace; 2])>,
}

/// A bracket as far as it is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnockoutBracket {
    /// The matches whose two sides are known, in the order in which they are played.
    pub(crate) encounters: Vec<Encounter>,
    /// The openings of all matches that are sure to be played.
    pub(crate) openings: usize,
    /// Its rounds, also as far as it is not known who plays in them.
    pub(crate) levels: Vec<KnockoutLevel>,
    /// The losers of each round; at the end the winner.
    groups: Vec<Vec<BracketPlace>>,
}

impl KnockoutBracket {
    /// Its match of this number, where it is known.
    fn of_number(self, number: u32) -> Option<Encounter> {
        self.encounters.into_iter().find(|one| one.number == number)
    }

    fn semifinal_losers(&self) -> Vec<BracketPlace> {
        self.groups.last().cloned().unwrap_or_default()
    }

    /// Puts the third before the fourth.
    fn third(&mut self, bronze: &Encounter, winner: Option<Seat>) {
        let Some(third) = winner else { return };
        let fourth = if third == bronze.white { bronze.black } else { bronze.white };
        self.groups.pop();
        self.groups.push(vec![BracketPlace::Taken(fourth)]);
        self.groups.push(vec![BracketPlace::Taken(third)]);
    }

    /// Returns the seats by place, the winner first; the seats of a group share a place.
    pub(crate) fn places(&self) -> Vec<Vec<Seat>> {
        let seats = |group: &Vec<BracketPlace>| -> Vec<Seat> {
            let taken = group.iter().filter_map(|place| match place {
                BracketPlace::Taken(seat) => Some(*seat),
                _ => None,
            });
            taken.collect()
        };
        self.groups.iter().rev().map(seats).filter(|group| !group.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::due::PlayedPairing;
    use super::*;
    use shakmaty::Color;

    fn pairs(numbers: &[u32]) -> Vec<NonZeroU32> {
        numbers.iter().map(|number| NonZeroU32::new(*number).unwrap()).collect()
    }

    /// The upper seat always wins.
    #[test]
    fn every_number_of_engines_has_a_winner_and_everybody_a_place() {
        for seats in 2..=60 {
            for bronze in [None, NonZeroU32::new(2)] {
                let format = Knockout {
                    draw: BracketDraw::EqualDistance,
                    pairs: pairs(&[1, 2]),
                    bronze,
                    early: true,
                    white_first: WhiteFirst::Lower,
                };
                let mut past = StageHistory::default();
                let mut games = 0;
                let groups = loop {
                    match format.next(seats, &past) {
                        Next::Play(due) => {
                            for game in due {
                                let winner = if game.white < game.black {
                                    Color::White
                                } else {
                                    Color::Black
                                };
                                let result = GameResult::Win(winner);
                                let (white, black) = (game.white, game.black);
                                past.add(PlayedPairing { at: game.at, white, black, result });
                                games += 1;
                            }
                        }
                        Next::Over(groups) => break groups,
                        Next::Bye(..) => panic!("a knockout has no byes to note"),
                    }
                };
                assert_eq!(groups[0], [Seat(0)]);
                assert_eq!(groups.concat().len(), seats);
                let matches = seats - 1 + usize::from(bronze.is_some() && seats > 3);
                let met: std::collections::BTreeSet<u32> =
                    past.games.keys().map(|at| at.round).collect();
                assert_eq!(met.len(), matches, "{seats}");
                assert!(games >= 2 * matches);
            }
        }
    }

    /// The one of two seats that stands lower in the bracket wins, until nothing is due; the games of each match.
    fn openings_of(format: &Knockout, seats: usize, tied: u32) -> BTreeMap<u32, Vec<usize>> {
        openings_after(format, seats, tied, StageHistory::default())
    }

    fn openings_after(
        format: &Knockout,
        seats: usize,
        tied: u32,
        mut past: StageHistory,
    ) -> BTreeMap<u32, Vec<usize>> {
        let mut openings: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        while let Next::Play(due) = format.next(seats, &past) {
            for game in due {
                let is_level = game.at.game <= tied;
                let upper = if game.white < game.black { Color::White } else { Color::Black };
                let result = if is_level { GameResult::Draw } else { GameResult::Win(upper) };
                let (white, black) = (game.white, game.black);
                past.add(PlayedPairing { at: game.at, white, black, result });
                openings.entry(game.at.round).or_default().push(game.opening.unwrap().0);
            }
        }
        openings
    }

    #[test]
    fn each_match_has_openings_of_its_own_tie_breaks_included() {
        for (seats, bronze) in [(2, None), (5, None), (8, NonZeroU32::new(2)), (32, None)] {
            let format = Knockout {
                draw: BracketDraw::EqualDistance,
                pairs: pairs(&[1, 2]),
                bronze,
                early: true,
                white_first: WhiteFirst::Lower,
            };
            // Six games of each match are drawn, and the next pair decides it.
            let played = openings_of(&format, seats, 6);
            assert_eq!(played.len(), format.matches(seats));
            let mut met = std::collections::BTreeSet::new();
            for (number, openings) in &played {
                assert_eq!(openings.len(), 8, "match {number} of {seats}");
                for pair in openings.chunks(2) {
                    assert_eq!(pair[0], pair[1], "match {number} of {seats}");
                    assert!(met.insert(pair[0]), "opening {} is played twice", pair[0]);
                }
            }
            // Behind those of all matches none is left out.
            assert_eq!(met.len(), *met.last().unwrap() + 1, "{seats}");
            let last = RoundGame { round: 1, game: 7 };
            assert_eq!(format.again(seats, last), Some(OpeningIndex(3 % length(&format, seats))));
        }
    }

    /// Seats 2 and 7 of eight, or 5 to 8.
    #[test]
    fn places_that_nobody_has_leave_the_other_matches_their_numbers_lengths_and_openings() {
        let format = Knockout {
            draw: BracketDraw::EqualDistance,
            pairs: pairs(&[1, 2, 4]),
            bronze: NonZeroU32::new(2),
            early: false,
            white_first: WhiteFirst::Lower,
        };
        let full = openings_of(&format, 8, 0);
        for (vacant, played) in
            [(&[1, 6][..], &[1, 4, 5, 6, 7, 8][..]), (&[4, 5, 6, 7], &[5, 6, 7, 8])]
        {
            let mut past = StageHistory::default();
            past.out.extend(vacant.iter().map(|seat| (Seat(*seat), 0)));
            let openings = openings_after(&format, 8, 0, past);
            assert!(openings.iter().all(|(number, own)| full[number] == *own), "{openings:?}");
            assert_eq!(openings.into_keys().collect::<Vec<_>>(), played);
        }
    }

    fn length(format: &Knockout, seats: usize) -> usize {
        format.length(Knockout::rounds(seats).min(1)).get() as usize
    }

    /// Matches 1 to 4, 5 and 6, the match for the third place, the final.
    #[test]
    fn only_matches_of_the_winner_or_loser_follow_from_a_match() {
        let format = Knockout {
            draw: BracketDraw::EqualDistance,
            pairs: pairs(&[1]),
            bronze: NonZeroU32::new(1),
            early: true,
            white_first: WhiteFirst::Lower,
        };
        let first = |round| RoundGame { round, game: 1 };
        let follow =
            |from| (1..=8).filter(|later| format.follows(8, first(*later), first(from))).collect();
        let told: Vec<Vec<u32>> = [1, 3, 5, 6, 7, 8].map(follow).into();
        assert_eq!(told, [vec![5, 8], vec![6, 8], vec![7, 8], vec![7, 8], vec![], vec![]]);
        let game = |game| RoundGame { round: 3, game };
        assert!(format.follows(8, game(3), game(2)) && !format.follows(8, game(2), game(1)));
    }

    /// Seed 4 of four beats seed 1, whose place is the upper one of the final.
    #[test]
    fn the_lower_seed_has_white_first_wherever_it_stands() {
        let format = Knockout {
            draw: BracketDraw::EqualDistance,
            pairs: pairs(&[1]),
            bronze: None,
            early: true,
            white_first: WhiteFirst::Lower,
        };
        let places = format.draw.places(4);
        let won = |one: &Encounter| Some(if one.number == 1 { places[1] } else { places[2] });
        let bracket = format.bracket(4, won);
        let last = bracket.encounters.last().unwrap();
        assert!(places[1] > places[2]);
        assert_eq!((last.number, last.white, last.black), (3, places[1], places[2]));
        let other = Knockout { white_first: WhiteFirst::Upper, ..format.clone() };
        assert_eq!(other.bracket(4, won).encounters.last().unwrap().white, places[2]);
    }

    #[test]
    fn the_lower_place_has_white_first_in_a_bracket_as_drawn() {
        let format = Knockout {
            draw: BracketDraw::AsDrawn,
            pairs: pairs(&[1]),
            bronze: None,
            early: true,
            white_first: WhiteFirst::Lower,
        };
        let Next::Play(due) = format.next(4, &StageHistory::default()) else {
            panic!("games are due")
        };
        assert_eq!((due[0].white, due[0].black), (Seat(1), Seat(0)));
        assert_eq!(due[0].at, RoundGame { round: 1, game: 1 });
    }
}
