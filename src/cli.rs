//! The command line: types only, no behaviour.

mod event;
mod merge;
mod play;
mod report;
mod value;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::event::tiebreak::{CHAINS, TiebreakChain};
use crate::judge::settings::{GamesWanted, memory_limit_of, size_limit_of};
use crate::model::layer_status::LayerName;
use crate::model::rule::{RULES, RuleId, UnknownRule};
use crate::model::units::Bytes;
use crate::sandbox::devices::DeviceClass;
use crate::shard::ShardRequest;
pub(crate) use event::{
    EventCommand, EventRunArgs, EventVerifyArgs, ExportWhat, NewArgs, Publish, ReplayArgs,
    SealArgs, ServeArgs,
};
pub(crate) use merge::MergeArgs;
pub(crate) use play::{DrawChoice, MatchArgs, OutputReader, ResignChoice};
pub(crate) use report::{ReportPath, ReportTo};

/// Decides whether a chess engine may enter the TCEC 4k event
#[derive(Debug, Parser)]
#[command(
    name = "gate4k",
    version,
    arg_required_else_help = true,
    after_help = "To begin: an author types `gate4k pack SOURCE -o ENTRY` and `gate4k check ENTRY`, an organiser \
                  `gate4k check FOLDER` and `gate4k event new --entries FOLDER event.toml`. `gate4k doctor` tells \
                  what this machine lacks, `gate4k explain` the rules.\n\n\
                  Exit codes: 0 accepted or done, 1 rejected, 2 usage or configuration, \
                  3 nothing to check, 4 undecided, 70 a bug in gate4k."
)]
pub(crate) struct Cli {
    /// When to use colours
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, value_name = "WHEN")]
    pub(crate) color: Color,
    /// The command
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Judge entries: size, start, sandbox, UCI, moves, leftovers
    Check(Box<CheckArgs>),
    /// Build the smallest entry that works from a source, and prove it by checking it
    Pack(PackArgs),
    /// Tell whether a receipt of `check` still holds for an entry
    Verify(VerifyArgs),
    /// Count an entry's bytes, without running it
    Size(SizeArgs),
    /// Play games between engines: clocks, openings, pairs, PGN
    Match(Box<MatchArgs>),
    /// Play a match that is asked for in the words of fastchess, as OpenBench's client does
    Fastchess(FastchessArgs),
    /// Put the shards of a match or of a check together, as if one machine had done it
    Merge(MergeArgs),
    /// Start an entry in the sandbox, as a UCI engine on standard input and output
    ///
    /// An entry that neither ends nor says any more after the end of its input is killed: 5 s after its last word where every `uci`, `isready` and
    /// `go` is answered, 60 s where a `uci` or `isready` is not. As long as a `go`, or a line that UCI does not know, may still be answered, it is
    /// left to itself.
    Run(RunArgs),
    /// Send the commands of a finding to its entry once more, and print all that it says
    ReplayQuestion(ReplayQuestionArgs),
    /// Tell what this host can enforce and which allowed commands it has, and how to mend each gap
    Doctor(DoctorArgs),
    /// Run a whole event: pool, tie-breaks, MiniFinal; it goes on after interruptions
    #[command(subcommand)]
    Event(EventCommand),
    /// Tell a rule: its text, why it exists, what passes, what fails
    Explain(ExplainArgs),
    /// Count games: places, tie-breaks, crosstable
    Standings(StandingsArgs),
    /// Rate engines by their games, in the manner of BayesElo
    Ratings(RatingsArgs),
    /// Print the completions of gate4k's commands for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands
    Man(ManArgs),
}

/// `gate4k fastchess`.
#[derive(Clone, Debug, Args)]
#[command(disable_version_flag = true)]
pub(crate) struct FastchessArgs {
    /// The words of fastchess: -engine cmd=… name=… tc=… -openings … -pgnout …; --version is answered as fastchess does
    #[arg(
        value_name = "WORD",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true
    )]
    pub(crate) words: Vec<String>,
}

/// The names of entries, and how their configuration is read.
#[derive(Clone, Debug, Args)]
pub(crate) struct EntryArgs {
    /// An engine file, a directory that holds it and, if needed, its engines.json, or a directory of such
    /// directories
    #[arg(value_name = "ENTRY")]
    pub(crate) entries: Vec<PathBuf>,
    /// The engines.json, where it does not lie beside the entry
    #[arg(long, value_name = "FILE")]
    pub(crate) engines_json: Option<PathBuf>,
    /// The engine to take from a configuration of several
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// An allow-list in place of the one built in
    #[arg(long, value_name = "FILE")]
    pub(crate) allowlist: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// The choices of the sandbox.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConfineArgs {
    /// Run nothing where this layer of the sandbox does not hold; can be given several times
    #[arg(long, value_name = "LAYER", value_parser = layer_parser())]
    pub(crate) require: Vec<LayerName>,
    /// Let mappings of 4 GiB or more reserve no memory, for entries made for a bigger machine
    #[arg(long)]
    pub(crate) lazy_memory: bool,
    /// Open these accelerators of the host to the entry (rule 7.6), with commas between several
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = device_parser())]
    pub(crate) devices: Vec<DeviceClass>,
}

/// `gate4k run`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunArgs {
    /// The engine's file, or a directory that holds it and, if needed, its engines.json
    #[arg(value_name = "ENTRY")]
    pub(crate) entry: PathBuf,
    /// The configuration, where it does not lie beside the entry
    #[arg(long, value_name = "FILE")]
    pub(crate) engines_json: Option<PathBuf>,
    /// The engine to take from a configuration of several
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// An allow-list in place of the one built in
    #[arg(long, value_name = "FILE")]
    pub(crate) allowlist: Option<PathBuf>,
    /// Refuse what the allow-list only tolerates
    #[arg(long)]
    pub(crate) strict: bool,
    /// The sandbox
    #[command(flatten)]
    pub(crate) confine: ConfineArgs,
}

/// `gate4k replay-question`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReplayQuestionArgs {
    /// A report of `gate4k check` in JSON (`--format json`, `--report json=FILE`)
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// The rule of the finding
    #[arg(value_name = "RULE", value_parser = rule_parser())]
    pub(crate) rule: RuleId,
    /// The entry, where it does not lie where the report says, or where several have such a finding
    #[arg(value_name = "ENTRY")]
    pub(crate) entry: Option<PathBuf>,
    /// An allow-list in place of the one built in
    #[arg(long, value_name = "FILE")]
    pub(crate) allowlist: Option<PathBuf>,
    /// Refuse what the allow-list only tolerates
    #[arg(long)]
    pub(crate) strict: bool,
    /// The sandbox
    #[command(flatten)]
    pub(crate) confine: ConfineArgs,
}

/// `gate4k check`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CheckArgs {
    /// Entries and their configuration
    #[command(flatten)]
    pub(crate) entry: EntryArgs,
    /// The sandbox
    #[command(flatten)]
    pub(crate) confine: ConfineArgs,
    /// Refuse what the allow-list only tolerates
    #[arg(long)]
    pub(crate) strict: bool,
    /// Do only what can reject; leave out what can only advise, and the games
    #[arg(long)]
    pub(crate) quick: bool,
    /// Take ELF executables only, as in events of that name
    #[arg(long)]
    pub(crate) elf_only: bool,
    /// The most bytes of an entry and what engines.json adds to it (64K, 5M); 4096 if nothing says otherwise
    #[arg(long, value_name = "SIZE", value_parser = size_limit_of)]
    pub(crate) size_limit: Option<Bytes>,
    /// The most memory that an entry may use at once, in events with such a rule (5M); what the host can spare if nothing says
    /// otherwise
    #[arg(long, value_name = "SIZE", value_parser = memory_limit_of)]
    pub(crate) memory_limit: Option<Bytes>,
    /// From exec to the first readyok (rule 7.4); 60s if nothing says otherwise
    #[arg(long, value_name = "TIME", value_parser = value::limit)]
    pub(crate) startup_limit: Option<Duration>,
    /// How long a move may take beyond its clock before it counts as no answer; 20s if nothing says otherwise
    #[arg(long, value_name = "TIME", value_parser = value::duration)]
    pub(crate) answer_limit: Option<Duration>,
    /// How long after quit the engine itself may take to end; 5s if nothing says otherwise
    #[arg(long, value_name = "TIME", value_parser = value::limit)]
    pub(crate) quit_limit: Option<Duration>,
    /// How long after quit other processes may still clean up; 10s if nothing says otherwise
    #[arg(long, value_name = "TIME", value_parser = value::duration)]
    pub(crate) grace: Option<Duration>,
    /// Of several entries so many are judged at a time (three for each processor if not given), of a single one so many
    /// probes run at a time (one for each processor)
    #[arg(long, value_name = "N", value_parser = value::count::<NonZeroUsize>)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Pairs of fast games that end the check, half of them against itself, half against a reference
    /// engine, or off; 2 if not given, and off with --quick
    #[arg(long = "match", value_name = "PAIRS|off")]
    pub(crate) games: Option<GamesWanted>,
    /// How long these games may take together beside the starts of the engines, 30s if nothing says
    /// otherwise; what is unfinished then is cut, and is no failure
    #[arg(long, value_name = "TIME", value_parser = value::duration)]
    pub(crate) match_limit: Option<Duration>,
    /// Of the entries only the table at the end
    #[arg(long, conflicts_with = "verbose")]
    pub(crate) summary: bool,
    /// No progress line
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Also show evidence of what passed, every run, and the transcript of the main one; -vv also tells the
    /// steps of gate4k itself on standard error, -vvv more of them
    #[arg(long, short, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    #[arg(long, value_name = "FORMAT=PATH", value_parser = report::report_to, help = report::help())]
    pub(crate) report: Vec<ReportTo>,
    /// Judge only the entries that differ from REV, the branch that this one goes to (git). The configuration
    /// and the allow-list are taken as they are there, so that nobody lets himself in
    #[arg(long, value_name = "REV")]
    pub(crate) changed_since: Option<String>,
    /// Judge every entry anew; without this, of several entries those that have not changed are not
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// The settings; if not given, the nearest gate4k.toml above, within the repository
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print the path of each entry that would be judged, a line each, and judge nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Print the settings in force, as a gate4k.toml, and judge nothing
    #[arg(long)]
    pub(crate) dump_config: bool,
    /// Print the allow-list that is built in, as a file for --allowlist, and judge nothing
    #[arg(long)]
    pub(crate) dump_allowlist: bool,
    /// Judge again whenever an entry is saved, until it is interrupted
    #[arg(long, conflicts_with_all = ["receipt", "changed_since", "journal", "list"])]
    pub(crate) watch: bool,
    /// Write a receipt: sums of everything that the verdicts rest on (see `verify`)
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
    /// Sign the receipt with this secret key of minisign, into FILE.minisig; its password, if
    /// it has one, is read from the environment: GATE4K_KEY_PASSWORD
    #[arg(long, value_name = "KEY", requires = "receipt")]
    pub(crate) sign_key: Option<PathBuf>,
    /// Keep each result in this file as soon as it is there, and go on from there if the check is started again (see `merge`)
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Judge only this part of the entries, such as 3/16; auto: the part that a scheduler's environment names (auto/N: of N)
    #[arg(long, value_name = "I/N", requires = "journal")]
    pub(crate) shard: Option<ShardRequest>,
}

/// `gate4k pack`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PackArgs {
    /// The source (.c .cc .cpp .rs .py .pl), or an executable file
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,
    /// Where the entry goes; written only when it is accepted
    #[arg(long, short, value_name = "ENTRY")]
    pub(crate) output: PathBuf,
    /// Replace a file at ENTRY that `gate4k pack` did not write (never the source)
    #[arg(long)]
    pub(crate) force: bool,
    /// Pack again whenever the source is saved, until it is interrupted
    #[arg(long)]
    pub(crate) watch: bool,
    /// The program that compiles or reads the source, in place of cc, c++, rustc, python3 or perl
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) with: Option<String>,
    /// Its flags, in place of -O2 (C, C++) or -O (Rust)
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) flags: Option<String>,
    /// Prove it without what can only advise
    #[arg(long)]
    pub(crate) quick: bool,
    /// Refuse what the allow-list only tolerates
    #[arg(long)]
    pub(crate) strict: bool,
    /// No progress line
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// `gate4k verify`.
#[derive(Clone, Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The receipt, or several
    #[arg(value_name = "RECEIPT", required = true)]
    pub(crate) receipts: Vec<PathBuf>,
    /// The engine's file, a directory that holds it and, if needed, its engines.json, or a directory of such directories
    #[arg(value_name = "ENTRY", required = true)]
    pub(crate) entry: PathBuf,
    /// Ask for a signature by this public key of minisign: its file, or the key itself
    #[arg(long, value_name = "KEY")]
    pub(crate) public_key: Option<String>,
    /// The engines.json, where it does not lie beside the entry
    #[arg(long, value_name = "FILE")]
    pub(crate) engines_json: Option<PathBuf>,
    /// The engine to take from an engines.json of several
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// An allow-list in place of the one built in
    #[arg(long, value_name = "FILE")]
    pub(crate) allowlist: Option<PathBuf>,
    /// The most bytes that the event takes (64K, 5M); by gate4k.toml, or 4096, if not given
    #[arg(long, value_name = "SIZE", value_parser = size_limit_of)]
    pub(crate) size_limit: Option<Bytes>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// `gate4k size`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SizeArgs {
    /// Entries and their configuration
    #[command(flatten)]
    pub(crate) entry: EntryArgs,
    /// Also tell bytes that could be saved, each found by doing it to a copy of the entry
    #[arg(long)]
    pub(crate) hints: bool,
    /// Do what hint N says to a copy of the entry, and write it to --output if it passes the check as the entry does
    #[arg(long, value_name = "N", value_parser = value::count::<NonZeroUsize>, requires_all = ["hints", "output"])]
    pub(crate) apply: Option<NonZeroUsize>,
    /// Where the copy goes; never over the entry itself
    #[arg(long, short, value_name = "FILE", requires = "apply")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file there that gate4k did not write
    #[arg(long, requires = "apply")]
    pub(crate) force: bool,
    /// No progress line, which only --apply has
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Measure again whenever an entry is saved, with the last sizes, until it is interrupted
    #[arg(long, conflicts_with = "apply")]
    pub(crate) watch: bool,
}

/// `gate4k doctor`.
#[derive(Clone, Debug, Args)]
pub(crate) struct DoctorArgs {
    /// An allow-list in place of the one built in
    #[arg(long, value_name = "FILE")]
    pub(crate) allowlist: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// `gate4k explain`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The rule's id; all rules are listed if it is not given
    #[arg(value_name = "RULE", value_parser = rule_parser())]
    pub(crate) rule: Option<RuleId>,
    /// How to print the text
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// `gate4k completions`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// `gate4k man`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

/// `gate4k standings`.
#[derive(Clone, Debug, Args)]
pub(crate) struct StandingsArgs {
    /// PGN files, plain or packed with xz, or journals; the games of all are counted together
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The stage of a journal; the last one that has begun if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) stage: Option<String>,
    /// Whose tie-breaks decide between engines on the same points (the event's own where a journal is counted alone, 4k
    /// elsewhere)
    #[arg(long, value_name = "EVENT", value_parser = chain_parser())]
    pub(crate) tiebreaks: Option<&'static TiebreakChain>,
    /// Disqualify an engine that crashed N times and annul all its games (season 17; off in 4k events; the event's own
    /// where a journal is counted alone)
    #[arg(long, value_name = "N", value_parser = value::count::<NonZeroU32>)]
    pub(crate) crash_limit: Option<NonZeroU32>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = StandingsFormat::Text)]
    pub(crate) format: StandingsFormat,
}

/// `gate4k ratings`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RatingsArgs {
    /// PGN files, plain or packed with xz, or journals; the games of all are counted together
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Take all versions of an engine as one (rule 5.4): a last word with a digit is no part of its name
    #[arg(long)]
    pub(crate) merge_versions: bool,
    /// The mean of all ratings, in Elo
    #[arg(long, value_name = "ELO", default_value_t = 0.0, allow_negative_numbers = true, value_parser = value::elo)]
    pub(crate) offset: f64,
    /// Between two engines: test whether the first of the list is ahead by ELO1 rather than by ELO0
    #[arg(long, value_name = "ELO0,ELO1", value_parser = hypotheses, allow_hyphen_values = true)]
    pub(crate) sprt: Option<Hypotheses>,
    /// The unit of ELO0 and ELO1
    #[arg(long, value_enum, default_value_t = SprtScale::Normalized, requires = "sprt")]
    pub(crate) scale: SprtScale,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// The two hypotheses of a test, in Elo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hypotheses {
    /// The lower one.
    pub(crate) elo0: f64,
    /// The upper one.
    pub(crate) elo1: f64,
}

fn hypotheses(text: &str) -> Result<Hypotheses, String> {
    let number = |part: &str| part.trim().parse().ok().filter(|elo: &f64| elo.abs() <= 1000.0);
    let both = text.split_once(',').and_then(|(low, high)| number(low).zip(number(high)));
    match both {
        Some((elo0, elo1)) if elo0 < elo1 => Ok(Hypotheses { elo0, elo1 }),
        _ => Err("two numbers within ±1000 are needed, the lower first, such as 0,5".to_owned()),
    }
}

/// The unit of the hypotheses of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SprtScale {
    /// Normalized Elo
    Normalized,
    /// Elo of the mean score
    Logistic,
}

/// The form in which standings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StandingsFormat {
    /// For people
    Text,
    /// For people who hear it: sentences in place of tables
    Plain,
    /// For programs: one versioned document
    Json,
    /// For programs: the form of the event's own runner
    Crosstable,
    /// For pages in Markdown
    Markdown,
    /// One page that needs nothing else
    Html,
}

/// Chains by name, so that a slip of the pen is answered with what there is.
fn chain_parser() -> impl TypedValueParser<Value = &'static TiebreakChain> {
    PossibleValuesParser::new(CHAINS.iter().map(|chain| chain.name))
        .try_map(|name| TiebreakChain::named(&name).ok_or("no such tie-breaks"))
}

/// Layers by the words of reports.
fn layer_parser() -> impl TypedValueParser<Value = LayerName> {
    PossibleValuesParser::new(LayerName::ALL.map(LayerName::word))
        .try_map(|word| LayerName::named(&word).ok_or("no such layer"))
}

/// Kinds of accelerators by name.
fn device_parser() -> impl TypedValueParser<Value = DeviceClass> {
    PossibleValuesParser::new(DeviceClass::ALL.map(DeviceClass::word))
        .try_map(|word| DeviceClass::named(&word).ok_or("no such kind"))
}

/// Rule ids as possible values, so that a slip of the pen is answered with what was probably meant.
fn rule_parser() -> impl TypedValueParser<Value = RuleId> {
    PossibleValuesParser::new(RULES.iter().map(|rule| rule.name))
        .try_map(|name| -> Result<RuleId, UnknownRule> { name.parse() })
}

/// The form in which a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people
    Human,
    /// For people who hear it: words in place of bars, arrows and columns
    Plain,
    /// For programs: one versioned document
    Json,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_format_has_one_for_ears_and_one_for_programs() {
        fn look(command: &clap::Command) -> usize {
            let formats = command.get_arguments().filter(|argument| argument.get_id() == "format");
            let own = formats.inspect(|format| {
                let values = format.get_possible_values();
                for name in ["plain", "json"] {
                    let known = values.iter().any(|value| value.get_name() == name);
                    assert!(known, "{} knows no {name}", command.get_name());
                }
            });
            own.count() + command.get_subcommands().map(look).sum::<usize>()
        }
        assert!(look(&Cli::command()) > 8);
    }

    #[test]
    fn hypotheses_are_two_numbers_in_order() {
        assert!(matches!(hypotheses("-1.5, 3"), Ok(Hypotheses { elo0: -1.5, elo1: 3.0 })));
        for wrong in ["", "1", "3,1", "0,0", "a,b", "0,nan", "0,inf", "0,1,2"] {
            assert!(hypotheses(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_tie_breaks_are_those_that_are_asked_for_if_any_are() {
        let chain = |words: &[&str]| {
            let words = ["gate4k", "standings", "x.pgn"].iter().chain(words);
            match Cli::try_parse_from(words).unwrap().command {
                CliCommand::Standings(args) => args.tiebreaks.map(|chain| chain.name),
                _ => panic!("not standings"),
            }
        };
        assert_eq!(chain(&[]), None);
        assert_eq!(chain(&["--tiebreaks", "ntcec"]), Some("ntcec"));
    }

    #[test]
    fn a_mistyped_rule_is_answered_with_the_nearest() {
        let error = Cli::try_parse_from(["gate4k", "explain", "uci-isredy"]).unwrap_err();
        assert!(error.to_string().contains("'uci-isready'"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
