//! The standing of a match, as lines of a table.

use std::time::Duration;

use crate::model::words::counted;
use crate::ratings::elo::{Estimate, Pentanomial, Sample, Trinomial};
use crate::runner::score::{MatchScore, MatchTally};
use crate::view::columns::ColumnTable;

/// Pairs of games where the match has them, single games otherwise.
pub(super) fn sample(tally: &MatchTally, paired: bool) -> Sample {
    if paired {
        let [ll, ld, wl, dd, wd, ww] = tally.pairs;
        Pentanomial { ll, ld, wl, dd, wd, ww }.into()
    } else {
        Trinomial { wins: tally.wins, losses: tally.losses, draws: tally.draws }.into()
    }
}

pub(super) struct MatchProgress {
    pub(super) played: usize,
    pub(super) total: usize,
    pub(super) elapsed: Duration,
}

impl MatchProgress {
    /// `12 of 100 games, 1m 40s left`.
    pub(super) fn words(&self) -> String {
        let left = self.left().map_or(String::new(), |left| {
            format!(", {} left", humantime::format_duration(Duration::from_secs(left.as_secs())))
        });
        format!("{} of {}{left}", self.played, counted(self.total, "game"))
    }

    /// The time that the games to come need, by the mean of those so far; none before the first.
    fn left(&self) -> Option<Duration> {
        let to_come = self.total.checked_sub(self.played)?;
        let played = (self.played > 0).then_some(self.played as f64)?;
        Duration::try_from_secs_f64(self.elapsed.as_secs_f64() / played * to_come as f64).ok()
    }
}

/// One line for the whole, one for each engine by its points: score, Elo with its error and LOS against all
/// others together, and its pairs of games by their results. A narrow terminal has no pairs, and then no LOS.
pub(super) fn lines(
    score: &MatchScore,
    names: &[String],
    paired: bool,
    progress: &MatchProgress,
    width: usize,
) -> Vec<String> {
    const HEADS: [&str; 10] = ["engine", "score", "Elo", "LOS", "LL", "LD", "WL", "DD", "WD", "WW"];
    let mut engines: Vec<(MatchTally, &String)> =
        names.iter().enumerate().map(|(index, name)| (score.of(index), name)).collect();
    engines.sort_by_key(|(tally, _)| std::cmp::Reverse(tally.points()));
    let rows: Vec<Vec<String>> = engines
        .into_iter()
        .map(|(tally, name)| {
            let points = format!("{}/{}", tally.points(), tally.games());
            let (elo, los) = match sample(&tally, paired).estimate() {
                Some(Estimate { elo, elo_error, los: Some(los), .. }) => (
                    // No minus before a zero.
                    format!("{:.1} ± {:.1}", elo + 0.0, elo_error),
                    format!("{:.1} %", 100.0 * los),
                ),
                // One that has won or lost all its games has none.
                Some(Estimate { elo, los: None, .. }) if elo.is_finite() => {
                    (format!("{:.1}", elo + 0.0), "–".to_owned())
                }
                _ => ("–".to_owned(), "–".to_owned()),
            };
            let pairs = tally.pairs.iter().map(u64::to_string);
            [name.clone(), points, elo, los].into_iter().chain(pairs).collect()
        })
        .collect();
    let counts: &[usize] = if paired { &[HEADS.len(), 4, 3] } else { &[4, 3] };
    let table = ColumnTable { heads: &HEADS, name: 0, counts };
    let mut lines = vec![progress.words()];
    lines.extend(table.lines(&rows, width));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::game::result::GameResult;
    use crate::runner::schedule::{ColourOrder, MatchSchedule, PairingSystem};
    use shakmaty::Color;

    #[test]
    fn engines_stand_by_their_points_with_their_pairs() {
        let schedule =
            MatchSchedule::new(2, PairingSystem::RoundRobin, 4, 2, ColourOrder::Reversed);
        let mut score = MatchScore::new(&schedule);
        let results = ["0-1", "1-0", "1/2-1/2", "1-0", "0-1", "1/2-1/2"];
        for (game, word) in results.iter().enumerate() {
            let result = GameResult::from_word(word).unwrap();
            score.add(&schedule.pairing(game).unwrap(), result);
        }
        assert_eq!(GameResult::from_word("1-0"), Some(GameResult::Win(Color::White)));
        let progress = MatchProgress { played: 6, total: 8, elapsed: Duration::from_secs(30) };
        let names = ["first".to_owned(), "second".to_owned()];
        let lines = lines(&score, &names, true, &progress, 99);
        assert_eq!(lines[0], "6 of 8 games, 10s left");
        assert!(lines[1].ends_with("LL  LD  WL  DD  WD  WW"), "{}", lines[1]);
        // A lost, lost; drew, lost; lost, drew.
        assert!(lines[2].starts_with("second") && lines[2].contains("5/6"), "{}", lines[2]);
        assert!(lines[2].ends_with("   0   0   0   0   2   1"), "{}", lines[2]);
        assert!(lines[3].ends_with("   1   2   0   0   0   0"), "{}", lines[3]);
        assert_eq!(lines[1].chars().count(), lines[2].chars().count(), "{lines:#?}");
        let narrow = super::lines(&score, &names, true, &progress, 39);
        assert!(narrow[1].ends_with("Elo  LOS") && narrow[2].contains("5/6"), "{narrow:#?}");
    }

    #[test]
    fn all_points_are_no_elo() {
        let schedule = MatchSchedule::new(2, PairingSystem::RoundRobin, 1, 1, ColourOrder::InTurn);
        let mut score = MatchScore::new(&schedule);
        score.add(&schedule.pairing(0).unwrap(), GameResult::Win(Color::White));
        let progress = MatchProgress { played: 1, total: 1, elapsed: Duration::ZERO };
        let names = ["A".to_owned(), "B".to_owned()];
        let lines = lines(&score, &names, false, &progress, 99);
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&lines[2]), ["A", "1/1", "–", "–"]);
        assert_eq!(words(&lines[3]), ["B", "0/1", "–", "–"]);
    }

    #[test]
    fn before_the_first_game_nothing_is_reckoned() {
        let schedule = MatchSchedule::new(2, PairingSystem::RoundRobin, 1, 2, ColourOrder::InTurn);
        let progress = MatchProgress { played: 0, total: 2, elapsed: Duration::ZERO };
        let names = ["A".to_owned(), "B".to_owned()];
        let lines = lines(&MatchScore::new(&schedule), &names, false, &progress, 99);
        assert_eq!(lines[0], "0 of 2 games");
        assert!(lines[2].contains("0/0") && lines[2].ends_with('–'), "{}", lines[2]);
    }
}
