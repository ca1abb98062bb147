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
use crate::event::ratings::EventRatings;

/// An event at a moment.
#[derive(Clone, Copy)]
pub(crate) struct Tcec<'a> {
    /// Its settings.
    pub(crate) config: &'a EventConfig,
    /// Its games and its state.
    pub(crate) broadcast: &'a Broadcast,
    /// The moment.
    pub(crate) now: SystemTime,
}

impl Tcec<'_> {
    /// Its files; of the archive those of games that have changed, or of all. The page shows one game and one stage at a
    /// time: the game that began first of those under way, else the last that ended, and its stage.
    pub(crate) fn files(&self, changed: ChangedGames<'_>) -> Vec<File> {
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
        let bracket = broadcast::bracket(self.config, self.broadcast, stage);
        let abbreviation = self.abbreviation(stage);
        let mut tournament =
            json!({ "event": self.title(stage), "abb": abbreviation, "download": abbreviation });
        if let Some(bracket) = &bracket {
            // The form in which the page draws brackets of any size.
            tournament["cup"] = 6.into();
            files.push(text("Eventcrosstable.json", &bracket::document(bracket)));
        }
        files.push(text("tournament.json", &tournament));
        files.extend(self.archive(changed));
        files.into_iter().map(without_markup).collect()
    }

    /// The tables of a stage.
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

    /// The files of the page's archive: each game that is over, and the tables of its stage.
    fn archive(&self, changed: ChangedGames<'_>) -> Vec<File> {
        let mut files = Vec::new();
        for stage in 0..self.broadcast.ledger.stages.len() {
            let games = self.broadcast.games.values().filter(|game| {
                let key = game.key();
                let is_wanted = match changed {
                    ChangedGames::All => true,
                    ChangedGames::These(keys) => keys.contains(&key),
                };
                key.stage == stage && is_wanted && game.finished.is_some()
            });
            let games: Vec<&BroadcastGame> = games.collect();
            if games.is_empty() {
                continue;
            }
            let place = format!("archive/{}", self.abbreviation(stage));
            let numbers = numbers(&timetable(self.config, self.broadcast, stage, self.now));
            files.extend(games.into_iter().filter_map(|game| {
                let number = numbers.get(&game.key())?;
                let pgn = game.pgn(self.config, &self.broadcast.ledger)?;
                Some((format!("{place}_{number}.pgn"), pgn))
            }));
            let tables = self.tables(stage);
            let named = |one: &StageDocument| text(&format!("{place}_{}", one.kind), &one.document);
            files.extend(tables.iter().map(named));
        }
        files
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
            let result = game.finished.as_ref().map_or("*", |finished| &finished.result);
            game.killed.iter().map(move |killed| {
                json!({
                    "gameno": number,
                    "White": game.started.white,
                    "Black": game.started.black,
                    "Reason": format!("{}: {}", killed.entry, killed.why),
                    "Decision": "loss (rule 6.2)",
                    "Action": "-",
                    "Result": result,
                    "Log": "-",
                })
            })
        });
        crashes.collect()
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
    /// All games.
    All,
    /// The games with these keys.
    These(&'a BTreeSet<GameKey>),
}

/// A document of a stage.
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
    fn a_name_is_no_markup_on_the_page() {
        let (_, told) = without_markup(text("a.json", &json!({ "White": "<img src=x>" })));
        assert_eq!(told, "{\"White\":\"‹img src=x›\"}\n");
        let read: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(read["White"], "‹img src=x›");
    }
}
