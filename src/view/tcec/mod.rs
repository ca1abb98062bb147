//! An event as the files that TCEC's own page and its server watch: one game as PGN and as JSON, the crosstable, the
//! schedule, the crashes, of a knockout its bracket, and the games that are over for its archive. Their keys are those that
//! the page's published source reads.

mod bracket;
mod crosstable;
mod live;
mod schedule;

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde_json::{Value, json};

use super::site::File;
use crate::event::broadcast::{self, Broadcast, BroadcastGame, GameKey, Slot, timetable};
use crate::event::config::EventConfig;
use crate::event::journal::record::AfterAnnulment;
use crate::event::ratings::EventRatings;

/// An event at a moment.
#[derive(Clone, Copy)]
pub(crate) struct Tcec<'a> {
    pub(crate) config: &'a EventConfig,
    /// Its games and its state.
    pub(crate) broadcast: &'a Broadcast,
    pub(crate) now: SystemTime,
}

impl Tcec<'_> {
    /// Its files; of the archive, whose games had these names before, those of games that have changed or have another
    /// number, or of all. The page shows one game and one stage at a time: the game that began first of those under way,
    /// else the last that ended, and its stage.
    pub(crate) fn files(&self, changed: ChangedGames<'_>, before: &Archive) -> TcecFiles {
        let game = self.game();
        let last = self.broadcast.ledger.stages.len().saturating_sub(1);
        let stage = game.map_or(last, |game| game.started.stage);
        let mut files: Vec<File> = Vec::new();
        if let Some(game) = game
            && let Some(pgn) = game.live_pgn(self.config, &self.broadcast.ledger)
        {
            let json = live::document(game, &pgn);
            files.extend([("live.pgn".into(), pgn), text("live.json", &json)]);
        }
        for table in self.tables(stage) {
            files.push(text(&format!("{}.json", table.name), &table.document));
        }
        let abbreviation = self.abbreviation(stage);
        let mut tournament =
            json!({ "event": self.title(stage), "abb": abbreviation, "download": abbreviation });
        let bracket = |stage| broadcast::bracket(self.config, self.broadcast, stage);
        if bracket(stage).is_some() {
            // The form in which the page draws brackets of any size.
            tournament["cup"] = 6.into();
        }
        // A knockout's file stays when the next stage is shown, which may be before its last result was.
        if let Some(bracket) = (0..=stage).rev().find_map(bracket) {
            files.push(text("Eventcrosstable.json", &bracket::document(&bracket)));
        }
        files.push(text("tournament.json", &tournament));
        let mut archive = Archive::new();
        for stage in self.turned(changed) {
            let (of_stage, archived) = self.archive(stage, changed, before.get(&stage));
            files.extend(of_stage);
            archive.insert(stage, archived);
        }
        TcecFiles { files: files.into_iter().map(without_markup).collect(), archive }
    }

    fn tables(&self, stage: usize) -> Vec<StageDocument> {
        let slots = timetable(self.config, self.broadcast, stage, self.now);
        let numbers = numbers(&slots);
        let table = |name, kind, document| StageDocument { name, kind, document };
        let mut tables = vec![
            table("schedule", "Schedule.sjson", schedule::document(self, stage, &slots)),
            table("crash", "crash.xjson", self.crashes(stage, &slots, &numbers)),
        ];
        tables.extend(self.broadcast.table(self.config, stage).map(|standings| {
            let ratings = EventRatings::of(self.config, &self.broadcast.ledger).entered();
            let title = self.title(stage);
            let document = crosstable::document(&title, stage, &standings, &ratings, &numbers);
            table("crosstable", "Crosstable.cjson", document)
        }));
        tables
    }

    /// The stages whose archive may have to change: those of the games that have changed, and the last one, in which
    /// an engine that leaves and a decision change what is still to come.
    fn turned(&self, changed: ChangedGames<'_>) -> BTreeSet<usize> {
        let stages = self.broadcast.ledger.stages.len();
        match changed {
            ChangedGames::All => (0..stages).collect(),
            ChangedGames::Moves => BTreeSet::new(),
            ChangedGames::These(keys) => {
                let of_games = keys.iter().map(|key| key.stage).filter(|stage| *stage < stages);
                of_games.chain(stages.checked_sub(1)).collect()
            }
        }
    }

    /// The files of the page's archive of a stage: each game that is over, and its tables. A number is the game's place in
    /// the schedule as it is now, and matches that become longer move those behind them.
    fn archive(
        &self,
        stage: usize,
        changed: ChangedGames<'_>,
        before: Option<&ArchivedStage>,
    ) -> (Vec<File>, ArchivedStage) {
        let place = format!("{ARCHIVE}/{}", self.abbreviation(stage));
        let numbers = numbers(&timetable(self.config, self.broadcast, stage, self.now));
        let games = self.broadcast.games.values();
        let over = games.filter(|game| game.key().stage == stage && game.finished.is_some());
        let numbered = over.filter_map(|game| Some((game, numbers.get(&game.key()).copied()?)));
        let numbered: Vec<(&BroadcastGame, u32)> = numbered.collect();
        let mut archived = ArchivedStage { place, games: BTreeMap::new() };
        let mut files = Vec::new();
        for (game, number) in &numbered {
            let key = game.key();
            let was = before.and_then(|before| before.games.get(&key));
            archived.games.insert(key, *number);
            if changed.has(&key) || was != Some(number) {
                let pgn = game.pgn(self.config, &self.broadcast.ledger);
                files.extend(pgn.map(|pgn| (archived.name(*number), pgn)));
            }
        }
        if !numbered.is_empty() {
            let place = &archived.place;
            let named = |one: &StageDocument| text(&format!("{place}_{}", one.kind), &one.document);
            files.extend(self.tables(stage).iter().map(named));
        }
        (files, archived)
    }

    /// A stage's name in the names of files.
    fn abbreviation(&self, stage: usize) -> String {
        let titles: Vec<String> =
            (0..self.config.stages.len()).map(|stage| self.title(stage)).collect();
        abbreviation(&titles, stage)
    }

    /// The game that is shown.
    fn game(&self) -> Option<&BroadcastGame> {
        let first = self.broadcast.under_way().next();
        first.or_else(|| self.broadcast.finished().last().copied())
    }

    fn title(&self, stage: usize) -> String {
        format!("{}: {}", self.config.event, self.config.stage_name(stage))
    }

    fn crashes(&self, stage: usize, slots: &[Slot], numbers: &Numbers) -> Value {
        let games = slots.iter().filter_map(|slot| self.broadcast.games.get(&slot.key));
        let games = games.filter(|game| game.started.stage == stage);
        let crashes = games.flat_map(|game| {
            let number = numbers.get(&game.key()).copied();
            let counted = game.finished.as_ref().filter(|_| game.annulled.is_none());
            let result = counted.map_or("*", |finished| &finished.result);
            let decision = decision(game);
            game.killed.iter().map(move |killed| {
                json!({
                    "gameno": number,
                    "White": game.started.white,
                    "Black": game.started.black,
                    "Reason": format!("{}: {}", killed.entry, killed.why),
                    "Decision": decision,
                    "Action": "-",
                    "Result": result,
                    "Log": "-",
                })
            })
        });
        crashes.collect()
    }
}

/// The decision on a game in which an engine crashed.
fn decision(game: &BroadcastGame) -> &'static str {
    match (&game.annulled, &game.finished) {
        (Some(annulled), _) if annulled.then == AfterAnnulment::PlayedAgain => {
            "annulled, to be played again"
        }
        (Some(_), _) => "annulled",
        (None, None) => "-",
        (None, Some(_)) => "loss",
    }
}

/// The words of a stage's title in ASCII, with its number where these do not tell it from another.
fn abbreviation(titles: &[String], stage: usize) -> String {
    let words = |title: &String| {
        let words = title.split(|c: char| !c.is_ascii_alphanumeric());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
    };
    let all: Vec<String> = titles.iter().map(words).collect();
    let own = all.get(stage).map_or("", String::as_str);
    if all.iter().filter(|other| *other == own).count() > 1 || own.is_empty() {
        return format!("{own}_stage_{}", stage + 1).trim_start_matches('_').to_owned();
    }
    own.to_owned()
}

/// The games whose archive is to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChangedGames<'a> {
    All,
    /// No table: nothing but moves of games under way has changed.
    Moves,
    These(&'a BTreeSet<GameKey>),
}

impl ChangedGames<'_> {
    fn has(self, key: &GameKey) -> bool {
        match self {
            ChangedGames::All => true,
            ChangedGames::Moves => false,
            ChangedGames::These(keys) => keys.contains(key),
        }
    }
}

/// The files to write, and the archive of each stage that was looked at as it is with them.
#[derive(Debug)]
pub(crate) struct TcecFiles {
    pub(crate) files: Vec<File>,
    /// The stages that the archive has now.
    pub(crate) archive: Archive,
}

/// The archive's part of each stage, by the stage's number.
pub(crate) type Archive = BTreeMap<usize, ArchivedStage>;

/// The archive's part of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArchivedStage {
    /// The beginning of its files' names.
    place: String,
    /// Its games that are over, with their numbers.
    games: Numbers,
}

impl ArchivedStage {
    fn name(&self, number: u32) -> String {
        format!("{}_{number}.pgn", self.place)
    }

    /// True of the name of a file that has the form of one of the stage's games, where no game has that number any more.
    pub(crate) fn is_stale(&self, name: &str) -> bool {
        let rest = name.strip_prefix(&self.place).and_then(|rest| rest.strip_prefix('_'));
        let number = rest.and_then(|rest| rest.strip_suffix(".pgn"));
        // A number with zeros in front of it is in no name.
        let number = number.and_then(|number| number.parse().ok());
        number.is_some_and(|number: u32| {
            self.name(number) == name && !self.games.values().any(|there| *there == number)
        })
    }
}

/// The folder of the archive.
pub(crate) const ARCHIVE: &str = "archive";

struct StageDocument {
    /// Its name beside the game that is played.
    name: &'static str,
    /// The end of its name in the archive.
    kind: &'static str,
    document: Value,
}

/// The numbers of a stage's games in the order of its schedule, from 1.
type Numbers = BTreeMap<GameKey, u32>;

fn numbers(slots: &[Slot]) -> Numbers {
    (1..).zip(slots).map(|(number, slot)| (slot.key, number)).collect()
}

/// A file in which nothing can be markup: that page puts names of engines into itself as they stand. Neither JSON nor PGN has
/// a use of its own for these signs.
fn without_markup((name, text): File) -> File {
    (name, text.replace('<', "‹").replace('>', "›"))
}

fn text(name: &str, value: &Value) -> File {
    (name.to_owned(), crate::model::text::harmless(&value.to_string()) + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::game::listed::RoundGame;

    #[test]
    fn stages_have_files_of_their_own_whatever_their_letters() {
        let titles = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let named = |all: &[&str]| -> Vec<String> {
            (0..all.len()).map(|stage| abbreviation(&titles(all), stage)).collect()
        };
        assert_eq!(named(&["Cup: Pool", "Cup: Final 2"]), ["Cup_Pool", "Cup_Final_2"]);
        assert_eq!(named(&["Кубок: Группа", "Кубок: Финал"]), ["stage_1", "stage_2"]);
        assert_eq!(
            named(&["Cup: Группа", "Cup: Pool", "Cup: Финал"]),
            ["Cup_stage_1", "Cup_Pool", "Cup_stage_3"]
        );
    }

    #[test]
    fn a_file_whose_number_no_game_has_any_more_is_stale() {
        let key = |round| GameKey { stage: 0, at: RoundGame { round, game: 1 } };
        let games = [(key(1), 1), (key(2), 13)].into();
        let archived = ArchivedStage { place: "archive/E_Cup".into(), games };
        let stale = ["archive/E_Cup_2.pgn", "archive/E_Cup_3.pgn"];
        let kept = [
            "archive/E_Cup_1.pgn",
            "archive/E_Cup_13.pgn",
            "archive/E_Cup_Crosstable.cjson",
            "archive/E_Cup_2_3.pgn",
            "archive/E_Cup_02.pgn",
            "archive/E_Pool_2.pgn",
            "archive/E_Cup_.pgn",
        ];
        assert!(stale.iter().all(|name| archived.is_stale(name)));
        assert!(!kept.iter().any(|name| archived.is_stale(name)));
    }

    #[test]
    fn a_name_is_no_markup_on_the_page() {
        let (_, told) = without_markup(text("a.json", &json!({ "White": "<img src=x>" })));
        assert_eq!(told, "{\"White\":\"‹img src=x›\"}\n");
        let read: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(read["White"], "‹img src=x›");
    }
}
