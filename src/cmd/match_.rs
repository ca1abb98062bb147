//! `gate4k match`: games between engines, from words on the command line to a table of results.

use std::io::Write;
use std::sync::Arc;

use anyhow::Context;

use super::early_end::EarlyEnd;
use super::match_out::{MatchEnd, MatchOutputs};
use super::match_settings::{MatchSettings, engine_sums};
use super::match_shard::KeptGames;
use super::reports::cannot;
use super::{note, say, settings_to_start, tell};
use crate::cli::{DrawChoice, MatchArgs, ResignChoice};
use crate::engine::process::EngineStart;
use crate::engine::stop::{Stop, StopLevel};
use crate::files::outputs::{self, SameFile};
use crate::game::adjudicate::{AdjudicationRules, DrawRule};
use crate::game::clock::Patience;
use crate::game::end::Material;
use crate::game::openings::{Book, BookOrder, BookPart, Sequence};
use crate::game::pgn::Style;
use crate::game::play::GameSettings;
use crate::game::start_positions::StartNumber;
use crate::game::tables::Tables;
use crate::judge::Judge;
use crate::judge::error::CheckError;
use crate::judge::mistaken_file;
use crate::model::exit::Exit;
use crate::model::text::shown;
use crate::model::units::Ply;
use crate::runner::events::Event;
use crate::runner::schedule::{ColourOrder, MOST_GAMES, MatchSchedule, PairingSystem as Meetings};
use crate::runner::score::MatchScore;
use crate::runner::spec::{self, EngineSource, RequestedEngine, UciSubset};
use crate::runner::{
    self, Dialogue, Engine, EngineBounds, HeardOfMatch, Match, MatchGames, Restart,
};

/// Plays and prints. A match that ended early, but not by its test or the file of `--until`, is [`Exit::Rejected`] where an engine
/// was lost too often, which another try would not change, and else [`Exit::Undecided`].
pub(crate) fn run(args: &MatchArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let stop = Stop::new().context("a descriptor for stopping")?;
    let asked = stop.clone();
    listen_to_signals(move || say(while_playing(asked.ask())));
    let (mut game, score, kept) = prepare(args, &stop)?;
    let mut outputs = MatchOutputs::open(args, score, kept).map_err(EarlyEnd::of)?;
    if let Some(path) = &args.log {
        let log = Dialogue::open(path).with_context(|| cannot(path)).map_err(EarlyEnd::of)?;
        game.dialogue = Some(log);
    }
    outputs.recall(&game, &stop);
    if let Some(words) = outputs.before_the_first_game().map_err(EarlyEnd::usage)? {
        note(&words);
        stop.raise(StopLevel::FinishGames);
    }
    let mut failed = None;
    let mut early = None;
    game.tell_moves |= outputs.shows_moves();
    runner::run_with_pauses(&game, &stop, outputs.pause(), |heard| {
        if let HeardOfMatch::Event(Event::MatchFinished { early: why, .. }) = &heard {
            early.clone_from(why);
        }
        let taken = match heard {
            HeardOfMatch::Event(event) => outputs.take(event, &game, &stop, out),
            HeardOfMatch::Pause => outputs.rest(&game),
        };
        if let Err(error) = taken {
            // No further game begins after an event that cannot be kept.
            stop.raise(StopLevel::FinishGames);
            failed.get_or_insert(error);
        }
    })
    .context("a thread for the games")?;
    let end = outputs.finish(&game, out)?;
    if let (Some(path), Some(Err(error))) = (&args.log, game.dialogue.take().map(Dialogue::finish))
    {
        note(&format!("{} is not whole: {error}", shown(path)));
    }
    match (failed, early) {
        // The journal is whole, and another host, or this one with more room, goes on from there.
        (Some(error), _) => Err(error),
        (None, Some(why)) => Ok(match end {
            MatchEnd::AsMeant => Exit::Success,
            MatchEnd::TooManyLosses => Exit::Rejected,
            MatchEnd::Stopped => {
                if why != runner::STOPPED {
                    tell(&format!(
                        "the match is broken off, and nobody has lost by it: {why}; play it again when this host's packages \
                         are whole (`gate4k doctor`)"
                    ));
                }
                Exit::Undecided
            }
        }),
        (None, None) => Ok(Exit::Success),
    }
}

/// Calls this at Ctrl-C and SIGTERM, on a thread of its own.
pub(super) fn listen_to_signals(heard: impl FnMut() + Send + 'static) {
    // Where it cannot be installed (it has been before, in a test), the match runs without.
    let _ = ctrlc::set_handler(heard);
}

/// The words for a signal while games are played: at the first no more games are begun, at the second no more moves.
pub(super) fn while_playing(level: StopLevel) -> &'static str {
    match level {
        StopLevel::Now => "stopping now",
        _ => "finishing the games under way; once more stops at once",
    }
}

fn rules(args: &MatchArgs) -> Result<AdjudicationRules, EarlyEnd> {
    let (win, resign) = match (args.win_rule, args.resign) {
        (win, None) => (win, None),
        (win, Some(ResignChoice::OneSided(rule))) => (win, Some(rule)),
        (None, Some(ResignChoice::TwoSided(rule))) => (Some(rule), None),
        (Some(_), Some(ResignChoice::TwoSided(_))) => {
            let words = "--resign with twosided=true is a --win-rule: give one of them";
            return Err(EarlyEnd::usage(words));
        }
    };
    let named = args.draw_rule.map(|rule| match rule {
        DrawChoice::New => DrawRule::NEW,
        DrawChoice::Old => DrawRule::OLD,
    });
    Ok(AdjudicationRules {
        draw: args.draw.or(named),
        win,
        resign,
        length: args.max_plies.map(Ply),
    })
}

/// Opens all that a match is made of: its engines, openings, tables and the games that a journal keeps.
fn prepare(
    args: &MatchArgs,
    stop: &Stop,
) -> anyhow::Result<(Match, MatchScore, Option<KeptGames>)> {
    let asked = asked(args)?;
    let sums = args.journal.is_some().then(|| engine_sums(&asked)).transpose()?;
    let mut judge = None;
    let engines = asked
        .into_iter()
        .map(|one| engine(one, args, &mut judge).map(Arc::new))
        .collect::<Result<Vec<_>, _>>()?;
    let bounds = EngineBounds {
        startup: args.startup_limit,
        quit: args.quit_limit,
        ..EngineBounds::default()
    };
    if args.variant.is_chess960() {
        chess960(&engines, bounds, stop)?;
    }
    let schedule = schedule(args, engines.len())?;
    let book = book(args, &schedule, &engines)?;
    let tables = tables(args)?;
    let score = MatchScore::new(&schedule);
    let kept = match (&args.journal, sums) {
        (Some(path), Some(sums)) => {
            let book = book.as_ref().map(|(book, _)| book.sha256());
            let of =
                MatchSettings { engines: &engines, sums: &sums, book, judge: judge.as_deref() };
            Some(KeptGames::open(path, args, of.run(args, &schedule)?, &schedule)?)
        }
        _ => None,
    };
    let mut games = MatchGames::Planned(schedule, book);
    if let Some(kept) = &kept {
        games = games.only(|pairing| kept.is_due(pairing));
    }
    let game = Match {
        engines,
        games,
        settings: settings(args, tables)?,
        bounds,
        concurrency: args.concurrency,
        affinity: args.affinity,
        first_core: kept.as_ref().map_or(0, |kept| kept.first_core(args.concurrency.get())),
        restart: if args.restart { Restart::EveryGame } else { Restart::Needed },
        tell_moves: args.events.is_some() || args.live.is_some(),
        standstill: None,
        wait: args.wait,
        dialogue: None,
    };
    Ok((game, score, kept))
}

/// The engines that are asked for, at least two, each with a name of its own.
fn asked(args: &MatchArgs) -> Result<Vec<RequestedEngine>, EarlyEnd> {
    let mut asked: Vec<RequestedEngine> = args
        .engine
        .iter()
        .map(|words| spec::from_words(words))
        .collect::<Result<_, _>>()
        .map_err(EarlyEnd::usage)?;
    if let Some(path) = &args.engines {
        asked.extend(spec::from_file(path).map_err(EarlyEnd::usage)?);
    }
    if asked.len() < 2 {
        let words = format!(
            "a match needs two engines, and there {}",
            match asked.len() {
                0 => "is none; name two",
                _ =>
                    "is one; name another, or the same entry twice (\"name=A entry=…\" \"name=B entry=…\")",
            }
        );
        return Err(EarlyEnd::usage(words));
    }
    spec::tell_apart(&mut asked).map_err(EarlyEnd::usage)?;
    if args.sprt.is_some() && asked.len() != 2 {
        let words = format!("--sprt tests two engines, and these are {}", asked.len());
        return Err(EarlyEnd::usage(words));
    }
    files_apart(args, &asked).map_err(EarlyEnd::usage)?;
    Ok(asked)
}

/// The endgame tables that are asked for, with as many pieces as they may have.
fn tables(args: &MatchArgs) -> Result<Option<Tables>, EarlyEnd> {
    if args.syzygy.is_empty() {
        return Ok(None);
    }
    let tables = Tables::open(&args.syzygy).map_err(EarlyEnd::usage)?;
    Ok(Some(match args.syzygy_pieces {
        Some(most) => tables.up_to(most.get()),
        None => tables,
    }))
}

fn settings(args: &MatchArgs, tables: Option<Tables>) -> Result<GameSettings, EarlyEnd> {
    Ok(GameSettings {
        patience: Patience {
            margin: args.margin,
            without_clock: args.answer_limit,
            ..Patience::default()
        },
        material: if args.no_material_draws { Material::PlaysOn } else { Material::Draws },
        rules: rules(args)?,
        tables,
        keep_pv: args.events.is_some()
            || args.live.is_some()
            || (args.pgn.is_some() || args.journal.is_some()) && args.pgn_style == Style::Event,
        keep_comments: args.keep_comments,
    })
}

/// Refuses an output that is another's file, or one that the match is made of: games would be lost, or a book spoilt.
fn files_apart(args: &MatchArgs, asked: &[RequestedEngine]) -> Result<(), SameFile> {
    let outputs = outputs::given(&[
        ("--journal", args.journal.as_deref()),
        ("--pgn", args.pgn.as_deref()),
        ("--events", args.events.as_deref()),
        ("--log", args.log.as_deref()),
        ("--live", args.live.as_deref()),
        ("--until", args.until.as_deref()),
    ]);
    let mut inputs = outputs::given(&[
        ("--openings", args.openings.as_deref()),
        ("--engines", args.engines.as_deref()),
        ("--allowlist", args.allowlist.as_deref()),
    ]);
    inputs.extend(asked.iter().map(|one| match &one.source {
        EngineSource::Program(program) => (one.name.as_str(), program.command.as_path()),
        EngineSource::Entry(path) => (one.name.as_str(), path.as_path()),
    }));
    outputs::distinct(&outputs, &inputs)
}

/// The plan of the games.
fn schedule(args: &MatchArgs, engines: usize) -> Result<MatchSchedule, EarlyEnd> {
    let colours = if args.no_reverse { ColourOrder::InTurn } else { ColourOrder::Reversed };
    let (rounds, games) = (args.rounds.get(), args.games.get());
    let schedule = MatchSchedule::new(engines, args.schedule, rounds, games, colours);
    let schedule = seeded(args, engines, schedule)?;
    let total = schedule.total();
    if total > MOST_GAMES {
        let words = format!(
            "these are {total} games; a match has {MOST_GAMES} at most: give fewer --rounds or --games"
        );
        return Err(EarlyEnd::usage(words));
    }
    Ok(schedule)
}

/// The plan with its seeds, where there are some.
fn seeded(
    args: &MatchArgs,
    engines: usize,
    schedule: MatchSchedule,
) -> Result<MatchSchedule, EarlyEnd> {
    let Some(seeds) = args.seeds else { return Ok(schedule) };
    if args.schedule != Meetings::Gauntlet {
        let words = "--seeds are of a gauntlet: give --schedule gauntlet, too";
        return Err(EarlyEnd::usage(words));
    }
    if seeds.get() >= engines {
        let words = format!("--seeds {seeds} leaves no opponent: these are {engines} engines");
        return Err(EarlyEnd::usage(words));
    }
    Ok(schedule.seeded(seeds.get()))
}

/// Refuses engines that cannot play Chess960, before the first game. Each is started for it.
fn chess960(engines: &[Arc<Engine>], bounds: EngineBounds, stop: &Stop) -> Result<(), EarlyEnd> {
    if let Some(engine) = engines.iter().find(|engine| engine.subset == UciSubset::Rule79) {
        let words = format!(
            "{} may be sent only what rule 7.9 lists, which has no start positions and no UCI_Chess960: an entry is \
             for classical chess; Chess960 is played by programs that you trust (cmd=)",
            engine.name
        );
        return Err(EarlyEnd::usage(words));
    }
    match runner::without_chess960(engines, bounds, stop) {
        Some(why) => Err(EarlyEnd::usage(format!("{why}, and cannot play Chess960"))),
        None => Ok(()),
    }
}

fn engine(
    asked: RequestedEngine,
    args: &MatchArgs,
    judge: &mut Option<Arc<Judge>>,
) -> anyhow::Result<Engine> {
    let control = asked.control.unwrap_or(args.tc);
    let margin = asked.margin;
    if asked.subset == UciSubset::Rule79 && !control.is_plain_clock() {
        let words = format!(
            "{} may be sent only what rule 7.9 lists, and that has no {control}; give it a clock such as \
             tc=10+0.1, or fen=yes if it knows the rest of UCI",
            asked.name
        );
        return Err(EarlyEnd::usage(words).into());
    }
    let memory = asked.memory.or(args.memory);
    let (start, mut options) = match asked.source {
        EngineSource::Program(mut program) => {
            program.memory = memory;
            program.look().map_err(EarlyEnd::usage)?;
            (EngineStart::Trusted(program), Vec::new())
        }
        EngineSource::Entry(path) => {
            // Looked for once, and only where somebody has to be confined.
            let judge = match judge {
                Some(judge) => judge,
                None => {
                    let settings =
                        settings_to_start(args.allowlist.as_deref(), args.strict, &args.confine)?;
                    judge.insert(Arc::new(Judge::open(settings)?))
                }
            };
            let entry = judge.playable(&path, memory).map_err(|error| match error {
                CheckError::Nothing { path, what } if !path.exists() => {
                    let what = format!("{what}; a program that you trust is \"cmd=PROGRAM\"");
                    CheckError::Nothing { path, what }
                }
                other => other,
            })?;
            if let Some(hint) = mistaken_file::hint(&entry.submission) {
                note(&format!("{}: {hint}", asked.name));
            }
            if !entry.submission.is_whole() {
                let what = "a file far beyond 4096 bytes".into();
                return Err(CheckError::Nothing { path, what }.into());
            }
            let size = judge.measure(&path)?.size;
            if size.total > size.limit {
                let name = &asked.name;
                note(&format!(
                    "{name} is no entry as it is: {}; it plays all the same",
                    size.words()
                ));
            }
            (EngineStart::Entry(entry.launcher, entry.plan), entry.submission.options())
        }
    };
    options.extend(asked.options);
    let mut engine = Engine::new(asked.name, start, options, control, asked.subset);
    engine.init = asked.init;
    engine.margin = margin;
    Ok(engine)
}

fn book(
    args: &MatchArgs,
    schedule: &MatchSchedule,
    engines: &[Arc<Engine>],
) -> Result<Option<(Book, Sequence)>, EarlyEnd> {
    let order = match args.shuffle {
        Some(seed) => BookOrder::Shuffled { seed },
        None => BookOrder::Sequential,
    };
    let start = args.start.get() - 1;
    let variant = args.variant;
    let Some(path) = &args.openings else {
        if !variant.is_chess960() {
            return Ok(None);
        }
        let most = schedule.openings().saturating_add(start).min(StartNumber::count(variant));
        let book = Book::of_starts(BookPart { plies: None, most, order, variant });
        let book = book.map_err(EarlyEnd::usage)?;
        let sequence = Sequence::new(book.openings().len(), BookOrder::Sequential, start);
        return Ok(Some((book, sequence)));
    };
    let is_table = path.extension().is_some_and(|ending| ending == "bin");
    let wanted = BookPart {
        plies: args.plies.map(Ply),
        most: if is_table { schedule.openings().saturating_add(start) } else { usize::MAX },
        order,
        variant,
    };
    let book = Book::read(path, wanted).map_err(EarlyEnd::usage)?;
    if let Some(engine) = engines.iter().find(|engine| engine.subset == UciSubset::Rule79) {
        book.require_move_lists(&engine.name).map_err(EarlyEnd::usage)?;
    }
    let sequence = Sequence::new(book.openings().len(), order, start);
    Ok(Some((book, sequence)))
}
