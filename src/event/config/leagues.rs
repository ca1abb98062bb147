//! The stages of a season of the leagues, and of season 17: each with its clock, and engines that rise from one to the next.

use std::fmt::Write as _;

use super::names::listed;

/// The fewest engines of the leagues: four go on from the Entrance League, and the others are full.
pub(super) const LEAST: usize = 27;
/// The fewest engines of season 17: six go on from the Qualification League, and two from the GPU-League.
pub(super) const LEAST_17: usize = 37;

pub(super) const CLOCK: &str =
    "# Rule 9.2: 30 minutes and 3 seconds a move; later stages have their own clock in `terms`.
time-control = \"30:00+3\"";

pub(super) const DRAWS: &str = "# Rule 10.2: with 6 pieces or fewer besides pawns, eight evaluations in a row within 0.25. The tables of rule 10.3 end games
# under way with tables = \"all\", once syzygy names them.
draw-rule = \"new\"
# Rules 14.1.2 and 14.1.3: an interruption ends a game at more than 10, and at less than 0.15.
interruption = { win = \">10\", draw = \"<0.15\" }";

pub(super) const CLOCK_17: &str =
    "# Rule 10.b: 30 minutes and 5 seconds a move; later stages have their own clock in `terms`.
time-control = \"30:00+5\"";

pub(super) const DRAWS_17: &str = "# Rule 11.b: from move 35 on, ten evaluations in a row within 0.08. Rule 11.c: five in a row of each engine at 10 or more
# are a win. The tables of rule 11.d end games under way with tables = \"all\", once syzygy names them.
draw-rule = { within = 0.08 }
win-rule = { level = 10, moves = 5 }
# Rules 15.b.ii and iii: an interruption ends a game at more than 10, and at less than 0.10.
interruption = { win = \">10\", draw = \"<0.10\" }
# Rule 15.c: three crashes in an event disqualify, and annul an engine's games; not in the Superfinal (15.f).
crash-limit = 3";

const ENTRANCE: &str = "# Rules 2.3 to 2.7: 16 engines, one double round robin; the first four go on to League 2. Rule 2.6: the order of engines is
# a lot, which the number of `shuffle` draws.";

const HEAD: &str = "
# Rule 1.8: size is how many play in a stage, and \"League 2:1..\" takes as many as there is room for. Leave an engine out of
# `engines`, and its place is vacant: one more is promoted to it. In the next season the places of this one say who begins
# where, and a place whose engine is not entered again stays vacant by itself:
#   League 2:         from = [\"last.journal/League 2:5..8\", \"last.journal/League 1:9..12\", \"Entrance League:1..\"]
#   League 1:         from = [\"last.journal/League 1:3..8\", \"last.journal/Premier Division:7..8\", \"League 2:1..\"]
#   Premier Division: from = [\"last.journal/Premier Division:1..6\", \"League 1:1..\"]
# and the Entrance League takes six of the last Swiss (rule 2.3): from = \"swiss.journal:1..6\".
";

const LEAGUES: &str = include_str!("templates/leagues-last.toml");

const PLAYOFF_17: &str = include_str!("templates/season-17-playoff.toml");

const SUPERFINAL_17: &str = include_str!("templates/season-17-superfinal.toml");

const DIVISION_P: &str = "updates = true
# How the Event tags of recorded games end, for gate4k event replay-games.
games = \"Premier Division|Division P\"
";

/// A league: a round robin of engines of its own and of those that are promoted to it.
struct League<'a> {
    /// Its rules, as a comment.
    rules: &'a str,
    name: &'a str,
    own: &'a [String],
    /// The league below it, with the engines in all.
    below: Option<(&'a str, usize)>,
    doubles: u32,
    book: &'a str,
    ties: &'a str,
    clock: Option<&'a str>,
    /// The rule that has its seats drawn by lot, and the number of the lot.
    lot: Option<(&'a str, u64)>,
    more: &'a str,
}

impl League<'_> {
    fn write(&self, text: &mut String) {
        let League { rules, name, own, below, doubles, book, ties, clock, lot, more } = self;
        // invariant: writing to memory does not fail.
        let _ =
            write!(text, "\n{rules}\n[[stage]]\nname = \"{name}\"\nengines = {}\n", listed(own));
        if let Some((below, size)) = below {
            let _ = write!(text, "from = \"{below}:1..\"\nsize = {size}\n");
        }
        let _ = write!(
            text,
            "format = {{ round-robin = {{ doubles = {doubles} }} }}\nbook = \"{book}\"\nties = \"{ties}\"\n"
        );
        if let Some(clock) = clock {
            let _ = writeln!(text, "terms = {{ time-control = \"{clock}\" }}");
        }
        if let Some((rule, number)) = lot {
            let _ = write!(
                text,
                "# Rule {rule}: the order of engines is a lot, the same for the same number.\ndraw = {{ shuffle = {number} }}\n"
            );
        }
        text.push_str(more);
    }
}

/// The stages of a season of the leagues: the first six engines begin in the Premier Division, the next eight in League 1,
/// and so on.
pub(super) fn stages(engines: &[String]) -> String {
    let (division, rest) = engines.split_at(engines.len().min(6));
    let (first, rest) = rest.split_at(rest.len().min(8));
    let (second, entrance) = rest.split_at(rest.len().min(8));
    let mut text = HEAD.to_owned();
    let league = League {
        rules: ENTRANCE,
        name: "Entrance League",
        own: entrance,
        below: None,
        doubles: 1,
        book: "entrance.pgn",
        ties: "4k",
        clock: None,
        lot: Some(("2.6", 1)),
        more: "",
    };
    let all = [
        League { ..league },
        League {
            rules: "# Rules 3.3 to 3.6: 12 engines, two double round robins; the first four go on to League 1.",
            name: "League 2",
            own: second,
            below: Some(("Entrance League", 12)),
            doubles: 2,
            book: "league2.pgn",
            lot: Some(("3.5", 2)),
            ..league
        },
        League {
            rules: "# Rules 4.3 to 4.7: 12 engines, two double round robins; the first two go on to the Premier Division.",
            name: "League 1",
            own: first,
            below: Some(("League 2", 12)),
            doubles: 2,
            book: "league1.pgn",
            lot: Some(("4.6", 3)),
            ..league
        },
        League {
            rules: "# Rules 5.3 to 5.7: 8 engines, four double round robins at 60 minutes and 6 seconds. Rule 12.1.2: its engines may be\n\
                    # updated before it, so the run pauses there.",
            name: "Premier Division",
            own: division,
            below: Some(("League 1", 8)),
            doubles: 4,
            book: "premier.pgn",
            clock: Some("60:00+6"),
            lot: Some(("5.6", 4)),
            more: DIVISION_P,
            ..league
        },
    ];
    all.iter().for_each(|league| league.write(&mut text));
    text + LEAGUES
}

/// The stages of season 17: the first six engines begin in the Premier Division, the next twelve in CPU-League 1, the next
/// ten in League 2, and of the others the first half in the Qualification League, the second in GPU-League 1.
pub(super) fn stages_17(engines: &[String]) -> String {
    let (division, rest) = engines.split_at(engines.len().min(6));
    let (cpu, rest) = rest.split_at(rest.len().min(12));
    let (second, rest) = rest.split_at(rest.len().min(10));
    let (qualification, gpu) = rest.split_at(rest.len().div_ceil(2).max(7).min(rest.len()));
    let mut text = String::new();
    let league = League {
        rules: "# Rules 3.c to 3.e: up to 16 engines, one double round robin; the first six go on to League 2. Move engines between the\n\
                # lists as they compete: what runs on GPU begins in GPU-League 1 (rule 2.b).",
        name: "Qualification League",
        own: qualification,
        below: None,
        doubles: 1,
        book: "qualification.pgn",
        ties: "s17",
        clock: None,
        lot: None,
        more: "",
    };
    let later = "# Rule 13.a: engines that are promoted may be updated.\nupdates = true\n";
    let before = [
        League { ..league },
        League {
            rules: "# Rules 4.b to 4.d: 16 engines, one double round robin; the first four go on to CPU-League 1.",
            name: "League 2",
            own: second,
            below: Some(("Qualification League", 16)),
            book: "league2.pgn",
            more: later,
            ..league
        },
        League {
            rules: "# Rules 5.c to 5.e: 16 engines, two double round robins; the first four play in the playoff.",
            name: "CPU-League 1",
            own: cpu,
            below: Some(("League 2", 16)),
            doubles: 2,
            book: "league1.pgn",
            clock: Some("45:00+5"),
            more: later,
            ..league
        },
        League {
            rules: "# Rules 5.f to 5.h: up to 16 engines, three double round robins; the first two play in the playoff.",
            name: "GPU-League 1",
            own: gpu,
            doubles: 3,
            book: "league1-gpu.pgn",
            clock: Some("45:00+5"),
            ..league
        },
    ];
    let last = League {
        rules: "# Rules 7.a to 7.c: 10 engines, two double round robins; the first two play the Superfinal.",
        name: "Premier Division",
        own: division,
        below: Some(("DivP Entrance Playoff", 10)),
        doubles: 2,
        book: "premier.pgn",
        clock: Some("90:00+5"),
        more: DIVISION_P,
        ..league
    };
    before.iter().for_each(|league| league.write(&mut text));
    text += PLAYOFF_17;
    last.write(&mut text);
    text + SUPERFINAL_17
}
