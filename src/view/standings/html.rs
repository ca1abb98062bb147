//! Standings as one HTML file that needs nothing else.

use maud::{Markup, PreEscaped, html as markup};

use super::{
    NAME, Sheet, Side, UNPLAYED, color, has_unplayed_wins, headline, notes, rank, total,
    unplayed_wins,
};
use crate::event::standings::{Cell, Standings};
use crate::view::text::clean;
use crate::view::wide_table::wide_table;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem}\
.wide{overflow-x:auto}\
table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}\
th,td{padding:.25rem .6rem;border-bottom:1px solid #8884;text-align:left;white-space:nowrap}\
.r{text-align:right}\
.own{background:#8883}\
.games{font-family:ui-monospace,monospace;letter-spacing:.1em}\
.w{color:#1a7f37}.d{color:#777}.l{color:#c62828}\
@media(prefers-color-scheme:dark){.w{color:#5fd38a}.d{color:#aaa}.l{color:#ff8a80}}";

/// The table, what decided it, and the crosstable with colours and game numbers.
pub(crate) fn html(standings: &Standings) -> String {
    let headline = clean(&headline(standings));
    let page = markup! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { (headline) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (headline) }
                (section(standings, &markup! { h2 { "Crosstable" } }, &|_| None))
            }
        }
    };
    page.into_string() + "\n"
}

/// A game of a crosstable as a link: its address, and the words that stand for it where only they are heard.
pub(in crate::view) struct GameLink {
    pub(in crate::view) href: String,
    /// `1.2, A against B, 1-0`.
    pub(in crate::view) label: String,
}

/// The table, what decided it, and the crosstable below this heading; `link` gives a game's address.
pub(in crate::view) fn section(
    standings: &Standings,
    heading: &Markup,
    link: &dyn Fn(&Cell) -> Option<GameLink>,
) -> Markup {
    let sheet = Sheet::of(standings);
    let notes = notes(standings);
    let head = markup! {
        @for column in &sheet.columns {
            th scope="col" class=[class(column.side)]
                title=[(!column.long.is_empty()).then_some(column.long)] { (column.title) }
        }
    };
    let rows = markup! {
        @for row in &sheet.rows {
            tr {
                @for (cell, column) in row.iter().zip(&sheet.columns) {
                    @if column.title == NAME { th scope="row" { (clean(cell)) } }
                    @else { td class=[class(column.side)] { (clean(cell)) } }
                }
            }
            "\n"
        }
    };
    markup! {
        (wide_table(&head, &rows))
        @if !notes.is_empty() { ul { @for note in &notes { li { (clean(note)) } } } }
        @if standings.rows.len() > 1 { (heading) (cross(standings, link)) }
    }
}

fn cross(standings: &Standings, link: &dyn Fn(&Cell) -> Option<GameLink>) -> Markup {
    let byes = has_unplayed_wins(standings);
    let head = markup! {
        th.r scope="col" { "#" }
        th scope="col" { "Engine" }
        @for row in &standings.rows {
            th scope="col" title=(clean(&row.engine.name)) { (rank(row)) }
        }
        @if byes { th scope="col" title=(UNPLAYED) { "Bye" } }
    };
    let rows = markup! {
        @for (own, row) in standings.rows.iter().enumerate() {
            tr {
                td.r { (rank(row)) }
                th scope="row" { (clean(&row.engine.name)) }
                @for (column, results) in row.results.iter().enumerate() {
                    td class=[(column == own).then_some("own")] {
                        @if column != own && !results.is_empty() {
                            (total(results)) " "
                            span.games { @for cell in results { (game(cell, link(cell))) } }
                        }
                    }
                }
                @if byes {
                    td {
                        @if row.unplayed_wins > 0 {
                            (row.unplayed_wins) " " span.games { (unplayed_wins(row)) }
                        }
                    }
                }
            }
            // A line for each row: these files are compared by their lines.
            "\n"
        }
    };
    wide_table(&head, &rows)
}

fn game(cell: &Cell, link: Option<GameLink>) -> Markup {
    let class = match cell.symbol() {
        '1' => "w",
        '=' => "d",
        _ => "l",
    };
    let title = format!("game {}, {}", cell.game, color(cell.color));
    markup! {
        @match link {
            Some(GameLink { href, label }) => {
                a class=(class) href=(href) title=(title) aria-label=(label) { (cell.symbol()) }
            },
            None => { span class=(class) title=(title) { (cell.symbol()) } },
        }
    }
}

fn class(side: Side) -> Option<&'static str> {
    (side == Side::Right).then_some("r")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::standings::tests::standings;

    #[test]
    fn the_page_needs_nothing_else_and_closes_what_it_opens() {
        let page = html(&standings("a-b 1, b-a =, a-c 0, c-b 1", "4k"));
        for outside in ["http", "src=", "<link", "<script", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        for tag in ["html", "head", "body", "table", "tr", "td", "th", "span", "div", "h1"] {
            let opened = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        assert!(page.contains("title=\"game 2, black\">=</span>"), "{page}");
    }

    #[test]
    fn a_name_is_text_and_nothing_more() {
        let page = html(&standings("<script>alert(1)</script>-\"x' 1", "4k"));
        assert!(!page.contains("<script>"), "{page}");
        assert!(page.contains("&lt;script&gt;"));
        assert!(page.contains("&quot;x'"));
    }
}
