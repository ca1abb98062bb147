//! The games that the entry played: each with its last position, what both sides thought, and its moves.

use std::fmt::Write;

use maud::{Markup, html};
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color};

use super::board::board;
use super::graph::graph;
use crate::model::entry_report::EntryReport;
use crate::model::evidence::{PlayedGame, PlayedPly};
use crate::view::text::clean;

/// Games in pictures; more are a match.
const MOST: usize = 12;

/// The pictures; nothing where none was played.
pub(super) fn pictures(report: &EntryReport) -> Markup {
    let begun: Vec<&PlayedGame> =
        report.games.iter().filter(|game| !game.moves.is_empty()).collect();
    // A fault is what people look for, wherever it comes.
    let mut chosen = begun.clone();
    chosen.sort_by_key(|game| !game.is_fault());
    chosen.truncate(MOST);
    chosen.sort_by_key(|game| game.number);
    let hidden = begun.len() - chosen.len();
    html! {
        @if !chosen.is_empty() {
            h3 { "Games" }
            div.games { @for game in chosen { (picture(game)) } }
        }
        @if hidden > 0 {
            p { (hidden) @if hidden == 1 { " more game is" } @else { " more games are" } " not shown." }
        }
    }
}

fn picture(game: &PlayedGame) -> Markup {
    let label = format!("the position at its end: {}", game.fen);
    html! {
        figure {
            figcaption {
                strong { "Game " (game.number) } " against " (game.rival.word()) ": " (game.result) " after " (game.plies()) ", "
                span class=[game.is_fault().then_some("fail")] { (clean(&game.how())) }
            }
            (board(&game.fen, game.moves.last().map(|ply| &*ply.uci), &label))
            // Every game of a check begins with White's move.
            @if let Some(graph) = graph(&game.moves, Color::White) {
                @let (white, black) = game.sides();
                div {
                    (graph)
                    p.legend {
                        span { i.white {} "White: " (white) } " " span { i.black {} "Black: " (black) } " "
                        span {
                            @if game.moves.iter().any(|ply| ply.score.is_some()) {
                                "above, scores in pawns for White; below, the time of each move"
                            } @else { "the time of each move; scores were not told" }
                        }
                    }
                }
            }
            @if let Some(text) = san(&game.moves) { details { summary { "Moves" } p { (text) } } }
        }
    }
}

/// The moves as people write them; none where they are no game.
fn san(plies: &[PlayedPly]) -> Option<String> {
    let mut position = Chess::default();
    let mut text = String::new();
    for (index, ply) in plies.iter().enumerate() {
        let one = ply.uci.parse::<UciMove>().ok()?.to_move(&position).ok()?;
        // Writing to a string cannot fail, here and below.
        if index % 2 == 0 {
            let _ = write!(text, "{}. ", index / 2 + 1);
        }
        let _ = write!(text, "{} ", SanPlus::from_move_and_play_unchecked(&mut position, one));
    }
    Some(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::tests::{game, report};
    use crate::model::evidence::{GameEnd, GameFault, WhyIllegal};

    #[test]
    fn a_game_has_its_board_its_graph_and_its_moves() {
        let page = pictures(&EntryReport { games: vec![game()], ..report() }).0;
        for part in [
            "<strong>Game 1</strong> against the reference engine: 1-0 after 7 plies",
            "<svg class=\"board\"",
            "<svg class=\"graph\"",
            "White: the entry",
            "<p>1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#</p>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(pictures(&EntryReport { games: Vec::new(), ..report() }).0, "");
    }

    #[test]
    fn of_many_games_those_at_fault_are_shown() {
        let mut games: Vec<PlayedGame> =
            (1..=MOST + 2).map(|number| PlayedGame { number, ..game() }).collect();
        games[MOST + 1].end = GameEnd::Fault(GameFault::Gone);
        let page = pictures(&EntryReport { games, ..report() }).0;
        assert_eq!(page.matches("<figure>").count(), MOST);
        assert!(
            page.contains(&format!("Game {}<", MOST + 2))
                && !page.contains(&format!("Game {MOST}<"))
        );
        assert!(page.contains("<span class=\"fail\">the entry ended</span>"), "{page}");
        assert!(page.contains("2 more games are not shown."), "{page}");
    }

    #[test]
    fn what_an_entry_said_is_text() {
        let said = "<script>alert(1)</script>";
        let fault = GameFault::Illegal { said: said.into(), why: WhyIllegal::OnBoard(said.into()) };
        let game = PlayedGame { end: GameEnd::Fault(fault), fen: said.into(), ..game() };
        let page = pictures(&EntryReport { games: vec![game], ..report() }).0;
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains("class=\"board\""), "{page}");
    }
}
