//! `gate4k event export pgn --live`: the games under way in a file that relays of broadcasts poll, and each game that
//! ends on standard output.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::following::Following;
use crate::cmd::early_end::EarlyEnd;
use crate::cmd::reports::cannot;
use crate::event::config::EventConfig;
use crate::files::write::replace;
use crate::model::exit::Exit;

/// The interval between two looks for changes.
const LOOK: Duration = Duration::from_millis(50);

/// Follows the event to its end.
pub(super) fn run(config: &EventConfig, file: &Path, out: &mut impl Write) -> anyhow::Result<Exit> {
    super::stream::apart(config, "--live", file).map_err(EarlyEnd::usage)?;
    // The games of this host come first.
    let _ = rustix::process::nice(10);
    let mut event = Following::new(config);
    // By id and end: a game that is played again is another one.
    let mut printed: BTreeSet<(String, String)> = BTreeSet::new();
    let mut written: Option<String> = None;
    loop {
        let Some(changes) = event.look(|| ()) else { continue };
        let broadcast = event.broadcast();
        if !changes.is_none() {
            for game in broadcast.over() {
                let ended = game.finished.as_ref().map(|finished| &finished.at);
                let ended = ended.or(game.annulled.as_ref().map(|annulled| &annulled.at));
                let key = (game.started.id.clone(), ended.cloned().unwrap_or_default());
                if printed.contains(&key) {
                    continue;
                }
                if let Some(pgn) = game.pgn(config, &broadcast.ledger) {
                    out.write_all(pgn.as_bytes())?;
                }
                printed.insert(key);
            }
            out.flush()?;
        }
        if !changes.is_none() || written.is_none() {
            let text = broadcast.live_pgn(config);
            if written.as_ref() != Some(&text) {
                let cannot = |error| {
                    EarlyEnd::usage(format!("{}: {error}; name another file", cannot(file)))
                };
                replace(file, &text).map_err(cannot)?;
                written = Some(text);
            }
        }
        if event.is_over() {
            return Ok(Exit::Success);
        }
        thread::sleep(LOOK);
    }
}
