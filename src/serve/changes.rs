//! Server-sent events: that something has changed, never what.

use std::time::{Duration, SystemTime};

use http_body_util::channel::{Channel, Sender};
use hyper::body::Bytes;
use tokio::sync::watch;

use super::{SiteFiles, Version};

/// A word that says nothing, so that the ways in between stay open and a dead visitor is found out.
const SILENCE: Duration = Duration::from_secs(15);
/// A visitor that does not take a word for so long is dropped.
const PATIENCE: Duration = Duration::from_secs(20);

/// Begins a stream. A visitor who comes back with the number of the last word is told all that came behind it.
pub(super) fn stream(
    site: watch::Receiver<SiteFiles>,
    began: u128,
    last: Option<&str>,
) -> Channel<Bytes> {
    let (sender, body) = Channel::new(1);
    let heard = last.and_then(|last| known(last, began));
    tokio::spawn(tell(site, began, heard, sender));
    body
}

/// The version of a word's number, where this server gave it.
fn known(id: &str, began: u128) -> Option<Version> {
    let mut parts = id.split('-');
    let own = parts.next()?.parse::<u128>().ok()? == began;
    let version = Version { live: parts.next()?.parse().ok()?, event: parts.next()?.parse().ok()? };
    own.then_some(version)
}

async fn tell(
    mut site: watch::Receiver<SiteFiles>,
    began: u128,
    mut heard: Option<Version>,
    mut sender: Sender<Bytes>,
) {
    loop {
        // A change that came meanwhile is told with the next: only the last counts.
        let changed = |site: &SiteFiles| heard != Some(site.version);
        let text = match tokio::time::timeout(SILENCE, site.wait_for(changed)).await {
            Ok(Ok(site)) => word(began, heard.replace(site.version), site.version),
            Ok(Err(_)) => return,
            Err(_) => ":\n\n".to_owned(),
        };
        match tokio::time::timeout(PATIENCE, sender.send_data(text.into())).await {
            Ok(Ok(())) => {}
            _ => return,
        }
    }
}

/// The changes since then; all of them for a newcomer.
fn word(began: u128, heard: Option<Version>, now: Version) -> String {
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let live = heard.is_none_or(|heard| heard.live != now.live);
    let event = heard.is_none_or(|heard| heard.event != now.event);
    format!(
        "id: {began}-{}-{}\ndata: {{\"now\":{},\"live\":{live},\"event\":{event}}}\n\n",
        now.live,
        now.event,
        clock.as_millis()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_is_told_what_it_has_missed() {
        let now = Version { live: 7, event: 2 };
        assert_eq!(known("5-7-2", 5), Some(now));
        for id in ["4-7-2", "5-7", "", "5-x-2", "<script>"] {
            assert_eq!(known(id, 5), None, "{id}");
        }
        let all = word(5, None, now);
        assert!(all.starts_with("id: 5-7-2\ndata: {\"now\":"), "{all}");
        assert!(all.ends_with("\"live\":true,\"event\":true}\n\n"), "{all}");
        let moves = word(5, Some(Version { live: 3, event: 2 }), now);
        assert!(moves.ends_with("\"live\":true,\"event\":false}\n\n"), "{moves}");
    }
}
