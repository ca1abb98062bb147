//! Files of a command that are none of their kind, or one file under two names: a word, and nothing is lost.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;

use crate::match_::engine::instant;
use crate::outcome::told_apart;
use crate::trials::Test;

struct Place {
    dir: TempDir,
}

impl Place {
    /// A folder with a book and a file of two engines.
    fn new() -> Place {
        let place = Place { dir: tempfile::tempdir().unwrap() };
        fs::write(place.path("book.txt"), "e4 e5\nd4 d5\n").unwrap();
        // B wins.
        let engine = |(name, last)| {
            let program = instant();
            format!("[[engine]]\nname = {name:?}\ncmd = {program:?}\nargs = [\"illegal@{last}\"]\n")
        };
        fs::write(place.path("engines.toml"), [("A", 6), ("B", 40)].map(engine).concat()).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The exit code, standard output and standard error.
    fn ask(&self, words: &str) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        command.args(words.split_whitespace()).current_dir(self.dir.path()).stdin(Stdio::null());
        told_apart(&command.output().unwrap())
    }

    fn play(&self, words: &str) -> (i32, String, String) {
        self.ask(&format!("match -q --engines engines.toml {words}"))
    }

    /// Asserts that a command is refused with these words, and that no file is another than before.
    fn refuses(&self, command: &str, words: &str) {
        let before = self.files();
        let (code, out, err) = self.ask(command);
        assert_eq!((code, &*out), (2, ""), "{command}: {err}");
        assert!(err.contains(words), "{command}: {err}");
        assert_eq!(self.files(), before, "{command}");
    }

    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(self.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .map(|path| (path.clone(), fs::read(&path).unwrap()))
            .collect();
        found.sort();
        found
    }

    fn is_pipe(&self, name: &str) -> bool {
        fs::symlink_metadata(self.path(name)).unwrap().file_type().is_fifo()
    }
}

fn an_output_that_is_another_file_is_refused_and_nothing_is_lost() {
    let place = Place::new();
    for (one, other) in [
        ("--pgn a", "--live a"),
        ("--journal a", "--events ./a"),
        ("--events a", "--log a"),
        ("--pgn a", "--until a"),
        ("--openings book.txt", "--pgn book.txt"),
        ("--tc 1+1", "--log engines.toml"),
    ] {
        let command = format!("match -q --engines engines.toml {one} {other}");
        place.refuses(&command, "name another file");
    }
    assert_eq!(place.play("--pgn /dev/null --events /dev/null --log /dev/null").0, 0);
    assert_eq!(place.play("--journal shard").0, 0);
    place.refuses("merge shard --watch shard", "--watch and a journal are both shard");
    let entry = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept/elf/engine");
    fs::copy(entry, place.path("engine")).unwrap();
    place.refuses("check engine --receipt engine", "--receipt and an entry are both engine");
    place.refuses("check engine --report html=a --journal a", "--report and --journal are both a");
}

fn no_file_of_an_event_is_written_over() {
    let place = Place::new();
    let engines = fs::read_to_string(place.path("engines.toml")).unwrap();
    let text = format!(
        "event = \"Two\"\ntime-control = \"20+0.1\"\ncompensation = \"100ms\"\n{engines}[[stage]]\nname = \"Match\"\n\
         format = {{ match = {{ pairs = 1 }} }}\nbook = \"book.txt\"\ntie-breaks = \"4k\"\n"
    );
    fs::write(place.path("event.toml"), text).unwrap();
    let (code, _, err) = place.ask("event run -q");
    assert_eq!(code, 0, "{err}");
    for file in ["event.journal", "event.toml", "book.txt"] {
        place.refuses(&format!("event export pgn --live {file}"), "name another file for --live");
        place.refuses(&format!("event run --events {file}"), "name another file for --events");
    }
    place.refuses("event seal --sign-key nowhere", "error: cannot read the secret key nowhere");
    assert_eq!(place.ask("event verify").0, 0);
}

fn a_pipe_keeps_nobody_waiting_and_is_not_replaced() {
    let place = Place::new();
    mkfifo(&place.path("pipe"), Mode::S_IRWXU).unwrap();
    for output in ["--pgn", "--events", "--log"] {
        let (code, _, err) = place.play(&format!("{output} pipe"));
        assert!(code == 2 && err.contains("nobody reads this pipe"), "{output}: {code} {err}");
    }
    let (code, _, err) = place.play("--live pipe");
    assert!(code == 2 && err.contains("no regular file"), "{code} {err}");
    let (code, _, err) = place.ask("pack -o pipe --force book.txt");
    assert!(code == 2 && err.contains("no regular file"), "{code} {err}");
    assert!(place.is_pipe("pipe"));
    // Nobody writes to it: it is empty.
    let (code, _, err) = place.ask("event repair pipe");
    assert!(code == 2 && err.contains("missing field"), "{code} {err}");
    let (code, _, err) = place.ask("standings pipe");
    assert!(code == 3 && err.contains("there are no games"), "{code} {err}");
}

fn what_is_no_book_or_no_journal_of_an_event_is_told() {
    let place = Place::new();
    let utf16 = "\u{feff}1. e4 e5 *".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    fs::write(place.path("wide.pgn"), utf16).unwrap();
    fs::write(place.path("epd.pgn"), "8/8/8/8/8/8/8/8 w - - 0 1\n").unwrap();
    for (book, words) in [("wide.pgn", "zero bytes"), ("epd.pgn", "neither tags nor moves")] {
        let (code, _, err) = place.play(&format!("--openings {book}"));
        assert!(code == 2 && err.contains(words), "{book}: {code} {err}");
    }
    assert_eq!(place.play("--journal shard").0, 0);
    let (code, _, err) = place.ask("standings shard");
    assert!(code == 2 && err.contains("`gate4k merge` reads those of matches"), "{code} {err}");
}

fn a_time_beyond_a_year_is_refused_wherever_it_is_written() {
    let place = Place::new();
    let year = "584542046090y";
    for option in ["wait", "margin", "startup-limit", "quit-limit", "answer-limit"] {
        let (code, _, err) = place.play(&format!("--{option} {year}"));
        assert!(code == 2 && err.contains("a year at most"), "{option}: {code} {err}");
    }
    fs::write(place.path("gate4k.toml"), format!("grace = {year:?}\n")).unwrap();
    place.refuses(
        "check --dump-config --config gate4k.toml",
        "gate4k.toml:1:9: \"584542046090y\" is longer than a year",
    );
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick an_output_that_is_another_file_is_refused_and_nothing_is_lost,
        quick no_file_of_an_event_is_written_over,
        slow a_pipe_keeps_nobody_waiting_and_is_not_replaced,
        quick what_is_no_book_or_no_journal_of_an_event_is_told,
        quick a_time_beyond_a_year_is_refused_wherever_it_is_written,
    ]
}
