//! A stage of an event as data: who plays in which format, from which openings, who goes on, and what breaks
//! ties. The pool and the MiniFinal of the 4k event (rules 0.2 to 0.4, 3.2) are two of these.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::Deserialize;
use shakmaty::Color;

use super::field::Field;
use super::journal::record::Decision;
use super::schedule::{BookPolicy, Pairing, Schedule};
use super::standings::{Place, Standings, TieOfTwo};
use super::tiebreak::Chain;
use crate::model::game::listed::RoundGame;
use crate::model::game::points::HalfPoints;
use crate::model::game::result::GameResult;

/// What is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// So many double round robins in Berger order.
    DoubleRoundRobins(NonZeroU32),
    /// A match of so many pairs; after a tie pairs until one engine wins one (rule 3.2).
    Pairs(NonZeroU32),
}

impl Format {
    /// Double round robins, or pairs, before any tie is played on.
    #[must_use]
    pub fn doubles(self) -> NonZeroU32 {
        match self {
            Format::DoubleRoundRobins(doubles) | Format::Pairs(doubles) => doubles,
        }
    }
}

/// Who sits where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// By the entries' seeds; for a first stage.
    Seeds,
    /// As the stage before ranked them.
    Ranking,
    /// The other way round: in a match, its winner is Black in the first game of each pair.
    ReversedRanking,
}

/// Whether engines may be updated before a stage (rules 4.2 and 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updates {
    /// They stay as they were frozen.
    Forbidden,
    /// Those that play in it may be others, which pass the gate again.
    Allowed,
}

/// A stage.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// What is played.
    pub format: Format,
    /// Its openings.
    pub book: Option<PathBuf>,
    /// How these are handed out.
    pub policy: BookPolicy,
    /// Who sits where.
    pub draw: Draw,
    /// What breaks ties.
    pub chain: &'static Chain,
    /// How many go on, or win.
    pub promote: usize,
    /// Whether engines may be updated before it.
    pub updates: Updates,
}

/// The results of a stage's finished games, by place in the schedule.
pub type Results = HashMap<RoundGame, GameResult>;

/// An order that may leave engines tied: each group is one place.
pub type Ranking = Vec<Vec<String>>;

impl Stage {
    /// The schedule for so many engines.
    ///
    /// # Errors
    /// For a number of engines that cannot play each other.
    pub fn schedule(&self, seats: usize) -> Result<Schedule, super::schedule::TooFewOrMany> {
        Schedule::new(seats, self.format.doubles(), self.policy)
    }

    /// The openings that its book must hold.
    #[must_use]
    pub fn openings(&self) -> usize {
        let doubles = self.format.doubles().get() as usize;
        match self.policy {
            BookPolicy::None => 0,
            BookPolicy::FirstBookless => doubles - 1,
            BookPolicy::EachDouble => doubles,
        }
    }

    /// The games that are to be played now, in order; none when the stage is over. After a tied match it is
    /// the next pair. Engines that are out (season 17's crash rule) play no more.
    #[must_use]
    pub fn due(
        &self,
        schedule: Schedule,
        seats: &[String],
        results: &Results,
        out: &BTreeSet<String>,
    ) -> Vec<Pairing> {
        let open = |pairing: &Pairing| {
            let is_out = |seat: usize| seats.get(seat).is_some_and(|name| out.contains(name));
            !results.contains_key(&pairing.at)
                && !is_out(pairing.white.0)
                && !is_out(pairing.black.0)
        };
        let due: Vec<Pairing> = schedule.pairings().filter(open).collect();
        if !due.is_empty() || matches!(self.format, Format::DoubleRoundRobins(_)) {
            return due;
        }
        let mut next = 0;
        loop {
            // Every game up to here is finished; whoever is ahead then has won.
            if next >= self.format.doubles().get() && !is_level(results, schedule, next) {
                return Vec::new();
            }
            let pair: Vec<Pairing> = schedule.double(next).filter(open).collect();
            if !pair.is_empty() {
                return pair;
            }
            if schedule.double(next).any(|pairing| !results.contains_key(&pairing.at)) {
                // Somebody is out.
                return Vec::new();
            }
            next += 1;
        }
    }

    /// The pairs beyond those of the match that so many games make.
    #[must_use]
    pub fn pairs_beyond(&self, games: usize) -> u32 {
        match self.format {
            Format::Pairs(pairs) => {
                u32::try_from(games / 2).unwrap_or(u32::MAX).saturating_sub(pairs.get())
            }
            Format::DoubleRoundRobins(_) => 0,
        }
    }

    /// Its games, counted.
    #[must_use]
    pub fn standings(&self, field: &Field) -> Standings {
        let is_played_on = matches!(self.format, Format::Pairs(_)) && self.chain.spares_matches;
        let tie = if is_played_on { TieOfTwo::PlayedOn } else { TieOfTwo::Broken };
        Standings::with(field, self.chain, tie)
    }

    /// Who stands where, after the decisions of the organisers (rule 3.1.7).
    #[must_use]
    pub fn ranking(&self, standings: &Standings, decisions: &[Decision]) -> Ranking {
        let mut ranking: Ranking = Vec::new();
        let mut last = None;
        for row in &standings.rows {
            let name = row.engine.name.clone();
            let rank = match row.place {
                Place::Ranked { rank, .. } => Some(rank),
                Place::Disqualified => None,
            };
            match ranking.last_mut() {
                Some(group) if rank.is_some() && last == Some(rank) => group.push(name),
                _ => ranking.push(vec![name]),
            }
            last = Some(rank);
        }
        ranking
            .into_iter()
            .flat_map(|group| {
                let tied: BTreeSet<&String> = group.iter().collect();
                let decided = decisions
                    .iter()
                    .rev()
                    .find(|decision| tied == decision.order.iter().collect::<BTreeSet<_>>());
                match decided {
                    Some(decision) if group.len() > 1 => {
                        decision.order.iter().map(|name| vec![name.clone()]).collect()
                    }
                    _ => vec![group],
                }
            })
            .collect()
    }

    /// Who goes on by a ranking without an open tie; never who is disqualified, so there may be too few.
    #[must_use]
    pub fn promoted(&self, standings: &Standings, ranking: &Ranking) -> Vec<String> {
        let is_out = |name: &String| {
            let mut rows = standings.rows.iter();
            rows.any(|row| row.place == Place::Disqualified && row.engine.name == *name)
        };
        ranking.concat().into_iter().filter(|name| !is_out(name)).take(self.promote).collect()
    }

    /// The first tie that keeps the stage from being over: one on a place that counts.
    #[must_use]
    pub fn open_tie<'a>(&self, ranking: &'a Ranking) -> Option<&'a [String]> {
        let mut place = 0;
        for group in ranking {
            if place >= self.promote {
                return None;
            }
            if group.len() > 1 {
                return Some(group);
            }
            place += group.len();
        }
        None
    }
}

/// Whether the points of a match are level after all games before a double round robin.
fn is_level(results: &Results, schedule: Schedule, doubles: u32) -> bool {
    let mut points = [HalfPoints::ZERO; 2];
    for pairing in (0..doubles).flat_map(|double| schedule.double(double)) {
        let Some(result) = results.get(&pairing.at) else { continue };
        for (seat, color) in [(pairing.white, Color::White), (pairing.black, Color::Black)] {
            if let Some(points) = points.get_mut(seat.0) {
                *points += result.points(color).unwrap_or_default();
            }
        }
    }
    points[0] == points[1]
}

#[cfg(test)]
mod tests {
    use super::super::journal::record::{GameFinished, StageStarted};
    use super::super::journal_games::tests::finished;
    use super::super::ledger::StageState;
    use super::*;
    use crate::model::game::ending::Termination;

    fn stage(format: Format) -> Stage {
        Stage {
            name: "S".into(),
            format,
            book: None,
            policy: BookPolicy::None,
            draw: Draw::Seeds,
            chain: Chain::named("4k").unwrap(),
            promote: 2,
            updates: Updates::Forbidden,
        }
    }

    fn after(games: &[GameFinished]) -> StageState {
        let ratings = Default::default();
        let started =
            StageStarted { stage: 0, name: "S".into(), seats: Vec::new(), ratings, book: None };
        let mut state = StageState::new(started);
        for game in games {
            state.add("E", game).unwrap();
        }
        state
    }

    fn pairs(number: u32) -> Format {
        Format::Pairs(NonZeroU32::new(number).unwrap())
    }

    /// The places due after a match with these results, White's view.
    fn due(format: Format, words: &[&str]) -> Vec<String> {
        let stage = stage(format);
        let seats = ["second".to_owned(), "winner".to_owned()];
        let schedule = stage.schedule(2).unwrap();
        let games: Vec<GameFinished> = (0..)
            .flat_map(|double| schedule.double(double))
            .zip(words)
            .map(|(pairing, word)| {
                finished(&seats[pairing.white.0], &seats[pairing.black.0], pairing.at, word, "e2e4")
            })
            .collect();
        let due = stage.due(schedule, &seats, after(&games).results(), &BTreeSet::new());
        due.iter().map(|pairing| pairing.at.to_string()).collect()
    }

    #[test]
    fn a_match_is_played_to_its_end_and_a_tie_beyond_it() {
        assert_eq!(due(pairs(2), &["1-0"]), ["2.1", "3.1", "4.1"]);
        // Decided early: all games are played all the same.
        assert_eq!(due(pairs(1), &["1-0", "0-1"]), [""; 0]);
        assert_eq!(due(pairs(1), &["1-0", "1-0"]), ["3.1", "4.1"]);
        assert_eq!(due(pairs(1), &["1-0", "1-0", "1/2-1/2"]), ["4.1"]);
        assert_eq!(due(pairs(1), &["1-0", "1-0", "1/2-1/2", "1/2-1/2"]), ["5.1", "6.1"]);
        assert_eq!(due(pairs(1), &["1-0", "1-0", "1/2-1/2", "0-1"]), [""; 0]);
    }

    #[test]
    fn the_winner_of_the_pool_has_black_first() {
        let stage = stage(pairs(1));
        let first = stage.schedule(2).unwrap().pairings().next().unwrap();
        assert_eq!((first.white.0, first.black.0), (0, 1));
    }

    #[test]
    fn who_is_disqualified_goes_nowhere() {
        let stage = stage(pairs(1));
        let mut games = vec![finished("c", "a", RoundGame { round: 9, game: 1 }, "1-0", "e2e4")];
        for round in 1..4 {
            let mut game = finished("a", "b", RoundGame { round, game: 1 }, "1-0", "e2e4");
            game.reason = Termination::Crash { exit: None };
            games.push(game);
        }
        let field = after(&games).field(NonZeroU32::new(3));
        let standings = stage.standings(&field);
        let ranking = stage.ranking(&standings, &[]);
        assert_eq!(ranking.concat(), ["c", "a", "b"]);
        assert_eq!(stage.promoted(&standings, &ranking), ["c", "a"]);
        let all = Stage { promote: 3, ..stage };
        assert_eq!(all.promoted(&standings, &ranking), ["c", "a"]);
    }

    #[test]
    fn a_tie_on_a_place_that_counts_stays_open_until_it_is_decided() {
        let stage = stage(pairs(1));
        let game = |white: &str, black: &str, round, word| {
            finished(white, black, RoundGame { round, game: 1 }, word, "e2e4 e7e5")
        };
        // a first; b and c level in everything.
        let games = [
            game("a", "b", 1, "1-0"),
            game("a", "c", 2, "1-0"),
            game("b", "c", 3, "1/2-1/2"),
            game("c", "b", 4, "1/2-1/2"),
        ];
        let field = after(&games).field(None);
        let standings = stage.standings(&field);
        let ranking = stage.ranking(&standings, &[]);
        assert_eq!(stage.open_tie(&ranking), Some(&["b".to_owned(), "c".to_owned()][..]));
        let decision = Decision {
            stage: 0,
            order: vec!["c".into(), "b".into()],
            reason: "a coin".into(),
            at: String::new(),
        };
        let ranking = stage.ranking(&standings, &[decision]);
        assert_eq!(ranking.concat(), ["a", "c", "b"]);
        assert_eq!(stage.open_tie(&ranking), None);
        assert_eq!(Stage { promote: 1, ..stage }.open_tie(&vec![vec!["a".into()]]), None);
    }
}
