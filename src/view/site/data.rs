//! The site's documents for programs.

use serde_json::{Value, json};

use super::stage::StagePhase;
use super::{Site, path};
use crate::event::broadcast::{BroadcastGame, GameState, ShownMove, progress, timetable};
use crate::event::journal::record::GameFinished;
use crate::event::ratings::EventRatings;
use crate::model::text::harmless;
use crate::view::{event_ratings, standings};

/// The names and versions of the documents.
const GAME: &str = "gate4k-game-1";
const LIVE: &str = "gate4k-site-live-1";
const STATUS: &str = "gate4k-event-status-1";

impl Site<'_> {
    /// The whole event but its moves, as `gate4k event export json` prints it.
    pub(crate) fn document(&self) -> Value {
        let ledger = &self.broadcast.ledger;
        let numbers = 0..ledger.stages.len();
        let tables = numbers.clone().filter_map(|number| self.broadcast.table(self.config, number));
        let stages: Vec<Value> = tables
            .map(|table| {
                // Nothing in it can fail to be written.
                serde_json::to_value(standings::json(&table.standings)).unwrap_or_default()
            })
            .collect();
        let entries: Vec<_> = ledger.receipts.values().collect();
        // Those of stages to come are behind them, as far as it is known who plays in them.
        let schedule: Vec<Value> =
            (0..self.config.stages.len()).map(|number| self.schedule(number)).collect();
        json!({
            "schema": "gate4k-event-1",
            "event": self.config.event,
            "winner": ledger.winners.first(),
            "winners": ledger.winners,
            "entries": entries,
            "annulled": ledger.annulled,
            "withdrawn": ledger.withdrawn,
            "stages": stages,
            "schedule": schedule,
            "ratings": event_ratings::json(&EventRatings::of(self.config, ledger)),
        })
    }

    /// The state of the event, as `gate4k event status --format json` prints it.
    pub(crate) fn status(&self) -> Value {
        let ledger = &self.broadcast.ledger;
        let stages = self.config.stages.iter().enumerate().map(|(number, stage)| {
            let (played, planned) = progress(self.config, self.broadcast, number);
            let outcome = ledger.over(number).map(|(_, outcome)| outcome);
            json!({
                "name": stage.name,
                "state": StagePhase::of(self, number).word(),
                "played": played,
                "planned": planned,
                "promoted": outcome.map(|outcome| &outcome.promoted),
            })
        });
        json!({
            "schema": STATUS,
            "event": self.config.event,
            "winner": ledger.winners.first(),
            "winners": ledger.winners,
            "paused": ledger.paused,
            "frozen": ledger.receipts.len(),
            "entries": self.config.entries.len(),
            "stages": stages.collect::<Value>(),
            "under-way": under_way(self),
            "crashes": ledger.crashes(),
            "withdrawn": ledger.withdrawn,
            "crash-folders": self.crashes().into_iter().map(|crash| {
                json!({
                    "folder": format!("crashes/{}", crash.name),
                    "engine": crash.engine,
                    "why": crash.why,
                    "annulled": crash.annulled.is_some(),
                })
            }).collect::<Value>(),
            "interruptions": ledger.interruptions,
        })
    }

    /// The games of a stage, also of one that has not begun.
    fn schedule(&self, stage: usize) -> Value {
        let slots = timetable(self.config, self.broadcast, stage, self.now);
        let slots = slots.iter().map(|slot| {
            let game = slot.game(self.broadcast);
            let finished = game.and_then(|game| game.finished.as_ref());
            let (expected, after) = match slot.state {
                GameState::Due(at) => (at.map(humantime::format_rfc3339_seconds), None),
                GameState::DueAfter(after) => (None, Some(after.as_secs())),
                GameState::Begun => (None, None),
            };
            json!({
                "game": slot.key.to_string(),
                "white": slot.white,
                "black": slot.black,
                "file": game.map(|_| format!("{}.json", path(slot.key))),
                "result": finished.map(|finished| &finished.result),
                "details": finished.map(GameFinished::told_details),
                "expected": expected.map(|at| at.to_string()),
                "expected-after": after,
            })
        });
        slots.collect()
    }
}

/// The file of the event.
pub(super) fn event(site: &Site<'_>) -> String {
    harmless(&site.document().to_string()) + "\n"
}

/// The file of a game: every move with the position after it.
pub(super) fn game(site: &Site<'_>, game: &BroadcastGame) -> String {
    let mut value = head(site, game);
    let moves = game.moves();
    value["schema"] = GAME.into();
    value["moves"] = moves.iter().map(shown).collect();
    value["end"] = json!(game.finished);
    if let Some(end) = value["end"].as_object_mut() {
        // The moves stand above.
        end.remove("moves");
    }
    value["rulings"] = json!(game.rulings);
    value["killed"] = json!(game.killed);
    value["annulled"] = json!(game.annulled);
    harmless(&value.to_string()) + "\n"
}

/// The file of the games under way: each with its last move alone.
pub(super) fn live(site: &Site<'_>) -> String {
    let document = json!({
        "schema": LIVE,
        "at": humantime::format_rfc3339_millis(site.now).to_string(),
        "games": under_way(site),
    });
    harmless(&document.to_string()) + "\n"
}

fn under_way(site: &Site<'_>) -> Value {
    let games = site.broadcast.under_way().map(|game| {
        let mut value = head(site, game);
        value["plies"] = game.plies.len().into();
        value["last"] = game.moves().last().map(shown).into();
        value
    });
    games.collect()
}

fn head(site: &Site<'_>, game: &BroadcastGame) -> Value {
    let started = &game.started;
    let stage = site.config.stages.get(started.stage).map(|stage| &stage.name);
    json!({
        "game": game.key().to_string(),
        "id": started.id,
        "stage": stage,
        "white": started.white,
        "black": started.black,
        "options": started.options,
        "time-control": started.time_control,
        "begun": started.at,
        "opening": started.opening_names,
        "clocks": game.clocks,
    })
}

fn shown(one: &ShownMove<'_>) -> Value {
    let mut value = json!({
        "uci": one.uci,
        "san": one.san,
        "fen": one.fen,
        "book": one.ply.is_none(),
    });
    if let (Some(ply), Some(object)) = (one.ply, value.as_object_mut()) {
        if let Ok(Value::Object(figures)) = serde_json::to_value(ply) {
            let known = ["id", "move", "pv"];
            object.extend(figures.into_iter().filter(|(key, _)| !known.contains(&key.as_str())));
        }
        object.insert("line".into(), one.line.iter().map(|step| &step.uci).cloned().collect());
    }
    value
}
