//! `gate4k event serve`: follows an event's journal and shows it to visitors.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::time::{ClockId, clock_gettime};
use tokio::sync::watch;

use super::following::Following;
use crate::cli::ServeArgs;
use crate::cmd::early_end::EarlyEnd;
use crate::cmd::note;
use crate::event::broadcast::{BroadcastGame, EventChanges};
use crate::event::config::EventConfig;
use crate::model::exit::Exit;
use crate::model::text::escape;
use crate::serve::{ChangeNotice, SitePublisher, VisitorTerms};
use crate::view::site::Site;

/// The interval between two looks for moves; a move is told so much later at most.
const LOOK: Duration = Duration::from_millis(10);
/// Moves that came at so many looks in a row are too fast for anybody to follow.
const TOO_FAST: u32 = 3;
/// The interval between two looks for moves that are too fast to follow: to tell each to each visitor would take the processor from the
/// games.
const LOOK_AT_FAST: Duration = Duration::from_secs(1);
/// After pages that took a processor long to write, so many times as long passes before they are written again: they take no more
/// than a fiftieth of a processor from the event.
const SHARE: u32 = 50;
/// The bytes of a journal whose pages take seconds.
const LARGE: u64 = 4 << 20;
/// Of so many games that ended last the part of a page that changes with each move is kept, for pages that still ask for it.
const ENDED: usize = 8;

/// Serves until it is asked to stop.
pub(super) fn run(
    config: &EventConfig,
    args: &ServeArgs,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    let listener = TcpListener::bind(args.listen).map_err(|error| {
        EarlyEnd::usage(format!(
            "cannot listen on {}: {error}; name another address with --listen, or port 0 for any that is free",
            args.listen
        ))
    })?;
    // The games of this host come first, however many visitors there are.
    let _ = rustix::process::nice(19);
    let address = listener.local_addr().context("the address of the socket")?;
    let (stopper, stop) = watch::channel(false);
    let stopper = Arc::new(stopper);
    let ends = EndServerOnDrop(Arc::clone(&stopper));
    // Where it cannot be installed (it has been before, in a test), the signal ends the process at once.
    let _ = ctrlc::set_handler(move || {
        stopper.send_replace(true);
    });
    let publisher = Arc::new(SitePublisher::default());
    // Visitors who come before the first pages wait for them.
    writeln!(out, "{} is at http://{address}/", escape(config.event.as_bytes(), 200))?;
    out.flush()?;
    if std::fs::metadata(&config.journal).is_ok_and(|journal| journal.len() > LARGE) {
        note(
            "the pages of many games are being made; a visitor who comes now has to wait for them",
        );
    }
    let mut writer = PageWriter::new(config, Arc::clone(&publisher));
    writer.look();
    follow(ends, move || writer.look())?;
    let terms = VisitorTerms { names: names(address, &args.name), visitors: args.visitors };
    publisher.serve(listener, terms, stop).context("the socket")?;
    Ok(Exit::Success)
}

/// The names by which visitors may ask.
fn names(address: SocketAddr, more: &[String]) -> Option<Vec<String>> {
    if more.is_empty() && !address.ip().is_loopback() {
        return None;
    }
    let own = ["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
    let host = match address {
        SocketAddr::V4(at) => at.ip().to_string(),
        SocketAddr::V6(at) => format!("[{}]", at.ip()),
    };
    Some(own.into_iter().chain([host]).chain(more.iter().cloned()).collect())
}

/// Ends the server with whoever holds it: pages that nobody writes any more must not be shown as those of now.
#[derive(Clone)]
struct EndServerOnDrop(Arc<watch::Sender<bool>>);

impl Drop for EndServerOnDrop {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

/// Looks again and again, on a thread of its own; each look says when the next is due.
fn follow(
    ends: EndServerOnDrop,
    mut look: impl FnMut() -> Duration + Send + 'static,
) -> anyhow::Result<()> {
    let thread = thread::Builder::new().name("pages".into());
    let spawned = thread.spawn(move || {
        let _ends = ends;
        loop {
            thread::sleep(look());
        }
    });
    spawned.context("a thread to follow the event").map(drop)
}

/// Writes what visitors read: the small files that change with each move at once, all other pages as often as their [`SHARE`] allows.
struct PageWriter {
    event: Following,
    publisher: Arc<SitePublisher>,
    /// The files of games that ended, the oldest first.
    ended: VecDeque<String>,
    pace: Pace,
    /// The changes since the pages were written.
    waits: EventChanges,
    /// When they may be written next.
    next: Instant,
}

/// The time from one look for moves to the next.
#[derive(Debug, Default)]
struct Pace {
    /// The looks in a row that found a move.
    in_a_row: u32,
}

impl Pace {
    fn after(&mut self, found_moves: bool) -> Duration {
        self.in_a_row = if found_moves { self.in_a_row + 1 } else { 0 };
        if self.in_a_row < TOO_FAST {
            return LOOK;
        }
        // After a long wait moves are nearly always found: the short one that follows tells whether they are still as fast.
        self.in_a_row = TOO_FAST - 2;
        LOOK_AT_FAST
    }
}

impl PageWriter {
    fn new(config: &EventConfig, publisher: Arc<SitePublisher>) -> PageWriter {
        PageWriter {
            event: Following::new(config),
            publisher,
            ended: VecDeque::new(),
            pace: Pace::default(),
            // There are pages before there is a journal.
            waits: EventChanges { is_anew: true, ..EventChanges::default() },
            next: Instant::now(),
        }
    }

    /// Looks for changes and writes them; the time until the next look.
    fn look(&mut self) -> Duration {
        let has_turned = self.event.look_for_runner();
        let changes = self.event.look(|| ());
        let next =
            self.pace.after(changes.as_ref().is_some_and(|changes| !changes.games.is_empty()));
        let Some(changes) = changes else { return next };
        self.put_moves(&changes);
        if has_turned && !self.event.is_over() {
            // Clocks begin to run, or stand.
            let open = self.event.broadcast().under_way().map(BroadcastGame::key);
            self.waits.games.extend(open);
            self.waits.has_turned = true;
        }
        self.waits.games.extend(changes.games);
        self.waits.has_turned |= changes.has_turned;
        self.waits.is_anew |= changes.is_anew;
        if !self.waits.is_none() && Instant::now() >= self.next {
            let began = processor_time();
            self.put_pages();
            self.next = Instant::now() + SHARE * processor_time().saturating_sub(began);
        }
        next
    }

    fn put_moves(&mut self, changes: &EventChanges) {
        if changes.is_anew {
            self.publisher.take_all(|name| name.ends_with(".live.html"));
            self.ended.clear();
        }
        if changes.games.is_empty() {
            return;
        }
        let site = self.event.site();
        let games = site.broadcast.games.values();
        let mut games: Vec<&BroadcastGame> =
            games.filter(|game| changes.games.contains(&game.key())).collect();
        // Of many that ended before the first look, only the last are asked for. Any other may have a file already.
        let ended = games.iter().filter(|game| changes.is_anew && !game.is_open()).count();
        let mut old = ended.saturating_sub(ENDED);
        games.retain(|game| {
            let is_old = !game.is_open() && old > 0;
            old -= usize::from(is_old);
            !is_old
        });
        let ended = games.iter().filter(|game| !game.is_open());
        let ended: Vec<String> = ended.map(|game| Site::live_file(game)).collect();
        self.publisher.put(site.live_files(&games), ChangeNotice::Live);
        self.ended.extend(ended);
        while self.ended.len() > ENDED {
            if let Some(name) = self.ended.pop_front() {
                self.publisher.take(&name);
            }
        }
    }

    fn put_pages(&mut self) {
        let waits = std::mem::take(&mut self.waits);
        let site = self.event.site();
        if waits.is_anew {
            let mut files = site.all_files();
            files.push(("live.pgn".into(), site.live_pgn()));
            // Those of moves are written already; there are none before the first game.
            files.extend(site.live_files(&[]));
            self.publisher.replace(files, Site::is_live_file, ChangeNotice::Event);
        } else {
            let mut files = site.event_files();
            files.push(("live.pgn".into(), site.live_pgn()));
            let games = waits.games.iter().filter_map(|key| site.broadcast.games.get(key));
            files.extend(games.flat_map(|game| site.game_files(game)));
            // All at once: a visitor who reads that the event is over finds its last game in games.pgn.
            let mut notice = ChangeNotice::None;
            if waits.has_turned {
                files.push(("games.pgn".into(), all_games(&site, &files, &self.publisher)));
                notice = ChangeNotice::Event;
            }
            self.publisher.put(files, notice);
        }
    }
}

/// The time of a processor that this thread has had. What it waits for beside engines that think counts for nothing: they would keep the
/// pages old for minutes.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

/// Every game that has ended as PGN, of these new files and of the texts that are shown already.
fn all_games(site: &Site<'_>, new: &[(String, String)], publisher: &SitePublisher) -> String {
    let new: BTreeMap<&str, &str> = new.iter().map(|(name, text)| (&**name, &**text)).collect();
    let games = site.broadcast.games.values().filter(|game| !game.is_open());
    let mut all = String::new();
    for name in games.map(Site::pgn_file) {
        match new.get(&*name) {
            Some(text) => all.push_str(text),
            None => all.extend(publisher.text(&name).as_deref().map(String::from_utf8_lossy)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_that_nobody_can_follow_are_told_once_a_second() {
        let mut pace = Pace::default();
        let slow = [true, false, true, true, false, true].map(|found| pace.after(found));
        assert_eq!(slow, [LOOK; 6]);
        let fast: Vec<Duration> = (0..6).map(|_| pace.after(true)).collect();
        assert_eq!(fast, [LOOK, LOOK_AT_FAST, LOOK, LOOK_AT_FAST, LOOK, LOOK_AT_FAST]);
        // A second of slow moves is found at once, and the next look finds none.
        assert_eq!((pace.after(true), pace.after(false)), (LOOK, LOOK));
    }

    #[test]
    fn a_server_ends_with_the_thread_that_writes_its_pages() {
        let (stopper, stop) = watch::channel(false);
        let ends = EndServerOnDrop(Arc::new(stopper));
        let thread = thread::spawn(move || {
            let _ends = ends;
            panic!("on purpose");
        });
        assert!(thread.join().is_err());
        assert!(*stop.borrow());
    }
}
