//! The state of a conversation: the wire, the process, and the evidence so far.

use std::time::{Duration, Instant};

use shakmaty::Chess;

use super::stall::StallDetector;
use crate::engine::uci::{
    OptionLine, Reply, UciCommand, best_word, parse, plays_from_book, switches_book_or_pondering,
};
use crate::engine::wire::{Observer, Silence, Wire};
use crate::judge::support::runs;
use crate::model::evidence::{
    Answer, Ask, DeclaredOption, EndHow, ExitHow, GoQuestion, LeftProcess, Limits, Purpose,
    Question, Refusal, Resource, Run, Shell,
};
use crate::model::text::{escape, lines_of};
use crate::model::transcript::Transcript;
use crate::model::units::Bytes;
use crate::sandbox::plan::Confined;

/// Characters kept of a line that goes into evidence.
pub(super) const LINE: usize = 300;
/// Options kept of one engine.
const MOST_OPTIONS: usize = 200;
/// The longest time from the end of its output until a process is seen ending.
pub(super) const DYING: Duration = Duration::from_millis(300);
/// The longest time from the end of the first process until it is known that no process is left.
const AT_ONCE: Duration = Duration::from_millis(50);

/// Writes down both directions of a conversation.
#[derive(Debug)]
pub(super) struct ConversationRecord {
    epoch: Instant,
    transcript: Transcript,
    /// The number of `go` that were sent.
    asked: usize,
    /// The number of `bestmove` that were heard, as an answer or not.
    moves: usize,
    /// True if these were more than were asked for at some moment.
    surplus_moves: bool,
}

impl ConversationRecord {
    /// Times count from here.
    pub(super) fn since(epoch: Instant) -> ConversationRecord {
        ConversationRecord {
            epoch,
            transcript: Transcript::default(),
            asked: 0,
            moves: 0,
            surplus_moves: false,
        }
    }
}

impl Observer for ConversationRecord {
    const QUIET: Duration = Duration::from_secs(1);
    const FLOODS_END: bool = true;

    fn sent(&mut self, text: &[u8]) {
        for line in text.split(|byte| *byte == b'\n') {
            self.asked += usize::from(line == b"go" || line.starts_with(b"go "));
            self.transcript.sent(self.epoch.elapsed(), line);
        }
    }

    fn received(&mut self, at: Instant, line: &[u8]) {
        self.moves += usize::from(best_word(line).is_some());
        self.surplus_moves |= self.moves > self.asked;
        self.transcript.received(at.saturating_duration_since(self.epoch), line);
    }

    fn stderr(&mut self, chunk: &[u8]) {
        self.transcript.stderr(self.epoch.elapsed(), chunk);
    }

    fn note(&mut self, text: &str) {
        self.transcript.note(self.epoch.elapsed(), text);
    }
}

pub(super) struct Pending {
    pub(super) question: GoQuestion,
    pub(super) position: Chess,
    pub(super) sent: Instant,
}

pub(super) struct Inner {
    pub(super) wire: Wire<ConversationRecord>,
    pub(super) confined: Box<dyn Confined>,
    pub(super) started: Instant,
    pub(super) limits: Limits,
    /// The evidence so far.
    pub(super) run: Run,
    /// The purposes before, each with the number of questions up to its end.
    pub(super) turns: Vec<(Purpose, usize)>,
    /// The options of its configuration, each with its value.
    pub(super) configured: Vec<(String, String)>,
    pub(super) book_is_off: bool,
    /// True if the lines of a question are one write, as in a match.
    pub(super) in_one_write: bool,
    /// The lines that set options before the next question.
    pub(super) set: Option<String>,
    pub(super) infos: u32,
    pub(super) other: Option<String>,
    pub(super) last_info: Option<String>,
    pub(super) pv: bool,
    pub(super) pending: Option<Pending>,
    /// True from `go` to the move.
    pub(super) is_searching: bool,
    /// True if what was last waited for in vain would not have come sooner on a faster host.
    pub(super) only_waited: bool,
    /// The memory that it used when the start's limit was over, where it still took more.
    pub(super) still_taking: Option<Bytes>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner")
            .field("purpose", &self.run.purpose)
            .field("asks", &self.run.asks)
            .finish_non_exhaustive()
    }
}

/// A reply with its moment and its line.
type Heard = (Instant, Vec<u8>, Reply);

/// The least time in which an opponent on a clock of the event has moved.
const OPPONENT: Duration = Duration::from_millis(50);

impl Inner {
    /// Waits until an opponent may have answered the last move: threads of a search that end a moment after its bestmove are no
    /// fault, since no event asks for the next move in that moment.
    pub(super) fn let_the_opponent_move(&self) {
        let last = self.run.asks.iter().rfind(|ask| ask.is_search());
        if let Some(last) = last {
            let moved = self.started + last.at + last.took + OPPONENT;
            std::thread::sleep(moved.saturating_duration_since(Instant::now()));
        }
    }

    pub(super) fn new(
        wire: Wire<ConversationRecord>,
        confined: Box<dyn Confined>,
        purpose: Purpose,
        shell: Shell,
        limits: Limits,
    ) -> Inner {
        Inner {
            wire,
            started: confined.started(),
            confined,
            limits,
            run: Run { purpose, shell, ..Run::default() },
            turns: Vec::new(),
            configured: Vec::new(),
            book_is_off: false,
            in_one_write: false,
            set: None,
            infos: 0,
            other: None,
            last_info: None,
            pv: false,
            pending: None,
            is_searching: false,
            only_waited: false,
            still_taking: None,
        }
    }

    pub(super) fn since_start(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.started)
    }

    /// Sends lines in order; the answer to record where they were not taken.
    pub(super) fn say(&mut self, lines: &[&str]) -> Result<Instant, Answer> {
        self.infos = 0;
        self.other = None;
        self.last_info = None;
        let sent = Instant::now();
        let whole = lines.join("\n");
        let writes = if self.in_one_write { &[&*whole][..] } else { lines };
        for line in writes {
            let patience = (sent + self.limits.answer).saturating_duration_since(Instant::now());
            match self.wire.send(format!("{line}\n").as_bytes(), patience).1 {
                Ok(()) => {}
                Err(Silence::Gone) => return Err(self.ended()),
                Err(Silence::Flood(bytes)) => return Err(Answer::Flood(bytes)),
                Err(Silence::Timeout | Silence::Stopped) => return Err(Answer::NotTaken),
            }
        }
        Ok(sent)
    }

    /// Reads until `wanted` accepts a reply, without a word on why it does not by then. (Nobody raises the stop of a conversation.)
    pub(super) fn listen(
        &mut self,
        until: Instant,
        wanted: impl Fn(&Reply) -> bool,
    ) -> Result<Option<Heard>, Answer> {
        loop {
            match self.wire.line(until) {
                Ok((at, line)) => {
                    let bytes = line.to_vec();
                    let reply = parse(&bytes);
                    if wanted(&reply) {
                        return Ok(Some((at, bytes, reply)));
                    }
                    self.learn(reply, &bytes);
                }
                Err(Silence::Timeout | Silence::Stopped) => return Ok(None),
                Err(Silence::Gone) => return Err(self.ended()),
                Err(Silence::Flood(bytes)) => return Err(Answer::Flood(bytes)),
            }
        }
    }

    /// Reads until `wanted` accepts a reply; the answer that stands for its lack where none comes.
    pub(super) fn hear(
        &mut self,
        deadline: Instant,
        wanted: impl Fn(&Reply) -> bool,
    ) -> Result<Heard, Answer> {
        let mut stall = StallDetector::new(Instant::now(), deadline);
        loop {
            if let Some(heard) = self.listen(stall.until(), &wanted)? {
                return Ok(heard);
            }
            if stall.is_over() {
                break;
            }
            stall.look(&*self.confined);
        }
        self.only_waited = stall.only_waited(&*self.confined);
        if self.run.readyok.is_none() {
            self.still_taking = stall.still_takes_memory(&*self.confined);
        }
        self.note_processes();
        Err(Answer::Timeout)
    }

    pub(super) fn learn(&mut self, reply: Reply, line: &[u8]) {
        match reply {
            Reply::Name(name) => self.run.id_name = Some(escape(name.as_bytes(), LINE)),
            Reply::Author(author) => self.run.id_author = Some(escape(author.as_bytes(), LINE)),
            Reply::Option(option) => self.learn_option(&option),
            Reply::Info(info) => {
                self.infos = self.infos.saturating_add(1);
                self.pv |= info.pv;
                if info.search.score.is_some() {
                    self.last_info = Some(escape(line, LINE));
                }
                if info.string.as_deref().is_some_and(plays_from_book) {
                    let book = &mut self.run.book;
                    // Once it is off, only moves tell that it goes on: between searches, engines say that the option was set.
                    match (self.book_is_off, self.is_searching) {
                        (false, _) => book.by_default.get_or_insert_with(|| escape(line, LINE)),
                        (true, true) => book.when_off.get_or_insert_with(|| escape(line, LINE)),
                        (true, false) => return,
                    };
                }
            }
            Reply::Other if !line.trim_ascii().is_empty() => self.other = Some(escape(line, LINE)),
            Reply::UciOk | Reply::ReadyOk | Reply::BestMove(_) | Reply::Other => {}
        }
    }

    fn learn_option(&mut self, option: &OptionLine) {
        if self.run.options.len() >= MOST_OPTIONS {
            return;
        }
        let declared = DeclaredOption {
            name: escape(option.name.as_bytes(), LINE),
            kind: escape(option.kind.as_bytes(), LINE),
            default: option.default.as_ref().map(|text| escape(text.as_bytes(), LINE)),
        };
        let plain = plain(&declared.name);
        if declared.kind == "check" && plain.contains("book") {
            // `OwnBook` is UCI's own name for it and wins over any other that speaks of a book.
            if plain == "ownbook" || self.run.book.option.is_none() {
                self.run.book.option = Some(declared.name.clone());
            }
        }
        self.run.options.push(declared);
    }

    /// The lines that set what its configuration sets, of the options that it announced. Switches of a book and of pondering are
    /// left to the questions that are about these, since an event sets them to false.
    pub(super) fn sets(&self) -> Vec<String> {
        let line = |(name, value): &(String, String)| {
            let own = self.run.options.iter().find(|own| own.name.eq_ignore_ascii_case(name))?;
            let value = (!value.is_empty()).then_some(&**value);
            let set = UciCommand::SetOption { name: &own.name, value };
            (!switches_book_or_pondering(&own.kind, &own.name)).then(|| set.to_string())
        };
        self.configured.iter().filter_map(line).collect()
    }

    /// The lines that switch off a book and pondering.
    pub(super) fn switches(&self) -> Vec<String> {
        let run = &self.run;
        let is_switch = |option: &&DeclaredOption| {
            switches_book_or_pondering(&option.kind, &option.name)
                || option.name.eq_ignore_ascii_case("ponder")
                || run.book.option.as_ref() == Some(&option.name)
        };
        let off = |option: &DeclaredOption| {
            UciCommand::SetOption { name: &option.name, value: Some("false") }.to_string()
        };
        run.options.iter().filter(is_switch).map(off).collect()
    }

    pub(super) fn record(
        &mut self,
        question: Question,
        sent: Instant,
        answered: Instant,
        answer: Answer,
    ) {
        // Its output may have been held open for a while after its end, by a stub's `sleep`.
        let answered = match (&answer, self.wire.ended_at()) {
            (Answer::Ended(_), Some(ended)) => answered.min(ended),
            _ => answered,
        };
        // Lines that it said before are no answers to `quit`.
        let unfinished = match (&answer, &question) {
            (_, Question::Quit | Question::EndOfInput) => &[],
            (Answer::Timeout, _) => self.wire.unfinished().trim_ascii_start(),
            _ => &[],
        };
        let ask = Ask {
            set: self.set.take(),
            question,
            at: self.since_start(sent),
            took: answered.saturating_duration_since(sent),
            answer,
            infos: self.infos,
            last_info: self.last_info.take(),
            other: self.other.take(),
            unfinished: (!unfinished.is_empty()).then(|| escape(unfinished, LINE)),
        };
        self.run.strained |= match &ask.answer {
            Answer::Timeout => !ask.was_cut() && !self.only_waited,
            // A program that is not there (a shell's 126 and 127) no host brings in time.
            Answer::Ended(Some(ExitHow::Status(126 | 127))) => false,
            Answer::Illegal { why, .. } if why.is_a_way_of_writing() => false,
            // One that races against a sleep or a clock of its own may lose only where others compute: it ends, or has
            // no move by then.
            Answer::NotTaken | Answer::Ended(_) | Answer::Illegal { .. } => true,
            Answer::Done
            | Answer::OnlyAtEnd
            | Answer::Legal(_)
            | Answer::Resigned
            | Answer::Flood(_) => false,
        };
        self.run.asks.push(ask);
    }

    /// Output was closed, or nobody reads our input any more: the exit, if there is one.
    pub(super) fn ended(&mut self) -> Answer {
        let exit = self.confined.wait_first(Instant::now() + DYING);
        if exit.is_some() {
            self.run.ending.exit = exit;
            self.run.ending.how = EndHow::ByItself;
        }
        self.wire.drain();
        Answer::Ended(exit)
    }

    pub(super) fn note_processes(&mut self) {
        let processes = self.confined.processes();
        for process in processes.iter().take(8) {
            let text =
                format!("still there: {} ({}) {}", process.pid, process.state, process.command);
            self.wire.note(&text);
        }
        let is_stopped = |process: &LeftProcess| process.state == LeftProcess::STOPPED;
        self.run.stopped = processes.into_iter().find(is_stopped);
    }

    /// A question with a fixed reply.
    pub(super) fn ask(
        &mut self,
        question: Question,
        lines: &[&str],
        deadline: Instant,
        wanted: &Reply,
    ) -> Result<Instant, ()> {
        let asked = Instant::now();
        let heard = self.say(lines).and_then(|_| self.hear(deadline, |reply| reply == wanted));
        self.answered(question, asked, heard.map(|(at, ..)| at))
    }

    /// Records what came of a question with a fixed reply: when that was heard, or what came in its place.
    pub(super) fn answered(
        &mut self,
        question: Question,
        asked: Instant,
        heard: Result<Instant, Answer>,
    ) -> Result<Instant, ()> {
        let (at, answer, outcome) = match heard {
            Ok(at) => (at, Answer::Done, Ok(at)),
            Err(answer) => (Instant::now(), answer, Err(())),
        };
        self.record(question, asked, at, answer);
        outcome
    }

    /// Waits for the end of the first process after `quit` or the end of input.
    pub(super) fn part(
        &mut self,
        question: Question,
        how: EndHow,
        asked: Instant,
        taken: Option<Answer>,
    ) {
        let refused = taken.filter(|answer| !matches!(answer, Answer::Ended(_)));
        if refused.is_none() {
            let mut stall = StallDetector::new(asked, asked + self.limits.quit);
            self.wire.idle(stall.until());
            while !self.wire.has_ended() && !stall.is_over() {
                stall.look(&*self.confined);
                self.wire.idle(stall.until());
            }
            if !self.wire.has_ended() {
                self.only_waited = stall.only_waited(&*self.confined);
            }
        }
        let seen = Instant::now();
        let exit =
            if self.wire.has_ended() { self.confined.wait_first(seen + DYING) } else { None };
        self.run.ending.exit = exit;
        self.run.ending.exit_after = exit.map(|_| seen.saturating_duration_since(asked));
        let answer = match (refused, exit) {
            (Some(answer), _) => answer,
            (None, Some(_)) => Answer::Done,
            (None, None) => Answer::Timeout,
        };
        self.run.ending.how = how;
        if answer != Answer::Done {
            self.note_processes();
        }
        self.record(question, asked, seen, answer);
    }

    /// Takes everything down; the evidence, a run for each purpose. The end of the process, and what it did meanwhile, is the last
    /// one's.
    pub(super) fn into_runs(mut self) -> Vec<Run> {
        let turns = std::mem::take(&mut self.turns);
        let mut last = self.into_run();
        let mut asks = std::mem::take(&mut last.asks).into_iter();
        let mut runs = Vec::new();
        let mut taken = 0;
        for (purpose, upto) in turns {
            let own = asks.by_ref().take(upto - taken).collect();
            taken = upto;
            let part = Run { asks: own, ..last.clone() }.unended(purpose);
            last.before = runs::commands(&part);
            runs.push(part);
        }
        last.asks = asks.collect();
        runs.push(last);
        runs
    }

    /// Takes everything down; the evidence.
    pub(super) fn into_run(mut self) -> Run {
        if self.run.ending.how == EndHow::Quit
            && self.run.ending.exit.is_some()
            && self.run.ending.emptied_after.is_none()
            && self.run.left_processes.is_empty()
            && self.confined.wait_empty(Instant::now() + AT_ONCE)
        {
            // Everything has ended by itself, without a wait for what sleeps: what lies there now will stay.
            self.run.ending.emptied_after = self.run.ending.exit_after;
        }
        self.confined.kill();
        self.wire.drain();
        let mut traces = self.confined.close();
        if let Some(size) = self.still_taking {
            traces.refusals.push(Refusal { by: None, what: Resource::StillTaking(size) });
        }
        if traces.launch_failure.is_some() {
            self.run.ending.how = EndHow::NotStarted;
            // Time has no part in an exec that failed.
            self.run.strained = false;
        }
        let tail = self.wire.stderr_tail();
        let lines = lines_of(tail).filter(|_| !tail.is_empty());
        Run {
            launch_failure: traces.launch_failure,
            execs: traces.execs,
            opens: traces.opens,
            not_installed: traces.not_installed,
            denials: traces.denials,
            refusals: traces.refusals,
            lazy_maps: traces.lazy_maps,
            crashes: traces.crashes,
            left_files: traces.left_files,
            stderr_tail: lines.map(|line| escape(line, LINE)).collect(),
            surplus_moves: self.wire.observer().surplus_moves,
            transcript: self.wire.observer().transcript.clone(),
            ..self.run
        }
    }
}

/// A name without blanks, signs and capitals, to recognize an option however it is written.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
