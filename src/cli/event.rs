//! The words of `gate4k event`.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};

use super::{OutputFormat, value};
use crate::event::config::EventTemplate;

/// `gate4k event`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum EventCommand {
    /// Write a commented event.toml for the entries of a directory
    New(NewArgs),
    /// Tell what an event file would play: rounds, games, hours, openings
    Plan(EventFile),
    /// Check the entries (the gate), play, and go on after an interruption
    Run(EventRunArgs),
    /// The same as run
    Resume(EventRunArgs),
    /// Ask a runner to stop after the games under way
    Pause(EventFile),
    /// Tell how far an event is
    Status(StatusArgs),
    /// Replay the journal and check every move, clock, result and promotion
    Verify(EventVerifyArgs),
    /// Sign how far the journal goes with the organiser's key, for those who did not write it
    Seal(SealArgs),
    /// Cut off a last record that a crash of the host has left damaged, and keep a copy of it
    Repair(EventFile),
    /// Show an event to visitors while it is played: a process of its own, which only reads
    Serve(ServeArgs),
    /// Follow an event on a terminal: board, clocks, evaluations, table; plain lines where there is no terminal
    Watch(EventFile),
    /// Print the games or the state of an event, or write it as a site
    #[command(subcommand)]
    Export(ExportWhat),
    /// Decide a tie that the rules leave to the organisers (rule 3.1.7)
    Decide(DecideArgs),
    /// Strike out a game: it counts for nobody and is not played again
    Annul(AnnulArgs),
    /// Strike out a game and play it again from its beginning
    Replay(AnnulArgs),
    /// Withdraw an engine by its author's wish; the others play on
    Withdraw(WithdrawArgs),
    /// Score a game under way as lost by an engine that does not start (4k rule 6.2)
    Forfeit(ForfeitArgs),
    /// Take a fix of an engine that crashed more than once, yet promotes (4k rule 6.3)
    Fix(FixArgs),
    /// Compare recorded games of a real event with what the formats of an event file give
    ReplayGames(ReplayArgs),
}

/// An event's file.
#[derive(Clone, Debug, Args)]
pub(crate) struct EventFile {
    /// The event
    #[arg(value_name = "EVENT.toml", default_value = "event.toml")]
    pub(crate) event: PathBuf,
}

/// `gate4k event new`.
#[derive(Clone, Debug, Args)]
#[command(group(clap::ArgGroup::new("contestants").required(true)))]
pub(crate) struct NewArgs {
    /// A directory with one file or directory an entry or engine
    #[arg(long, value_name = "DIR", group = "contestants")]
    pub(crate) entries: Option<PathBuf>,
    /// The engines of a file in place of a directory: cutechess's engines.json, or TOML with [[engine]] tables
    #[arg(long, value_name = "FILE", group = "contestants")]
    pub(crate) engines: Option<PathBuf>,
    /// The event of the rules that it is like
    #[arg(long, value_name = "EVENT", default_value = "4k")]
    pub(crate) like: EventTemplate,
    /// A file of openings (.pgn, .bin, .txt; .epd for Chess960) for the stages; given several times, one for each stage in their order,
    /// the last one also for those behind it. Without it the file names books that are yours to make
    #[arg(long, value_name = "FILE")]
    pub(crate) book: Vec<PathBuf>,
    /// The file to write; it must not be there yet
    #[command(flatten)]
    pub(crate) file: EventFile,
}

/// `gate4k event run`.
#[derive(Clone, Debug, Args)]
pub(crate) struct EventRunArgs {
    /// The event
    #[command(flatten)]
    pub(crate) file: EventFile,
    /// Nothing but a line for each game: no progress of the gate, no table at a stage's end
    #[arg(long, short, conflicts_with = "table")]
    pub(crate) quiet: bool,
    /// The table and the rating list after each game, not only at a stage's end
    #[arg(long)]
    pub(crate) table: bool,
    /// Add all that happens, each move among it, to this file as JSON, one event a line
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Keep the games under way in a small file beside the journal, NAME.live.json, for those who watch
    #[arg(long)]
    pub(crate) live: bool,
    /// Keep others told of the event while it is played: dir=DIR (its pages, for any web server), tcec=DIR (the files that
    /// TCEC's page watches), lichess=ROUND (a round of a broadcast; the token in GATE4K_LICHESS_TOKEN); repeatable
    #[arg(long, value_name = "WHAT=WHERE")]
    pub(crate) publish: Vec<Publish>,
}

/// A value of `--publish`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Publish {
    /// The event's pages as files.
    Dir(PathBuf),
    /// The files that TCEC's page watches.
    Tcec(PathBuf),
    /// A round of a lichess broadcast, by its id.
    Lichess(String),
}

impl FromStr for Publish {
    type Err = String;

    fn from_str(text: &str) -> Result<Publish, String> {
        match text.split_once('=') {
            Some(("dir", dir)) if !dir.is_empty() => Ok(Publish::Dir(dir.into())),
            Some(("tcec", dir)) if !dir.is_empty() => Ok(Publish::Tcec(dir.into())),
            Some(("lichess", round)) if !round.is_empty() => Ok(Publish::Lichess(round.to_owned())),
            _ => Err("write dir=DIR, tcec=DIR or lichess=ROUND".to_owned()),
        }
    }
}

/// `gate4k event status`.
#[derive(Clone, Debug, Args)]
pub(crate) struct StatusArgs {
    /// The event
    #[command(flatten)]
    pub(crate) file: EventFile,
    /// How to tell it
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// `gate4k event verify`.
#[derive(Clone, Debug, Args)]
pub(crate) struct EventVerifyArgs {
    /// The event
    #[command(flatten)]
    pub(crate) file: EventFile,
    /// The journal must have a seal, made with the secret half of this key of minisign (a file, or the key itself)
    #[arg(long, value_name = "KEY")]
    pub(crate) public_key: Option<String>,
}

/// `gate4k event seal`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SealArgs {
    /// The event
    #[command(flatten)]
    pub(crate) file: EventFile,
    /// The secret key of minisign; its password is read from GATE4K_KEY_PASSWORD
    #[arg(long, value_name = "KEY")]
    pub(crate) sign_key: PathBuf,
}

/// `gate4k event serve`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServeArgs {
    /// The event
    #[command(flatten)]
    pub(crate) file: EventFile,
    /// The address to listen on; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4096")]
    pub(crate) listen: SocketAddr,
    /// A name by which visitors may ask for it, besides the loopback's; without one, an address that is not the
    /// loopback's answers to any name
    #[arg(long, value_name = "HOST")]
    pub(crate) name: Vec<String>,
    /// The most connections at a time; each page that is open has one
    #[arg(long, value_name = "N", default_value = "500", value_parser = value::count::<NonZeroUsize>)]
    pub(crate) visitors: NonZeroUsize,
}

/// `gate4k event export`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ExportWhat {
    /// Print every finished game, in the event's own form
    Pgn(PgnArgs),
    /// Print the standings of every stage, the schedule and the ratings as JSON
    Json(EventFile),
    /// Print the page of the event as one file that stands alone, without its games
    Html(EventFile),
    /// Print the event file that the journal was begun with
    Settings(EventFile),
    /// Write the event as a site that needs no server: the pages that `gate4k event serve` shows
    Site(SiteArgs),
}

impl ExportWhat {
    /// The event.
    pub(crate) fn file(&self) -> &EventFile {
        match self {
            ExportWhat::Pgn(args) => &args.file,
            ExportWhat::Json(file) | ExportWhat::Html(file) | ExportWhat::Settings(file) => file,
            ExportWhat::Site(args) => &args.file,
        }
    }
}

/// `gate4k event export pgn`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PgnArgs {
    /// Follow the event to its end: print games as they end, and keep those under way in this file, which is replaced
    /// whole after each move
    #[arg(long, value_name = "FILE")]
    pub(crate) live: Option<PathBuf>,
    /// The event
    #[command(flatten)]
    pub(crate) file: EventFile,
}

/// `gate4k event export site`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SiteArgs {
    /// The directory to write to; files of an earlier export are replaced
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Of an event that was recorded and has no journal: its games, PGN, plain or xz; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) games: Vec<PathBuf>,
    /// The event
    #[command(flatten)]
    pub(crate) file: EventFile,
}

/// `gate4k event decide`.
#[derive(Clone, Debug, Args)]
pub(crate) struct DecideArgs {
    /// The event
    #[command(flatten)]
    pub(crate) file: EventFile,
    /// The tied engines, the best first, such as A,B
    #[arg(long, value_name = "NAMES", required = true)]
    pub(crate) order: Vec<String>,
    /// The reason, which the journal keeps and the pages show
    #[arg(long, value_name = "TEXT", value_parser = value::reason)]
    pub(crate) reason: String,
}

/// `gate4k event annul` and `gate4k event replay`.
#[derive(Clone, Debug, Args)]
pub(crate) struct AnnulArgs {
    /// The game: its place in this stage (3.1), or its id
    #[arg(value_name = "GAME")]
    pub(crate) game: String,
    /// The event
    #[command(flatten)]
    pub(crate) file: EventFile,
    /// The reason, which the journal keeps and the pages show
    #[arg(long, value_name = "TEXT", value_parser = value::reason)]
    pub(crate) reason: String,
}

/// `gate4k event withdraw`.
#[derive(Clone, Debug, Args)]
pub(crate) struct WithdrawArgs {
    /// The engine, as the event calls it
    #[arg(value_name = "ENGINE")]
    pub(crate) engine: String,
    /// The event
    #[command(flatten)]
    pub(crate) file: EventFile,
    /// The reason, which the journal keeps and the pages show
    #[arg(long, value_name = "TEXT", value_parser = value::reason)]
    pub(crate) reason: String,
}

/// `gate4k event forfeit`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ForfeitArgs {
    /// The game: its place in this stage (3.1), or its id
    #[arg(value_name = "GAME")]
    pub(crate) game: String,
    /// The event
    #[command(flatten)]
    pub(crate) file: EventFile,
    /// The engine that loses it
    #[arg(long, value_name = "NAME")]
    pub(crate) loser: String,
    /// The reason, which the journal keeps and the pages show
    #[arg(long, value_name = "TEXT", value_parser = value::reason)]
    pub(crate) reason: String,
}

/// `gate4k event fix`.
#[derive(Clone, Debug, Args)]
pub(crate) struct FixArgs {
    /// The entry, as the event calls it
    #[arg(value_name = "ENTRY")]
    pub(crate) entry: String,
    /// The event
    #[command(flatten)]
    pub(crate) file: EventFile,
    /// The mended fault
    #[arg(long, value_name = "TEXT", value_parser = value::reason)]
    pub(crate) reason: String,
}

/// `gate4k event replay-games`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The event's stages
    #[arg(value_name = "EVENT.toml")]
    pub(crate) event: PathBuf,
    /// Its games, plain or xz; Event tags or file names tell the stage
    #[arg(value_name = "FILE.pgn", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// How to tell what agrees and what differs
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}
