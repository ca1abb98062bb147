//! `gate4k event serve`: follows an event's journal and shows it to visitors.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use tokio::sync::watch;

use super::following::Following;
use crate::cli::ServeArgs;
use crate::cmd::tell;
use crate::event::broadcast::EventChanges;
use crate::event::config::EventConfig;
use crate::model::exit::Exit;
use crate::model::text::escape;
use crate::serve::{News, SitePublisher, VisitorTerms};
use crate::view::site::{Site, SiteKind};

/// How often it is looked for changes; a move is told so much later at most.
const LOOK: Duration = Duration::from_millis(20);
/// After pages that took long to write, so many times as long passes before they are written again: they take no more
/// than a tenth of a processor from the event.
const SHARE: u32 = 10;

/// Serves until it is asked to stop.
pub(super) fn run(
    config: &EventConfig,
    args: &ServeArgs,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
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
    let stopper = Arc::new(stopper);
    let ends = Ends(Arc::clone(&stopper));
    // Where it cannot be installed (it has been before, in a test), the signal ends the process at once.
    let _ = ctrlc::set_handler(move || {
        stopper.send_replace(true);
    });
    let publisher = Arc::new(SitePublisher::default());
    let mut desk = Desk::new(config, Arc::clone(&publisher));
    desk.look();
    thread::Builder::new()
        .name("follow".into())
        .spawn(move || {
            let _ends = ends;
            loop {
                thread::sleep(LOOK);
                desk.look();
            }
        })
        .context("a thread to follow the event")?;
    writeln!(out, "{} is at http://{address}/", escape(config.event.as_bytes(), 200))?;
    out.flush()?;
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
struct Ends(Arc<watch::Sender<bool>>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

/// Writes pages of what a journal says.
struct Desk {
    event: Following,
    publisher: Arc<SitePublisher>,
    /// The changes since the pages were written, besides those of moves.
    waits: EventChanges,
    /// When they may be written next.
    next: Instant,
}

impl Desk {
    fn new(config: &EventConfig, publisher: Arc<SitePublisher>) -> Desk {
        // There are pages before there is a journal.
        let waits = EventChanges { is_anew: true, ..EventChanges::default() };
        Desk { event: Following::new(config), publisher, waits, next: Instant::now() }
    }

    fn look(&mut self) {
        let Some(changes) = self.event.look(|| ()) else { return };
        if changes.is_none() && self.waits.is_none() {
            return;
        }
        let Following { config, follower, .. } = &mut self.event;
        follower.find_running(config);
        let site = Site {
            config,
            broadcast: &follower.broadcast,
            running: &follower.running,
            now: SystemTime::now(),
            kind: SiteKind::Served,
        };
        let games = |changes: &EventChanges| -> Vec<_> {
            changes.games.iter().filter_map(|key| site.broadcast.games.get(key)).collect()
        };
        if !changes.games.is_empty() && !changes.is_anew {
            self.publisher.put(site.live_files(&games(&changes)), News::Live);
        }
        self.waits.games.extend(changes.games);
        self.waits.has_turned |= changes.has_turned;
        self.waits.is_anew |= changes.is_anew;
        let began = Instant::now();
        if began < self.next {
            return;
        }
        if self.waits.is_anew {
            let mut files = site.all_files();
            files.push(("live.pgn".into(), site.live_pgn()));
            files.extend(site.live_files(&site.broadcast.under_way().collect::<Vec<_>>()));
            self.publisher.replace(files, News::Event);
        } else {
            let mut files = site.event_files();
            files.push(("live.pgn".into(), site.live_pgn()));
            files.extend(games(&self.waits).iter().flat_map(|game| site.game_files(game)));
            let news = if self.waits.has_turned { News::Event } else { News::None };
            if self.waits.has_turned {
                files.push(("games.pgn".into(), site.all_games()));
            }
            self.publisher.put(files, news);
        }
        self.waits = EventChanges::default();
        self.next = Instant::now() + SHARE * began.elapsed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_ends_with_the_thread_that_writes_its_pages() {
        let (stopper, stop) = watch::channel(false);
        let ends = Ends(Arc::new(stopper));
        let thread = thread::spawn(move || {
            let _ends = ends;
            panic!("on purpose");
        });
        assert!(thread.join().is_err());
        assert!(*stop.borrow());
    }
}
