//! The words of `gate4k match`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{ConfineArgs, Hypotheses, SprtScale};
use crate::game::adjudicate::{DrawRule, ResignRule, WinRule};
use crate::game::clock::TimeControl;
use crate::game::pgn::Style;
use crate::model::game::variant::Variant;
use crate::model::units::{Bytes, Ply};
use crate::runner::Affinity;
use crate::runner::schedule::PairingSystem as Meetings;
use crate::shard::ShardRequest;

/// `gate4k match`.
#[derive(Clone, Debug, Args)]
pub(crate) struct MatchArgs {
    /// An entry's file (played in the sandbox), or with settings: "name=A entry=PATH options.Hash=16 tc=10+0.1
    /// margin=50ms memory=2G"; or a trusted engine: "name=A cmd=./a args='…' dir=… env.X=… init=… fen=no" and the same settings
    #[arg(value_name = "ENGINE")]
    pub(crate) engine: Vec<String>,
    /// More engines: cutechess's engines.json, or TOML with [[engine]] tables
    #[arg(long, value_name = "FILE")]
    pub(crate) engines: Option<PathBuf>,
    /// The pairings of the engines
    #[arg(long, value_enum, default_value_t = Meetings::RoundRobin, value_name = "FORMAT")]
    pub(crate) schedule: Meetings,
    /// Of a gauntlet: the first N engines meet each of the others, and not one another
    #[arg(long, value_name = "N", value_parser = super::value::count::<NonZeroUsize>)]
    pub(crate) seeds: Option<NonZeroUsize>,
    /// Encounters of each two engines
    #[arg(long, value_name = "N", default_value = "1", value_parser = super::value::count::<NonZeroUsize>)]
    pub(crate) rounds: NonZeroUsize,
    /// Games of an encounter: each two in a row on one opening, colours reversed
    #[arg(long, value_name = "N", default_value = "2", value_parser = super::value::count::<NonZeroUsize>)]
    pub(crate) games: NonZeroUsize,
    /// A new opening each game, in place of reversed colours on the same
    #[arg(long)]
    pub(crate) no_reverse: bool,
    /// Games at a time
    #[arg(long, value_name = "N", default_value = "1", value_parser = super::value::count::<NonZeroUsize>)]
    pub(crate) concurrency: NonZeroUsize,
    /// One core a game
    #[arg(long, value_enum, default_value_t = Affinity::Auto, value_name = "WHEN")]
    pub(crate) affinity: Affinity,
    /// Start engines anew for every game
    #[arg(long)]
    pub(crate) restart: bool,
    /// A pause after each game
    #[arg(long, value_name = "TIME", value_parser = super::value::duration, default_value = "0s")]
    pub(crate) wait: Duration,
    /// Start again, for its next game, an engine that crashed or hung or did not start, however often: the default, for which other
    /// runners have a word
    #[arg(long, conflicts_with = "strikes")]
    pub(crate) recover: bool,
    /// End after the games under way once an engine has crashed, hung or failed to start in N games
    #[arg(long, value_name = "N", value_parser = super::value::count::<NonZeroUsize>)]
    pub(crate) strikes: Option<NonZeroUsize>,
    /// Time control, where an engine has none of its own: 30:00+3, 40/60+1, movetime=0.5, nodes=1000, depth=8
    #[arg(long, value_name = "TC", default_value = "10+0.1")]
    pub(crate) tc: TimeControl,
    /// How late a move may come without losing, where an engine has no margin= of its own
    #[arg(long, value_name = "TIME", value_parser = super::value::duration, default_value = "0s")]
    pub(crate) margin: Duration,
    /// How long a move without a clock may take before it counts as no answer
    #[arg(long, value_name = "TIME", value_parser = super::value::limit, default_value = "60s")]
    pub(crate) answer_limit: Duration,
    /// From an engine's start to its first readyok (rule 7.4)
    #[arg(long, value_name = "TIME", value_parser = super::value::limit, default_value = "60s")]
    pub(crate) startup_limit: Duration,
    /// How long after quit an engine may take to end
    #[arg(long, value_name = "TIME", value_parser = super::value::limit, default_value = "2s")]
    pub(crate) quit_limit: Duration,
    /// How much memory an engine and all it starts may really use, where it has no memory= of its own:
    /// 512M, 2G; an engine that uses more is killed. Address space is never limited
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Bytes>,
    /// For entries, an allow-list in place of the one built in
    #[arg(long, value_name = "FILE")]
    pub(crate) allowlist: Option<PathBuf>,
    /// Refuse entries what the allow-list only tolerates
    #[arg(long)]
    pub(crate) strict: bool,
    /// The sandbox of entries
    #[command(flatten)]
    pub(crate) confine: ConfineArgs,
    /// Openings: *.pgn, *.epd, *.bin (polyglot) or *.txt (one line of moves a line)
    #[arg(long, value_name = "FILE")]
    pub(crate) openings: Option<PathBuf>,
    /// The kind of chess. Without --openings, Chess960 is played from its start positions by their numbers: --start N begins
    /// with number N - 1 (519 is the classical one), --shuffle draws them. In books a number (518, in double Chess960
    /// 336:518) stands for its position. Only trusted engines that offer UCI_Chess960 play it
    #[arg(long, value_enum, default_value_t = Variant::Standard, value_name = "VARIANT")]
    pub(crate) variant: Variant,
    /// Shuffle the openings by this seed
    #[arg(long, value_name = "SEED", value_parser = super::value::whole::<u64>)]
    pub(crate) shuffle: Option<u64>,
    /// The opening to begin with, from 1
    #[arg(long, value_name = "N", default_value = "1", value_parser = super::value::count::<NonZeroUsize>)]
    pub(crate) start: NonZeroUsize,
    /// Cut openings to so many plies
    #[arg(long, value_name = "N", value_parser = super::value::whole::<u32>)]
    pub(crate) plies: Option<u32>,
    /// Add the games to this file, each as soon as it and all before it have ended. Beside it (games.pgn) a folder
    /// (games.crashes) keeps what is known of engines that crashed or hung
    #[arg(long, value_name = "FILE")]
    pub(crate) pgn: Option<PathBuf>,
    /// The figures beside each move
    #[arg(long, value_enum, default_value_t = Style::Event, value_name = "STYLE")]
    pub(crate) pgn_style: Style,
    /// The event's name in the PGN
    #[arg(long, value_name = "TEXT", default_value = "gate4k match")]
    pub(crate) event: String,
    /// The place in the PGN
    #[arg(long, value_name = "TEXT", default_value = "?")]
    pub(crate) site: String,
    /// Add all that happens, each move among it, to this file as JSON, one event a line
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Add all that engines are sent and say, standard error among it, to this file, a line each, 1 GiB at most; no clock
    /// waits for it
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Keep the games under way in this small file, which is replaced whole as moves are made
    #[arg(long, value_name = "FILE")]
    pub(crate) live: Option<PathBuf>,
    /// Draws by evaluation; 4k events have none
    #[arg(long, value_enum, value_name = "RULE")]
    pub(crate) draw_rule: Option<DrawChoice>,
    /// Wins by evaluation: pawns and evaluations in a row of both engines, such as 10:5
    #[arg(long, value_name = "PAWNS:MOVES", value_parser = win_rule)]
    pub(crate) win_rule: Option<WinRule>,
    /// A loss by the loser's own evaluation, in cutechess's words: movecount=3,score=400; with twosided=true the winner has to agree
    #[arg(long, value_name = "WORDS", value_parser = resign_rule)]
    pub(crate) resign: Option<ResignChoice>,
    /// A draw by level evaluations of both, in cutechess's words: movenumber=40,movecount=8,score=10
    #[arg(long, value_name = "WORDS", value_parser = draw_words, conflicts_with = "draw_rule")]
    pub(crate) draw: Option<DrawRule>,
    /// A draw after so many plies, opening included
    #[arg(long, value_name = "N", value_parser = super::value::whole::<u32>)]
    pub(crate) max_plies: Option<u32>,
    /// Results from the Syzygy tables in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) syzygy: Vec<PathBuf>,
    /// Only of positions of so many pieces at most, kings and pawns counted
    #[arg(long, value_name = "N", requires = "syzygy", value_parser = super::value::count::<NonZeroUsize>)]
    pub(crate) syzygy_pieces: Option<NonZeroUsize>,
    /// Play on where neither side can mate (the letter of rule 2.2)
    #[arg(long)]
    pub(crate) no_material_draws: bool,
    /// Between two engines: stop as soon as it is decided whether the first is ahead by ELO1 rather than ELO0
    #[arg(long, value_name = "ELO0,ELO1", value_parser = super::hypotheses, allow_hyphen_values = true)]
    pub(crate) sprt: Option<Hypotheses>,
    /// The unit of ELO0 and ELO1
    #[arg(long, value_enum, default_value_t = SprtScale::Normalized, requires = "sprt")]
    pub(crate) scale: SprtScale,
    /// Keep each game in this file as soon as it has ended, and go on from there if the match is started again (see `merge`)
    #[arg(long, value_name = "FILE", conflicts_with = "pgn")]
    pub(crate) journal: Option<PathBuf>,
    /// Play only this part of the match, such as 3/16; auto: the part that a scheduler's environment names (auto/N: of N)
    #[arg(long, value_name = "I/N", requires = "journal")]
    pub(crate) shard: Option<ShardRequest>,
    /// End after the games under way once this file is there, such as that of `merge --watch`
    #[arg(long, value_name = "FILE")]
    pub(crate) until: Option<PathBuf>,
    /// Tell how the match stands after each N games, on standard error
    #[arg(long, value_name = "N", value_parser = super::value::count::<NonZeroUsize>)]
    pub(crate) rating_interval: Option<NonZeroUsize>,
    /// No line for each game
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Keep the lines that engines say for the record (`info string pgncomment …`) in a PGN of the style fastchess
    #[arg(skip)]
    pub(crate) keep_comments: bool,
    /// The reader of what is printed
    #[arg(skip)]
    pub(crate) told: OutputReader,
}

/// Whom the output of a match is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OutputReader {
    /// People: a line a game, and a table.
    #[default]
    People,
    /// Programs that read what fastchess prints: a line a game in ASCII, and nothing else.
    Fastchess,
}

/// Losses by evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResignChoice {
    /// By the loser's own.
    OneSided(ResignRule),
    /// By both players'.
    TwoSided(WinRule),
}

/// The draw rules on evaluations that real events had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DrawChoice {
    /// Six pieces besides pawns at most, eight plies within 0.25
    New,
    /// From move 35, ten plies within 0.15 since the last pawn move or capture
    Old,
}

fn win_rule(text: &str) -> Result<WinRule, String> {
    let bad = || format!("{text:?} is not written PAWNS:MOVES, such as 10:5 or 6.5:3");
    let (pawns, moves) = text.split_once(':').ok_or_else(bad)?;
    let pawns: f64 = pawns.parse().map_err(|_| bad())?;
    let moves: u32 = moves.parse().map_err(|_| bad())?;
    if !(0.01..=1000.0).contains(&pawns) || moves == 0 {
        return Err(bad());
    }
    Ok(WinRule { level: (pawns * 100.0).round() as i32, moves })
}

/// Words such as `movecount=3,score=400` by their keys, parted by commas or blanks.
fn words<'a, const N: usize>(
    text: &'a str,
    keys: [&str; N],
) -> Result<[Option<&'a str>; N], String> {
    let mut found = [None; N];
    for word in text.split([',', ' ']).filter(|word| !word.is_empty()) {
        let (key, value) =
            word.split_once('=').ok_or_else(|| format!("{word:?} is no KEY=VALUE"))?;
        let slot = keys.iter().position(|one| *one == key).and_then(|at| found.get_mut(at));
        let slot =
            slot.ok_or_else(|| format!("{key}= is unknown; known are {}", keys.join(", ")))?;
        if slot.replace(value).is_some() {
            return Err(format!("{key}= stands there twice"));
        }
    }
    Ok(found)
}

fn number(key: &str, value: Option<&str>) -> Result<u32, String> {
    // Beyond this no evaluation and no game goes.
    const MOST: u32 = 100_000;
    let value = value.ok_or_else(|| format!("{key}=N is missing"))?;
    let number = value.parse().ok().filter(|number| *number <= MOST);
    number.ok_or_else(|| format!("{key}={value} is no whole number up to {MOST}"))
}

fn positive(key: &str, value: Option<&str>) -> Result<u32, String> {
    let number = number(key, value)?;
    if number == 0 { Err(format!("{key}=0 would hold at once")) } else { Ok(number) }
}

fn resign_rule(text: &str) -> Result<ResignChoice, String> {
    let [moves, level, both] = words(text, ["movecount", "score", "twosided"])?;
    let moves = positive("movecount", moves)?;
    let level = positive("score", level)?.cast_signed();
    match both.unwrap_or("false") {
        "true" => Ok(ResignChoice::TwoSided(WinRule { level, moves })),
        "false" => Ok(ResignChoice::OneSided(ResignRule { level, moves })),
        other => Err(format!("twosided={other} is neither true nor false")),
    }
}

fn draw_words(text: &str) -> Result<DrawRule, String> {
    let [after, moves, level] = words(text, ["movenumber", "movecount", "score"])?;
    Ok(DrawRule::Old {
        level: number("score", level)?.cast_signed(),
        plies: Ply(2 * positive("movecount", moves)?),
        after_moves: after.map_or(Ok(0), |after| number("movenumber", Some(after)))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjudication_in_cutechess_words() {
        let one = ResignChoice::OneSided(ResignRule { level: 400, moves: 3 });
        assert_eq!(resign_rule("movecount=3 score=400"), Ok(one));
        let both = ResignChoice::TwoSided(WinRule { level: 600, moves: 4 });
        assert_eq!(resign_rule("score=600,movecount=4,twosided=true"), Ok(both));
        let old = DrawRule::Old { level: 10, plies: Ply(16), after_moves: 40 };
        assert_eq!(draw_words("movenumber=40 movecount=8 score=10"), Ok(old));
        for (text, word) in [
            ("score=400", "movecount=N is missing"),
            ("movecount=0,score=400", "would hold at once"),
            ("movecount=3,score=-4", "no whole number"),
            ("movecount=3,score=4,score=5", "twice"),
            ("movecount=3,points=4", "points= is unknown; known are movecount, score, twosided"),
            ("movecount", "no KEY=VALUE"),
        ] {
            let error = resign_rule(text).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }
}
