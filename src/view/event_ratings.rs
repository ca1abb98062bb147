//! An event's rating list (rule 5): the entries as text and HTML, everybody as JSON.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::layout::PageLayout;
use super::ratings::{HEADS, cells, document, grid, words};
use super::text::{clean, put};
use super::wide_table::wide_table;
use crate::event::ratings::{EntryRating, EventRatings, KnownRating};
use crate::model::words::counted;
use crate::ratings::bayes::Rated;

/// The entries with BayesElo's columns, or in words; empty while nothing is known of any.
pub(crate) fn text(ratings: &EventRatings, layout: PageLayout) -> String {
    if is_empty(ratings) {
        return String::new();
    }
    let rows: Vec<_> = ratings.entries.iter().map(line).collect();
    let Some(grid) = grid(&rows, layout) else {
        let mut page = String::new();
        let entries = ratings.entries.iter().map(|entry| match rated(entry) {
            Some(_) => words(&line(entry)),
            None => format!("{}: Elo {}, no game", entry.name, line(entry)[2]),
        });
        for line in std::iter::once(headline(ratings)).chain(entries) {
            put(&mut page, "", 0, &clean(&line), layout.width);
        }
        return page + note(ratings).trim_start();
    };
    format!("{}\n\n{grid}{}", headline(ratings), note(ratings))
}

/// A section of a page; empty while nothing is known of any entry.
pub(crate) fn html(ratings: &EventRatings) -> Markup {
    // The name alone stands to the left.
    let class = |column: usize| (column != 1).then_some("r");
    let scale = Scale::of(ratings);
    let head = html! {
        @for (column, head) in HEADS.iter().enumerate() {
            th scope="col" class=[class(column)] { (head) }
        }
        @if let Some(Scale { low, high }) = scale {
            th scope="col" title="each with its error" { (format!("{low:.0} to {high:.0}")) }
        }
    };
    let rows = html! {
        @for entry in &ratings.entries {
            tr {
                @for (column, cell) in line(entry).iter().enumerate() {
                    @if column == 1 { th scope="row" { (clean(cell)) } }
                    @else { td class=[class(column)] { (clean(cell)) } }
                }
                @if let Some(scale) = scale { td { (scale.bar(entry)) } }
            }
        }
    };
    html! {
        @if !is_empty(ratings) {
            h2 { (headline(ratings)) }
            (wide_table(&head, &rows))
            p { (note(ratings).trim()) }
        }
    }
}

/// The range of all ratings with their errors, which the bars are drawn in.
#[derive(Clone, Copy)]
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// The width of a bar's drawing.
    const WIDE: f64 = 160.0;

    /// The scale of the list; none where fewer than two are rated.
    fn of(ratings: &EventRatings) -> Option<Scale> {
        let rated = || ratings.entries.iter().filter_map(rated);
        let low = rated().map(|rated| rated.elo - rated.error).fold(f64::INFINITY, f64::min);
        let high = rated().map(|rated| rated.elo + rated.error).fold(f64::NEG_INFINITY, f64::max);
        let is_range = rated().count() > 1 && low.is_finite() && high.is_finite() && low < high;
        is_range.then_some(Scale { low, high })
    }

    /// A rating as a point, and its error as a line through it.
    fn bar(self, entry: &EntryRating) -> Markup {
        let Some(rated) = rated(entry) else { return html! { "–" } };
        let at = |elo: f64| 4.0 + (Scale::WIDE - 8.0) * (elo - self.low) / (self.high - self.low);
        let (low, high) = (rated.elo - rated.error, rated.elo + rated.error);
        let (from, to) = (at(low), at(high));
        let line = format!("M{from:.1} 7H{to:.1}M{from:.1} 3v8M{to:.1} 3v8");
        let wide = Scale::WIDE;
        html! {
            svg.error viewBox=(format!("0 0 {wide} 14")) width=(wide) height="14" role="img"
                aria-label=(format!("{low:.0} to {high:.0}")) {
                path d=(line) {}
                circle cx=(format!("{:.1}", at(rated.elo))) cy="7" r="3.5" {}
            }
        }
    }
}

fn rated(entry: &EntryRating) -> Option<&Rated> {
    match &entry.known {
        KnownRating::Rated { rated, .. } => Some(rated),
        KnownRating::Temporary(_) | KnownRating::Unknown => None,
    }
}

/// The whole list as `gate4k ratings` has it, with what is said of the entries.
pub(crate) fn json(ratings: &EventRatings) -> Value {
    let mut value = document(&ratings.list, None, None);
    let entries: Vec<Value> = ratings
        .entries
        .iter()
        .map(|entry| {
            json!({
                "entry": entry.name,
                "elo": entry.known.elo(),
                "temporary": matches!(entry.known, KnownRating::Temporary(_)),
            })
        })
        .collect();
    value["entries"] = entries.into();
    value["games"] = json!({"history": ratings.history, "event": ratings.games});
    value["anchored"] = ratings.is_anchored.into();
    value
}

fn is_empty(ratings: &EventRatings) -> bool {
    ratings.entries.iter().all(|entry| entry.known == KnownRating::Unknown)
}

fn line(entry: &EntryRating) -> [String; 9] {
    let blank = |elo: &str, games: &str| {
        let mut cells: [String; 9] = std::array::from_fn(|_| String::new());
        cells[1].clone_from(&entry.name);
        cells[2] = elo.to_owned();
        cells[5] = games.to_owned();
        cells
    };
    match &entry.known {
        KnownRating::Rated { rank, rated } => cells(*rank, rated),
        KnownRating::Temporary(elo) => blank(&elo.to_string(), "0"),
        KnownRating::Unknown => blank("–", "0"),
    }
}

fn headline(ratings: &EventRatings) -> String {
    match (ratings.history, ratings.games) {
        (0, games) => format!("Ratings by {}", counted(games, "game")),
        (before, games) => {
            format!(
                "Ratings by {} before the event and {games} of its own",
                counted(before, "game")
            )
        }
    }
}

fn note(ratings: &EventRatings) -> String {
    let mut note = String::new();
    if ratings.entries.iter().any(|entry| matches!(entry.known, KnownRating::Temporary(_))) {
        note += "Without a game: a temporary rating (rule 5.5). ";
    }
    if !ratings.is_anchored {
        note += "The list's mean is 0: only differences count. ";
    }
    if ratings.list.groups > 1 {
        note += "Engines that never met, directly or through others, cannot be compared. ";
    }
    if note.is_empty() { note } else { format!("\n{}\n", note.trim_end()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratings::bayes::{Model, Results};

    fn ratings() -> EventRatings {
        let mut results = Results::default();
        results.add_many("a", "b<", [3, 1, 0]);
        results.add_many("b<", "other", [0, 2, 0]);
        let list = results.rate(&Model { offset: 2500.0, ..Model::default() });
        let known = |name: &str| {
            let place = list.rated.iter().position(|rated| rated.name == name).unwrap();
            KnownRating::Rated { rank: place + 1, rated: list.rated[place].clone() }
        };
        let entry = |name: &str, known| EntryRating { name: name.into(), known };
        EventRatings {
            entries: vec![
                entry("new", KnownRating::Temporary(2900)),
                entry("a", known("a")),
                entry("b<", known("b<")),
                entry("c", KnownRating::Unknown),
            ],
            list,
            history: 2,
            games: 4,
            is_anchored: true,
        }
    }

    #[test]
    fn entries_have_their_place_in_the_whole_list() {
        let page = text(&ratings(), PageLayout::of_width(100));
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines[0], "Ratings by 2 games before the event and 4 of its own");
        assert_eq!(lines[2], "Rank Name   Elo    +    - games score oppo. draws");
        assert!(lines[3].starts_with("     new   2900") && lines[3].ends_with(" 0"), "{page}");
        assert!(lines[4].starts_with("   1 a "), "{page}");
        assert!(lines[5].starts_with("   2 b<") || lines[5].starts_with("   3 b<"), "{page}");
        assert!(lines[6].contains("c        –"), "{page}");
        assert!(!page.contains("other") && page.contains("rule 5.5"), "{page}");
        assert!(page.lines().all(|line| line.trim_end() == line));
        let narrow = text(&ratings(), PageLayout::of_width(40));
        assert!(narrow.contains("\na: rank 1, Elo ") && !narrow.contains("  "), "{narrow}");
        let plain = text(&ratings(), PageLayout { plain: true, ..PageLayout::of_width(200) });
        assert!(plain.contains("\nnew: Elo 2900, no game\na: rank 1, Elo "), "{plain}");
        assert!(plain.contains("\nc: Elo –, no game\n") && !plain.contains("  "), "{plain}");
    }

    #[test]
    fn a_page_has_names_as_text_and_a_document_has_everybody() {
        let page = html(&ratings()).into_string();
        assert!(page.contains("<th scope=\"row\">b&lt;</th>") && !page.contains("b<"), "{page}");
        assert!(!page.contains("<th>") && !page.contains("<th class"), "{page}");
        // Two of the four are rated: each has a bar, and the widest ends at the edges.
        assert_eq!(page.matches("<svg class=\"error\"").count(), 2, "{page}");
        assert!(page.contains("d=\"M4.0 7H") && page.contains("H156.0M"), "{page}");
        let value = json(&ratings());
        assert_eq!(value["engines"].as_array().unwrap().len(), 3);
        assert_eq!(value["entries"][0], json!({"entry": "new", "elo": 2900.0, "temporary": true}));
        assert_eq!(value["games"]["event"], 4);
    }

    #[test]
    fn nothing_known_is_nothing_shown() {
        let mut nothing = ratings();
        nothing.entries.retain(|entry| entry.known == KnownRating::Unknown);
        assert_eq!(text(&nothing, PageLayout::of_width(100)) + &html(&nothing).0, "");
    }
}
