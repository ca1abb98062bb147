//! The dialogue of all engines of a match as a file: a line for each that was sent, heard, or written to standard error.
//!
//! A game hands its lines on without waiting, and a thread of its own writes them. A line for which there is no room is left out
//! and counted, so that neither a slow disk nor an engine that floods costs anybody a clock. Between engines that answer at once
//! lines come faster than they can be written all the time: so a game begins once there is room for its lines.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TryRecvError, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use crate::engine::wire::Observer;
use crate::files::write;
use crate::game::clock::Monotonic;
use crate::model::game::record::Stamp;
use crate::model::text::{escape, lines_of};
use crate::model::transcript::Speaker;

/// Bytes kept of a line of an engine's; ours are whole, so that a position can be set up again.
const LONGEST_HEARD: usize = 1024;
/// Lines that may wait to be written.
const MOST_WAITING: usize = 16 * 1024;
/// A game begins when no more than these wait.
const ENOUGH_ROOM: usize = MOST_WAITING / 2;
/// The longest time that a game waits for that: a disk may stand still.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// Bytes that one run adds to the file.
const MOST_WRITTEN: u64 = 1 << 30;

/// The file, and the thread that writes it.
#[derive(Debug)]
pub(crate) struct Dialogue {
    lines: SyncSender<Line>,
    missed: Arc<AtomicU64>,
    waiting: Arc<AtomicUsize>,
    writer: JoinHandle<io::Result<()>>,
}

/// Hands the lines of one process to the writer.
#[derive(Clone, Debug)]
pub(super) struct DialogueSender {
    lines: SyncSender<Line>,
    missed: Arc<AtomicU64>,
    /// Lines of all engines that are handed on and not written yet.
    waiting: Arc<AtomicUsize>,
    engine: Arc<str>,
    /// The number of its game, from 0; the same for the process and for whoever seats it.
    game: Arc<AtomicUsize>,
    epoch: Monotonic,
}

#[derive(Debug)]
struct Line {
    at: Stamp,
    engine: Arc<str>,
    game: usize,
    voice: Speaker,
    text: Vec<u8>,
    /// Bytes of it that are not kept.
    cut: usize,
    /// Lines before it that found no room.
    missed: u64,
}

impl Dialogue {
    /// Adds to a file, beginning with a line that says how it is to be read.
    ///
    /// # Errors
    /// When it cannot be written, or no thread be started.
    pub(crate) fn open(path: &Path) -> io::Result<Dialogue> {
        let mut file = write::append(path)?;
        let now = humantime::format_rfc3339_seconds(SystemTime::now());
        writeln!(
            file,
            "# gate4k {}, {now}: seconds of the match, engine(game), > sent, < heard, ! standard error",
            env!("CARGO_PKG_VERSION")
        )?;
        let (lines, heard) = mpsc::sync_channel(MOST_WAITING);
        let (missed, waiting) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicUsize::new(0)));
        let own = (Arc::clone(&missed), Arc::clone(&waiting));
        let writer = thread::Builder::new().name("dialogue".into()).spawn(move || {
            let (missed, waiting) = own;
            let written = write(&heard, &missed, &waiting, file, MOST_WRITTEN);
            // Where it ends before the match, nobody need wait for it.
            drop(heard);
            waiting.store(0, Ordering::Relaxed);
            written
        })?;
        Ok(Dialogue { lines, missed, waiting, writer })
    }

    /// The place for an engine's lines, stamped as the events of the match are.
    pub(super) fn sender(&self, engine: &str, epoch: Monotonic) -> DialogueSender {
        DialogueSender {
            lines: self.lines.clone(),
            missed: Arc::clone(&self.missed),
            waiting: Arc::clone(&self.waiting),
            engine: escape(engine.as_bytes(), 100).into(),
            game: Arc::default(),
            epoch,
        }
    }

    /// Waits until all is written.
    ///
    /// # Errors
    /// When something could not be written; what came after it is not there.
    pub(crate) fn finish(self) -> io::Result<()> {
        drop(self.lines);
        self.writer.join().unwrap_or_else(|_| Err(io::Error::other("its thread panicked")))
    }
}

impl DialogueSender {
    /// The game to which the lines from now on belong. It begins when there is room for them: no clock runs yet.
    pub(super) fn begin(&self, game: usize) {
        self.game.store(game, Ordering::Relaxed);
        let began = Instant::now();
        while self.waiting.load(Ordering::Relaxed) > ENOUGH_ROOM && began.elapsed() < LONGEST_WAIT {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn put(&self, at: Instant, voice: Speaker, text: &[u8]) {
        let most = if voice == Speaker::Sent { usize::MAX } else { LONGEST_HEARD };
        let kept = text.len().min(most);
        let missed = self.missed.swap(0, Ordering::Relaxed);
        let line = Line {
            at: self.epoch.stamp(at),
            engine: Arc::clone(&self.engine),
            game: self.game.load(Ordering::Relaxed),
            voice,
            text: text.get(..kept).unwrap_or_default().to_vec(),
            cut: text.len() - kept,
            missed,
        };
        // Counted before, so that the writer never takes away what is not there yet.
        self.waiting.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = self.lines.try_send(line) {
            self.missed.fetch_add(missed + 1, Ordering::Relaxed);
            if matches!(error, TrySendError::Full(_)) {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
            } else {
                self.waiting.store(0, Ordering::Relaxed);
            }
        }
    }

    fn put_all(&self, voice: Speaker, text: &[u8]) {
        let now = Instant::now();
        lines_of(text).for_each(|line| self.put(now, voice, line));
    }
}

impl Observer for Option<DialogueSender> {
    fn sent(&mut self, text: &[u8]) {
        if let Some(sender) = self {
            sender.put_all(Speaker::Sent, text);
        }
    }

    fn received(&mut self, at: Instant, line: &[u8]) {
        if let Some(sender) = self {
            sender.put(at, Speaker::Received, line);
        }
    }

    fn stderr(&mut self, chunk: &[u8]) {
        if let Some(sender) = self {
            sender.put_all(Speaker::Stderr, chunk);
        }
    }

    fn note(&mut self, text: &str) {
        if let Some(sender) = self {
            sender.put(Instant::now(), Speaker::Note, text.as_bytes());
        }
    }
}

impl Line {
    /// `    1.234567 A(12) < bestmove e2e4`, with its end.
    fn text(&self) -> String {
        let Line { at, engine, game, voice, .. } = self;
        let text = escape(&self.text, usize::MAX);
        let cut =
            if self.cut > 0 { format!(" … {} more bytes", self.cut) } else { String::new() };
        let sign = voice.sign();
        format!("{:12.6} {engine}({}) {sign} {text}{cut}\n", at.0.as_secs_f64(), game + 1)
    }
}

/// Writes until nobody is left who hands lines on; shows all that it has whenever it has to wait.
fn write(
    heard: &Receiver<Line>,
    missed: &AtomicU64,
    waiting: &AtomicUsize,
    file: impl Write,
    most: u64,
) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    let mut left = most;
    loop {
        let line = match heard.try_recv() {
            Ok(line) => line,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                file.flush()?;
                match heard.recv() {
                    Ok(line) => line,
                    Err(_) => break,
                }
            }
        };
        waiting.fetch_sub(1, Ordering::Relaxed);
        let text = gap(line.missed) + &line.text();
        let Some(rest) = left.checked_sub(text.len() as u64) else {
            file.write_all(b"# the log is full; nothing more is written in this run\n")?;
            return file.flush();
        };
        left = rest;
        file.write_all(text.as_bytes())?;
    }
    file.write_all(gap(missed.load(Ordering::Relaxed)).as_bytes())?;
    file.flush()
}

/// A word on lines that found no room; nothing where there are none.
fn gap(lines: u64) -> String {
    if lines == 0 {
        return String::new();
    }
    format!("# {lines} lines are missing here: they came faster than they could be written\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(room: usize) -> (Option<DialogueSender>, Receiver<Line>, Arc<AtomicU64>) {
        let (lines, heard) = mpsc::sync_channel(room);
        let missed = Arc::new(AtomicU64::new(0));
        let (engine, game) = ("A".into(), Arc::default());
        let own = Arc::clone(&missed);
        let waiting = Arc::default();
        let sender =
            DialogueSender { lines, missed: own, waiting, engine, game, epoch: Monotonic::start() };
        (Some(sender), heard, missed)
    }

    fn written(heard: &Receiver<Line>, missed: &AtomicU64, most: u64) -> Vec<String> {
        let mut file = Vec::new();
        let waiting = AtomicUsize::new(MOST_WAITING);
        write(heard, missed, &waiting, &mut file, most).unwrap();
        let text = String::from_utf8(file).unwrap();
        text.lines().map(|line| line.trim_start_matches(['0', '.', ' ']).to_owned()).collect()
    }

    #[test]
    fn lines_without_room_are_counted_where_they_are_missing() {
        let (mut full, heard, missed) = sender(2);
        full.sent(b"uci\nisready\n");
        full.received(Instant::now(), b"uciok");
        full.received(Instant::now(), b"readyok");
        // The writer has taken one, and there is room again.
        let first = heard.recv().unwrap();
        full.stderr(b"late\n");
        full.stderr(b"too late\n");
        drop(full);
        assert_eq!((first.missed, &first.text[..]), (0, &b"uci"[..]));
        let lines = written(&heard, &missed, u64::MAX);
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[0].ends_with("A(1) > isready") && lines[2].ends_with("A(1) ! late"));
        assert!(lines[1].starts_with("# 2 lines are missing"), "{lines:?}");
        assert!(lines[3].starts_with("# 1 lines are missing"), "{lines:?}");
    }

    #[test]
    fn what_engines_say_is_bounded_and_harmless_and_ours_is_whole() {
        let (mut log, heard, missed) = sender(9);
        log.as_ref().unwrap().begin(41);
        log.received(Instant::now(), &[b'x'; LONGEST_HEARD + 7]);
        log.received(Instant::now(), b"\x1b[2J");
        log.sent(&[b'm'; 5000]);
        drop(log);
        let lines = written(&heard, &missed, u64::MAX);
        assert!(lines[0].ends_with("xx … 7 more bytes") && lines[0].contains("A(42) < xx"));
        assert!(lines[1].ends_with("A(42) < \\u{1b}[2J"), "{}", lines[1]);
        assert!(lines[2].ends_with(&"m".repeat(5000)));
    }

    /// The thread would wait for a minute here if it were not let go.
    #[test]
    fn a_game_begins_when_there_is_room_for_its_lines() {
        let (log, heard, _) = sender(MOST_WAITING);
        let log = log.unwrap();
        for _ in 0..=ENOUGH_ROOM {
            log.put(Instant::now(), Speaker::Sent, b"x");
        }
        let waiting = Arc::clone(&log.waiting);
        let taken = thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let first = heard.recv().is_ok();
                waiting.fetch_sub(1, Ordering::Relaxed);
                (first, heard)
            });
            log.begin(7);
            writer.join().unwrap()
        });
        assert!(taken.0);
        assert_eq!(waiting.load(Ordering::Relaxed), ENOUGH_ROOM);
        // A writer that is gone is waited for by nobody.
        drop(taken.1);
        log.put(Instant::now(), Speaker::Sent, b"x");
        assert_eq!(waiting.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_file_has_an_end() {
        let (mut log, heard, missed) = sender(9);
        for _ in 0..5 {
            log.note("0123456789");
        }
        drop(log);
        let lines = written(&heard, &missed, 100);
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[3].starts_with("# the log is full"), "{lines:?}");
    }
}
