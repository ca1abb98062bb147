//! The event's rating list (rule 5): over the games before it and all of its own, lost clocks and crashes
//! among them, versions of an engine counted as one.

use std::collections::BTreeMap;

use super::config::EventConfig;
use super::ledger::{Ledger, StageState};
use crate::ratings::bayes::{List, Model, Rated, Results, list_order};
use crate::ratings::names::Versions;

/// The list, and what it says of the entries.
#[derive(Clone, Debug)]
pub struct EventRatings {
    /// Every engine that has a game.
    pub(crate) list: List,
    /// The entries, the strongest first, those of which nothing is known last.
    pub(crate) entries: Vec<EntryRating>,
    /// Games before the event.
    pub(crate) history: u64,
    /// The event's own games.
    pub games: u64,
    /// True if the list stands on a scale that somebody chose; otherwise its mean is 0, and ratings only tell
    /// differences.
    pub(crate) is_anchored: bool,
}

/// The rating of an entry, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EntryRating {
    /// The entry.
    pub(crate) name: String,
    /// Its rating.
    pub(crate) known: KnownRating,
}

/// A rating, or what stands for one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum KnownRating {
    /// The engine has games.
    Rated {
        /// Its place in the whole list, from 1.
        rank: usize,
        /// Its line.
        rated: Rated,
    },
    /// None yet; this one comes from testing (rule 5.5), in Elo.
    Temporary(i32),
    /// There is no rating, neither of games nor of testing.
    Unknown,
}

impl KnownRating {
    /// In Elo.
    pub(crate) fn elo(&self) -> Option<f64> {
        match self {
            KnownRating::Rated { rated, .. } => Some(rated.elo),
            KnownRating::Temporary(elo) => Some(f64::from(*elo)),
            KnownRating::Unknown => None,
        }
    }
}

impl EventRatings {
    /// The list as it stands.
    pub fn of(config: &EventConfig, ledger: &Ledger) -> EventRatings {
        let names = Versions::of(config.names());
        let mut results = Results::default();
        for meeting in ledger.history.iter().flat_map(|history| &history.meetings) {
            let both = [&meeting.white, &meeting.black].map(|name| names.name(name));
            results.add_many(both[0], both[1], meeting.results);
        }
        let history = results.games();
        for ([white, black], game) in ledger.stages.iter().flat_map(StageState::games) {
            results.add(&white.name, &black.name, game.result);
        }
        let mut list = results.rate(&Model::default());
        let anchor = anchor(config, &list);
        list.shift(anchor.unwrap_or(0.0));
        let mut entries: Vec<EntryRating> = config
            .entries
            .iter()
            .map(|entry| {
                let place = list.rated.iter().position(|rated| rated.name == entry.name);
                let known = match (place, entry.rating) {
                    (Some(place), _) => {
                        KnownRating::Rated { rank: place + 1, rated: list.rated[place].clone() }
                    }
                    (None, Some(elo)) => KnownRating::Temporary(elo),
                    (None, None) => KnownRating::Unknown,
                };
                EntryRating { name: entry.name.clone(), known }
            })
            .collect();
        // The order of the list itself, whose places the entries have.
        let elo = |entry: &EntryRating| entry.known.elo().unwrap_or(f64::NEG_INFINITY);
        entries.sort_by(|a, b| list_order((elo(a), &a.name), (elo(b), &b.name)));
        EventRatings {
            games: results.games() - history,
            history,
            is_anchored: anchor.is_some() || config.entries.iter().any(|e| e.rating.is_some()),
            list,
            entries,
        }
    }

    /// The ratings with which the entries play, in whole Elo; none where the list has no scale.
    pub(crate) fn entered(&self) -> BTreeMap<String, i32> {
        let entries = self.entries.iter().filter(|_| self.is_anchored);
        entries
            .filter_map(|entry| Some((entry.name.clone(), entry.known.elo()?.round() as i32)))
            .collect()
    }
}

/// Returns the offset for a list of mean 0: the mean that the event asks for, or the offset that leaves the mean of the
/// entries with a temporary rating where these put it.
fn anchor(config: &EventConfig, list: &List) -> Option<f64> {
    if config.rating_mean.is_some() {
        return config.rating_mean;
    }
    let both: Vec<f64> = config
        .entries
        .iter()
        .filter_map(|entry| {
            let rated = list.rated.iter().find(|rated| rated.name == entry.name)?;
            Some(f64::from(entry.rating?) - rated.elo)
        })
        .collect();
    (!both.is_empty()).then(|| both.iter().sum::<f64>() / both.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::journal::record::{History, JournalRecord, Meeting, StageStarted};
    use super::super::journal_games::tests::{finished, started};
    use super::*;
    use crate::model::game::listed::RoundGame;

    fn config(more: &str, entries: &str) -> EventConfig {
        let dir = tempfile::tempdir().unwrap();
        let mut text = format!("event = \"E\"\ntime-control = \"1+1\"\n{more}\n");
        for entry in entries.split(',') {
            let (name, more) = entry.split_once(':').unwrap_or((entry, ""));
            std::fs::write(dir.path().join(name), "").unwrap();
            text += &format!("[[entry]]\nname = \"{name}\"\npath = \"{name}\"\n{more}\n");
        }
        text += "[[stage]]\nname = \"P\"\nformat = { double-round-robins = 9 }\n\
                 book-policy = \"none\"\ndraw = \"seeds\"\ntie-breaks = \"4k\"\npromote = 2\n";
        let path = dir.path().join("event.toml");
        std::fs::write(&path, text).unwrap();
        EventConfig::load(&path).unwrap()
    }

    fn ledger(history: &[(&str, &str, [u32; 3])], games: &str) -> Ledger {
        let mut ledger = Ledger::default();
        let meetings = history.iter().map(|(white, black, results)| Meeting {
            white: (*white).into(),
            black: (*black).into(),
            results: *results,
        });
        let history = History { files: Vec::new(), meetings: meetings.collect() };
        ledger.apply(JournalRecord::History(history)).unwrap();
        let stage = StageStarted { name: "P".into(), ..StageStarted::default() };
        ledger.apply(JournalRecord::StageStarted(stage)).unwrap();
        for (number, game) in games.split(',').filter(|game| !game.is_empty()).enumerate() {
            let (white, rest) = game.split_once('-').unwrap();
            let (black, result) = rest.split_once('=').unwrap();
            let at = RoundGame { round: number as u32 + 1, game: 1 };
            let game = finished(white, black, at, result, "e2e4");
            ledger.apply(JournalRecord::GameStarted(started(&game))).unwrap();
            ledger.apply(JournalRecord::GameFinished(game)).unwrap();
        }
        ledger
    }

    #[test]
    fn a_list_is_that_of_all_games_together_with_versions_as_one() {
        let config = config("rating-mean = 2500", "x 2,y");
        let told = ledger(
            &[("x 1", "z 7", [4, 2, 1]), ("x 1", "x 2", [9, 0, 0]), ("z 3", "y", [1, 1, 1])],
            "x 2-y=1-0,y-x 2=1/2-1/2",
        );
        let ratings = EventRatings::of(&config, &told);
        let mut results = Results::default();
        results.add_many("x 2", "z", [4, 2, 1]);
        results.add_many("z", "y", [1, 1, 1]);
        results.add_many("x 2", "y", [1, 0, 0]);
        results.add_many("y", "x 2", [0, 1, 0]);
        let mut by_hand = results.rate(&Model { offset: 2500.0, ..Model::default() });
        let elo = |list: &List| -> Vec<(String, i64)> {
            list.rated.iter().map(|r| (r.name.clone(), (100.0 * r.elo).round() as i64)).collect()
        };
        assert_eq!(elo(&ratings.list), elo(&by_hand));
        assert_eq!((ratings.history, ratings.games), (10, 2));
        let names: Vec<&str> = ratings.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["x 2", "y"]);
        assert_eq!(ratings.entered()["x 2"], by_hand.rated.remove(0).elo.round() as i32);
    }

    #[test]
    fn a_new_engine_has_its_temporary_rating_until_it_has_played() {
        let config = config("", "x:rating = 2900,y:rating = 2700,z");
        let ratings = EventRatings::of(&config, &ledger(&[], ""));
        assert_eq!(ratings.entries[0].known, KnownRating::Temporary(2900));
        assert_eq!(ratings.entries[2].known, KnownRating::Unknown);
        assert_eq!(
            ratings.entered().into_iter().collect::<Vec<_>>(),
            [("x".to_owned(), 2900), ("y".to_owned(), 2700)]
        );
        // x and y have played each other: their mean stays where it was put.
        let ratings = EventRatings::of(&config, &ledger(&[], "x-y=0-1,y-x=1/2-1/2"));
        let elo = |name| f64::from(ratings.entered()[name]);
        assert!((elo("x") + elo("y") - 5600.0).abs() <= 1.0 && elo("y") > elo("x"));
    }

    #[test]
    fn entries_are_in_the_order_of_their_places_in_the_list() {
        let config = config("rating-mean = 2513", "d,c,b,a,e,f,g");
        let games = "d-c=1-0,d-b=1-0,d-a=1-0,a-e=1-0,b-f=1-0,c-g=1-0";
        let told = || {
            let ratings = EventRatings::of(&config, &ledger(&[], games));
            let place = |entry: &EntryRating| match &entry.known {
                KnownRating::Rated { rank, .. } => *rank,
                KnownRating::Temporary(_) | KnownRating::Unknown => 0,
            };
            let places: Vec<usize> = ratings.entries.iter().map(place).collect();
            assert_eq!(places, [1, 2, 3, 4, 5, 6, 7]);
            ratings.entries.iter().map(|entry| entry.name.clone()).collect::<String>()
        };
        assert!((0..20).all(|_| told() == "dabcefg"));
    }

    #[test]
    fn without_a_scale_there_are_differences_and_no_ratings_to_enter_with() {
        let ratings = EventRatings::of(&config("", "x,y"), &ledger(&[], "x-y=1-0"));
        assert!(ratings.entries[0].known.elo().unwrap() > 0.0);
        assert!(!ratings.is_anchored && ratings.entered().is_empty());
    }
}
