//! One match with files of its own, and what came of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::engine::instant;

/// One match with files of its own.
pub(crate) struct Table {
    pub(crate) dir: TempDir,
    /// Stands in the command line of every engine, so that one left behind is found.
    pub(crate) mark: String,
    pub(crate) engine: &'static Path,
}

impl Table {
    pub(crate) fn set(test: &str) -> Table {
        let dir = tempfile::tempdir().unwrap();
        let mark = format!("mark={}-{test}.", std::process::id());
        Table { dir, mark, engine: instant() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn engine(&self, name: &str, words: &str) -> String {
        format!("name={name} cmd={} args='{} {words}'", self.engine.display(), self.mark)
    }

    /// The engine below a shell that stays there, with a word before it.
    pub(crate) fn wrapped(&self, name: &str, script: &str) -> String {
        let script = script.replace("ENGINE", &format!("{} {}", self.engine.display(), self.mark));
        let script = script.replace("MARK", &self.mark);
        let path = self.path(&format!("{name}.sh"));
        fs::write(&path, script).unwrap();
        format!("name={name} cmd=sh args={}", path.display())
    }

    pub(crate) fn command(&self, engines: &[String], more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        command.arg("match").args(engines).args(more);
        command.arg("--events").arg(self.path("events"));
        command.arg("--pgn").arg(self.path("pgn"));
        command.stdin(Stdio::null());
        command
    }

    /// Plays to the end; nothing may be left running.
    pub(crate) fn play(&self, engines: &[String], more: &[&str]) -> Played {
        let output = self.command(engines, more).output().unwrap();
        self.played(&output)
    }

    pub(crate) fn played(&self, output: &Output) -> Played {
        self.nothing_is_left();
        let read = |name: &str| fs::read_to_string(self.path(name)).unwrap_or_default();
        Played {
            code: output.status.code().expect("gate4k was killed"),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
            pgn: read("pgn"),
            events: read("events")
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
        }
    }

    pub(crate) fn nothing_is_left(&self) {
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            let left = self.running();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "left running: {left:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn running(&self) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if line.contains(&self.mark) && !line.contains("match") {
                found.push(line);
            }
        }
        found
    }
}

pub(crate) struct Played {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) pgn: String,
    pub(crate) events: Vec<Value>,
}

impl Played {
    pub(crate) fn of_kind(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["event"] == kind).collect()
    }

    pub(crate) fn games(&self) -> Vec<&Value> {
        self.of_kind("game-finished")
    }

    /// Every game was lost by engine 0, with these words after its colour.
    pub(crate) fn lost_by_first(&self, games: usize, words: &str) {
        assert_eq!(self.code, 0, "{}", self.err);
        assert_eq!(self.games().len(), games, "{}", self.out);
        for game in self.games() {
            let started = self.of_kind("game-started");
            let own = started.iter().find(|one| one["game"] == game["game"]).unwrap();
            let (result, side) =
                if own["white"] == 0 { ("0-1", "White") } else { ("1-0", "Black") };
            assert_eq!(game["result"], result, "{game}");
            let details = game["details"].as_str().unwrap();
            assert_eq!(details, format!("{side}{words}"), "{game}");
            let line = format!("{result} {{{side}{words}}}");
            assert!(self.out.contains(&line), "{}", self.out);
        }
        self.pgn_is_clean(games);
    }

    /// The games stand whole in the file, in order, each move legal.
    pub(crate) fn pgn_is_clean(&self, games: usize) {
        use pgn_reader::{Reader, SanPlus, Visitor};
        use shakmaty::{Chess, Position};
        use std::ops::ControlFlow;
        struct Check;
        impl Visitor for Check {
            type Tags = ();
            type Movetext = Chess;
            type Output = u32;
            fn begin_tags(&mut self) -> ControlFlow<u32, ()> {
                ControlFlow::Continue(())
            }
            fn begin_movetext(&mut self, (): ()) -> ControlFlow<u32, Chess> {
                ControlFlow::Continue(Chess::default())
            }
            fn san(&mut self, position: &mut Chess, san: SanPlus) -> ControlFlow<u32> {
                let one = san.san.to_move(position).expect("a legal move");
                position.play_unchecked(one);
                ControlFlow::Continue(())
            }
            fn end_game(&mut self, position: Chess) -> u32 {
                position.fullmoves().get()
            }
        }
        let mut reader = Reader::new(self.pgn.as_bytes());
        let mut count = 0;
        while reader.read_game(&mut Check).unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, games);
        let rounds: Vec<Vec<u32>> = self
            .pgn
            .lines()
            .filter_map(|line| line.strip_prefix("[Round \"")?.strip_suffix("\"]"))
            .map(|round| round.split('.').map(|part| part.parse().unwrap()).collect())
            .collect();
        assert!(rounds.is_sorted(), "{rounds:?}");
        assert_eq!(rounds.len(), games);
    }
}
