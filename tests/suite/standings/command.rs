//! `gate4k standings` as a command: its formats, its errors, and what it warns of.

use super::*;

fn run(words: &[&str], files: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(words)
        .args(files)
        .env_remove("COLUMNS")
        .output()
        .unwrap()
}

const GAME: &str = "[Event \"E\"]\n[Round \"1.1\"]\n[White \"a <b>\"]\n[Black \"c|d\"]\n\
                    [Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n";

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.pgn");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn every_format_has_every_engine() {
    let (_folder, path) = file(GAME);
    for (format, names) in [
        ("text", ["a <b>", "c|d"]),
        ("json", ["a <b>", "c|d"]),
        ("crosstable", ["a <b>", "c|d"]),
        ("markdown", ["a &lt;b&gt;", "c\\|d"]),
        ("html", ["a &lt;b&gt;", "c|d"]),
    ] {
        let output = run(&["standings", "--format", format], &[&path]);
        let (code, out, err) = told_apart(&output);
        assert_eq!((code, err.as_str()), (0, ""), "{format}");
        for name in names {
            assert!(out.contains(name), "{format}: {name} is not in {out}");
        }
    }
}

fn errors_name_file_game_and_line() {
    let wrong = GAME.replace("g4", "g5");
    let cases = [
        (GAME.to_owned() + &wrong, "games.pgn:15: game 2: 2. g5 is illegal"),
        (GAME.replace(" 0-1\n", "\n"), "game 1: its moves end without a result"),
        (GAME.replace(" 0-1\n", " 1-0\n"), "its tag says 0-1, but its moves end with 1-0"),
        (GAME.replace("[White \"a <b>\"]\n", ""), "it has no White tag"),
        (GAME.replace("0-1", "0-2"), "is no result"),
        (GAME.replace("[Result", "[FEN \"8/8\"]\n[Result"), "is no FEN"),
        ("event = \"An event\"\n".into(), "games.pgn is neither a PGN nor a journal; name a PGN"),
    ];
    for (text, part) in cases {
        let (_folder, path) = file(&text);
        for command in ["standings", "ratings"] {
            let (code, out, err) = told_apart(&run(&[command], &[&path]));
            assert_eq!((code, out.as_str()), (2, ""), "{part}: {err}");
            assert!(err.contains(part), "{part:?} is not in {err}");
        }
    }
}

fn a_game_without_a_result_that_ends_in_mate_does_not_count_and_is_not_said_to() {
    let (_folder, path) = file(&(GAME.to_owned() + &GAME.replace("0-1", "*")));
    let (code, out, err) = told_apart(&run(&["standings"], &[&path]));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("1 game without a result: not counted"), "{out}");
}

fn a_wrong_ply_count_is_a_warning() {
    let (_folder, path) = file(&GAME.replace("[Result", "[PlyCount \"5\"]\n[Result"));
    for command in ["standings", "ratings"] {
        let (code, out, err) = told_apart(&run(&[command], &[&path]));
        assert!(code == 0 && !out.is_empty(), "{err}");
        let warned = "games.pgn:9: game 1: its PlyCount tag says 5, and it has 4 plies";
        assert!(
            err.contains("warning: ") && !err.contains("error: ") && err.contains(warned),
            "{err}"
        );
    }
}

/// The rest of a game whose tags and moves were lost, such as its result alone.
fn text_behind_the_last_result_is_a_warning() {
    for torso in ["0-1\n", "(1. d4 d5)\n", "{cut} 0-1\n"] {
        let (_folder, path) = file(&(GAME.to_owned() + GAME + torso));
        for command in ["standings", "ratings"] {
            let (code, out, err) = told_apart(&run(&[command], &[&path]));
            assert!(code == 0 && !out.is_empty(), "{err}");
            let warned = "game 2: more text stands behind its result, and is passed over";
            assert!(err.contains("warning: ") && err.contains(warned), "{torso:?}: {err}");
        }
    }
}

fn no_file_and_no_game_are_nothing_to_count() {
    let (_folder, path) = file("");
    for command in ["standings", "ratings"] {
        let (code, _, err) = told_apart(&run(&[command], &[&path]));
        assert_eq!(code, 3, "{err}");
        assert!(err.contains("no games"), "{err}");
        let missing = path.with_file_name("missing.pgn");
        let (code, _, err) = told_apart(&run(&[command], &[&missing]));
        assert_eq!(code, 3, "{err}");
        assert!(err.contains("missing.pgn"), "{err}");
        assert_eq!(told_apart(&run(&[command], &[])).0, 2);
    }
}

fn a_packed_file_is_read_as_the_plain_one() {
    let (_folder, path) = file(GAME);
    let plain = told_apart(&run(&["standings"], &[&path]));
    let packed = path.with_file_name("games.pgn.xz");
    let mut writer =
        XzWriter::new(File::create(&packed).unwrap(), XzOptions::with_preset(6)).unwrap();
    writer.write_all(GAME.as_bytes()).unwrap();
    writer.finish().unwrap();
    assert_eq!(told_apart(&run(&["standings"], &[&packed])), plain);
    // A torn file is an error, not a shorter event.
    let mut torn = std::fs::read(&packed).unwrap();
    torn.truncate(torn.len() - 30);
    std::fs::write(&packed, torn).unwrap();
    let (code, _, err) = told_apart(&run(&["standings"], &[&packed]));
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("games.pgn.xz"), "{err}");
}

fn the_real_pool_through_the_command() {
    let path = data("s26-4k-iii.pgn.xz");
    let (code, out, _) = told_apart(&run(&["standings"], &[&path]));
    assert_eq!(code, 0);
    assert!(out.contains("519.75") && out.contains("34.500427"), "{out}");

    let (_, out, _) = told_apart(&run(&["standings", "--format=crosstable"], &[&path]));
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["Order"][0], "4ku 4.0");
    let row = &document["Table"]["4ku 4.0"];
    assert_eq!(row["Neustadtl"], 519.75);
    assert_eq!(row["Score"], 34.5);
    assert_eq!(row["Results"]["ice4 4"]["H2h"], 4.0);

    let (_, out, _) = told_apart(&run(&["ratings"], &[&path]));
    // Figures of BayesElo itself on this file, with its full covariance.
    let words: Vec<Vec<&str>> = out.lines().map(|l| l.split_whitespace().collect()).collect();
    assert!(
        words
            .iter()
            .any(|line| line
                == &["1", "ice4", "4", "374", "123", "123", "40", "86%", "-75", "23%"]),
        "{out}"
    );
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick every_format_has_every_engine,
        quick errors_name_file_game_and_line,
        quick a_game_without_a_result_that_ends_in_mate_does_not_count_and_is_not_said_to,
        quick a_wrong_ply_count_is_a_warning,
        quick text_behind_the_last_result_is_a_warning,
        quick no_file_and_no_game_are_nothing_to_count,
        quick a_packed_file_is_read_as_the_plain_one,
        quick the_real_pool_through_the_command,
    ]
}
