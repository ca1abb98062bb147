//! The positions in which an entry answered with a move that is none, as boards.

use maud::{Markup, html};
use serde_json::Value;

use super::board::board;
use crate::model::entry_report::EntryReport;
use crate::model::verdict::Finding;
use crate::view::text::clean;
use crate::view::weight::is_told;

/// Boards of one finding; the evidence has all of its positions.
const MOST: usize = 3;

/// A search that was answered so.
struct Illegal<'a> {
    fen: &'a str,
    /// The answer, `bestmove e8g8`.
    line: &'a str,
    /// The reason why it is no move.
    why: &'a str,
}

/// True if a report has such boards.
pub(super) fn is_drawn(report: &EntryReport) -> bool {
    report.findings.iter().any(|found| is_told(found) && !searches(found).is_empty())
}

/// The boards; nothing where every answer was legal.
pub(super) fn boards(found: &Finding) -> Markup {
    let searches = searches(found);
    html! {
        @if !searches.is_empty() {
            div.illegals { @for search in searches.iter().take(MOST) { (figure(search)) } }
        }
    }
}

fn searches(found: &Finding) -> Vec<Illegal<'_>> {
    let all = found.evidence.get("illegal").and_then(Value::as_array);
    let one = |search| -> Option<Illegal<'_>> {
        let text = |at: &str| Value::pointer(search, at)?.as_str();
        Some(Illegal {
            fen: text("/fen")?,
            line: text("/answer/illegal/line")?,
            why: text("/answer/illegal/why")?,
        })
    };
    all.into_iter().flatten().filter_map(one).collect()
}

fn figure(search: &Illegal<'_>) -> Markup {
    let line = clean(search.line);
    let uci = line.strip_prefix("bestmove ");
    let label = format!("the position in which it answered {line}: {}", search.fen);
    html! {
        figure.illegal {
            (board(search.fen, uci, &label))
            figcaption { code { (line) } ": " (clean(search.why)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rule::RuleId;
    use serde_json::json;

    fn found(line: &str) -> Finding {
        let search = json!({
            "fen": "rnbqk2r/pppppp1p/5npB/8/7P/1P1P4/P1P1PPP1/RN1QKBNR b KQkq - 0 4",
            "answer": { "illegal": { "line": line, "why": "illegal: castling through check" } },
        });
        let dead = json!({ "fen": "8/8/8/8/8/8/8/8 w - - 0 1", "answer": "timeout" });
        Finding::fail(RuleId::LegalMoves, "illegal")
            .with("illegal", vec![search.clone(), dead, search.clone(), search.clone(), search])
    }

    #[test]
    fn an_illegal_move_is_marked_on_its_board() {
        let page = boards(&found("bestmove e8g8")).0;
        assert_eq!(page.matches("<svg class=\"board\"").count(), MOST);
        // The king's square, and that on which he has no business.
        assert_eq!(page.matches("class=\"last\" d=\"M160 0h40v40h-40zM240 0h").count(), MOST);
        assert!(
            page.contains("<code>bestmove e8g8</code>: illegal: castling through check"),
            "{page}"
        );
        assert_eq!(boards(&Finding::fail(RuleId::LegalMoves, "silent")).0, "");
    }

    #[test]
    fn the_answer_of_an_engine_is_text() {
        let page = boards(&found("bestmove \u{e9}<script>\"' onload=x")).0;
        assert!(
            page.contains("<svg") && !page.contains("<script") && !page.contains("\"'"),
            "{page}"
        );
    }
}
