//! Journals of events that have come so far.

use std::collections::BTreeMap;
use std::fs;

use gate4k::event::config::EventConfig;
use gate4k::event::journal::record::{
    Frozen, GameFinished, GameStarted, GateReceipt, JournalHeader, JournalPly, StageFinished,
    StageStarted,
};
use gate4k::event::journal::{Journal, JournalRecord, VERSION};
use gate4k::game::clock::TimeControl;
use gate4k::model::game::ending::{GameEnding, Termination};
use gate4k::model::game::listed::RoundGame;
use gate4k::model::game::rule_distances::RuleDistances;
use gate4k::model::text::sha256;
use gate4k::policy::allowlist::BUILT_IN;
use serde_json::json;
use shakmaty::Color;

use super::table::Event;

pub(crate) const WHITE_MATES: &str = "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7";
pub(crate) const REPEATED: &str = "e2e4 e7e5 g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
/// The first opening of the book that an [`Event`] has: with it all games here begin.
const OPENING: &str = "e2e4 e7e5";

/// A journal in which an event has already come so far.
pub(crate) struct Past {
    pub(crate) config: EventConfig,
    journal: Journal,
    number: usize,
    /// With these moves games begin.
    pub(crate) opening: &'static str,
    /// The wall clock of what is added.
    pub(crate) at: &'static str,
}

impl Past {
    pub(crate) fn new(event: &Event) -> Past {
        let config = EventConfig::load(&event.path("event.toml")).unwrap();
        let (journal, _) = Journal::open(&config.journal, &mut |_, _| Ok(())).unwrap();
        let mut past = Past { config, journal, number: 0, opening: OPENING, at: "" };
        past.add(JournalRecord::Header(JournalHeader {
            previous: Vec::new(),
            version: VERSION,
            event: past.config.event.clone(),
            gate4k: String::new(),
            settings: past.config.text.clone(),
            settings_sha256: past.config.sha256.clone(),
        }));
        for entry in past.config.entries.clone() {
            let frozen = Frozen {
                file: sha256(fs::read(entry.path.join("engine")).unwrap()),
                engines_json: None,
                allowlist: sha256(BUILT_IN.as_bytes()),
                files: BTreeMap::new(),
            };
            past.add(JournalRecord::Receipt(GateReceipt {
                entry: entry.name,
                frozen,
                verdict: "accepted".into(),
                bytes: None,
                findings: BTreeMap::new(),
                at: String::new(),
            }));
        }
        past
    }

    pub(crate) fn add(&mut self, record: JournalRecord) {
        self.journal.append(&record).unwrap();
    }

    pub(crate) fn stage(&mut self, seats: &[&str]) {
        let name = self.config.stages[self.number].name.clone();
        let seats = seats.iter().copied().map(str::to_owned).collect();
        let stage = self.number;
        self.add(JournalRecord::StageStarted(StageStarted {
            stage,
            name,
            seats,
            book: self.config.frozen_book(stage),
            ..StageStarted::default()
        }));
    }

    pub(crate) fn over(&mut self, order: [&str; 2]) {
        let order = order.map(str::to_owned).to_vec();
        let promoted = order.clone();
        self.add(JournalRecord::StageFinished(StageFinished {
            stage: self.number,
            order,
            promoted,
            shared: Vec::new(),
        }));
        self.number += 1;
    }

    pub(crate) fn game(&mut self, round: u32, white: &str, black: &str, moves: &str) {
        let ending = match moves {
            WHITE_MATES => GameEnding::win(Color::White, Termination::Mate),
            _ => GameEnding::draw(Termination::Threefold),
        };
        self.ended(round, white, black, moves, ending);
    }

    pub(crate) fn ended(
        &mut self,
        round: u32,
        white: &str,
        black: &str,
        moves: &str,
        ending: GameEnding,
    ) {
        let stage = &self.config.stages[self.number];
        let id = self.config.game_id(stage, RoundGame { round, game: 1 }, white, black);
        let sum = |name: &str| {
            let entry = self.config.entries.iter().find(|entry| entry.name == name).unwrap();
            sha256(fs::read(entry.path.join("engine")).unwrap())
        };
        // Each move takes as long as it earns.
        let TimeControl::Clock { base, increment, .. } = self.config.terms.control else {
            panic!("an event has a clock");
        };
        let [base, used] = [base, increment].map(|time| u64::try_from(time.as_micros()).unwrap());
        let started = GameStarted {
            id: id.clone(),
            stage: self.number,
            round,
            game: 1,
            white: white.into(),
            black: black.into(),
            attempt: 1,
            start: None,
            opening: self.opening.into(),
            opening_names: None,
            time_control: self.config.terms.control.to_string(),
            sha256: [sum(white), sum(black)],
            options: ["Protocol=uci;"; 2].map(str::to_owned),
            clocks: [base, base],
            at: self.at.into(),
        };
        self.add(JournalRecord::GameStarted(started));
        let played = moves.strip_prefix(self.opening).expect("the book's opening first");
        for (number, uci) in played.split_whitespace().enumerate() {
            self.add(JournalRecord::Ply(JournalPly {
                id: id.clone(),
                number,
                uci: uci.into(),
                used,
                clocks: [base, base],
                rules_in: RuleDistances::OFF,
                ..JournalPly::default()
            }));
        }
        if matches!(ending.reason, Termination::Crash { .. }) {
            let loser = ending.crashed().map(|side| if side.is_white() { white } else { black });
            let killed = json!({ "id": id, "entry": loser, "why": "", "exit": null, "stderr": [] });
            self.add(serde_json::from_value(json!({ "engine-killed": killed })).unwrap());
        }
        self.add(JournalRecord::GameFinished(GameFinished {
            id,
            stage: self.number,
            round,
            game: 1,
            white: white.into(),
            black: black.into(),
            result: ending.result.word().into(),
            termination: ending.termination().map(str::to_owned),
            details: ending.details(),
            reason: ending.reason,
            by_rule: None,
            start: None,
            moves: moves.into(),
            book: self.opening.split(' ').count(),
            unanswered: None,
            lasted: 1_000_000,
            at: self.at.into(),
        }));
    }
}
