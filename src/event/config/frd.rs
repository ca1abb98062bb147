//! The stages of an FRD: leagues in Chess960, semileagues, a final league and a match in its double.

use std::fmt::Write as _;

use super::names::listed;

/// The fewest engines: three go on from each of four leagues.
pub(super) const LEAST: usize = 12;

/// The rest of the file behind its leagues.
const LATER: &str = include_str!("templates/frd-later.toml");

/// The stages of these engines, in the order of their seeds.
pub(super) fn stages(engines: &[String]) -> String {
    let mut text = "
# Rule 2.a: the first eight seeds stand at equal distances; the others are the organisers' lot, here in turn. Rule 2.c: two
# double round robins of Chess960. Rule 2.b gives White of a pair's first game to the lower seed; the recorded FRDs have the
# colours of Berger's tables, as here. Rule 3: direct encounter, Sonneborn-Berger, r-mobility, wins.
# Rule 4.a: book = \"FILE\" names a bookmaker's positions, by number or FEN, with a move each; start-seed draws positions
# without one. No engine is updated (rule 8.a)."
        .to_owned();
    for (number, name) in (1..).zip(["A", "B", "C", "D"]) {
        let own: Vec<String> = (0..)
            .zip(engines)
            .filter(|(seed, _)| league(*seed) == number - 1)
            .map(|(_, engine)| engine.clone())
            .collect();
        // invariant: writing to memory does not fail.
        let _ = write!(
            text,
            "\n[[stage]]\nname = \"League {name}\"\nengines = {}\nformat = {{ round-robin = {{ doubles = 2 }} }}\n\
             variant = \"chess960\"\nstart-seed = {number}\nties = \"frd\"\npromote = 3\n",
            listed(&own)
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
