//! The table of a stage of an event: its games counted, with the decisions of the organisers, and with what becomes of
//! the ties that are left.

use std::collections::BTreeSet;

use super::config::EventConfig;
use super::format::{Format, Next, StageHistory};
use super::ledger::Ledger;
use super::progress::EventProgress;
use super::stage::{Stage, StageFormat};
use super::standings::Standings;
use crate::model::game::listed::RoundGame;
use crate::model::game::result::GameResult;

/// The table of a stage that has begun.
pub(crate) fn of(config: &EventConfig, ledger: &Ledger, number: usize) -> Option<Standings> {
    let (stage, state) = (config.stages.get(number)?, ledger.stages.get(number)?);
    let field = stage.field(state);
    let mut table = Standings { gone: state.gone.clone(), ..stage.standings(&field) };
    let is_over = matches!(stage.next(state.started.seats.len(), state.past()), Next::Over(_));
    if table.format.is_none() {
        table.progress =
            EventProgress::of_stage(&field, &state.started.seats, &struck(state.past()))
                // A stage that is over waits for nothing: its games are of another order.
                .filter(|progress| !is_over || progress.missing.is_empty());
    }
    table.decide(state.decisions.iter().map(|decision| &decision.order[..]));
    table.annulled = ledger.annulled_in(number);
    let later = config.stages.iter().find(|later| later.breaks_ties_of == Some(number));
    table.settled_by = later.map(|later| later.name.clone());
    table.to_be_decided = to_be_decided(stage, &table);
    if let StageFormat::Of(Format::Knockout(_) | Format::Playoff(_)) = &stage.format {
        table.is_of_matches = true;
        if is_over {
            table.place_by(&stage.ranking(&table, state));
        }
    }
    Some(table)
}

/// The places of a stage's games that were struck out, and are not due any more.
pub(crate) fn struck(past: &StageHistory) -> BTreeSet<RoundGame> {
    let struck = past.games.values().filter(|game| game.result == GameResult::Unfinished);
    struck.map(|game| game.at).collect()
}

/// The shared places between whose engines something follows from the order.
fn to_be_decided(stage: &Stage, table: &Standings) -> Vec<u32> {
    if stage.format.ranks() {
        // Its matches rank the engines, and not this table.
        return Vec::new();
    }
    let shared = table.ties().filter_map(|rows| {
        let rank = rows[0].place.rank()?;
        let first = rank as usize;
        let is_open = (first..first + rows.len() - 1).any(|place| stage.tells_apart(place));
        is_open.then_some(rank)
    });
    shared.collect()
}

#[cfg(test)]
mod tests {
    use super::super::journal::record::{
        AfterAnnulment, Annulled, JournalRecord, StageStarted, TieDecision,
    };
    use super::super::journal_games::tests::{finished, started};
    use super::super::schedule::{BookPolicy, StageSchedule};
    use super::super::standings::{Place, PlacedBy};
    use super::*;
    use std::num::NonZeroU32;

    fn config(stages: &str) -> EventConfig {
        let dir = tempfile::tempdir().unwrap();
        let mut text = "event = \"E\"\ntime-control = \"1+1\"\n".to_owned();
        for name in ["a", "b", "c", "d"] {
            std::fs::write(dir.path().join(name), "").unwrap();
            text += &format!("[[entry]]\nname = \"{name}\"\npath = \"{name}\"\n");
        }
        let path = dir.path().join("event.toml");
        std::fs::write(&path, text + stages).unwrap();
        EventConfig::load(&path).unwrap()
    }

    fn names(list: &str) -> Vec<String> {
        list.split(' ').map(str::to_owned).collect()
    }

    /// A stage of four in which White wins these games.
    fn played(games: &[(&str, &str)]) -> Ledger {
        let mut ledger = Ledger::default();
        let stage =
            StageStarted { name: "P".into(), seats: names("a b c d"), ..StageStarted::default() };
        ledger.apply(JournalRecord::StageStarted(stage)).unwrap();
        for (round, (white, black)) in (1..).zip(games) {
            let at = RoundGame { round, game: 1 };
            let game = finished(white, black, at, "1-0", "e2e4 e7e5");
            ledger.apply(JournalRecord::GameStarted(started(&game))).unwrap();
            ledger.apply(JournalRecord::GameFinished(game)).unwrap();
        }
        ledger
    }

    const CIRCLE: &[(&str, &str)] =
        &[("a", "b"), ("b", "d"), ("d", "a"), ("a", "c"), ("b", "c"), ("d", "c")];

    const POOL: &str = "[[stage]]\nname = \"P\"\nformat = { round-robin = { cycles = 1 } }\n\
                        book-policy = \"none\"\ndraw = \"seeds\"\n";

    const MATCH: &str = "[[stage]]\nname = \"F\"\nformat = { match = { pairs = 1, \
                         then = [{ pairs = 1, until = \"decisive\" }] } }\nbook-policy = \"none\"\n";

    #[test]
    fn a_table_has_the_order_that_the_organisers_decided() {
        let config = config(&format!("{POOL}tie-breaks = [\"wins\"]\npromote = 2\n{MATCH}"));
        let mut ledger = played(CIRCLE);
        let told = |ledger: &Ledger| -> Vec<(String, Place)> {
            let table = of(&config, ledger, 0).unwrap();
            table.rows.iter().map(|row| (row.engine.name.clone(), row.place)).collect()
        };
        let tied = Place::Ranked { rank: 1, tied: true, by: None };
        assert_eq!(told(&ledger)[..3], ["a", "b", "d"].map(|name| (name.to_owned(), tied)));
        let decision = TieDecision {
            stage: 0,
            order: names("d b a"),
            reason: "a coin".into(),
            at: String::new(),
        };
        ledger.apply(JournalRecord::Decision(decision)).unwrap();
        let place = |rank, by| Place::Ranked { rank, tied: false, by };
        let organisers = Some(PlacedBy::Organisers);
        let expected = [
            ("d".to_owned(), place(1, None)),
            ("b".to_owned(), place(2, organisers)),
            ("a".to_owned(), place(3, organisers)),
            ("c".to_owned(), place(4, None)),
        ];
        assert_eq!(told(&ledger), expected);
    }

    #[test]
    fn a_tie_that_cannot_be_shared_is_not_said_to_be_shared() {
        let then = |promote: usize, more: &str| {
            let shared = "tie-breaks = [\"direct-encounter\", \"shared\"]\n";
            let config = config(&format!("{POOL}{shared}promote = {promote}\n{more}"));
            let table = of(&config, &played(CIRCLE), 0).unwrap();
            table.tie_goes_to(table.rows[0].place).into_owned()
        };
        assert_eq!(then(1, ""), "they share the place");
        // Two of the three play on.
        assert_eq!(then(2, MATCH), "the organisers decide");
    }

    #[test]
    fn a_tie_that_a_later_stage_breaks_names_it() {
        let playoff = "[[stage]]\nname = \"Po\"\nfrom = \"P:tied\"\n\
                       format = { playoff = { doubles = 1, spots = 2 } }\nbook-policy = \"none\"\n";
        let last = MATCH.replace("name = \"F\"", "name = \"F\"\nfrom = \"Po:1,2\"");
        let shared = "tie-breaks = [\"direct-encounter\", \"shared\"]\n";
        let config = config(&format!("{POOL}{shared}{playoff}{last}"));
        let table = of(&config, &played(CIRCLE), 0).unwrap();
        let told = table.tie_goes_to(table.rows[0].place);
        assert_eq!(told, "Po tells them apart where something follows from it");
    }

    #[test]
    fn a_stage_with_a_game_that_was_struck_out_has_all_its_double_round_robins() {
        let pool = POOL.replace("cycles = 1", "doubles = 1");
        let config = config(&format!("{pool}tie-breaks = \"4k\"\n"));
        let mut ledger = played(&[]);
        let schedule = StageSchedule::new(4, NonZeroU32::MIN, BookPolicy::None).unwrap();
        let games = schedule.pairings().map(|pairing| {
            let [white, black] =
                [pairing.white, pairing.black].map(|seat| ["a", "b", "c", "d"][seat.0]);
            finished(white, black, pairing.at, "1-0", "e2e4 e7e5")
        });
        let games: Vec<_> = games.collect();
        for game in &games {
            ledger.apply(JournalRecord::GameStarted(started(game))).unwrap();
            ledger.apply(JournalRecord::GameFinished(game.clone())).unwrap();
        }
        let told = |ledger: &Ledger| {
            let progress = of(&config, ledger, 0).unwrap().progress.unwrap();
            (progress.complete, progress.further, progress.missing.len())
        };
        assert_eq!(told(&ledger), (1, 0, 0));
        let annulled = Annulled {
            id: games[0].id.clone(),
            stage: 0,
            round: games[0].round,
            game: games[0].game,
            then: AfterAnnulment::Nothing,
            reason: "x".into(),
            at: String::new(),
        };
        ledger.apply(JournalRecord::Annulled(annulled)).unwrap();
        assert_eq!(told(&ledger), (1, 0, 0));
    }

    /// Two games that a schedule of double round robins has just there.
    #[test]
    fn a_swiss_is_no_double_round_robin() {
        let swiss = "[[stage]]\nname = \"P\"\nformat = { swiss = { rounds = 2, pairing = \"dutch\" } }\n\
                     book-policy = \"none\"\ndraw = \"seeds\"\ntie-breaks = \"swiss\"\n";
        let mut ledger = played(&[]);
        for (number, white, black) in [(1, "a", "d"), (2, "b", "c")] {
            let at = RoundGame { round: 1, game: number };
            let game = finished(white, black, at, "1-0", "e2e4 e7e5");
            ledger.apply(JournalRecord::GameStarted(started(&game))).unwrap();
            ledger.apply(JournalRecord::GameFinished(game)).unwrap();
        }
        let told = |stages: &str| {
            let table = of(&config(stages), &ledger, 0).unwrap();
            (table.progress.is_some(), table.format)
        };
        assert_eq!(told(swiss), (false, Some("a Swiss")));
        let doubles = POOL.replace("cycles = 1", "doubles = 1") + "tie-breaks = \"4k\"\n";
        assert_eq!(told(&doubles), (true, None));
        assert_eq!(told(&format!("{POOL}tie-breaks = \"4k\"\n")), (false, Some("a round robin")));
    }
}
