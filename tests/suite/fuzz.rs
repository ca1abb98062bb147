//! Everything that reads bytes of strangers, fed with damaged ones: no panic, no endless loop, no text in a report that
//! could move a terminal. The seeds are the shipped entries and configurations.
//!
//! Some hundred cases each by default; `GATE4K_FUZZ_SECONDS=600 cargo test --test suite fuzz` goes on for so long with each
//! target, and prints what it tried. (The decoder of the tracer's events is fuzzed in `src/sandbox/fuzz.rs`.)

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gate4k::engine::uci;
use gate4k::engine::uci::Reply;
use gate4k::event::config::EventConfig;
use gate4k::event::journal;
use gate4k::event::pgn_source::PgnSource;
use gate4k::model::units::Bytes;
use gate4k::model::verdict::Finding;
use gate4k::pack::packer;
use gate4k::policy::allowlist::Allowlist;
use gate4k::sandbox::plan::{CacheCandidate, FileMaker};
use gate4k::submission::engines_json::{self, EnginesJson, SelectError};
use gate4k::submission::format::{self, Files, ThisHost};
use gate4k::submission::payload::{self, Counting, PayloadReport};
use gate4k::submission::size::{self, FileParts};
use gate4k::submission::{Mode, elf, shebang};
use nix::time::{ClockId, clock_gettime};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::seed::Chance;
use crate::trials::Test;

/// One thing done to a seed.
#[derive(Clone, Debug)]
enum Damage {
    Set(usize, u8),
    Flip(usize, u8),
    Insert(usize, Vec<u8>),
    Word(usize, usize),
    Delete(usize, usize),
    Repeat(usize, usize, usize),
    Cut(usize),
    Number(usize, u64),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = || prop_oneof![3 => 0usize..200, 1 => 0usize..100_000];
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (at(), 0u8..8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (at(), vec(any::<u8>(), 1..12)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (at(), any::<usize>()).prop_map(|(at, word)| Damage::Word(at, word)),
        (at(), 1usize..64).prop_map(|(at, length)| Damage::Delete(at, length)),
        (at(), 1usize..64, 1usize..200).prop_map(|(at, l, n)| Damage::Repeat(at, l, n)),
        at().prop_map(Damage::Cut),
        (
            at(),
            prop_oneof![
                Just(0u64),
                Just(u64::MAX),
                Just(1 << 63),
                Just(1 << 31),
                Just(0xffff_ffff),
                any::<u64>()
            ]
        )
            .prop_map(|(at, number)| Damage::Number(at, number)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage, words: &[&str]) {
    let length = bytes.len();
    let place = |at: usize| if length == 0 { 0 } else { at % (length + 1) };
    match damage {
        Damage::Set(at, byte) => {
            let at = place(*at);
            if let Some(old) = bytes.get_mut(at) {
                *old = *byte;
            }
        }
        Damage::Flip(at, bit) => {
            let at = place(*at);
            if let Some(old) = bytes.get_mut(at) {
                *old ^= 1 << bit;
            }
        }
        Damage::Insert(at, new) => {
            let at = place(*at);
            bytes.splice(at..at, new.iter().copied());
        }
        Damage::Word(at, word) => {
            let at = place(*at);
            let word = words[word % words.len()];
            bytes.splice(at..at, word.bytes());
        }
        Damage::Delete(at, many) => {
            let at = place(*at);
            bytes.drain(at..length.min(at + many));
        }
        Damage::Repeat(at, many, times) => {
            let at = place(*at);
            let piece = bytes[at..length.min(at + many)].repeat(*times);
            bytes.splice(at..at, piece);
        }
        Damage::Cut(at) => bytes.truncate(place(*at)),
        Damage::Number(at, number) => {
            let at = place(*at);
            for (index, byte) in number.to_le_bytes().into_iter().enumerate() {
                if let Some(old) = bytes.get_mut(at + index) {
                    *old = byte;
                }
            }
        }
    }
}

/// Tries a target on damaged seeds.
fn fuzz(name: &str, seeds: &[Vec<u8>], words: &[&str], target: impl Fn(&[u8])) {
    assert!(!seeds.is_empty() && !words.is_empty());
    quiet();
    let seconds = std::env::var("GATE4K_FUZZ_SECONDS").ok().map(|text| text.parse().unwrap());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(0));
    let strategy = (any::<prop::sample::Index>(), vec(damage(), 0..8));
    let mut chance = Chance::of(name);
    let mut cases = 0u64;
    loop {
        let config = Config { failure_persistence: None, ..Config::default() };
        cases += u64::from(config.cases);
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &chance.bytes());
        let outcome = TestRunner::new_with_rng(config, rng).run(&strategy, |(seed, damages)| {
            let mut bytes = seed.get(seeds).clone();
            for damage in &damages {
                apply(&mut bytes, damage, words);
            }
            bytes.truncate(1 << 20);
            let begin = spent();
            TRYING.set(true);
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| target(&bytes)));
            TRYING.set(false);
            if let Err(panic) = done {
                let text = panic
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                let shown = bytes.escape_ascii().to_string();
                return Err(TestCaseError::fail(format!("{text:?} for \"{shown}\"")));
            }
            // Some milliseconds at most, of this thread alone, however busy the machine is.
            if spent() - begin > Duration::from_secs(60) {
                let shown = bytes.escape_ascii().to_string();
                return Err(TestCaseError::fail(format!("takes a minute: \"{shown}\"")));
            }
            Ok(())
        });
        match outcome {
            Ok(()) => {}
            Err(TestError::Fail(why, _)) => panic!("{name}: {why}"),
            Err(TestError::Abort(why)) => panic!("{name}: {why}"),
        }
        if Instant::now() >= end {
            break;
        }
    }
    if seconds.is_some() {
        println!("{name}: {cases} cases from {} seeds", seeds.len());
    }
}

/// The processor time of this thread.
fn spent() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

/// Shrinking panics a thousand times; only the last word counts, which `fuzz` says outside of the target.
fn quiet() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !TRYING.get() {
                before(info);
            }
        }));
    });
}

thread_local! {
    /// True while this thread is in a target.
    static TRYING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The files of a folder of the fixtures.
fn files(folder: &str, wanted: impl Fn(&Path) -> bool) -> Vec<Vec<u8>> {
    fn walk(dir: &Path, all: &mut Vec<PathBuf>) {
        for item in std::fs::read_dir(dir).unwrap().flatten() {
            let kind = item.file_type().unwrap();
            if kind.is_dir() {
                walk(&item.path(), all);
            } else if kind.is_file() {
                all.push(item.path());
            }
        }
    }
    let mut all = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder), &mut all);
    all.sort();
    all.iter().filter(|path| wanted(path)).map(|path| std::fs::read(path).unwrap()).collect()
}

/// Asserts that an error may go to a terminal.
fn is_harmless_error(error: &dyn std::error::Error) {
    let text = error.to_string();
    assert!(text.chars().all(|c| !c.is_control() || c == '\n'), "not escaped: {text:?}");
    assert!(text.len() < 30_000, "{} bytes of text", text.len());
}

/// Asserts that the texts of a finding may go to a terminal.
fn is_harmless(finding: &Finding) {
    let texts = finding.details.iter().chain([&finding.summary, &finding.help]);
    for text in texts {
        assert!(!text.chars().any(char::is_control), "not escaped: {text:?}");
        assert!(text.len() < 20_000, "{} bytes of text", text.len());
    }
}

fn configurations() {
    let words = [
        "[{",
        "}]",
        "\"name\":",
        "\"command\":",
        "\"options\":",
        "\"value\":",
        "\"initStrings\":[",
        "\"Hash\"",
        "\"\"\"",
        "\\u0000",
        "\\ud83d\\ude00",
        "\\ud800",
        "1e999",
        "-0",
        "true",
        "null",
        "\"arguments\":",
        "\"workingDirectory\":",
        "\u{feff}",
        "\u{202e}",
        "\x1b[2J",
        "\\u001b[2J",
    ];
    let seeds = files("entries", |path| path.extension().is_some_and(|end| end == "json"));
    let list = Allowlist::built_in();
    fuzz("engines.json", &seeds, &words, |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let _ = engines_json::commands(&text);
        let selected = match engines_json::select(&text, None, "engine") {
            Ok(engine) => Ok(engine),
            Err(SelectError::Problem(problem)) => Err(problem),
            Err(SelectError::NoSuchName(_)) => return,
        };
        let config = EnginesJson { path: "engines.json".into(), text, selected };
        let (report, finding) = payload::judge(Some(&config), "engine", list);
        is_harmless(&finding);
        let (size, finding) =
            size::judge(Bytes(4000), FileParts::default(), &report, Bytes::LIMIT_4K);
        is_harmless(&finding);
        // The fields that count are in the sum, and nothing else is.
        let counts = report.fields.iter().any(|field| field.counting != Counting::NotCounted);
        assert_eq!(size.total.0 > 4000, counts && size.payload.0 > 0, "{report:?}");
    });
}

fn allow_lists() {
    let words = [
        "[[command]]\n",
        "[[helper]]\n",
        "name = ",
        "class = \"listed\"",
        "below = [",
        "reason = ",
        "\"**\"",
        "rule = \"7.5\"\n",
        "version = 1\n",
        "path = \"~/\"",
        "begins = \"??\"",
        "\"\"\"",
        "'''",
        "\\u0000",
        "digits = 99999999999999999999",
        "value = \"word\"",
        "words = []",
        "= {",
        "\u{202e}",
        "\x1b[2J",
    ];
    let whole = include_bytes!("../../allowlist.toml").to_vec();
    // A small one as well: most damage to a large one is the same.
    let small =
        b"version = 1\n[[command]]\nname = \"sh\"\nclass = \"listed\"\nrule = \"7.5\"\n".to_vec();
    fuzz("allowlist.toml", &[small.clone(), small, whole], &words, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        match Allowlist::parse(&text, Path::new("list.toml")) {
            Ok(list) => {
                let left = CacheCandidate {
                    path: "/home/entry/.cache/x",
                    home: "/home/entry",
                    size: Bytes(0),
                    head: None,
                    is_of_its_source: true,
                    maker: Some(FileMaker { name: Some("cc"), argv: Some(&[]), opened: &[] }),
                };
                let _ = list.cache(&left, |_| true);
                let _ = payload::judge(None, "engine", &list);
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with("list.toml:"), "{text:?}");
                assert!(text.chars().all(|c| !c.is_control() || c == '\n'), "{text:?}");
            }
        }
    });
}

fn entries_of_any_format() {
    let words = [
        "#!",
        "#!/bin/sh\n",
        "#! /usr/bin/env -S ",
        "\x7fELF",
        "\r\n",
        "\0",
        "\t",
        "exec",
        "tail -n+5 $0|",
        "tail -c +84 \"$0\"|xz -d",
        "UPX!",
        "\u{fd}7zXZ\0",
        "BZh9",
        "base64",
        "<<",
        "$(",
        "`",
        "\x1b[2J",
    ];
    let seeds = files("entries", |path| path.extension().is_none());
    let list = Allowlist::built_in();
    let nothing = PayloadReport::nothing();
    fuzz("file", &seeds, &words, |bytes| {
        let _ = shebang::parse(bytes);
        let _ = elf::parse(bytes);
        let (format, finding) = format::judge(bytes, Mode(0o755), Files::All, &ThisHost, list);
        is_harmless(&finding);
        assert!(!format.describe().chars().any(char::is_control), "{:?}", format.describe());
        let length = Bytes::of(bytes);
        let parts = FileParts::from(&format);
        let (report, finding) = size::judge(length, parts, &nothing, Bytes::LIMIT_4K);
        is_harmless(&finding);
        assert_eq!(report.total, length);
        // A stub and its payload are the file.
        if let (Some(stub), Some(packed)) = (parts.stub, parts.packed) {
            assert!(stub.0 + packed.0 <= length.0, "{stub} and {packed} of {length}");
        }
    });
}

fn lines_of_engines() {
    let seeds = [
        "id name A 1.0",
        "id author B",
        "uciok",
        "readyok",
        "bestmove e2e4 ponder e7e5",
        "bestmove e7e8q",
        "option name Hash type spin default 16 min 1 max 1048576",
        "option name OwnBook type check default true",
        "option name Style type combo default a var a var b",
        "info depth 12 seldepth 20 score cp  00112 lowerbound nodes 12345 nps 99 pv e2e4 e7e5",
        "info score mate -3 string Book move",
        "info string \u{1b}[2J",
        "bestmove (none)",
        "bestmove 0000",
    ]
    .map(|line| line.as_bytes().to_vec());
    let words = [
        " ",
        "bestmove ",
        "info ",
        "score ",
        "cp ",
        "mate ",
        "pv ",
        "string ",
        "option name ",
        "type ",
        "default ",
        "var ",
        "min ",
        "max ",
        "99999999999999999999",
        "-9223372036854775808",
        "+",
        "\r",
        "\0",
        "e1g1",
        "a7a8n",
        "ponder",
        "\u{202e}",
    ];
    let position = shakmaty::Chess::default();
    fuzz("UCI line", &seeds, &words, |bytes| {
        match uci::parse(bytes) {
            Reply::BestMove(Ok(one)) => {
                // A move that was read can be written, read again, and be judged.
                let text = one.to_string();
                assert_eq!(uci::read_move(&text), Ok(one));
                let _ = gate4k::engine::legality::judge(&position, &text);
            }
            Reply::Info(info) => {
                let _ = info.string.as_deref().is_some_and(uci::plays_from_book);
            }
            _ => {}
        }
        let text = String::from_utf8_lossy(bytes);
        let _ = gate4k::engine::legality::judge(&position, &text);
        let escaped = gate4k::model::text::escape(bytes, 300);
        assert!(!escaped.chars().any(char::is_control), "{escaped:?}");
    });
}

fn event_files() {
    let words = [
        "[[stage]]\n",
        "[[entry]]\n",
        "format = { ",
        "swiss = { rounds = 3 }",
        "knockout = ",
        "double-round-robins = 4294967295",
        "promote = ",
        "tie-breaks = \"4k\"",
        "time-control = \"1e999+0\"",
        "hash = 99999999999999999999",
        "draw = ",
        "= {",
        "\"\"\"",
        "\\u0000",
        "\u{202e}",
        "\x1b[2J",
    ];
    let seeds = files("events", |path| path.extension().is_some_and(|end| end == "toml"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("event.toml");
    fuzz("event file", &seeds, &words, |bytes| {
        std::fs::write(&path, bytes).unwrap();
        if let Err(error) = EventConfig::load(&path) {
            is_harmless_error(&error);
        }
    });
}

fn journals() {
    let words = ["\n", "{\"", "\":", "null", "[]", "4294967296", "-1", "\\u001b[2J", "\0"];
    let seeds = files("journals", |path| path.extension().is_some_and(|end| end == "journal"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("event.journal");
    let read = || journal::read(&path, &mut |_, _| Ok(()));
    fuzz("journal", &seeds, &words, |bytes| {
        std::fs::write(&path, bytes).unwrap();
        let before = read();
        if let Err(error) = &before {
            is_harmless_error(error);
        }
        match journal::repair(&path) {
            Ok(_) => assert!(before.is_err() || read().is_ok_and(|torn| torn.is_none())),
            Err(error) => is_harmless_error(&error),
        }
    });
}

fn games_of_others() {
    let words = [
        "[Event \"",
        "[FEN \"",
        "[Variant \"fischerandom\"]",
        "1-0",
        "1/2-1/2",
        "{ [%clk 0:00:01] }",
        "{d=12, mt=1, tl=2, s=3, n=4, pv=Nf3, wv=0.10, R50=50, }",
        "99999999999999999999",
        "O-O-O",
        "$1",
        "(",
        ")",
        ";",
        "\x1f\u{8b}\x08",
        "\x1b[2J",
    ];
    let packed = files("games", |path| path.extension().is_some_and(|end| end == "xz"));
    let seeds: Vec<Vec<u8>> = packed
        .iter()
        .map(|packed| {
            let mut begin = Vec::new();
            lzma_rust2::XzReader::new(&packed[..], true)
                .take(8000)
                .read_to_end(&mut begin)
                .unwrap();
            begin
        })
        .chain(packed.iter().filter(|packed| packed.len() < 30_000).cloned())
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("games.pgn");
    fuzz("PGN", &seeds, &words, |bytes| {
        std::fs::write(&path, bytes).unwrap();
        let mut source = PgnSource::open(&path).unwrap();
        for game in source.by_ref() {
            if let Err(error) = game {
                is_harmless_error(&error);
            }
        }
        source.warnings().iter().for_each(|warning| is_harmless_error(warning));
    });
}

fn packed_bytes() {
    let words = ["\u{fd}7zXZ\0", "BZh9", "\x1f\u{8b}\x08", "]\0\0", "\0\0\0\0"];
    let text = files("entries", |path| path.extension().is_none()).concat();
    let seeds: Vec<Vec<u8>> =
        text.chunks(3000).take(20).flat_map(packer::all).map(|packed| packed.bytes).collect();
    fuzz("packed bytes", &seeds, &words, |bytes| {
        let _ = packer::unpacked(bytes);
    });
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow event_files,
        slow journals,
        slow games_of_others,
        slow packed_bytes,
        slow configurations,
        slow allow_lists,
        slow entries_of_any_format,
        slow lines_of_engines,
    ]
}
