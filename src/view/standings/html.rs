//! Standings as one HTML file that needs nothing else.

use super::{Sheet, Side, color, headline, notes, rank, total};
use crate::event::standings::{Cell, Standings};
use crate::view::markup::html as escaped;

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
#[must_use]
pub(crate) fn html(standings: &Standings) -> String {
    let headline = headline(standings);
    let mut body = format!("<h1>{}</h1>\n", escaped(&headline));
    section(&mut body, standings, "h2", &|_| None);
    page(&headline, &body)
}

fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// The table, what decided it, and the crosstable below a heading of this kind; `link` gives a game's address.
pub(in crate::view) fn section(
    page: &mut String,
    standings: &Standings,
    heading: &str,
    link: &dyn Fn(&Cell) -> Option<String>,
) {
    let sheet = Sheet::of(standings);
    *page += "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>";
    for column in &sheet.columns {
        *page += &format!(
            "<th scope=\"col\"{}{}>{}</th>",
            class(column.side),
            if column.long.is_empty() {
                String::new()
            } else {
                format!(" title=\"{}\"", escaped(column.long))
            },
            escaped(column.title)
        );
    }
    *page += "</tr></thead>\n<tbody>\n";
    for row in &sheet.rows {
        *page += "<tr>";
        for (cell, column) in row.iter().zip(&sheet.columns) {
            *page += &format!("<td{}>{}</td>", class(column.side), escaped(cell));
        }
        *page += "</tr>\n";
    }
    *page += "</tbody></table></div>\n";

    let notes = notes(standings);
    if !notes.is_empty() {
        *page += "<ul>\n";
        for note in &notes {
            *page += &format!("<li>{}</li>\n", escaped(note));
        }
        *page += "</ul>\n";
    }
    if standings.rows.len() > 1 {
        cross(page, standings, heading, link);
    }
}

fn cross(
    page: &mut String,
    standings: &Standings,
    heading: &str,
    link: &dyn Fn(&Cell) -> Option<String>,
) {
    *page += &format!(
        "<{heading}>Crosstable</{heading}>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>\
         <th scope=\"col\" class=\"r\">#</th><th scope=\"col\">Engine</th>"
    );
    for row in &standings.rows {
        *page += &format!(
            "<th scope=\"col\" title=\"{}\">{}</th>",
            escaped(&row.engine.name),
            rank(row)
        );
    }
    *page += "</tr></thead>\n<tbody>\n";
    for (own, row) in standings.rows.iter().enumerate() {
        *page += &format!(
            "<tr><td class=\"r\">{}</td><th scope=\"row\">{}</th>",
            rank(row),
            escaped(&row.engine.name)
        );
        for (column, results) in row.results.iter().enumerate() {
            if column == own {
                *page += "<td class=\"own\"></td>";
            } else if results.is_empty() {
                *page += "<td></td>";
            } else {
                *page += &format!(
                    "<td>{} <span class=\"games\">{}</span></td>",
                    total(results),
                    results.iter().map(|cell| game(cell, link(cell))).collect::<String>()
                );
            }
        }
        *page += "</tr>\n";
    }
    *page += "</tbody></table></div>\n";
}

fn game(cell: &Cell, link: Option<String>) -> String {
    let class = match cell.symbol() {
        '1' => "w",
        '=' => "d",
        _ => "l",
    };
    let (symbol, title) = (cell.symbol(), format!("game {}, {}", cell.game, color(cell.color)));
    match link {
        Some(link) => format!(
            "<a class=\"{class}\" href=\"{}\" title=\"{title}\">{symbol}</a>",
            escaped(&link)
        ),
        None => format!("<span class=\"{class}\" title=\"{title}\">{symbol}</span>"),
    }
}

fn class(side: Side) -> &'static str {
    match side {
        Side::Left => "",
        Side::Right => " class=\"r\"",
    }
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
        assert!(page.contains("&quot;x&#39;"));
    }
}
