//! `gate4k event serve`: follows an event's journal and shows it to visitors.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use tokio::sync::watch;

use crate::cli::ServeArgs;
use crate::cmd::{note, tell};
use crate::event::broadcast::{Changes, Follower};
use crate::event::config::Config;
use crate::event::journal::JournalError;
use crate::model::exit::Exit;
use crate::model::text::escape;
use crate::serve::{News, Publisher, Terms};
use crate::view::site::{Kind, Site};

/// How often it is looked for changes; a move is told so much later at most.
const LOOK: Duration = Duration::from_millis(20);
/// After pages that took long to write, so many times as long passes before they are written again: they take no more
/// than a tenth of a processor from the event.
const SHARE: u32 = 10;
/// After a journal that could not be read, so long is waited.
const RESPITE: Duration = Duration::from_secs(1);

/// Serves until it is asked to stop.
pub(super) fn run(config: &Config, args: &ServeArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let listener = match TcpListener::bind(args.listen) {
        Ok(listener) => listener,
        Err(error) => {
            tell(&format!(
                "cannot listen on {}: {error}; name another address with --listen, or port 0 for any that is free",
                args.listen
            ));
            return Ok(Exit::Usage);
        }
    };
    // The games of this host come first.
    let _ = rustix::process::nice(10);
    let address = listener.local_addr().context("the address of the socket")?;
    let (stopper, stop) = watch::channel(false);
    // Where it cannot be installed (it has been before, in a test), the signal ends the process at once.
    let _ = ctrlc::set_handler(move || {
        stopper.send_replace(true);
    });
    let publisher = std::sync::Arc::new(Publisher::default());
    let mut desk = Desk::new(config.clone(), std::sync::Arc::clone(&publisher));
    desk.look();
    thread::Builder::new()
        .name("follow".into())
        .spawn(move || {
            loop {
                thread::sleep(LOOK);
                desk.look();
            }
        })
        .context("a thread to follow the event")?;
    writeln!(out, "{} is at http://{address}/", escape(config.event.as_bytes(), 200))?;
    out.flush()?;
    let terms = Terms { names: names(address, &args.name), visitors: args.visitors };
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

/// Writes pages of what a journal says.
struct Desk {
    config: Config,
    publisher: std::sync::Arc<Publisher>,
    follower: Follower,
    /// The changes since the pages were written, besides those of moves.
    waits: Changes,
    /// When they may be written next.
    next: Instant,
    /// The last fault that was told; the same is not told again.
    fault: Option<String>,
}

impl Desk {
    fn new(config: Config, publisher: std::sync::Arc<Publisher>) -> Desk {
        publisher.put(Site::assets().into(), News::None);
        let waits = Changes { has_turned: true, ..Changes::default() };
        let (follower, next) = (Follower::new(&config), Instant::now());
        Desk { config, publisher, follower, waits, next, fault: None }
    }

    fn look(&mut self) {
        let changes = match self.follower.look() {
            Ok(changes) => changes,
            // An event that has not begun has no journal, which is no fault.
            Err(_) if !self.config.journal.exists() => Changes::default(),
            Err(error) => return self.failed(&error),
        };
        if changes.is_none() && self.waits.is_none() {
            return;
        }
        self.follower.find_running(&self.config);
        let site = Site {
            config: &self.config,
            broadcast: &self.follower.broadcast,
            running: &self.follower.running,
            now: SystemTime::now(),
            kind: Kind::Served,
        };
        let games = |changes: &Changes| -> Vec<_> {
            changes.games.iter().filter_map(|key| site.broadcast.games.get(key)).collect()
        };
        if !changes.games.is_empty() {
            self.publisher.put(site.live_files(&games(&changes)), News::Live);
        }
        self.waits.games.extend(changes.games);
        self.waits.has_turned |= changes.has_turned;
        let began = Instant::now();
        if began < self.next {
            return;
        }
        let mut files = site.event_files();
        if self.waits.games.is_empty() {
            // There is a file of the games under way before there is a game.
            files.extend(site.live_files(&[]));
        }
        files.extend(games(&self.waits).iter().flat_map(|game| site.game_files(game)));
        let news = if self.waits.has_turned { News::Event } else { News::None };
        if self.waits.has_turned {
            files.push(("games.pgn".into(), site.all_games()));
        }
        self.publisher.put(files, news);
        self.waits = Changes::default();
        self.next = Instant::now() + SHARE * began.elapsed();
    }

    /// Tells a fault once; then all is read anew.
    fn failed(&mut self, error: &JournalError) {
        let words = error.to_string();
        if self.fault.as_ref() != Some(&words) {
            note(&format!("{words}; the pages stay as they are until it can be read"));
            self.fault = Some(words);
        }
        thread::sleep(RESPITE);
        self.follower = Follower::new(&self.config);
    }
}
