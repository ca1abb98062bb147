//! A sequential test over shards: it ends where one machine would have ended it, and so does the match. Every match has the
//! `--openings` that [`shard`] gives it.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use super::shards::{done, err, err_of, kept, masked, merge, shard};
use super::table::Table;

use crate::trials::Test;

/// A test is taken over the games in the order of the match, so that it ends where one machine would have ended.
fn a_test_over_shards_ends_where_one_machine_ends() {
    let table = Table::set("tested-shards");
    let sprt = ["--rounds", "100", "--sprt", "0,300"];
    let play = |journal: &str, more: &[&str]| {
        let mut command = shard(&table, journal, &[&sprt[..], more].concat());
        // One that always loses: the test is decided long before the last game.
        let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let mut losing = Command::new(command.get_program());
        for word in words {
            let word = word.to_str().unwrap();
            losing.arg(word.replace("seed=2", "crash@6"));
        }
        losing.stdin(Stdio::null()).stderr(Stdio::null());
        if journal.is_empty() {
            losing.arg("--pgn").arg(table.path("one.pgn"));
        }
        command = losing;
        done(command)
    };
    let one = play("", &[]);
    assert!(one.contains("300 accepted"), "{one}");
    let journals: Vec<PathBuf> = (1..=2)
        .map(|index| {
            let name = format!("{index}.journal");
            let told = play(&name, &["--shard", &format!("{index}/2")]);
            assert!(!told.contains("SPRT"), "{told}");
            table.path(&name)
        })
        .collect();
    let merged = merge(&table, &journals, &[]);
    assert_eq!(merged.status.code(), Some(0), "{}", err(&merged));
    // One machine also finishes the game that it has begun meanwhile.
    let told = err_of(&merged.stdout);
    let games = told.split("\n\n").next().unwrap();
    assert!(one.starts_with(games) && games.lines().count() < 20, "{told}");
    assert_eq!(told.lines().last(), one.lines().last());
    assert!(err(&merged).contains("not counted"), "{}", err(&merged));
    assert!(masked(&table, "one.pgn").starts_with(&masked(&table, "merged.pgn")));
    // Behind a gap nothing is decided.
    let merged = merge(&table, &journals[1..], &["--partial"]);
    assert!(err_of(&merged.stdout).contains("not decided"), "{}", err_of(&merged.stdout));
    assert_eq!(merged.status.code(), Some(4), "{}", err(&merged));
}

/// Long games and short ones beside each other: the test is that of the games in their order, as the merge of the journal has it,
/// and so it is when the match is given again and counts what it finds in the journal.
fn a_test_of_games_beside_each_other_is_that_of_their_order() {
    let table = Table::set("ordered-test");
    let play = || {
        let words = ["--rounds", "2000", "--sprt", "0,120", "--concurrency", "4", "-q"];
        let command = shard(&table, "all.journal", &words);
        let mut long = Command::new(command.get_program());
        // Up to 300 plies, so that some games last ten times as long as others.
        long.args(
            command.get_args().map(|word| if word == "30" { OsStr::new("300") } else { word }),
        );
        long.stdin(Stdio::null());
        done(long)
    };
    let test = |told: &str| told.lines().last().unwrap().to_owned();
    let first = play();
    assert!(test(&first).contains(" accepted"), "{first}");
    let games = kept(&table);
    let merged = merge(&table, &[table.path("all.journal")], &["-q"]);
    assert_eq!(merged.status.code(), Some(0), "{}", err(&merged));
    assert_eq!(test(&first), test(&err_of(&merged.stdout)));
    assert_eq!(test(&first), test(&play()));
    assert_eq!(kept(&table), games);
    table.nothing_is_left();
}

/// The merge that watches ends when the test is decided, and ends the shards; it tells what one machine tells.
fn shards_end_when_the_merge_that_watches_decides() {
    let table = Table::set("watched-shards");
    let until = table.path("decided");
    let play = |more: &[&str]| {
        let words = [&["--rounds", "20000", "--sprt", "0,300"], more].concat();
        let command = shard(&table, "", &words);
        let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let mut losing = Command::new(command.get_program());
        for word in words {
            losing.arg(word.to_str().unwrap().replace("seed=2", "illegal@6"));
        }
        losing.arg("-q").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        losing
    };
    let journals = [1, 2].map(|index| table.path(&format!("{index}.journal")));
    let mut watching = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    watching.args(["merge", "-q", "--watch"]).arg(&until).args(&journals);
    let watching = watching.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let shards = [1, 2].map(|index| {
        let mut shard = play(&["--shard", &format!("{index}/2")]);
        shard.arg("--journal").arg(&journals[index - 1]).arg("--until").arg(&until);
        shard.spawn().unwrap()
    });
    for shard in shards {
        let ended = shard.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{}", err(&ended));
    }
    let merged = watching.wait_with_output().unwrap();
    assert_eq!(merged.status.code(), Some(0), "{}", err(&merged));
    assert!(err(&merged).contains("the test was decided before"), "{}", err(&merged));
    // One machine finishes what it has begun when it is decided, which its merge leaves out.
    let whole = table.path("one.journal");
    play(&["--journal", whole.to_str().unwrap()]).output().unwrap();
    let one = merge(&table, &[whole], &["-q"]);
    let test = |output: &Output| err_of(&output.stdout).lines().last().unwrap().to_owned();
    assert!(test(&merged).contains("300 accepted"), "{}", test(&merged));
    assert_eq!(test(&merged), test(&one));
    assert!(err(&merged).contains("waiting: there is no"), "{}", err(&merged));
    let told = fs::read_to_string(&until).unwrap();
    assert_eq!(told.lines().next(), Some(&*test(&merged)));
    // Started again it has nothing to do, which is no failure.
    let mut again = play(&["--shard", "1/2", "--until", until.to_str().unwrap()]);
    let again = again.arg("--journal").arg(&journals[0]).output().unwrap();
    assert_eq!(again.status.code(), Some(0), "{}", err(&again));
    assert!(err(&again).contains("no game is begun"), "{}", err(&again));
    // So has one that begins only now; but another match is not ended by it, and not begun either.
    let late = |more: &[&str]| {
        let mut late = play(&[&["--until", until.to_str().unwrap()], more].concat());
        late.output().unwrap()
    };
    let journal = table.path("late");
    let journal = ["--journal", journal.to_str().unwrap()];
    let same = late(&[&journal[..], &["--shard", "2/2"]].concat());
    assert_eq!(same.status.code(), Some(0), "{}", err(&same));
    let other = table.path("other");
    let other = late(&["--margin", "1s", "--journal", other.to_str().unwrap()]);
    assert_eq!(other.status.code(), Some(2), "{}", err(&other));
    assert!(err(&other).replace('\n', " ").contains("is of another match"), "{}", err(&other));
    // One that nobody has marked may be meant for a match that is under way, but hardly for one that has not begun.
    fs::write(&until, "").unwrap();
    let meant = late(&["--shard", "1/2", "--journal", journals[0].to_str().unwrap()]);
    assert_eq!(meant.status.code(), Some(0), "{}", err(&meant));
    let left = late(&["--journal", table.path("new").to_str().unwrap()]);
    assert_eq!(left.status.code(), Some(2), "{}", err(&left));
    assert!(err(&left).contains("before the match has begun"), "{}", err(&left));
    table.nothing_is_left();
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_test_over_shards_ends_where_one_machine_ends,
        slow a_test_of_games_beside_each_other_is_that_of_their_order,
        slow shards_end_when_the_merge_that_watches_decides,
    ]
}
