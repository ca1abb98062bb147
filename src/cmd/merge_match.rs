//! `gate4k merge` of a match: the shards' games as one match.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context;

use super::early_end::EarlyEnd;
use super::game_line;
use super::match_out::results;
use super::match_test::OrderedTest;
use super::note;
use super::reports::cannot;
use crate::cli::MergeArgs;
use crate::event::journal;
use crate::model::exit::Exit;
use crate::model::text::shown;
use crate::model::words::counted;
use crate::runner::score::MatchScore;
use crate::shard::Shard;
use crate::shard::parts::MergeError;
use crate::shard::whole::WholeRun;

/// Counts and prints; what is not whole is [`Exit::Undecided`], unless that was asked for.
pub(super) fn run(args: &MergeArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    if let Some(option) = of_checks(args) {
        return Err(EarlyEnd::usage(format!(
            "{option} is of a check, and these are shards of a match"
        ))
        .into());
    }
    let Some(whole) = WholeRun::read(&args.journals)? else { return Ok(Exit::Nothing) };
    let run = &whole.run;
    let mut test = ordered_test(&whole);
    let mut score = MatchScore::new(whole.plan());
    let mut is_decided = false;
    let gaps = whole.gaps();
    tell_empty(whole.parts.empty(), args)?;
    if !gaps.is_empty() && !args.partial && decided_before_a_gap(&whole)?.is_none() {
        let lines = gap_words(&gaps, "game");
        return Err(EarlyEnd::new(Exit::Undecided, format!(
            "this is not the whole match: {}; play it to the end, or count what there is with --partial",
            lines.join(", ")
        )).into());
    }
    let mut pgn = match &args.pgn {
        None => None,
        Some(path) if journal::is_journal(path) => {
            return Err(EarlyEnd::usage(format!(
                "{} is a journal: --pgn takes the file to write to",
                shown(path)
            ))
            .into());
        }
        Some(path) => {
            let file = OpenOptions::new().write(true).create(true).truncate(true).open(path);
            let file = file.with_context(|| cannot(path))?;
            Some((path, BufWriter::new(file)))
        }
    };
    let mut left_out = 0;
    for game in whole.games() {
        let game = game?;
        let Some(pairing) = whole.plan().pairing(game.game) else { continue };
        if is_decided {
            left_out += 1;
            continue;
        }
        score.add(&pairing, game.result);
        if let Some((path, file)) = &mut pgn {
            let written = file.write_all(game.pgn.as_bytes());
            written.with_context(|| cannot(path))?;
        }
        if !args.quiet {
            let names = [pairing.white, pairing.black].map(|one| &*run.engines[one]);
            game_line::people(game.game, names, &game.summary, out)?;
        }
        is_decided = test.as_mut().is_some_and(|test| test.take(&pairing, game.result));
    }
    if let Some((path, mut file)) = pgn {
        file.flush().with_context(|| cannot(path))?;
    }
    let names: Vec<&str> = run.engines.iter().map(String::as_str).collect();
    results(&score, &names, run.paired(), out)?;
    if let Some(line) = test.as_ref().and_then(OrderedTest::line) {
        writeln!(out, "{line}")?;
    }
    if left_out > 0 {
        note(&format!("the test was decided before {}, not counted", counted(left_out, "game")));
    } else {
        gap_words(&gaps, "game").iter().for_each(|words| note(words));
    }
    // A caller that asks again and again is told by the exit code when it is enough.
    let is_open = test.is_some() && !is_decided && !gaps.is_empty();
    Ok(if is_open { Exit::Undecided } else { Exit::Success })
}

/// The run's test, which behind a gap counts nothing: which shard is fast cannot sway it.
fn ordered_test(whole: &WholeRun) -> Option<OrderedTest> {
    let score = MatchScore::new(whole.plan());
    whole.run.test.map(|test| OrderedTest::new(test, score, whole.run.paired()))
}

/// The state of the test, where the games up to the first that is missing decide it: those behind them count for nothing.
pub(super) fn decided_before_a_gap(whole: &WholeRun) -> Result<Option<String>, MergeError> {
    let Some(mut test) = ordered_test(whole) else { return Ok(None) };
    for (number, game) in whole.games().enumerate() {
        let game = game?;
        let Some(pairing) = whole.plan().pairing(game.game).filter(|_| game.game == number) else {
            break;
        };
        if test.take(&pairing, game.result) {
            return Ok(test.line());
        }
    }
    Ok(None)
}

/// The first option that only the shards of a check have a use for.
fn of_checks(args: &MergeArgs) -> Option<&'static str> {
    let all = [
        ("--format", args.format.is_some()),
        ("--summary", args.summary),
        ("--verbose", args.verbose > 0),
        ("--report", !args.report.is_empty()),
        ("--receipt", args.receipt.is_some()),
    ];
    all.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
}

/// A shard that has not begun is a gap like any other, but for its file, which is named.
pub(super) fn tell_empty(empty: &[PathBuf], args: &MergeArgs) -> Result<(), MergeError> {
    if let (Some(path), false) = (empty.first(), args.partial) {
        return Err(MergeError::Empty(path.clone()));
    }
    for path in empty {
        note(&MergeError::Empty(path.clone()).to_string());
    }
    Ok(())
}

/// The missing shards, in words; `unit` names the parts of a shard.
pub(super) fn gap_words(gaps: &[(Shard, Option<usize>)], unit: &str) -> Vec<String> {
    let words = |(shard, missing): &(Shard, Option<usize>)| match missing {
        None => format!("shard {shard} is missing"),
        Some(1) => format!("of shard {shard} 1 {unit} is missing"),
        Some(number) => format!("of shard {shard} {} are missing", counted(*number, unit)),
    };
    gaps.iter().map(words).collect()
}
