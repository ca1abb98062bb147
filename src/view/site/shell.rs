//! The frame that every page of a site has around it.

use std::sync::LazyLock;
use std::time::SystemTime;

use ct_codecs::{Base64, Encoder};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::{Site, SiteKind, word};
use crate::view::html::PIECES;

/// The look of every page. It stands in the page: the first board waits for no second answer.
const STYLE: &str = include_str!("style.css");

/// The source of styles that a page names to the browser: this one, by its sum (CSP 3, 2.3.1), and no other.
static STYLE_SOURCE: LazyLock<String> = LazyLock::new(|| {
    // Of 32 bytes, for which there is always room.
    let sum = Base64::encode_to_string(Sha256::digest(STYLE)).unwrap_or_default();
    format!("'sha256-{sum}'")
});

/// Nothing is loaded from elsewhere and nothing is run but the page's own script, whatever a stranger might have
/// smuggled into its text. A page that is read from a file has no connection to anywhere.
fn policy(kind: SiteKind) -> String {
    let more = match kind {
        SiteKind::Served | SiteKind::Mirrored => "script-src 'self'; connect-src 'self'; ",
        SiteKind::Exported => "script-src 'self'; ",
        SiteKind::Alone => "",
    };
    let style = &*STYLE_SOURCE;
    format!("default-src 'none'; style-src {style}; {more}base-uri 'none'; form-action 'none'")
}

/// A page; `root` is the way from it to the site's root.
pub(super) fn shell(site: &Site<'_>, title: &str, root: &str, body: &Markup) -> String {
    let kind = site.kind;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(kind));
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
                @if kind != SiteKind::Alone { script src={ (root) "page.js" } defer {} }
                @if matches!(kind, SiteKind::Served | SiteKind::Mirrored) {
                    noscript { meta http-equiv="refresh" content="30"; }
                }
            }
            body data-root=(root) data-live[kind == SiteKind::Served] data-again[kind == SiteKind::Mirrored] {
                (PreEscaped(PIECES))
                (body)
                footer {
                    p {
                        "gate4k " (env!("CARGO_PKG_VERSION")) ", " (moment(site.now)) ". "
                        @if kind == SiteKind::Served {
                            span id="connection" { "Without a script this page is loaded anew every 30 seconds." }
                        }
                        @if kind == SiteKind::Mirrored {
                            span id="connection" {
                                "Clocks are those of the last move; without a script this page is loaded anew every 30 seconds."
                            }
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}

/// A name among other words. Its letters may be written from right to left: they must not turn what stands beside them.
pub(super) fn name(text: &str) -> Markup {
    html! { bdi { (word(text)) } }
}

/// Two names, White's first.
pub(super) fn names(white: &str, black: &str) -> Markup {
    html! { (name(white)) " – " (name(black)) }
}

/// The words by which a reader knows that the runner has gone, on a page that is replaced as the event goes on; none on others.
pub(super) fn due_by(site: &Site<'_>) -> Markup {
    html! {
        @if let Some(at) = site.due_by() {
            " A move is due by " (moment(at)) "; if this page is the same after that, no runner is at work."
        }
    }
}

/// A moment, in UTC; the script writes it in the reader's own time.
pub(super) fn moment(at: SystemTime) -> Markup {
    let text = humantime::format_rfc3339_seconds(at).to_string();
    let words = text.replace('T', " ").replace('Z', " UTC");
    html! { time datetime=(text) { (words) } }
}

/// A moment of the journal.
pub(super) fn stamp(text: &str) -> Markup {
    match humantime::parse_rfc3339(text) {
        Ok(at) => moment(at),
        Err(_) => html! { (word(text)) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_by_people_and_programs() {
        let told = stamp("2026-01-02T03:04:05Z").into_string();
        assert_eq!(told, "<time datetime=\"2026-01-02T03:04:05Z\">2026-01-02 03:04:05 UTC</time>");
        assert_eq!(stamp("<b>").into_string(), "&lt;b&gt;");
    }
}
