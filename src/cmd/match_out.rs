//! The outputs of a match: PGN, events, a line a game, the state of affairs, the table, the test.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::game_line::{self, safe};
use super::live::Live;
use super::match_board::{self, MatchBoard};
use super::match_crash::Crashes;
use super::match_losses::LossLimit;
use super::match_shard::{KeptGame, KeptGames};
use super::match_table::{self, MatchProgress, sample};
use super::match_test::{OrderedTest, asked_test};
use super::match_until::UntilFile;
use super::reports::cannot;
use crate::cli::{MatchArgs, OutputReader};
use crate::engine::stop::{Stop, StopLevel};
use crate::files::write;
use crate::game::pgn::{self, PgnHeader, Style};
use crate::model::game::result::GameResult;
use crate::model::in_order::InOrder;
use crate::model::text::shown;
use crate::model::words::counted;
use crate::runner::Match;
use crate::runner::events::{Event, Finished, not_offered};
use crate::runner::live::{LiveFile, Names};
use crate::runner::schedule::ScheduledGame;
use crate::runner::score::{MatchScore, MatchTally};
use crate::shard::record::ShardGame;
use crate::view::columns::ColumnTable;
use crate::view::text;

/// The end of a match before its last game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchEnd {
    /// Its test, or the file that was to end it.
    AsMeant,
    /// An engine that was lost as often as is allowed.
    TooManyLosses,
    /// A signal, or whatever else is no word on the engines.
    Stopped,
}

/// Everything that listens to a match.
pub(super) struct MatchOutputs {
    pgn: Option<(PathBuf, File)>,
    events: Option<EventLines>,
    games: Option<(PathBuf, LiveFile)>,
    style: Style,
    quiet: bool,
    told: OutputReader,
    /// The file that ends the match.
    until: Option<UntilFile>,
    event: String,
    site: String,
    /// True if the statistics count pairs of games.
    paired: bool,
    test: Option<OrderedTest>,
    order: InOrder<Option<String>>,
    score: MatchScore,
    played: usize,
    began: Instant,
    live: Live,
    /// The games under way, where a person sees them.
    board: Option<MatchBoard>,
    kept: Option<KeptGames>,
    recalled: usize,
    strikes: Option<LossLimit>,
    /// The processes that broke a rule by their programs and libraries, by engine and section of the rules.
    broken: BTreeMap<(usize, &'static str), usize>,
    crashes: Option<Crashes>,
    /// The games after each of which it is told how the match stands.
    interval: Option<NonZeroUsize>,
}

impl MatchOutputs {
    pub(super) fn open(
        args: &MatchArgs,
        score: MatchScore,
        kept: Option<KeptGames>,
    ) -> anyhow::Result<MatchOutputs> {
        let open = |path: &Option<PathBuf>| -> anyhow::Result<Option<(PathBuf, File)>> {
            let Some(path) = path else { return Ok(None) };
            let file = write::append(path).with_context(|| cannot(path))?;
            Ok(Some((path.clone(), file)))
        };
        let games = match &args.live {
            Some(path) => {
                let live = LiveFile::start(path);
                let live = live.with_context(|| cannot(path))?;
                Some((path.clone(), live))
            }
            None => None,
        };
        let paired = !args.no_reverse && args.games.get() > 1;
        let live = Live::new(args.quiet || args.told == OutputReader::Fastchess);
        let is_followed = live.is_shown() && args.concurrency.get() <= match_board::FEW;
        Ok(MatchOutputs {
            pgn: open(&args.pgn)?,
            events: open(&args.events)?.map(EventLines::new),
            games,
            style: args.pgn_style,
            quiet: args.quiet,
            told: args.told,
            until: args
                .until
                .clone()
                .map(|path| UntilFile::new(path, kept.as_ref().map(KeptGames::mark))),
            event: args.event.clone(),
            site: args.site.clone(),
            paired,
            // One shard of several decides nothing: who merges them does.
            test: asked_test(args.sprt, args.scale)
                .filter(|_| kept.as_ref().is_none_or(KeptGames::is_whole))
                .map(|test| OrderedTest::new(test, score.clone(), paired)),
            order: InOrder::default(),
            score,
            played: 0,
            began: Instant::now(),
            live,
            board: is_followed.then(MatchBoard::default),
            kept,
            recalled: 0,
            crashes: Crashes::beside(args),
            strikes: args.strikes.filter(|_| !args.recover).map(LossLimit::new),
            broken: BTreeMap::new(),
            interval: args.rating_interval,
        })
    }

    /// Counts the games that a journal holds from before.
    pub(super) fn recall(&mut self, game: &Match, stop: &Stop) {
        let before: Vec<_> = self.kept.iter().flat_map(KeptGames::played).collect();
        for KeptGame { pairing, result, lost } in before {
            self.recalled += 1;
            self.played = self.recalled;
            self.count(&pairing, result, stop);
            if let Some(engine) = lost.filter(|engine| *engine < game.engines.len()) {
                self.strike(engine, game, stop);
            }
        }
    }

    /// Counts a result, and ends the match where it decides the test.
    fn count(&mut self, pairing: &ScheduledGame, result: GameResult, stop: &Stop) {
        self.score.add(pairing, result);
        if self.test.as_mut().is_some_and(|test| test.take(pairing, result)) {
            stop.raise(StopLevel::FinishGames);
        }
    }

    pub(super) fn take(
        &mut self,
        event: Event,
        game: &Match,
        stop: &Stop,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        if let Some(events) = &mut self.events {
            events.add(&event)?;
        }
        if let Some((_, live)) = &self.games {
            live.hear(&event, |pairing| names(pairing, game));
        }
        if let Some(board) = &mut self.board {
            board.hear(&event, game);
        }
        let mut crashes = self.crashes.take();
        let pgn = |finished: &Finished| self.pgn_text(finished, game).ok();
        let kept = crashes.as_mut().and_then(|all| all.hear(&event, game, &self.event, pgn));
        self.crashes = crashes;
        if let Some(words) = kept {
            self.live.clear();
            super::say(&words);
        }
        let name = |engine: usize| safe(&game.engines[engine].name);
        match event {
            Event::GameFinished(finished) => {
                self.finished(&finished, game, stop, out)?;
                if self.is_called_off() {
                    stop.raise(StopLevel::FinishGames);
                }
            }
            Event::GameStarted { .. } => self.draw(game),
            Event::MovePlayed(_) => self.draw_in_time(game),
            Event::EngineKilled { engine, why, exit, stderr, .. } => {
                self.live.clear();
                // An engine that did not start has both in its reason.
                let exit = exit.map(|exit| exit.to_string()).filter(|exit| !why.contains(exit));
                let exit = exit.map(|exit| format!(" ({exit})")).unwrap_or_default();
                let last = stderr.last().filter(|line| !why.contains(*line));
                let last = last.map(|line| format!("; it said: {line}")).unwrap_or_default();
                // Standard error may be closed; the stream of events has it all the same.
                super::say(&format!("{}: {why}{exit}{last}", name(engine)));
            }
            Event::Unasked { engine, said } => {
                self.live.clear();
                let name = name(engine);
                super::note(&format!(
                    "{name} said {said:?} without being asked; it was passed over"
                ));
            }
            Event::OptionsNotOffered { engine, options } => {
                self.live.clear();
                let name = safe(&game.engines[engine].name);
                super::note(&format!("{name} {}", safe(&not_offered(&options))));
            }
            Event::HostChanged { engine, replaced } => {
                self.live.clear();
                let (name, replaced) = (name(engine), safe(&replaced.join(", ")));
                super::note(&format!(
                    "replaced on this host before {name} was started: {replaced}"
                ));
            }
            Event::Ponders { engine, how } => {
                self.live.clear();
                super::say(&format!("{} {how} (rule 0.1)", name(engine)));
            }
            Event::BrokeRule { engine, section, what, game: number, .. } => {
                self.live.clear();
                let place = number.map(|number| format!(" in game {}", number + 1));
                let (name, place) = (name(engine), place.unwrap_or_default());
                super::say(&format!("{name}{place}: {} (rule {section})", safe(&what)));
                *self.broken.entry((engine, section)).or_default() += 1;
            }
            _ => {}
        }
        Ok(())
    }

    fn finished(
        &mut self,
        finished: &Finished,
        game: &Match,
        stop: &Stop,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let pairing = &finished.pairing;
        let ending = &finished.record.ending;
        let counts = ending.result.points(shakmaty::Color::White).is_some();
        let lost = ending.crashed().map(|side| side.fold_wb(pairing.white, pairing.black));
        let wanted = self.pgn.is_some() || self.kept.is_some();
        let text = if wanted && counts { Some(self.pgn_text(finished, game)?) } else { None };
        if let (Some(kept), Some(pgn)) = (&mut self.kept, &text) {
            kept.keep(ShardGame {
                game: pairing.game,
                result: ending.result,
                summary: pgn::summary(ending),
                pgn: pgn.clone(),
                lost,
            })?;
        }
        if let Some((path, file)) = &mut self.pgn {
            for text in self.order.push(pairing.game, text).into_iter().flatten() {
                write_whole(path, file, text.as_bytes())?;
            }
        }
        if counts {
            self.count(pairing, ending.result, stop);
            if let Some(engine) = lost {
                self.strike(engine, game, stop);
            }
            self.played += 1;
            if !self.quiet {
                self.live.clear();
                let names = [pairing.white, pairing.black].map(|one| &*game.engines[one].name);
                match self.told {
                    OutputReader::People => {
                        game_line::people(pairing.game, names, &pgn::summary(ending), out)?;
                    }
                    OutputReader::Fastchess => {
                        writeln!(out, "{}", game_line::fastchess(pairing.game, names, ending))?;
                    }
                }
                out.flush()?;
            }
            if self.interval.is_some_and(|every| self.played.is_multiple_of(every.get())) {
                self.live.clear();
                super::say(&self.standing(game).join("\n"));
            }
            self.draw(game);
        }
        Ok(())
    }

    /// True once the file that ends the match is there.
    fn is_called_off(&self) -> bool {
        self.until.as_ref().is_some_and(UntilFile::is_there)
    }

    /// See [`UntilFile::before_the_first_game`].
    pub(super) fn before_the_first_game(&self) -> Result<Option<String>, String> {
        let has_begun = self.recalled > 0;
        self.until.as_ref().map_or(Ok(None), |file| file.before_the_first_game(has_begun))
    }

    /// True if moves have to be told for what is shown.
    pub(super) fn shows_moves(&self) -> bool {
        self.board.is_some()
    }

    /// The time without an event after which the board is to be looked at again, where there is one.
    pub(super) fn pause(&self) -> Option<Duration> {
        self.board.is_some().then_some(match_board::PERIOD)
    }

    /// Draws how things stand, where somebody sees it.
    fn draw(&mut self, game: &Match) {
        if !self.live.is_shown() {
            return;
        }
        let standing = self.standing(game);
        let room = self.live.height().saturating_sub(standing.len());
        let board = self
            .board
            .as_mut()
            .map(|board| board.lines(self.live.width(), room))
            .unwrap_or_default();
        self.live.draw(&[board, standing].concat());
    }

    /// Does what was put off, as no event waits.
    pub(super) fn rest(&mut self, game: &Match) -> anyhow::Result<()> {
        self.draw_in_time(game);
        self.events.as_mut().map_or(Ok(()), EventLines::write)
    }

    /// Draws the board again where that is worth while.
    fn draw_in_time(&mut self, game: &Match) {
        if self.board.as_ref().is_some_and(MatchBoard::is_due) {
            self.draw(game);
        }
    }

    /// The standing of the match, as lines.
    fn standing(&self, game: &Match) -> Vec<String> {
        let progress = MatchProgress {
            played: self.played,
            total: game.games.total() + self.recalled,
            elapsed: self.began.elapsed(),
        };
        let names: Vec<String> = game.engines.iter().map(|engine| safe(&engine.name)).collect();
        let mut lines =
            match_table::lines(&self.score, &names, self.paired, &progress, self.live.width());
        lines.extend(self.test.as_ref().and_then(OrderedTest::line));
        lines
    }

    /// Counts an engine that was lost in a game, and ends the match once these are too many.
    fn strike(&mut self, engine: usize, game: &Match, stop: &Stop) {
        let name = safe(&game.engines[engine].name);
        if let Some(words) = self.strikes.as_mut().and_then(|all| all.lost(engine, &name)) {
            self.live.clear();
            super::note(&words);
            stop.raise(StopLevel::FinishGames);
        }
    }

    fn pgn_text(&self, finished: &Finished, game: &Match) -> anyhow::Result<String> {
        let pairing = &finished.pairing;
        let engines = shakmaty::ByColor {
            white: &game.engines[pairing.white],
            black: &game.engines[pairing.black],
        };
        let header = PgnHeader {
            event: self.event.clone(),
            site: self.site.clone(),
            round: format!("{}.{}", pairing.round, pairing.in_round),
            names: engines.map(|engine| engine.name.clone()),
            elo: shakmaty::ByColor { white: None, black: None },
            options: engines.map(|engine| engine.options_line()),
            controls: engines.map(|engine| engine.control),
            started: finished.started,
            lasted: finished.lasted,
        };
        let mut text = String::new();
        pgn::write(&mut text, &header, &finished.record, self.style)?;
        Ok(text)
    }

    /// Writes the games that still wait for games that were broken off, and the table. Returns what ended the match before its
    /// last game, if that was so.
    pub(super) fn finish(mut self, game: &Match, out: &mut impl Write) -> anyhow::Result<MatchEnd> {
        self.live.clear();
        if let Some(events) = &mut self.events {
            events.write()?;
        }
        if let Some((path, live)) = self.games.take()
            && let Err(error) = live.finish()
        {
            super::note(&format!("{} could not be kept up: {error}", shown(&path)));
        }
        if let Some((path, mut file)) = self.pgn.take() {
            for text in std::mem::take(&mut self.order).rest().flatten() {
                write_whole(&path, &mut file, text.as_bytes())?;
            }
        }
        if self.told == OutputReader::People {
            let names: Vec<&str> = game.engines.iter().map(|engine| &*engine.name).collect();
            results(&self.score, &names, self.paired, out)?;
            if let Some(line) = self.test.as_ref().and_then(OrderedTest::line) {
                writeln!(out, "{line}")?;
            }
            for ((engine, section), times) in &self.broken {
                let name = safe(&game.engines[*engine].name);
                let times = counted(*times, "process");
                writeln!(out, "{name} broke rule {section} in its games, as was seen of {times}")?;
            }
        }
        let is_decided = self.test.as_ref().is_some_and(OrderedTest::is_decided);
        Ok(match &self.strikes {
            _ if is_decided || self.is_called_off() => MatchEnd::AsMeant,
            Some(strikes) if strikes.are_too_many() => MatchEnd::TooManyLosses,
            _ => MatchEnd::Stopped,
        })
    }
}

/// A game of the live file, by its number in the match.
fn names(pairing: &ScheduledGame, game: &Match) -> Names {
    let name = |engine: usize| safe(&game.engines[engine].name);
    let id = (pairing.game + 1).to_string();
    Names { id, white: name(pairing.white), black: name(pairing.black) }
}

/// The table, and between two engines the figures.
pub(super) fn results(
    score: &MatchScore,
    names: &[&str],
    paired: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    table(score, names, out)?;
    if let [((one, other), tally)] = score.couples() {
        let (one, other) = (safe(names[*one]), safe(names[*other]));
        writeln!(out, "{one} against {other}: {}", figures(tally, paired))?;
    }
    Ok(())
}

/// `Elo 12.3 ± 4.5, nElo 20.1 ± 7.7, LOS 97.2 %, draws 31.0 %`.
fn figures(tally: &MatchTally, paired: bool) -> String {
    let Some(estimate) = sample(tally, paired).estimate() else {
        return "too few games for a figure".into();
    };
    let draws = 100.0 * tally.draws as f64 / tally.games().max(1) as f64;
    format!("{}, draws {draws:.1} %", estimate.in_words(1))
}

/// The file of events. Those that come close upon one another are one write: of a game between engines that answer at once each
/// move would else be a system call.
struct EventLines {
    path: PathBuf,
    file: File,
    /// Whole lines that are not written yet.
    waiting: Vec<u8>,
}

impl EventLines {
    /// Bytes that may wait.
    const ENOUGH: usize = 64 * 1024;

    fn new((path, file): (PathBuf, File)) -> EventLines {
        EventLines { path, file, waiting: Vec::with_capacity(2 * EventLines::ENOUGH) }
    }

    fn add(&mut self, event: &Event) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.waiting, event)?;
        self.waiting.push(b'\n');
        if self.waiting.len() < EventLines::ENOUGH { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> anyhow::Result<()> {
        let written = write_whole(&self.path, &mut self.file, &self.waiting);
        self.waiting.clear();
        written
    }
}

/// Writes one thing in one write, so that no reader and no crash sees half of it.
fn write_whole(path: &Path, file: &mut File, bytes: &[u8]) -> anyhow::Result<()> {
    file.write_all(bytes).with_context(|| cannot(path))
}

/// Engines by their points, and each couple's results with its pairs.
fn table(score: &MatchScore, names: &[&str], out: &mut impl Write) -> io::Result<()> {
    let mut engines: Vec<_> =
        names.iter().enumerate().map(|(index, name)| (score.of(index), safe(name))).collect();
    engines.sort_by_key(|(tally, _)| std::cmp::Reverse(tally.points()));
    let rows: Vec<Vec<String>> = engines
        .into_iter()
        .map(|(tally, name)| {
            let counts = [tally.games(), tally.wins, tally.draws, tally.losses];
            let figures = counts.iter().map(u64::to_string);
            [name, tally.points().to_string()].into_iter().chain(figures).collect()
        })
        .collect();
    let heads = ["engine", "points", "games", "won", "drawn", "lost"];
    let table = ColumnTable { heads: &heads, name: 0, counts: &[heads.len()] };
    writeln!(out)?;
    for line in table.lines(&rows, text::width()) {
        writeln!(out, "{line}")?;
    }
    for ((one, other), tally) in score.couples() {
        if tally.pairs.iter().sum::<u64>() == 0 {
            continue;
        }
        let [ll, ld, wl, dd, wd, ww] = tally.pairs;
        writeln!(
            out,
            "{} vs {}: pairs LL {ll}, LD {ld}, WL {wl}, DD {dd}, WD {wd}, WW {ww}",
            safe(names[*one]),
            safe(names[*other])
        )?;
    }
    Ok(())
}
