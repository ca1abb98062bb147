//! A replay of recorded games: counts, differences and tables, for people.

use std::fmt::Write as _;

use super::layout::PageLayout;
use super::text::{columns, padded};
use crate::event::replay::{Replay, StageReplay};
use crate::model::words::counted;

pub(crate) fn text(replay: &Replay, layout: PageLayout) -> String {
    let mut out = format!("{}\n", replay.event);
    for stage in &replay.stages {
        stage_text(stage, layout, &mut out);
    }
    if !replay.notes.is_empty() {
        out += "\n";
    }
    for note in &replay.notes {
        // invariant: writing to memory does not fail.
        let _ = writeln!(out, "note: {note}");
    }
    let differences = replay.stages.iter().map(|stage| stage.differences.len()).sum();
    let games: usize = replay.stages.iter().map(|stage| stage.games).sum();
    let verdict = match differences {
        0 => format!("\n{} agree with the formats\n", counted(games, "game")),
        _ => format!("\n{} in {}\n", counted(differences, "difference"), counted(games, "game")),
    };
    out + &verdict
}

fn stage_text(stage: &StageReplay, layout: PageLayout, out: &mut String) {
    let (engines, games) = (counted(stage.engines, "engine"), counted(stage.games, "game"));
    // invariant: writing to memory does not fail.
    let _ = writeln!(out, "\n{}: {engines}, {games}", stage.stage);
    for count in &stage.counts {
        let (title, agree, of) = (count.kind.title(), count.agree, count.of);
        let _ = if layout.plain {
            writeln!(out, "  {title}: {agree} of {of}")
        } else {
            writeln!(out, "  {title:<20} {agree} of {of}")
        };
    }
    for note in &stage.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    for one in &stage.differences {
        let (kind, at) = (one.kind.title(), &one.at);
        let _ = writeln!(out, "  {kind}: {at}: expected {}; played {}", one.expected, one.played);
    }
    let width = stage.table.iter().map(|row| columns(&row.engine)).max().unwrap_or(0);
    for row in &stage.table {
        let place = row.place.map_or_else(|| "-".to_owned(), |place| place.to_string());
        if layout.plain {
            let _ = write!(out, "  place {place}: {}", row.engine);
            if let (Some(points), Some(sonneborn_berger)) = (row.points, row.sonneborn_berger) {
                let _ = write!(out, ", {points} points, Sonneborn-Berger {sonneborn_berger:.2}");
            }
            out.push('\n');
            continue;
        }
        let _ = write!(out, "  {place:>3} {}", padded(&row.engine, width));
        if let (Some(points), Some(sonneborn_berger)) = (row.points, row.sonneborn_berger) {
            let _ = write!(out, " {points:>6} {sonneborn_berger:>9.2}");
        }
        *out = out.trim_end_matches(' ').to_owned() + "\n";
    }
}
