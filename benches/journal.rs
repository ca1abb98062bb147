//! The cost of reading a long journal: `cargo bench --bench journal`.
//!
//! Journals of 1,000 and of 10,000 simulated games with every move, as a runner writes them, and of 100,000 in
//! which each game's moves are told once, at its end; for each command its time, the processor's part of that
//! (which a busy host does not change), and the most memory that it had. Then what the table after a game costs in
//! an event that has come far: from what is kept, and by counting all of its games anew.
#![expect(clippy::expect_used, reason = "a benchmark that cannot measure has nothing to say")]

#[path = "common/processor.rs"]
mod processor;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gate4k::event::config::EventConfig;
use gate4k::event::field::FieldBuilder;
use gate4k::event::journal::record::{
    GameFinished, GameStarted, JournalHeader, JournalPly, StageStarted,
};
use gate4k::event::journal::{self, Journal, JournalRecord, VERSION};
use gate4k::event::journal_games;
use gate4k::event::ledger::Ledger;
use gate4k::event::ratings::EventRatings;
use gate4k::event::schedule::{BookPolicy, StagePairing, StageSchedule};
use gate4k::model::game::ending::Termination;
use gate4k::model::game::rule_distances::RuleDistances;
use gate4k::model::text::sha256;
use processor::children;
use shakmaty::{CastlingMode, Chess, Position};

const ENGINES: usize = 30;

/// Random, and the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}

/// Games of random moves, to choose from.
fn lines() -> Vec<Vec<String>> {
    let mut random = Random(4);
    let line = |_| {
        let mut position = Chess::default();
        let mut moves = Vec::new();
        let length = 80 + random.below(80);
        while moves.len() < length {
            let legal = position.legal_moves();
            let Some(one) = legal.get(random.below(legal.len().max(1))).copied() else { break };
            moves.push(one.to_uci(CastlingMode::Standard).to_string());
            position.play_unchecked(one);
        }
        moves
    };
    (0..300).map(line).collect()
}

fn name(seat: usize) -> String {
    format!("Engine{seat:02}")
}

fn event(dir: &Path, games: usize, each_move: bool) -> PathBuf {
    let doubles = games.div_ceil(ENGINES * (ENGINES - 1)) as u32;
    let mut settings = format!(
        "event = \"Long\"\ntime-control = \"60+1\"\n[[stage]]\nname = \"Pool\"\n\
         format = {{ double-round-robins = {doubles} }}\nbook-policy = \"none\"\ndraw = \"seeds\"\n\
         tie-breaks = \"4k\"\npromote = 2\n"
    );
    for seat in 0..ENGINES {
        settings += &format!("[[entry]]\nname = \"{}\"\npath = \".\"\n", name(seat));
    }
    let file = dir.join(format!("{games}.toml"));
    std::fs::write(&file, &settings).expect("an event file");
    let path = dir.join(format!("{games}.journal"));
    let (mut journal, _) = Journal::open(&path, &mut |_, _| Ok(())).expect("a journal");
    let mut add = |record| journal.append(&record).expect("a record");
    add(JournalRecord::Header(JournalHeader {
        previous: Vec::new(),
        version: VERSION,
        event: "Long".into(),
        gate4k: String::new(),
        settings_sha256: sha256(settings.as_bytes()),
        settings,
    }));
    let seats: Vec<String> = (0..ENGINES).map(name).collect();
    let ratings = Default::default();
    add(JournalRecord::StageStarted(StageStarted {
        stage: 0,
        name: "Pool".into(),
        seats,
        ratings,
        ..StageStarted::default()
    }));
    let doubles = NonZeroU32::new(doubles).expect("some");
    let schedule = StageSchedule::new(ENGINES, doubles, BookPolicy::None).expect("a schedule");
    let lines = lines();
    let mut random = Random(1);
    for pairing in schedule.pairings().take(games) {
        let line = &lines[random.below(lines.len())];
        let result = ["1-0", "0-1", "1/2-1/2"][random.below(3)];
        game(&mut add, &pairing, line, result, each_move);
    }
    file
}

fn game(
    add: &mut impl FnMut(JournalRecord),
    pairing: &StagePairing,
    line: &[String],
    result: &str,
    each_move: bool,
) {
    let (white, black) = (name(pairing.white.0), name(pairing.black.0));
    let id = format!("long/pool/{}/{white}/{black}", pairing.at).to_lowercase();
    let at = "2026-07-01T12:00:00.000Z";
    add(JournalRecord::GameStarted(GameStarted {
        id: id.clone(),
        stage: 0,
        round: pairing.at.round,
        game: pairing.at.game,
        white: white.clone(),
        black: black.clone(),
        attempt: 1,
        start: None,
        opening: String::new(),
        opening_names: None,
        time_control: "60+1".into(),
        sha256: [String::new(), String::new()].map(|_| "0".repeat(64)),
        options: [String::new(), String::new()].map(|_| "Protocol=uci; Threads=1; Hash=64;".into()),
        clocks: [60_000_000, 60_000_000],
        at: at.into(),
    }));
    for (number, one) in line.iter().enumerate().filter(|_| each_move) {
        add(JournalRecord::Ply(JournalPly {
            id: id.clone(),
            number,
            uci: one.clone(),
            used: 1_000_000,
            clocks: [60_000_000, 60_000_000],
            eval: Some(12),
            depth: Some(14),
            seldepth: Some(20),
            nodes: Some(1_234_567),
            speed: Some(1_234_567),
            hashfull: Some(500),
            table_hits: None,
            pv: "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6".into(),
            rules_in: RuleDistances::OFF,
        }));
    }
    let details = match result {
        "1/2-1/2" => "Draw",
        "1-0" => "White mates",
        _ => "Black mates",
    };
    add(JournalRecord::GameFinished(GameFinished {
        id,
        stage: 0,
        round: pairing.at.round,
        game: pairing.at.game,
        white,
        black,
        result: result.into(),
        termination: None,
        details: details.into(),
        reason: Termination::Mate,
        by_rule: None,
        start: None,
        moves: line.join(" "),
        book: 0,
        unanswered: None,
        lasted: 60_000_000,
        at: at.into(),
    }));
}

/// The time of a command, its processor time, and the most memory that it was seen with.
fn measure(words: &[&str], file: &Path) -> (Duration, Duration, u64) {
    let before = children();
    let start = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(words)
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("gate4k starts");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(kib.unwrap_or(0));
        if let Some(done) = child.try_wait().expect("gate4k is waited for") {
            assert!(done.success(), "{words:?}: {done}");
            return (start.elapsed(), children().saturating_sub(before), most);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The quickest of some runs, in milliseconds.
fn quickest(mut what: impl FnMut()) -> f64 {
    let times = (0..9).map(|_| {
        let start = Instant::now();
        what();
        start.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Measures the table after the next game of an event that has come so far.
fn table_after_a_game(dir: &Path, games: usize) {
    let file = event(dir, games, false);
    let config = EventConfig::load(&file).expect("an event");
    let mut ledger = Ledger::default();
    let mut finished = Vec::new();
    journal::read(&config.journal, &mut |_, record| {
        if let JournalRecord::GameFinished(game) = &record {
            finished.push(game.clone());
        }
        ledger.apply(record)
    })
    .expect("a journal");
    let (stage, state) = (&config.stages[0], &ledger.stages[0]);
    let kept = quickest(|| {
        assert_eq!(stage.standings(&state.field(None)).games, games);
    });
    let anew = quickest(|| {
        let mut builder = FieldBuilder::default();
        for game in &finished {
            let listed = journal_games::listed("Long", &state.started, game).expect("legal");
            builder.add(&listed, 0);
        }
        assert_eq!(stage.standings(&builder.finish()).games, games);
    });
    let ratings = quickest(|| {
        assert_eq!(EventRatings::of(&config, &ledger).games, games as u64);
    });
    println!(
        "the table after game {games}: {kept:.2} ms from what is kept, {anew:.2} ms by counting anew; \
         the ratings {ratings:.2} ms"
    );
    std::fs::remove_file(&config.journal).expect("room for the next");
}

fn main() {
    // Every record is brought to the disk; a disk in memory has that done at once.
    let memory = Path::new("/dev/shm");
    let dir = match tempfile::tempdir_in(memory) {
        Ok(dir) => dir,
        Err(_) => tempfile::tempdir().expect("a directory"),
    };
    for (games, each_move) in [(1_000, true), (10_000, true), (100_000, false)] {
        let file = event(dir.path(), games, each_move);
        let journal = file.with_extension("journal");
        let bytes = std::fs::metadata(&journal).expect("a journal").len();
        println!("{games} games, a journal of {:.1} MB", bytes as f64 / 1e6);
        for (words, file) in [
            (&["standings"][..], &journal),
            (&["standings", "--format", "json"], &journal),
            (&["ratings"], &journal),
            (&["event", "status"], &file),
            (&["event", "export", "pgn"], &file),
        ] {
            let mut runs: Vec<_> = (0..5).map(|_| measure(words, file)).collect();
            runs.sort();
            let most = runs.iter().map(|(_, _, most)| *most).max().unwrap_or(0);
            println!(
                "  {:24} {:7.3} s, of these {:6.3} s of processor (median of 5)  {:6.1} MB at most",
                words.join(" "),
                runs[2].0.as_secs_f64(),
                runs[2].1.as_secs_f64(),
                most as f64 / 1024.0
            );
        }
        std::fs::remove_file(&journal).expect("room for the next");
    }
    for games in [120, 2_000, 10_000] {
        table_after_a_game(dir.path(), games);
    }
}
