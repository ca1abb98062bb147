//! A graph of the scores that both sides gave in a game, and of the time that they took, ply by ply.

use std::fmt::Write;
use std::time::Duration;

use maud::{Markup, html};
use shakmaty::Color;

use crate::model::evidence::PlayedPly;
use crate::model::game::score::Score;

/// The drawing's edges; what is left of `LEFT` are the figures of the scale.
const LEFT: f64 = 40.0;
const RIGHT: f64 = 297.0;
/// The middle of the evaluations, and their height on either side of it.
const LEVEL: f64 = 50.0;
const REACH: f64 = 44.0;
/// The height at which the bars of time stand, and that of the longest.
const FLOOR: f64 = 160.0;
const HIGH: f64 = 44.0;

/// The graph of plies of which a side made the first; none where nobody thought.
pub(in crate::view) fn graph(plies: &[PlayedPly], first: Color) -> Option<Markup> {
    let longest = plies.iter().filter_map(|ply| ply.took).max()?;
    let step = (RIGHT - LEFT) / plies.len() as f64;
    let mut lines = [String::new(), String::new()];
    let mut bars = [String::new(), String::new()];
    for (index, ply) in plies.iter().enumerate() {
        let x = LEFT + (index as f64 + 0.5) * step;
        let side = usize::from(index.is_multiple_of(2) != first.is_white());
        // Writing to a string cannot fail, here and below.
        if let Some(score) = ply.score {
            let y = LEVEL - REACH * share(score);
            let _ = write!(lines[side], "{x:.1},{y:.1} ");
        }
        if let Some(took) = ply.took {
            let height = HIGH * took.as_secs_f64() / longest.as_secs_f64().max(1e-9);
            let _ = write!(bars[side], "M{x:.1} {FLOOR}v-{:.1}", height.max(0.6));
        }
    }
    let silent = lines.iter().all(String::is_empty);
    // Without scores there is only the lower half.
    let (top, height, seen) =
        if silent { (106, 70, "times") } else { (0, 176, "evaluations and times") };
    let levels = [5, 2, 0, -2, -5].into_iter().filter(|_| !silent);
    let width = (step * 0.7).clamp(0.5, 6.0);
    // A number as an attribute has it.
    let short = |value: f64| format!("{value:.1}");
    Some(html! {
        svg.graph viewBox={ "0 " (top) " 300 " (height) } role="img"
            aria-label={ (seen) " of " (plies.len()) " plies" } {
            @for pawns in levels {
                @let y = LEVEL - REACH * share(Score::centipawns(i64::from(pawns) * 100));
                path class=(if pawns == 0 { "axis" } else { "grid" }) d={ "M" (LEFT) " " (short(y)) "H" (RIGHT) } {}
                text.end x=(LEFT - 4.0) y=(short(y + 3.0)) { (signed(pawns)) }
            }
            path.axis d={ "M" (LEFT) " " (FLOOR) "H" (RIGHT) } {}
            text.end x=(LEFT - 4.0) y=(short(FLOOR - HIGH + 6.0)) { (brief(longest)) }
            text x=(LEFT) y="172" { "ply 1" }
            text.end x=(RIGHT) y="172" { (plies.len()) }
            @for (side, class) in ["white", "black"].into_iter().enumerate() {
                @if !bars[side].is_empty() {
                    path class={ "bars " (class) } stroke-width={ (format!("{width:.2}")) } d=(bars[side]) {}
                }
                // A single point has no length, and round ends draw it all the same.
                @let points = lines[side].trim_end();
                @if !points.is_empty() {
                    polyline class=(class) points={ (points) @if !points.contains(' ') { " " (points) } } {}
                }
            }
        }
    })
}

/// Pawns with their sign.
fn signed(pawns: i32) -> String {
    match pawns {
        0 => String::from("0"),
        1.. => format!("+{pawns}"),
        _ => format!("−{}", -pawns),
    }
}

/// The place of a score between Black's win (-1) and White's (1): a pawn counts for more near level.
fn share(score: Score) -> f64 {
    match score.mate_in() {
        Some(_) => f64::from(score.value().signum()),
        None => (f64::from(score.value()) / 500.0).tanh(),
    }
}

fn brief(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..0.000_999_5 => format!("{:.0} µs", seconds * 1e6),
        ..0.9995 => format!("{:.0} ms", seconds * 1e3),
        ..9.95 => format!("{seconds:.1} s"),
        _ => format!("{seconds:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ply(took: Option<u64>, score: Option<Score>) -> PlayedPly {
        PlayedPly { uci: "e2e4".into(), took: took.map(Duration::from_millis), score }
    }

    #[test]
    fn each_side_has_its_line_and_its_bars() {
        let plies = [
            ply(None, None),
            ply(None, None),
            ply(Some(100), Some(Score::centipawns(0))),
            ply(Some(50), Some(Score::mate_in_plies(-3))),
            ply(Some(0), Some(Score::mate_in_plies(2))),
        ];
        let svg = graph(&plies, Color::White).unwrap().into_string();
        assert!(
            svg.contains("<polyline class=\"white\" points=\"168.5,50.0 271.3,6.0\"></polyline>"),
            "{svg}"
        );
        assert!(
            svg.contains("<polyline class=\"black\" points=\"219.9,94.0 219.9,94.0\"></polyline>"),
            "{svg}"
        );
        assert!(svg.contains("d=\"M168.5 160v-44.0M271.3 160v-0.6\""), "{svg}");
        assert!(svg.contains("d=\"M219.9 160v-22.0\""), "{svg}");
        assert!(svg.contains(">100 ms</text>"), "{svg}");
        // Where Black has the first move, the same points are the other side's.
        let turned = graph(&plies, Color::Black).unwrap().into_string();
        assert!(
            turned.contains("<polyline class=\"black\" points=\"168.5,50.0 271.3,6.0\">"),
            "{turned}"
        );
    }

    #[test]
    fn an_engine_that_tells_no_scores_has_times_and_a_game_that_never_began_no_graph() {
        let svg = graph(&[ply(Some(2_000), None)], Color::White).unwrap().into_string();
        assert!(svg.contains("viewBox=\"0 106 300 70\"") && !svg.contains("<polyline"), "{svg}");
        assert!(svg.contains(">2.0 s</text>"), "{svg}");
        assert!(graph(&[ply(None, None)], Color::White).is_none());
        assert!(graph(&[], Color::White).is_none());
    }

    #[test]
    fn no_score_leaves_the_picture() {
        for score in [
            Score::centipawns(i32::MAX.into()),
            Score::centipawns(i32::MIN.into()),
            Score::mate_in_plies(i32::MIN),
        ] {
            assert!(share(score).abs() <= 1.0);
        }
        assert!(share(Score::centipawns(100)) > 0.0);
    }
}
