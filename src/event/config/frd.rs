//! The stages of an FRD: leagues in Chess960, semileagues, a final league and a match in its double.

use std::fmt::Write as _;

/// The fewest engines: three go on from each of four leagues.
pub(super) const LEAST: usize = 12;

/// The rest of the file behind its leagues.
const LATER: &str = r#"
# Rules 2.d and 2.e: the first three of each league, in two double round robins of double Chess960.
[[stage]]
name = "Semileague 1"
from = ["League A:1,3", "League B:1,3", "League C:2", "League D:2"]
format = { round-robin = { doubles = 2 } }
variant = "double-chess960"
start-seed = 5
ties = "frd"

[[stage]]
name = "Semileague 2"
from = ["League A:2", "League B:2", "League C:1,3", "League D:1,3"]
format = { round-robin = { doubles = 2 } }
variant = "double-chess960"
start-seed = 6
ties = "frd"

# Rules 2.f and 2.g: the first three of both, in four double round robins.
[[stage]]
name = "Final League"
from = ["Semileague 1:1..3", "Semileague 2:1..3"]
format = { round-robin = { doubles = 4 } }
variant = "double-chess960"
start-seed = 7
ties = "frd"

# Rules 2.h and 2.i: 25 pairs to their end, after a tie pairs until one engine wins one. Rule 2.b: the lower seed has White
# first.
[[stage]]
name = "Final"
from = "Final League:1..2"
format = { match = { pairs = 25, then = [{ pairs = 1, until = "decisive" }] } }
seating = "reversed-ranking"
variant = "double-chess960"
start-seed = 8
"#;

/// The stages of these engines, in the order of their seeds.
pub(super) fn stages(engines: &[String]) -> String {
    let mut text = "
# Rule 2.a: the first eight seeds stand at equal distances; the others are the organisers' lot, here in turn. Rule 2.c: two
# double round robins of Chess960. Rule 3: direct encounter, Sonneborn-Berger, r-mobility, wins.
# Rule 4.a: book = \"FILE\" names a bookmaker's positions, by number or FEN, with a move each; start-seed draws positions
# without one. No engine is updated (rule 8.a)."
        .to_owned();
    for (number, name) in (1..).zip(["A", "B", "C", "D"]) {
        let own: Vec<String> = (0..)
            .zip(engines)
            .filter(|(seed, _)| league(*seed) == number - 1)
            .map(|(_, engine)| toml::Value::String(engine.clone()).to_string())
            .collect();
        // invariant: writing to memory does not fail.
        let _ = write!(
            text,
            "\n[[stage]]\nname = \"League {name}\"\nengines = [{}]\nformat = {{ round-robin = {{ doubles = 2 }} }}\n\
             variant = \"chess960\"\nstart-seed = {number}\nties = \"frd\"\npromote = 3\n",
            own.join(", ")
        );
    }
    text + LATER
}

/// The league of a seed, both from 0: seeds 1 and 5 in A, 3 and 7 in B, 2 and 6 in C, 4 and 8 in D, and the others in turn.
fn league(seed: usize) -> usize {
    match seed {
        0..8 => [0, 2, 1, 3][seed % 4],
        _ => seed % 4,
    }
}
