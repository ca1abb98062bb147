//! Events through the real program: a small one from its gate to its winner, killed at any moment, with a
//! journal that was torn or damaged, with two runners, and with entries that changed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use gate4k::event::config::{Config, sha256};
use gate4k::event::journal::record::{
    Frozen, GameFinished, GameStarted, Header, Receipt, StageFinished, StageStarted,
};
use gate4k::event::journal::{Journal, Record, VERSION};
use gate4k::event::record::RoundGame;
use gate4k::game::end::{Ending, Reason};
use gate4k::policy::allowlist::BUILT_IN;
use serde_json::Value;
use shakmaty::Color;
use tempfile::TempDir;

const POOL: &str = "[[stage]]\nname = \"Pool\"\nformat = { double-round-robins = 1 }\n\
    book-policy = \"each\"\nbook = \"book.txt\"\ndraw = \"seeds\"\ntie-breaks = \"4k\"\npromote = 2\n";
const MINIFINAL: &str = "[[stage]]\nname = \"MiniFinal\"\nformat = { pairs = 1 }\n\
    book-policy = \"each\"\nbook = \"book.txt\"\ndraw = \"reversed-ranking\"\ntie-breaks = \"4k\"\n\
    promote = 1\n";

/// An event with files of its own.
struct Event {
    dir: TempDir,
}

impl Event {
    /// An event of these shipped entries, each under a name of its own.
    fn new(entries: &[(&str, &str)], control: &str, stages: &str) -> Event {
        let dir = tempfile::tempdir().unwrap();
        let mut text = format!(
            "event = \"Small\"\ngate = \"quick\"\nadmit-undecided = true\n\
             time-control = \"{control}\"\ncompensation = \"100ms\"\n"
        );
        for (name, entry) in entries {
            let here = dir.path().join(name);
            fs::create_dir(&here).unwrap();
            let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept");
            fs::copy(shipped.join(entry).join("engine"), here.join("engine")).unwrap();
            text += &format!("[[entry]]\nname = \"{name}\"\npath = \"{name}\"\n");
        }
        fs::write(dir.path().join("book.txt"), "e4 e5\nd4 d5\nc4 c5\n").unwrap();
        fs::write(dir.path().join("event.toml"), text + stages).unwrap();
        Event { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        command.args(words).current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    fn ask(&self, words: &[&str]) -> (i32, String) {
        let Output { status, stdout, stderr } = self.command(words).output().unwrap();
        let text = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (status.code().unwrap(), text)
    }

    fn start(&self) -> Child {
        let mut command = self.command(&["event", "run", "--quiet"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Runs to the end.
    fn finish(&self) -> String {
        let (code, text) = self.ask(&["event", "run", "--quiet"]);
        assert_eq!(code, 0, "{text}");
        let (code, verified) = self.ask(&["event", "verify"]);
        assert_eq!(code, 0, "{verified}");
        text
    }

    /// The whole records of a kind.
    fn records(&self, kind: &str) -> Vec<Value> {
        let text = fs::read(self.path("event.journal")).unwrap_or_default();
        String::from_utf8_lossy(&text)
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .filter_map(|line| {
                let line: Value = serde_json::from_str(line).unwrap();
                line["record"].get(kind).cloned()
            })
            .collect()
    }

    /// Finished games by id; none twice.
    fn finished(&self) -> BTreeMap<String, Value> {
        let mut games = BTreeMap::new();
        for game in self.records("game-finished") {
            let id = game["id"].as_str().unwrap().to_owned();
            assert!(games.insert(id.clone(), game).is_none(), "{id} ended twice");
        }
        games
    }
}

/// Whether this host can play entries at all, found out once.
fn can_play() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| {
        let entry = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept/elf");
        let check = Command::new(env!("CARGO_BIN_EXE_gate4k"))
            .args(["check", "--quick", "--quiet"])
            .arg(entry)
            .output();
        let can = check.is_ok_and(|output| output.status.code() == Some(0));
        if !can {
            println!("skipped: this host does not accept the shipped entry elf");
        }
        can
    })
}

/// A small generator, so that the moments differ and can be had again.
struct Moments(u64);

impl Moments {
    fn next(&mut self, most: u64) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Duration::from_millis(40 + (self.0 >> 33) % most)
    }
}

#[test]
fn an_event_is_played_to_its_winner_and_survives_being_killed() {
    if !can_play() {
        return;
    }
    let entries = [("A", "elf"), ("B", "elf32"), ("C", "rules-example-1")];
    let event = Event::new(&entries, "1+0.01", &format!("{POOL}{MINIFINAL}"));
    let kills: u32 = std::env::var("GATE4K_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let mut moments = Moments(u64::from(kills));
    let mut before = BTreeMap::new();
    for _ in 0..kills {
        let mut child = event.start();
        let end = Instant::now() + moments.next(1800);
        // While the gate is at work nothing is frozen yet; kills are for the games.
        while Instant::now() < end || event.records("stage-started").is_empty() {
            std::thread::sleep(Duration::from_millis(5));
            if child.try_wait().unwrap().is_some() {
                break;
            }
        }
        let _ = child.kill();
        child.wait().unwrap();
        let now = event.finished();
        for (id, game) in &before {
            assert_eq!(now.get(id), Some(game), "{id} changed");
        }
        before = now;
    }
    let text = event.finish();
    assert!(text.ends_with(" wins\n"), "{text}");
    let games = event.finished();
    for (id, game) in &before {
        assert_eq!(games.get(id), Some(game), "{id} changed");
    }
    let of_stage = |stage: u64| games.values().filter(|game| game["stage"] == stage).count();
    assert_eq!(of_stage(0), 6);
    assert!(of_stage(1) >= 2 && of_stage(1).is_multiple_of(2));
    // The pool's winner is Black in the first game of the MiniFinal (rule 3.2).
    let order = &event.records("stage-finished")[0]["order"];
    let first = games.values().find(|game| game["stage"] == 1 && game["round"] == 1).unwrap();
    assert_eq!(first["black"], order[0]);
    for ruling in event.records("interrupted") {
        assert!(ruling["rule"].as_str().unwrap().starts_with("6.1."), "{ruling}");
    }

    // What follows from the journal.
    let (code, status) = event.ask(&["event", "status"]);
    assert!(code == 0 && status.contains("Pool: over, 6 games"), "{status}");
    let (_, pgn) = event.ask(&["event", "export", "pgn"]);
    assert_eq!(pgn.matches("[Event ").count(), games.len());
    fs::write(event.path("pool.pgn"), pgn.split("[Event \"Small: MiniFinal").next().unwrap())
        .unwrap();
    let (_, by_pgn) = event.ask(&["standings", "pool.pgn"]);
    let (code, by_journal) = event.ask(&["standings", "event.journal", "--stage", "Pool"]);
    assert_eq!((code, by_journal), (0, by_pgn));
    let (code, html) = event.ask(&["event", "export", "html"]);
    assert!(code == 0 && html.matches("</html>").count() == 1);
    let (code, json) = event.ask(&["event", "export", "json"]);
    assert_eq!(code, 0);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["stages"].as_array().unwrap().len(), 2);
    assert_eq!(event.ask(&["ratings", "event.journal"]).0, 0);

    // No process is left.
    let deadline = Instant::now() + Duration::from_secs(5);
    while running_below(event.dir.path()) > 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(running_below(event.dir.path()), 0);

    // A last record that is torn is cut off; damage before it is told and nothing is touched.
    let whole = fs::read(event.path("event.journal")).unwrap();
    fs::write(event.path("event.journal"), &whole[..whole.len() - 7]).unwrap();
    let text = event.finish();
    assert!(text.contains("was torn"), "{text}");
    assert_eq!(fs::read(event.path("event.journal")).unwrap(), whole);
    let mut damaged = whole;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(event.path("event.journal"), &damaged).unwrap();
    let line = damaged[..middle].iter().filter(|byte| **byte == b'\n').count() + 1;
    for command in ["run", "verify", "status"] {
        let (code, text) = event.ask(&["event", command]);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(&format!("is damaged at line {line} (byte ")), "{text}");
    }
    assert_eq!(fs::read(event.path("event.journal")).unwrap(), damaged);
}

/// Runners of this directory's event that still exist.
fn running_below(dir: &Path) -> usize {
    let dir = dir.canonicalize().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == dir))
        .count()
}

#[test]
fn a_second_runner_a_changed_entry_and_changed_settings_are_refused() {
    if !can_play() {
        return;
    }
    let entries = [("A", "elf"), ("B", "elf32")];
    let event = Event::new(&entries, "5+0.1", POOL);
    let mut runner = event.start();
    let deadline = Instant::now() + Duration::from_secs(60);
    while event.records("ply").len() < 5 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let (code, text) = event.ask(&["event", "run"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("another runner is writing to"), "{text}");

    // A pause lets the game under way end.
    assert_eq!(event.ask(&["event", "pause"]).0, 0);
    assert_eq!(runner.wait().unwrap().code(), Some(4));
    assert_eq!(event.finished().len(), 1);
    assert_eq!(event.records("paused").len(), 1);
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("1 of 2 games") && status.contains("paused"), "{status}");

    let engine = event.path("A/engine");
    let before = fs::read(&engine).unwrap();
    let journal = fs::read(event.path("event.journal")).unwrap();
    let mut changed = before.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&engine, &changed).unwrap();
    let (code, text) = event.ask(&["event", "run"]);
    assert_eq!(code, 2, "{text}");
    let frozen = event.records("receipt")[0]["frozen"]["file"].as_str().unwrap().to_owned();
    assert!(text.contains("rule 4.4") && text.contains(&frozen), "{text}");
    let (code, text) = event.ask(&["event", "fix", "A", "--reason", "faster"]);
    assert!(code == 2 && text.contains("crashed never") && text.contains("rule 6.3"), "{text}");
    fs::write(&engine, &before).unwrap();

    let file = event.path("event.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("5+0.1", "6+0.1")).unwrap();
    let (code, told) = event.ask(&["event", "run"]);
    assert!(code == 2 && told.contains("changed since the event began"), "{told}");
    fs::write(&file, text).unwrap();
    assert_eq!(fs::read(event.path("event.journal")).unwrap(), journal);

    let (code, text) = event.ask(&["event", "decide", "--order", "A,B", "--reason", "x"]);
    assert!(code == 2 && text.contains("games are still to be played"), "{text}");
}

#[test]
fn a_new_event_is_the_4k_event_and_mistakes_in_it_are_told_where_they_are() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "1+0.01", POOL);
    fs::create_dir(event.path("all")).unwrap();
    for name in ["A", "B"] {
        fs::rename(event.path(name), event.path("all").join(name)).unwrap();
    }
    let (code, text) = event.ask(&["event", "new", "--entries", "all", "new.toml"]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = event.ask(&["event", "new", "--entries", "all", "new.toml"]);
    assert!(code == 2 && text.contains("cannot write new.toml"), "{text}");
    let (code, text) = event.ask(&["event", "status", "new.toml"]);
    assert!(code == 3 && text.contains("new.journal"), "{text}");
    let text = fs::read_to_string(event.path("new.toml")).unwrap();
    fs::write(event.path("new.toml"), text.replace("gate = \"full\"", "gate = \"none\"")).unwrap();
    let (code, text) = event.ask(&["event", "run", "new.toml"]);
    assert!(code == 2 && text.contains("new.toml:8:8: "), "{text}");
    assert_eq!(event.ask(&["event", "run", "nothing.toml"]).0, 3);
}

const WHITE_MATES: &str = "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7";
const REPEATED: &str = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";

/// A journal in which an event has already come so far.
struct Past {
    config: Config,
    journal: Journal,
    number: usize,
}

impl Past {
    fn new(event: &Event) -> Past {
        let config = Config::load(&event.path("event.toml")).unwrap();
        let (journal, _) = Journal::open(&config.journal, &mut |_, _| Ok(())).unwrap();
        let mut past = Past { config, journal, number: 0 };
        past.add(Record::Header(Header {
            version: VERSION,
            event: past.config.event.clone(),
            gate4k: String::new(),
            settings: past.config.text.clone(),
            settings_sha256: past.config.sha256.clone(),
        }));
        for entry in past.config.entries.clone() {
            let frozen = Frozen {
                file: sha256(&fs::read(entry.path.join("engine")).unwrap()),
                engines_json: None,
                allowlist: sha256(BUILT_IN.as_bytes()),
            };
            past.add(Record::Receipt(Receipt {
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

    fn add(&mut self, record: Record) {
        self.journal.append(&record).unwrap();
    }

    fn stage(&mut self, seats: [&str; 2]) {
        let name = self.config.stages[self.number].name.clone();
        let seats = seats.map(str::to_owned).to_vec();
        self.add(Record::StageStarted(StageStarted { stage: self.number, name, seats }));
    }

    fn over(&mut self, order: [&str; 2]) {
        let order = order.map(str::to_owned).to_vec();
        let promoted = order.clone();
        self.add(Record::StageFinished(StageFinished { stage: self.number, order, promoted }));
        self.number += 1;
    }

    fn game(&mut self, round: u32, white: &str, black: &str, moves: &str) {
        let ending = match moves {
            WHITE_MATES => Ending::win(Color::White, Reason::Mate),
            _ => Ending::draw(Reason::Threefold),
        };
        self.ended(round, white, black, moves, ending);
    }

    fn ended(&mut self, round: u32, white: &str, black: &str, moves: &str, ending: Ending) {
        let stage = &self.config.stages[self.number];
        let id = self.config.game_id(stage, RoundGame { round, game: 1 }, white, black);
        let sum = |name: &str| {
            let entry = self.config.entries.iter().find(|entry| entry.name == name).unwrap();
            sha256(&fs::read(entry.path.join("engine")).unwrap())
        };
        let started = GameStarted {
            id: id.clone(),
            stage: self.number,
            round,
            game: 1,
            white: white.into(),
            black: black.into(),
            attempt: 1,
            opening: moves.into(),
            time_control: String::new(),
            sha256: [sum(white), sum(black)],
            options: [String::new(), String::new()],
            clocks: [0, 0],
            at: String::new(),
        };
        self.add(Record::GameStarted(started));
        self.add(Record::GameFinished(GameFinished {
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
            moves: moves.into(),
            book: moves.split(' ').count(),
            unanswered: None,
            lasted: 0,
            at: String::new(),
        }));
    }
}

#[test]
fn a_tied_minifinal_is_played_on_in_pairs_until_one_is_won() {
    if !can_play() {
        return;
    }
    let entries = [("A", "elf"), ("B", "python3")];
    let event = Event::new(&entries, "1+0.01", &format!("{POOL}{MINIFINAL}"));
    let mut past = Past::new(&event);
    past.stage(["A", "B"]);
    past.game(1, "A", "B", WHITE_MATES);
    past.game(2, "B", "A", REPEATED);
    past.over(["A", "B"]);
    past.stage(["B", "A"]);
    past.game(1, "B", "A", WHITE_MATES);
    past.game(2, "A", "B", WHITE_MATES);
    drop(past);
    event.finish();
    let games: Vec<Value> = event.finished().into_values().filter(|g| g["stage"] == 1).collect();
    assert!(games.len() >= 4 && games.len().is_multiple_of(2), "{} games", games.len());
    // Every pair but the last is level.
    let points = |pair: u64| -> i64 {
        let games = games.iter().filter(|game| (game["round"].as_u64().unwrap() - 1) / 2 == pair);
        games
            .map(|game| match (game["result"].as_str().unwrap(), game["white"] == "A") {
                ("1-0", true) | ("0-1", false) => 1,
                ("1/2-1/2", _) => 0,
                _ => -1,
            })
            .sum()
    };
    let pairs = games.len() as u64 / 2;
    for pair in 0..pairs {
        assert_eq!(points(pair) != 0, pair == pairs - 1, "pair {pair} of {pairs}");
    }
}

#[test]
fn a_tie_that_no_rule_breaks_waits_for_the_organisers() {
    if !can_play() {
        return;
    }
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "1+0.01", POOL);
    let mut past = Past::new(&event);
    past.stage(["A", "B"]);
    past.game(1, "A", "B", REPEATED);
    past.game(2, "B", "A", REPEATED);
    drop(past);
    for _ in 0..2 {
        let (code, text) = event.ask(&["event", "run", "--quiet"]);
        assert_eq!(code, 4, "{text}");
        assert!(text.contains("A and B are tied") && text.contains("rule 3.1.7"), "{text}");
    }
    let (code, text) = event.ask(&["event", "decide", "--order", "B", "--reason", "x"]);
    assert!(code == 2 && text.contains("name exactly these"), "{text}");
    let (code, text) = event.ask(&["event", "decide", "--order", "B,A", "--reason", "a coin"]);
    assert_eq!(code, 0, "{text}");
    let text = event.finish();
    assert!(text.contains("Small is over: B wins"), "{text}");
    assert_eq!(event.records("decision")[0]["reason"], "a coin");
}

#[test]
fn an_engine_that_crashed_twice_and_promotes_may_be_fixed() {
    if !can_play() {
        return;
    }
    let entries = [("A", "elf"), ("B", "elf32")];
    let event = Event::new(&entries, "1+0.01", &format!("{POOL}{MINIFINAL}"));
    let mut past = Past::new(&event);
    past.stage(["A", "B"]);
    let crash = |winner| Ending::win(winner, Reason::Crash { exit: None });
    past.ended(1, "A", "B", "e2e4 e7e5 g1f3", crash(Color::White));
    past.ended(2, "B", "A", "d2d4 d7d5", crash(Color::Black));
    past.over(["A", "B"]);
    drop(past);
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("crashed: B, 2"), "{status}");
    let other = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/entries/accept/rules-example-1/engine");
    fs::copy(other, event.path("B/engine")).unwrap();
    let (code, text) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && text.contains("rule 4.4"), "{text}");
    let (code, text) = event.ask(&["event", "fix", "A", "--reason", "x"]);
    assert!(code == 2 && text.contains("crashed never"), "{text}");
    let (code, text) = event.ask(&["event", "fix", "B", "--reason", "no crash any more"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(event.records("fix")[0]["crashes"], 2);
    event.finish();
}
