//! An event as the files that TCEC's own page and its server watch: one game as PGN and as JSON, the crosstable, the
//! schedule, the crashes. Their keys are those that the page's published source reads.

mod crosstable;
mod live;
mod schedule;

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::site::File;
use crate::event::broadcast::{Broadcast, BroadcastGame, GameKey, Slot, timetable};
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
    /// All of its files. The page shows one game and one stage at a time: the game that began first of those under
    /// way, else the last that ended, and its stage.
    #[must_use]
    pub(crate) fn files(&self) -> Vec<File> {
        let game = self.game();
        let last = self.broadcast.ledger.stages.len().saturating_sub(1);
        let stage = game.map_or(last, |game| game.started.stage);
        let slots = timetable(self.config, self.broadcast, stage, self.now);
        let numbers: Numbers = (1..).zip(&slots).map(|(number, slot)| (slot.key, number)).collect();
        let mut files: Vec<File> = game
            .and_then(|game| {
                let pgn = game.live_pgn(self.config, &self.broadcast.ledger)?;
                let json = live::document(game, &pgn);
                Some([("live.pgn".into(), pgn), text("live.json", &json)])
            })
            .into_iter()
            .flatten()
            .collect();
        files.push(text("schedule.json", &schedule::document(self, &slots)));
        files.push(text("crash.json", &self.crashes(stage, &slots, &numbers)));
        files.push(text("tournament.json", &json!({ "event": self.title(stage) })));
        if let Some(table) = self.broadcast.table(self.config, stage) {
            let ratings = EventRatings::of(self.config, &self.broadcast.ledger).entered();
            let title = self.title(stage);
            let document = crosstable::document(&title, stage, &table, &ratings, &numbers);
            files.push(text("crosstable.json", &document));
        }
        files
    }

    /// The game that is shown.
    fn game(&self) -> Option<&BroadcastGame> {
        let first = self.broadcast.under_way().min_by_key(|game| &game.started.at);
        first.or_else(|| self.broadcast.finished().last().copied())
    }

    fn title(&self, stage: usize) -> String {
        let name = self.config.stages.get(stage).map_or("", |stage| &stage.name);
        format!("{}: {name}", self.config.event)
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

/// The numbers of a stage's games in the order of its schedule, from 1.
type Numbers = BTreeMap<GameKey, u32>;

fn text(name: &str, value: &Value) -> File {
    (name.to_owned(), crate::model::text::harmless(&value.to_string()) + "\n")
}
