//! A game: its page, and the part of it that changes while it is played.

use std::time::{Duration, SystemTime};

use maud::{Markup, html};
use shakmaty::Color;

use super::shell::{due_by, moment, names, shell, stamp};
use super::{LEFT, Site, SiteKind, crash, path, shell};
use crate::event::broadcast::{BroadcastGame, Running, ShownMove};
use crate::event::journal::record::JournalPly;
use crate::model::evidence::PlayedPly;
use crate::model::game::result::color_name;
use crate::model::game::rule_distances::RuleDistances;
use crate::model::game::score::Score;
use crate::model::words::counted;
use crate::view::figures::{
    clock, depth, evaluation, large, nodes, numbered, said, search, told, took, word,
};
use crate::view::html::{board, graph};
use crate::view::screen::Runner;

/// The number of the last moves that are told with each move: a page that has missed more is loaded anew.
const TOLD_AGAIN: usize = 12;
/// The fifty-move rule, in plies.
const FIFTY: u32 = 100;

pub(super) fn page(site: &Site<'_>, game: &BroadcastGame) -> String {
    let title = format!("{} – {}", word(&game.started.white), word(&game.started.black));
    let path = path(game.key());
    let body = html! {
        header {
            h1 { (names(&game.started.white, &game.started.black)) }
            p { a href="../index.html" { (word(&site.config.event)) } }
        }
        main {
            div data-part="game" { (view(site, game, "../", usize::MAX)) }
            p data-part="on" {
                @if game.is_open() { (due_by(site)) } @else {
                    a href="../index.html#now" { "On to the latest game" }
                }
            }
            div data-part="incidents" { (incidents(site, game)) }
            p.take data-part="take" {
                "To take home: "
                a href={ "../" (path) ".json" } { "JSON" }
                @if !game.is_open() {
                    ", " a href={ "../" (path) ".pgn" } { "PGN" }
                }
            }
        }
    };
    shell(site, &title, "../", &body)
}

/// The part of a game that is told with each of its moves.
pub(super) fn fragment(site: &Site<'_>, game: &BroadcastGame) -> Markup {
    view(site, game, "", TOLD_AGAIN)
}

/// A game: board, clocks, figures, graph, and its last moves, `most` of them.
pub(super) fn view(site: &Site<'_>, game: &BroadcastGame, root: &str, most: usize) -> Markup {
    let moves = game.moves();
    let last = moves.last();
    let fen = last.map_or(game.start(), |last| &last.fen);
    let turn = last.map_or(game.turn_after(0), |last| !last.side);
    let said = said(game, last);
    let is_served = site.kind == SiteKind::Served;
    let source = is_served.then(|| format!("{root}{}", Site::live_file(game)));
    let picture = board(fen, last.map(|last| &*last.uci), &format!("The board. {said}"));
    html! {
        section #game data-key=(game.key()) data-start=(game.start()) data-clocks=(first_clocks(game))
            data-src=[source] data-open[game.is_open()] data-said=(said) aria-label="The game" {
            p.meta { (meta(site, game)) }
            div.game {
                div.play {
                    (player(site, game, &moves, Color::Black, turn))
                    div #board { (picture) }
                    (player(site, game, &moves, Color::White, turn))
                    div.steps hidden {
                        button type="button" data-step="first" aria-label="first position" { "«" }
                        button type="button" data-step="back" aria-label="one move back" { "‹" }
                        button type="button" data-step="on" aria-label="one move on" { "›" }
                        button type="button" data-step="last" aria-label="last position" { "»" }
                        button type="button" data-step="turn" aria-label="turn the board" { "⇅" }
                    }
                    p #said role="status" aria-live="polite" { (said) }
                    @if game.is_open() { (counters(site, game, last)) }
                }
                div.tell {
                    (evals(&moves))
                    (line(&moves, Color::White))
                    (line(&moves, Color::Black))
                    (table(game, &moves, most))
                }
            }
        }
    }
}

fn meta(site: &Site<'_>, game: &BroadcastGame) -> Markup {
    let started = &game.started;
    let stage = site.config.stage_name(started.stage);
    html! {
        (word(stage)) " " (started.place()) ", " (word(&started.time_control)) ", begun " (stamp(&started.at))
        @if let Some(names) = &started.opening_names {
            ", " (word(&opening(names)))
        }
        @if let Some(finished) = &game.finished {
            ", took " (clock(Duration::from_micros(finished.lasted)))
        }
        @if game.is_open() && site.is_left() { ". " strong { (LEFT) } }
    }
}

fn opening(names: &crate::model::game::opening::OpeningNames) -> String {
    let all = [&names.eco, &names.opening, &names.variation];
    all.into_iter().flatten().cloned().collect::<Vec<_>>().join(", ")
}

fn player(
    site: &Site<'_>,
    game: &BroadcastGame,
    moves: &[ShownMove<'_>],
    color: Color,
    turn: Color,
) -> Markup {
    let number = color.fold_wb(0, 1);
    let name = color.fold_wb(&game.started.white, &game.started.black);
    let left = game.clocks[number];
    let is_followed = site.kind == SiteKind::Served
        && site.broadcast.ledger.paused.is_none()
        && site.runner == Runner::AtWork;
    let runs = game.is_open() && color == turn && is_followed;
    let since = runs.then(|| since(site, game));
    let rating = site.broadcast.ledger.stages.get(game.started.stage);
    let rating = rating.and_then(|stage| stage.started.ratings.get(name));
    let ply = search(moves, color).map(|(_, ply)| ply);
    html! {
        div class={ "player " (color.fold_wb("white", "black")) @if runs { " runs" } } {
            p.name {
                span.dot aria-hidden="true" {}
                strong { (shell::name(name)) }
                @if let Some(rating) = rating { " " span.soft { (rating) } }
            }
            p.clock data-left=(left / 1000) data-since=[since] role="timer"
                aria-label={ (color_name(color)) "'s clock" } { (clock(Duration::from_micros(left))) }
            p.figures {
                @if let Some(ply) = ply {
                    @if let Some(eval) = ply.eval { b title="evaluation, White's view" { (evaluation(eval)) } }
                    @if let Some(depth) = depth(ply) { span { "depth " (depth) } }
                    @if let Some(number) = ply.nodes { span { (nodes(number)) } }
                    (more(ply))
                    span { "took " (took(ply)) }
                }
            }
            p.options { (word(game.started.options[number].trim_end_matches(';'))) }
        }
    }
}

/// The figures of a search that have no column of their own.
fn more(ply: &JournalPly) -> Markup {
    html! {
        @if let Some(speed) = ply.speed { span { (large(speed)) "/s" } " " }
        @if let Some(hash) = ply.hashfull { span { "hash " (f64::from(hash) / 10.0) " %" } " " }
        @if let Some(hits) = ply.table_hits { span { (large(hits)) " tablebase hits" } " " }
    }
}

/// Both clocks before the first move, White's first, for the script that steps back to there.
fn first_clocks(game: &BroadcastGame) -> String {
    game.started.clocks.map(|left| clock(Duration::from_micros(left))).join(" ")
}

/// The moment at which the clock that runs began to, in milliseconds.
fn since(site: &Site<'_>, game: &BroadcastGame) -> u128 {
    let running = Running::find(site.running, &game.started.id, game.plies.len());
    let began = running.map_or(site.now, |running| running.since);
    began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis()
}

/// Plies to the ends that are counted down to.
fn counters(site: &Site<'_>, game: &BroadcastGame, last: Option<&ShownMove<'_>>) -> Markup {
    let quiet = last.map_or(0, |last| last.quiet);
    let rules = game.plies.last().map_or(RuleDistances::OFF, |ply| ply.rules_in);
    let stage = site.config.stages.get(game.started.stage);
    let adjudicates_nothing = stage.is_none_or(|stage| !stage.terms.end_by_evaluation());
    let named = [("The draw rule", rules.draw), ("The win rule", rules.win)];
    let named = named.into_iter().filter_map(|(name, rule)| Some((name, rule.plies()?)));
    html! {
        ul.counters {
            li { "Fifty-move rule in " (counted(FIFTY.saturating_sub(quiet), "ply")) }
            @for (name, (plies, counts)) in named {
                li {
                    (name) " in " (plies) " plies"
                    @if !counts { ", not counting yet" }
                }
            }
            @if adjudicates_nothing { li.soft { "No adjudication by evaluation in this event" } }
        }
    }
}

/// Both evaluations and the times, over the game.
fn evals(moves: &[ShownMove<'_>]) -> Markup {
    let plies: Vec<PlayedPly> = moves
        .iter()
        .map(|one| PlayedPly {
            uci: one.uci.clone(),
            took: one.ply.map(|ply| Duration::from_micros(ply.used)),
            score: one.ply.and_then(|ply| ply.eval).map(Score::from_value),
        })
        .collect();
    let drawing = graph(&plies, moves.first().map_or(Color::White, |first| first.side));
    html! {
        @if let Some(drawing) = drawing {
            figure #graph data-plies=(plies.len()) {
                (drawing)
                figcaption.legend {
                    span { i.white {} "White (blue)" } " " span { i.black {} "Black (orange)" }
                    @if plies.iter().any(|ply| ply.score.is_some()) {
                        ". Above: evaluations in pawns for White. Below: the time of each move."
                    } @else { ". The time of each move; evaluations were not told." }
                }
            }
        }
    }
}

/// The line that a side expects, as far as it has told.
fn line(moves: &[ShownMove<'_>], color: Color) -> Markup {
    let Some((one, _)) = search(moves, color).filter(|(one, _)| !one.line.is_empty()) else {
        return html! {};
    };
    html! {
        p.line { span.soft { (color_name(color)) " expected at " (numbered(one)) ": " } (expected(one)) }
    }
}

fn expected(one: &ShownMove<'_>) -> String {
    one.line.iter().map(|step| &*step.san).collect::<Vec<_>>().join(" ")
}

/// The moves with what is known of each. The script reads the positions from it, too.
fn table(game: &BroadcastGame, moves: &[ShownMove<'_>], most: usize) -> Markup {
    let first = moves.len().saturating_sub(most);
    let book = moves.iter().take_while(|one| one.ply.is_none()).count();
    html! {
        div.moves tabindex="0" role="region" aria-label="The moves" {
            table {
                thead {
                    tr {
                        th scope="col" { "Move" } th.r scope="col" { "Eval." } th.r scope="col" { "Depth" }
                        th.r scope="col" { "Time" } th.r scope="col" { "Clock" } th.r scope="col" { "Nodes" }
                        th scope="col" { "Expected" } th.more scope="col" { "Speed, hash, tablebases" }
                    }
                }
                tbody #moves data-from=(first) data-all=(moves.len()) {
                    @for (place, one) in moves.iter().enumerate().skip(first) {
                        (row(game, place, one, place + 1 == book))
                    }
                }
            }
        }
    }
}

fn row(game: &BroadcastGame, place: usize, one: &ShownMove<'_>, is_book_exit: bool) -> Markup {
    let line: Vec<&str> = one.line.iter().map(|step| &*step.uci).collect();
    let id = format!("p{}", place + 1);
    html! {
        tr id=(id) class=[class(one, is_book_exit)] data-fen=(one.fen) data-uci=(one.uci)
            data-line=[(!line.is_empty()).then(|| line.join(" "))] {
            th scope="row" {
                a href={ "#" (id) } { (numbered(one)) }
                @if is_book_exit {
                    " " span.soft title="the last move of the opening" { "book ends" }
                }
            }
            @match one.ply {
                Some(ply) => {
                    td.r { @if let Some(eval) = ply.eval { (evaluation(eval)) } }
                    td.r { @if let Some(depth) = depth(ply) { (depth) } }
                    td.r { (took(ply)) }
                    td.r { (clock(Duration::from_micros(ply.clocks[one.side.fold_wb(0, 1)]))) }
                    td.r { @if let Some(nodes) = ply.nodes { (large(nodes)) } }
                    td.line { (expected(one)) }
                    td.more { (more(ply)) }
                }
                None => {
                    td.soft colspan="7" {
                        "book"
                        @if let Some(names) = &game.started.opening_names {
                            @if is_book_exit { ": " (word(&opening(names))) }
                        }
                    }
                }
            }
        }
    }
}

fn class(one: &ShownMove<'_>, is_book_exit: bool) -> Option<&'static str> {
    match (one.ply, is_book_exit) {
        (None, true) => Some("book exit"),
        (None, false) => Some("book"),
        _ => None,
    }
}

/// True if a crash or a decision belongs to a game.
pub(super) fn has_incidents(game: &BroadcastGame) -> bool {
    !game.killed.is_empty()
        || !game.rulings.is_empty()
        || game.annulled.is_some()
        || ended_by_crash(game).is_some()
}

/// The end of a game by a crash of which nothing else is known, as in a recorded event.
fn ended_by_crash(game: &BroadcastGame) -> Option<String> {
    let ending = game.finished.as_ref().filter(|_| game.killed.is_empty())?.ending();
    ending.crashed().map(|_| told(&ending))
}

/// The crashes of a game, and the decisions on it.
fn incidents(site: &Site<'_>, game: &BroadcastGame) -> Markup {
    html! {
        @if has_incidents(game) {
            section aria-labelledby="incidents-of-game" {
                h2 #incidents-of-game { "Crashes and rulings" }
                ul { (list(site, game, "../")) }
            }
        }
    }
}

/// Crashes and rulings as items of a list; `root` is the way to the site's root.
pub(super) fn list(site: &Site<'_>, game: &BroadcastGame, root: &str) -> Markup {
    html! {
        @for (number, killed) in (1..).zip(&game.killed) {
            li {
                strong { (shell::name(&killed.entry)) } " was ended: " (word(&killed.why))
                @if let Some(exit) = &killed.exit { " (" (word(exit)) ")" }
                @if !killed.stderr.is_empty() {
                    pre tabindex="0" { @for line in &killed.stderr { (word(line)) "\n" } }
                }
                @if site.kind != SiteKind::Alone {
                    p.take {
                        "To look into it: "
                        @for (at, (words, file)) in crash::links(game, number).iter().enumerate() {
                            @if at > 0 { ", " }
                            a href={ (root) (file) } { (words) }
                        }
                    }
                }
            }
        }
        @if let Some(end) = ended_by_crash(game) { li { (end) } }
        @for ruling in &game.rulings {
            li { "Interrupted; rule " (word(&ruling.rule)) ": " (word(&ruling.why)) }
        }
        @if let Some(annulled) = &game.annulled {
            li { (word(&annulled.in_words())) ", " (stamp(&annulled.at)) }
        }
    }
}

/// The state of a game, for lists of games.
pub(super) fn brief(site: &Site<'_>, game: &BroadcastGame) -> Markup {
    match (&game.finished, &game.annulled) {
        (Some(finished), _) => html! { (told(&finished.ending())) },
        (None, Some(_)) => html! { "struck out" },
        (None, None) if site.kind == SiteKind::Served => html! { strong { "under way" } },
        (None, None) => {
            html! { "under way at " (moment(site.now)) ", " (counted(game.plies.len(), "move")) " of the engines" }
        }
    }
}
