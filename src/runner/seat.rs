//! An engine in a match: started when it is needed, asked for moves, ended with its game or with the match.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use shakmaty::CastlingMode;

use super::chess960::CastlingSwitch;
use super::dialogue::DialogueSender;
use super::engine::{Engine, EngineBounds, LostEngine, Missing};
use super::games_of_process::GamesOfProcess;
use super::heartbeat::{BootMoment, Heartbeat};
use super::pondering::PonderWaits;
use crate::engine::info::InfoLine;
use crate::engine::process::{self, EngineProcess, EngineStart, StartError};
use crate::engine::stop::Stop;
use crate::engine::uci::{self, Reply};
use crate::engine::wire::{Silence, Wire};
use crate::game::clock::Monotonic;
use crate::game::play::{Player, PlayerAnswer, PlayerLost, Thought};
use crate::model::evidence::{Breach, ExitHow, LeftByProcess, MoveFault};
use crate::model::game::ending::NO_WORD;
use crate::model::game::record::SearchInfo;
use crate::model::text::escape;

/// The number of failed starts in a row after which an engine is not tried again, in a match where a failed start loses.
const HOPELESS: u32 = 3;
/// The most times that a start is tried where a failed one does not lose, and where the engine is an entry.
const TRIES: u32 = 2;
/// In games on a shorter clock nobody thinks long enough to be watched.
const SLOW_GAME: Duration = Duration::from_secs(10);
/// The beginning of a line that an engine says for those who read the games.
const FOR_THE_RECORD: &[u8] = b"info string pgncomment ";
/// No more of these is kept for one move, in bytes.
const MOST_COMMENTS: usize = 64 << 10;
/// The time that a process that closed its output may take to end by itself.
const DYING: Duration = Duration::from_millis(500);

/// One engine's seat at one table: the process, if there is one now.
pub(super) struct EngineSeat<'a> {
    pub(super) engine: Arc<Engine>,
    live: Option<Live>,
    epoch: Monotonic,
    bounds: EngineBounds,
    stop: Stop,
    /// Where the referee is watched, with the standstill that breaks off games.
    heartbeat: Option<&'a (Heartbeat, Duration)>,
    /// The last `info` line that counts, and its line of play.
    info: SearchInfo,
    pv: Vec<u8>,
    /// The lines for the record that it said before its last answer.
    comments: Vec<u8>,
    /// The first move in this game that it said without being asked for one; taken by whoever tells of it.
    pub(super) unasked: Option<String>,
    /// When it began to wait, and what it had used by then; kept where a wait may be long enough to tell anything.
    resting: Option<(Instant, Duration)>,
    /// Its waits in this game.
    pub(super) waits: PonderWaits,
    /// The way in which castling is told in the game that comes.
    castling: CastlingMode,
    /// The time that the last start took; taken by whoever tells of it.
    pub(super) started_in: Option<Duration>,
    pub(super) remains: Option<LostEngine>,
    /// The programs of the host that were replaced before the last start, or before it failed; taken by whoever tells of it.
    pub(super) replaced: Vec<String>,
    /// The options to set that it was first seen not to offer; taken by whoever tells of them.
    pub(super) not_offered: Vec<String>,
    /// The records of its processes that were killed, or ended by themselves, where what they leave is looked at; taken by whoever
    /// tells of them.
    pub(super) killed: Vec<LeftByProcess>,
    /// The rules that its processes broke, each with the game, where nothing else looks at what they did; taken by whoever tells of them.
    pub(super) breaches: Vec<(Breach, Option<usize>)>,
    /// The games of its process.
    games: GamesOfProcess,
    /// True if a question to it was broken off, since all was to stop.
    interrupted: bool,
    /// The place for its dialogue, where that is kept.
    log: Option<DialogueSender>,
}

struct Live {
    wire: Wire<Option<DialogueSender>>,
    process: Box<dyn EngineProcess>,
    switch: CastlingSwitch,
    /// The time of its start.
    began: Instant,
}

impl<'a> EngineSeat<'a> {
    pub(super) fn new(
        engine: Arc<Engine>,
        epoch: Monotonic,
        bounds: EngineBounds,
        stop: Stop,
        heartbeat: Option<&'a (Heartbeat, Duration)>,
        log: Option<DialogueSender>,
    ) -> EngineSeat<'a> {
        EngineSeat {
            engine,
            live: None,
            epoch,
            bounds,
            stop,
            heartbeat,
            info: SearchInfo::default(),
            pv: Vec::with_capacity(512),
            comments: Vec::new(),
            unasked: None,
            resting: None,
            waits: PonderWaits::default(),
            castling: CastlingMode::Standard,
            started_in: None,
            remains: None,
            replaced: Vec::new(),
            not_offered: Vec::new(),
            killed: Vec::new(),
            breaches: Vec::new(),
            games: GamesOfProcess::default(),
            interrupted: false,
            log,
        }
    }

    /// Sits down to the game of a number.
    pub(super) fn sit(&mut self, game: usize, castling: CastlingMode) {
        self.castling = castling;
        self.games.sit(game, self.live.is_some());
        if let Some(log) = &self.log {
            log.begin(game);
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.live.is_some()
    }

    /// Starts the process and speaks with it until it is ready.
    fn start(&mut self) -> Result<(), PlayerLost> {
        let loses = self.bounds.missing == Missing::Loses;
        let failed = self.engine.failures.load(Ordering::Relaxed);
        if loses && failed >= HOPELESS {
            return Err(PlayerLost::NotStarted(format!(
                "it did not start {failed} times in a row and is not tried again"
            )));
        }
        // A program of the host that an entry starts with may have been replaced in the middle of that.
        let again = !loses || matches!(self.engine.start, EngineStart::Entry(..));
        let mut tried = self.start_once();
        for _ in 1..if again { TRIES } else { 1 } {
            if !matches!(tried, Err(PlayerLost::NotStarted(_))) {
                break;
            }
            tried = self.start_once();
        }
        self.replaced = self.engine.replaced(tried.is_ok());
        tried
    }

    fn start_once(&mut self) -> Result<(), PlayerLost> {
        let began = Instant::now();
        let tried = self.try_start(began + self.bounds.startup);
        // Afterwards: by now it has read what it is given.
        let changed = self.engine.changed_file().map(PlayerLost::NotStarted);
        match changed.map_or(tried, Err) {
            Ok(()) => {
                self.engine.failures.store(0, Ordering::Relaxed);
                self.started_in = Some(began.elapsed());
                Ok(())
            }
            Err(lost) => {
                if !matches!(lost, PlayerLost::Stopped | PlayerLost::Host(_)) {
                    self.engine.failures.fetch_add(1, Ordering::Relaxed);
                }
                self.kill();
                Err(lost)
            }
        }
    }

    fn try_start(&mut self, deadline: Instant) -> Result<(), PlayerLost> {
        let (process, pipes) = process::start(&self.engine.start)?;
        let wire = Wire::new(pipes, self.stop.clone(), self.log.clone())
            .map_err(|why| PlayerLost::Host(format!("the pipes to it cannot be used: {why}")))?;
        let switch = CastlingSwitch::of(std::iter::empty());
        self.live = Some(Live { wire, process, switch, began: Instant::now() });
        let mut announced = Vec::new();
        let greeting: String = self
            .engine
            .init
            .iter()
            .map(|line| format!("{line}\n"))
            .chain(["uci\n".into()])
            .collect();
        self.ask(greeting.as_bytes(), b"uciok", deadline, |line| {
            if let Reply::Option(option) = uci::parse(line) {
                announced.push(option);
            }
        })?;
        if let Some(live) = &mut self.live {
            live.switch = CastlingSwitch::of(announced.iter().map(|option| option.name.as_str()));
        }
        let mut text = String::new();
        let mut not_offered = Vec::new();
        for (name, value) in &self.engine.options {
            // As it announced it: some engines compare letter by letter.
            let mut names = announced.iter().map(|option| option.name.as_str());
            match names.find(|own| own.eq_ignore_ascii_case(name)) {
                Some(own) if value.is_empty() => text += &format!("setoption name {own}\n"),
                Some(own) => text += &format!("setoption name {own} value {value}\n"),
                None => not_offered.push(name.clone()),
            }
        }
        // An entry's options are its own, or those that an event tells each engine.
        let is_asked_for = matches!(self.engine.start, EngineStart::Trusted(_));
        if is_asked_for
            && !not_offered.is_empty()
            && !self.engine.lacks_options.swap(true, Ordering::Relaxed)
        {
            self.not_offered = not_offered;
        }
        // Rule 0.1. Options that an entry's own file sets do not count; whoever sets one for a trusted engine means it.
        for option in announced
            .iter()
            .filter(|option| uci::switches_book_or_pondering(&option.kind, &option.name))
        {
            let set = |(name, _): &(String, String)| name.eq_ignore_ascii_case(&option.name);
            if matches!(self.engine.start, EngineStart::Entry(..))
                || !self.engine.options.iter().any(set)
            {
                text += &format!("setoption name {} value false\n", option.name);
            }
        }
        text.push_str("isready\n");
        self.ask(text.as_bytes(), b"readyok", deadline, |_| {})?;
        if let Some(live) = &self.live {
            live.process.is_up();
        }
        Ok(())
    }

    /// Starts it and looks whether it offers Chess960; none where it does not start.
    pub(super) fn offers_chess960(&mut self) -> Option<bool> {
        self.try_start(Instant::now() + self.bounds.startup).ok()?;
        self.live.as_ref().map(|live| live.switch.is_offered())
    }

    /// Sends and waits for a line; a failure here is one of starting.
    fn ask(
        &mut self,
        text: &[u8],
        answer: &[u8],
        deadline: Instant,
        hear: impl FnMut(&[u8]),
    ) -> Result<(), PlayerLost> {
        let result = match &mut self.live {
            Some(live) => converse(&mut live.wire, text, answer, deadline, hear),
            None => Err(Silence::Gone),
        };
        let word = String::from_utf8_lossy(answer);
        match result {
            Ok(()) => Ok(()),
            Err(Silence::Stopped) => Err(PlayerLost::Stopped),
            Err(Silence::Timeout) => Err(PlayerLost::NotStarted(format!(
                "no {word} within {}; see that it answers uci and isready",
                humantime::format_duration(self.bounds.startup)
            ))),
            Err(Silence::Gone | Silence::Flood(_)) => {
                let exit = self.exit();
                let how = exit.map_or("its output was closed".to_owned(), |exit| exit.to_string());
                let last = self.stderr().pop().map(|line| format!(": {line}")).unwrap_or_default();
                Err(PlayerLost::NotStarted(format!("it ended before {word} ({how}){last}")))
            }
        }
    }

    fn exit(&mut self) -> Option<ExitHow> {
        self.live.as_mut()?.process.exit(Instant::now() + DYING)
    }

    fn stderr(&mut self) -> Vec<String> {
        self.live.as_mut().map(|live| lines(live.wire.stderr_tail())).unwrap_or_default()
    }

    fn said(&self) -> Vec<String> {
        const MOST: usize = 20;
        let said = self.live.as_ref().map(|live| lines(live.wire.heard())).unwrap_or_default();
        said.get(said.len().saturating_sub(MOST)..).unwrap_or_default().to_vec()
    }

    /// True if more than one thread was seen; remembered for the whole match.
    pub(super) fn look_at_threads(&self) {
        if let Some(live) = &self.live
            && live.process.threads() > 1
        {
            self.engine.wide.store(true, Ordering::Relaxed);
        }
    }

    /// Kills the process and all it started, and keeps what it left.
    pub(super) fn kill(&mut self) {
        self.part_with(|process| process.kill());
    }

    /// Lets go of one that has ended by itself between games, and loses nothing by it: where what it leaves is looked at, it had the
    /// same time to tidy up as one that was asked to quit.
    fn bury(&mut self) {
        match self.bounds.grace {
            Some(grace) => self.part_with(|process| process.leave(Instant::now() + grace)),
            None => self.kill(),
        }
    }

    fn part_with(&mut self, end: impl FnOnce(&mut dyn EngineProcess) -> LeftByProcess) {
        let (stderr, said) = (self.stderr(), self.said());
        if let Some(mut live) = self.live.take() {
            let exit = live.process.exit(Instant::now());
            let left = end(&mut *live.process);
            let refusals = left.refusals.clone();
            self.remains = Some(LostEngine { exit, stderr, refusals, said });
            match self.bounds.grace {
                Some(_) => self.killed.push(left),
                None => self.look_for_breaches(&left, live.began),
            }
        }
    }

    /// Looks at what an entry's process that has ended did in its games.
    fn look_for_breaches(&mut self, left: &LeftByProcess, began: Instant) {
        let EngineStart::Entry(launcher, _) = &self.engine.start else { return };
        for breach in launcher.breaches(left) {
            let game = self.games.at(breach.at.map(|at| began + at));
            self.breaches.push((breach, game));
        }
    }

    /// Asks it to quit, and kills what does not. Says what it left where that is looked at.
    pub(super) fn quit(&mut self) -> (Option<QuitLate>, Option<LeftByProcess>) {
        let Some(mut live) = self.live.take() else { return (None, None) };
        let asked = Instant::now();
        live.wire.leave();
        let (_, sent) = live.wire.send(b"quit\n", self.bounds.quit);
        let late = match sent {
            Ok(()) => {
                live.wire.idle(Instant::now() + self.bounds.quit);
                !live.wire.has_ended()
            }
            Err(_) => false,
        };
        let left = match self.bounds.grace {
            // In the middle of a search many hear nothing: it has as long as all that it started. A file that it cannot remove even so is held
            // against nobody.
            Some(grace) if late && self.interrupted => {
                live.wire.idle(asked + grace);
                let ended = live.wire.has_ended();
                Some(if ended { live.process.leave(asked + grace) } else { live.process.kill() })
            }
            Some(grace) => Some(live.process.leave(asked + grace)),
            None => {
                let left = live.process.kill();
                self.look_for_breaches(&left, live.began);
                None
            }
        };
        (late.then_some(QuitLate), left)
    }

    pub(super) fn pid(&self) -> Option<u32> {
        self.live.as_ref()?.process.pid()
    }

    fn lost(&mut self, silence: Silence, waited: Duration) -> PlayerLost {
        match silence {
            Silence::Stopped => {
                self.interrupted = true;
                PlayerLost::Stopped
            }
            Silence::Timeout => PlayerLost::Silent(waited),
            Silence::Gone | Silence::Flood(_) => PlayerLost::Gone(self.exit()),
        }
    }
}

/// An engine that did not end in time after `quit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuitLate;

/// Sends and reads until a line begins with `answer`.
fn converse(
    wire: &mut Wire<Option<DialogueSender>>,
    text: &[u8],
    answer: &[u8],
    deadline: Instant,
    mut hear: impl FnMut(&[u8]),
) -> Result<(), Silence> {
    let patience = deadline.saturating_duration_since(Instant::now());
    wire.send(text, patience).1?;
    loop {
        let (_, line) = wire.line(deadline)?;
        if line.trim_ascii() == answer {
            return Ok(());
        }
        hear(line);
    }
}

impl From<StartError> for PlayerLost {
    fn from(error: StartError) -> PlayerLost {
        match error {
            StartError::Program(why) => PlayerLost::NotStarted(why),
            StartError::Sandbox(error) => PlayerLost::Host(error.to_string()),
        }
    }
}

impl EngineSeat<'_> {
    /// Asks the engine, and takes back whatever came of it where the referee stood still meanwhile.
    fn watched<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> (T, Option<PlayerLost>) {
        let asked = self.heartbeat.map(|_| BootMoment::now());
        let answer = ask(self);
        let lost = self.heartbeat.zip(asked).and_then(|((heartbeat, limit), asked)| {
            let lasted = heartbeat.longest(asked);
            (lasted >= *limit).then_some(PlayerLost::Standstill(lasted))
        });
        (answer, lost)
    }

    fn greet(&mut self) -> Result<(), PlayerLost> {
        for attempt in 0..2 {
            if self.live.is_none() {
                self.start()?;
            }
            let deadline = Instant::now() + self.bounds.ready;
            let Some(live) = &mut self.live else { break };
            let text = live.switch.line(self.castling)? + "ucinewgame\nisready\n";
            match converse(&mut live.wire, text.as_bytes(), b"readyok", deadline, |_| {}) {
                Ok(()) => return Ok(()),
                // One that ended between games is started again; one that ends at every start is not.
                Err(Silence::Gone) if attempt == 0 => self.bury(),
                Err(silence) => {
                    let lost = self.lost(silence, self.bounds.ready);
                    // Where what it leaves is looked at, one that is only to stop is asked to quit.
                    if lost != PlayerLost::Stopped || self.bounds.grace.is_none() {
                        self.kill();
                    }
                    return Err(lost);
                }
            }
        }
        Err(PlayerLost::Gone(None))
    }

    /// Looks at what it has used, before and after its opponent's thinking, where that takes seconds.
    fn look(&self) -> Option<(Instant, Duration)> {
        let live = self.live.as_ref()?;
        let slow = self.engine.control.base().is_some_and(|base| base >= SLOW_GAME);
        let used = if slow { live.process.computed() } else { None };
        used.map(|used| (Instant::now(), used))
    }

    /// Its opponent has moved.
    fn note_wait(&mut self) {
        let before = self.resting.take();
        if let Some(((began, before), (now, used))) = before.zip(self.look()) {
            self.waits.note(now - began, used.saturating_sub(before));
        }
    }

    fn ask_for_move(&mut self, text: &[u8], wait: Duration) -> Thought {
        self.info = SearchInfo::default();
        self.pv.clear();
        self.comments.clear();
        let Some(live) = &mut self.live else {
            let now = self.epoch.stamp(Instant::now());
            return Thought {
                sent: now,
                heard: now,
                said: PlayerAnswer::Lost(PlayerLost::Gone(None)),
            };
        };
        let unasked = &mut self.unasked;
        // A move that was said twice would be taken for the answer to this question.
        live.wire.unasked(|line| {
            if uci::best_word(line).is_some() {
                unasked.get_or_insert_with(|| escape(line, 60));
            }
        });
        let (sent, taken) = live.wire.send(text, wait);
        let deadline = sent + wait;
        let answer = match taken {
            Ok(()) => loop {
                match live.wire.line(deadline) {
                    Ok((at, line)) => {
                        if let Some(word) = uci::best_word(line) {
                            break Ok((at, read_best(word)));
                        }
                        if let Some(info) = InfoLine::read(line).filter(InfoLine::counts) {
                            self.info = info.search;
                            self.pv.clear();
                            self.pv.extend_from_slice(info.pv);
                        } else if line.starts_with(FOR_THE_RECORD)
                            && self.comments.len() + line.len() < MOST_COMMENTS
                        {
                            self.comments.extend_from_slice(line.trim_ascii_end());
                            self.comments.push(b'\n');
                        }
                    }
                    Err(silence) => break Err(silence),
                }
            },
            Err(silence) => Err(silence),
        };
        let (heard, said) = answer.unwrap_or_else(|silence| {
            (Instant::now(), PlayerAnswer::Lost(self.lost(silence, wait)))
        });
        Thought { sent: self.epoch.stamp(sent), heard: self.epoch.stamp(heard), said }
    }
}

impl Player for EngineSeat<'_> {
    fn new_game(&mut self) -> Result<(), PlayerLost> {
        (self.resting, self.waits) = (None, PonderWaits::default());
        match self.watched(Self::greet) {
            (Err(lost), Some(standstill)) if lost != PlayerLost::Stopped => Err(standstill),
            (answer, _) => answer,
        }
    }

    fn think(&mut self, text: &[u8], wait: Duration) -> Thought {
        self.note_wait();
        let (thought, standstill) = self.watched(|seat| seat.ask_for_move(text, wait));
        self.resting = self.look();
        match standstill {
            Some(lost) if thought.said != PlayerAnswer::Lost(PlayerLost::Stopped) => {
                Thought { said: PlayerAnswer::Lost(lost), ..thought }
            }
            _ => thought,
        }
    }

    fn info(&self) -> SearchInfo {
        self.info
    }

    fn pv(&self) -> &[u8] {
        &self.pv
    }

    fn comments(&self) -> &[u8] {
        &self.comments
    }
}

/// Reads what stands behind `bestmove`. A move is read strictly, as in UCI.
fn read_best(word: &[u8]) -> PlayerAnswer {
    match std::str::from_utf8(word).map(uci::read_move) {
        Ok(Ok(one)) => PlayerAnswer::Move(one),
        Ok(Err(MoveFault::Resignation)) => PlayerAnswer::Resign,
        Ok(Err(MoveFault::Missing)) => PlayerAnswer::NoMove(NO_WORD.into()),
        _ => PlayerAnswer::NoMove(escape(word, 40)),
    }
}

/// Lines of a stranger's, each harmless; none that are empty.
fn lines(text: &[u8]) -> Vec<String> {
    let lines = text.split(|byte| *byte == b'\n');
    lines.filter(|line| !line.trim_ascii().is_empty()).map(|line| escape(line, 300)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_moves_are_read_strictly() {
        let said = |line: &str| read_best(uci::best_word(line.as_bytes()).unwrap());
        assert_eq!(
            said("bestmove e7e8q ponder a2a3"),
            PlayerAnswer::Move("e7e8q".parse().unwrap())
        );
        assert_eq!(said("bestmove resign"), PlayerAnswer::Resign);
        for (line, shown) in [
            ("bestmove 0000", "0000"),
            ("bestmove (none)", "(none)"),
            ("bestmove", NO_WORD),
            ("bestmove Nf3", "Nf3"),
            ("bestmove e2e4\x07", "e2e4\\u{7}"),
        ] {
            assert_eq!(said(line), PlayerAnswer::NoMove(shown.into()), "{line}");
        }
    }
}
