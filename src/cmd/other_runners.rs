//! Options of cutechess and fastchess that somebody gives to `gate4k match` by habit, each with the words of gate4k for it.

use std::ffi::OsString;

/// The options without their dash, each with its advice.
const OPTIONS: [(&str, &str); 35] = [
    (
        "each",
        "settings that all engines share are options of the match, such as --tc 10+0.1 and --memory 1G",
    ),
    ("engine", "an engine is a word of its own: \"name=A cmd=./a tc=10+0.1 options.Hash=16\""),
    ("openings", "--openings FILE, with --shuffle SEED, --start N and --plies N"),
    (
        "repeat",
        "two games on an opening with colours reversed are played by themselves, unless --no-reverse is given",
    ),
    ("noswap", "--no-reverse plays a new opening each game"),
    ("concurrency", "--concurrency N"),
    ("rounds", "--rounds N"),
    ("games", "--games N"),
    ("tournament", "--schedule round-robin or gauntlet"),
    ("seeds", "--schedule gauntlet --seeds N"),
    ("variant", "--variant chess960 or double-chess960"),
    ("sprt", "--sprt ELO0,ELO1"),
    ("resign", "--resign movecount=3,score=400"),
    ("draw", "--draw movenumber=40,movecount=8,score=10"),
    ("maxmoves", "--max-plies N, twice as many"),
    ("tb", "--syzygy DIR"),
    ("tbpieces", "--syzygy-pieces N"),
    ("pgnout", "--pgn FILE, with --pgn-style fastchess"),
    ("srand", "--shuffle SEED"),
    (
        "recover",
        "an engine that was lost is started again by itself, and the match goes on; --strikes N ends it after N losses",
    ),
    ("strikes", "--strikes N"),
    ("wait", "--wait TIME, such as 500ms"),
    (
        "log",
        "--log FILE has all that engines are sent and say; --events FILE has all that happens, as JSON",
    ),
    (
        "ratinginterval",
        "--rating-interval N; on a terminal a table stands below the games all the time",
    ),
    ("event", "--event TEXT"),
    ("site", "--site TEXT"),
    (
        "config",
        "--engines FILE for the engines, and --journal FILE, with which a match that was stopped goes on from where it ended",
    ),
    ("autosaveinterval", "--journal FILE keeps each game as soon as it has ended"),
    (
        "report",
        "pairs of games are always counted; the table has them, and --rating-interval N tells them meanwhile",
    ),
    ("scoreinterval", "--rating-interval N"),
    ("outcomeinterval", "--rating-interval N"),
    ("debug", "--log FILE has all that engines are sent and say"),
    ("use-affinity", "--affinity on; cores are chosen from those that this process may use"),
    ("show-latency", "--events FILE has the moments at which each move was asked for and heard"),
    ("epdout", "last positions have no file of their own; --pgn FILE has the games"),
];

/// Explains the first such word of a command line; none where all are our own.
pub(super) fn explained(words: &[OsString]) -> Option<String> {
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    if words.next()? != "match" {
        return None;
    }
    words.find_map(|word| {
        let (_, own) = OPTIONS.iter().find(|(name, _)| word.strip_prefix('-') == Some(name))?;
        Some(format!(
            "{word} is a word of cutechess and fastchess; here: {own}. `gate4k fastchess` takes such words as they are"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    fn told(text: &str) -> Option<String> {
        let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
        explained(&words)
    }

    #[test]
    fn a_single_dash_is_explained_and_our_own_words_are_not() {
        assert!(told("gate4k match a -each tc=1").unwrap().contains("--tc 10+0.1"));
        assert!(told("gate4k match a b -use-affinity 0-3").unwrap().contains("--affinity on"));
        assert!(told("gate4k match a b -q --draw x --openings y -5").is_none());
        assert!(told("gate4k fastchess -each tc=1").is_none());
        assert!(told("gate4k").is_none());
    }

    #[test]
    fn each_explanation_names_options_that_there_are() {
        let mut cli = Cli::command();
        cli.build();
        let own: Vec<String> = cli
            .find_subcommand("match")
            .into_iter()
            .chain(cli.find_subcommand("merge"))
            .flat_map(clap::Command::get_arguments)
            .filter_map(|option| Some(format!("--{}", option.get_long()?)))
            .collect();
        for (name, text) in OPTIONS {
            for word in text.split([' ', ',']).filter(|word| word.starts_with("--")) {
                assert!(own.iter().any(|one| one == word), "{name}: {word}");
            }
        }
    }
}
