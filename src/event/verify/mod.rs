//! Replays a journal and checks what can be checked: every move, clock, ruling, result, place and promotion.

mod course;
mod ends;
mod games;
mod given;
mod openings;
mod round;
mod stages;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use shakmaty::Chess;

use super::conduct::tables;
use super::config::EventConfig;
use super::journal::record::{GameStarted, Interrupted, JournalHeader, JournalPly, JournalRecord};
use super::journal::{self, JournalError, RecordPlace};
use super::journal_games;
use super::ledger::{Ledger, StageState};
use super::stage::Stage;
use crate::game::tables::Tables;
use crate::model::game::ending::GameEnding;
use crate::model::game::listed::RoundGame;
use crate::model::text::{escape, sha256};
use openings::Openings;
use round::RoundDue;

/// The result of a verification.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verified {
    /// Records read.
    pub(crate) records: u64,
    /// Finished games.
    pub(crate) games: usize,
    /// Moves of engines.
    pub(crate) moves: usize,
    /// The faults, each with its line.
    pub(crate) wrong: Vec<String>,
}

/// A game as its records told it.
struct ToldGame {
    started: GameStarted,
    plies: Vec<JournalPly>,
    /// The time that the clocks must show before the next move.
    clocks: [u64; 2],
    /// The ruling on its interruption, until it goes on.
    ruling: Option<Interrupted>,
    /// The engine that had to be killed in it since it began or last went on.
    killed: Option<String>,
}

/// The endgame tables that the event names, opened when a game first needs them.
struct TablesAtHand<'a> {
    config: &'a EventConfig,
    opened: OnceCell<Option<Tables>>,
}

impl TablesAtHand<'_> {
    /// The result of a position by these tables; none where it is not in them, or they cannot be read here.
    fn probe(&self, position: &Chess) -> Option<GameEnding> {
        let opened = self.opened.get_or_init(|| tables::read(self.config).ok().flatten());
        opened.as_ref()?.probe(position)
    }
}

const OTHER_FILE: &str = "the event file is not the one it was begun with";
/// The step after that.
const NOT_COMPARED: &str =
    "nothing was compared with it: put the event file back as it was, and verify again";

/// Verifies an event's journal.
///
/// # Errors
/// When it cannot be read, is damaged, or its records cannot follow each other.
pub(crate) fn verify(config: &EventConfig) -> Result<Verified, JournalError> {
    let mut found = Verified::default();
    let mut ledger = Ledger::of(config);
    let mut open = ToldGames::new();
    let (mut openings, mut together) = (Openings::default(), BTreeSet::new());
    let mut round = RoundDue::default();
    let at_hand = TablesAtHand { config, opened: OnceCell::new() };
    let mut is_same_file = true;
    let lines_of_0_1 = journal::lines_of_0_1(&config.journal);
    let torn = journal::read(&config.journal, &mut |RecordPlace { line, .. }, mut record| {
        found.records += 1;
        found.moves += usize::from(matches!(record, JournalRecord::Ply(_)));
        found.games += usize::from(matches!(record, JournalRecord::GameFinished(_)));
        let mut check = RecordCheck {
            config,
            ledger: &ledger,
            openings: &mut openings,
            together: &mut together,
            round: &mut round,
            tables: &at_hand,
            line,
            is_of_0_1: line <= lines_of_0_1,
            found: &mut found.wrong,
        };
        // Against the settings of another file each game is wrong.
        if let JournalRecord::Header(header) = &record {
            is_same_file = config.admits_otherwise(&header.settings);
        }
        if is_same_file || matches!(record, JournalRecord::Header(_)) {
            check.record(&record, &mut open);
            check.follow_round(&record);
        }
        if let JournalRecord::GameFinished(game) = &mut record
            && journal_games::opening(game.start.as_deref(), &game.moves).is_none()
        {
            // The fault is reported; the result counts all the same, so that the rest can be looked at.
            game.moves.clear();
        }
        ledger.apply(record)
    })?;
    // Where no more than `admit-undecided` is other, the change is in the journal.
    let header = ledger.header.filter(|header| config.admits_otherwise(&header.settings));
    if header.is_some_and(|header| header.settings_sha256 != config.sha256) {
        found.wrong.push(format!("line 1: {OTHER_FILE}"));
    }
    // A first record that is torn is of an event that has not begun.
    if let Some(torn) = torn.filter(|_| found.records > 0) {
        found.wrong.push(format!("line {}: it is torn; the next run cuts it off", torn.line));
    }
    Ok(found)
}

/// True of an instant in RFC 3339. A host's clock may stand before 1970, which the parser does not take: it is asked of the
/// same moment in another year, in which there is every day.
fn is_instant(at: &str) -> bool {
    let year = at.get(..4).filter(|year| year.bytes().all(|c| c.is_ascii_digit()));
    let rest = at.get(4..).filter(|_| year.is_some());
    rest.is_some_and(|rest| humantime::parse_rfc3339(&format!("2000{rest}")).is_ok())
}

/// The games under way by their ids.
type ToldGames = BTreeMap<String, ToldGame>;

/// The checks of one record against all before it.
struct RecordCheck<'a> {
    config: &'a EventConfig,
    ledger: &'a Ledger,
    openings: &'a mut Openings,
    /// The games of stages with a crash limit that a runner may have been given and that have not begun.
    together: &'a mut BTreeSet<(usize, RoundGame)>,
    /// The round of a Swiss that is played.
    round: &'a mut RoundDue,
    tables: &'a TablesAtHand<'a>,
    line: u64,
    /// True if gate4k 0.1 wrote the record.
    is_of_0_1: bool,
    found: &'a mut Vec<String>,
}

impl<'a> RecordCheck<'a> {
    /// Checks a record, and keeps the games under way as it leaves them.
    fn record(&mut self, record: &JournalRecord, open: &mut ToldGames) {
        self.instant(record);
        match record {
            JournalRecord::Header(header) => self.header(header),
            JournalRecord::Receipt(receipt) => self.receipt(receipt),
            JournalRecord::History(history) => self.history(history),
            JournalRecord::StageStarted(started) => {
                self.history_is_there();
                self.ratings(started);
                self.draw(started);
                self.book(started);
            }
            JournalRecord::Bye(bye) => self.bye(bye),
            JournalRecord::GameStarted(started) => self.game_started(started, open),
            JournalRecord::Ply(ply) => {
                if let Some(told) = open.get_mut(&ply.id) {
                    self.clock(told, ply);
                    told.plies.push(ply.clone());
                }
            }
            JournalRecord::Interrupted(ruling) => {
                self.ruling(ruling);
                if let Some(told) = open.get_mut(&ruling.id) {
                    told.ruling = Some(ruling.clone());
                    told.killed = None;
                    if ruling.begins_anew {
                        told.plies.clear();
                    }
                }
            }
            JournalRecord::GameFinished(game) => {
                if let Some(told) = open.remove(&game.id) {
                    self.game(&told, game);
                    self.lost_by(&told, game);
                }
            }
            JournalRecord::Annulled(annulled) => {
                self.annulment(annulled);
                open.remove(&annulled.id);
            }
            JournalRecord::Withdrawn(withdrawn) => {
                open.retain(|id, _| !withdrawn.broken_off.contains(id));
                self.withdrawal(withdrawn);
            }
            JournalRecord::Decision(decision) => self.decision(decision),
            JournalRecord::StageFinished(outcome) => self.stage(outcome),
            JournalRecord::Fix(fix) => self.fix(fix),
            JournalRecord::Update(update) => self.update(update),
            JournalRecord::EventFinished { winner, shared } => self.winners(winner, shared),
            // What follows from these is asked of the records behind them.
            JournalRecord::Settings(changed) => {
                self.settings(&changed.settings, &changed.settings_sha256);
            }
            JournalRecord::EngineKilled(killed) => self.killed(killed, open),
            JournalRecord::Paused { .. } | JournalRecord::Note { .. } => {}
        }
    }

    /// Checks that the event file and the journals that it takes places from are those of the event's beginning.
    fn header(&mut self, header: &JournalHeader) {
        if !self.config.admits_otherwise(&header.settings) {
            self.wrong(format!("{OTHER_FILE}; {NOT_COMPARED}"));
        } else if header.previous != self.config.previous {
            let names = self.config.changed_before(header);
            self.wrong(format!(
                "the journals of the events before are not those it was begun with: {names}"
            ));
        }
        if header.event != self.config.event {
            let (due, told) = (&self.config.event, &header.event);
            self.wrong(format!("it is the journal of {told}, and the event is called {due}"));
        }
        self.settings(&header.settings, &header.settings_sha256);
    }

    /// Checks that a record tells when it was written as gate4k writes that.
    fn instant(&mut self, record: &JournalRecord) {
        let at = match record {
            JournalRecord::Settings(changed) => &changed.at,
            JournalRecord::GameStarted(started) => &started.at,
            JournalRecord::GameFinished(game) => &game.at,
            JournalRecord::Annulled(annulled) => &annulled.at,
            JournalRecord::Withdrawn(withdrawn) => &withdrawn.at,
            JournalRecord::Decision(decision) => &decision.at,
            JournalRecord::Fix(fix) => &fix.at,
            JournalRecord::Update(update) => &update.at,
            _ => return,
        };
        if !at.is_empty() && !is_instant(at) {
            self.wrong(format!("{} is no instant", escape(at.as_bytes(), 40)));
        }
    }

    /// Checks that settings have the sum that is told of them.
    fn settings(&mut self, settings: &str, told: &str) {
        if sha256(settings) != told {
            self.wrong("the settings have another SHA-256 than is told of them".into());
        }
    }

    /// Checks a game that begins or goes on, and keeps it as one under way.
    fn game_started(&mut self, started: &GameStarted, open: &mut ToldGames) {
        let due = self.due(started);
        self.order(started);
        self.start(started, due);
        self.opening(started, due);
        self.attempt(started, open.get(&started.id));
        let told = open.entry(started.id.clone()).or_insert_with(|| ToldGame {
            started: started.clone(),
            plies: Vec::new(),
            clocks: started.clocks,
            ruling: None,
            killed: None,
        });
        told.clocks = started.clocks;
        told.ruling = None;
    }

    /// A stage with what was played in it.
    fn stage_at(&self, number: usize) -> Option<(&'a Stage, &'a StageState)> {
        self.config.stages.get(number).zip(self.ledger.stages.get(number))
    }

    fn wrong(&mut self, what: String) {
        self.found.push(format!("line {}: {what}", self.line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_may_be_before_1970_and_has_nothing_behind_it() {
        for at in ["1969-12-31T23:59:59.000Z", "2026-11-27T18:00:00Z", "2028-02-29T00:00:00.123Z"] {
            assert!(is_instant(at), "{at}");
        }
        for at in [
            "",
            "now",
            "2026-11-27T18:00:00Zx",
            "2026-13-27T18:00:00Z",
            "x026-11-27T18:00:00Z",
            "20é6",
        ] {
            assert!(!is_instant(at), "{at}");
        }
    }
}
