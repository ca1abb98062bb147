//! What a long journal costs to read: `cargo bench --bench journal`.
//!
//! Journals of 1,000 and of 10,000 simulated games with every move, as a runner writes them, and for each command
//! its time and the most memory that it had.
#![expect(clippy::expect_used, reason = "a benchmark that cannot measure has nothing to say")]

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gate4k::event::config::sha256;
use gate4k::event::journal::record::{GameFinished, GameStarted, Header, Ply, StageStarted};
use gate4k::event::journal::{Journal, Record, VERSION};
use gate4k::event::schedule::{BookPolicy, Pairing, Schedule};
use gate4k::game::end::Reason;
use shakmaty::{CastlingMode, Chess, Position};

const ENGINES: usize = 30;
const DOUBLES: u32 = 12;

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

fn event(dir: &Path, games: usize) -> PathBuf {
    let mut settings = format!(
        "event = \"Long\"\ntime-control = \"60+1\"\n[[stage]]\nname = \"Pool\"\n\
         format = {{ double-round-robins = {DOUBLES} }}\nbook-policy = \"none\"\ndraw = \"seeds\"\n\
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
    add(Record::Header(Header {
        version: VERSION,
        event: "Long".into(),
        gate4k: String::new(),
        settings_sha256: sha256(settings.as_bytes()),
        settings,
    }));
    let seats: Vec<String> = (0..ENGINES).map(name).collect();
    let ratings = Default::default();
    add(Record::StageStarted(StageStarted { stage: 0, name: "Pool".into(), seats, ratings }));
    let doubles = NonZeroU32::new(DOUBLES).expect("some");
    let schedule = Schedule::new(ENGINES, doubles, BookPolicy::None).expect("a schedule");
    assert!(schedule.games() >= games, "too few games");
    let lines = lines();
    let mut random = Random(1);
    for pairing in schedule.pairings().take(games) {
        let line = &lines[random.below(lines.len())];
        let result = ["1-0", "0-1", "1/2-1/2"][random.below(3)];
        game(&mut add, &pairing, line, result);
    }
    file
}

fn game(add: &mut impl FnMut(Record), pairing: &Pairing, line: &[String], result: &str) {
    let (white, black) = (name(pairing.white.0), name(pairing.black.0));
    let id = format!("long/pool/{}/{white}/{black}", pairing.at).to_lowercase();
    let at = "2026-07-01T12:00:00.000Z";
    add(Record::GameStarted(GameStarted {
        id: id.clone(),
        stage: 0,
        round: pairing.at.round,
        game: pairing.at.game,
        white: white.clone(),
        black: black.clone(),
        attempt: 1,
        opening: String::new(),
        opening_names: None,
        time_control: "60+1".into(),
        sha256: [String::new(), String::new()].map(|_| "0".repeat(64)),
        options: [String::new(), String::new()].map(|_| "Protocol=uci; Threads=1; Hash=64;".into()),
        clocks: [60_000_000, 60_000_000],
        at: at.into(),
    }));
    for (number, one) in line.iter().enumerate() {
        add(Record::Ply(Ply {
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
            rules_in: (-1000, -1000),
        }));
    }
    let details = match result {
        "1/2-1/2" => "Draw",
        "1-0" => "White mates",
        _ => "Black mates",
    };
    add(Record::GameFinished(GameFinished {
        id,
        stage: 0,
        round: pairing.at.round,
        game: pairing.at.game,
        white,
        black,
        result: result.into(),
        termination: None,
        details: details.into(),
        reason: Reason::Mate,
        by_rule: None,
        moves: line.join(" "),
        book: 0,
        unanswered: None,
        lasted: 60_000_000,
        at: at.into(),
    }));
}

/// The time of a command, and the most memory that it was seen with.
fn measure(words: &[&str], file: &Path) -> (Duration, u64) {
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
            return (start.elapsed(), most);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn main() {
    // Every record is brought to the disk; a disk in memory has that done at once.
    let memory = Path::new("/dev/shm");
    let dir = match tempfile::tempdir_in(memory) {
        Ok(dir) => dir,
        Err(_) => tempfile::tempdir().expect("a directory"),
    };
    for games in [1_000, 10_000] {
        let file = event(dir.path(), games);
        let journal = file.with_extension("journal");
        let bytes = std::fs::metadata(&journal).expect("a journal").len();
        println!("{games} games, a journal of {:.1} MB", bytes as f64 / 1e6);
        for (words, file) in [
            (&["standings"][..], &journal),
            (&["ratings"], &journal),
            (&["event", "status"], &file),
            (&["event", "export", "pgn"], &file),
        ] {
            let mut runs: Vec<(Duration, u64)> = (0..5).map(|_| measure(words, file)).collect();
            runs.sort();
            let most = runs.iter().map(|(_, most)| *most).max().unwrap_or(0);
            println!(
                "  {:24} {:7.3} s (median of 5)  {:6.1} MB at most",
                words.join(" "),
                runs[2].0.as_secs_f64(),
                most as f64 / 1024.0
            );
        }
        std::fs::remove_file(&journal).expect("room for the next");
    }
}
